"""Messages that code forges in its kernel's name: what they may cost the supervisor in memory and time."""

import hmac
import json
import time
from unittest import mock

import pytest
from client import Client
from hypothesis import given
from hypothesis import strategies as st
from supervisors import Running

from sandglass_supervisor.execution.execution import Execution
from sandglass_supervisor.kernels import content, jupyter
from sandglass_supervisor.kernels.jupyter import Message
from sandglass_supervisor.kernels.kernel_run import Run
from sandglass_supervisor.limits import KERNEL_HEADER_BYTES, KERNEL_VALUES, MIB
from sandglass_supervisor.loop import Loop

KEY = b"key"
# Nearly the largest message that ZeroMQ lets through, six times.
SAY = """
import json
kernel = get_ipython().kernel
session, parent = kernel.session, kernel.get_parent()
def say(kind, said, header=None):
    frames = session.serialize(session.msg(kind, said, parent=parent), ident=b'x')
    if header is not None:
        frames[3] = json.dumps(session.msg_header(kind), default=str).encode()[:-1] + b', "more": ' + header + b'}'
        frames[2] = session.sign(frames[3:7])
    for _ in range(6):
        kernel.iopub_thread.send_multipart(frames)
wide = b'[' + b'[],' * 2_790_000 + b'0]'
"""
HOSTILE = {
    "a text beside empty lists": "say('stream', b'{\"text\": \"x\", \"more\": ' + wide + b'}')",
    "JSON of empty lists": "say('display_data', b'{\"data\": {\"application/json\": ' + wide + b'}}')",
    "numbers": "say('display_data', b'{\"data\": {\"application/json\": [' + b'1.5,' * 2_000_000 + b'0]}}')",
    "nested lists": "say('error', b'{\"ename\": [' + (b'[' * 800 + b']' * 800 + b',') * 5_000 + b'0]}')",
    "keys": "say('display_data', b'{\"data\": {' + b','.join(b'\"%07d\":0' % i for i in range(690_000)) + b'}}')",
    "texts": "say('status', b'{\"more\": [' + b'\"\",' * 2_700_000 + b'0]}')",
    "a kind that nobody knows": "say('comm_msg', b'{\"more\": ' + wide + b'}')",
    "a header": "say('stream', b'{}', wide)",
    "frames": "kernel.iopub_thread.send_multipart([b'x', b'<IDS|MSG>'] + 100_000 * [b'y'])",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", HOSTILE)
def test_they_cost_little_memory_and_hold_nobody_up(spare: Running, what: str) -> None:
    client = spare.ready()
    before, slowest = spare.rss(), 0.0
    client.start("forges", f"{SAY}{HOSTILE[what]}", timeout_s=30)
    while client.output("forges").outcome is None:
        began = time.monotonic()
        client.ask("list")
        slowest = max(slowest, time.monotonic() - began)
        client.receive(0.01)
    # Eight messages may wait; one is read. Unbounded, most of these cost 150 to 450 MiB, and up to 20 seconds.
    assert spare.rss("VmHWM") - before < 128 * MIB
    assert slowest < 5
    assert client.run("after", "1 + 1").only("result").blob == b"2"


@pytest.mark.slow
def test_a_display_of_too_many_values_is_told(spare: Running) -> None:
    client = spare.ready()
    output = client.run("shows", f"{SAY}{HOSTILE['JSON of empty lists']}")
    notes = {record.blob.decode() for record in output.records if record.kind == "display"}
    assert len(notes) == 1
    assert f"more values were left out: at most {KERNEL_VALUES} can be shown" in notes.pop()


def test_a_traceback_of_many_lines_is_no_harm(client: Client, name: str) -> None:
    found = client.run(name, "raise ValueError('\\n' * 300_000)")
    assert found.only("error").json["name"] == "ValueError"


def said(separators: int, text: str = "0") -> bytes:
    """JSON with so many commas and brackets."""
    return b'{"a":[' + ",".join([text] * (separators - 1)).encode() + b"]}"


@pytest.mark.parametrize("text", ["0", '","', '"\\""', '"\\\\"', '"[{\\\\\\""', '"\\\\\\\\,"', '"é"'])
def test_values_at_their_bound(text: str) -> None:
    value = json.loads(text)
    assert content.parse(said(KERNEL_VALUES - 1, text)) == {"a": [value] * (KERNEL_VALUES - 2)}
    assert list(content.parse(said(KERNEL_VALUES, text))) == ["data"]


def test_a_long_text_is_one_value() -> None:
    text = ',[{"\\' * KERNEL_VALUES
    assert content.parse(json.dumps({"text": text}).encode()) == {"text": text}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_only_what_jupyter_writes_is_read(encoding: str) -> None:
    # In UTF-16 half a sign is a quotation mark: what is counted would not be what is read.
    assert content.parse('{"a":"\u2200"}'.encode(encoding)) == {}
    assert content.parse('{"a":"\u2200"}'.encode()) == {"a": "\u2200"}


texts = st.text(alphabet='ab"\\,[{\n∀\ud800', max_size=8)
values = st.recursive(
    st.none() | st.integers(0, 9) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


def count(value: object) -> tuple[int, int]:
    """The separators and the texts in a value."""
    if isinstance(value, str):
        return 0, 1
    if not isinstance(value, (list, dict)):
        return 0, 0
    inner = [count(item) for item in (value.values() if isinstance(value, dict) else value)]
    keys = len(value) if isinstance(value, dict) else 0
    return max(1, len(value)) + sum(one for one, _ in inner), keys + sum(two for _, two in inner)


@pytest.mark.slow
@given(st.dictionaries(texts, values, max_size=5), st.booleans())
def test_values_are_counted_and_texts_are_not_taken_for_them(value: dict[str, object], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    separators, strings = count(value)
    with mock.patch.object(content, "KERNEL_VALUES", 6):
        found = content.parse(text)
    if separators >= 6:
        assert found != value or list(value) == ["data"]
    elif strings <= 6:
        assert found == value


@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize(("size", "is_read"), [(KERNEL_HEADER_BYTES, True), (KERNEL_HEADER_BYTES + 1, False)])
def test_headers_at_their_bound(part: int, size: int, is_read: bool) -> None:
    parts = [b'{"msg_type":"stream"}', b'{"msg_id":"run-1"}', b"{}", b'{"text":"x"}']
    parts[part] = parts[part].ljust(size)
    signature = hmac.new(KEY, b"".join(parts), "sha256").hexdigest().encode()
    found = jupyter.parse(KEY, [b"<IDS|MSG>", signature, *parts])
    assert found == (Message("stream", "run-1", parts[3]) if is_read else None)


def test_what_is_of_no_use_is_not_read() -> None:
    execution = Execution("e", "python", Loop(), lambda _peer, _frames: True, block=False)
    run = Run("run-1", execution, Loop(), lambda ended: None)
    with mock.patch.object(content, "parse", side_effect=AssertionError):
        for kind in ("comm_msg", "execute_input", "debug_event", "Stream", ""):
            run.hear(Message(kind, "run-1", b"{}"))
        with pytest.raises(AssertionError):
            run.hear(Message("stream", "run-1", b"{}"))


# Frames with more to follow, written into the kernel's own connection: the end of the message never comes.
ENDLESS = """
import os, pathlib, socket, time
def own(number):
    try:
        end = socket.socket(fileno=os.dup(number))
        end.getpeername()
    except OSError:
        return None
    return end if end.family == socket.AF_UNIX and end.getsockname().endswith(port) else None
end = next(filter(None, map(own, range(3, 256))))
end.setblocking(True)
left = total
while left > 0:
    end.sendall(piece)
    left -= len(piece)
pathlib.Path('sent').touch()
time.sleep(60)
"""
MORE, LONG = 1, 2


def long_frame(size: int) -> str:
    return f"bytes([{MORE | LONG}]) + ({size}).to_bytes(8, 'big') + bytes({size})"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("port", "piece", "total"),
    [
        ("-1", long_frame(1_000_000), 400_000_000),
        ("-2", long_frame(1_000_000), 400_000_000),
        ("-2", long_frame(8 * MIB), 400_000_000),
        ("-2", f"bytes([{MORE}, 0]) * 1000", 3_000_000),
        ("-2", f"bytes([{MORE | 4}, 0]) * 1000", 3_000_000),
    ],
)
def test_a_message_without_end_costs_no_memory(spare: Running, port: str, piece: str, total: int) -> None:
    client = spare.ready()
    before, slowest = spare.rss(), 0.0
    client.start("sends", f"port, piece, total = {port!r}, {piece}, {total}\n{ENDLESS}", timeout_s=60)
    while not (spare.workspace / "sent").exists():
        assert client.output("sends").outcome is None
        began = time.monotonic()
        client.ask("list")
        slowest = max(slowest, time.monotonic() - began)
        client.receive(0.01)
    assert spare.rss("VmHWM") - before < 48 * MIB
    assert slowest < 5
    client.ask("reset", language="python", session="default")
    assert client.run("after", "1 + 1").only("result").blob == b"2"
