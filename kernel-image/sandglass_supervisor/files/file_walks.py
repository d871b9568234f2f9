"""What can take long with files, done in steps: each ``next`` is one entry of a folder.

Programs may swap folders for links meanwhile. So every folder is opened from one above it without following any link,
and what is in it is named by its descriptor alone.
"""

import errno
import json
import os
import stat
from collections import deque
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any, NamedTuple

from .. import linux
from ..limits import FILE_DEPTH, LIST_BYTES
from ..link.wire import Problem, Reply
from .confined import NO_LINKS, Entry, problem, shown

Deed = Generator[None, None, tuple[Reply, bytes]]
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK
_NO_FOLDER_ANY_MORE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_ATTEMPTS = 8
_ENTRY_COST_BYTES = 96


def kind(mode: int) -> str:
    """What something is, in one word."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def facts(found: os.stat_result) -> dict[str, Any]:
    """What is told of a file; ``size`` in bytes, of regular files only."""
    regular = stat.S_ISREG(found.st_mode)
    return {
        "type": kind(found.st_mode),
        "size": found.st_size if regular else None,
        "modified": round(found.st_mtime, 3),
    }


class _Folder(NamedTuple):
    way: str
    depth: int


class _Listing:
    """What is found until a bound is reached."""

    def __init__(self, base: int, limit: int, over: Callable[[], bool], *, recursive: bool) -> None:
        self._base = base
        self._limit = limit
        self._over = over
        self._recursive = recursive
        self._room = LIST_BYTES
        self._found: list[dict[str, Any]] = []
        self._folders = deque([_Folder(".", 1)])
        self._complete = True

    def steps(self) -> Deed:
        full = False
        while self._folders and not full:
            folder = self._folders.popleft()
            try:
                descriptor = linux.openat2(self._base, folder.way, _FOLDER, NO_LINKS)
            except OSError as error:
                if folder.depth == 1:
                    raise
                # Gone or swapped is as if it had never been there; what may not be read is missing.
                self._complete = self._complete and error.errno in _NO_FOLDER_ANY_MORE
                continue
            try:
                full = yield from self._look(folder, descriptor)
            finally:
                os.close(descriptor)
        self._found.sort(key=lambda about: str(about["path"]))
        reply = {"entries": len(self._found), "truncated": full or not self._complete}
        return reply, json.dumps(self._found, separators=(",", ":")).encode("ascii")

    def _look(self, folder: _Folder, descriptor: int) -> Generator[None, None, bool]:
        """True if there is more than fits."""
        with os.scandir(descriptor) as entries:
            for entry in entries:
                yield
                way = entry.name if folder.depth == 1 else f"{folder.way}/{entry.name}"
                self._room -= len(way) + _ENTRY_COST_BYTES
                if len(self._found) == self._limit or self._room < 0 or self._over():
                    return True
                with suppress(FileNotFoundError):
                    about = facts(entry.stat(follow_symlinks=False))
                    self._found.append({"path": shown(way), **about})
                    if self._recursive and about["type"] == "folder":
                        self._later(_Folder(way, folder.depth + 1))
        return False

    def _later(self, folder: _Folder) -> None:
        if folder.depth <= FILE_DEPTH:
            self._folders.append(folder)
        else:
            self._complete = False


def listing(base: int, limit: int, over: Callable[[], bool], *, recursive: bool) -> Deed:
    """The entries of the open folder ``base``, those of nearer folders first; takes over the descriptor."""
    try:
        return (yield from _Listing(base, limit, over, recursive=recursive).steps())
    finally:
        os.close(base)


class _Level(NamedTuple):
    """A folder that is being emptied: its name in the one above, and its descriptor."""

    entry: Entry
    descriptor: int


class _TimeIsOver(Exception):
    """The rest is for another request."""


class _Deletion:
    """Goes down and up a tree, with a descriptor for each folder between here and the top."""

    def __init__(self, over: Callable[[], bool]) -> None:
        self._over = over
        self._levels: list[_Level] = []
        self._at = ""
        self._attempts = 0
        self.deleted = 0

    @property
    def way(self) -> str:
        """Where it is, from the top."""
        return "/".join([*(level.entry.name for level in self._levels[1:]), self._at])

    def steps(self, top: Entry) -> Generator[None, None, None]:
        self._levels.append(_enter(top))
        while self._levels:
            level = self._levels[-1]
            inner = yield from self._empty(level.descriptor)
            if inner is not None:
                self._descend(inner)
            else:
                self._at = ""
                self._ascend(level)

    def close(self) -> None:
        while self._levels:
            os.close(self._levels.pop().descriptor)

    def _empty(self, folder: int) -> Generator[None, None, Entry | None]:
        """Delete what is in a folder up to the first folder in it."""
        with os.scandir(folder) as entries:
            for entry in entries:
                yield
                if self._over():
                    raise _TimeIsOver
                self._at = entry.name
                try:
                    os.unlink(entry.name, dir_fd=folder)
                    self.deleted += 1
                except FileNotFoundError:
                    continue
                except IsADirectoryError:
                    return Entry(folder, entry.name)
        return None

    def _descend(self, entry: Entry) -> None:
        if len(self._levels) > FILE_DEPTH:
            words = f"there are more than {FILE_DEPTH} folders below each other; delete them by a command"
            raise Problem("too_long", words)
        try:
            self._levels.append(_enter(entry, linux.RESOLVE_NO_XDEV))
        except OSError as error:
            if error.errno == errno.EXDEV:
                raise Problem("busy", "a volume is mounted in this folder; delete what is beside it") from error
            # Swapped meanwhile: the next look at the folder above deletes what is there now.
            if error.errno not in _NO_FOLDER_ANY_MORE:
                raise

    def _ascend(self, level: _Level) -> None:
        try:
            os.rmdir(level.entry.name, dir_fd=level.entry.folder)
            self.deleted += 1
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, *_NO_FOLDER_ANY_MORE):
                raise
            self._attempts += 1
            if self._attempts == _ATTEMPTS:
                words = "programs go on changing what is in this folder; end them and delete it then"
                raise Problem("busy", words) from error
            if error.errno == errno.ENOTEMPTY:
                return
            # If something else has the folder's name now, the next look at the folder above finds that.
        os.close(self._levels.pop().descriptor)


def deletion(path: str, top: Entry, over: Callable[[], bool]) -> Deed:
    """Delete a folder with all that is in it; takes over ``top.folder``. ``done`` is false if time was over before."""
    work = _Deletion(over)
    done = True
    try:
        yield from work.steps(top)
    except _TimeIsOver:
        done = False
    except OSError as error:
        raise problem(error, f"{path}/{work.way}".rstrip("/")) from error
    finally:
        work.close()
        os.close(top.folder)
    return {"deleted": work.deleted, "done": done}, b""


def _enter(entry: Entry, more: int = 0) -> _Level:
    return _Level(entry, linux.openat2(entry.folder, entry.name, _FOLDER, NO_LINKS | more))
