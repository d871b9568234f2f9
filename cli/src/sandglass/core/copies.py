"""What a copy between this machine and a sandbox is made of. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from sandglass.core.facts import Entry
from sandglass.core.journal import Stamp
from sandglass.core.local_names import WINDOWS, is_odd
from sandglass.errors import ConfigurationError, EndpointError

MOST_FILES = 100_000
GROWTH_BYTES = 1024 * 1024
_REMOTE = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,62}):(.*)", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A file or folder; of this machine if `sandbox` is None."""

    sandbox: str | None
    path: str

    @property
    def is_folder_by_name(self) -> bool:
        """Whether it is written as a folder."""
        return self.path in ("", ".") or self.path.endswith(("/", "/."))

    @property
    def name(self) -> str:
        """Its last part; empty for the workspace itself and for `.` and `..`."""
        name = PurePosixPath(self.path.replace("\\", "/") if self.sandbox is None else self.path).name
        return "" if name == ".." else name


@dataclass(frozen=True)
class FileCopy:
    """One file of a copy: where it is read and written, its size, and when it was written last."""

    source: str
    target: str
    size: int
    modified: str = ""

    @property
    def stamp(self) -> Stamp:
        """By which a change of the source is seen."""
        return Stamp(self.size, self.modified)


@dataclass(frozen=True)
class Downloads:
    """What of a listing is copied: files, folders, and what is left out."""

    files: tuple[FileCopy, ...]
    folders: tuple[str, ...]
    left_out: tuple[str, ...]
    odd: tuple[str, ...] = ()
    """Left out for their names."""


def place(text: str) -> Place:
    """SANDBOX:PATH, else a path of this machine; a path with a colon of its own begins with ./ or /."""
    match = _REMOTE.fullmatch(text)
    return Place(None, text) if match is None else Place(match[1], match[2])


def sides(source: str, target: str) -> tuple[Place, Place]:
    """Both places, of which one is in a sandbox."""
    found = place(source), place(target)
    if (found[0].sandbox is None) == (found[1].sandbox is None):
        raise ConfigurationError("one of SOURCE and TARGET must be SANDBOX:PATH, and the other a path of this machine")
    return found


def joined(folder: str, *parts: str) -> str:
    """A path below a folder in a sandbox."""
    path = "/".join(part.strip("/") for part in (folder, *parts) if part.strip("/"))
    return f"/{path}" if folder.startswith("/") else path


def downloads(folder: str, entries: Iterable[Entry], windows: bool = WINDOWS) -> Downloads:
    """The files of a listing below `folder`. A sandbox is not trusted: no path of it may lead out of the target."""
    files, folders, left_out, odd = [], [], [], []
    for entry in entries:
        path = checked(entry.path)
        if is_odd(path, windows):
            odd.append(path)
        elif entry.type == "file":
            files.append(FileCopy(joined(folder, path), path, entry.size or 0, entry.modified))
        elif entry.type == "folder":
            folders.append(path)
        else:
            left_out.append(path)
    return Downloads(tuple(files), tuple(folders), tuple(left_out), tuple(odd))


def most_bytes(listed: int) -> int:
    """How much of a file is taken that was listed with a size: it may have grown, within reason."""
    return 2 * listed + GROWTH_BYTES


def checked(path: str) -> str:
    """A path of a listing, if it stays below the folder that was listed."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise EndpointError(f"the sandbox listed the path {path[:200]!r}, which is no file below its folder")
    return path
