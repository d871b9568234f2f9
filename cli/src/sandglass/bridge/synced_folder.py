"""A folder of this machine that is kept the same as a folder of the sandbox."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from sandglass.async_sandbox import walk
from sandglass.bridge.workspace import MOST_FILES, NEVER, Mark, Pair, changes, too_large
from sandglass.core import copies, files
from sandglass.core.runs import Where
from sandglass.errors import ConfigurationError, EndpointError, SandglassError, ToolError
from sandglass.part_file import PartFile
from sandglass.wire.client import AsyncClient

Warn = Callable[[str], None]


class SyncedFolder:
    """Copies what changed on either side; what both changed is told, and left as it is."""

    def __init__(self, client: AsyncClient, where: Where, here: Path, there: str, warn: Warn) -> None:
        self._client = client
        self._where = where
        self._here = here
        self._there = there
        self._warn = warn
        self._before: dict[str, Pair] = {}
        self._told: set[str] = set()
        self._turn = asyncio.Lock()

    async def sync(self) -> None:
        """Makes both sides the same; a side that cannot be read or written is told, and ends nothing."""
        async with self._turn:
            try:
                await self._sync()
            except (SandglassError, OSError) as error:
                self._tell(f"{self._here} is not the same as the sandbox's: {error}")

    async def _sync(self) -> None:
        here, there = local_marks(self._here), await self._remote_marks()
        why = too_large(here.values()) or too_large(there.values())
        if why:
            raise ConfigurationError(
                f"{why}; a claim of the cluster can be mounted instead ('volumes' of sandbox_start)"
            )
        wanted = changes(self._before, here, there)
        for path in wanted.up:
            await self._send(path)
        for path in wanted.down:
            await self._fetch(path)
        differing = set(wanted.conflicts)
        for path in wanted.compare:
            if await self._differs(path):
                differing.add(path)
        for path in sorted(differing):
            self._tell(f"{path} was changed here and in the sandbox: both are left as they are")
        if wanted.up or wanted.down:
            here, there = local_marks(self._here), await self._remote_marks()
        same = here.keys() & there.keys() - differing
        gone = self._before.keys() - same
        self._before = {path: self._before[path] for path in gone} | {
            path: Pair(here[path], there[path]) for path in same
        }

    async def _remote_marks(self) -> dict[str, Mark]:
        try:
            entries = await walk(self._client, files.list_folder(self._where, self._there, recursive=True))
        except ToolError:
            if not self._there:
                raise
            # The folder of a bind is made by its first file.
            await walk(self._client, files.make_folder(self._where, self._there))
            return {}
        found = copies.downloads("", entries).files
        marks = {entry.path: Mark(entry.size or 0, entry.modified) for entry in entries}
        return {one.target: marks[one.target] for one in found}

    async def _send(self, path: str) -> None:
        await walk(self._client, files.write(self._where, self._path(path), _read(self._here / path)))

    async def _fetch(self, path: str) -> None:
        data = await walk(self._client, files.read(self._where, self._path(path)))
        place = self._here / path
        # A link of this machine must not lead a file of the sandbox elsewhere.
        if not place.parent.resolve().is_relative_to(self._here.resolve()) or place.is_symlink():
            raise EndpointError(f"{path} leads out of the folder by a link, and is not written")
        with PartFile(place) as part:
            part.write(data, 0)

    async def _differs(self, path: str) -> bool:
        return await walk(self._client, files.read(self._where, self._path(path))) != _read(self._here / path)

    def _path(self, path: str) -> str:
        return copies.joined(self._there, path)

    def _tell(self, words: str) -> None:
        if words not in self._told:
            self._told.add(words)
            self._warn(words)


def local_marks(folder: Path) -> dict[str, Mark]:
    """The files below a folder of this machine; no links, and no .env."""
    found: dict[str, Mark] = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent) / name
            if name != NEVER and not path.is_symlink() and path.is_file():
                facts = path.stat()
                found[path.relative_to(folder).as_posix()] = Mark(facts.st_size, str(facts.st_mtime_ns))
        if len(found) > MOST_FILES:
            break
    return found


def _read(path: Path) -> bytes:
    return path.read_bytes()
