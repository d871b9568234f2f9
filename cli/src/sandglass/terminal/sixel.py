"""Sixel: pictures in six rows at a time, and what a terminal that knows them answers. Pure."""

from __future__ import annotations

import re

from sandglass.terminal import pixels
from sandglass.terminal.pixels import CLEAR, Colour, Picture

QUERY = "\x1b[?1;1;0S\x1b[c"
"""How many colours at once, then what the terminal can. Every terminal answers the latter, which ends the answer."""

MOST_ANSWER_CHARS = 1024
_ABILITIES = re.compile(r"\x1b\[\?([0-9;]{1,100})c")
_COLOURS = re.compile(r"\x1b\[\?1;0;([0-9]{1,9})S")
_SIXEL = "4"
_ROWS = 6
_EMPTY = b"?"
_REPEATED = re.compile(rb"(.)\1{3,}", re.DOTALL)
_TO_LETTERS = bytes((value + 63) & 255 for value in range(256))


def is_whole(answer: str) -> bool:
    """Whether this is all that the terminal answers."""
    return len(answer) >= MOST_ANSWER_CHARS or _ABILITIES.search(answer) is not None


def colours(answer: str) -> int:
    """How many colours a picture may have at once; none if the terminal does not say that it knows sixel."""
    abilities = _ABILITIES.search(answer)
    # The first number is the terminal's kind.
    if abilities is None or _SIXEL not in abilities.group(1).split(";")[1:]:
        return 0
    told = _COLOURS.search(answer)
    most = pixels.MOST_COLOURS if told is None else int(told.group(1))
    return min(most, pixels.MOST_COLOURS) if most >= 2 else 0


def encoded(picture: Picture, most_colours: int) -> str:
    """The bytes for the terminal, all of them ours: letters, numbers and few signs."""
    indexes, palette = pixels.reduced(picture.pixels, most_colours)
    registers = "".join(_register(number, colour) for number, colour in enumerate(palette))
    masks = [_masks(number) for number in range(len(palette))]
    bands = []
    for first in range(0, picture.height, _ROWS):
        rows = [
            indexes[at * picture.width : (at + 1) * picture.width]
            for at in range(first, min(first + _ROWS, picture.height))
        ]
        drawn = (f"#{number}{_band(rows, masks[number])}" for number in sorted(set(b"".join(rows)) - {CLEAR}))
        bands.append("$".join(drawn))
    # 1: what is not drawn stays as it is.
    return f'\x1bP0;1;0q"1;1;{picture.width};{picture.height}{registers}{"-".join(bands)}\x1b\\'


def _register(number: int, colour: Colour) -> str:
    red, green, blue = (round(part * 100 / 255) for part in colour)
    return f"#{number};2;{red};{green};{blue}"


def _masks(number: int) -> list[bytes]:
    """For each of six rows, which bit a pixel of this colour has."""
    return [bytes(1 << row if value == number else 0 for value in range(256)) for row in range(_ROWS)]


def _band(rows: list[bytes], masks: list[bytes]) -> str:
    bits = 0
    for row, mask in zip(rows, masks, strict=False):
        bits |= int.from_bytes(row.translate(mask), "big")
    letters = bits.to_bytes(len(rows[0]), "big").translate(_TO_LETTERS).rstrip(_EMPTY)
    return _REPEATED.sub(lambda run: b"!%d%s" % (len(run.group()), run.group(1)), letters).decode("ascii")
