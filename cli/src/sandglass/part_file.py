"""A file of this machine that takes its name when it is whole."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from sandglass.core.journal import Piece
from sandglass.errors import ConfigurationError, EndpointError

PREFIX = ".sandglass-"


class PartFile:
    """A file that takes its name when it is whole, and has at most `most` bytes.

    `keeps` leaves the part where it is when the copy is cut; `earlier` is such a part, which is gone on with.
    """

    def __init__(self, place: Path, most: int, earlier: str | None = None, keeps: bool = False) -> None:
        self._place = place
        self._most = most
        self._earlier = earlier
        self._keeps = keeps
        self._is_spoiled = False

    def __enter__(self) -> PartFile:
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            opened = None if self._earlier is None else _opened(Path(self._earlier), self._place.parent)
            if opened is None:
                self.is_new = True
                self._descriptor, self.part = tempfile.mkstemp(dir=self._place.parent.absolute(), prefix=PREFIX)
            else:
                self.is_new = False
                self._descriptor, self.part = opened, str(self._earlier)
        except OSError as error:
            raise ConfigurationError(f"{self._place}: {error.strerror}") from None
        return self

    def kept(self, pieces: Iterable[Piece], size: int) -> dict[int, int]:
        """The pieces of a file of `size` bytes that are there as they were written: their lengths by offset."""
        if self.is_new:
            return {}
        try:
            found = {each.offset: each.length for each in pieces if self._has(each, size)}
            os.ftruncate(self._descriptor, size if found else 0)
        except OSError as error:
            raise ConfigurationError(f"{self.part}: {error.strerror}") from None
        return found

    def write(self, data: bytes, offset: int) -> None:
        """Writes bytes at their place."""
        if offset + len(data) > self._most:
            self._is_spoiled = True
            raise EndpointError(f"{self._place}: the sandbox sends more than the size that it listed; copy it again")
        try:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:
            raise ConfigurationError(f"{self._place}: {error.strerror}") from None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        os.close(self._descriptor)
        part = Path(self.part)
        if kind is not None:
            if not (self._keeps and not self._is_spoiled and is_cut(kind)):
                part.unlink(missing_ok=True)
            return
        # It was made for its owner alone; a file of this name would have had the usual permissions.
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        try:
            part.replace(self._place)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise ConfigurationError(f"{self._place}: {error.strerror}") from None

    def _has(self, piece: Piece, size: int) -> bool:
        if piece.offset + piece.length > size:
            return False
        found, left = hashlib.sha256(), piece.length
        os.lseek(self._descriptor, piece.offset, os.SEEK_SET)
        while left and (data := os.read(self._descriptor, min(left, 1024 * 1024))):
            found.update(data)
            left -= len(data)
        return not left and found.hexdigest() == piece.sha256


def is_cut(kind: type[BaseException]) -> bool:
    """Whether a copy ended for a reason that has nothing to do with its files: the connection, or Ctrl-C."""
    return issubclass(kind, EndpointError) or not issubclass(kind, Exception)


def remove_part(path: str) -> None:
    """Removes a part that nothing goes on with."""
    place = Path(path)
    if place.name.startswith(PREFIX):
        try:
            place.unlink(missing_ok=True)
        except OSError:
            # It is no longer ours, or its folder is not: there is nothing to tell.
            return


def _opened(part: Path, folder: Path) -> int | None:
    """An earlier part in the folder; None if there is none, or something else has its name."""
    if part.parent != folder.absolute() or not part.name.startswith(PREFIX):
        return None
    try:
        # Neither a link nor a pipe that was put in its place is followed or waited for.
        flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(part, flags)
    except OSError:
        return None
    found = os.fstat(descriptor)
    is_ours = stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and _is_mine(found.st_uid)
    if is_ours:
        return descriptor
    os.close(descriptor)
    return None


def _is_mine(owner: int) -> bool:
    return not hasattr(os, "getuid") or owner == os.getuid()
