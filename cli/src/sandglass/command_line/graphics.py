"""How the terminal of a command shows pictures: as the user says, as its environment says, or as it answers itself."""

from __future__ import annotations

import os
import select
import struct
import sys
import time
from collections.abc import Mapping
from typing import TextIO

from sandglass.errors import ConfigurationError
from sandglass.terminal import pictures, sixel
from sandglass.terminal.pictures import Display

VARIABLE = "SANDGLASS_PICTURES"
ANSWER_S = 1.0
"""How long a terminal may take to answer; only one that never does makes a command wait so long, and once."""

_NONE = "none"
_WORDS = (*pictures.PROTOCOLS, _NONE)
_answers: dict[str, str] = {}


def chosen(environ: Mapping[str, str]) -> str | None:
    """What the user chose; None if nothing."""
    word = environ.get(VARIABLE, "").strip().lower()
    if word and word not in _WORDS:
        raise ConfigurationError(f"{VARIABLE} must be one of {', '.join(_WORDS)}, not {word[:40]!r}")
    return word or None


def display(stream: TextIO, environ: Mapping[str, str]) -> Display | None:
    """How pictures are shown on that stream; None if they are not."""
    if not stream.isatty():
        return None
    word = chosen(environ)
    if word is not None:
        return None if word == _NONE else Display(word, most_width=_width(stream))
    known = pictures.protocol(environ)
    if known is not None:
        return Display(known)
    if environ.get("TERM", "dumb") == "dumb":
        return None
    most_colours = sixel.colours(_answer(stream))
    return Display(pictures.SIXEL, most_colours, _width(stream)) if most_colours else None


def _width(stream: TextIO) -> int:
    """The width of the terminal in pixels, where it is known."""
    if sys.platform == "win32":
        return pictures.MOST_WIDTH
    import fcntl
    import termios

    try:
        size = fcntl.ioctl(stream.fileno(), termios.TIOCGWINSZ, bytes(8))
    except OSError:
        return pictures.MOST_WIDTH
    return min(struct.unpack("4H", size)[2] or pictures.MOST_WIDTH, pictures.MOST_WIDTH)


def _answer(stream: TextIO) -> str:
    """What the terminal answers to the query; nothing if it cannot be asked. It is asked once."""
    if sys.platform == "win32":
        return ""
    import termios

    try:
        name = os.ttyname(stream.fileno())
        if name not in _answers:
            stream.flush()
            terminal = os.open(name, os.O_RDWR | os.O_NOCTTY)
            try:
                answer = _asked(terminal) if _is_ours(terminal) else None
            finally:
                os.close(terminal)
            if answer is None:
                return ""
            _answers[name] = answer
    except (OSError, termios.error):
        return ""
    return _answers[name]


def _is_ours(terminal: int) -> bool:
    """Whether this command may read from it: one in the background would be stopped."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        # It controls no jobs of this session.
        return True


def _asked(terminal: int) -> str | None:
    """None: something was typed already, which must not be taken for an answer or lost."""
    import termios

    before = termios.tcgetattr(terminal)
    quiet = [*before]
    quiet[3] = before[3] & ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(terminal, termios.TCSADRAIN, quiet)
    try:
        if select.select([terminal], [], [], 0)[0]:
            return None
        os.write(terminal, sixel.QUERY.encode())
        return _read(terminal)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _read(terminal: int) -> str:
    answer = ""
    ends = time.monotonic() + ANSWER_S
    while not sixel.is_whole(answer):
        left = ends - time.monotonic()
        if left <= 0 or not select.select([terminal], [], [], left)[0]:
            break
        # One by one, so that what is typed behind the answer stays.
        answer += os.read(terminal, 1).decode("latin-1")
    return answer
