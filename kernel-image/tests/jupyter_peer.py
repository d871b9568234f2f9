"""Jupyter's own reader, and whether ours agrees with it on a message."""

import hmac
import json
from collections.abc import Sequence
from typing import Any

from jupyter_client.session import Session

from sandglass_supervisor.kernels import content, jupyter
from sandglass_supervisor.limits import KERNEL_HEADER_BYTES

_DELIMITER = b"<IDS|MSG>"


class Peer:
    """jupyter_client with a key. It refuses replays, which is forgotten from message to message."""

    def __init__(self, key: bytes) -> None:
        self.key = key
        self._session = Session(key=key)

    def read(self, frames: Sequence[bytes]) -> dict[str, Any] | None:
        """What it makes of a message, or None if it refuses it."""
        self._session.digest_history.clear()
        try:
            _, parts = self._session.feed_identities(list(frames))
            found: dict[str, Any] = self._session.deserialize(parts)
        except Exception:  # noqa: BLE001 - it refuses with whatever its code happens to raise
            return None
        return found

    def sign(self, parts: Sequence[bytes]) -> bytes:
        signature: bytes = self._session.sign(list(parts))
        return signature

    def signed_anew(self, frames: Sequence[bytes]) -> list[bytes]:
        """The same message with a signature that holds, as code in the kernel can make it."""
        if _DELIMITER not in frames:
            return list(frames)
        start = list(frames).index(_DELIMITER) + 1
        rest = list(frames[start + 1 :])
        return [*frames[:start], self.sign(rest[:4]), *rest]

    def is_signed(self, frames: Sequence[bytes]) -> bool:
        if _DELIMITER not in frames:
            return False
        start = list(frames).index(_DELIMITER) + 1
        parts = list(frames[start : start + 5])
        return len(parts) == 5 and hmac.compare_digest(parts[0], self.sign(parts[1:]))

    def check(self, frames: Sequence[bytes]) -> bool:
        """Both accept (True) or refuse it; fails if they do not agree and nothing explains it.

        We read less than Jupyter: metadata and content are not parsed with the frames, and of the header only what
        routes. So we accept what is signed and odd there, and refuse what has no text for a type or parent's id, or
        headers above their bound. What is no UTF-8 is read differently: Jupyter puts U+FFFD. The signature must hold
        for both.
        """
        ours, theirs = jupyter.parse(self.key, frames), self.read(frames)
        if ours is None:
            assert theirs is None or self._unroutable(frames), f"Jupyter accepts {theirs}"
            return False
        assert self.is_signed(frames), "we accept what is not signed"
        if theirs is None or not _is_utf8(frames):
            return True
        parent = theirs["parent_header"]
        if self._version(frames).startswith("5"):  # it rewrites messages of older versions
            assert ours.kind == theirs["msg_type"]
            assert not isinstance(theirs["content"], dict) or _same(content.parse(ours.content), theirs["content"])
        if isinstance(parent.get("msg_id", ""), str):  # what looks like a date becomes one
            assert ours.parent_id == parent.get("msg_id", "")
        return True

    def _version(self, frames: Sequence[bytes]) -> str:
        return str(json.loads(frames[list(frames).index(_DELIMITER) + 2]).get("version", ""))

    def _unroutable(self, frames: Sequence[bytes]) -> bool:
        start = list(frames).index(_DELIMITER) + 2
        if any(len(part) > KERNEL_HEADER_BYTES for part in frames[start : start + 3]):
            return True
        try:
            header, parent = (json.loads(part.decode("utf-8")) for part in frames[start : start + 2])
        except (ValueError, RecursionError):
            return True
        routable = isinstance(header, dict) and isinstance(header.get("msg_type"), str)
        return not (routable and isinstance(parent, dict) and isinstance(parent.get("msg_id", ""), str))


def _is_utf8(frames: Sequence[bytes]) -> bool:
    try:
        for frame in frames[list(frames).index(_DELIMITER) :][:6]:
            frame.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _same(ours: Any, theirs: Any) -> bool:
    # By their text: NaN is not equal to itself. An empty one is content that only Jupyter takes: with bytes replaced.
    return ours == {} or repr(ours) == repr(theirs)
