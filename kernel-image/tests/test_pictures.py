"""Pictures that are too large, in the kernel's process: kept as files, scaled, or named; no kernel runs here."""

import io
import json
import os
import sys
from binascii import a2b_base64
from pathlib import Path
from typing import Any

import pytest
from headers import HEADERS, header
from PIL import Image
from test_content import FIRST_BYTES, encoded, shown

from sandglass_supervisor.inside import pictures
from sandglass_supervisor.inside.display import bounded
from sandglass_supervisor.inside.pictures import Gallery
from sandglass_supervisor.limits import ENCODED_PICTURE_CHARS, JSON_RESULT_BYTES, KEPT_PICTURES, PICTURE_SIDE


def noise(width: int, height: int, form: str = "PNG", mode: str = "RGB") -> bytes:
    buffer = io.BytesIO()
    Image.frombytes(mode, (width, height), os.urandom(width * height * len(mode))).save(buffer, form)
    return buffer.getvalue()


def fit(folder: Path, mime: str, picture: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    return Gallery(str(folder)).fit({"text/plain": "a figure", mime: encoded(picture)}, {mime: {"width": 1}})


def kept(folder: Path) -> list[Path]:
    return sorted((folder / ".sandglass" / "pictures").glob("*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mime", "form", "mode"),
    [
        ("image/png", "PNG", "RGB"),
        ("image/png", "PNG", "RGBA"),
        ("image/jpeg", "JPEG", "RGB"),
        ("image/webp", "WEBP", "RGB"),
    ],
)
def test_large_picture_is_kept_and_scaled(tmp_path: Path, mime: str, form: str, mode: str) -> None:
    picture = noise(1800, 1200, form, mode)
    data, metadata = fit(tmp_path, mime, picture)
    (path,) = kept(tmp_path)
    assert path.read_bytes() == picture
    assert metadata["sandglass"] == {"path": str(path), "bytes": len(picture), "width": 1800, "height": 1200}
    (small_mime,) = [kind for kind in data if kind.startswith("image/")]
    assert len(data[small_mime]) <= ENCODED_PICTURE_CHARS
    with Image.open(io.BytesIO(a2b_base64(data[small_mime]))) as small:
        assert max(small.size) <= 1600
        assert small.format == small_mime.removeprefix("image/").upper()
    assert json.loads(shown(data, metadata).json)["original"]["path"] == str(path)


def test_drawing_stays_png(tmp_path: Path) -> None:
    picture = noise(20, 20) + bytes(ENCODED_PICTURE_CHARS)
    data, _ = fit(tmp_path, "image/png", picture)
    assert "image/png" in data


def test_picture_at_the_bound_passes(tmp_path: Path) -> None:
    picture = noise(10, 10).ljust(ENCODED_PICTURE_CHARS // 4 * 3, b"\0")
    data, metadata = fit(tmp_path, "image/png", picture)
    assert a2b_base64(data["image/png"]) == picture
    assert "sandglass" not in metadata
    assert kept(tmp_path) == []
    assert "sandglass" in fit(tmp_path, "image/png", picture + b"\0")[1]


def blank(width: int, height: int, form: str = "PNG", **how: object) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (width, height)).save(buffer, form, **how)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("form", "how"),
    [("PNG", {}), ("JPEG", {}), ("JPEG", {"icc_profile": bytes(200_000)}), ("GIF", {}), ("WEBP", {})],
)
def test_long_sides_are_scaled_however_few_bytes(tmp_path: Path, form: str, how: dict[str, Any]) -> None:
    mime = f"image/{form.lower()}"
    assert "sandglass" not in fit(tmp_path, mime, blank(PICTURE_SIDE, 10, form, **how))[1]
    for width, height in ((PICTURE_SIDE + 1, 10), (10, PICTURE_SIDE + 1)):
        data, metadata = fit(tmp_path, mime, blank(width, height, form, **how))
        assert (metadata["sandglass"]["width"], metadata["sandglass"]["height"]) == (width, height)
        assert json.loads(shown(data, metadata).json)["mime"].startswith("image/")


@pytest.mark.parametrize("kind", HEADERS)
def test_cut_headers_are_left_as_they_are(tmp_path: Path, kind: str) -> None:
    mime, picture = header(kind, PICTURE_SIDE + 1, 10)
    assert fit(tmp_path, mime, picture[:-1])[0] == {"text/plain": "a figure", mime: encoded(picture[:-1])}
    assert Gallery(str(tmp_path)).fit({mime: "no base64"}, {})[0] == {mime: "no base64"}


