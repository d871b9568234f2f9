"""`repl`: lines of Python, run one after the other in a sandbox."""

from __future__ import annotations

import codeop
import sys
from collections.abc import Callable
from contextlib import suppress

import typer

from sandglass.command_line.common import BoxOption, Form, Namespace, Session, Timeout, client, note, where
from sandglass.command_line.running import Interrupts
from sandglass.command_line.screen import Screen
from sandglass.core import runs, sandboxes
from sandglass.core.runs import Code, Where
from sandglass.errors import SandglassError
from sandglass.sandbox import new_name, walk
from sandglass.wire.client import Client

MORE = "... "
FIRST = ">>> "
MAX_INPUT_CHARS = 256 * 1024


def repl(
    sandbox: BoxOption = None, session: Session = None, timeout: Timeout = None, namespace: Namespace = None
) -> None:
    """Runs lines of Python as you type them; variables stay. Ctrl-C interrupts, Ctrl-D ends.

    Lines that begin with ! are for bash, as in IPython. Without --sandbox a new sandbox is made and deleted at the end.
    """
    if sys.stdin.isatty():
        # Importing it gives the lines a history and arrow keys.
        with suppress(ImportError):
            import readline  # noqa: F401
    with client(namespace) as (connected, found):
        place = where(found, sandbox or new_name())
        try:
            # At once, so that the first line need not wait for it.
            started = walk(connected, sandboxes.start(place))
            note(f"sandbox {started.sandbox}; Ctrl-D ends")
            converse(lambda text: _run(connected, place, Code(text, session=session, timeout=timeout)))
        finally:
            if sandbox is None:
                with suppress(SandglassError):
                    walk(connected, sandboxes.stop(place, delete=True))
    raise typer.Exit(0)


def converse(run: Callable[[str], None]) -> None:
    """Reads statements, and runs each when it is whole."""
    lines: list[str] = []
    while True:
        try:
            lines.append(_line(MORE if lines else FIRST))
        except EOFError:
            if lines:
                run("\n".join(lines))
            sys.stdout.write("\n" if sys.stdin.isatty() else "")
            return
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            lines = []
            continue
        text = "\n".join(lines)
        if len(text) > MAX_INPUT_CHARS:
            note(f"a statement must have at most {MAX_INPUT_CHARS} characters: put it into a file for 'sandglass run'")
            lines = []
        elif is_whole(lines):
            lines = []
            if text.strip():
                run(text)


def is_whole(lines: list[str]) -> bool:
    """Whether these lines are a statement to be run: as Python's own prompt has it, blocks end with an empty line."""
    text = "\n".join(lines)
    if text.lstrip().startswith(("!", "%", "?")):
        return not text.lstrip().startswith("%%") or not lines[-1].strip()
    try:
        if codeop.compile_command(text, symbol="single") is not None:
            return True
    except (SyntaxError, ValueError, OverflowError):
        # Awaiting at the top, and what is wrong, are the kernel's to judge.
        return len(lines) == 1 or not lines[-1].strip()
    return False


def _line(prompt: str) -> str:
    if sys.stdin.isatty():
        return input(prompt)
    line = sys.stdin.readline(MAX_INPUT_CHARS + 2)
    if not line:
        raise EOFError
    return line.rstrip("\n")


def _run(connected: Client, place: Where, code: Code) -> None:
    begun: list[str] = []
    try:
        with Screen(Form.TEXT, None) as screen:
            with Interrupts(connected, place) as interrupts:

                def started(execution_id: str) -> None:
                    begun.append(execution_id)
                    interrupts.running = execution_id

                execution = walk(connected, runs.run(code, place, screen.listener(started)))
            screen.finish(execution, shown_already=bool(begun))
    except SandglassError as error:
        note(str(error))
    except KeyboardInterrupt:
        sys.stdout.write("\n")
