"""Recorded frames of the link, and what each message means.

``frames/from_supervisor.json`` is written here and read by the gateway's tests, ``frames/from_gateway.json`` is written
by the gateway's tests and read here: what one side sends is what the other was tested with. Run as a program, this
writes the former anew (``make generate``).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from sandglass_supervisor.execution import hint, outcome
from sandglass_supervisor.execution.journal import Journal
from sandglass_supervisor.execution.outcome import Outcome
from sandglass_supervisor.kernels import content
from sandglass_supervisor.link import wire
from sandglass_supervisor.link.wire import Piece
from sandglass_supervisor.network_probe import Address, Network
from sandglass_supervisor.processes.cgroup import Memory
from sandglass_supervisor.seat import Seat
from sandglass_supervisor.verbs import Sandbox, Verbs

FOLDER = Path(__file__).parent / "frames"
FROM_SUPERVISOR = FOLDER / "from_supervisor.json"
FROM_GATEWAY = FOLDER / "from_gateway.json"
CORPUS = Path(__file__).parent / "jupyter" / "recorded.json"
_HEX = "hex:"
_ID = "default.0b8a6a6e-51a8-4f5c-9a8e-0f6f5f9f2f11.1.abcdefghijklmnop"
_PNG = b"\x89PNG\r\n\x1a\n\x00\xff"


class Recorded(NamedTuple):
    """A message: its frames and, in JSON, what its reader makes of it."""

    name: str
    frames: list[bytes]
    means: dict[str, Any]


def to_text(frame: bytes) -> str:
    """A frame as a reader can read it: UTF-8 as it is, anything else in hexadecimal digits."""
    try:
        text = frame.decode("utf-8")
    except UnicodeDecodeError:
        return _HEX + frame.hex()
    return _HEX + frame.hex() if text.startswith(_HEX) else text


def to_frame(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix(_HEX)) if text.startswith(_HEX) else text.encode("utf-8")


def load(path: Path) -> list[Recorded]:
    entries = json.loads(path.read_text(encoding="utf-8"))
    return [Recorded(e["name"], [to_frame(frame) for frame in e["frames"]], e["means"]) for e in entries]


def dump(entries: Sequence[Recorded]) -> str:
    shown = [{"name": e.name, "frames": [to_text(frame) for frame in e.frames], "means": e.means} for e in entries]
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


class JupyterFrames(NamedTuple):
    """A message of a real kernel as it was on the wire, identities and signature included."""

    name: str
    frames: list[bytes]


def jupyter_corpus() -> tuple[bytes, list[JupyterFrames]]:
    """The key with which the corpus is signed, and its messages."""
    file = json.loads(CORPUS.read_text(encoding="utf-8"))
    messages = [JupyterFrames(m["name"], [to_frame(frame) for frame in m["frames"]]) for m in file["messages"]]
    return file["key"].encode("ascii"), messages


def from_supervisor() -> list[Recorded]:
    """What a supervisor says, made by the supervisor's own code."""
    return [*_replies(), *_failures(), *_outputs(), *_outcomes(), *_events(), *_calls()]


def _reply(name: str, value: dict[str, Any], blob: bytes = b"") -> Recorded:
    means = {"message": "reply", "request_id": "r7", "json": value, "blob": to_text(blob)}
    return Recorded(f"reply to {name}", wire.reply(b"r7", value, blob), means)