def test_too_many_pixels_are_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "PICTURE_PIXELS", 100)
    picture = noise(11, 10) + bytes(ENCODED_PICTURE_CHARS)
    note = fit(tmp_path, "image/png", picture)[0]["text/plain"]
    (path,) = kept(tmp_path)
    assert "11 x 10 pixels" in note
    assert f"all its {len(picture)} bytes are in the file {path}" in note


def test_what_cannot_be_scaled_is_kept_and_named(tmp_path: Path) -> None:
    picture = FIRST_BYTES["image/png"] + bytes(ENCODED_PICTURE_CHARS)
    data, metadata = fit(tmp_path, "image/png", picture)
    (path,) = kept(tmp_path)
    assert set(data) == {"text/plain"}
    assert data["text/plain"].startswith(
        "a figure\n[a picture was left out, too large to be shown: Pillow cannot read it; "
    )
    assert str(path) in data["text/plain"]
    assert "sandglass" not in metadata


def test_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = noise(1800, 1200)
    monkeypatch.setitem(sys.modules, "PIL", None)
    note = fit(tmp_path, "image/png", picture)[0]["text/plain"]
    assert "Pillow is not installed" in note
    assert str(kept(tmp_path)[0]) in note


@pytest.mark.slow
def test_where_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / ".sandglass").write_text("a file")
    picture = noise(1800, 1200)
    data, metadata = fit(tmp_path, "image/png", picture)
    assert metadata["sandglass"]["path"] is None
    assert [mime for mime in data if mime.startswith("image/")]
    drawing = Gallery(str(tmp_path)).fit({"image/svg+xml": "<svg/>"}, {})[0]["text/plain"]
    assert "its 6 bytes could not be saved (Not a directory)" in drawing


def test_svg_is_kept_and_named(tmp_path: Path) -> None:
    bundle = {"text/plain": "<IPython.core.display.SVG object>", "image/svg+xml": "<svg>é</svg>"}
    data, _ = Gallery(str(tmp_path)).fit(bundle, {})
    (path,) = kept(tmp_path)
    assert path.read_text("utf-8") == "<svg>é</svg>"
    assert str(path) in data["text/plain"]
    assert set(data) == {"text/plain"}


def test_oldest_pictures_go_first(tmp_path: Path) -> None:
    gallery = Gallery(str(tmp_path))
    mine = tmp_path / ".sandglass" / "pictures" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("not a picture of the gallery")
    for number in range(KEPT_PICTURES):
        name = mine.parent / f"picture-{number}.png"
        name.write_bytes(b"x")
        os.utime(name, (number, number))
    gallery.fit({"image/svg+xml": "<svg/>"}, {})
    names = {path.name for path in kept(tmp_path)}
    assert len(names) == KEPT_PICTURES + 1
    assert "picture-0.png" not in names
    assert {"mine.txt", "picture-1.png"} <= names


def test_kept_pictures_are_bounded_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "KEPT_PICTURES_BYTES", 20)
    gallery = Gallery(str(tmp_path))
    for _ in range(4):
        gallery.fit({"image/svg+xml": "<svg....>"}, {})
    assert len(kept(tmp_path)) == 2
    assert "at most 20 bytes are kept" in gallery.fit({"image/svg+xml": "x" * 21}, {})[0]["text/plain"]
    assert len(kept(tmp_path)) == 2


def test_only_what_is_read_is_sent(tmp_path: Path) -> None:
    sent = bounded(
        {
            "data": {"application/vnd.x+json": ["y" * 9_000_000], "image/png": [1], "text/html": "x" * 5_000_000},
            "metadata": {"big": "z" * 9_000_000, "image/png": {"width": 5, "other": "w" * 9_000_000}},
        },
        Gallery(str(tmp_path)),
    )
    assert len(json.dumps(sent)) < 1_100_000
    assert sent["metadata"] == {"image/png": {"width": 5}}


def test_large_json_is_sent_as_text(tmp_path: Path) -> None:
    value = ["x" * JSON_RESULT_BYTES]
    data = bounded({"data": {"application/json": value, "text/plain": "bare"}, "metadata": {}}, Gallery(str(tmp_path)))
    assert data["data"] == {"text/plain": json.dumps(value)}
