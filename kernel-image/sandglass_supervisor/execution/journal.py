"""The output of one execution: a bounded list of records with head and tail kept (pure; no sockets, no clock).

Offsets count blob bytes of all kinds of records since the start of the execution. When the bound is reached, records
between head and tail are dropped and told as a gap to whoever reads there. The newest error and the outcome stay.
"""

from collections.abc import Callable

from ..limits import ANSWER_BYTES, JOURNAL_BYTES, SLICE_BYTES
from ..link.wire import Piece

_OVERHEAD = 256  # what a record costs in memory besides its blob and json, roughly
_MERGE_BYTES = 16 * 1024
_STREAMS = frozenset({"stdout", "stderr"})
_PINNED = frozenset({"error", "outcome"})


class Cursor:
    """A reader's place: the next record's sequence number and the offset inside the execution's output."""

    __slots__ = ("offset", "seq")

    def __init__(self, seq: int = 0, offset: int = 0) -> None:
        self.seq = seq
        self.offset = offset


class _Record:
    __slots__ = ("blob", "json", "kind", "offset")

    def __init__(self, offset: int, kind: str, json: bytes, blob: bytes) -> None:
        self.offset = offset
        self.kind = kind
        self.json = json
        self.blob = blob

    @property
    def end(self) -> int:
        return self.offset + len(self.blob)

    @property
    def cost(self) -> int:
        return len(self.blob) + len(self.json) + _OVERHEAD