def _replies() -> list[Recorded]:
    execution = {"state": "queued", "position": 2, "execution_id": _ID}
    ended = {**execution, "state": "done", "position": 0}
    journal = {"from": 0, "end": 5_000_000_000}
    done = Outcome(outcome.OK, execution_count=3).to_json(12.345, truncated=True)
    facts = {"name": "a", "type": "file", "size": 3, "modified": 1_780_000_000.5}
    return [
        _reply("hello", _hello()),
        _reply("execute, command", execution),
        _reply("attach", {**execution, "journal": journal, "outcome": None}),
        _reply("attach, ended", {**ended, "journal": journal, "outcome": done}),
        _reply("detach, close, files move", {}),
        _reply("interrupt", {"interrupted": [_ID]}),
        _reply("reset", {"state": "idle"}),
        _reply("list", {"kernels": [_KERNEL], "executions": [{**execution, "kind": "code"}], "network": _CLOSED}),
        _reply("metrics", {"cpu_seconds": 1.25, "cpu_usage_percent": None, "memory_bytes": 4096, "pids": 3}),
        _reply("files read", {"offset": 0, "size": 3}, b"\x00\xffa"),
        _reply("files write", {"bytes": 3, "size": 3}),
        _reply("files list", {"entries": 1, "complete": True}, json.dumps([facts]).encode()),
        _reply("files mkdir", {"created": True}),
        _reply("files delete", {"deleted": 1, "done": True}),
        _reply("files stat", {"type": "file", "size": 3, "mode": "0644", "target": None}),
        _reply("mcp_tools", {}, b'{"server":"one","tools":[{"name":"add","inputSchema":{}}],"left_out":0}'),
        _reply("mcp_functions", _FUNCTIONS),
        _reply("mcp_call", {}, '{"content":[{"type":"text","text":"é"}],"isError":false}'.encode()),
    ]


_FUNCTIONS = {
    "name": "one",
    "folder": "/workspace/mcptools/one",
    "tools": [{"name": "Add-Two", "module": "add_two", "description": "Adds."}],
    "notes": [],
}
_CLOSED = {"reached": None, "refusal": None}
_KERNEL = {"language": "python", "session": "default", "state": "idle", "executions": 0, "uptime_s": 1.5}


def _hello(seat: Seat | None = None) -> dict[str, Any]:
    """The answer of the verb itself: what it tells of limits is part of the protocol."""
    settings = SimpleNamespace(sandbox_uid="uid-1", incarnation="7")
    kernels = [SimpleNamespace(describe=lambda: dict(_KERNEL))]
    files = SimpleNamespace(greet=lambda _, acknowledges: None)
    network = Network(required=True)
    network.is_open(Address("192.0.2.1", 443))
    sandbox = SimpleNamespace(
        settings=settings, boot_id="b00t", network=network, kernels=kernels, executions=[], files=files, seat=seat
    )
    said: list[dict[str, Any]] = []
    unused = cast(Any, None)
    verbs = Verbs(cast(Sandbox, sandbox), unused, lambda _, _kinds: None, lambda: None, unused, unused)
    request = wire.Request(b"r7", "hello", {"protocol": [wire.PROTOCOL]}, b"")
    verbs.serve(b"peer", request, cast(wire.Answer, lambda value, blob=b"": said.append(value)))
    return {**said[0], "supervisor": "1.2.3"}


def _failures() -> list[Recorded]:
    said = {
        "bad_request": "envs: must be an object of at most 256 variables",
        "unknown_verb": "there is no verb '\ud800é'",
        "unknown_execution": f"execution {_ID} is not known here, or its output is gone",
        "execution_never_came": f"execution {_ID} never came here",
        "rejected": "8 executions wait for kernel python/default already; try again later",
        "unsupported_version": "this supervisor speaks protocol 1 only",
        "internal": "OSError in the supervisor",
        "mcp_registering": "name: server 'one' is being registered already; wait for the answer",
        "no_server": "there is no MCP server 'two' in this sandbox; registered are: one",
        "network_open": outcome.network_open("192.0.2.1:443"),
    }
    return [
        Recorded(
            f"failure {code}",
            wire.failure(b"r7", code, text),
            # An unpaired surrogate is no character: whoever reads it puts another one in its place.
            {"message": "refusal", "request_id": "r7", "code": code, "text": text.replace("\ud800", "?")},
        )
        for code, text in said.items()
    ]


