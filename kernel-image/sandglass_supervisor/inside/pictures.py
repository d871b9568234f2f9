"""Pictures that are too large to be shown: kept as files in full size, and scaled down by Pillow if it is there.

Pages that only a browser can show are kept as files too: charts of plotly, Bokeh and Altair, maps of folium.

Runs in the kernel's process: what untrusted code drew is decoded nowhere else.
"""

import contextlib
import io
import os
import re
import secrets
import time
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from typing import Any, NamedTuple

from ..limits import ENCODED_PICTURE_CHARS, HTML_CHARS, KEPT_PICTURES, KEPT_PICTURES_BYTES, PICTURE_PIXELS
from ..shared.html_text import html_text
from ..shared.picture_sides import sides_in_base64, too_long
from ..shared.text import BARE_OBJECT

FOLDER = os.path.join(".sandglass", "pictures")
_PREFIX = "picture-"
_RASTERS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
_SVG = "image/svg+xml"
_HTML = "text/html"
# What runs in the page, or is a page within it; a frame that shows a file says which.
_LIVE = re.compile(r"<script\b|<iframe\b[^>]{0,500}?\b(?:srcdoc=|src=[\"']?data:)", re.IGNORECASE)
_CHART = re.compile(r"application/vnd\.(plotly|vega|vegalite|bokehjs)\w*\b")
_AS_PICTURE = {
    "plotly": "fig.write_image('chart.png'), which needs the package kaleido (fig.write_html saves the page elsewhere)",
    "vega": "chart.save('chart.png'), which needs the package vl-convert-python",
    "bokeh": "bokeh.io.export_png, which needs the package selenium and a browser",
}
_SIDES = (1600, 1000, 600, 300)  # models see no more than the first of these
_QUALITY = 85
_REASON_CHARS = 300

Bundle = dict[str, Any]


class _Small(NamedTuple):
    """A picture that can be shown; width and height are the full size's, in pixels."""

    mime: str
    data: bytes
    width: int
    height: int


class Gallery:
    """Keeps the newest pictures in full size below ``workspace``: 64 files, 64 MiB."""

    def __init__(self, workspace: str) -> None:
        self.folder = os.path.join(workspace, FOLDER)

    def fit(self, data: Bundle, metadata: Bundle) -> tuple[Bundle, Bundle]:
        """The bundle with a picture that can be shown, or with a note that says why there is none and where it is."""
        for mime, suffix in _RASTERS.items():
            encoded = data.get(mime)
            if isinstance(encoded, str):
                return self._scaled(data, metadata, mime, suffix) if _too_large(mime, encoded) else (data, metadata)
        drawing = data.get(_SVG)
        if isinstance(drawing, str):
            said = self._kept_as(drawing.encode("utf-8", "replace"), "svg")[1]
            return _with_note(data, f"[an SVG picture was left out: {said}; draw it as PNG to see it]"), metadata
        page = data.get(_HTML)
        if (isinstance(page, str) and _LIVE.search(page)) or any(map(_CHART.match, data)):
            return self._page_as_note(data, page if isinstance(page, str) else ""), metadata
        return data, metadata

    def _page_as_note(self, data: Bundle, page: str) -> Bundle:
        """A note of what the page is and where, and its text if that is not long."""
        said = "only a browser can show it"
        if page:
            said = f"{self._kept_as(page.encode('utf-8', 'replace'), 'html')[1]}, for a browser"
        library = next((name for name in _AS_PICTURE if name in page or any(name in mime for mime in data)), "")
        picture = f"{_AS_PICTURE[library]}, or " if library else ""
        what = f"an interactive page{f' ({library})' if library else ''}"
        note = f"[{what} cannot be shown here: {said}; as a picture: {picture}draw it with matplotlib]"
        others = {mime: value for mime, value in data.items() if mime != _HTML and not _CHART.match(mime)}
        text = html_text(page) if len(page) <= HTML_CHARS else ""
        plain = others.get("text/plain")
        if text and (not isinstance(plain, str) or BARE_OBJECT.fullmatch(plain)):
            others["text/plain"] = text
        return _with_note(others, note)

    def _scaled(self, data: Bundle, metadata: Bundle, mime: str, suffix: str) -> tuple[Bundle, Bundle]:
        try:
            picture = a2b_base64(data[mime])
        except (Base64Error, ValueError):
            return _with_note(data, f"[{mime} was left out: it is not base64]"), metadata
        path, said = self._kept_as(picture, suffix)
        try:
            small = _scale(picture, mime)
        except Exception as error:  # noqa: BLE001 - whatever Pillow, or what the code put in its place, dislikes
            note = f"[a picture was left out, too large to be shown: {_why(error)}; {said}]"
            return _with_note(data, note), metadata
        original = {"path": path, "bytes": len(picture), "width": small.width, "height": small.height}
        others = {kind: value for kind, value in data.items() if kind not in _RASTERS}
        encoded = b2a_base64(small.data, newline=False).decode("ascii")
        return {**others, small.mime: encoded}, {**metadata, "sandglass": original}

    def _kept_as(self, picture: bytes, suffix: str) -> tuple[str | None, str]:
        """Path of the new file, or None, and a phrase that tells of it."""
        size = f"{len(picture)} bytes"
        try:
            path = self._keep(picture, suffix)
        except OSError as error:
            return None, f"its {size} could not be saved ({error.strerror or error})"
        return path, f"all its {size} are in the file {path}"

    def _keep(self, picture: bytes, suffix: str) -> str:
        if len(picture) > KEPT_PICTURES_BYTES:
            raise OSError(f"at most {KEPT_PICTURES_BYTES} bytes are kept")
        os.makedirs(self.folder, exist_ok=True)
        self._make_room(len(picture))
        name = f"{_PREFIX}{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}.{suffix}"
        path = os.path.join(self.folder, name)
        with open(path, "xb") as file:
            file.write(picture)
        return path

    def _make_room(self, size: int) -> None:
        """The oldest go first; other sessions may do the same at this moment."""
        known = []
        for entry in os.scandir(self.folder):
            with contextlib.suppress(OSError):
                if entry.name.startswith(_PREFIX) and entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    known.append((about.st_mtime_ns, about.st_size, entry.path))
        known.sort(reverse=True)
        room, kept = KEPT_PICTURES_BYTES - size, KEPT_PICTURES - 1
        for _, taken, path in known:
            room, kept = room - taken, kept - 1
            if room < 0 or kept < 0:
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _why(error: Exception) -> str:
    match error:
        case ImportError():
            return "Pillow is not installed"
        case OSError():
            return "Pillow cannot read it"
    return str(error)[:_REASON_CHARS] or type(error).__name__


