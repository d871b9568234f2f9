"""A sandbox, for programs with threads."""

from __future__ import annotations

import queue
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeVar

from sandglass.config import file as configuration
from sandglass.config.settings import Flags, checked_name
from sandglass.core import files, runs, sandboxes
from sandglass.core.facts import Entry, Execution, Port
from sandglass.core.runs import Code, Command, Listener, OnOutput, Steps, Walk, Where
from sandglass.errors import ConfigurationError, SandglassError
from sandglass.wire.client import Client

T = TypeVar("T")
_END_S = 10.0


def walk(client: Client, steps: Steps[T]) -> T:
    """Makes the calls of steps, one after the other."""
    try:
        call = next(steps)
        while True:
            try:
                answer = client.call(call)
            except SandglassError as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


class Sandbox:
    """A sandbox that is there while the `with` block runs, or longer if it has a name of your choice.

    Without a name it is new, and is deleted at the end of the block. With a name it is started if need be, and stays:
    `stop()` and `delete()` end it. The endpoint comes from SANDGLASS_URL and SANDGLASS_TOKEN, else from the
    configuration file; `url` and `token` say otherwise.
    """

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
        self._client = Client(settings)
        self.ports: tuple[Port, ...] = ()
        self.files = Files(self._walk, self._where)
        self.commands = Commands(self._run)

    def __enter__(self) -> Sandbox:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._keeps:
                # What went wrong in the block, or at the start, is worth more than that.
                with suppress(SandglassError):
                    self.delete()
        finally:
            self.close()

    def start(self) -> None:
        """Starts it and waits until it can run code. `run_code` does so by itself."""
        self.ports = self._walk(sandboxes.start(self._where, self._config)).ports

    def stop(self) -> None:
        """Ends its processes; its configuration stays, and files if it has a persistent workspace."""
        self._walk(sandboxes.stop(self._where))

    def delete(self) -> None:
        """Deletes it with its files."""
        self._walk(sandboxes.stop(self._where, delete=True))

    def close(self) -> None:
        """Ends the connections to the endpoint; the sandbox stays as it is."""
        self._client.close()

    def run_code(
        self,
        code: str,
        language: str = "python",
        *,
        session: str | None = None,
        timeout: float | None = None,
        envs: Mapping[str, str] | None = None,
        on_output: OnOutput | None = None,
    ) -> Execution:
        """Runs code to its end and returns what came of it; variables stay for the next call.

        `language` is python, nodejs or bash. `timeout` is in seconds, counted from the start of the run. `on_output`
        gets text while it is printed. An exception in the code is none here:
        see `Execution.status` and `.check()`.
        """
        return self._run(Code(code, language, session, timeout, envs), on_output)

    def stream_code(self, code: str, language: str = "python", **options: Any) -> CodeStream:
        """The same as an iterator of the text that is printed; `result` has the execution at its end."""
        return CodeStream(
            lambda on_started, on_output: self._started(code, language, options, on_started, on_output), self
        )

    def _started(
        self, code: str, language: str, options: Mapping[str, Any], on_started: OnOutput, on_output: OnOutput
    ) -> Execution:
        return self._walk(runs.run(Code(code, language, **options), self._where, Listener(on_started, on_output)))

    def _run(self, work: Code | Command, on_output: OnOutput | None) -> Execution:
        started: list[str] = []
        try:
            return self._walk(runs.run(work, self._where, Listener(started.append, on_output)))
        except BaseException as error:
            # Ctrl-C, or an error in the callback, means the run; a broken connection does not.
            if started and not isinstance(error, SandglassError):
                self._interrupt(started[0])
            raise

    def _interrupt(self, execution_id: str) -> None:
        with suppress(SandglassError):
            self._walk(runs.interrupt(self._where, execution_id))

    def _walk(self, steps: Steps[T]) -> T:
        return walk(self._client, steps)


class Commands:
    """The programs of a sandbox."""

    def __init__(self, run: Callable[[Command, OnOutput | None], Execution]) -> None:
        self._run = run

    def run(
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
        return self._run(Command(command, cwd, stdin, timeout, envs), on_output)


class Files:
    """The files of a sandbox. Paths are relative to /workspace, or absolute."""

    def __init__(self, walker: Walk, where: Where) -> None:
        self._walk = walker
        self._where = where

    def read(self, path: str) -> bytes:
        """A whole file, up to 256 MiB."""
        return self._walk(files.read(self._where, path))

    def read_text(self, path: str) -> str:
        """The same as text in UTF-8."""
        return self.read(path).decode()

    def write(self, path: str, content: bytes | str) -> None:
        """Writes a whole file, and makes the folders on the way."""
        self._walk(files.write(self._where, path, content.encode() if isinstance(content, str) else content))

    def list(self, path: str = "", *, recursive: bool = False) -> tuple[Entry, ...]:
        """What is in a folder."""
        return self._walk(files.list_folder(self._where, path, recursive))

    def stat(self, path: str) -> Entry:
        """What is at a path."""
        return self._walk(files.stat(self._where, path))

    def make_folder(self, path: str) -> bool:
        """Makes a folder and those on the way; False if it was there."""
        return self._walk(files.make_folder(self._where, path))

    def move(self, path: str, to: str) -> None:
        """Moves or renames to a path that is free."""
        self._walk(files.move(self._where, path, to))

    def delete(self, path: str, *, recursive: bool = False) -> None:
        """Deletes a file, or a folder with all that is in it if `recursive`."""
        self._walk(files.delete(self._where, path, recursive))


class CodeStream:
    """The output of code while it runs. Leaving it before its end interrupts the code."""

    def __init__(self, work: Callable[[OnOutput, OnOutput], Execution], sandbox: Sandbox) -> None:
        self._work = work
        self._sandbox = sandbox
        self._pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._started: list[str] = []
        self._execution: Execution | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[str]:
        is_over = False
        try:
            while (piece := self._pieces.get()) is not None:
                yield piece
            is_over = True
        finally:
            if not is_over and self._started:
                self._sandbox._interrupt(self._started[0])
                # The run ends by that, and then nothing uses the connections any more.
                self._thread.join(_END_S)
        if self._error is not None:
            raise self._error

    @property
    def result(self) -> Execution:
        """The execution; waits for its end."""
        self._thread.join()
        if self._execution is None:
            raise self._error or ConfigurationError("the run did not begin")
        return self._execution

    def _follow(self) -> None:
        try:
            self._execution = self._work(self._started.append, self._pieces.put)
        except BaseException as error:  # noqa: BLE001 - it is raised where the caller reads
            self._error = error
        finally:
            self._pieces.put(None)


def new_name() -> str:
    """A name that no other sandbox has."""
    return f"py-{secrets.token_hex(8)}"
