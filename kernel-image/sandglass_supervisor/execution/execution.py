"""One execution: its journal, its readers and whether its source has to wait for them."""

from collections.abc import Callable, Collection

from ..limits import STALL_S
from ..link import wire
from ..link.wire import Piece
from ..loop import Loop, Timer
from .credit import Window
from .journal import Cursor, Journal
from .outcome import Outcome

QUEUED, RUNNING, DONE = "queued", "running", "done"


class Reader:
    """A connection attached to an execution; ``behind_since`` is set while output waits for its window."""

    __slots__ = ("behind_since", "cursor", "stalled", "window")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.window = Window()
        self.behind_since: float | None = None
        self.stalled = False


Send = Callable[[bytes, list[bytes]], bool]


class Execution:
    """Output goes through ``write`` to the journal and from there to each reader as its window allows.

    The source must stop while ``congested`` is true and is called back by ``resume`` when it may go on.
    """

    def __init__(self, execution_id: str, kind: str, loop: Loop, send: Send, *, block: bool) -> None:
        self.id = execution_id
        self.kind = kind
        self.state = QUEUED
        self.journal = Journal()
        self.outcome: dict[str, object] | None = None
        self.warning: str | None = None
        self.block = block
        self.resume: Callable[[], None] | None = None
        self.interrupt: Callable[[], bool] | None = None
        self.ended: Callable[[str], None] = lambda _: None
        self.tools_called: Callable[[str], list[dict[str, object]]] = lambda _: []
        self.position: Callable[[Execution], int] = lambda _: 0
        self.waits_s: Callable[[Execution], float] = lambda _: 0.0
        self._readers: dict[bytes, Reader] = {}
        self._loop = loop
        self._send = send
        self._alone_since = loop.clock()
        self._started_at: float | None = None
        self._stall_timer: Timer | None = None
        self._congested = False

    def start(self) -> None:
        """The run begins: time counts from here, also if it consists of several programs, each of which starts it."""
        if self.state == RUNNING:
            return
        self.state = RUNNING
        self._started_at = self._alone_since = self._loop.clock()

    def wait_again(self) -> None:
        """The run did not begin after all."""
        self.state = QUEUED
        self._started_at = None

    def write(self, kind: str, json: bytes, blob: bytes) -> None:
        """Add a record of output and send what may be sent."""
        self.journal.append(kind, json, blob)
        for peer in list(self._readers):
            self._pump(peer)
        self._check()

    def warn(self, *warnings: str | None) -> None:
        """Tell these with the outcome, besides what is to be told already."""
        self.warning = " ".join(filter(None, (self.warning, *warnings))) or None

    def finish(self, outcome: Outcome) -> None:
        """End the execution: its outcome is its last record."""
        if self.outcome is not None:
            return
        now = self._loop.clock()
        duration_ms = 0.0 if self._started_at is None else (now - self._started_at) * 1000
        self.state = DONE
        self.outcome = outcome.to_json(duration_ms, truncated=self.journal.dropped > 0)
        if self.warning is not None:
            self.outcome["warning"] = self.warning
        if tools := self.tools_called(self.id):
            self.outcome["tools"] = tools
        self.write("outcome", wire.to_json(self.outcome), b"")
        self.ended(self.id)

    def attach(self, peer: bytes, offset: int) -> None:
        """Make the connection a reader from ``offset`` on; a reader that attaches again starts there anew."""
        self._readers[peer] = Reader(self.journal.locate(offset))
        self._pump(peer)
        self._check()

    def detach(self, peer: bytes) -> None:
        """Forget a reader; without effect if the connection is none."""
        if self._readers.pop(peer, None) is not None:
            self._alone_since = self._loop.clock()
            self._check()

    def acknowledge(self, peer: bytes, offset: int) -> None:
        """Move one reader's window; one that was given up for stalling counts again."""
        reader = self._readers.get(peer)
        if reader is None or not reader.window.acknowledge(offset):
            return
        reader.stalled = False
        reader.behind_since = None
        self._pump(peer)
        self._check()

    @property
    def readers(self) -> Collection[bytes]:
        """The connections that are attached."""
        return self._readers.keys()

    @property
    def congested(self) -> bool:
        """True while the source has to wait."""
        return self._congested

    def hurry(self) -> None:
        """From now on drop rather than wait: the run is being ended and its last messages must get through."""
        self.block = False
        self._check()

    def _pump(self, peer: bytes) -> None:
        reader = self._readers[peer]
        while True:
            piece = self.journal.read(reader.cursor)
            if piece is None:
                reader.behind_since = None
                return
            length = len(piece.blob)
            if not reader.window.admits(length):
                if reader.behind_since is None:
                    reader.behind_since = self._loop.clock()
                return
            if not self._deliver(peer, reader, piece):
                return

    def _deliver(self, peer: bytes, reader: Reader, piece: Piece) -> bool:
        if not self._send(peer, wire.output(self.id, piece)):
            self._readers.pop(peer, None)
            self._alone_since = self._loop.clock()
            return False
        self.journal.advance(reader.cursor, piece)
        reader.window.sent(piece.end, len(piece.blob))
        return True

    def _check(self) -> None:
        """Decide anew whether the source waits, and look again when the present reason to wait runs out."""
        now = self._loop.clock()
        until = self._waits_until(now)
        was, self._congested = self._congested, until is not None
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
        if until is not None:
            self._stall_timer = self._loop.call_in(max(0.0, until - now), self._check)
        if was and not self._congested and self.resume is not None:
            self.resume()

    def _waits_until(self, now: float) -> float | None:
        """When the source goes on at the latest; None if it need not wait.

        It waits for the slowest reader, for at most 30 s without progress. Without readers it runs until the journal
        is full, because until then nothing is lost, and then waits until 30 s have passed without one.
        """
        if not self.block or self.state == DONE:
            return None
        for reader in self._readers.values():
            if reader.behind_since is not None and now >= reader.behind_since + STALL_S:
                reader.stalled = True
        active = [reader for reader in self._readers.values() if not reader.stalled]
        if active:
            behind = [reader.behind_since + STALL_S for reader in active if reader.behind_since is not None]
            return min(behind) if behind else None
        until = self._alone_since + STALL_S
        return until if self.journal.full and now < until else None
