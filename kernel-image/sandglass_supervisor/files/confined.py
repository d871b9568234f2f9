"""Paths that cannot leave the workspace and the mounted volumes: the operating system itself walks them.

Programs in the sandbox may change folders and links at any moment. So nothing is decided from a path's text: each walk
is one ``openat2`` below an open folder, and what is found is used by its descriptor.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from .. import linux
from ..limits import FILE_DEPTH, FILE_LINKS
from ..link.arguments import at_home
from ..link.wire import Problem
from ..processes.children import log

_INSIDE = linux.RESOLVE_BENEATH | linux.RESOLVE_NO_MAGICLINKS
NO_LINKS = _INSIDE | linux.RESOLVE_NO_SYMLINKS
# Of the image, which nobody can change: names under which code from elsewhere knows the workspace.
_LINKS = ("/app",)
_NOT_INSIDE = "leads out of {}: only what is below is touched, and links must stay there"


class Root(NamedTuple):
    """A folder below which everything may be touched."""

    path: str
    descriptor: int


class Spot(NamedTuple):
    """A path below a root; its parts may be links, and ``..``."""

    root: Root
    parts: tuple[str, ...]

    @property
    def below(self) -> str:
        """The way from the root."""
        return "/".join(self.parts) or "."


class Entry(NamedTuple):
    """A name in an open folder, whether there is something of that name or not."""

    folder: int
    name: str


class Confined:
    """The workspace and the volumes, opened once."""

    def __init__(self, workspace: str, volumes: Sequence[str] = (), links: Sequence[str] = _LINKS) -> None:
        self._roots: list[Root] = []
        self._workspace = workspace.rstrip("/")
        home = os.path.realpath(self._workspace)
        self._links = [link for link in links if os.path.islink(link) and os.path.realpath(link) == home]
        for path in (self._workspace, *volumes):
            try:
                self._roots.append(Root(path, os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)))
            except OSError as error:
                log("no-folder", path=path, error=error.strerror)
        # A volume may be mounted in the workspace: the longest path is the nearest root.
        self._roots.sort(key=lambda root: len(root.path), reverse=True)
        self._names = " and ".join(root.path for root in reversed(self._roots))
        self._lacking = self._probe()

    def close(self) -> None:
        """Let go of the folders."""
        for root in self._roots:
            os.close(root.descriptor)

    def _probe(self) -> bool:
        if not self._roots:
            return False
        try:
            os.close(linux.openat2(self._roots[0].descriptor, ".", os.O_PATH, _INSIDE))
        except OSError as error:
            return error.errno in (errno.ENOSYS, errno.EPERM)
        return False

    def spot(self, path: str) -> Spot:
        """Where ``path`` begins: a relative one in the workspace, an absolute one in the root that its text names.

        In a shell ``~`` is the workspace, too.
        """
        if self._lacking:
            raise Problem("not_supported", "this system has no openat2 (Linux 5.6), without which no file is touched")
        path = at_home(path, self._workspace)
        full = "/" + path.lstrip("/") if path.startswith("/") else f"{self._workspace}/{path}"
        for link in self._links:
            if full == link or full.startswith(link + "/"):
                full = self._workspace + full[len(link) :]
        for root in self._roots:
            if full == root.path or full.startswith(root.path + "/"):
                parts = tuple(part for part in full[len(root.path) :].split("/") if part not in ("", "."))
                if len(parts) > FILE_DEPTH:
                    raise Problem("too_long", f"'{shown(path)}' has more than {FILE_DEPTH} folders below each other")
                return Spot(root, parts)
        raise self._outside(path)

    def open(self, spot: Spot, flags: int) -> int:
        """Open what is there; raises OSError, or Problem if the way leaves the root."""
        given = spot
        for _ in range(FILE_LINKS):
            try:
                return linux.openat2(spot.root.descriptor, spot.below, flags, _INSIDE)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
            # The system refuses absolute links even if they lead back in. Their text only gives another way to try.
            spot = self._rewritten(spot, last=not flags & os.O_NOFOLLOW, given=given)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    @contextmanager
    def entry(self, path: str, *, follow: bool = False, make: bool = False) -> Iterator[Entry]:
        """The folder of ``path``, open, and the name in it.

        ``follow``: if a link has that name, what it leads to; ``make``: folders on the way are made, and removed again
        if the caller fails.
        """
        spot = self.spot(path)
        if follow:
            spot = self._followed(spot)
        if not spot.parts or spot.parts[-1] == "..":
            raise Problem("denied", f"'{shown(path)}' must name something below {self._names}")
        with self.folder(Spot(spot.root, spot.parts[:-1]), make=make) as folder:
            yield Entry(folder, spot.parts[-1])

    @contextmanager
    def folder(self, spot: Spot, *, make: bool) -> Iterator[int]:
        """An open folder; see ``entry``."""
        made: list[Entry] = []
        descriptor = self._made(spot, made) if make else self.open(spot, os.O_PATH | os.O_DIRECTORY)
        try:
            yield descriptor
        except BaseException:
            _unmake(made)
            raise
        finally:
            for entry in made:
                os.close(entry.folder)
            os.close(descriptor)

    def _made(self, spot: Spot, made: list[Entry]) -> int:
        try:
            return self.open(spot, os.O_PATH | os.O_DIRECTORY)
        except FileNotFoundError:
            pass
        above = self.open(Spot(spot.root, ()), os.O_PATH | os.O_DIRECTORY)
        try:
            for count, name in enumerate(spot.parts, start=1):
                here = Spot(spot.root, spot.parts[:count])
                try:
                    below = self.open(here, os.O_PATH | os.O_DIRECTORY)
                except FileNotFoundError:
                    os.mkdir(name, dir_fd=above)
                    made.append(Entry(os.dup(above), name))
                    below = self.open(here, os.O_PATH | os.O_DIRECTORY)
                os.close(above)
                above = below
        except BaseException:
            os.close(above)
            _unmake(made)
            for entry in made:
                os.close(entry.folder)
            raise
        return above

    def _followed(self, spot: Spot) -> Spot:
        given = spot
        for _ in range(FILE_LINKS):
            try:
                descriptor = self.open(spot, os.O_PATH | os.O_NOFOLLOW)
            except FileNotFoundError:
                return spot
            try:
                if not stat.S_ISLNK(os.fstat(descriptor).st_mode):
                    return spot
            finally:
                os.close(descriptor)
            spot = self._rewritten(spot, last=True, given=given)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _rewritten(self, spot: Spot, *, last: bool, given: Spot) -> Spot:
        """The same way with the text of its first link in place of the link."""
        for index in range(len(spot.parts) if last else len(spot.parts) - 1):
            way = Spot(spot.root, spot.parts[: index + 1])
            try:
                descriptor = linux.openat2(spot.root.descriptor, way.below, os.O_PATH | os.O_NOFOLLOW, _INSIDE)
            except OSError as error:
                if error.errno == errno.EXDEV:
                    break
                raise
            try:
                if not stat.S_ISLNK(os.fstat(descriptor).st_mode):
                    continue
                target = os.readlink("", dir_fd=descriptor)
            finally:
                os.close(descriptor)
            if not target.startswith("/"):
                target = "/".join((spot.root.path, *spot.parts[:index], target))
            try:
                return self.spot("/".join((target, *spot.parts[index + 1 :])))
            except Problem as problem:
                if problem.code != "outside":
                    raise
                break
        raise self._outside(f"{given.root.path}/{given.below}")

    def _outside(self, path: str) -> Problem:
        return Problem("outside", f"'{shown(path)}' " + _NOT_INSIDE.format(self._names or "the workspace"))


def _unmake(made: Sequence[Entry]) -> None:
    for entry in reversed(made):
        try:
            os.rmdir(entry.name, dir_fd=entry.folder)
        except OSError:
            return


def shown(path: str) -> str:
    """A path as text that every reader takes: bytes that are no UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