def _too_large(mime: str, encoded: str) -> bool:
    if len(encoded) > ENCODED_PICTURE_CHARS:
        return True
    # A drawing of few lines is small in bytes whatever its sides are.
    found = sides_in_base64(mime, encoded)
    return found is not None and too_long(found)


def _with_note(data: Bundle, note: str) -> Bundle:
    text = data.get("text/plain")
    others = {mime: value for mime, value in data.items() if mime not in _RASTERS and mime != _SVG}
    alone = not isinstance(text, str) or not text or BARE_OBJECT.fullmatch(text)
    return {**others, "text/plain": note if alone else f"{text}\n{note}"}


def _scale(picture: bytes, mime: str) -> _Small:
    """The picture below the limit: as PNG if that is enough, else as JPEG, else with shorter sides."""
    # Only for a picture that is too large: most sessions draw none, and the slim image has no Pillow.
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as full:
        width, height = full.size
        if width * height > PICTURE_PIXELS:
            raise ValueError(f"{width} x {height} pixels; at most {PICTURE_PIXELS} are scaled")
        full.draft("RGB", (_SIDES[0], _SIDES[0]))
        opaque = mime == "image/jpeg" or (full.mode not in ("RGBA", "LA", "PA") and "transparency" not in full.info)
        image = full.convert("RGB" if opaque else "RGBA")
    for side in _SIDES:
        image.thumbnail((side, side))
        formats = ("JPEG",) if mime == "image/jpeg" else ("PNG", "JPEG")
        for form in formats:
            data = _encoded(image, form, Image)
            if len(data) <= ENCODED_PICTURE_CHARS // 4 * 3:
                return _Small(f"image/{form.lower()}", data, width, height)
    raise ValueError("it cannot be made small enough")


def _encoded(image: Any, form: str, pillow: Any) -> bytes:
    buffer = io.BytesIO()
    if form == "JPEG" and image.mode == "RGBA":
        white = pillow.new("RGB", image.size, "white")
        white.paste(image, mask=image.getchannel("A"))
        image = white
    image.save(buffer, form, quality=_QUALITY)
    return buffer.getvalue()
