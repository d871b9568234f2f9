"""So many calls of a server at a time, whichever gateway they come from; the others wait in line (pure)."""

from collections.abc import Callable


class Turns:
    """Calls by their numbers; ``begin`` is called for each whose turn has come, one after the other."""

    def __init__(self, begin: Callable[[int], None]) -> None:
        self._begin = begin
        self._running: dict[int, None] = {}
        self._line: dict[int, None] = {}
        self._at_once = 1
        self._drawing = False

    @property
    def running(self) -> list[int]:
        """Those whose turn has come, the first one first."""
        return list(self._running)

    def enter(self, number: int, at_once: int) -> None:
        """A call came; the newest word on how many are taken at a time counts for all."""
        self._at_once = at_once
        self._line[number] = None
        self._draw()

    def leave(self, number: int) -> None:
        """A call is over, or waits no more."""
        self._running.pop(number, None)
        self._line.pop(number, None)
        self._draw()

    def clear(self) -> None:
        """All are over, and none begins."""
        self._running.clear()
        self._line.clear()

    def _draw(self) -> None:
        """A call that begins may be over at once, and let the next one begin: in this loop, not within each other."""
        if self._drawing:
            return
        self._drawing = True
        try:
            while self._line and len(self._running) < self._at_once:
                number = next(iter(self._line))
                del self._line[number]
                self._running[number] = None
                self._begin(number)
        finally:
            self._drawing = False
