"""A session process and the server behind it, as the supervisor sees them: started, asked, ended whole."""

import os
import re
import signal
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from ..limits import MCP_STDERR_BYTES, MCP_STOP_S, MCP_UNSENT_BYTES, SLICE_BYTES
from ..processes.children import describe
from ..shared.json_frames import BrokenFrames, Frame, encode
from ..shared.text import one_line
from . import words
from .channel import Bounds, Channel
from .definition import Command, Registration
from .process import Means
from .secrets import Hidden
from .words import Said

_WORDS_CHARS = 600
_FIRST_WORD = re.compile(r"\S*")


class Listener(Protocol):
    """Whom a session tells what its server says."""

    def session_said(self, said: Said) -> None:
        """What it said of its server, but for the end."""

    def session_ended(self, why: str) -> None:
        """The server is gone, with all that it started, and nothing more is said."""


class Start(NamedTuple):
    """What is started: ``values`` were read from Secrets for it, by name; ``hidden`` knows them."""

    registration: Registration
    values: dict[str, str]
    hidden: Hidden


class Session:
    """Lives from its construction to ``session_ended``. Raises OSError if there can be no process."""

    def __init__(self, means: Means, start: Start, listener: Listener) -> None:
        self._means = means
        self._hidden = start.hidden
        self._listener: Listener | None = listener
        self._why = ""
        self.late = False
        self._tail = b""
        self._stopping = False
        process = means.ahead.take(means)
        process.child.ended = self._exited
        self._child, self._errors = process.child, process.errors
        bounds = Bounds(words.FRAME_BYTES, MCP_UNSENT_BYTES, means.budget)
        ours = process.answers, process.requests
        self._channel = Channel(means.loop, ours, bounds, self._hear, self._closed)
        means.loop.watch(self._errors, self._read_errors)
        self._channel.send(encode(_frame(start, means)))

    def has_room(self, size: int) -> bool:
        """True if so many bytes more may wait until the session process reads them."""
        return self._channel.has_room(size)

    def send(self, frame: bytes) -> None:
        """Say something to the session process."""
        self._channel.send(frame)

    def stop(self) -> None:
        """End the server as the protocol wants it, by the end of its input; what is still there after 3 s is killed."""
        if not self._stopping:
            self._stopping = True
            self._why = "it was ended on purpose"
            self._channel.close()
            self._means.loop.call_in(MCP_STOP_S, self._kill)

    def abandon(self) -> None:
        """Kill it, and tell nothing more of it: it may be stopped or traced, so that its end never comes."""
        self._listener = None
        self._stopping = True
        self._kill()

    def _hear(self, frame: Frame) -> None:
        try:
            said = words.parse(frame)
        except BrokenFrames as broken:
            self._channel.close(str(broken))
            return
        if isinstance(said, words.Over):
            self._why = said.why
            self.late = said.late
        elif not self._stopping and self._listener is not None:
            self._listener.session_said(said)

    def _closed(self, why: str) -> None:
        """The channel is closed; a process that goes on without one is of no use."""
        if not self._stopping:
            self._why = self._why or why
            self._kill()

    def _kill(self) -> None:
        if self._child.alive:
            self._child.signal_group(signal.SIGKILL)

    def _exited(self, status: int) -> None:
        # Its last frame may still be in the pipe.
        self._channel.drain()
        self._stopping = True
        self._channel.close()
        self._means.offspring.end(self._child, lambda: self._finish(status))

    def _finish(self, status: int) -> None:
        self._read_errors()
        self._means.loop.unwatch(self._errors)
        os.close(self._errors)
        exit_code, number = describe(status)
        why = self._why or f"its session ended with exit code {exit_code}, signal {number}"
        last = self._last_words()
        told = f'{self._hidden.hide(why)}; its last words were "{last}"' if last else self._hidden.hide(why)
        if self._listener is not None:
            self._listener.session_ended(told)

    def _last_words(self) -> str:
        tail = self._tail.decode("utf-8", "replace")
        if len(self._tail) == MCP_STDERR_BYTES:
            # It begins anywhere, perhaps within a value, of which no part is told.
            tail = _FIRST_WORD.sub("", tail, count=1)
        # Hidden before it is cut, for the same reason.
        return one_line(self._hidden.hide(tail).strip()[-_WORDS_CHARS:], _WORDS_CHARS)

    def _read_errors(self) -> None:
        with suppress(BlockingIOError):
            data = os.read(self._errors, SLICE_BYTES)
            if not data:
                self._means.loop.unwatch(self._errors)
            self._tail = (self._tail + data)[-MCP_STDERR_BYTES:]


def _frame(start: Start, means: Means) -> dict[str, Any]:
    target = start.registration.target
    said: dict[str, Any] = {"op": "start", "timeout_s": start.registration.timeout_s}
    if isinstance(target, Command):
        return {**said, "argv": target.argv, "env": {**means.env, **target.env, **start.values}, "cwd": target.cwd}
    headers = {**target.headers, **start.values}
    # With keys it ends when they are refused: the next start reads them anew.
    return {**said, "url": target.url, "headers": headers, "transport": target.transport, "keys": bool(start.values)}
