"""Calls of tools that gateways ask for by verbs, for sandboxes whose code calls them from other pods."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ..limits import MCP_CALL_ID_CHARS, MCP_CALLS, MCP_RESULT_BYTES, MCP_TEXT_CHARS, MCP_TOOLS_BYTES, MCP_VALUES
from ..link.arguments import bad, parse_seconds, parse_text
from ..link.wire import Answer, Problem, Reply, Request
from ..shared.json_frames import BrokenFrames, Unspeakable, from_json, to_json
from .requests import Call, CallProblem
from .server import Outcome, Server
from .servers import Servers

_Key = tuple[bytes, str]  # a gateway and its id of the call


class ServedCalls:
    """Calls without answer, each of the gateway that asked."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._waiting: dict[_Key, Callable[[], None]] = {}

    def tools(self, request: Request, answer: Answer) -> None:
        """Answer ``mcp_tools``: the tools of a server as MCP lists them, as many as fit."""
        server = self._find(parse_server(request.arguments))
        listed: list[bytes] = []
        size = 0
        for tool in server.tools:
            size += len(tool.listed) + 1
            if size > MCP_TOOLS_BYTES:
                break
            listed.append(tool.listed)
        left_out = len(server.tools) - len(listed)
        around = b'{"server":%s,"tools":[%s],"left_out":%d}'
        answer({}, around % (to_json(server.name), b",".join(listed), left_out))

    def call(self, peer: bytes, request: Request, answer: Answer) -> None:
        """Answer ``mcp_call`` when the server has answered; raises Problem with the field and the rule."""
        call_id, call = parse_call(request)
        server = self._find(call.server)
        key = (peer, call_id)
        if key in self._waiting:
            raise bad("call_id", "a call of that id waits already; give each another")
        answered = False

        def settle(value: Outcome) -> None:
            nonlocal answered
            answered = True
            self._waiting.pop(key, None)
            answer(*_answer(value))

        number = server.call(call, settle)
        if not answered:
            self._waiting[key] = partial(server.cancel, number)

    def cancel(self, peer: bytes, given: dict[str, Any]) -> Reply:
        """Give up a call of this gateway; without effect on one that was answered."""
        cancel = self._waiting.get((peer, parse_call_id(given)))
        if cancel is not None:
            cancel()
        return {}

    def forget(self, peer: bytes) -> None:
        """The gateway is gone: nothing waits for its calls any more."""
        for key, cancel in list(self._waiting.items()):
            if key[0] == peer:
                cancel()

    def _find(self, name: str) -> Server:
        try:
            return self._servers.find(name)
        except CallProblem as problem:
            raise Problem(problem.kind, str(problem)) from None


def parse_call(request: Request) -> tuple[str, Call]:
    """The arguments of ``mcp_call``: the gateway's id of the call, and the call; raises Problem."""
    given = request.arguments
    tool, seconds = _text(given, "tool", MCP_TEXT_CHARS), parse_seconds(given)
    call = Call(parse_server(given), tool, _arguments(request.blob), seconds, _at_once(given))
    return parse_call_id(given), call


def parse_server(given: dict[str, Any]) -> str:
    """The field ``server``; raises Problem."""
    return _text(given, "server", MCP_TEXT_CHARS)


def parse_call_id(given: dict[str, Any]) -> str:
    """The field ``call_id``; raises Problem."""
    return _text(given, "call_id", MCP_CALL_ID_CHARS)


def _at_once(given: dict[str, Any]) -> int | None:
    value = given.get("at_once")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MCP_CALLS:
        raise bad("at_once", f"must be a whole number from 1 to {MCP_CALLS}")
    return value


def _answer(value: Outcome) -> tuple[Reply | Problem, bytes]:
    if isinstance(value, CallProblem):
        return Problem(value.kind, str(value)), b""
    try:
        blob = to_json(value, strict=True)
    except Unspeakable as problem:
        return Problem("failed", f"the result cannot be passed on: {problem}"), b""
    if len(blob) > MCP_RESULT_BYTES:
        words = f"the result has {len(blob)} bytes; at most {MCP_RESULT_BYTES} are taken. Ask for less at a time."
        return Problem("too_large", words), b""
    return {}, blob


def _arguments(blob: bytes) -> dict[str, Any]:
    try:
        value = from_json(blob or b"{}", MCP_VALUES)
    except BrokenFrames as broken:
        raise bad("blob", f"the tool's arguments must be one JSON object, not {broken}") from broken
    if not isinstance(value, dict):
        raise bad("blob", "the tool's arguments must be one JSON object")
    return value


def _text(given: dict[str, Any], field: str, most_chars: int) -> str:
    text = parse_text(given.get(field), field, 4 * most_chars)
    if not 0 < len(text) <= most_chars:
        raise bad(field, f"must be a text of 1 to {most_chars} characters")
    return text
