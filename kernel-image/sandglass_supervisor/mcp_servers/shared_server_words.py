"""What a gateway answers to calls about shared servers, checked (pure): much of it is text of servers in other pods."""

from typing import Any

from ..limits import (
    MCP_DEPTH,
    MCP_LINE_CHARS,
    MCP_NOTES,
    MCP_RESULT_BYTES,
    MCP_SHARED_SERVERS,
    MCP_TEXT_CHARS,
    MCP_TOOLS,
    MCP_TOOLS_BYTES,
    MCP_VALUES,
    MESSAGE_CHARS,
    NAME_BYTES,
)
from ..link.wire import Problem
from ..shared.json_frames import BrokenFrames, from_json
from ..shared.text import one_line, plain
from .requests import CallProblem
from .words import Tool, parse_tools

# The problems that a gateway names, which are also those of the socket.
_TOLD = frozenset("no_server no_tool not_allowed too_many timeout too_large not_running failed".split())
NO_GATEWAY = "no_gateway"  # as the link says it: the code is told more
_OURS = {
    "execution_ended": "cancelled",
    "gateway_lost": "unreachable",
    NO_GATEWAY: NO_GATEWAY,
    "too_many_calls": "too_many",
    "cancelled": "cancelled",
}
_WHOSE = "what the gateway answered about server"


def parse_result(blob: bytes, server: str) -> bytes:
    """The result of a call, as JSON that the code can read; raises CallProblem."""
    if len(blob) > MCP_RESULT_BYTES:
        words = f"the result has {len(blob)} bytes; at most {MCP_RESULT_BYTES} are taken. Ask for less at a time."
        raise CallProblem("too_large", words)
    _object(blob, server)
    return blob


def parse_listed(blob: bytes, server: str) -> tuple[list[Tool], list[str]]:
    """The tools of a server, with why some are left out; raises CallProblem."""
    if len(blob) > MCP_TOOLS_BYTES:
        words = f"the tools of server {_shown(server)} have {len(blob)} bytes; at most {MCP_TOOLS_BYTES} are taken"
        raise CallProblem("too_large", words)
    said = _object(blob, server)
    notes: list[str] = []
    try:
        tools = said["tools"]
        if not isinstance(tools, list):
            raise TypeError
        named = parse_tools(tools[:MCP_TOOLS], notes)
    except (KeyError, TypeError, AttributeError):
        raise CallProblem("failed", f"{_WHOSE} {_shown(server)} is no list of tools") from None
    left_out = len(tools) - MCP_TOOLS
    if left_out > 0 or said.get("left_out"):
        notes.append("the server has more tools than are listed")
    return named, notes[:MCP_NOTES]


def parse_servers(value: dict[str, Any], blob: bytes) -> list[dict[str, Any]]:
    """The servers that the sandbox may use, as the code is told of them; raises CallProblem.

    They stand in the answer itself, or in its data. What has no name that can be called is left out.
    """
    said = _object(blob, "") if blob else value
    listed = said.get("servers")
    if not isinstance(listed, list):
        raise CallProblem("failed", "what the gateway answered is no list of servers")
    found: dict[str, dict[str, Any]] = {}
    for server in listed[:MCP_SHARED_SERVERS]:
        line = _line(server)
        if line is not None:
            found.setdefault(line["name"], line)
    return list(found.values())


def problem_of(problem: Problem) -> CallProblem:
    """Why a call has no result, as the code is told: whatever the gateway or the link says."""
    text = _cleaned(str(problem)) or "the gateway says no more"
    kind = problem.code if problem.code in _TOLD else _OURS.get(problem.code)
    if kind is None:
        code = one_line(problem.code, NAME_BYTES)
        return CallProblem(
            "gateway_failed", f"the gateway could not carry out the call, try again later ({code}): {text}"
        )
    return CallProblem(kind, text)


def _line(server: Any) -> dict[str, Any] | None:
    name = server.get("name") if isinstance(server, dict) else None
    if not isinstance(name, str) or not 0 < len(name) <= MCP_TEXT_CHARS or one_line(name, MCP_TEXT_CHARS) != name:
        return None
    state, tools = server.get("state"), server.get("tools")
    return {
        "name": name,
        "state": one_line(state, NAME_BYTES) if isinstance(state, str) else "",
        "shared": True,
        "tools": [line for tool in (tools[:MCP_TOOLS] if isinstance(tools, list) else ()) if (line := _tool(tool))],
    }


def _tool(tool: Any) -> dict[str, str] | None:
    """Its name and the first line of its description; a name may stand alone."""
    given = {"name": tool} if isinstance(tool, str) else tool
    name = given.get("name") if isinstance(given, dict) else None
    if not isinstance(name, str) or not 0 < len(name) <= MCP_TEXT_CHARS:
        return None
    description = given.get("description")
    first = description.strip().partition("\n")[0] if isinstance(description, str) else ""
    return {"name": name, "description": one_line(first, MCP_LINE_CHARS)}


def _object(blob: bytes, server: str) -> dict[str, Any]:
    """The object, which every reader of JSON in a sandbox can read."""
    whose = f"{_WHOSE} {_shown(server)}" if server else "what the gateway answered"
    try:
        # Python would read other encodings as well.
        if blob[:1] != b"{" or b"\0" in blob:
            raise BrokenFrames("no JSON object")
        blob.decode("utf-8")
        value = from_json(blob, MCP_VALUES, _refuse)
    except (BrokenFrames, ValueError) as broken:
        raise CallProblem("failed", f"{whose} cannot be read: {broken}") from None
    if not isinstance(value, dict) or _is_deep(value, blob):
        raise CallProblem("failed", f"{whose} cannot be read: it is nested too deep")
    return value


def _is_deep(value: dict[str, Any], blob: bytes) -> bool:
    """True for more levels than code is sure to read, wherever it stands."""
    if blob.count(b"{") + blob.count(b"[") <= MCP_DEPTH:
        return False
    level: list[dict[str, Any] | list[Any]] = [value]
    for _ in range(MCP_DEPTH):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for values in inner for each in values if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def _refuse(name: str) -> None:
    raise ValueError(f"a number that JSON has not: {name}")


def _shown(server: str) -> str:
    return repr(one_line(server, MCP_TEXT_CHARS))


def _cleaned(text: str) -> str:
    """Text of several lines, without what is no character of a text."""
    lines = plain(text[: 4 * MESSAGE_CHARS]).splitlines()
    return "\n".join(one_line(line, MESSAGE_CHARS) for line in lines).strip()[:MESSAGE_CHARS]
