"""Pictures in few colours, for sixel. Pillow, which is imported when there is one, reads, shrinks and reduces them."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass

CLEAR = 255
"""The index of a pixel that is not drawn."""

MOST_COLOURS = 255
MOST_PIXELS = 16_000_000
"""More are not decoded: they would take hundreds of megabytes."""

_FORMATS = ("PNG", "JPEG")
_HALF = 128
Colour = tuple[int, int, int]


class Unreadable(ValueError):
    """It is broken, too large or of another form."""


class PillowMissing(Exception):
    """The extra `sixel` is not installed."""

    def __init__(self) -> None:
        super().__init__("to see pictures in this terminal, install Pillow: pip install 'sandglass-cli[sixel]'")


@dataclass(frozen=True)
class Bitmap:
    """Rows of pixels, each the number of its colour, or `CLEAR`."""

    width: int
    height: int
    indexes: bytes
    palette: tuple[Colour, ...]


def read(data: bytes, most_width: int, most_height: int, most_colours: int) -> Bitmap:
    """The picture within these bounds; raises `Unreadable` or `PillowMissing`.

    A pixel that is rather clear stays so, and the others lose their opacity.
    """
    try:
        from PIL import Image
    except ImportError:
        raise PillowMissing from None
    try:
        with warnings.catch_warnings():
            # They would stand in the output of the run.
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            if not 0 < image.width * image.height <= MOST_PIXELS:
                raise Unreadable(f"it must have 1 to {MOST_PIXELS} pixels")
            # Of gray in 16 bits, Pillow would cut what is brighter than 255.
            gray = image.mode.startswith("I")
            full = (image.point(lambda value: value / 256) if gray else image).convert("RGBA")
    except Unreadable:
        raise
    except Exception as error:  # noqa: BLE001 - a broken picture ends a decoder in many ways, and is saved
        raise Unreadable(f"it is broken ({type(error).__name__})") from None
    full.thumbnail((most_width, most_height))
    clear = full.getchannel("A").point([255] * _HALF + [0] * (256 - _HALF))
    few = full.convert("RGB").quantize(max(1, min(most_colours, MOST_COLOURS)))
    parts = few.getpalette() or []
    few.paste(CLEAR, mask=clear)
    return Bitmap(few.width, few.height, few.tobytes(), tuple(zip(parts[::3], parts[1::3], parts[2::3], strict=True)))
