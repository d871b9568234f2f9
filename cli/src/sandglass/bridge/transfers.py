"""`upload_file` and `download_file`: the tools of ipybox's older generation that need this machine's disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sandglass.async_sandbox import walk
from sandglass.bridge import messages
from sandglass.bridge.messages import Incoming
from sandglass.core import copies, files, local_names
from sandglass.core.runs import Where
from sandglass.part_file import PartFile
from sandglass.wire.client import AsyncClient

Write = Callable[[bytes], None]
_MAX_PATH_CHARS = 4096


def definition(name: str, purpose: str) -> dict[str, Any]:
    """A tool as it is listed."""
    properties = {
        "relpath": {"type": "string", "description": "Path of the file in the sandbox, relative to /workspace"},
        "local_path": {"type": "string", "description": "Path of the file on this machine"},
    }
    schema = {"type": "object", "properties": properties, "required": ["relpath", "local_path"]}
    return {"name": name, "description": purpose, "inputSchema": schema}


def default_dirs() -> tuple[Path, ...]:
    """The folders that are open if none are named: the home folder and that for temporary files."""
    temporary = Path(tempfile.gettempdir())
    try:
        return Path.home(), temporary
    except RuntimeError:
        return (temporary,)


def guarded(local_path: str, allowed: Sequence[Path], deed: str) -> Path:
    """The path, links resolved; `PermissionError` if it is outside of the allowed folders.

    It is also outside if it is hidden below the home folder or that for temporary files, or holds settings there: keys
    are read there, and what is written there runs. A folder that was named within them is open as a whole.
    """
    try:
        resolved = Path(local_path).expanduser().resolve()
    except RuntimeError:
        raise ValueError(f"Not a path of this machine: {local_path}") from None
    wide = [folder.resolve() for folder in default_dirs()]
    is_hidden = False
    for folder in (each.expanduser().resolve() for each in allowed):
        if not resolved.is_relative_to(folder):
            continue
        inner = [each for each in wide if each.is_relative_to(folder)]
        if not inner or not _is_settings(resolved, folder, inner):
            return resolved
        is_hidden = True
    why = ": it is hidden, and --allowed-dir names no folder that holds it" if is_hidden else ""
    raise PermissionError(f"Path '{local_path}' is not within allowed directories for {deed}{why}")


def _is_settings(place: Path, folder: Path, wide: Sequence[Path]) -> bool:
    bases = [each for each in wide if place.is_relative_to(each)]
    return any(local_names.is_settings(place.relative_to(each).as_posix()) for each in bases or [folder])


class Transfers:
    """Moves files between this machine and one sandbox, in pieces."""

    def __init__(self, client: AsyncClient, where: Where, allowed: Sequence[Path]) -> None:
        self._client = client
        self._where = where
        self._allowed = tuple(allowed) or default_dirs()

    def tools(self) -> dict[str, tuple[dict[str, Any], Any]]:
        """Both tools: how they are listed, and what answers them."""
        upload = definition("upload_file", "Copies a file of this machine into the sandbox.")
        download = definition("download_file", "Copies a file of the sandbox to this machine.")
        return {"upload_file": (upload, self._upload), "download_file": (download, self._download)}

    async def _upload(self, incoming: Incoming, write: Write) -> bytes:
        try:
            relpath, local_path = _paths(incoming)
            place = guarded(local_path, self._allowed, "upload")
            if not place.exists():
                raise FileNotFoundError(f"File not found: {local_path}")
            if not place.is_file():
                raise ValueError(f"Not a file: {local_path}")
            size = await self._send(place, relpath, incoming, write)
        except (OSError, ValueError) as problem:
            return _refused(incoming, problem)
        return messages.result(incoming, f"Uploaded {local_path} to {relpath}: {size} bytes.")

    async def _download(self, incoming: Incoming, write: Write) -> bytes:
        try:
            relpath, local_path = _paths(incoming)
            place = guarded(local_path, self._allowed, "download")
            size = await self._fetch(place, relpath, incoming, write)
        except (OSError, ValueError) as problem:
            return _refused(incoming, problem)
        return messages.result(incoming, f"Downloaded {relpath} to {local_path}: {size} bytes.")

    async def _send(self, place: Path, relpath: str, incoming: Incoming, write: Write) -> int:
        with place.open("rb") as file:
            total = os.fstat(file.fileno()).st_size
            done = 0
            while True:
                piece = file.read(files.PIECE_BYTES)
                if done and not piece:
                    return done
                await walk(self._client, files.write_piece(self._where, relpath, piece, done or None))
                done += len(piece)
                _report(incoming, write, done, total)
                if not piece:
                    return done

    async def _fetch(self, place: Path, relpath: str, incoming: Incoming, write: Write) -> int:
        piece = await walk(self._client, files.read_piece(self._where, relpath, 0))
        done = 0
        with PartFile(place, copies.most_bytes(piece.size)) as part:
            while True:
                part.write(piece.data, done)
                done += len(piece.data)
                _report(incoming, write, done, piece.size)
                if done >= piece.size or not piece.data:
                    return done
                piece = await walk(self._client, files.read_piece(self._where, relpath, done))


def _paths(incoming: Incoming) -> tuple[str, str]:
    found = []
    for name in ("relpath", "local_path"):
        value = incoming.arguments.get(name)
        if not isinstance(value, str) or not value or len(value) > _MAX_PATH_CHARS or "\0" in value:
            raise ValueError(f"'{name}' must be a path of 1 to {_MAX_PATH_CHARS} characters")
        found.append(value)
    return found[0], found[1]


def _report(incoming: Incoming, write: Write, done: int, total: int) -> None:
    line = messages.progress(incoming, done, total, f"{done} of {total} bytes")
    if line is not None:
        write(line)


def _refused(incoming: Incoming, problem: OSError | ValueError) -> bytes:
    words = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return messages.result(incoming, f"Error: {words}", is_error=True)
