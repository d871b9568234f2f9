"""Frames of JSON over descriptors: what comes is given whole, what goes waits until the other side takes it."""

import fcntl
import os
import termios
from array import array
from collections.abc import Callable
from typing import NamedTuple

from ..limits import MCP_TURN_S, MCP_VALUES, SLICE_BYTES, STALL_S
from ..loop import Loop, Timer
from ..processes.children import log
from ..shared.json_frames import BrokenFrames, Frame, JsonFrames
from .budget import Budget

_AGAIN_S = 0.001
_AGAIN_LAST_S = 0.05


class Bounds(NamedTuple):
    """The bytes of a frame that comes, of all that waits to go, and the budget for what waits either way."""

    frame: int
    unsent: int
    budget: Budget


class Channel:
    """``closed`` is called once with the reason, which is empty if the other side closed it in order."""

    def __init__(
        self,
        loop: Loop,
        descriptors: tuple[int, int],
        bounds: Bounds,
        heard: Callable[[Frame], None],
        closed: Callable[[str], None],
    ) -> None:
        """``descriptors`` are for reading and for writing, perhaps the same one; both are the channel's from now on."""
        self._loop = loop
        self._reader, self._writer = descriptors
        self._frames = JsonFrames(bounds.frame, MCP_VALUES)
        self._bounds = bounds
        self._held = 0  # of the budget
        self._heard = heard
        self._closed = closed
        self._unsent = bytearray()
        self._again: Timer | None = None
        self._again_s = _AGAIN_S
        self._progress = loop.clock()
        self.open = True
        for descriptor in descriptors:
            os.set_blocking(descriptor, False)
        loop.watch(self._reader, self._readable)

    @property
    def idle(self) -> bool:
        """True if nothing waits here."""
        return not self._unsent and not self._frames.held

    def has_room(self, size: int) -> bool:
        """True if so many bytes more may wait."""
        return len(self._unsent) + size <= self._bounds.unsent and self._bounds.budget.has_room(size)

    def send(self, frame: bytes) -> None:
        """Send a frame, now or when there is room. Whoever reads too little of what it asked for is closed."""
        if not self.open:
            return
        if not self._unsent:
            self._progress = self._loop.clock()
        self._unsent += frame
        if self._again is None:
            self._write()
        self._account()

    def close(self, why: str = "") -> None:
        """Close it, and tell so."""
        if not self.open:
            return
        self.open = False
        self._bounds.budget.give_back(self._held)
        if self._again is not None:
            self._again.cancel()
        self._loop.unwatch(self._reader)
        for descriptor in {self._reader, self._writer}:
            os.close(descriptor)
        self._closed(why)

    def drain(self) -> None:
        """Hear what is there now and no more: its writer has ended, but others may write into the pipe for ever."""
        there = array("i", [0])
        if self.open:
            fcntl.ioctl(self._reader, termios.FIONREAD, there)
        self._take(self._read(there[0]) if there[0] else b"", turn_s=None)

    def _readable(self) -> None:
        data = self._read(SLICE_BYTES)
        if data is not None:
            self._take(data, MCP_TURN_S)
            self._account()

    def _read(self, size: int) -> bytes | None:
        """What is there; None if nothing is, or it is closed."""
        try:
            data = os.read(self._reader, size)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            self.close()
        return data or None

    def _take(self, data: bytes | None, turn_s: float | None) -> None:
        """Give on what is whole, and let others have their turn in between."""
        until = None if turn_s is None else self._loop.clock() + turn_s
        try:
            for frame in self._frames.feed(data or b"") if self.open else ():
                self._heard(frame)
                if not self.open:
                    return
                if until is not None and self._loop.clock() > until:
                    self._loop.unwatch(self._reader)
                    self._loop.call_in(0, self._go_on)
                    return
        except BrokenFrames as broken:
            self.close(str(broken))
        except Exception as error:  # noqa: BLE001 - the room's door: what one says must not end the sandbox
            log("internal", channel=self._reader, error=type(error).__name__)
            self.close(f"{type(error).__name__} in the supervisor")

    def _go_on(self) -> None:
        if self.open:
            self._loop.watch(self._reader, self._readable)
            self._take(b"", MCP_TURN_S)
            self._account()

    def _account(self) -> None:
        """Have the budget know what waits here."""
        if not self.open:
            return
        waits = len(self._unsent) + self._frames.held
        self._bounds.budget.give_back(self._held)
        self._held = waits if self._bounds.budget.take(waits) else 0
        if self._held < waits or len(self._unsent) > self._bounds.unsent:
            self.close("too much waits: read the answers sooner, or ask for less at a time")

    def _write(self) -> None:
        self._again = None
        try:
            while self._unsent:
                del self._unsent[: os.write(self._writer, self._unsent)]
                self._again_s = _AGAIN_S
                self._progress = self._loop.clock()
        except BlockingIOError:
            if self._loop.clock() - self._progress > STALL_S:
                self.close("it does not read what it asked for")
                return
            self._again = self._loop.call_in(self._again_s, self._write_again)
            self._again_s = min(2 * self._again_s, _AGAIN_LAST_S)
        except OSError:
            self.close()

    def _write_again(self) -> None:
        self._write()
        self._account()
