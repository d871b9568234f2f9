"""A plain poller loop: sockets, file descriptors and timers, one thread, no callbacks from elsewhere."""

import heapq
import itertools
import time
from collections.abc import Callable

import zmq

Clock = Callable[[], float]
Source = zmq.Socket[bytes] | int
_FEW_TIMERS = 64


class Timer:
    """A call in the future; ``cancel`` may come at any time, also after it ran."""

    __slots__ = ("action",)

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        """Forget the call."""
        self.action = None


class Loop:
    """Calls handlers when their source is readable and timers when they are due; ``clock`` gives seconds."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self._poller = zmq.Poller()
        self._handlers: dict[Source, Callable[[], None]] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._compact_at = _FEW_TIMERS
        self._running = True

    def watch(self, source: Source, handler: Callable[[], None]) -> None:
        """Call ``handler`` whenever the source is readable."""
        self._handlers[source] = handler
        self._poller.register(source, zmq.POLLIN)

    def unwatch(self, source: Source) -> None:
        """Stop watching; without effect for a source that is not watched."""
        if self._handlers.pop(source, None) is not None:
            self._poller.unregister(source)

    def call_in(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Call ``action`` once after so many seconds."""
        if len(self._timers) >= self._compact_at:
            self._drop_cancelled()
        timer = Timer(action)
        heapq.heappush(self._timers, (self.clock() + seconds, next(self._order), timer))
        return timer

    def stop(self) -> None:
        """End ``run`` after the present round."""
        self._running = False

    def run(self) -> None:
        """Serve until ``stop``."""
        while self._running:
            self.run_once()

    def run_once(self) -> None:
        """Wait for the next event or timer and serve what is due."""
        for source, _ in self._poller.poll(self._wait_ms()):
            # An earlier handler of this round may have unwatched the source.
            handler = self._handlers.get(source)
            if handler is not None:
                handler()
        self._run_timers()

    def _drop_cancelled(self) -> None:
        # Most timers are time-outs that are cancelled long before they are due.
        self._timers = [entry for entry in self._timers if entry[2].action is not None]
        heapq.heapify(self._timers)
        self._compact_at = max(_FEW_TIMERS, 2 * len(self._timers))

    def _wait_ms(self) -> int | None:
        while self._timers and self._timers[0][2].action is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return None
        return max(0, int((self._timers[0][0] - self.clock()) * 1000) + 1)

    def _run_timers(self) -> None:
        now = self.clock()
        while self._timers and self._timers[0][0] <= now:
            action = heapq.heappop(self._timers)[2].action
            if action is not None:
                action()
