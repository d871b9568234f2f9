"""ZeroMQ messages of several frames, with as few steps in Python as the binding allows: a run costs a dozen of them."""

from collections.abc import Sequence

import zmq

# pyzmq's own loops over frames combine flags as enumerations, frame by frame, which costs more than the sending.
_NOW = int(zmq.DONTWAIT)
_MORE = int(zmq.SNDMORE)


def receive(socket: zmq.Socket[bytes]) -> list[bytes] | None:
    """The next message, or None if there is none now."""
    received = receive_from(socket)
    return None if received is None else received[1]


def receive_from(socket: zmq.Socket[bytes]) -> tuple[zmq.Frame, list[bytes]] | None:
    """The next message, with its first frame as ZeroMQ has it: that knows by which connection it came."""
    try:
        first = frame = socket.recv(_NOW, copy=False)
    except zmq.Again:
        return None
    frames = [frame.bytes]
    while frame.more:
        frame = socket.recv(_NOW, copy=False)
        frames.append(frame.bytes)
    return first, frames


def send(socket: zmq.Socket[bytes], frames: Sequence[bytes]) -> None:
    """Send without waiting; raises zmq.ZMQError if the peer is gone or takes no more (zmq.Again)."""
    last = len(frames) - 1
    for index, frame in enumerate(frames):
        socket.send(frame, _NOW if index == last else _NOW | _MORE)
