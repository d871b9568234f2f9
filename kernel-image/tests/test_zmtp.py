"""The supervisor's end of a kernel's socket, with libzmq at the other end and with bytes of any kind."""

import socket
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st

from sandglass_supervisor.kernels import zmtp
from sandglass_supervisor.kernels.zmtp import Frames, KernelSocket, Violation
from sandglass_supervisor.limits import (
    KERNEL_FRAMES,
    KERNEL_MESSAGE_BYTES,
    KERNEL_TURN_BYTES,
    KERNEL_TURN_FRAMES,
    KERNEL_UNSENT_BYTES,
)
from sandglass_supervisor.loop import Loop

GREETING = (b"\xff" + bytes(8) + b"\x7f\3\1NULL").ljust(64, b"\0")
READY = zmtp.introduction("ROUTER")


class Bench:
    """A socket of ours and a path to bind to."""

    def __init__(self, folder: Path) -> None:
        self.loop = Loop()
        self.path = str(folder / "socket")
        self.heard: list[list[bytes]] = []
        self.turns: list[int] = []
        self.context = zmq.Context()
        self.ours: KernelSocket | None = None

    def connect(self, kind: str) -> KernelSocket:
        self.ours = KernelSocket(self.loop, self.path, kind, self._hear)
        return self.ours

    def bind(self, kind: int) -> "zmq.Socket[bytes]":
        theirs = self.context.socket(kind)
        theirs.setsockopt(zmq.LINGER, 0)
        theirs.bind(f"ipc://{self.path}")
        return theirs

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline
            self.loop.call_in(0.01, lambda: None)
            self.loop.run_once()

    def _hear(self) -> None:
        assert self.ours is not None
        found = list(self.ours.turn())
        self.turns.append(len(found))
        self.heard += found


@pytest.fixture
def bench(folder: Path) -> Iterator[Bench]:
    bench = Bench(folder)
    yield bench
    if bench.ours is not None:
        bench.ours.close()
    bench.context.destroy(linger=0)


def test_requests_and_replies(bench: Bench) -> None:
    ours = bench.connect("DEALER")
    ours.send([b"before anybody binds", b""])
    bench.until(lambda: True)
    theirs = bench.bind(zmq.ROUTER)
    bench.until(lambda: theirs.poll(0))
    peer, *frames = theirs.recv_multipart()
    assert frames == [b"before anybody binds", b""]
    for size in (0, 1, 255, 256, 65535, 1_000_000):
        theirs.send_multipart([peer, bytes(size), b"end"])
        bench.until(lambda: bench.heard)
        assert bench.heard.pop() == [bytes(size), b"end"]
        ours.send([bytes(size), b"end"])
        bench.until(lambda: theirs.poll(0))
        assert theirs.recv_multipart()[1:] == [bytes(size), b"end"]


def test_everything_published_is_heard_again_after_a_break(bench: Bench) -> None:
    bench.connect("SUB")
    for turn in range(2):
        theirs = bench.bind(zmq.XPUB)
        bench.until(partial(theirs.poll, 0))
        assert theirs.recv() == b"\1"
        theirs.send_multipart([b"%d" % turn, b"x"])
        bench.until(lambda: bench.heard)
        assert bench.heard.pop() == [b"%d" % turn, b"x"]
        theirs.close()


def test_a_frame_that_is_too_large_breaks_the_connection_and_no_more(bench: Bench) -> None:
    ours = bench.connect("SUB")
    theirs = bench.bind(zmq.XPUB)
    bench.until(lambda: theirs.poll(0))
    theirs.recv()
    assert ours.breaks == 0
    theirs.send(bytes(KERNEL_MESSAGE_BYTES + 1))
    # XPUB says nothing of one that has subscribed again before its former connection is known to be gone.
    bench.until(lambda: ours.breaks)
    bench.until(lambda: theirs.send(b"after") or bench.heard)
    assert bench.heard[0] == [b"after"]
    assert ours.breaks == 1


