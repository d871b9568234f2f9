"""`run`, `exec` and `attach`."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from sandglass.command_line.common import (
    FAILED_RUN,
    BoxOption,
    Env,
    EnvFile,
    Form,
    Namespace,
    Output,
    Session,
    Timeout,
    client,
    note,
    variables,
    where,
)
from sandglass.command_line.screen import Screen
from sandglass.core import runs, sandboxes
from sandglass.core.runs import Code, Command, Where
from sandglass.errors import ConfigurationError, SandglassError
from sandglass.sandbox import new_name, walk
from sandglass.wire.client import Client

MAX_CODE_BYTES = 1024 * 1024
_LANGUAGES = {".py": "python", ".js": "nodejs", ".mjs": "nodejs", ".cjs": "nodejs", ".sh": "bash"}
_WORDS = ("python", "nodejs", "bash")

Pictures = Annotated[
    Path | None,
    typer.Option(
        "--pictures",
        help="Save pictures in this folder, and show none. Else the terminal shows what it can (SANDGLASS_PICTURES).",
    ),
]


def run(
    source: Annotated[
        str, typer.Argument(metavar="FILE|-", help="File with the code; - reads it from standard input.")
    ],
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="python, nodejs or bash; by default from the file's ending.")
    ] = None,
    sandbox: BoxOption = None,
    session: Session = None,
    timeout: Timeout = None,
    env: Env = None,
    env_file: EnvFile = None,
    pictures: Pictures = None,
    namespace: Namespace = None,
    output: Output = Form.TEXT,
) -> None:
    """Runs code and shows its output while it comes.

    The exit code is 0 if it went well, 1 after an exception, 124 after a time-out, 130 after Ctrl-C (which interrupts
    the code), 125 if Sandglass could not run it.
    """
    with failures_as_125():
        chosen = language or _LANGUAGES.get(Path(source).suffix.lower(), "python")
        if chosen not in _WORDS:
            raise ConfigurationError(f"--language must be one of {', '.join(_WORDS)}, not {chosen[:40]!r}")
        code = Code(_code(source), chosen, session, timeout, variables(env, env_file))
        with Screen(output, pictures) as screen:
            status = _run(code, sandbox, namespace, screen)
    raise typer.Exit(status)


def execute(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="The program and its arguments; no shell reads them.")
    ],
    sandbox: BoxOption = None,
    stdin: Annotated[
        bool, typer.Option("--stdin", "-i", help="Pass standard input on to the program: text of up to 1 MiB.")
    ] = False,
    cwd: Annotated[str | None, typer.Option("--cwd", help="Folder in the sandbox; by default /workspace.")] = None,
    timeout: Timeout = None,
    env: Env = None,
    env_file: EnvFile = None,
    namespace: Namespace = None,
    output: Output = Form.TEXT,
) -> None:
    """Runs a program in a sandbox; the exit code is the program's own.

    For example: sandglass exec -s my-work -- ls -l. Options of this command stand before the program. Exit code 124 is
    a time-out, 130 Ctrl-C, 125 a failure of Sandglass.
    """
    with failures_as_125():
        text = _text(sys.stdin.buffer.read(MAX_CODE_BYTES + 1), "standard input") if stdin else None
        work = Command(command, cwd, text, timeout, variables(env, env_file))
        with Screen(output, None) as screen:
            status = _run(work, sandbox, namespace, screen)
    raise typer.Exit(status)


def attach(
    execution: Annotated[
        str, typer.Argument(metavar="EXECUTION", help="Id of the run, as 'sandglass ls SANDBOX' lists it.")
    ],
    pictures: Pictures = None,
    output: Output = Form.TEXT,
) -> None:
    """Shows a run from its beginning, and follows it to its end.

    Ctrl-C leaves it running. The exit code is that of 'run'.
    """
    with failures_as_125(), client() as (connected, _), Screen(output, pictures) as screen:
        status = screen.finish(walk(connected, runs.read(execution, screen.listener(None))))
    raise typer.Exit(status)


@contextmanager
def failures_as_125() -> Iterator[None]:
    """A failure of ours must not look like the program's own exit code."""
    try:
        yield
    except SandglassError as error:
        note(str(error))
        raise typer.Exit(FAILED_RUN) from None


def _run(work: Code | Command, sandbox: str | None, namespace: str | None, screen: Screen) -> int:
    with client(namespace) as (connected, found):
        place = where(found, sandbox or new_name())
        try:
            with Interrupts(connected, place) as interrupts:
                started: list[str] = []

                def begun(execution_id: str) -> None:
                    started.append(execution_id)
                    interrupts.running = execution_id

                execution = walk(connected, runs.run(work, place, screen.listener(begun)))
            if sandbox is not None and execution.is_new_sandbox:
                note(f"there was no sandbox {sandbox}: it was started with the installation's defaults")
            return screen.finish(execution, shown_already=bool(started))
        finally:
            if sandbox is None:
                with suppress(SandglassError):
                    walk(connected, sandboxes.stop(place, delete=True))


class Interrupts:
    """The first Ctrl-C interrupts what runs in the sandbox, whose end is still shown; the second ends this command."""

    def __init__(self, connected: Client, place: Where) -> None:
        self._client = connected
        self._place = place
        self.running: str | None = None

    def __enter__(self) -> Interrupts:
        self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.running is None:
            raise KeyboardInterrupt
        threading.Thread(target=self._interrupt, args=(self.running,), daemon=True).start()

    def _interrupt(self, execution_id: str) -> None:
        try:
            walk(self._client, runs.interrupt(self._place, execution_id))
        except SandglassError as error:
            note(f"it could not be interrupted: {error}")


def _code(source: str) -> str:
    if source == "-":
        return _text(sys.stdin.buffer.read(MAX_CODE_BYTES + 1), "standard input")
    try:
        with Path(source).open("rb") as file:
            return _text(file.read(MAX_CODE_BYTES + 1), source)
    except OSError as error:
        raise ConfigurationError(f"{source}: {error.strerror}") from None


def _text(content: bytes, source: str) -> str:
    if len(content) > MAX_CODE_BYTES:
        raise ConfigurationError(f"{source} has more than {MAX_CODE_BYTES} bytes: copy it with 'sandglass cp'")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ConfigurationError(f"{source} must be text in UTF-8") from None