def _output(name: str, piece: Piece, means: dict[str, Any]) -> Recorded:
    about = {"message": "output", "execution_id": _ID, "offset": piece.offset, "end": piece.end}
    return Recorded(f"output {name}", wire.output(_ID, piece), {**about, **means})


def _piece(offset: int, entry: content.Entry | None) -> Piece:
    assert entry is not None
    return Piece(offset, offset + len(entry.blob), *entry)


def _outputs() -> list[Recorded]:
    (out,) = content.stream({"name": "stdout", "text": "é\x1b[1m\n"})
    (err,) = content.stream({"name": "stderr", "text": "to stderr\n"})
    original = {"path": "/workspace/.sandglass/pictures/1.png", "bytes": 9_000_000, "width": 9000, "height": 6000}
    picture = {"data": {"image/png": "iVBORw0KGgoA/w=="}, "metadata": {"sandglass": original}}
    unkept = {"data": {"image/png": "iVBORw0KGgoA/w=="}, "metadata": {"sandglass": {"path": "/a\nb", "bytes": 7}}}
    raised = {"ename": "ValueError", "evalue": "no \ud800", "traceback": ["\x1b[31mTraceback\x1b[0m", "ValueError: no"]}
    shown = {"kind": "display", "original": None, "display": None}
    named = {"data": {"text/plain": "50 %"}, "transient": {"display_id": "é\ud800"}}
    lost = {"path": None, "bytes": 7, "width": 0, "height": 0}
    return [
        _output("stdout", _piece(0, out), {"kind": "stdout", "blob": "é\x1b[1m\n"}),
        _output("stderr", _piece(7, err), {"kind": "stderr", "blob": "to stderr\n"}),
        _output(
            "result",
            _piece(17, content.shown("result", {"data": {"text/plain": "[1, 'é']"}})),
            {**shown, "kind": "result", "mime": "text/plain", "blob": "[1, 'é']"},
        ),
        _output(
            "display of JSON",
            _piece(26, content.shown("display", {"data": {"application/json": {"a": [1, None]}}})),
            {**shown, "mime": "application/json", "blob": '{"a": [1, null]}'},
        ),
        _output(
            "display of a picture",
            _piece(5_000_000_000, content.shown("display", picture)),
            {**shown, "mime": "image/png", "blob": to_text(_PNG), "original": original},
        ),
        _output(
            "display of a picture whose full size was not kept",
            _piece(42, content.shown("display", unkept)),
            {**shown, "mime": "image/png", "blob": to_text(_PNG), "original": lost},
        ),
        _output(
            "display that can be displayed anew",
            _piece(52, content.shown("display", named)),
            {**shown, "mime": "text/plain", "blob": "50 %", "display": {"id": "é?", "update": False}},
        ),
        _output("clear", _piece(56, content.cleared({"wait": False})), {"kind": "display", "wait": False}),
        _output("clear later", _piece(56, content.cleared({"wait": True})), {"kind": "display", "wait": True}),
        _output(
            "display anew",
            _piece(56, content.shown("display", {**picture, "transient": {"display_id": "1"}}, update=True)),
            {
                **shown,
                "mime": "image/png",
                "blob": to_text(_PNG),
                "original": original,
                "display": {"id": "1", "update": True},
            },
        ),
        _output(
            "error",
            _piece(52, content.error(raised)),
            {"kind": "error", "name": "ValueError", "text": "no ?", "blob": "Traceback\nValueError: no"},
        ),
        _gap(),
    ]


def _gap() -> Recorded:
    """What the journal tells a reader who comes too late."""
    journal = Journal(limit=200_000)
    for _ in range(8):
        journal.append("stdout", b"{}", b"x" * 50_000)
    cursor = journal.locate(0)
    while (piece := journal.read(cursor)) is not None and piece.kind != "gap":
        journal.advance(cursor, piece)
    assert piece is not None
    return _output("gap", piece, {"kind": "gap"})