def test_turns_end_and_go_on(bench: Bench) -> None:
    bench.connect("SUB")
    theirs = bench.bind(zmq.XPUB)
    bench.until(lambda: theirs.poll(0))
    bench.turns.clear()
    for number in range(2 * KERNEL_TURN_FRAMES + 1):
        theirs.send(b"%d" % number)
    theirs.send(bytes(KERNEL_TURN_BYTES))
    theirs.send(b"last")
    bench.until(lambda: bench.heard[-1:] == [[b"last"]])
    assert bench.heard[:-2] == [[b"%d" % number] for number in range(2 * KERNEL_TURN_FRAMES + 1)]
    assert max(bench.turns) <= KERNEL_TURN_FRAMES


def test_what_is_held_comes_when_it_is_released(bench: Bench) -> None:
    ours = bench.connect("SUB")
    theirs = bench.bind(zmq.XPUB)
    bench.until(lambda: theirs.poll(0))
    ours.hold()
    for number in range(3):
        theirs.send(b"%d" % number)
    bench.loop.call_in(0.05, lambda: None)
    bench.loop.run_once()
    assert bench.heard == []
    ours.release()
    bench.until(lambda: len(bench.heard) == 3)


def test_what_waits_to_be_sent_is_bounded(bench: Bench) -> None:
    ours = bench.connect("DEALER")
    ours.send([bytes(KERNEL_UNSENT_BYTES)])
    with pytest.raises(BlockingIOError):
        ours.send([b"x"])


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n".ljust(80), GREETING[:10] + b"\1" + GREETING[11:]])
def test_another_protocol_is_no_trouble(bench: Bench, said: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(bench.path)
        stranger.listen()
        ours = bench.connect("SUB")
        for _ in range(3):
            connection, _ = stranger.accept()
            with connection:
                connection.sendall(said)
                bench.until(lambda: not ours._connected)
                bench.until(lambda: ours._connected)
    assert bench.heard == []


def frame(data: bytes, flags: int = 0) -> bytes:
    return zmtp.encoded(data, flags)


def read(*parts: bytes) -> list[list[bytes]]:
    """The messages of a connection whose bytes come in these parts."""
    frames, found = Frames(), []
    for part in (GREETING, READY, *parts):
        frames.feed(part)
        while (step := frames.next()) is not None:
            if step[1] is not None:
                found.append(step[1])
    assert frames.ready
    return found


def test_of_many_frames_the_first_are_kept() -> None:
    many = [b"%d" % number for number in range(KERNEL_FRAMES + 3)]
    exact = many[:KERNEL_FRAMES]
    for sent in (exact, many):
        data = b"".join(frame(part, 1) for part in sent[:-1]) + frame(sent[-1])
        assert read(data, frame(b"next")) == [exact, [b"next"]]
        assert read(*(data[at : at + 1] for at in range(len(data))), frame(b"next")) == [exact, [b"next"]]


def test_large_frames_are_kept_to_their_bound_together() -> None:
    large = bytes(KERNEL_MESSAGE_BYTES)
    found = read(frame(b"head", 1), frame(large, 1), frame(large, 1), frame(b"tail"), frame(b"next"))
    assert found == [[b"head", large, b"tail"], [b"next"]]
    with pytest.raises(Violation):
        read(b"\3" + (KERNEL_MESSAGE_BYTES + 1).to_bytes(8, "big"))


def test_commands_are_no_part_of_a_message() -> None:
    assert read(frame(b"a", 1), frame(b"\4PING\0\0", 4), frame(bytes(100_000), 4), frame(b"b")) == [[b"a", b"b"]]


@given(st.binary(max_size=300), st.integers(1, 300))
def test_any_bytes_end_in_messages_or_a_violation(noise: bytes, at: int) -> None:
    try:
        found = read(noise[:at], noise[at:])
    except Violation:
        return
    assert sum(len(part) for message in found for part in message) <= len(noise)
