"""Beginnings of pictures as far as their sides, written after the formats' specifications."""

import struct
from collections.abc import Callable
from typing import NamedTuple


class Header(NamedTuple):
    """How a kind of picture begins, and how long its sides can be."""

    mime: str
    most: int
    begin: Callable[[int, int], bytes]


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height)


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    """``before``: what stands between the beginning and the frame's header."""
    return b"\xff\xd8" + before + struct.pack(">2sHBHH", b"\xff\xc0", 11, 8, height, width)


def _webp(kind: bytes, data: bytes) -> bytes:
    return struct.pack("<4sI4s4sI", b"RIFF", 12 + len(data), b"WEBP", kind, len(data)) + data


def _vp8(width: int, height: int) -> bytes:
    return _webp(b"VP8 ", b"\x10\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width | 0x4000, height | 0x8000))


def _vp8l(width: int, height: int) -> bytes:
    return _webp(b"VP8L", b"\x2f" + struct.pack("<I", width - 1 | height - 1 << 14 | 1 << 28))


def _vp8x(width: int, height: int) -> bytes:
    sides = (side.to_bytes(3, "little") for side in (width - 1, height - 1))
    return _webp(b"VP8X", bytes(4) + b"".join(sides))


HEADERS = {
    "png": Header("image/png", 2**32 - 1, png),
    "gif": Header("image/gif", 2**16 - 1, gif),
    "jpeg": Header("image/jpeg", 2**16 - 1, jpeg),
    "webp, VP8": Header("image/webp", 2**14 - 1, _vp8),
    "webp, VP8L": Header("image/webp", 2**14, _vp8l),
    "webp, VP8X": Header("image/webp", 2**24, _vp8x),
}


def header(kind: str, width: int, height: int) -> tuple[str, bytes]:
    """The media type and the beginning."""
    return HEADERS[kind].mime, HEADERS[kind].begin(width, height)
