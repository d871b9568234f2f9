"""How long a picture's sides are, as its header has it: pictures that Pillow wrote, and headers that nobody should."""

import io
import time
from base64 import b64encode, encodebytes

import pytest
from headers import HEADERS, header, jpeg
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sandglass_supervisor.limits import PICTURE_BYTES, PICTURE_SEGMENTS, PICTURE_SIDE
from sandglass_supervisor.shared.picture_sides import sides, sides_in_base64, too_long

MOST = (65535, 65535)
SOLE = b"\xff\xfe\x00\x02"  # a comment without a word


def drawn(form: str, mode: str = "RGB", size: tuple[int, int] = (301, 7), **how: object) -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, form, **how)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("mime", "picture"),
    [
        ("image/png", drawn("PNG")),
        ("image/gif", drawn("GIF", "P")),
        ("image/webp", drawn("WEBP")),
        ("image/webp", drawn("WEBP", lossless=True)),
        ("image/webp", drawn("WEBP", exif=b"Exif\0\0" + bytes(100))),
        ("image/jpeg", drawn("JPEG")),
        ("image/jpeg", drawn("JPEG", progressive=True)),
        ("image/jpeg", drawn("JPEG", "CMYK")),
        ("image/jpeg", drawn("JPEG", exif=b"Exif\0\0" + b"\xff\xc0" * 32_000, icc_profile=bytes(200_000))),
    ],
)
def test_sides_of_real_pictures(mime: str, picture: bytes) -> None:
    assert sides(mime, picture) == (301, 7)
    for text in (encodebytes(picture).decode(), f"\n  {b64encode(picture).decode()}"):
        assert sides_in_base64(mime, text) == (301, 7)


def test_each_kind_of_webp_is_among_them() -> None:
    pictures = (drawn("WEBP"), drawn("WEBP", lossless=True), drawn("WEBP", exif=b"Exif\0\0" + bytes(100)))
    assert [picture[12:16] for picture in pictures] == [b"VP8 ", b"VP8L", b"VP8X"]


@pytest.mark.parametrize("kind", HEADERS)
def test_longest_sides(kind: str) -> None:
    for size in ((1, 1), (HEADERS[kind].most, 1), (1, HEADERS[kind].most)):
        mime, picture = header(kind, *size)
        assert sides(mime, picture) == size


@pytest.mark.parametrize("kind", HEADERS)
def test_cut_headers_say_nothing(kind: str) -> None:
    mime, picture = header(kind, 9000, 40)
    for end in range(len(picture)):
        assert sides(mime, picture[:end]) is None
        assert sides_in_base64(mime, b64encode(picture[:end]).decode()) is None
    assert sides_in_base64(mime, b64encode(picture).decode()) == (9000, 40)


def test_only_the_beginning_is_decoded() -> None:
    text = b64encode(header("png", 9000, 40)[1] + bytes(100)).decode()
    assert sides_in_base64("image/png", text + "é") == (9000, 40)
    for mime in ("image/png", "image/jpeg"):
        assert sides_in_base64(mime, "é" + text) is None


def test_too_long() -> None:
    assert not too_long((PICTURE_SIDE, PICTURE_SIDE))
    assert too_long((PICTURE_SIDE + 1, 1))
    assert too_long((1, PICTURE_SIDE + 1))


@pytest.mark.parametrize(
    ("before", "found"),
    [
        (b"", (9000, 40)),
        (b"\xff" * 1000, (9000, 40)),
        (b"between segments \xff\x00", (9000, 40)),
        (b"\xff\xd0\xff\x01\xff\xd8", (9000, 40)),
        (b"\xff\xc4\x00\x03a\xff\xcc\x00\x02\xff\xc8\x00\x02", (9000, 40)),
        (b"\xff\xfe\x00\x00\xff\xfe\x00\x01", (9000, 40)),
        (b"\xff\xe1\xff\xff" + bytes(0xFFFD), (9000, 40)),
        (b"\xff\xfe\x00\x04\xff\xd9", (9000, 40)),
        (b"\xff\xda\x00\x02", None),
        (b"\xff\xd9\x00\x02", None),
    ],
)
def test_what_stands_before_a_jpegs_frame(before: bytes, found: tuple[int, int] | None) -> None:
    assert sides("image/jpeg", jpeg(9000, 40, before)) == found


def test_segments_at_their_bound() -> None:
    assert sides("image/jpeg", jpeg(9, 4, SOLE * (PICTURE_SEGMENTS - 1))) == (9, 4)
    assert sides("image/jpeg", jpeg(9, 4, SOLE * PICTURE_SEGMENTS)) == MOST


@pytest.mark.parametrize(
    "piece", [SOLE, b"\xff", b"\xff\x00", b"\x00", b"\xff\xd0", b"\xff\xfe\x00\x00", b"\xff\xfe\xff\xff"]
)
def test_hostile_jpeg_takes_no_time(piece: bytes) -> None:
    picture = b"\xff\xd8" + piece * (PICTURE_BYTES // len(piece))
    began = time.process_time()
    sides("image/jpeg", picture)
    assert time.process_time() - began < 0.5


@given(st.sampled_from(sorted(HEADERS)), st.binary(max_size=40), st.integers(0, 40))
def test_any_bytes(kind: str, noise: bytes, at: int) -> None:
    mime, picture = header(kind, 9000, 40)
    found = sides(mime, picture[:at] + noise)
    assert found is None or min(found) >= 0


def test_what_is_no_picture_has_no_sides() -> None:
    assert sides("image/svg+xml", b"<svg width='9000'/>") is None
    assert sides("image/webp", b"RIFF\x0a\x00\x00\x00WEBPVP9 " + bytes(40)) is None
