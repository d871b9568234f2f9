"""Sixel: pictures in six rows at a time, and what a terminal that knows them answers. Pure."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict

from sandglass.terminal.bitmaps import CLEAR, MOST_COLOURS, Bitmap, Colour

QUERY = "\x1b[?1;1;0S\x1b[c"
"""How many colours at once, then what the terminal can. Every terminal answers the latter, which ends the answer."""

MOST_ANSWER_CHARS = 1024
_ABILITIES = re.compile(r"\x1b\[\?([0-9;]{1,100})c")
_COLOURS = re.compile(r"\x1b\[\?1;0;([0-9]{1,9})S")
_SIXEL = "4"
_ROWS = 6
_LEAST_RUN = 3


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
    most = MOST_COLOURS if told is None else int(told.group(1))
    return min(most, MOST_COLOURS) if most >= 2 else 0


def encoded(picture: Bitmap) -> str:
    """The bytes for the terminal, all of them ours: letters, numbers and few signs."""
    registers = "".join(_register(number, colour) for number, colour in enumerate(picture.palette))
    rows = [picture.indexes[at : at + picture.width] for at in range(0, len(picture.indexes), picture.width)]
    bands = "-".join(_band(rows[at : at + _ROWS]) for at in range(0, len(rows), _ROWS))
    # 1: what is not drawn stays as it is.
    return f'\x1bP0;1;0q"1;1;{picture.width};{picture.height}{registers}{bands}\x1b\\'


def _register(number: int, colour: Colour) -> str:
    red, green, blue = (round(part * 100 / 255) for part in colour)
    return f"#{number};2;{red};{green};{blue}"


def _band(rows: list[bytes]) -> str:
    """Up to six rows: for each colour, runs of letters, each of which says for a column which rows have it."""
    drawn: defaultdict[int, list[str]] = defaultdict(list)
    ends: defaultdict[int, int] = defaultdict(int)
    at = 0
    for column, alike in itertools.groupby(zip(*rows, strict=True)):
        length = len(list(alike))
        for colour, bits in _bits(column).items():
            drawn[colour] += (_run(0, at - ends[colour]), _run(bits, length))
            ends[colour] = at + length
        at += length
    return "$".join(f"#{colour}{''.join(drawn[colour])}" for colour in sorted(drawn))


def _bits(column: tuple[int, ...]) -> dict[int, int]:
    found: dict[int, int] = {}
    for row, colour in enumerate(column):
        if colour != CLEAR:
            found[colour] = found.get(colour, 0) | 1 << row
    return found


def _run(bits: int, length: int) -> str:
    letter = chr(bits + 63)
    return f"!{length}{letter}" if length > _LEAST_RUN else letter * length
