"""What a kernel's messages say, as output records: streams, results, pictures, tracebacks (pure).

The content was written by untrusted code: every size is bounded here and every field's type is checked.
"""

import json
import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Iterator
from typing import Any, NamedTuple

from .limits import MESSAGE_CHARS, PICTURE_BYTES, SLICE_BYTES, TEXT_BYTES, TRACEBACK_BYTES
from .wire import to_json

# CSI, OSC and the two-character escapes of ECMA-48; an unfinished sequence ends with the text.
_TERMINAL_CODES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|\x9b[0-?]*[ -/]*[@-~]?"
)
_BARE_OBJECT = re.compile(r"<IPython\.core\.display\.\w+ object>")
_TAGS = re.compile(r"<(?:style|script)\b.*?</(?:style|script)\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_MAGIC = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_TEXTS = ("text/plain", "text/markdown", "text/latex")


class Entry(NamedTuple):
    """An output record before it has an offset."""

    kind: str
    json: bytes
    blob: bytes


def stream(content: dict[str, Any]) -> Iterator[Entry]:
    """The records of a ``stream`` message: slices that never cut a code point."""
    kind = "stderr" if content.get("name") == "stderr" else "stdout"
    text = content.get("text")
    if isinstance(text, str):
        for blob in slices(text.encode("utf-8", "replace")):
            yield Entry(kind, b"{}", blob)


def slices(data: bytes, size: int = SLICE_BYTES) -> Iterator[bytes]:
    """UTF-8 in pieces of at most ``size`` bytes that each are UTF-8."""
    start = 0
    while start < len(data):
        end = start + size
        while start < end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end]
        start = end


def shown(kind: str, content: dict[str, Any]) -> Entry | None:
    """The one record of a ``display`` or ``result``: a picture if there is one, else the most readable text."""
    data = content.get("data")
    metadata = content.get("metadata")
    if not isinstance(data, dict):
        return None
    for mime, magic in _MAGIC.items():
        picture = _picture(data.get(mime), magic)
        if picture is not None and len(picture) <= PICTURE_BYTES:
            return _entry(kind, mime, _dimensions(metadata, mime), picture)
        if picture is not None:
            rule = f"at most {PICTURE_BYTES} can be shown; save it to a file"
            note = f"[a picture of {len(picture)} bytes was left out: {rule}]"
            return _entry(kind, "text/plain", {}, note.encode())
    found = _text(data)
    return None if found is None else _entry(kind, found[0], {}, _cut(found[1], TEXT_BYTES))


def error(content: dict[str, Any]) -> Entry:
    """The record of an ``error`` message or of a reply that tells of one."""
    name, message, lines = content.get("ename"), content.get("evalue"), content.get("traceback")
    traceback = "\n".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ""
    about = {
        "name": plain(name)[:MESSAGE_CHARS] if isinstance(name, str) else "Error",
        "message": plain(message)[:MESSAGE_CHARS] if isinstance(message, str) else "",
    }
    return Entry("error", to_json(about), _cut(plain(traceback), TRACEBACK_BYTES))


def pages(reply: dict[str, Any]) -> Iterator[Entry]:
    """What a reply would show in Jupyter's pager: the text of ``name?`` and the like."""
    payload = reply.get("payload")
    for item in payload if isinstance(payload, list) else []:
        if isinstance(item, dict) and item.get("source") == "page" and isinstance(item.get("data"), dict):
            found = _text(item["data"])
            if found is not None:
                yield _entry("display", "text/plain", {}, _cut(plain(found[1]), TEXT_BYTES))


def parse(content: bytes) -> dict[str, Any]:
    """A message's content; an empty object if it is no JSON object."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def plain(text: str) -> str:
    """Text without terminal codes."""
    return _TERMINAL_CODES.sub("", text)


def _entry(kind: str, mime: str, metadata: dict[str, int], blob: bytes) -> Entry:
    return Entry(kind, to_json({"mime": mime, "metadata": metadata}), blob)


def _picture(value: object, magic: bytes) -> bytes | None:
    if not isinstance(value, str):
        return None
    try:
        data = a2b_base64(value)
    except (Base64Error, ValueError):
        return None
    return data if data.startswith(magic) else None


def _dimensions(metadata: object, mime: str) -> dict[str, int]:
    about = metadata.get(mime) if isinstance(metadata, dict) else None
    known = about if isinstance(about, dict) else {}
    return {side: known[side] for side in ("width", "height") if isinstance(known.get(side), int)}


def _text(data: dict[str, Any]) -> tuple[str, str] | None:
    texts = {mime: text for mime, text in data.items() if isinstance(text, str)}
    # The bare name of a display object says nothing; what it shows does.
    bare = texts.pop("text/plain") if _BARE_OBJECT.fullmatch(texts.get("text/plain", "")) else None
    for mime in _TEXTS:
        if mime in texts:
            return mime, texts[mime]
    if "application/json" in data:
        return "application/json", json.dumps(data["application/json"])
    if "text/html" in texts:
        return "text/plain", _readable(texts["text/html"])
    if "image/svg+xml" in texts and bare is not None:
        return "text/plain", "[an SVG picture was left out: draw it as PNG to see it]"
    return None if bare is None else ("text/plain", bare)


def _readable(html: str) -> str:
    text = _TAGS.sub(" ", html)
    for name, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")):
        text = text.replace(name, char)
    return "\n".join(line for line in (" ".join(part.split()) for part in text.splitlines()) if line)


def _cut(text: str, limit: int) -> bytes:
    """Text as UTF-8 of at most ``limit`` bytes, head and tail kept."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data
    note = f"\n[... {len(data) - limit} bytes left out ...]\n".encode()
    half = (limit - len(note)) // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[-half:].decode("utf-8", "ignore")
    return head.encode() + note + tail.encode()
