"""Every decoder of the supervisor for what comes from outside: good messages for it, and what must hold for any."""

import ast
import json
from binascii import b2a_base64
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any, NamedTuple, cast

import recorded
from headers import HEADERS, jpeg
from jupyter_peer import Peer

from sandglass_supervisor import limits
from sandglass_supervisor.execution.execution import Execution
from sandglass_supervisor.execution.outcome import Outcome
from sandglass_supervisor.kernels import zmtp
from sandglass_supervisor.kernels.jupyter import Message
from sandglass_supervisor.kernels.kernel_run import Run
from sandglass_supervisor.kernels.node_process import Frames
from sandglass_supervisor.link import arguments, wire
from sandglass_supervisor.link.wire import Credit, Malformed, Problem, Request, Returned
from sandglass_supervisor.loop import Loop
from sandglass_supervisor.mcp_api import texts
from sandglass_supervisor.mcp_api.schemas import Definitions, Unfit
from sandglass_supervisor.mcp_servers import shared_server_words, words
from sandglass_supervisor.mcp_servers.definition import parse_registration
from sandglass_supervisor.mcp_servers.requests import CallProblem, parse_request
from sandglass_supervisor.seat import parse_configuration
from sandglass_supervisor.shared.html_text import html_text
from sandglass_supervisor.shared.json_frames import BrokenFrames, Frame, JsonFrames, encode
from sandglass_supervisor.shared.picture_sides import sides, sides_in_base64

_GATEWAY_JSON_BYTES = 1024 * 1024
_MOST = 2**63
_MCP_BYTES, _MCP_VALUES = 64 * 1024, 1000
_MCP: list[dict[str, Any]] = [
    {"id": 1, "op": "call", "server": "one", "tool": "add", "arguments": {"a": [1, {"b": None}]}, "timeout_s": 1.5},
    {"id": 2, "op": "cancel"},
    {"id": 3, "op": "servers"},
    {"id": 4, "op": "describe", "server": "one", "tool": "add"},
    {"id": 5, "op": "load", "server": "one"},
    {
        "op": "started",
        "server_info": {"name": "a", "version": "1", "protocol_version": "2"},
        "tools": [],
        "notes": [""],
    },
    {"op": "tools", "tools": [{"name": "a", "inputSchema": {}, "outputSchema": {}, "description": "b"}], "notes": []},
    {"op": "result", "id": 1, "result": {"content": [{"type": "text", "text": "caf\u00e9"}], "isError": False}},
    {"op": "error", "id": 1, "kind": "failed", "message": "no"},
    {"op": "failed", "why": "it is not there", "late": True},
    {"name": "one", "command": "npx", "args": ["-y", "x"], "env": {"KEY": "v"}, "cwd": "~/x", "timeout_s": 5},
    {"name": "two", "url": "https://example.com/mcp", "headers": {"Authorization": "x"}, "transport": "sse"},
    {"name": "one", "command": "npx", "secret_env": {"TOKEN": {"secret": "sandglass-mcp-one", "key": "token"}}},
    {"name": "two", "url": "http://x/", "secret_headers": {"X-Key": {"secret": "sandglass-mcp-a.b", "key": ".a_B-1"}}},
]
_SHARED: list[dict[str, Any]] = [
    {"servers": [{"name": "one", "state": "running", "tools": [{"name": "add", "description": "caf\u00e9"}, "b"]}]},
    {
        "server": "one",
        "tools": [{"name": "a", "description": "b", "inputSchema": {}, "outputSchema": {}}],
        "left_out": 1,
    },
    {"content": [{"type": "text", "text": "x"}], "structuredContent": {"a": [[{}], None, 1.5e3]}, "isError": False},
]
_KINDS = {"stdout", "stderr", "result", "display", "error"}
_KEY, _JUPYTER = recorded.jupyter_corpus()
_PEER = Peer(_KEY)


_KEYWORDS = set(
    "$ref additionalProperties allOf anyOf default description enum exclusiveMaximum exclusiveMinimum format items "
    "maxItems maxLength maximum minItems minLength minimum multipleOf pattern properties required type".split()
)
_SCHEMAS: list[dict[str, Any]] = [
    {"type": "object", "properties": {"a": {"type": "string", "minLength": 1, "pattern": "^a"}}, "required": ["a"]},
    {"properties": {"a": {"$ref": "#/$defs/A"}, "b": {"enum": ["x", 1]}}, "$defs": {"A": {"items": {"$ref": "#"}}}},
    {"anyOf": [{"type": ["integer", "null"], "minimum": 1}, {"allOf": [{"properties": {"b": {"default": [1]}}}]}]},
    {"type": "object", "patternProperties": {"^x": {"format": "date"}}, "description": "x", "customTypePath": "os.x"},
]


