"""Writes a server's folder, whole or not at all, and the package beside it. Follows no symbolic link in it."""

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

_HERE = Path(__file__).parent
RUNTIME = _HERE / "mcptools"
NODE = _HERE / "mcptools_node"
_KINDS = frozenset({".py", ".js", ".ts", ".json"})


class Unwritable(Exception):
    """The folder cannot be written; the message says why and what to do."""


def write(folder: Path, server: str, files: dict[str, str], runtime: Path = RUNTIME) -> None:
    """Put the files into ``folder/server`` in place of what is there, and the package's own files into ``folder``."""
    try:
        _prepare(folder)
        for file in sorted(file for file in runtime.iterdir() if file.suffix in _KINDS):
            _refresh(folder / file.name, file.read_bytes())
        _replace(folder, server, files)
    except OSError as error:
        raise Unwritable(f"{error.filename or folder}: {error.strerror or error}") from None


def link(place: Path, target: Path) -> None:
    """Make ``place`` a link to the folder ``target``. What is there already stays, if it is not that link."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        wanted = os.path.relpath(target.resolve(), place.parent.resolve())
        try:
            place.symlink_to(wanted)
        except FileExistsError:
            if not place.is_symlink() or os.readlink(place) != wanted:
                raise Unwritable(f"{place} is another: rename or remove it, and register the server again") from None
    except OSError as error:
        raise Unwritable(f"{error.filename or place}: {error.strerror or error}") from None


def _prepare(folder: Path) -> None:
    with suppress(FileExistsError):
        folder.mkdir(parents=True)
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise Unwritable(f"{folder} is no folder: rename or remove it, and register the server again")


def _refresh(file: Path, data: bytes) -> None:
    """Write a file if its text differs. Others may read it meanwhile, so it is replaced."""
    with suppress(OSError):
        if stat.S_ISREG(file.lstat().st_mode) and file.read_bytes() == data:
            return
    _remove(file) if file.is_dir() and not file.is_symlink() else None
    descriptor, name = tempfile.mkstemp(prefix=".new-", dir=file.parent)
    with open(descriptor, "wb") as new:
        new.write(data)
    _open_to_others(name, 0o666)
    os.replace(name, file)


def _replace(folder: Path, server: str, files: dict[str, str]) -> None:
    for left in folder.glob(f".[no]??-{server}-*"):
        _remove(left)
    new = Path(tempfile.mkdtemp(prefix=f".new-{server}-", dir=folder))
    old = Path(tempfile.mkdtemp(prefix=f".old-{server}-", dir=folder))
    place = folder / server
    try:
        for name, text in files.items():
            _write(new / name, text.encode())
        _open_to_others(new, 0o777)
        with suppress(FileNotFoundError):
            place.rename(old / "was")
        try:
            new.rename(place)
        except OSError:
            (old / "was").rename(place)
            raise
    finally:
        _remove(new)
        _remove(old)


def _write(file: Path, data: bytes) -> None:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666), "wb") as new:
        new.write(data)


def _open_to_others(path: "str | Path", mode: int) -> None:
    """The rights that a new file would have: those of temporary ones are narrower."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, mode & ~mask)


def _remove(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
