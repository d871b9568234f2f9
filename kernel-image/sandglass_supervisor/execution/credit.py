"""The window of one reader: how many bytes may be on their way to it (pure; no sockets, no clock)."""

from collections import deque

from ..limits import RECORD_COST_BYTES, WINDOW_BYTES


class Window:
    """Counts what was sent and not yet acknowledged.

    A record costs its blob plus a fixed amount, so that a flood of tiny records is bounded too. A record larger than
    the window passes when nothing else is under way, because otherwise it would never pass.
    """

    __slots__ = ("_in_flight", "_outstanding", "_size")

    def __init__(self, size: int = WINDOW_BYTES) -> None:
        self._size = size
        self._in_flight: deque[tuple[int, int]] = deque()
        self._outstanding = 0

    @property
    def outstanding(self) -> int:
        """Bytes under way, the fixed cost per record included."""
        return self._outstanding

    def admits(self, length: int) -> bool:
        """True if a record of ``length`` blob bytes may be sent now."""
        return not self._in_flight or self._outstanding + length + RECORD_COST_BYTES <= self._size

    def sent(self, end: int, length: int) -> None:
        """Note a sent record that ends at output offset ``end``."""
        cost = length + RECORD_COST_BYTES
        self._in_flight.append((end, cost))
        self._outstanding += cost

    def acknowledge(self, offset: int) -> bool:
        """Take the reader's word that it has all before ``offset``; True if that freed anything.

        An offset beyond what was sent frees only what was sent; one before the last is without effect.
        """
        freed = False
        while self._in_flight and self._in_flight[0][0] <= offset:
            self._outstanding -= self._in_flight.popleft()[1]
            freed = True
        return freed
