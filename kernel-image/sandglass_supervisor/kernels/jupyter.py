"""As much of the Jupyter wire protocol as routing needs: sign and build requests, check and split messages (pure).

Frames: identities, ``<IDS|MSG>``, signature, header, parent header, metadata, content, buffers.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..limits import KERNEL_HEADER_BYTES

_DELIMITER = b"<IDS|MSG>"
_VERSION = "5.4"


class Message(NamedTuple):
    """A checked message of a kernel; ``content`` is still JSON, so that what nobody needs is not parsed."""

    kind: str
    parent_id: str
    content: bytes


def request(key: bytes, msg_id: str, kind: str, content: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[bytes]:
    """The frames of a signed request."""
    header = {
        "msg_id": msg_id,
        "msg_type": kind,
        "username": "sandglass",
        "session": "sandglass",
        "date": "",
        "version": _VERSION,
    }
    parts = [json.dumps(part).encode() for part in (header, {}, metadata, content)]
    return [_DELIMITER, _signature(key, parts), *parts]


def parse(key: bytes, frames: Sequence[bytes]) -> Message | None:
    """The message in ``frames``, or None if it is malformed, has too large headers, or is not signed with ``key``."""
    try:
        start = list(frames).index(_DELIMITER) + 1
        signature, *parts = frames[start : start + 5]
        if len(parts) != 4 or any(len(part) > KERNEL_HEADER_BYTES for part in parts[:3]):
            return None
        if not hmac.compare_digest(signature, _signature(key, parts)):
            return None
        kind = json.loads(parts[0])["msg_type"]
        parent_id = json.loads(parts[1]).get("msg_id", "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return Message(kind, parent_id, parts[3]) if isinstance(kind, str) and isinstance(parent_id, str) else None


def signature_of(frames: Sequence[bytes]) -> bytes:
    """The signature of a message that ``parse`` took: no two have the same."""
    return frames[list(frames).index(_DELIMITER) + 1]


def _signature(key: bytes, parts: Sequence[bytes]) -> bytes:
    return hmac.digest(key, b"".join(parts), "sha256").hex().encode("ascii")
