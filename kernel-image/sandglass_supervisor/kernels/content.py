"""What a kernel's messages say, as output records: streams, results, pictures, tracebacks (pure).

Pictures are passed on as they are: nothing here decodes them.

The content was written by untrusted code: every size is bounded here and every field's type is checked.
"""

import json
import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..limits import (
    DISPLAY_NAME_CHARS,
    JSON_RESULT_BYTES,
    KERNEL_VALUES,
    MESSAGE_CHARS,
    PATH_BYTES,
    PICTURE_BYTES,
    PICTURE_SIDE,
    TEXT_BYTES,
    TRACEBACK_BYTES,
)
from ..link.wire import to_json
from ..shared.html_text import html_text
from ..shared.picture_sides import sides, too_long
from ..shared.text import BARE_OBJECT, plain, slices

_PICTURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF.{4}WEBP", re.DOTALL),
}
_TEXTS = ("text/plain", "text/markdown", "text/latex")
_JSON = "application/json"
_NOTED_MIMES = 5
_MOST = 2**53


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


def shown(kind: str, content: dict[str, Any], *, update: bool = False) -> Entry | None:
    """The one record of a ``display`` or ``result``: a picture if there is one, else the most readable text.

    ``update``: it is a newer version of what was displayed under the same name.
    """
    data = content.get("data")
    metadata = content.get("metadata")
    if not isinstance(data, dict):
        return None
    named = _display_name(content, update=update)
    for mime, magic in _PICTURES.items():
        picture = _picture(data.get(mime), magic)
        if picture is None:
            continue
        if (why := _unfit(mime, picture)) is not None:
            return _entry(kind, "text/plain", f"[a picture of {why}]", named)
        about = {"mime": mime, "metadata": _dimensions(metadata, mime), "original": _original(metadata)}
        about.update(named)
        return Entry(kind, to_json(about), picture)
    found = _text(data)
    return None if found is None else _entry(kind, *found, named)


def cleared(content: dict[str, Any]) -> Entry:
    """The record that takes back what was printed and displayed before: at once, or when something follows."""
    about = {"mime": "text/plain", "metadata": {}, "clear": {"wait": content.get("wait") is True}}
    return Entry("display", to_json(about), b"")


def _display_name(content: dict[str, Any], *, update: bool) -> dict[str, Any]:
    """Under which name it can be displayed anew; nothing of most."""
    transient = content.get("transient")
    name = transient.get("display_id") if isinstance(transient, dict) else None
    if not isinstance(name, str) or not 0 < len(name) <= DISPLAY_NAME_CHARS:
        return {}
    return {"display": {"id": name, "update": update}}


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
    for item in _payload(reply, "page"):
        found = _text(item["data"]) if isinstance(item.get("data"), dict) else None
        if found is not None:
            yield _entry("display", "text/plain", found[1])


def asks_exit(reply: dict[str, Any]) -> bool:
    """Whether a reply tells that the kernel ends because the code asked for it, by ``exit()`` or ``quit()``."""
    return any(not item.get("keepkernel") for item in _payload(reply, "ask_exit"))


def _payload(reply: dict[str, Any], source: str) -> Iterator[dict[str, Any]]:
    payload = reply.get("payload")
    items = payload if isinstance(payload, list) else []
    return (item for item in items if isinstance(item, dict) and item.get("source") == source)


def parse(content: bytes) -> dict[str, Any]:
    """A message's content; an empty object if it is no JSON object, a note in its place if it has too many values."""
    if _has_many_values(content):
        rule = f"at most {KERNEL_VALUES} can be shown; show a part of it, or save it to a file"
        return {"data": {"text/plain": f"[{len(content)} bytes of JSON with more values were left out: {rule}]"}}
    try:
        value = json.loads(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _has_many_values(content: bytes) -> bool:
    """Counted without making any of them: three bytes of text would become eighty of an empty list."""
    if len(content) <= KERNEL_VALUES or _separators(content) < KERNEL_VALUES:
        return False
    unescaped = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    if unescaped.count(b'"') > 2 * KERNEL_VALUES:
        return True
    return _separators(b"".join(unescaped.split(b'"')[::2])) >= KERNEL_VALUES


def _separators(text: bytes) -> int:
    """As many as there are values at least, but for one."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _entry(kind: str, mime: str, text: str, named: dict[str, Any] | None = None) -> Entry:
    # JSON is data for programs: cut, it would be none.
    blob = text.encode("utf-8", "replace") if mime == _JSON else _cut(plain(text), TEXT_BYTES)
    return Entry(kind, to_json({"mime": mime, "metadata": {}, **(named or {})}), blob)


def _picture(value: object, magic: re.Pattern[bytes]) -> bytes | None:
    if not isinstance(value, str):
        return None
    try:
        data = a2b_base64(value)
    except (Base64Error, ValueError):
        return None
    return data if magic.match(data) else None


def _unfit(mime: str, picture: bytes) -> str | None:
    """Of what size a picture is that cannot be shown, and what to do; None if it can."""
    if len(picture) > PICTURE_BYTES:
        return f"{len(picture)} bytes was left out: at most {PICTURE_BYTES} can be shown; save it to a file"
    found = sides(mime, picture)
    if found is None or not too_long(found):
        return None
    rule = f"at most {PICTURE_SIDE} on a side can be shown; scale it down, or show it in parts"
    return f"{found[0]} x {found[1]} pixels was left out: {rule}"


def _dimensions(metadata: object, mime: str) -> dict[str, int]:
    about = metadata.get(mime) if isinstance(metadata, dict) else None
    return _numbers(about, "width", "height")


def _original(metadata: object) -> dict[str, Any] | None:
    """What the kernel's start-up module says of the full size of a picture that it scaled down."""
    about = metadata.get("sandglass") if isinstance(metadata, dict) else None
    if not isinstance(about, dict):
        return None
    path = about.get("path")
    known = isinstance(path, str) and path.isprintable() and len(path) <= PATH_BYTES
    return {"path": path if known else None, **_numbers(about, "bytes", "width", "height")}


def _numbers(about: object, *names: str) -> dict[str, int]:
    known = about if isinstance(about, dict) else {}
    return {name: known[name] for name in names if type(known.get(name)) is int and 0 <= known[name] < _MOST}


def _text(data: dict[str, Any]) -> tuple[str, str] | None:
    texts = {mime: text for mime, text in data.items() if isinstance(text, str)}
    said = texts.get("text/plain", "")
    # The bare name of an object says nothing; what it shows does.
    bare = texts.pop("text/plain", None) if BARE_OBJECT.fullmatch(said) else None
    if _JSON in data:
        return _structured(data[_JSON])
    for mime in _TEXTS:
        if mime in texts:
            return mime, texts[mime]
    page = html_text(texts["text/html"]) if "text/html" in texts else ""
    if page:
        return "text/plain", page
    others = sorted(mime for mime in data if mime not in _TEXTS)
    if not others:
        return None if bare is None else ("text/plain", bare)
    kinds = ", ".join(others[:_NOTED_MIMES])
    advice = "draw it as PNG to see it" if "image/svg+xml" in others else "show it as text or PNG to see it"
    return "text/plain", f"{'' if bare is None else bare + ' '}[what cannot be shown was left out ({kinds}): {advice}]"


def _structured(value: object) -> tuple[str, str]:
    """A value that the code displays as JSON: as data if it is JSON and not too long, else as text."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return "text/plain", json.dumps(value, ensure_ascii=False)
    return _JSON if len(text) <= JSON_RESULT_BYTES else "text/plain", text


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
