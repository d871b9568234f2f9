"""The supervisor's end of a Python kernel's socket: ZMTP 3.0 without security, over a unix socket, in bounded memory.

Not libzmq: that takes in all frames of a message before it shows the first, however many, and code can send for ever.
Of a message the first frames are kept here, up to a size, and the rest is read to nowhere.
"""

import socket
from collections.abc import Callable, Iterator, Sequence

from ..limits import (
    CONNECT_AGAIN_S,
    KERNEL_FRAMES,
    KERNEL_HEADER_BYTES,
    KERNEL_MESSAGE_BYTES,
    KERNEL_TURN_BYTES,
    KERNEL_TURN_FRAMES,
    KERNEL_UNSENT_BYTES,
    SEND_AGAIN_S,
    SLICE_BYTES,
)
from ..loop import Loop, Timer

_MORE, _LONG, _COMMAND = 1, 2, 4
_SHORT_BYTES = 255
_GREETING_BYTES = 64
_SIGNATURE = b"\xff\0\0\0\0\0\0\0\1\x7f"
GREETING = (_SIGNATURE + b"\3\0" + b"NULL".ljust(20, b"\0")).ljust(_GREETING_BYTES, b"\0")
_READY = b"\5READY"
_SUBSCRIBE_TO_ALL = b"\1"
_KEPT_BYTES = KERNEL_MESSAGE_BYTES + 8 * KERNEL_HEADER_BYTES


class Violation(Exception):
    """What came is no ZMTP of a peer that we speak with, or a frame that is too large."""


