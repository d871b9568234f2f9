"""How much of what was read of files may be on its way to each gateway, and what waits until there is room (pure)."""

from collections import deque
from collections.abc import Callable

from ..limits import FILES_WAITING, FILES_WINDOW_BYTES
from ..link.wire import Problem

Serve = Callable[[], None]


class _Window:
    """``sent`` and ``acknowledged`` count bytes since the peer said hello."""

    def __init__(self) -> None:
        self.sent = 0
        self.acknowledged = 0
        self.waiting: deque[tuple[int, Serve]] = deque()

    def admits(self, length: int) -> bool:
        under_way = self.sent - self.acknowledged
        return under_way == 0 or under_way + length <= FILES_WINDOW_BYTES


class FileWindows:
    """ZeroMQ counts messages, which may have megabytes each, and takes 100,000 for a peer that reads none of them.

    So a gateway says in ``hello`` that it acknowledges what it got of files. One that does not, an older one, is served
    at once.
    """

    def __init__(self) -> None:
        self._windows: dict[bytes, _Window] = {}

    def greet(self, peer: bytes, *, acknowledges: bool) -> None:
        """The peer said hello: what was on its way before is gone, with what waited for room."""
        self.forget(peer)
        if acknowledges:
            self._windows[peer] = _Window()

    def forget(self, peer: bytes) -> None:
        """The peer is gone."""
        self._windows.pop(peer, None)

    def begin(self, peer: bytes, length: int, now: Serve, later: Serve) -> None:
        """Call ``now``, or ``later`` when there is room for an answer of that length; Problem if too many wait."""
        window = self._windows.get(peer)
        if window is None or (not window.waiting and window.admits(length)):
            now()
        elif len(window.waiting) >= FILES_WAITING:
            raise Problem("rejected", f"{FILES_WAITING} readings of files wait to be sent already; try again later")
        else:
            window.waiting.append((length, later))

    def sent(self, peer: bytes, length: int) -> None:
        """So many bytes are on their way."""
        window = self._windows.get(peer)
        if window is not None:
            window.sent += length

    def acknowledge(self, peer: bytes, total: int) -> None:
        """The peer has so many bytes since it said hello; serves what waits, as far as there is room."""
        window = self._windows.get(peer)
        if window is None:
            return
        window.acknowledged = max(window.acknowledged, min(total, window.sent))
        while window.waiting and window.admits(window.waiting[0][0]):
            window.waiting.popleft()[1]()
