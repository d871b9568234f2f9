"""Pictures as Pillow reads them: every form of PNG, and none that is broken or too large."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from typing import Any

import pytest
from PIL import Image

from sandglass.terminal import bitmaps, pictures
from sandglass.terminal.bitmaps import CLEAR, Bitmap
from sandglass.terminal.pictures import Display
from tests.test_pictures import SMALL

# Recorded: what Pillow wrote, and the pixels that it read from there.
FORMS = {
    "1": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQAAAAC1D1u3AAAADElEQVR4nGNwYHIAAAEIAIMYhovOAAAAAElFTkSuQmCC",
        "000000ffffffffff000000ffffffffff000000ff000000ff",
    ),
    "L": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAAEElEQVR4nGNg+O/DNE2OGQAJhwIFlESaPQAAAABJRU5ErkJggg==",
        "000000ffffffffff4c4c4cff969696ff1d1d1dff4f4f4fff",
    ),
    "LA": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAQAAAA3fa6RAAAAFklEQVR4nGNk+P+fwZeBaRqDHCNzIwAeTgOIL/kVPwAAAABJRU5ErkJggg==",
        "000000ffffffffff4c4c4cff969696ff1d1d1d004f4f4f80",
    ),
    "RGB": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAG0lEQVR4nAXBAQEAAAiAIKY0pWk9N4AqCN3OA0fuBtvXGK1oAAAAAElFTkSuQmCC",
        "000000ffffffffffff0000ff00ff00ff0000ffff804020ff",
    ),
    "RGBA": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAHklEQVR4nGNkYGD4////fwYGRkYGJgYIzdjooNAIAGCpBmYztzWDAAAAAElFTkSuQmCC",
        "000000ffffffffffff0000ff00ff00ff0000ff0080402080",
    ),
    "P of 2 bits": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAgMAAADgGo6JAAAADFBMVEWA/4CAQCD/AAAAAIAgGREPAAAADElEQVR4nGM4wWACAAKQAP3wqvuyAAAAAElFTkSuQmCC",
        "000080ff80ff80ffff0000ff80ff80ff000080ff804020ff",
    ),
    "L of 16 bits": (
        "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABEAAAAACB2fwVAAAADUlEQVR4nGOY48DwHwAENAHcBQITgQAAAABJRU5ErkJggg==",
        "9c9c9cff000000ff",
    ),
}


def saved(picture: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def read(data: bytes, most_colours: int = 255) -> Bitmap:
    return bitmaps.read(data, 1000, 1000, most_colours)


def seen(picture: Bitmap) -> list[tuple[int, ...] | None]:
    """The colour of each pixel; None if it is clear."""
    return [None if index == CLEAR else picture.palette[index] for index in picture.indexes]


@pytest.mark.parametrize("form", FORMS)
def test_a_png_of_each_form_is_read(form: str) -> None:
    data, expected = FORMS[form]
    pixels = bytes.fromhex(expected)
    colours = [tuple(pixels[at : at + 3]) if pixels[at + 3] >= 128 else None for at in range(0, len(pixels), 4)]
    assert seen(read(base64.b64decode(data))) == colours


def test_an_interlaced_png_is_read() -> None:
    # Rows of the seven passes: of 2 x 2 pixels the first, the one to its right, and the row below.
    raw = b"\0\xff\0\0\xff" + b"\0\0\xff\0\xff" + b"\0\0\0\xff\xff" + b"\1\1\1\xff"
    interlaced = made(raw, 2, 2, b"\x08\x06\0\0\1")
    assert seen(read(interlaced)) == [(255, 0, 0), (0, 255, 0), (0, 0, 255), (1, 1, 1)]


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(name + content))


def made(raw: bytes, width: int, height: int, form: bytes = b"\x08\x06\0\0\0") -> bytes:
    """A PNG of rows that are filtered already."""
    header = chunk(b"IHDR", struct.pack(">II", width, height) + form)
    return pictures.PNG + header + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (made(b"\5\0\0\0\0", 1, 1), "it is broken"),
        (made(b"\0" * 5, 1, 1, b"\x08\x05\0\0\0"), "it is broken"),
        (made(b"", 0, 1), "it is broken"),
        (made(b"", 16_000_001, 1), "must have 1 to 16000000 pixels"),
        (made(b"", 4001, 4000), "must have 1 to 16000000 pixels"),
        # Pillow itself warns of the first and refuses the second.
        (made(b"", 100_000_000, 1), "must have 1 to 16000000 pixels"),
        (made(b"", 0x7FFFFFFF, 0x7FFFFFFF), r"it is broken \(DecompressionBombError\)"),
        (base64.b64decode(SMALL)[:60], "it is broken"),
        (base64.b64decode(SMALL)[:40], "it is broken"),
        (base64.b64decode(SMALL)[:20], "it is broken"),
        (pictures.PNG + b"\xff\xff\xff\xffIDAT", "it is broken"),
        (saved(Image.new("RGB", (50, 50)), "JPEG")[:300], "it is broken"),
        # What Pillow reads and terminals are not given.
        (saved(Image.new("RGB", (5, 5)), "BMP"), "it is broken"),
    ],
)
def test_a_picture_that_cannot_be_read_is_saved_instead(
    data: bytes, words: str, recwarn: pytest.WarningsRecorder
) -> None:
    with pytest.raises(bitmaps.Unreadable, match=words):
        read(data)
    assert pictures.shown(data, Display("sixel")) is None
    assert list(recwarn) == []


def test_the_largest_picture_is_read_and_drawn_smaller() -> None:
    picture = read(saved(Image.new("1", (4000, 4000), 1)))
    assert (picture.width, picture.height, picture.palette) == (1000, 1000, ((255, 255, 255),))
    assert picture.indexes == bytes(1_000_000)


def test_a_picture_that_is_too_wide_or_too_high_is_drawn_smaller() -> None:
    for size, smaller in (((40, 20), (10, 5)), ((10, 40), (5, 20)), ((10, 20), (10, 20)), ((5000, 1), (10, 1))):
        picture = bitmaps.read(saved(Image.new("RGB", size)), 10, 20, 255)
        assert (picture.width, picture.height, len(picture.indexes)) == (*smaller, smaller[0] * smaller[1])


def test_many_colours_become_few_and_clear_pixels_stay_clear() -> None:
    noise = [(x * 8, y * 8, (x * y) % 256, 255 if x else 127) for y in range(32) for x in range(32)]
    picture = Image.new("RGBA", (32, 32))
    picture.putdata(noise)
    few = read(saved(picture), 16)
    assert len(few.palette) == 16
    assert [index == CLEAR for index in few.indexes] == [at % 32 == 0 for at in range(1024)]
    away = [
        abs(part - noise[at][lane])
        for at, index in enumerate(few.indexes)
        if index != CLEAR
        for lane, part in enumerate(few.palette[index])
    ]
    assert sum(away) / len(away) < 32
    every = Image.new("RGB", (256, 1))
    every.putdata([(number, 0, 0) for number in range(256)])
    assert len(read(saved(every), 999).palette) == bitmaps.MOST_COLOURS
    exact = saved(every.crop((0, 0, 255, 1)))
    assert seen(read(exact)) == [(number, 0, 0) for number in range(255)]
