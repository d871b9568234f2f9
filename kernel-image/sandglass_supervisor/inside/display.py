"""What the kernel displays, bounded before it is sent: every reader can take it, and the channel never breaks."""

import contextlib
import json
import os
from binascii import b2a_base64
from typing import Any

from jupyter_client.jsonutil import json_clean, json_default
from jupyter_client.session import Session, json_packer

from ..limits import JSON_RESULT_BYTES, KERNEL_MESSAGE_BYTES, TEXT_BYTES, TRACEBACK_BYTES
from .pictures import Gallery

_JSON = "application/json"
_ENCODER = json.JSONEncoder(default=json_default, ensure_ascii=False, allow_nan=False)
# What the supervisor reads; anything else would only be a large message for nothing.
_READ = frozenset(
    "text/plain text/markdown text/latex text/html image/png image/jpeg image/gif image/webp application/json".split()
)

_WIDEST = 4  # bytes of a character
_NOTE_BYTES = 64


class BoundedSession(Session):
    """Sends results, pictures and tracebacks only up to a size that every reader can take."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(pack=_packed, **kwargs)
        # Here, because the code may go elsewhere.
        self._gallery = Gallery(os.getcwd())

    def send(self, stream: Any, msg_or_type: Any, content: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Send a message, with what is too large in it cut or replaced by a note."""
        if isinstance(msg_or_type, dict):
            msg_or_type = {**msg_or_type, "content": bounded(msg_or_type["content"], self._gallery)}
        elif isinstance(content, dict):
            content = bounded(content, self._gallery)
        # Of widgets, and for nobody here.
        kwargs.pop("buffers", None)
        return super().send(stream, msg_or_type, content, *args, **kwargs)

    def serialize(self, msg: dict[str, Any], ident: Any = None) -> list[bytes]:
        """A message's parts; of one that would break the connection only what its run needs, and a note."""
        parts = super().serialize(msg, ident)
        largest = max(map(len, parts))
        if largest <= KERNEL_MESSAGE_BYTES:
            return parts
        return super().serialize({**msg, "metadata": {}, "content": _told_instead(msg["content"], largest)}, ident)


def _packed(value: Any) -> bytes:
    """JSON as Jupyter writes it; in ASCII if it holds half a character, which is no UTF-8 and would cost all of it."""
    # jupyter_client makes an encoder for each of the dozen parts that a run sends.
    with contextlib.suppress(TypeError, ValueError):
        return _ENCODER.encode(value).encode()
    try:
        return json_packer(value)
    except UnicodeEncodeError:
        return json.dumps(json_clean(value), default=json_default, allow_nan=False).encode("ascii")


def bounded(content: dict[str, Any], gallery: Gallery) -> dict[str, Any]:
    """A message's content of a bounded size; what is no bundle, no error and no reply with pages is left as it is."""
    data, metadata = content.get("data"), content.get("metadata")
    if isinstance(data, dict) and isinstance(metadata, dict):
        data, metadata = gallery.fit(_in_base64(data), metadata)
        content = {**content, "data": _bounded_data(data), "metadata": _bounded_metadata(metadata)}
    if "traceback" in content and "ename" in content:
        lines = _cut("\n".join(map(str, content["traceback"])), TRACEBACK_BYTES)
        content = {**content, "traceback": lines.split("\n"), "evalue": _cut(str(content["evalue"]), TRACEBACK_BYTES)}
    if content.get("payload"):
        content = {**content, "payload": _asked(content["payload"])}
    return content


def _in_base64(data: dict[str, Any]) -> dict[str, Any]:
    """Pictures as base64: Pillow's, and many others, come as bytes, which Jupyter encodes only when it sends them."""
    return {
        mime: b2a_base64(value, newline=False).decode("ascii")
        if mime.startswith("image/") and isinstance(value, bytes)
        else value
        for mime, value in data.items()
    }


def _asked(payload: list[Any]) -> list[dict[str, Any]]:
    """Pages, and the kernel's end; what else a reply may ask of a client nobody here would do."""
    return [_page(item["data"]) for item in payload if _is_page(item)] + _asked_ends(payload)


def _asked_ends(payload: Any) -> list[dict[str, Any]]:
    """At most one, however often it is asked for."""
    asked = payload if isinstance(payload, list) else []
    ends = [item for item in asked if isinstance(item, dict) and item.get("source") == "ask_exit"]
    return [{"source": "ask_exit", "keepkernel": all(item.get("keepkernel") for item in ends)}] if ends else []


def _is_page(item: Any) -> bool:
    """True for text that Jupyter's pager would show."""
    return isinstance(item, dict) and item.get("source") == "page" and isinstance(item.get("data"), dict)


def _page(data: dict[str, Any]) -> dict[str, Any]:
    return {"source": "page", "data": _bounded_data(data)}


def _told_instead(content: Any, size: int) -> dict[str, Any]:
    """How a run ended, if the content says so, and a note where its output would be."""
    note = f"[a message of {size} bytes was left out: too large; show a part of it, or save it to a file]"
    data = {"text/plain": note}
    said = content if isinstance(content, dict) else {}
    kept = {name: said[name] for name in ("status", "execution_count", "execution_state") if name in said}
    payload = [_page(data), *_asked_ends(said["payload"])] if "payload" in said else []
    return {**kept, "data": data, "metadata": {}, "payload": payload}


def _bounded_data(data: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for mime, value in data.items():
        if mime in _READ and isinstance(value, str):
            kept[mime] = _cut(value, TEXT_BYTES) if mime.startswith("text/") else value
        else:
            kept[mime] = ""  # the supervisor names it, if there is nothing better to show
    if _JSON in data:
        text = json.dumps(data[_JSON], ensure_ascii=False, default=repr)
        del kept[_JSON]
        # Cut, it would be no JSON.
        kept.update({_JSON: data[_JSON]} if len(text) <= JSON_RESULT_BYTES else {"text/plain": _cut(text, TEXT_BYTES)})
    return kept


def _bounded_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Only what is read: dimensions of pictures, and what the gallery says."""
    kept = {"sandglass": metadata["sandglass"]} if "sandglass" in metadata else {}
    for mime, about in metadata.items():
        if mime in _READ and isinstance(about, dict):
            kept[mime] = {side: about[side] for side in ("width", "height") if isinstance(about.get(side), int)}
    return kept


def _cut(text: str, limit: int) -> str:
    """Text of at most ``limit`` bytes: the supervisor would cut what is longer once more, and this note away."""
    if len(text) * _WIDEST <= limit:
        return text
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    half = (limit - _NOTE_BYTES) // 2
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return f"{head}\n[... {len(data) - 2 * half} bytes left out ...]\n{tail}"
