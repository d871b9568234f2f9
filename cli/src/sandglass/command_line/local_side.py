"""The side of a copy that is this machine: what is read, and where a download may go."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from sandglass.core import copies
from sandglass.core.copies import FileCopy, Place
from sandglass.core.journal import Stamp
from sandglass.core.local_names import is_odd
from sandglass.errors import ConfigurationError


def local_files(local: Path, base: str) -> tuple[list[FileCopy], list[str], list[str], list[str]]:
    """The files of this machine that are copied to `base`, its folders, the links and odd names that are left out."""
    if local.is_file():
        return [_file_copy(local, base)], [], [], []
    found, folders, left_out, odd = [], [base], [], []
    for folder, names, file_names in os.walk(local):
        relative = Path(folder).relative_to(local).as_posix()
        odd += [str(Path(folder) / name) for name in names + file_names if is_odd(name)]
        names[:] = [name for name in names if not is_odd(name)]
        for name in [*names, *(name for name in file_names if not is_odd(name))]:
            path = Path(folder) / name
            inside = copies.joined(base, "" if relative == "." else relative, name)
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                left_out.append(str(path))
            elif path.is_dir():
                folders.append(inside)
            else:
                found.append(_file_copy(path, inside))
        if len(found) + len(folders) > copies.MOST_FILES:
            raise ConfigurationError(
                f"{local} has more than {copies.MOST_FILES} files and folders: pack them into one file"
            )
    return found, folders, left_out, odd


def _file_copy(local: Path, target: str) -> FileCopy:
    found = local.stat()
    return FileCopy(str(local), target, found.st_size, str(found.st_mtime_ns))


def existing(path: str) -> tuple[Path, str]:
    """A file or folder of this machine, and its name."""
    local = Path(path)
    if not local.exists():
        raise ConfigurationError(f"{local}: there is no such file or folder")
    return local, local.resolve().name


def open_local(path: str) -> BinaryIO:
    """A file of this machine, to be read."""
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None


def local_target(source: Place, target: Place) -> Path:
    """Where a download goes."""
    local = Path(target.path)
    if target.is_folder_by_name or local.is_dir():
        if is_odd(source.name):
            raise ConfigurationError(f"{source.name!r} is no name that is taken here: give TARGET a name of its own")
        return local / source.name if source.name else local
    return local


def below(base: Path, place: Path) -> Path:
    """The place, if no link of this machine leads it out of the folder that was named."""
    try:
        is_below = place.resolve().is_relative_to(base.resolve())
    except (OSError, RuntimeError):
        is_below = False
    if not is_below:
        raise ConfigurationError(f"{place} leads out of {base} by a link: remove the link, or name another target")
    return place


def make_folders(folders: Iterable[Path]) -> None:
    """Makes folders of this machine."""
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"{folder}: {error.strerror}") from None


def stamp_of(path: str) -> Stamp | None:
    """The file at a path, links not followed; None if there is none."""
    try:
        found = Path(path).lstat()
    except OSError:
        return None
    return Stamp(found.st_size, str(found.st_mtime_ns))


def sum_of(path: str, size: int) -> str:
    """The SHA-256 of the first bytes of a file; empty if it has less."""
    found = hashlib.sha256()
    with open_local(path) as file:
        while size and (data := file.read(min(size, 1024 * 1024))):
            found.update(data)
            size -= len(data)
    return "" if size else found.hexdigest()
