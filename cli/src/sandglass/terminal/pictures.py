"""Pictures on terminals that can show them: kitty's protocol, iTerm2's and sixel. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass

from sandglass.terminal import bitmaps, sixel

KITTY = "kitty"
ITERM = "iterm"
SIXEL = "sixel"
PROTOCOLS = (KITTY, ITERM, SIXEL)
MOST_WIDTH = 1000
"""In pixels, where sixel shows it: xterm takes no more in either direction."""

PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"
GIFS = (b"GIF87a", b"GIF89a")
_CHUNK = 4096
_KITTY_PROGRAMS = {"kitty", "ghostty", "wezterm"}
_ENDINGS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
}


@dataclass(frozen=True)
class Display:
    """How a terminal shows pictures; colours at once and the width in pixels are those of sixel."""

    protocol: str
    most_colours: int = bitmaps.MOST_COLOURS
    most_width: int = MOST_WIDTH


def protocol(environ: Mapping[str, str]) -> str | None:
    """Which protocol the terminal has by its environment; None if that names none.

    A multiplexer passes neither of these on. Sixel stands in no environment: the terminal must be asked.
    """
    if environ.get("TMUX") or environ.get("STY") or environ.get("TERM", "dumb") == "dumb":
        return None
    program = environ.get("TERM_PROGRAM", "").lower()
    if environ.get("KITTY_WINDOW_ID") or environ.get("TERM") == "xterm-kitty" or program in _KITTY_PROGRAMS:
        return KITTY
    return ITERM if program == "iterm.app" else None


def shown(data: bytes, known: Display) -> str | None:
    """The bytes for the terminal; None if it cannot show this picture. Base64 alone is the sandbox's.

    iTerm2 opens anything by the system's decoders, so that only the pictures that are usual on pages go there. Sixel
    raises `PillowMissing` where that lacks.
    """
    if known.protocol == KITTY:
        return _kitty(data) if data.startswith(PNG) else None
    if known.protocol == SIXEL:
        return _sixel(data, known) if data.startswith((PNG, JPEG)) else None
    if not data.startswith((PNG, JPEG, *GIFS)):
        return None
    encoded = base64.b64encode(data).decode()
    return f"\x1b]1337;File=inline=1;size={len(data)}:{encoded}\x07\n"


def ending(mime_type: str) -> str:
    """The ending of a file's name."""
    return _ENDINGS.get(mime_type, "bin")


def _sixel(data: bytes, known: Display) -> str | None:
    try:
        return sixel.encoded(bitmaps.read(data, known.most_width, MOST_WIDTH, known.most_colours)) + "\n"
    except bitmaps.Unreadable:
        return None


def _kitty(data: bytes) -> str:
    encoded = base64.b64encode(data).decode()
    chunks = [encoded[at : at + _CHUNK] for at in range(0, len(encoded), _CHUNK)]
    written = []
    for number, chunk in enumerate(chunks):
        more = int(number < len(chunks) - 1)
        # Quiet, so that the terminal's answer is not typed into the shell.
        keys = f"a=T,f=100,q=2,m={more}" if number == 0 else f"m={more}"
        written.append(f"\x1b_G{keys};{chunk}\x1b\\")
    return "".join(written) + "\n"
