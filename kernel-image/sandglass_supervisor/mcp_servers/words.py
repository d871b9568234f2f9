"""What a session process says, checked (pure): the code has its rights, and could speak in its place."""

from typing import Any, NamedTuple

from ..limits import (
    MCP_FRAME_SLACK_BYTES,
    MCP_LINE_CHARS,
    MCP_RESULT_BYTES,
    MCP_TEXT_CHARS,
    MCP_TOOLS,
    MCP_TOOLS_BYTES,
    MESSAGE_CHARS,
)
from ..shared.json_frames import BrokenFrames, Frame, Unspeakable, to_json
from ..shared.text import one_line
from .requests import CallProblem

_INFO = ("name", "version", "protocol_version")
_NOTES = 4
_KINDS = frozenset(("failed", "cancelled", "too_large", "bad_request"))


# The largest that a session process says.
FRAME_BYTES = max(MCP_TOOLS_BYTES, MCP_RESULT_BYTES) + MCP_FRAME_SLACK_BYTES


class Tool(NamedTuple):
    """A tool: its name as it is and as it is shown, the first line of its description, and parts of it as JSON.

    ``head`` has ``name`` and ``description``, without the closing brace. All of it is text of the server.
    """

    name: str
    shown: str
    line: str
    head: bytes
    input_schema: bytes
    output_schema: bytes | None

    @property
    def described(self) -> bytes:
        """``name``, ``description``, ``input_schema`` and perhaps ``output_schema``, as code and generator want it."""
        return self._with(b"input_schema", b"output_schema")

    @property
    def listed(self) -> bytes:
        """The same with MCP's own names."""
        return self._with(b"inputSchema", b"outputSchema")

    def _with(self, given: bytes, returned: bytes) -> bytes:
        last = b"" if self.output_schema is None else b',"%s":%s' % (returned, self.output_schema)
        return b'%s,"%s":%s%s}' % (self.head, given, self.input_schema, last)


class Started(NamedTuple):
    """The server answers."""

    info: dict[str, str]
    tools: list[Tool]
    notes: list[str]


class Changed(NamedTuple):
    """The server's tools are others now."""

    tools: list[Tool]
    notes: list[str]


class Answered(NamedTuple):
    """A call has its result, or a problem."""

    number: int
    outcome: dict[str, Any] | CallProblem


class Over(NamedTuple):
    """The server did not start, or is gone; ``late``: its time to start was up."""

    why: str
    late: bool


class Unreadable(NamedTuple):
    """The server sent something that is no message of MCP, perhaps what should have been an answer."""


Said = Started | Changed | Answered | Over | Unreadable


def parse(frame: Frame) -> Said:
    """What is said; raises BrokenFrames."""
    said = frame.value
    try:
        match said["op"]:
            case "started":
                info = {name: one_line(_str(said["server_info"][name]), MCP_TEXT_CHARS) for name in _INFO}
                return Started(info, *_tools(said))
            case "tools":
                return Changed(*_tools(said))
            case "result" if isinstance(said["result"], dict):
                return Answered(_int(said["id"]), said["result"])
            case "error" if said["kind"] in _KINDS:
                return Answered(_int(said["id"]), CallProblem(said["kind"], _str(said["message"])[:MESSAGE_CHARS]))
            case "unreadable":
                return Unreadable()
            case "ended" | "failed":
                return Over(one_line(_str(said["why"]), MESSAGE_CHARS), said.get("late") is True)
    except (KeyError, TypeError):
        pass
    raise BrokenFrames("its session said what it never says")


def _tools(said: dict[str, Any]) -> tuple[list[Tool], list[str]]:
    """Those that can be named, and the notes."""
    notes = [one_line(_str(note), MESSAGE_CHARS) for note in _list(said["notes"])[:_NOTES]]
    return parse_tools(_list(said["tools"])[:MCP_TOOLS], notes), notes


def parse_tools(listed: list[Any], notes: list[str]) -> list[Tool]:
    """The tools of MCP's list that can be used; ``notes`` gets why others are left out. Raises KeyError, TypeError."""
    named = [tool for tool in map(_dict, listed) if 0 < len(_str(tool["name"])) <= MCP_TEXT_CHARS]
    if len(named) < len(listed):
        notes.append(f"tools without a name of 1 to {MCP_TEXT_CHARS} characters are left out")
    tools = []
    for tool in named:
        try:
            tools.append(_tool(tool))
        except Unspeakable as problem:
            notes.append(f"a tool whose schema JSON cannot hold is left out: {problem}")
    return tools


def _tool(tool: dict[str, Any]) -> Tool:
    name, description = _str(tool["name"]), _str(tool.get("description", ""))
    output = tool.get("outputSchema")
    line = one_line(description.strip().partition("\n")[0], MCP_LINE_CHARS)
    return Tool(
        name,
        one_line(name, MCP_TEXT_CHARS),
        line,
        to_json({"name": name, "description": description})[:-1],
        to_json(_dict(tool["inputSchema"]), strict=True),
        None if output is None else to_json(_dict(output), strict=True),
    )


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _dict(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return value


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value
