"""`cp`: files and folders between this machine and a sandbox."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, BinaryIO, TypeVar

import typer

from sandglass.async_sandbox import walk
from sandglass.command_line.common import Namespace, note, settings, where
from sandglass.core import copies, files
from sandglass.core.copies import FileCopy, Place
from sandglass.core.local_names import is_odd
from sandglass.core.runs import Steps, Where
from sandglass.errors import ConfigurationError, ToolError
from sandglass.part_file import PartFile
from sandglass.terminal.table import bytes_of
from sandglass.terminal.text import line
from sandglass.wire.client import AsyncClient

T = TypeVar("T")
AT_ONCE = 8
_NAMED = 5
_ODD = "since the other side takes such names for something else"
Report = Callable[[int], None]


def cp(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A path, or SANDBOX:PATH.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The other side; a folder takes the source in.")],
    namespace: Namespace = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Copies a file, or a folder with all that is in it, into a sandbox or out of it.

    For example: sandglass cp data my-work:data. Paths in a sandbox begin at /workspace. What is there is written over.
    Links are left out. After a broken connection the copy goes on where it was.
    """
    from_place, to_place = copies.sides(source, target)
    asyncio.run(_copy(from_place, to_place, namespace, quiet))


async def _copy(source: Place, target: Place, namespace: str | None, quiet: bool) -> None:
    found = settings(namespace)
    client = AsyncClient(found)
    try:
        side = Side(client, where(found, source.sandbox or target.sandbox or ""))
        if target.sandbox is not None:
            await Upload(side).copy(source, target, quiet)
        else:
            await Download(side).copy(source, target, quiet)
    finally:
        await client.close()


class Side:
    """The sandbox of a copy, which is asked for some pieces at a time: the endpoint lets few wait."""

    def __init__(self, client: AsyncClient, box: Where) -> None:
        self.box = box
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

    async def copy(self, source: Place, target: Place, quiet: bool) -> None:
        """Copies a file or a folder."""
        local, name = existing(source.path)
        base = await self._base(name, target)
        found, folders, left_out, odd = local_files(local, base)
        for folder in folders:
            await self._side.walk(files.make_folder(self._box, folder))
        _tell_left_out("since they are no files or folders", left_out)
        _tell_left_out(_ODD, odd)
        with Progress(found, quiet) as progress:
            await each_of(found, lambda one: self._send(one, progress.advance))

    async def _base(self, name: str, target: Place) -> str:
        is_folder = target.is_folder_by_name
        if not is_folder:
            # Nothing is there, most of the time: then the target is the new name.
            with suppress(ToolError):
                is_folder = (await self._side.walk(files.stat(self._box, target.path))).type == "folder"
        return copies.joined(target.path.removesuffix("."), name) if is_folder else target.path

    async def _send(self, one: FileCopy, report: Report) -> None:
        with open_local(one.source) as file:
            done = 0
            while piece := file.read(files.PIECE_BYTES):
                await self._side.walk(files.write_piece(self._box, one.target, piece, done or None))
                done += len(piece)
                report(len(piece))
            if not done:
                await self._side.walk(files.write_piece(self._box, one.target, b"", None))


class Download:
    """Out of a sandbox."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._box = side.box

    async def copy(self, source: Place, target: Place, quiet: bool) -> None:
        """Copies a file or a folder."""
        entry = await self._side.walk(files.stat(self._box, source.path or "/workspace"))
        local = local_target(source, target)
        base = Path(target.path)
        if entry.type != "folder":
            found: tuple[FileCopy, ...] = (FileCopy(source.path, str(below(base, local)), entry.size or 0),)
        else:
            listed = await self._side.walk(files.list_folder(self._box, source.path, recursive=True))
            chosen = copies.downloads(source.path, listed)
            chosen_folders = [below(base, local / folder) for folder in ("", *chosen.folders)]
            found = tuple(FileCopy(one.source, str(below(base, local / one.target)), one.size) for one in chosen.files)
            make_folders(chosen_folders)
            _tell_left_out("since they are no files or folders", chosen.left_out)
            _tell_left_out(_ODD, chosen.odd)
        with Progress(found, quiet) as progress:
            await each_of(found, lambda one: self._fetch(one, progress.advance))

    async def _fetch(self, one: FileCopy, report: Report) -> None:
        most = copies.most_bytes(one.size)
        with PartFile(Path(one.target), most) as part:
            first = await self._side.walk(files.read_piece(self._box, one.source, 0))
            if first.size > most:
                raise ToolError(
                    f"{one.source}: it was listed with {one.size} bytes and has {first.size}; copy it again"
                )
            part.write(first.data, 0)
            report(len(first.data))
            offsets = range(len(first.data), first.size, files.PIECE_BYTES) if first.data else ()

            async def fetch(offset: int) -> None:
                length = min(files.PIECE_BYTES, first.size - offset)
                piece = await self._side.walk(files.read_piece(self._box, one.source, offset, length))
                if len(piece.data) != length:
                    raise ToolError(f"{one.source}: it changed while it was copied; copy it again")
                part.write(piece.data, offset)
                report(length)

            await each_of(offsets, fetch)


class Progress:
    """A bar on standard error, if that is a terminal, and a line at the end."""

    def __init__(self, found: Iterable[FileCopy], quiet: bool) -> None:
        sizes = [one.size for one in found]
        self._count, self._total, self._done = len(sizes), sum(sizes), 0
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
            note(f"copied {self._count} {'file' if self._count == 1 else 'files'}, {bytes_of(self._done)}")

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


def local_files(local: Path, base: str) -> tuple[list[FileCopy], list[str], list[str], list[str]]:
    """The files of this machine that are copied to `base`, its folders, the links and odd names that are left out."""
    if local.is_file():
        return [FileCopy(str(local), base, local.stat().st_size)], [], [], []
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
                found.append(FileCopy(str(path), inside, path.stat().st_size))
        if len(found) + len(folders) > copies.MOST_FILES:
            raise ConfigurationError(
                f"{local} has more than {copies.MOST_FILES} files and folders: pack them into one file"
            )
    return found, folders, left_out, odd


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


def _tell_left_out(why: str, paths: Iterable[str]) -> None:
    left_out = list(paths)
    if left_out:
        more = f" and {len(left_out) - _NAMED} more" if len(left_out) > _NAMED else ""
        note(f"left out, {why}: {', '.join(line(path) for path in left_out[:_NAMED])}{more}")
