"""What a kernel prints and displays while none of its runs is on (pure): a thread, a task or a timer went on.

The next run's output begins with it, marked, so that its caller can tell it from the run's own. It is told when that
run says its first word: what the kernel had said before the run is there by then.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from ..execution.journal import Cursor, Journal
from ..limits import BETWEEN_RUNS_BYTES
from . import content
from .jupyter import Message

BEGIN: Final = b"[Printed between runs, before this one began:]\n"
END: Final = b"[End of what was printed between runs]\n"
_STREAMS = ("stdout", "stderr")

Write = Callable[[str, bytes, bytes], None]


class BetweenRuns:
    """Keeps head and tail, however much there is; pictures count as well, and the newest is kept whole."""

    def __init__(self) -> None:
        self._kept = Journal(BETWEEN_RUNS_BYTES)

    def hear(self, message: Message) -> None:
        """Take in a message that belongs to no run."""
        if message.kind not in ("stream", "display_data", "update_display_data"):
            return
        with suppress(RecursionError):  # as in a run: it may be nested too deep
            said = content.parse(message.content)
            if message.kind == "stream":
                for entry in content.stream(said):
                    self._kept.append(*entry)
            else:
                shown = content.shown("display", said, update=message.kind == "update_display_data")
                if shown is not None:
                    self._kept.append(*shown)

    def tell(self, write: Write) -> None:
        """Give away all that is kept, between marks in each stream that it is of."""
        if not self._kept.end:
            return
        kept, self._kept = self._kept, Journal(BETWEEN_RUNS_BYTES)
        cursor, pieces = Cursor(), []
        while (piece := kept.read(cursor)) is not None:
            pieces.append(piece)
            kept.advance(cursor, piece)
        last = {piece.kind: piece.blob[-1:] for piece in pieces if piece.kind in _STREAMS} or {"stdout": b"\n"}
        for stream in last:
            write(stream, b"{}", BEGIN)
        for piece in pieces:
            if piece.kind == "gap":
                note = b"\n[... %d bytes left out ...]\n" % (piece.end - piece.offset)
                write(next(iter(last)), b"{}", note)
            else:
                write(piece.kind, piece.json, piece.blob)
        for stream, end in last.items():
            write(stream, b"{}", END if end == b"\n" else b"\n" + END)