class Target(NamedTuple):
    """A decoder, good messages for it, and what must hold for every message."""

    name: str
    corpus: list[list[bytes]]
    check: Callable[[list[bytes]], None]


def check_link(frames: list[bytes]) -> None:
    """Frames of a gateway: decoded, and the verb's arguments read."""
    message = wire.decode(frames)
    match message:
        case Credit():
            assert wire.decode([b"C", message.execution_id.encode("ascii"), b"%d" % message.offset]) == message
            assert 0 <= message.offset < 10**19
        case Returned(value=Problem() as problem):
            assert len(problem.code) <= limits.NAME_BYTES
            assert len(str(problem)) <= limits.MESSAGE_CHARS
        case Returned():
            assert len(message.blob) <= limits.BLOB_BYTES
        case Malformed():
            if message.request_id is not None:
                _readable(wire.failure(message.request_id, "bad_request", message.reason)[2])
        case Request():
            said = wire.to_json({"verb": message.verb, **message.arguments})
            if len(said) <= limits.JSON_BYTES:
                assert wire.decode([b"V", message.request_id, said, message.blob]) == message
            _check_arguments(message)


def _check_arguments(request: Request) -> None:
    readers: list[Callable[[], Any]] = [
        lambda: arguments.parse_execute(request),
        lambda: arguments.parse_command(request, "/workspace"),
        lambda: arguments.parse_files(request),
        lambda: arguments.parse_kernel(request.arguments),
        lambda: arguments.parse_execution_id(request.arguments),
        lambda: arguments.parse_offset(request.arguments),
        lambda: arguments.parse_call_kinds(request.arguments),
        lambda: parse_configuration(request.arguments),
    ]
    for reader in readers:
        try:
            found = reader()
        except Problem as problem:
            _readable(wire.failure(request.request_id, problem.code, str(problem))[2])
        else:
            _check_read(found)


def _check_read(found: object) -> None:
    if isinstance(found, arguments.Execute | arguments.Command):
        assert 0 < found.timeout_s <= limits.TIMEOUT_MAX_S
        assert len(found.envs) <= limits.ENV_COUNT
        assert all("\0" not in name + text and "=" not in name for name, text in found.envs.items())
        # A lone surrogate would fail where nobody expects it.
        repr(found).encode("utf-8")
    if isinstance(found, arguments.FileRequest):
        assert 1 <= found.length <= limits.FILE_BYTES
        assert 1 <= found.limit <= limits.LIST_ENTRIES_MAX


def check_jupyter(frames: list[bytes]) -> None:
    """Frames of a kernel: as they are, and signed anew; Jupyter's own reader must agree."""
    _PEER.check(frames)
    _PEER.check(_PEER.signed_anew(frames))


def check_run(frames: list[bytes]) -> None:
    """What a kernel says in a run (kind and content of each message) becomes records and one outcome."""
    written: list[tuple[str, bytes, bytes]] = []
    ended: list[Outcome] = []
    execution = cast(Execution, _Sink(written))
    run = Run("m", execution, cast(Loop, _NoTime()), ended.append)
    for kind, said in zip(frames[::2], frames[1::2], strict=False):
        run.hear(Message(kind.decode("utf-8", "replace"), "m", said))
    if not ended:
        run.hear(Message("execute_reply", "m", b'{"status":"ok"}'))
        run.hear(Message("status", "m", b'{"execution_state":"idle"}'))
    assert ended, "the run never ends"
    for what, about, blob in written:
        assert what in _KINDS
        assert len(blob) <= limits.PICTURE_BYTES
        if _readable(about).get("mime", "").startswith("image/"):
            continue
        blob.decode("utf-8")
        assert len(blob) <= max(limits.TEXT_BYTES, 4 * limits.JSON_RESULT_BYTES)
    _readable(wire.to_json(ended[0].to_json(1.0, truncated=False)))


class _Sink:
    """Stands for an execution."""

    congested = False

    def __init__(self, written: list[tuple[str, bytes, bytes]]) -> None:
        self.write = lambda kind, about, blob: written.append((kind, about, blob))


