"""The journal of a copy on disk: one file for each pair of source and target, in the user's folder for state."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sandglass.core import journal
from sandglass.core.journal import MAX_BYTES, Past, Piece, Stamp, Unfinished
from sandglass.part_file import remove_part

KEPT_S = 7 * 24 * 3600
_ENDING = ".jsonl"


class CopyJournal:
    """Notes what was copied, and knows what an earlier start of the same copy noted.

    It is a help: where it cannot be read or written, or another process has it, the copy goes on without.
    """

    def __init__(self, place: Path | None) -> None:
        self.past = Past()
        self._place = place
        self._descriptor: int | None = None
        self._size = 0
        if place is not None and place.exists():
            self.past, self._size = journal.parse(self._open(place))
            self._shorten()

    @property
    def is_kept(self) -> bool:
        """Whether another start of the copy finds something."""
        return self._size > 0

    @property
    def keeps(self) -> bool:
        """Whether it notes anything."""
        return self._place is not None

    def base(self, found: str) -> str:
        """Where the copy goes: where an earlier start began it, else what was found."""
        if self.past.base is None:
            self.past.base = found
        return self.past.base

    def begun(self, target: str, source: Stamp, part: str = "") -> None:
        """A file is begun; what an earlier start left of it counts no more."""
        earlier = self.past.unfinished.pop(target, None)
        if earlier is not None and earlier.part not in ("", part):
            remove_part(earlier.part)
        self.past.parts |= {part} - {""}
        self._add(journal.begun(target, source, part))

    def piece(self, target: str, offset: int, data: bytes) -> None:
        """Bytes of it are written."""
        if self.keeps:
            self._add(journal.piece(target, Piece(offset, len(data), hashlib.sha256(data).hexdigest())))

    def whole(self, target: str, source: Stamp, there: Stamp | None = None) -> None:
        """It is copied to its end."""
        self._add(journal.whole(target, source, there))

    def unfinished(self, target: str, source: Stamp) -> Unfinished | None:
        """What an earlier start left of a file that is still the same."""
        found = self.past.unfinished.get(target)
        return found if found is not None and found.source == source else None

    def is_whole(self, target: str, source: Stamp, there: Stamp | None = None) -> bool:
        """Whether an earlier start copied it, and neither side changed since."""
        found = self.past.whole.get(target)
        return found is not None and (found.source, found.target) == (source, there)

    def forget(self) -> None:
        """Removes it with the parts that it names: the copy is done, or starts over."""
        for part in self.past.parts:
            remove_part(part)
        self.past = Past()
        place = self._place if self._descriptor is not None else None
        self.close()
        if place is not None:
            with suppress(OSError):
                place.unlink(missing_ok=True)

    def close(self) -> None:
        """Leaves it for another start."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor, self._place = None, None

    def _add(self, line: bytes) -> None:
        if self._place is None:
            return
        if self._descriptor is None and self._open(self._place):
            # Another process began the same copy meanwhile.
            self.close()
        if not self._size and self.past.base is not None:
            line = journal.base(self.past.base) + line
        if self._descriptor is None or self._size + len(line) > MAX_BYTES:
            return
        try:
            os.write(self._descriptor, line)
            self._size += len(line)
        except OSError:
            self.close()

    def _open(self, place: Path) -> bytes:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        try:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(place, flags, 0o600)
            _lock(self._descriptor)
            return _content(self._descriptor)
        except OSError:
            self.close()
            return b""

    def _shorten(self) -> None:
        """A line that was cut, and what may follow it, would hide the lines to come."""
        if self._descriptor is not None:
            try:
                os.ftruncate(self._descriptor, self._size)
            except OSError:
                self.close()


def place_of(folder: Path, key: Iterable[str]) -> Path:
    """Where the journal of a copy is: its name says nothing of the copy."""
    return folder / (hashlib.sha256(json.dumps(list(key)).encode()).hexdigest()[:32] + _ENDING)


def remove_old(folder: Path) -> None:
    """Removes journals unused for a week, and the parts that they name."""
    with suppress(OSError):
        for place in folder.glob("*" + _ENDING):
            if place.stat().st_mtime < time.time() - KEPT_S:
                CopyJournal(place).forget()


def _content(descriptor: int) -> bytes:
    if os.fstat(descriptor).st_size > MAX_BYTES:
        return b""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read(MAX_BYTES)


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        import msvcrt

        # A byte far behind the content: what is locked cannot be read.
        os.lseek(descriptor, 2**30, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:

    def _lock(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
