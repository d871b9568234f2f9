"""PNG as plotting libraries write it, read into pixels. Pure: zlib of the standard library does the work."""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from sandglass.terminal.pixels import Picture

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_PIXELS = 2 * 1024 * 1024
"""More would take longer than a second or two."""

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_GRAY, _RGB, _PALETTE = 0, 2, 3


class Unreadable(ValueError):
    """It is broken, interlaced or too large."""


@dataclass(frozen=True)
class _Header:
    width: int
    height: int
    depth: int
    kind: int

    @property
    def channels(self) -> int:
        return _CHANNELS[self.kind]

    @property
    def row_bytes(self) -> int:
        return (self.width * self.channels * self.depth + 7) // 8

    @property
    def step(self) -> int:
        """How far to the left the byte of the pixel before is."""
        return max(self.channels * self.depth // 8, 1)


def decoded(data: bytes) -> Picture:
    """The pixels; raises `Unreadable`."""
    try:
        chunks = dict[bytes, bytes]()
        for name, content in _chunks(data):
            chunks[name] = chunks.get(name, b"") + content
        header = _header(chunks[b"IHDR"])
        length = (header.row_bytes + 1) * header.height
        raw = zlib.decompressobj().decompress(chunks[b"IDAT"], length)
        if len(raw) < length:
            raise Unreadable("it has too few pixels")
        samples = b"".join(_samples(row, header) for row in _rows(raw, header))
        return Picture(header.width, header.height, _coloured(samples, header, chunks))
    except (KeyError, IndexError, struct.error, zlib.error) as error:
        raise Unreadable(f"it is broken ({type(error).__name__})") from None


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        if name == b"IEND":
            return
        yield name, data[at + 8 : at + 8 + length]
        at += 12 + length


def _header(content: bytes) -> _Header:
    width, height, depth, kind, compression, filters, interlacing = struct.unpack_from(">IIBBBBB", content)
    is_known = kind in _CHANNELS and (depth in (8, 16) or (depth in (1, 2, 4) and kind in (_GRAY, _PALETTE)))
    if not is_known or (kind, depth) == (_PALETTE, 16) or (compression, filters, interlacing) != (0, 0, 0):
        raise Unreadable("it is interlaced, or of no known form")
    if not 0 < width * height <= MOST_PIXELS:
        raise Unreadable(f"it must have 1 to {MOST_PIXELS} pixels")
    return _Header(width, height, depth, kind)


def _rows(raw: bytes, header: _Header) -> Iterator[bytes]:
    above = bytes(header.row_bytes)
    for at in range(0, len(raw), header.row_bytes + 1):
        above = _unfiltered(raw[at], raw[at + 1 : at + 1 + header.row_bytes], above, header.step)
        yield above


def _unfiltered(kind: int, row: bytes, above: bytes, step: int) -> bytes:
    if kind == 0:
        return row
    if kind == 2:
        return bytes((value + up) & 255 for value, up in zip(row, above, strict=True)) if any(row) else above
    lanes = {1: _by_left, 3: _by_mean, 4: _by_nearest}
    if kind not in lanes:
        raise Unreadable("it has an unknown filter")
    result = bytearray(len(row))
    for lane in range(step):
        result[lane::step] = lanes[kind](row[lane::step], above[lane::step])
    return bytes(result)


def _by_left(row: bytes, _: bytes) -> bytes:
    return bytes(total & 255 for total in itertools.accumulate(row))


def _by_mean(row: bytes, above: bytes) -> bytes:
    result, left = bytearray(), 0
    for value, up in zip(row, above, strict=True):
        left = (value + (left + up) // 2) & 255
        result.append(left)
    return bytes(result)


def _by_nearest(row: bytes, above: bytes) -> bytes:
    """Paeth's: of the left, the upper and the corner value the one that is nearest to left + upper - corner."""
    result, left, corner = bytearray(), 0, 0
    for value, up in zip(row, above, strict=True):
        to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
        if to_left > to_up or to_left > to_corner:
            left = up if to_up <= to_corner else corner
        left = (value + left) & 255
        corner = up
        result.append(left)
    return bytes(result)


def _samples(row: bytes, header: _Header) -> bytes:
    """A byte for each sample."""
    if header.depth == 8:
        return row
    if header.depth == 16:
        return row[::2]
    most = (1 << header.depth) - 1
    factor = 1 if header.kind == _PALETTE else 255 // most
    shifts = range(8 - header.depth, -1, -header.depth)
    return bytes((byte >> shift & most) * factor for byte in row for shift in shifts)[: header.width]


def _coloured(samples: bytes, header: _Header, chunks: dict[bytes, bytes]) -> bytes:
    """Red, green, blue and opacity of each pixel."""
    channels = header.channels
    pixels = bytearray(b"\xff") * (4 * header.width * header.height)
    for lane in range(3):
        if header.kind == _PALETTE:
            pixels[lane::4] = samples.translate(chunks[b"PLTE"][lane::3][:256].ljust(256, b"\0"))
        else:
            pixels[lane::4] = samples[lane if channels >= 3 else 0 :: channels]
    if header.kind == _PALETTE:
        pixels[3::4] = samples.translate(chunks.get(b"tRNS", b"")[:256].ljust(256, b"\xff"))
    elif header.kind not in (_GRAY, _RGB):
        pixels[3::4] = samples[channels - 1 :: channels]
    return bytes(pixels)