class _NoTime:
    """Stands for the loop: no timer ever runs out."""

    def call_in(self, _seconds: float, _call: Callable[[], None]) -> Any:
        return self

    def cancel(self) -> None:
        """Nothing waits."""


def _readable(text: bytes) -> dict[str, Any]:
    """JSON that the gateway's reader takes: an object, not too long, of numbers that a machine word holds."""

    def whole(digits: str) -> int:
        value = int(digits)
        assert -_MOST <= value < _MOST, f"a number of {len(digits)} digits"
        return value

    assert len(text) <= _GATEWAY_JSON_BYTES
    value = json.loads(text.decode("ascii"), parse_int=whole)
    assert isinstance(value, dict)
    return value


def check_node(frames: list[bytes]) -> None:
    """Bytes of the Node driver's pipe: the same messages however they were cut; nothing broken is kept."""
    pieces, whole = Frames(), Frames()
    found = [message for piece in frames for message in pieces.feed(piece)]
    assert found == whole.feed(b"".join(frames))
    assert pieces.broken == whole.broken
    if pieces.broken:
        assert pieces.feed(b"\0\0\0\x05a\n1\nb") == []
        assert pieces.held == 0
    assert pieces.held <= limits.KERNEL_MESSAGE_BYTES + 4


def check_mcp(frames: list[bytes]) -> None:
    """Bytes of the socket for code, and of a session process: the same objects however they are cut."""
    pieces, whole = JsonFrames(_MCP_BYTES, _MCP_VALUES), JsonFrames(_MCP_BYTES, _MCP_VALUES)
    found = _objects(pieces, frames)
    assert found == _objects(whole, [b"".join(frames)])
    assert pieces.held <= _MCP_BYTES + 4 + max(map(len, frames), default=0)
    for said in found:
        with suppress(CallProblem):
            parse_request(said.value)
        with suppress(BrokenFrames):
            words.parse(said)
        with suppress(Problem):
            parse_registration(said.value, "/workspace")


def check_shared(frames: list[bytes]) -> None:
    """What a gateway answers about shared servers: what code gets of it is bounded, and JSON for any reader."""
    blob = b"".join(frames)
    with suppress(CallProblem):
        assert isinstance(json.loads(shared_server_words.parse_result(blob, "one").decode("utf-8")), dict)
    with suppress(CallProblem):
        tools, _ = shared_server_words.parse_listed(blob, "one")
        assert all(isinstance(json.loads(tool.described), dict) for tool in tools)
    for value, data in ((wire.parse_object(blob) or {}, b""), ({}, blob)):
        with suppress(CallProblem):
            for server in shared_server_words.parse_servers(value, data):
                assert server["name"].isprintable()
                assert server["state"] == "" or server["state"].isprintable()
                assert all(0 < len(tool["name"]) <= limits.MCP_TEXT_CHARS for tool in server["tools"])
    told = shared_server_words.problem_of(Problem("failed", blob.decode("utf-8", "replace")))
    assert 0 < len(str(told)) <= limits.MESSAGE_CHARS
    assert all(line.isprintable() for line in str(told).split("\n"))


def _objects(frames: JsonFrames, data: list[bytes]) -> list[Frame]:
    found: list[Frame] = []
    with suppress(BrokenFrames):
        for piece in data:
            for said in frames.feed(piece):
                found.append(said)  # noqa: PERF402 - those before what is broken count
    return found


def check_zmtp(frames: list[bytes]) -> None:
    """Bytes of a kernel's socket: the same messages however they were cut, and little is held of what goes on."""
    pieces, whole = zmtp.Frames(), zmtp.Frames()
    found = [message for piece in frames for message in _messages(pieces, piece)]
    assert found == _messages(whole, b"".join(frames))
    most = limits.KERNEL_MESSAGE_BYTES + 8 * limits.KERNEL_HEADER_BYTES
    for message in found:
        assert len(message) <= limits.KERNEL_FRAMES
        assert sum(map(len, message)) <= most
    assert pieces.held <= most + limits.KERNEL_MESSAGE_BYTES + max(map(len, frames), default=0)


def _messages(frames: zmtp.Frames, data: bytes) -> list[list[bytes]]:
    found = []
    frames.feed(data)
    with suppress(zmtp.Violation):
        while (step := frames.next()) is not None:
            found += [] if step[1] is None else [step[1]]
    return found


