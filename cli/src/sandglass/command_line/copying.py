"""`cp`: files and folders between this machine and a sandbox."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from sandglass.async_sandbox import walk
from sandglass.command_line.common import Namespace, note, settings, where
from sandglass.command_line.copy_journal import CopyJournal, place_of, remove_old
from sandglass.command_line.local_side import (
    below,
    existing,
    local_files,
    local_target,
    make_folders,
    open_local,
    stamp_of,
    sum_of,
)
from sandglass.config import file as configuration
from sandglass.config.settings import Settings
from sandglass.core import copies, files
from sandglass.core.copies import FileCopy, Place
from sandglass.core.journal import gaps
from sandglass.core.runs import Steps, Where
from sandglass.errors import ToolError
from sandglass.part_file import PartFile, is_cut
from sandglass.terminal.table import bytes_of
from sandglass.terminal.text import line
from sandglass.wire.client import AsyncClient

T = TypeVar("T")
AT_ONCE = 8
_NAMED = 5
_ODD = "since the other side takes such names for something else"
_CHANGED = "it changed while it was copied; copy it again"
Report = Callable[[int], None]


def cp(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A path here, or SANDBOX:PATH.")],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="The other side. Into a folder that is there, the source is copied under its name."
        ),
    ],
    namespace: Namespace = None,
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Go on with the same copy where it was cut, or start over.")
    ] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Copies files and folders into a sandbox, or out of it.

    For example: sandglass cp data box:data, and back: sandglass cp box:result.csv result.csv. Paths in a sandbox begin
    at /workspace. What is there is written over. Links are left out. After a broken connection the copy goes on where
    it was. If it was cut, the same command goes on with what did not change.
    """
    from_place, to_place = copies.sides(source, target)
    asyncio.run(_copy(from_place, to_place, namespace, Wishes(resume, quiet)))


@dataclass(frozen=True)
class Wishes:
    """What was said on the command line."""

    resumes: bool
    quiet: bool


async def _copy(source: Place, target: Place, namespace: str | None, wishes: Wishes) -> None:
    found = settings(namespace)
    journal = _journal(found, source, target, wishes.resumes)
    client = AsyncClient(found)
    try:
        side = Side(client, where(found, source.sandbox or target.sandbox or ""), journal)
        if target.sandbox is not None:
            await Upload(side).copy(source, target, wishes.quiet)
        else:
            await Download(side).copy(source, target, wishes.quiet)
        journal.forget()
    except BaseException as error:
        if journal.is_kept and is_cut(type(error)):
            note("the copy was cut: the same command goes on where it ended")
        raise
    finally:
        journal.close()
        await client.close()


def _journal(found: Settings, source: Place, target: Place, resumes: bool) -> CopyJournal:
    folder = configuration.state() / "copies"
    remove_old(folder)
    named = [name for each in (source, target) for name in (each.sandbox or "", each.path)]
    journal = CopyJournal(place_of(folder, [found.url, found.namespace or "", str(Path.cwd()), *named]))
    if not resumes:
        journal.forget()
    return journal


class Side:
    """The sandbox of a copy, which is asked for some pieces at a time: the endpoint lets few wait."""

    def __init__(self, client: AsyncClient, box: Where, journal: CopyJournal) -> None:
        self.box = box
        self.journal = journal
        self._client = client
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def walk(self, steps: Steps[T]) -> T:
        """Makes the calls of steps."""
        async with self._turns:
            return await walk(self._client, steps)


class Upload:
    """Into a sandbox."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._box = side.box
        self._journal = side.journal

    async def copy(self, source: Place, target: Place, quiet: bool) -> None:
        """Copies a file or a folder."""
        local, name = existing(source.path)
        base = self._journal.base(await self._base(name, target))
        found, folders, left_out, odd = local_files(local, base)
        for folder in folders:
            await self._side.walk(files.make_folder(self._box, folder))
        _tell_left_out("since they are no files or folders", left_out)
        _tell_left_out(_ODD, odd)
        there = await self._there(found)
        with Progress(found, quiet) as progress:
            await each_of(found, lambda one: self._send(one, there.get(one.target, 0), progress))

    async def _there(self, found: Iterable[FileCopy]) -> dict[str, int]:
        """How many bytes of each file an earlier start brought; the sandbox's own sums say whether they still count."""
        asked: dict[str, tuple[FileCopy, int]] = {}
        for one in found:
            if self._journal.is_whole(one.target, one.stamp):
                asked[one.target] = one, one.size
            elif self._journal.unfinished(one.target, one.stamp) is not None:
                with suppress(ToolError):
                    size = (await self._side.walk(files.stat(self._box, one.target))).size or 0
                    if 0 < size <= one.size:
                        asked[one.target] = one, size
        try:
            sums = await self._side.walk(files.sums(self._box, asked)) if asked else {}
        except ToolError:
            # No program can be run there: all is sent again.
            return {}
        return {path: size for path, (one, size) in asked.items() if sums.get(path) == sum_of(one.source, size)}

    async def _base(self, name: str, target: Place) -> str:
        is_folder = target.is_folder_by_name
        if not is_folder:
            # Nothing is there, most of the time: then the target is the new name.
            with suppress(ToolError):
                is_folder = (await self._side.walk(files.stat(self._box, target.path))).type == "folder"
        return copies.joined(target.path.removesuffix("."), name) if is_folder else target.path

    async def _send(self, one: FileCopy, there: int, progress: Progress) -> None:
        if there != one.size or not there:
            self._journal.begun(one.target, one.stamp)
        with open_local(one.source) as file:
            done = file.seek(there)
            progress.keep(there)
            while piece := file.read(files.PIECE_BYTES):
                await self._side.walk(files.write_piece(self._box, one.target, piece, done or None))
                done += len(piece)
                progress.advance(len(piece))
            if not done:
                await self._side.walk(files.write_piece(self._box, one.target, b"", None))
        self._journal.whole(one.target, one.stamp)


