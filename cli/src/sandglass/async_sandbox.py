"""A sandbox, for programs with coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

from sandglass.config import file as configuration
from sandglass.config.settings import Flags, checked_name
from sandglass.core import files, runs, sandboxes
from sandglass.core.facts import Entry, Execution, Port
from sandglass.core.runs import AsyncWalk, Code, Command, Listener, OnOutput, Steps, Where
from sandglass.errors import SandglassError
from sandglass.sandbox import new_name
from sandglass.wire.client import AsyncClient

T = TypeVar("T")


async def walk(client: AsyncClient, steps: Steps[T]) -> T:
    """Makes the calls of steps, one after the other."""
    try:
        call = next(steps)
        while True:
            try:
                answer = await client.call(call)
            except SandglassError as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


class AsyncSandbox:
    """The same as `Sandbox`, whose words hold here, with `async with` and `await`. Callbacks are plain functions."""

    def __init__(
        self,
        name: str | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        namespace: str | None = None,
        context: str | None = None,
        url: str | None = None,
        token: str | None = None,
    ) -> None:
        settings = configuration.settings(Flags(url, token, namespace, context))
        self.name = checked_name("sandbox", name) or new_name()
        self._keeps = name is not None
        self._config = config
        self._where = Where(self.name, settings.namespace)
        self._client = AsyncClient(settings)
        self.ports: tuple[Port, ...] = ()
        self.files = AsyncFiles(self._walk, self._where)
        self.commands = AsyncCommands(self._run)

    async def __aenter__(self) -> AsyncSandbox:
        try:
            await self.start()
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._keeps:
                with suppress(SandglassError):
                    await self.delete()
        finally:
            await self.close()

    async def start(self) -> None:
        """Starts it and waits until it can run code."""
        self.ports = (await self._walk(sandboxes.start(self._where, self._config))).ports

    async def stop(self) -> None:
        """Ends its processes; its configuration stays."""
        await self._walk(sandboxes.stop(self._where))

    async def delete(self) -> None:
        """Deletes it with its files."""
        await self._walk(sandboxes.stop(self._where, delete=True))

    async def close(self) -> None:
        """Ends the connections to the endpoint; the sandbox stays as it is."""
        await self._client.close()

    async def run_code(
        self,
        code: str,
        language: str = "python",
        *,
        session: str | None = None,
        timeout: float | None = None,
        envs: Mapping[str, str] | None = None,
        on_output: OnOutput | None = None,
    ) -> Execution:
        """Runs code to its end and returns what came of it. Cancelling it interrupts the code."""
        return await self._run(Code(code, language, session, timeout, envs), on_output)

    def stream_code(self, code: str, language: str = "python", **options: Any) -> AsyncCodeStream:
        """The same as an asynchronous iterator of the text that is printed; `result` has the execution at its end."""
        return AsyncCodeStream(lambda on_output: self._run(Code(code, language, **options), on_output))

    async def _run(self, work: Code | Command, on_output: OnOutput | None) -> Execution:
        started: list[str] = []
        try:
            return await self._walk(runs.run(work, self._where, Listener(started.append, on_output)))
        except BaseException as error:
            # Being cancelled, or an error in the callback, means the run; a broken connection does not.
            if started and not isinstance(error, SandglassError):
                with suppress(SandglassError):
                    await self._walk(runs.interrupt(self._where, started[0]))
            raise

    async def _walk(self, steps: Steps[T]) -> T:
        return await walk(self._client, steps)


class AsyncCommands:
    """The programs of a sandbox."""

    def __init__(self, run: Callable[[Command, OnOutput | None], Awaitable[Execution]]) -> None:
        self._run = run

    async def run(
        self,
        command: str | Sequence[str],
        *,
        cwd: str | None = None,
        stdin: str | None = None,
        timeout: float | None = None,
        envs: Mapping[str, str] | None = None,
        on_output: OnOutput | None = None,
    ) -> Execution:
        """Runs a program to its end: a list is a program with its arguments, a text is a command line for bash."""
        return await self._run(Command(command, cwd, stdin, timeout, envs), on_output)


class AsyncFiles:
    """The files of a sandbox. Paths are relative to /workspace, or absolute."""

    def __init__(self, walker: AsyncWalk, where: Where) -> None:
        self._walk = walker
        self._where = where

    async def read(self, path: str) -> bytes:
        """A whole file, up to 256 MiB."""
        return await self._walk(files.read(self._where, path))

    async def read_text(self, path: str) -> str:
        """The same as text in UTF-8."""
        return (await self.read(path)).decode()

    async def write(self, path: str, content: bytes | str) -> None:
        """Writes a whole file, and makes the folders on the way."""
        await self._walk(files.write(self._where, path, content.encode() if isinstance(content, str) else content))

    async def list(self, path: str = "", *, recursive: bool = False) -> tuple[Entry, ...]:
        """What is in a folder."""
        return await self._walk(files.list_folder(self._where, path, recursive))

    async def stat(self, path: str) -> Entry:
        """What is at a path."""
        return await self._walk(files.stat(self._where, path))

    async def make_folder(self, path: str) -> bool:
        """Makes a folder and those on the way; False if it was there."""
        return await self._walk(files.make_folder(self._where, path))

    async def move(self, path: str, to: str) -> None:
        """Moves or renames to a path that is free."""
        await self._walk(files.move(self._where, path, to))

    async def delete(self, path: str, *, recursive: bool = False) -> None:
        """Deletes a file, or a folder with all that is in it if `recursive`."""
        await self._walk(files.delete(self._where, path, recursive))


class AsyncCodeStream:
    """The output of code while it runs. Leaving it before its end interrupts the code: use it with `async with`."""

    def __init__(self, work: Callable[[OnOutput], Awaitable[Execution]]) -> None:
        self._work = work
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._task: asyncio.Task[Execution] | None = None

    async def __aenter__(self) -> AsyncCodeStream:
        self._begun()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        task = self._begun()
        if not task.done():
            task.cancel()
        with suppress(asyncio.CancelledError, SandglassError):
            await task

    async def __aiter__(self) -> AsyncIterator[str]:
        task = self._begun()
        while (piece := await self._pieces.get()) is not None:
            yield piece
        await task

    async def result(self) -> Execution:
        """The execution; waits for its end."""
        return await self._begun()

    def _begun(self) -> asyncio.Task[Execution]:
        if self._task is None:
            self._task = asyncio.create_task(self._follow())
        return self._task

    async def _follow(self) -> Execution:
        try:
            return await self._work(self._pieces.put_nowait)
        finally:
            self._pieces.put_nowait(None)