def check_schema(frames: list[bytes]) -> None:
    """A tool's schema, and a text of its server: what is left of them is known, and no code."""
    data = b"".join(frames)
    text = data.decode("utf-8", "replace")
    cleaned = texts.cleaned(text, 1000)
    assert ast.literal_eval(texts.docstring(cleaned)).removesuffix("\n") == cleaned
    assert ast.literal_eval(texts.literal(text)) == text
    try:
        schema = json.loads(data)
    except (ValueError, RecursionError):
        return
    definitions = Definitions(lambda _: True, frozenset({"Params"}))
    with suppress(Unfit):
        definitions.add_root("Params", schema, closed=True)
        for found in definitions.schemas.values():
            _check_schema(found, definitions.schemas.keys())


def _check_schema(found: dict[str, Any], names: Collection[str]) -> None:
    assert found.keys() <= _KEYWORDS
    assert found.get("$ref", "#/$defs/Params").removeprefix("#/$defs/") in names
    inner = [found.get("items"), found.get("additionalProperties"), *found.get("properties", {}).values()]
    for part in (*inner, *found.get("anyOf", ()), *found.get("allOf", ())):
        if isinstance(part, dict):
            _check_schema(part, names)


def check_html(frames: list[bytes]) -> None:
    """A page."""
    page = b"".join(frames).decode("utf-8", "surrogatepass" if len(frames) % 2 else "replace")
    html_text(page).encode("utf-8", "replace")


def check_picture(frames: list[bytes]) -> None:
    """A picture, whatever kind it is told to be."""
    picture = b"".join(frames)
    encoded = b2a_base64(picture, newline=False).decode("ascii")
    for mime in {header.mime for header in HEADERS.values()}:
        found = sides(mime, picture)
        assert found is None or 0 <= min(found) <= max(found) < 2**32
        assert sides_in_base64(mime, encoded) == found
        sides_in_base64(mime, picture.decode("utf-8", "replace"))


def _html(frames: list[bytes]) -> None:
    try:
        check_html(frames)
    except UnicodeDecodeError:
        check_html([*frames, b""])


def _framed(kind: bytes, run: bytes, said: bytes) -> bytes:
    body = b"%s\n%s\n%s" % (kind, run, said)
    return len(body).to_bytes(4, "big") + body


def _said() -> Iterator[list[bytes]]:
    for _, frames in _JUPYTER:
        start = frames.index(b"<IDS|MSG>") + 2
        yield [json.loads(frames[start])["msg_type"].encode(), frames[start + 3]]


def targets() -> list[Target]:
    """Every decoder of the supervisor."""
    runs = list(_said())
    pipe = [_framed(kind, b"1", content) for kind, content in runs]
    socket = [b"".join(zmtp.encoded(frame, 1) for frame in frames) + zmtp.encoded(b"", 0) for _, frames in _JUPYTER]
    pages = [
        b"<h1>Head</h1><p>one<br/>two &amp; &#233;</p><pre>a\n  b</pre>",
        b"<table><tr><th></th><th>a</th></tr><tr><td>1</td></tr></table><ul><li>x<li>y</ul>",
        b"<style>p{x}</style><script>if (a<b) {}</script><!-- no --><img src='data:x' alt=\"a cat\"><title>t</title>",
    ]
    pictures = [header.begin(9000, 40) for header in HEADERS.values()]
    pictures.append(jpeg(9000, 40, b"\xff\xe1\x00\x08Exif\0\0\xff\xff\xd0\xff\xdb\x00\x04\xff\xc0"))
    return [
        Target("link", [entry.frames for entry in recorded.load(recorded.FROM_GATEWAY)], check_link),
        Target("jupyter", [frames for _, frames in _JUPYTER], check_jupyter),
        Target("run", [*runs, [frame for run in runs for frame in run]], check_run),
        Target("node", [[piece] for piece in pipe] + [pipe, [b"".join(pipe)]], check_node),
        Target("zmtp", [[zmtp.GREETING, zmtp.introduction("XPUB"), *socket], [b"".join(socket)]], check_zmtp),
        Target("mcp", [[encode(said)] for said in _MCP] + [[encode(said) for said in _MCP]], check_mcp),
        Target("shared", [[json.dumps(said).encode()] for said in _SHARED], check_shared),
        Target("schema", [[json.dumps(schema).encode()] for schema in _SCHEMAS], check_schema),
        Target("html", [[page] for page in pages], _html),
        Target("picture", [[picture] for picture in pictures], check_picture),
    ]
