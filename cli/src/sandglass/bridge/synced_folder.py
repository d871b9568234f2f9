"""A folder of this machine that is kept the same as a folder of the sandbox."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeVar

from sandglass.async_sandbox import walk
from sandglass.bridge.deletions import Deletions, Remote
from sandglass.bridge.notes import Notes
from sandglass.bridge.workspace import MARKER, MOST_FILES, NAMED, Mark, Pair, SyncRules, changes, too_large
from sandglass.core import copies, files
from sandglass.core.local_names import is_apart, is_hidden, is_odd
from sandglass.core.runs import Steps, Where
from sandglass.errors import ConfigurationError, SandglassError, ToolError
from sandglass.part_file import PartFile
from sandglass.wire.client import AsyncClient

T = TypeVar("T")
Warn = Callable[[str], None]


@dataclass
class Local:
    """The files of a folder of this machine, and what of it is not copied."""

    marks: dict[str, Mark] = field(default_factory=dict)
    apart: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)


class SyncedFolder:
    """Copies what changed on either side; what both changed is told, and left as it is."""

    def __init__(self, client: AsyncClient, where: Where, here: Path, there: str, warn: Warn, rules: SyncRules) -> None:
        self._client = client
        self._where = where
        self._here = here
        self._there = there
        self._rules = rules
        self._before: dict[str, Pair] = {}
        self._marker: Mark | None = None
        self._notes = Notes(warn)
        self._deletions = Deletions(self._walk, where, here, self._path, warn)
        self._turn = asyncio.Lock()

    async def sync(self) -> None:
        """Makes both sides the same; a side that cannot be read or written is told, and ends nothing."""
        async with self._turn:
            try:
                await self._sync()
            except (SandglassError, OSError) as error:
                self._notes.tell(f"{self._here} is not the same as the sandbox's: {error}")
            except Exception as error:  # noqa: BLE001
                # The call that ran before it has an answer, which must reach the client.
                self._notes.tell(f"{self._here} is not the same as the sandbox's: {type(error).__name__} in the bridge")

    async def _sync(self) -> None:
        here, found = self._local_marks(), await self._remote()
        is_marked = await self._mark(found) if self._rules.with_deletions else False
        copied = self._deletions.copied
        staying = {path: None for path in found.marks if path not in here and path not in copied and self._stays(path)}
        there = {path: mark for path, mark in found.marks.items() if path not in staying}
        why = too_large(here.values()) or too_large(there.values())
        if why:
            raise ConfigurationError(
                f"{why}; a claim of the cluster can be mounted instead ('volumes' of sandbox_start)"
            )
        wanted = changes(self._before, here, there, self._rules.with_hidden, copied)
        failed = [path for path in wanted.up if not await self._send(path)]
        failed += [path for path in wanted.down if not await self._fetch(path, there[path].size)]
        copied |= {*wanted.up, *wanted.down} - {*failed}
        differing = {*wanted.conflicts, *[path for path in wanted.compare if await self._differs(path)]}
        self._tell_conflicts(differing, wanted.alike)
        self._tell_some("stay in the sandbox, since they are hidden or named as secrets", [*staying, *wanted.withheld])
        is_changed = bool(wanted.up or wanted.down)
        if self._rules.with_deletions and not is_marked:
            is_changed = True
        elif self._rules.with_deletions:
            is_changed |= await self._deletions.in_sandbox(wanted.gone_here, self._before)
            is_changed |= self._deletions.here(wanted.gone_there, self._before, found)
        if is_changed:
            here, found = self._local_marks(), await self._remote()
            self._marker = found.marker
        there = found.marks
        same = here.keys() & there.keys() - differing - {*failed, *wanted.withheld, *chain.from_iterable(wanted.alike)}
        gone = {path for path in self._before.keys() - same if path in here or path in there}
        self._before = {path: self._before[path] for path in gone} | {
            path: Pair(here[path], there[path]) for path in same
        }

    async def _mark(self, there: Remote) -> bool:
        """Whether the folder has its marker; a folder without it is a new one, to which all is copied again."""
        if self._marker is not None and there.marker != self._marker:
            self._before = {}
            self._deletions.copied.clear()
        if there.marker is not None:
            self._marker = there.marker
            return True
        with suppress(ToolError):
            await self._walk(files.write(self._where, self._path(MARKER), b""))
        return False

    def _tell_conflicts(self, differing: Iterable[str], alike: Iterable[tuple[str, ...]]) -> None:
        for path in sorted(differing):
            self._notes.tell(f"{path} was changed here and in the sandbox: both are left as they are")
        for paths in alike:
            self._notes.tell(
                f"{' and '.join(paths[:NAMED])} are one name where case does not count: none of them is copied"
            )

    def _stays(self, path: str) -> bool:
        return is_apart(path) or (is_hidden(path) and not self._rules.with_hidden)

    def _local_marks(self) -> dict[str, Mark]:
        if not self._here.is_dir():
            raise ConfigurationError("it is no longer there")
        found = local_files(self._here)
        self._tell_some("not copied to the sandbox", found.apart)
        self._tell_some("left out, since a sandbox or a terminal takes such names for something else", found.odd)
        return found.marks

    async def _remote(self) -> Remote:
        try:
            entries = await self._walk(files.list_folder(self._where, self._there, recursive=True))
        except ToolError:
            if not self._there:
                raise
            # The folder of a bind is made by its first file.
            await self._walk(files.make_folder(self._where, self._there))
            return Remote()
        found = copies.downloads("", (entry for entry in entries if entry.path != MARKER))
        self._tell_some("left in the sandbox, since this machine takes such names for something else", found.odd)
        marks = {entry.path: Mark(entry.size or 0, entry.modified) for entry in entries}
        kinds = {entry.path: entry.type for entry in entries}
        return Remote({one.target: marks[one.target] for one in found.files}, kinds, marks.get(MARKER))

    async def _send(self, path: str) -> bool:
        try:
            data = _read(self._here / path)
        except OSError as error:
            self._notes.tell(f"{path} is not copied: {error.strerror}")
            return False
        await self._walk(files.write(self._where, self._path(path), data))
        return True

    async def _fetch(self, path: str, listed: int) -> bool:
        data = await self._walk(files.read(self._where, self._path(path)))
        place = self._here / path
        try:
            # A link of this machine must not lead a file of the sandbox elsewhere.
            if not place.parent.resolve().is_relative_to(self._here.resolve()) or place.is_symlink():
                raise ConfigurationError(f"{path} leads out of the folder by a link, and is not written")
            with PartFile(place, copies.most_bytes(listed)) as part:
                part.write(data, 0)
        except (SandglassError, OSError, RuntimeError) as error:
            self._notes.tell(str(error))
            return False
        return True

    async def _differs(self, path: str) -> bool:
        return await self._walk(files.read(self._where, self._path(path))) != _read(self._here / path)

    async def _walk(self, steps: Steps[T]) -> T:
        return await walk(self._client, steps)

    def _path(self, path: str) -> str:
        return copies.joined(self._there, path)

    def _tell_some(self, words: str, paths: Iterable[str]) -> None:
        """Tells it of the first that are found: others may come with every call."""
        found = list(paths)
        if found:
            more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
            self._notes.tell(words, f"{words}: {', '.join(found[:NAMED])}{more}")


def local_files(folder: Path) -> Local:
    """The files below a folder of this machine; no links, and nothing that is copied in neither direction."""
    found = Local()
    for parent, folders, names in os.walk(folder):
        base = Path(parent).relative_to(folder)
        folders[:] = [name for name in folders if _goes(found, (base / name).as_posix(), is_folder=True)]
        for name in names:
            path, relative = Path(parent) / name, (base / name).as_posix()
            if not path.is_symlink() and path.is_file() and _goes(found, relative):
                facts = path.stat()
                found.marks[relative] = Mark(facts.st_size, str(facts.st_mtime_ns))
        if len(found.marks) > MOST_FILES:
            break
    return found


def _goes(found: Local, path: str, is_folder: bool = False) -> bool:
    # Of a folder, only what begins with a dot is kept apart as a whole: `id_maps/` holds no key.
    if path == MARKER:
        return False
    if is_apart(path + "/-" if is_folder else path):
        found.apart.append(path)
        return False
    if is_odd(path):
        found.odd.append(path)
        return False
    return True


def _read(path: Path) -> bytes:
    return path.read_bytes()