class Journal:
    """Records in order of their sequence numbers; ``limit`` bounds what they cost in memory, in bytes."""

    def __init__(self, limit: int = JOURNAL_BYTES) -> None:
        self._limit = limit
        self._records: dict[int, _Record] = {}
        self._next = 0
        self._head_end = 0  # records before this one are the head
        self._head_cost = 0
        self._tail_start = 0  # dropping goes on here
        self._error: int | None = None
        self.cost = 0
        self.end = 0
        self.dropped = 0
        self.changed: Callable[[int], None] | None = None  # hears by how much the cost has

    @property
    def full(self) -> bool:
        """True if what one more message of a kernel can hold would push something out."""
        return self.cost + 4 * (SLICE_BYTES + _OVERHEAD) > self._limit

    @property
    def start(self) -> int:
        """The first offset that can still be read."""
        first = next(iter(self._records.values()), None)
        return self.end if first is None else first.offset

    def append(self, kind: str, json: bytes, blob: bytes) -> None:
        """Add a record at the end; small pieces of one stream become one record."""
        before = self.cost
        if kind not in _STREAMS or not self._merge(kind, blob):
            self._add(kind, json, blob)
            while self.cost > self._limit and self._drop_from_tail():
                pass
        self._tell_change(before)

    def _tell_change(self, before: int) -> None:
        if self.changed is not None:
            self.changed(self.cost - before)

    def _add(self, kind: str, json: bytes, blob: bytes) -> None:
        record = _Record(self.end, kind, json, blob)
        self._records[self._next] = record
        self.cost += record.cost
        self.end = record.end
        in_head = self._head_end == self._next and self._head_cost + record.cost <= self._limit // 2
        self._next += 1
        if in_head:
            self._head_end = self._tail_start = self._next
            self._head_cost += record.cost
        if kind == "error":
            self._pin_error(self._next - 1)

    def shrink(self, cost: int) -> None:
        """Drop records, the middle first, until the journal costs at most ``cost`` or only pinned records are left."""
        before = self.cost
        while self.cost > cost and self._head_cost > cost // 2 and self._drop_from_head():
            pass
        while self.cost > cost and (self._drop_from_tail(keep=0) or self._drop_from_head()):
            pass
        self._tell_change(before)

    def locate(self, offset: int) -> Cursor:
        """The place from which a reader who has all before ``offset`` goes on (an offset past the end is the end).

        Inside a stream record it is that byte (moved back to the start of its code point), inside another record the
        record's start, so that nobody gets half a picture.
        """
        for seq, record in self._records.items():
            if offset <= record.offset:
                return Cursor(seq, offset)
            if offset < record.end and record.kind not in _STREAMS:
                return Cursor(seq, record.offset)
            if offset < record.end:
                return Cursor(seq, record.offset + _code_point_start(record.blob, offset - record.offset))
        # The last stream record may still grow: a reader who has all of it waits in it, not behind it.
        last = self._records.get(self._next - 1)
        growing = last is not None and last.kind in _STREAMS
        return Cursor(self._next - 1 if growing else self._next, self.end)

    def at_end(self, cursor: Cursor) -> bool:
        """True if there is nothing to read at the cursor now."""
        self._skip_finished(cursor)
        record = self._records.get(cursor.seq)
        return (
            cursor.seq >= self._next and cursor.offset >= self.end if record is None else self._consumed(cursor, record)
        )

    def read(self, cursor: Cursor) -> Piece | None:
        """The next piece at the cursor, or None at the end; ``advance`` moves the cursor past it."""
        if self.at_end(cursor):
            return None
        record = self._records.get(self._present(cursor.seq))
        start = self.end if record is None else record.offset
        if cursor.offset < start:
            gap = b'{"from":%d,"to":%d,"bytes":%d}' % (cursor.offset, start, start - cursor.offset)
            return Piece(cursor.offset, start, "gap", gap, b"")
        if record is None:
            return None
        if record.kind not in _STREAMS:
            return Piece(record.offset, record.end, record.kind, record.json, record.blob)
        skip = cursor.offset - record.offset
        cut = _code_point_start(record.blob, skip + SLICE_BYTES)
        blob = record.blob[skip:cut]
        return Piece(cursor.offset, cursor.offset + len(blob), record.kind, record.json, blob)

    def advance(self, cursor: Cursor, piece: Piece) -> None:
        """Move the cursor behind a piece that ``read`` gave."""
        cursor.seq = self._present(cursor.seq)
        cursor.offset = piece.end
        if piece.kind != "gap" and piece.kind not in _STREAMS:
            cursor.seq += 1

    def tail(self, size: int = ANSWER_BYTES) -> str:
        """The text of the last ``size`` bytes, all streams in the order in which they came."""
        cursor = self.locate(max(0, self.end - size))
        text = bytearray()
        while (piece := self.read(cursor)) is not None:
            text += piece.blob
            self.advance(cursor, piece)
        return text.decode("utf-8", "replace")

    def _consumed(self, cursor: Cursor, record: _Record) -> bool:
        return record.kind in _STREAMS and cursor.offset >= record.end

    def _skip_finished(self, cursor: Cursor) -> None:
        # The last stream record may still grow, so a cursor stays in it until another record follows.
        record = self._records.get(cursor.seq)
        while record is not None and self._consumed(cursor, record) and cursor.seq + 1 < self._next:
            cursor.seq += 1
            record = self._records.get(cursor.seq)

    def _merge(self, kind: str, blob: bytes) -> bool:
        last = self._records.get(self._next - 1)
        if last is None or last.kind != kind or len(last.blob) + len(blob) > _MERGE_BYTES:
            return False
        last.blob += blob
        self.cost += len(blob)
        self.end = last.end
        if self._head_end == self._next:
            self._head_cost += len(blob)
        return True

    def _pin_error(self, seq: int) -> None:
        older, self._error = self._error, seq
        if older is not None and self._head_end <= older < self._tail_start:
            self._forget(older)

    def _drop_from_tail(self, keep: int = 1) -> bool:
        while self._tail_start < self._next - keep:
            seq = self._tail_start
            self._tail_start += 1
            if not self._pinned(seq):
                self._forget(seq)
                return True
        return False

    def _drop_from_head(self) -> bool:
        while self._head_end > 0:
            self._head_end -= 1
            self._head_cost -= self._records[self._head_end].cost
            if not self._pinned(self._head_end):
                self._forget(self._head_end)
                return True
        return False

    def _pinned(self, seq: int) -> bool:
        return seq == self._error or self._records[seq].kind == "outcome"

    def _forget(self, seq: int) -> None:
        record = self._records.pop(seq)
        self.cost -= record.cost
        self.dropped += len(record.blob)

    def _present(self, seq: int) -> int:
        """The first sequence number at or after ``seq`` whose record is still here."""
        if seq in self._records or seq >= self._next:
            return seq
        known = [s for s in (self._error, self._tail_start) if s is not None and s >= seq and s in self._records]
        return min(known) if known else self._scan(seq)

    def _scan(self, seq: int) -> int:
        return next((present for present in self._records if present >= seq), self._next)


def _code_point_start(blob: bytes, index: int) -> int:
    """``index``, moved back to where the UTF-8 code point that covers it starts."""
    while index > 0 and index < len(blob) and blob[index] & 0xC0 == 0x80:
        index -= 1
    return index
