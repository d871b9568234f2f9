"""Text of a sandbox for a terminal. Pure.

Code in a sandbox is not trusted, and a terminal obeys what it prints: it could set the window's title, write to the
clipboard, or draw over what stands above. Colours, line ends and the erasing of its own line pass; nothing else does,
nor does concealed text, which is copied without being seen.
"""

from __future__ import annotations

import re
import unicodedata

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLOUR = re.compile(r"\x1b\[[0-9;:]{0,64}m")
_ERASE = re.compile(r"\x1b\[[0-2]?K")
_PASSED = "\n\t\r\b"
_RESET = "\x1b[0m"
_MAX_SEQUENCE = 256
_CONCEALED = 8
_LONG_COLOURS = {38, 48, 58}
_COLOUR_PARAMETERS = {5: 3, 2: 5}
_NOT_SHOWN = frozenset({"Cf", "Cs", "Co", "Cn"})
# What Unicode calls ignorable and not a format, variation selectors among it; and a letter that is a blank.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


class TerminalText:
    """Filters text that comes in pieces. Without `colours` no escape sequence passes."""

    def __init__(self, colours: bool) -> None:
        self._colours = colours
        self._sequence = ""
        self._is_string = False
        self._coloured = False

    def feed(self, text: str) -> str:
        """The part of it that may be shown."""
        if not self._sequence and not self._is_string and not _CONTROL.search(text):
            return text
        return "".join(self._character(character) for character in text)

    def end(self) -> str:
        """What ends the colours that were left on; a sequence that has no end is over too."""
        was_coloured, self._coloured = self._coloured, False
        self._sequence, self._is_string = "", False
        return _RESET if was_coloured else ""

    def whole(self, text: str) -> str:
        """A text that comes in one piece."""
        return self.feed(text) + self.end()

    def _character(self, character: str) -> str:
        if self._is_string:
            self._within_string(character)
            return ""
        if self._sequence:
            return self._within_sequence(character)
        if character == "\x1b":
            self._sequence = character
            return ""
        return character if character in _PASSED or not _CONTROL.match(character) else ""

    def _within_sequence(self, character: str) -> str:
        if character == "\x1b":
            self._sequence = character
            return ""
        self._sequence += character
        if len(self._sequence) == 2 and character in "]PX^_":
            self._sequence, self._is_string = "", True
            return ""
        is_over = "\x40" <= character <= "\x7e" if self._sequence.startswith("\x1b[") else character >= "\x30"
        if len(self._sequence) == 2 and character == "[":
            return ""
        if not is_over and len(self._sequence) < _MAX_SEQUENCE:
            return ""
        sequence, self._sequence = self._sequence, ""
        if not self._colours or not (_COLOUR.fullmatch(sequence) or _ERASE.fullmatch(sequence)):
            return ""
        if not sequence.endswith("m"):
            return sequence
        self._coloured = True
        return _revealed(sequence)

    def _within_string(self, character: str) -> None:
        """Up to its end: BEL, ST, or ESC with what comes behind it."""
        if character == "\x1b":
            self._is_string, self._sequence = False, character
        elif character in "\x07\x9c":
            self._is_string = False


def line(text: str) -> str:
    """A text of a sandbox within a line of ours: no letter changes the direction of others or hides."""
    shown = TerminalText(colours=False).whole(text)
    return " ".join(_IGNORABLE.sub("", "".join(_letter(each) for each in shown)).split())


def _letter(letter: str) -> str:
    category = unicodedata.category(letter)
    return " " if category == "Cc" else "" if category in _NOT_SHOWN else letter


def _revealed(colour: str) -> str:
    """A sequence of colours without the parameter that conceals text."""
    given = colour[2:-1].split(";")
    kept: list[str] = []
    at = 0
    while at < len(given):
        number = _number(given[at])
        # The numbers behind 38;5 and 38;2 are parts of a colour.
        length = _COLOUR_PARAMETERS.get(_number("".join(given[at + 1 : at + 2])), 1) if number in _LONG_COLOURS else 1
        if _number(given[at].partition(":")[0]) != _CONCEALED:
            kept += given[at : at + length]
        at += length
    return f"\x1b[{';'.join(kept)}m" if kept else ""


def _number(text: str) -> int:
    return int(text) if text.isdigit() else -1
