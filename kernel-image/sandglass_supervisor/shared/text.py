"""Text of programs: cut into slices, freed from terminal codes (pure)."""

import re
from collections.abc import Iterator

from ..limits import SLICE_BYTES

# The name of an object that says nothing of what it shows: "<IPython.core.display.HTML object>", "<x.Styler at 0x7f…>".
BARE_OBJECT = re.compile(r"<[\w.]+(?: object)?(?: at 0x[0-9a-fA-F]+)?>")
# CSI, OSC and the short escapes of ECMA-48; an unfinished sequence ends with the text.
_TERMINAL_CODES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]+[0-~]?|[0-Z\\^_`-~])|\x9b[0-?]*[ -/]*[@-~]?"
)


def slices(data: bytes, size: int = SLICE_BYTES) -> Iterator[bytes]:
    """UTF-8 in pieces of at most ``size`` bytes that each are UTF-8."""
    start = 0
    while start < len(data):
        end = start + size
        while start < end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end]
        start = end


def plain(text: str) -> str:
    """Text without terminal codes."""
    return _TERMINAL_CODES.sub("", text)


def one_line(text: str, most: int) -> str:
    """Text as one line of at most so many printable characters: no control characters, no direction marks."""
    kept = "".join(char if char.isprintable() else " " for char in plain(text[: 4 * most]))
    return " ".join(kept.split())[:most]