class Download:
    """Out of a sandbox."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._box = side.box
        self._journal = side.journal

    async def copy(self, source: Place, target: Place, quiet: bool) -> None:
        """Copies a file or a folder."""
        entry = await self._side.walk(files.stat(self._box, source.path or "/workspace"))
        local = Path(self._journal.base(str(local_target(source, target))))
        base = Path(target.path)
        if entry.type != "folder":
            one = FileCopy(source.path, str(below(base, local)), entry.size or 0, entry.modified)
            found: tuple[FileCopy, ...] = (one,)
        else:
            listed = await self._side.walk(files.list_folder(self._box, source.path, recursive=True))
            chosen = copies.downloads(source.path, listed)
            chosen_folders = [below(base, local / folder) for folder in ("", *chosen.folders)]
            found = tuple(replace(one, target=str(below(base, local / one.target))) for one in chosen.files)
            make_folders(chosen_folders)
            _tell_left_out("since they are no files or folders", chosen.left_out)
            _tell_left_out(_ODD, chosen.odd)
        with Progress(found, quiet) as progress:
            await each_of(found, lambda one: self._fetch(one, progress))

    async def _fetch(self, one: FileCopy, progress: Progress) -> None:
        there = stamp_of(one.target)
        if there is not None and self._journal.is_whole(one.target, one.stamp, there):
            progress.keep(one.size)
            return
        earlier = self._journal.unfinished(one.target, one.stamp)
        most = copies.most_bytes(one.size)
        with PartFile(Path(one.target), most, earlier.part if earlier else None, self._journal.keeps) as part:
            kept = part.kept(earlier.pieces, one.size) if earlier is not None else {}
            if part.is_new:
                self._journal.begun(one.target, one.stamp, part.part)
            progress.keep(sum(kept.values()))
            await self._fetch_rest(one, part, kept, progress)
        self._journal.whole(one.target, one.stamp, stamp_of(one.target))

    async def _fetch_rest(self, one: FileCopy, part: PartFile, kept: dict[int, int], progress: Progress) -> None:
        def take(data: bytes, offset: int) -> None:
            part.write(data, offset)
            self._journal.piece(one.target, offset, data)
            progress.advance(len(data))

        begin = next(gaps(kept, one.size, files.PIECE_BYTES), (one.size, 0))[0] if kept else 0
        if kept and begin == one.size:
            return
        first = await self._side.walk(files.read_piece(self._box, one.source, begin))
        if first.size > copies.most_bytes(one.size):
            raise ToolError(f"{one.source}: it was listed with {one.size} bytes and has {first.size}; copy it again")
        if kept and first.size != one.size:
            raise ToolError(f"{one.source}: {_CHANGED}")
        take(first.data, begin)
        rest = gaps({**kept, begin: len(first.data)}, first.size, files.PIECE_BYTES) if first.data else ()

        async def fetch(gap: tuple[int, int]) -> None:
            offset, length = gap
            piece = await self._side.walk(files.read_piece(self._box, one.source, offset, length))
            if len(piece.data) != length:
                raise ToolError(f"{one.source}: {_CHANGED}")
            take(piece.data, offset)

        await each_of(rest, fetch)


class Progress:
    """A bar on standard error, if that is a terminal, and a line at the end."""

    def __init__(self, found: Iterable[FileCopy], quiet: bool) -> None:
        sizes = [one.size for one in found]
        self._count, self._total, self._done, self._kept = len(sizes), sum(sizes), 0, 0
        self._bar: object = None
        self._quiet = quiet
        self.advance: Report = self._count_on

    def __enter__(self) -> Progress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn
            from rich.progress import Progress as Bar

            bar = Bar(
                BarColumn(),
                DownloadColumn(True),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            task = bar.add_task("", total=self._total)
            bar.start()

            def advance(count: int) -> None:
                self._count_on(count)
                bar.advance(task, count)

            self.advance, self._bar = advance, bar
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()  # type: ignore[attr-defined]
        if kind is None and not self._quiet:
            kept = f"; {bytes_of(self._kept)} of it were there since the copy was cut" if self._kept else ""
            note(f"copied {self._count} {'file' if self._count == 1 else 'files'}, {bytes_of(self._done)}{kept}")

    def keep(self, count: int) -> None:
        """So many bytes are there since an earlier start."""
        self._kept += count
        self.advance(count)

    def _count_on(self, count: int) -> None:
        self._done += count


async def each_of(items: Iterable[T], work: Callable[[T], Awaitable[None]]) -> None:
    """Does some at a time; the first failure ends the others."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    tasks = [asyncio.create_task(worker()) for _ in range(AT_ONCE)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _tell_left_out(why: str, paths: Iterable[str]) -> None:
    left_out = list(paths)
    if left_out:
        more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        note(f"left out, {why}: {', '.join(line(path) for path in left_out[:_NAMED])}{more}")
