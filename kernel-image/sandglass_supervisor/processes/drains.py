"""The pipes of processes that commands have left running, read to nowhere."""

import os
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from functools import partial

from ..limits import DRAIN_PAUSE_S, DRAINED_COMMANDS, SLICE_BYTES
from ..loop import Loop


class Drains:
    """Reads to nowhere what commands' leftovers write: a write into a pipe that nobody reads would end them.

    Each is read a little at a time with a pause behind it, so that who writes without end waits, and not the loop. The
    oldest of too many gives up its pipes.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._drains: deque[_Drain] = deque()

    def add(self, descriptors: Collection[int]) -> None:
        """Read these, of one command, until nobody is left who could write into them, and close them then."""
        self._drains = deque(drain for drain in self._drains if drain.open)
        if len(self._drains) >= DRAINED_COMMANDS:
            self._drains.popleft().close()
        self._drains.append(_Drain(self._loop, descriptors))


class _Drain:
    def __init__(self, loop: Loop, descriptors: Collection[int]) -> None:
        self._loop = loop
        self.open = set(descriptors)
        for descriptor in descriptors:
            self._watch(descriptor)

    def close(self) -> None:
        for descriptor in tuple(self.open):
            self._close(descriptor)

    def _watch(self, descriptor: int) -> None:
        # It may have been closed in the pause, and its number may be another's by now.
        if descriptor in self.open:
            self._loop.watch(descriptor, partial(self._read, descriptor))

    def _read(self, descriptor: int) -> None:
        self._loop.unwatch(descriptor)
        with suppress(BlockingIOError):
            if not os.read(descriptor, SLICE_BYTES):
                self._close(descriptor)
                return
        self._loop.call_in(DRAIN_PAUSE_S, partial(self._watch, descriptor))

    def _close(self, descriptor: int) -> None:
        self._loop.unwatch(descriptor)
        self.open.discard(descriptor)
        os.close(descriptor)