_WORDS: dict[int, tuple[str, str]] = {
    errno.ENOENT: ("not_found", "there is no file or folder '{}'"),
    errno.EISDIR: ("not_a_file", "Not a file: '{}' is a folder"),
    errno.ENXIO: ("not_a_file", "Not a file: '{}' is a pipe, a socket or a device"),
    errno.ENOTDIR: ("not_a_folder", "Not a folder: '{}', or a part of it, is a file"),
    errno.EEXIST: ("exists", "there is a '{}' already; delete it first, or choose another name"),
    errno.ENOTEMPTY: ("not_empty", "folder '{}' is not empty; give 'recursive' to delete all that is in it"),
    errno.EACCES: ("denied", "no permission for '{}': its mode, or that of its folder, forbids it"),
    errno.EPERM: ("denied", "no permission for '{}': its mode, or that of its folder, forbids it"),
    errno.EROFS: ("read_only", "'{}' is on a volume that can only be read"),
    errno.ENOSPC: ("full", "no space left to write '{}': delete files that are not needed, or use a larger disk"),
    errno.EDQUOT: ("full", "no space left to write '{}': delete files that are not needed, or use a larger disk"),
    errno.EFBIG: ("full", "'{}' would be larger than a file may be here"),
    errno.ENAMETOOLONG: ("too_long", "a name in '{}' has more than 255 bytes"),
    errno.ELOOP: ("outside", "'{}' goes along links in a circle, or into the system's own"),
    errno.EXDEV: ("other_volume", "'{}' is on another volume: copy it by a command, then delete it"),
    errno.EBUSY: ("busy", "'{}' is in use by the system, for example as a place where a volume is mounted"),
    errno.ETXTBSY: ("busy", "'{}' is a program that runs"),
    errno.EAGAIN: ("busy", "'{}' is being changed or locked by a program; try again"),
    errno.EMFILE: ("busy", "too many files are open to open '{}'; try again"),
    errno.ENFILE: ("busy", "too many files are open to open '{}'; try again"),
}


def problem(error: OSError, path: str) -> Problem:
    """What a failure of the system means to whoever asked for ``path``."""
    code, words = _WORDS.get(error.errno or 0, ("io", "'{}': the system says: " + str(error.strerror)))
    return Problem(code, words.format(shown(path)))


@contextmanager
def telling(path: str) -> Iterator[None]:
    """Turns failures of the system into Problems that name ``path``."""
    try:
        yield
    except OSError as error:
        raise problem(error, path) from error