class Frames:
    """Bytes of a connection become messages (pure): of each the first frames, as far as they are not too large."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._skip = 0  # bytes of a frame that nobody wants
        self._kept: list[bytes] = []
        self._kept_bytes = 0
        self._last = True  # the frame that is skipped is the last of its message
        self.greeted = False  # the peer has said that it speaks ZMTP 3
        self.ready = False  # and what it is

    @property
    def held(self) -> int:
        """How many bytes are kept of what is not whole."""
        return len(self._data) + self._kept_bytes

    def feed(self, data: bytes) -> None:
        """Take what came."""
        self._data += data

    def next(self) -> tuple[int, list[bytes] | None] | None:
        """The bytes of the next frame and, if it was the last of its message, that; None if no frame is whole.

        Raises Violation.
        """
        if not self.greeted and not self._greet():
            return None
        if self._skip:
            return self._go_on_skipping()
        header = self._header()
        if header is None:
            return None
        flags, start, length = header
        if length > KERNEL_MESSAGE_BYTES:
            raise Violation("a frame is too large")
        if not self._is_wanted(flags, length):
            del self._data[:start]
            self._skip, self._last = length, not flags & (_MORE | _COMMAND)
            return self._go_on_skipping() if length else (1, self._whole() if self._last else None)
        if len(self._data) < start + length:
            return None
        with memoryview(self._data) as view:
            frame = view[start : start + length].tobytes()
        del self._data[: start + length]
        if flags & _COMMAND:
            self.ready = self.ready or frame.startswith(_READY)
            return len(frame), None
        self._kept.append(frame)
        self._kept_bytes += length
        return len(frame), None if flags & _MORE else self._whole()

    def _greet(self) -> bool:
        if len(self._data) < _GREETING_BYTES:
            return False
        greeting = bytes(self._data[:_GREETING_BYTES])
        if greeting[:1] != _SIGNATURE[:1] or greeting[9:10] != _SIGNATURE[9:] or greeting[10] < 3:
            raise Violation("no greeting of ZMTP 3")
        del self._data[:_GREETING_BYTES]
        self.greeted = True
        return True

    def _header(self) -> tuple[int, int, int] | None:
        if not self._data:
            return None
        flags = self._data[0]
        start = 9 if flags & _LONG else 2
        if len(self._data) < start:
            return None
        return flags, start, int.from_bytes(self._data[1:start], "big")

    def _is_wanted(self, flags: int, length: int) -> bool:
        if flags & _COMMAND:
            return length <= KERNEL_HEADER_BYTES
        return len(self._kept) < KERNEL_FRAMES and self._kept_bytes + length <= _KEPT_BYTES

    def _go_on_skipping(self) -> tuple[int, list[bytes] | None] | None:
        skipped = min(self._skip, len(self._data))
        if not skipped:
            return None
        del self._data[:skipped]
        self._skip -= skipped
        return skipped, self._whole() if not self._skip and self._last else None

    def _whole(self) -> list[bytes]:
        whole, self._kept, self._kept_bytes = self._kept, [], 0
        return whole


class KernelSocket:
    """Connects, and after a break connects anew, until it is closed; ``heard`` is called when there may be messages.

    ``kind`` is what we are, DEALER or SUB, which subscribes to everything. Raises OSError if there can be none.
    """

    def __init__(self, loop: Loop, path: str, kind: str, heard: Callable[[], None]) -> None:
        self._loop = loop
        self._path = path
        self._kind = kind
        self._heard = heard
        self._held = self._closed = False
        self._queued = bytearray()
        self._connecting: Timer | None = None
        self._flushing: Timer | None = None
        self._again: Timer | None = None
        self.has_more = False
        self.breaks = 0  # how many connections ended before the socket did, each with what was on its way
        self._begin()
        self._connect()

    def hold(self) -> None:
        """Call ``heard`` no more until ``release``."""
        if not self._held and self._connected:
            self._loop.unwatch(self._socket.fileno())
        self._held = True

    def release(self) -> None:
        """Call ``heard`` again, also for what was read already."""
        if self._held and not self._closed:
            self._held = False
            if self._connected:
                self._loop.watch(self._socket.fileno(), self._heard)
            self._hear_again()

    def close(self) -> None:
        """Give it up."""
        self._closed = True
        for timer in (self._connecting, self._flushing, self._again):
            if timer is not None:
                timer.cancel()
        self._disconnect()

    def send(self, frames: Sequence[bytes]) -> None:
        """Send a message soon; raises BlockingIOError if too much waits already."""
        if len(self._queued) + len(self._unsent) > KERNEL_UNSENT_BYTES:
            raise BlockingIOError
        last = len(frames) - 1
        for index, frame in enumerate(frames):
            self._queued += encoded(frame, 0 if index == last else _MORE)
        self._flush()

    def turn(self) -> Iterator[list[bytes]]:
        """The messages that are there now, until that was enough for one turn; ``has_more`` tells that it was."""
        self.has_more = False
        frames_left, bytes_left = KERNEL_TURN_FRAMES, KERNEL_TURN_BYTES
        while frames_left > 0 and bytes_left > 0:
            try:
                found = self._frames.next()
            except Violation:
                self._break()
                return
            self._go_on_greeting()
            if found is None:
                if not self._read():
                    return
                continue
            taken, message = found
            frames_left -= 1
            bytes_left -= taken
            if message is not None:
                yield message
            if self._closed:
                return
        self.has_more = True
        self._hear_again()

    def _begin(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        self._frames = Frames()
        self._connected = self._is_introduced = self._is_ready = False
        self._unsent = bytearray(GREETING)

    def _connect(self) -> None:
        """Try it; the kernel binds some time after it was started."""
        try:
            if self._socket.fileno() < 0:
                self._begin()
            self._socket.connect(self._path)
        except OSError:
            self._connecting = self._loop.call_in(CONNECT_AGAIN_S, self._connect)
            return
        self._connected = True
        if not self._held:
            self._loop.watch(self._socket.fileno(), self._heard)
        self._flush()

    def _disconnect(self) -> None:
        if self._socket.fileno() >= 0:
            self._loop.unwatch(self._socket.fileno())
            self._socket.close()
        self._connected = False

    def _break(self) -> None:
        """The connection is of no more use: begin another one."""
        self.breaks += 1
        self._disconnect()
        self._connecting = self._loop.call_in(CONNECT_AGAIN_S, self._connect)

    def _go_on_greeting(self) -> None:
        if self._frames.greeted and not self._is_introduced:
            self._is_introduced = True
            self._unsent += introduction(self._kind)
            self._flush()
        if self._frames.ready and not self._is_ready:
            # libzmq takes no message before it has said itself that it is ready.
            self._is_ready = True
            if self._kind == "SUB":
                self._unsent += encoded(_SUBSCRIBE_TO_ALL, 0)
            self._flush()

    def _read(self) -> bool:
        """Read on; False if nothing is there now."""
        if not self._connected:
            return False
        try:
            data = self._socket.recv(SLICE_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._break()
            return False
        self._frames.feed(data)
        return True

    def _flush(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        if not self._connected:
            return
        if self._is_ready:
            self._unsent += self._queued
            self._queued.clear()
        try:
            while self._unsent:
                del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            self._flushing = self._loop.call_in(SEND_AGAIN_S, self._flush)
        except OSError:
            return  # whoever reads from it meets its end

    def _hear_again(self) -> None:
        def hear() -> None:
            self._again = None
            if not self._held:
                self._heard()

        if self._again is None:
            self._again = self._loop.call_in(0, hear)


def encoded(frame: bytes, flags: int) -> bytes:
    """A frame as it goes over the wire; the flag 1: more of the message follows, 4: it is a command."""
    if len(frame) > _SHORT_BYTES:
        return bytes((flags | _LONG,)) + len(frame).to_bytes(8, "big") + frame
    return bytes((flags, len(frame))) + frame


def introduction(kind: str) -> bytes:
    """What a socket of that kind says of itself once it was greeted."""
    properties = [(b"Socket-Type", kind.encode()), *([(b"Identity", b"")] if kind == "DEALER" else [])]
    words = (bytes((len(name),)) + name + len(value).to_bytes(4, "big") + value for name, value in properties)
    return encoded(_READY + b"".join(words), _COMMAND)
