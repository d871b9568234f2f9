"""What a run shows: output while it comes, then the last value, the traceback, pictures and notes."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from sandglass.command_line import graphics
from sandglass.command_line.common import FAILED_RUN, INTERRUPTED, TIMED_OUT, Form, note, plain, write
from sandglass.core.facts import Execution
from sandglass.core.runs import Listener
from sandglass.errors import ConfigurationError
from sandglass.terminal import pictures
from sandglass.terminal.bitmaps import PillowMissing
from sandglass.terminal.text import TerminalText

_PIPE_WAIT_S = 2.0
_MOST_PICTURES = 1000


class Screen:
    """Where the output of one run goes.

    On a terminal it comes as it is printed, both streams mixed. Into a pipe or a file each stream goes its own way, as
    the endpoint tells them apart, every two seconds.
    """

    def __init__(self, form: Form, folder: Path | None) -> None:
        self._form = form
        self._folder = folder
        self._is_live = form is Form.TEXT and sys.stdout.isatty()
        self._text = TerminalText(has_colours(sys.stdout))
        self._out = TerminalText(has_colours(sys.stdout)) if sys.stdout.isatty() else None
        self._err = TerminalText(has_colours(sys.stderr)) if sys.stderr.isatty() else None
        self._ends_line = True
        # A wrong choice is told now, not when there is a picture.
        graphics.chosen(os.environ)

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        """Leaves no colours on, however the run ended."""
        for stream, texts in ((sys.stdout, (self._text, self._out)), (sys.stderr, (self._err,))):
            with suppress(OSError, ValueError):
                stream.write("".join(text.end() for text in texts if text is not None))
                stream.flush()

    def listener(self, on_started: Any) -> Listener:
        """Who listens to the run."""
        if self._form is Form.JSON:
            return Listener(on_started)
        if self._is_live:
            return Listener(on_started, on_output=self._live)
        return Listener(on_started, on_page=self._page, wait_s=_PIPE_WAIT_S)

    def finish(self, execution: Execution, shown_already: bool = True) -> int:
        """Shows the end of it; the exit code."""
        if self._form is Form.JSON:
            saved = self._saved(execution)
            write({**plain(execution), "images": [plain(image) | {"file": place} for image, place in saved]})
            return exit_code(execution)
        if not shown_already:
            self._page(execution)
        for text in (self._text, self._out):
            sys.stdout.write(text.end() if text else "")
        sys.stderr.write(self._err.end() if self._err else "")
        if execution.result:
            self._new_line()
            value = self._text.whole(execution.result) if self._out else execution.result
            self._say(sys.stdout, value + "\n")
        if execution.error is not None:
            self._new_line()
            trace = execution.error.traceback or f"{execution.error.name}: {execution.error.message}"
            self._say(sys.stderr, TerminalText(has_colours(sys.stderr)).whole(trace) + "\n")
        self._pictures(execution)
        self._notes(execution)
        return exit_code(execution)

    def _live(self, text: str) -> None:
        self._say(sys.stdout, self._text.feed(text))
        sys.stdout.flush()

    def _page(self, page: Execution) -> None:
        self._say(sys.stdout, self._out.feed(page.stdout) if self._out else page.stdout)
        self._say(sys.stderr, self._err.feed(page.stderr) if self._err else page.stderr)
        sys.stdout.flush()

    def _say(self, stream: TextIO, text: str) -> None:
        if text:
            # A lone surrogate, which no encoding has, is shown as a question mark rather than ending the command.
            encoding = stream.encoding or "utf-8"
            stream.write(text.encode(encoding, "replace").decode(encoding))
            self._ends_line = text.endswith("\n")

    def _new_line(self) -> None:
        if not self._ends_line and self._is_live:
            self._say(sys.stdout, "\n")
        sys.stdout.flush()

    def _pictures(self, execution: Execution) -> None:
        is_wanted = self._is_live and self._folder is None and execution.images
        known = graphics.display(sys.stdout, os.environ) if is_wanted else None
        rest, missing = [], ""
        for image in execution.images:
            drawn = None
            try:
                drawn = pictures.shown(image.data, known) if known else None
            except PillowMissing as error:
                missing = str(error)
            if drawn is None:
                rest.append(image)
            else:
                self._new_line()
                self._say(sys.stdout, drawn)
        for image, place in self._saved(Execution("", "ok", images=tuple(rest))):
            full = f" (full size in the sandbox: {image.path})" if image.path else ""
            note(f"picture saved: {place}{full}")
        if missing:
            note(missing)

    def _saved(self, execution: Execution) -> list[tuple[Any, str]]:
        folder = self._folder or Path()
        return [(image, str(save(folder, image.data, pictures.ending(image.mime_type)))) for image in execution.images]

    def _notes(self, execution: Execution) -> None:
        sys.stdout.flush()
        if execution.warning:
            note(execution.warning)
        is_told = execution.error is not None and execution.status == "error"
        if execution.message and not is_told and not (execution.exit_code and execution.status in ("ok", "error")):
            status = "" if execution.status == "ok" else f"[{execution.status}] "
            note(status + execution.message)


def exit_code(execution: Execution) -> int:
    """The exit code that a shell would have given."""
    if execution.status == "interrupted":
        return INTERRUPTED
    if execution.status == "timeout":
        return TIMED_OUT
    if execution.signal is not None:
        return 128 + min(execution.signal, 127)
    if execution.exit_code is not None and execution.status in ("ok", "error"):
        return execution.exit_code & 0xFF
    return {"ok": 0, "running": 0, "error": 1}.get(execution.status, FAILED_RUN)


def has_colours(stream: TextIO) -> bool:
    """Whether colours are for a terminal that shows them, and wanted."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"


def save(folder: Path, data: bytes, ending: str) -> Path:
    """Writes a picture under the first free name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, _MOST_PICTURES):
            place = folder / f"picture-{number}.{ending}"
            try:
                with place.open("xb") as file:
                    file.write(data)
            except FileExistsError:
                continue
            return place
    except OSError as error:
        raise ConfigurationError(f"{folder}: a picture cannot be saved: {error.strerror}") from None
    raise ConfigurationError(f"{folder} has {_MOST_PICTURES} pictures already: name another folder with --pictures")
