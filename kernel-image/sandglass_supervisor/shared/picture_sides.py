"""How many pixels the sides of a picture have, from its header alone (pure): no picture is decoded here.

PNG: its specification, the chunk IHDR; GIF: GIF89a, 18 (logical screen); WebP: RFC 9649, 2.5 to 2.7 and 3.4, with
RFC 6386, 9.1, for VP8; JPEG: ITU T.81, B.1.1 and B.2.2. Untrusted code wrote the header: it may be cut, or lie.
"""

import re
import struct
from binascii import Error as Base64Error
from binascii import a2b_base64

from ..limits import PICTURE_SEGMENTS, PICTURE_SIDE

Sides = tuple[int, int]

_HEADER_CHARS = 40  # of base64: 30 bytes, in which all but JPEG say it
_BEGINNING_CHARS = 2 * _HEADER_CHARS  # with white space in between
# Decoders pass over what is between segments, over filling and over escaped data, and so do we.
_MARKER = re.compile(rb"\xff[^\x00\xff]")
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_LENGTHLESS = frozenset({0x01, *range(0xD0, 0xD9)})
_SCAN, _END = 0xDA, 0xD9
_MOST_OF_JPEG = (0xFFFF, 0xFFFF)


def too_long(found: Sides) -> bool:
    """Whether models' endpoints refuse a picture with these sides."""
    return max(found) > PICTURE_SIDE


def sides(mime: str, picture: bytes) -> Sides | None:
    """Width and height; None if the header does not say. ``picture`` may be just the beginning."""
    try:
        match mime:
            case "image/png":
                return _two(">II", picture, 16)
            case "image/gif":
                return _two("<HH", picture, 6)
            case "image/webp":
                return _webp(picture)
            case "image/jpeg":
                return _jpeg(picture)
    except struct.error:
        pass
    return None


def sides_in_base64(mime: str, encoded: str) -> Sides | None:
    """The same of a picture in base64; of JPEG all is decoded, because the header may stand behind anything."""
    if mime != "image/jpeg":
        encoded = "".join(encoded[:_BEGINNING_CHARS].split())[:_HEADER_CHARS]
    try:
        return sides(mime, a2b_base64(encoded))
    except (Base64Error, ValueError):
        return None


def _two(form: str, data: bytes, at: int) -> Sides:
    width, height = struct.unpack_from(form, data, at)
    return width, height


def _webp(data: bytes) -> Sides | None:
    match data[12:16]:
        case b"VP8 ":
            # The upper two bits of each ask for a scale at which nobody shows it.
            width, height = _two("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            low, high, lower, higher = struct.unpack_from("<HBHB", data, 24)
            return (low | high << 16) + 1, (lower | higher << 16) + 1
    return None


def _jpeg(data: bytes) -> Sides | None:
    """Segment by segment to the first frame's header; before it may stand EXIF, colour profiles and comments."""
    at = 2
    for _ in range(PICTURE_SEGMENTS):
        found = _MARKER.search(data, at)
        if found is None:
            return None
        at, marker = found.end(), data[found.end() - 1]
        if marker in _FRAMES:
            height, width = _two(">HH", data, at + 3)
            return width, height
        if marker in (_SCAN, _END):
            return None
        if marker not in _LENGTHLESS:
            (length,) = struct.unpack_from(">H", data, at)
            at += length
    # No encoder writes so many. Who hides the frame behind them gets the worst that it can be.
    return _MOST_OF_JPEG
