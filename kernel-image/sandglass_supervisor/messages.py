"""ZeroMQ messages of several frames, with as few steps in Python as the binding allows: a run costs a dozen of them."""

from collections.abc import Iterator, Sequence

import zmq

from .limits import KERNEL_FRAMES, KERNEL_TURN_BYTES, KERNEL_TURN_FRAMES

# pyzmq's own loops over frames combine flags as enumerations, frame by frame, which costs more than the sending.
_NOW = int(zmq.DONTWAIT)
_MORE = int(zmq.SNDMORE)


def receive(socket: zmq.Socket[bytes]) -> list[bytes] | None:
    """The next message, or None if there is none now."""
    try:
        frame = socket.recv(_NOW, copy=False)
    except zmq.Again:
        return None
    frames = [frame.bytes]
    while frame.more:
        frame = socket.recv(_NOW, copy=False)
        frames.append(frame.bytes)
    return frames


class Inbox:
    """What comes by a socket whose other side may send anything: of each message the first frames are kept."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self._socket = socket
        self._frames: list[bytes] = []

    def turn(self) -> Iterator[list[bytes]]:
        """The messages that are there now, until that was enough for one turn; a long one goes on in the next."""
        frames_left, bytes_left = KERNEL_TURN_FRAMES, KERNEL_TURN_BYTES
        while frames_left > 0 and bytes_left > 0:
            try:
                frame = self._socket.recv(_NOW, copy=False)
            except zmq.Again:
                return
            frames_left -= 1
            bytes_left -= len(frame)
            if len(self._frames) < KERNEL_FRAMES:
                self._frames.append(frame.bytes)
            if not frame.more:
                whole, self._frames = self._frames, []
                yield whole

    @property
    def is_empty(self) -> bool:
        """True if nothing is there now."""
        return not self._socket.poll(0)


def send(socket: zmq.Socket[bytes], frames: Sequence[bytes]) -> None:
    """Send without waiting; raises zmq.ZMQError if the peer is gone or takes no more (zmq.Again)."""
    last = len(frames) - 1
    for index, frame in enumerate(frames):
        socket.send(frame, _NOW if index == last else _NOW | _MORE)
