"""What code asks at the socket, checked (pure)."""

from typing import Any, NamedTuple

from ..limits import MCP_TEXT_CHARS, TIMEOUT_MAX_S


class CallProblem(Exception):
    """Why a request has no result; ``kind`` is one of the socket's, the text says what and what to do."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Call(NamedTuple):
    """A tool with its arguments; without ``timeout_s`` it may take as long as the execution.

    ``at_once`` is how many calls the server is to have at a time, of all that call it; the others wait in line.
    """

    server: str
    tool: str
    arguments: dict[str, Any]
    timeout_s: float | None
    at_once: int | None = None


class Cancel(NamedTuple):
    """Give up the call of the same number."""


class ServersAsked(NamedTuple):
    """Which servers there are."""


class Describe(NamedTuple):
    """The tools of a server, or one of them, with their schemas."""

    server: str
    tool: str | None


class Load(NamedTuple):
    """Have the functions of a server written, if they are not there."""

    server: str


Asked = Call | Cancel | ServersAsked | Describe | Load


def parse_number(asked: dict[str, Any]) -> int | None:
    """The number under which the answer is to come; None if it has none."""
    number = asked.get("id")
    return number if isinstance(number, int) and not isinstance(number, bool) and abs(number) < 2**63 else None


def parse_request(asked: dict[str, Any]) -> Asked:
    """What is asked; raises CallProblem with the field and the rule."""
    match asked.get("op"):
        case "call":
            return Call(_text(asked, "server"), _text(asked, "tool"), _arguments(asked), _timeout(asked))
        case "cancel":
            return Cancel()
        case "servers":
            return ServersAsked()
        case "describe":
            tool = None if asked.get("tool") is None else _text(asked, "tool")
            return Describe(_text(asked, "server"), tool)
        case "load":
            return Load(_text(asked, "server"))
    raise CallProblem("bad_request", "op: must be call, cancel, servers, describe or load")


def _text(asked: dict[str, Any], field: str) -> str:
    value = asked.get(field)
    if not isinstance(value, str) or not 0 < len(value) <= MCP_TEXT_CHARS:
        raise CallProblem("bad_request", f"{field}: must be a text of 1 to {MCP_TEXT_CHARS} characters")
    return value


def _arguments(asked: dict[str, Any]) -> dict[str, Any]:
    value = asked.get("arguments", {})
    if not isinstance(value, dict):
        raise CallProblem("bad_request", "arguments: must be an object")
    return value


def _timeout(asked: dict[str, Any]) -> float | None:
    value = asked.get("timeout_s")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= TIMEOUT_MAX_S:
        raise CallProblem("bad_request", f"timeout_s: must be more than 0 and at most {TIMEOUT_MAX_S:g} seconds")
    return float(value)