def _outcomes() -> list[Recorded]:
    ok = Outcome(outcome.OK, execution_count=3)
    ends = {
        "ok": ok,
        "error": Outcome(outcome.ERROR, "ValueError: é", execution_count=4),
        "timeout": outcome.timed_out(2.5, ok),
        "interrupted": outcome.interrupted(ok._replace(kernel_restarted=True)),
        "kernel_died": outcome.kernel_died(11, None),
        "oom_killed": outcome.oom_killed(Memory(0, 536_870_912, 536_870_912, 1), kernel=True),
        "env_error": outcome.no_kernel("there is no Node here"),
        "env_error, a command helps": Outcome(
            outcome.ENV_ERROR, "No env.", hint=hint.command("make", "python3 -m venv é")
        ),
        "error, hosts are to be allowed": Outcome(
            outcome.ERROR, "No way.", hint=hint.allow_hosts(["packages.example:8443"])
        ),
        "interrupted, the network is open": outcome.cut_off(outcome.network_open("192.0.2.1:443")),
        "oom_killed at its start": outcome.no_memory_to_start(Memory(0, 536_870_912, 536_870_912, 1)),
        "ok, a command": Outcome(outcome.OK, exit_code=0),
        "ok, exit code 3": Outcome(outcome.OK, exit_code=3),
    }
    found = []
    for name, end in ends.items():
        said = end.to_json(1234.56, truncated=end is ok)
        known = ("status", "duration_ms", "exit_code", "signal", "kernel_restarted", "message", "truncated")
        means = {"kind": "outcome", **{field: said[field] for field in known}, "hint": said.get("hint")}
        means["text"] = means.pop("message")
        found.append(_output(f"outcome {name}", Piece(100, 100, "outcome", wire.to_json(said), b""), means))
    return found


def _events() -> list[Recorded]:
    ended = {"signal": 9, "exit_code": None}
    said: list[dict[str, Any]] = [
        {"event": "starting"},
        {"event": "ready"},
        {"event": "died", **ended},
        {"event": "oom", **ended},
    ]
    events = [("python/default", about) for about in said]
    events.append((wire.NETWORK, {"event": "open", "reached": "192.0.2.1:443"}))
    return [
        Recorded(
            f"event {about['event']}",
            wire.event(name, seq, about),
            {"message": "event", "kernel": name, "seq": seq, "event": about["event"]},
        )
        for seq, (name, about) in enumerate(events, 1)
    ]


def _calls() -> list[Recorded]:
    """What the pod asks of a gateway."""
    asked = {"server": "github", "arguments": {"é": [1, None]}}
    means = {"message": "call", "call_id": "1f", "kind": "tool", "execution_id": _ID, "json": asked}
    return [
        Recorded("call", wire.call(b"1f", "tool", _ID, asked), {**means, "blob": ""}),
        Recorded("call with a blob", wire.call(b"1f", "tool", _ID, asked, _PNG), {**means, "blob": to_text(_PNG)}),
        *_calls_of_servers(means),
        Recorded("withdrawal of a call", wire.withdrawal(b"1f"), {"message": "withdrawal", "call_id": "1f"}),
    ]


def _calls_of_servers(means: dict[str, Any]) -> list[Recorded]:
    """As ``mcp_servers/shared_servers.py`` makes them."""
    said: list[tuple[str, dict[str, Any], bytes]] = [
        ("tool_servers", {}, b""),
        ("tool_list", {"server": "github"}, b""),
        ("tool_call", {"server": "github", "tool": "list_issues", "timeout_s": 86400.0}, '{"é":[1,null]}'.encode()),
    ]
    return [
        Recorded(
            f"call {kind}",
            wire.call(b"1f", kind, _ID, asked, blob),
            {**means, "kind": kind, "json": asked, "blob": to_text(blob)},
        )
        for kind, asked, blob in said
    ]


if __name__ == "__main__":
    FROM_SUPERVISOR.write_text(dump(from_supervisor()), encoding="utf-8")
