"""The result of a call as a value of Python."""

import base64
import binascii
import json
from typing import Any


class Media(bytes):
    """A picture, sound or file of a result: its bytes, with the media type as ``type``."""

    type: str

    def __new__(cls, data: bytes, media_type: str) -> "Media":
        media = super().__new__(cls, data)
        media.type = media_type
        return media

    def __repr__(self) -> str:
        return f"<{self.type}, {len(self)} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Media, (bytes(self), self.type)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """A picture that is a cell's value is shown."""
        if not self.type.startswith("image/"):
            return {"text/plain": repr(self)}
        return {self.type: base64.b64encode(self).decode(), "text/plain": repr(self)}


def value_of(result: dict[str, Any]) -> Any:
    """Structured content if there is any; else the part, or the parts as a list; None if there are none."""
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    values = [_part(part) for part in parts_of(result)]
    return values[0] if len(values) == 1 else values or None


def text_of(result: dict[str, Any]) -> str:
    """The text parts, a line break between two, as they are."""
    return "\n".join(part["text"] for part in parts_of(result) if _is_text(part))


def parts_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the content."""
    content = result.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def parsed(text: str) -> Any:
    """The value if the text is JSON, else the text."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text


def _part(part: dict[str, Any]) -> Any:
    if _is_text(part):
        return parsed(part["text"])
    if part.get("type") in ("image", "audio"):
        return _media(part, "data")
    resource = part.get("resource")
    if part.get("type") == "resource" and isinstance(resource, dict):
        if isinstance(resource.get("text"), str):
            return parsed(resource["text"])
        if isinstance(resource.get("blob"), str):
            return _media(resource, "blob")
    return part


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type") == "text" and isinstance(part.get("text"), str)


def _media(part: dict[str, Any], key: str) -> Any:
    try:
        data = base64.b64decode(part[key], validate=True)
    except (KeyError, TypeError, binascii.Error, ValueError):
        return part
    return Media(data, str(part.get("mimeType") or "application/octet-stream"))


def _refuse(constant: str) -> None:
    raise ValueError(constant)
