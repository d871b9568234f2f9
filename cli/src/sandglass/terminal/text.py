"""Text of a sandbox for a terminal. Pure.

Code in a sandbox is not trusted, and a terminal obeys what it prints: it could set the window's title, write to the
clipboard, or draw over what stands above. Colours, line ends and the erasing of its own line pass; nothing else does.
"""

from __future__ import annotations

import re

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_COLOUR = re.compile(r"\x1b\[[0-9;:]{0,64}m")
_ERASE = re.compile(r"\x1b\[[0-2]?K")
_PASSED = "\n\t\r\b"
_RESET = "\x1b[0m"
_MAX_SEQUENCE = 256


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
        """What ends the colours that were left on."""
        was_coloured, self._coloured = self._coloured, False
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
        self._coloured = self._coloured or sequence.endswith("m")
        return sequence

    def _within_string(self, character: str) -> None:
        """Up to its end: BEL, ST, or ESC with what comes behind it."""
        if character == "\x1b":
            self._is_string, self._sequence = False, character
        elif character in "\x07\x9c":
            self._is_string = False


def line(text: str) -> str:
    """A text of a sandbox within a line of ours."""
    return " ".join(TerminalText(colours=False).whole(text).split())
