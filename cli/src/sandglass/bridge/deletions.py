"""Deletes on one side of a synced folder what was deleted on the other, and did not change there meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sandglass.bridge.workspace import NAMED, Mark, Pair, is_emptied
from sandglass.core import files
from sandglass.core.facts import Entry
from sandglass.core.runs import AsyncWalk, Where
from sandglass.errors import ToolError

Warn = Callable[[str], None]


@dataclass
class Remote:
    """The files of the sandbox's folder that may be copied, and all that is there."""

    marks: dict[str, Mark] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    marker: Mark | None = None

    def has(self, path: str) -> bool:
        """Whether something is at a path, or may be: behind a link nothing is listed."""
        parts = path.split("/")
        above = ("/".join(parts[:count]) for count in range(1, len(parts)))
        return path in self.kinds or any(self.kinds.get(each, "folder") != "folder" for each in above)


class Deletions:
    """Knows what was copied between both sides since the bridge began: nothing else is ever deleted."""

    def __init__(self, walk: AsyncWalk, where: Where, here: Path, path: Callable[[str], str], warn: Warn) -> None:
        self.copied: set[str] = set()
        self._walk = walk
        self._where = where
        self._here = here
        self._path = path
        self._warn = warn

    async def in_sandbox(self, paths: Collection[str], before: dict[str, Pair]) -> bool:
        """Deletes there what was deleted here; whether anything was."""
        if self._is_spared(paths, "here", "in the sandbox"):
            return False
        done = [path for path in paths if not self._is_here(path) and await self._delete(path, before[path].there)]
        self._tell(done, "here", "in the sandbox")
        return bool(done)

    def here(self, paths: Collection[str], before: dict[str, Pair], there: Remote) -> bool:
        """Deletes here what was deleted in the sandbox; whether anything was."""
        if self._is_spared(paths, "in the sandbox", "here"):
            return False
        done = [path for path in paths if not there.has(path) and self._unlink(path, before[path].here)]
        self._tell(done, "in the sandbox", "here")
        return bool(done)

    def _is_spared(self, paths: Collection[str], gone: str, kept: str) -> bool:
        if not is_emptied(len(paths), len(self.copied)):
            return False
        self._warn(f"{len(paths)} files at once are gone {gone}: none of them is deleted {kept}")
        # They stay, as files that were never copied do.
        self.copied.difference_update(paths)
        return True

    def _is_here(self, path: str) -> bool:
        try:
            (self._here / path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            # It cannot be seen: then it is not known to be gone.
            return True
        return True

    async def _delete(self, path: str, known: Mark) -> bool:
        try:
            found: Entry = await self._walk(files.stat(self._where, self._path(path)))
            if (found.type, found.size, found.modified) != ("file", known.size, known.modified):
                return False
            await self._walk(files.delete(self._where, self._path(path)))
        except ToolError:
            # It is gone there too, or stays: the next listing shows which.
            return False
        return True

    def _unlink(self, path: str, known: Mark) -> bool:
        place = self._here / path
        try:
            found = place.lstat()
            # A folder above it may have become a link that leads elsewhere.
            if not place.parent.resolve().is_relative_to(self._here.resolve()):
                return False
            if Mark(found.st_size, str(found.st_mtime_ns)) != known or not place.is_file() or place.is_symlink():
                return False
            place.unlink()
        except (OSError, RuntimeError):
            return False
        return True

    def _tell(self, done: Iterable[str], gone: str, deleted: str) -> None:
        paths = list(done)
        self.copied.difference_update(paths)
        if paths:
            more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
            count = "1 file that was" if len(paths) == 1 else f"{len(paths)} files that were"
            self._warn(f"{count} deleted {gone}, now {deleted} too: {', '.join(paths[:NAMED])}{more}")
