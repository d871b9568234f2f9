"""The link's frames, protocol version 1: bytes to verbs and back (pure; no sockets).

Gateway to supervisor: ``V | request id | json | blob?``, ``C | execution id | acknowledged offset`` and, as
the answer to a call, ``U | call id | json | blob?``.
Supervisor to gateway: ``R | request id | json | blob?``, ``O | execution id | offset | kind | json | blob``,
``E | kernel | seq | json``, a call ``T | call id | json | blob?`` and ``X | call id``, which withdraws one.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..limits import BLOB_BYTES, EXECUTION_ID_BYTES, JSON_BYTES, MESSAGE_CHARS, NAME_BYTES, REQUEST_ID_BYTES

PROTOCOL = 1
NETWORK = "/network"  # in the place of a kernel's name: the event is about the pod's network
FILES = "/files"  # in the place of an execution's id: what is acknowledged was read of files
_OFFSET_DIGITS = 19


class Piece(NamedTuple):
    """What is sent to a reader: a record, the rest of one, or a gap; ``end`` is the offset after it."""

    offset: int
    end: int
    kind: str
    json: bytes
    blob: bytes


class Problem(Exception):
    """A request that cannot be served; ``code`` is one of the wire's error codes, the text says what and why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


Reply = dict[str, Any]


class Answer(Protocol):
    """Takes the one answer to a request, now or later."""

    def __call__(self, value: Reply | Problem, blob: bytes = b"") -> None:
        """Send it; ``blob`` goes along as a frame of its own."""


class Request(NamedTuple):
    """A verb with its arguments; ``blob`` is empty if there was none."""

    request_id: bytes
    verb: str
    arguments: dict[str, Any]
    blob: bytes


class Credit(NamedTuple):
    """A reader's acknowledgement of all output before ``offset``."""

    execution_id: str
    offset: int


class Returned(NamedTuple):
    """A gateway's answer to a call: what it gives, or the problem that it names."""

    call_id: bytes
    value: "Reply | Problem"
    blob: bytes


class Malformed(NamedTuple):
    """Frames that are no message; ``request_id`` is set if an answer can be addressed."""

    request_id: bytes | None
    reason: str


def decode(frames: Sequence[bytes]) -> Request | Credit | Returned | Malformed:
    """Read one message (without the peer's identity frame); never raises."""
    letter = frames[0] if frames else b""
    if letter == b"V":
        return _decode_request(frames)
    if letter == b"C":
        return _decode_credit(frames)
    if letter == b"U":
        return _decode_returned(frames)
    return Malformed(None, "unknown frame letter")


def _decode_returned(frames: Sequence[bytes]) -> Returned | Malformed:
    if not 3 <= len(frames) <= 4:
        return Malformed(None, "an answer has 3 or 4 frames")
    blob = frames[3] if len(frames) == 4 else b""
    if not _is_token(frames[1], REQUEST_ID_BYTES):
        return Malformed(None, f"a call id has 1 to {REQUEST_ID_BYTES} printable ASCII characters")
    if len(frames[2]) > JSON_BYTES or len(blob) > BLOB_BYTES:
        return Malformed(None, f"an answer has at most {JSON_BYTES} bytes of json and {BLOB_BYTES} of blob")
    value = parse_object(frames[2])
    if value is None:
        return Malformed(None, "json is not one UTF-8 JSON object")
    error = value.get("error")
    if isinstance(error, dict):
        code, message = error.get("code"), error.get("message")
        if not isinstance(code, str) or not isinstance(message, str):
            return Malformed(None, "an error has the texts 'code' and 'message'")
        return Returned(frames[1], Problem(code[:NAME_BYTES], message[:MESSAGE_CHARS]), b"")
    return Returned(frames[1], value, blob)


def _decode_request(frames: Sequence[bytes]) -> Request | Malformed:
    if not 3 <= len(frames) <= 4:
        return Malformed(None, "a request has 3 or 4 frames")
    request_id = frames[1]
    if not _is_token(request_id, REQUEST_ID_BYTES):
        return Malformed(None, f"a request id has 1 to {REQUEST_ID_BYTES} printable ASCII characters")
    blob = frames[3] if len(frames) == 4 else b""
    if len(frames[2]) > JSON_BYTES:
        return Malformed(request_id, f"json of {len(frames[2])} bytes; at most {JSON_BYTES} are allowed")
    if len(blob) > BLOB_BYTES:
        return Malformed(request_id, f"blob of {len(blob)} bytes; at most {BLOB_BYTES} are allowed")
    arguments = parse_object(frames[2])
    if arguments is None:
        return Malformed(request_id, "json is not one UTF-8 JSON object")
    verb = arguments.pop("verb", None)
    if not isinstance(verb, str):
        return Malformed(request_id, "json has no text field 'verb'")
    return Request(request_id, verb, arguments, blob)


def _decode_credit(frames: Sequence[bytes]) -> Credit | Malformed:
    if len(frames) != 3:
        return Malformed(None, "a credit has 3 frames")
    if not _is_token(frames[1], EXECUTION_ID_BYTES):
        return Malformed(None, "bad execution id")
    if not 1 <= len(frames[2]) <= _OFFSET_DIGITS or not frames[2].isdigit():
        return Malformed(None, "an offset is ASCII decimal")
    return Credit(frames[1].decode("ascii"), int(frames[2]))


def is_execution_id(text: str) -> bool:
    """True for 1 to 255 printable ASCII characters without white space."""
    return text.isascii() and _is_token(text.encode("ascii"), EXECUTION_ID_BYTES)


def _is_token(frame: bytes, limit: int) -> bool:
    return 1 <= len(frame) <= limit and all(0x21 <= byte <= 0x7E for byte in frame)


def parse_object(text: bytes) -> dict[str, Any] | None:
    """The JSON object in ``text``, or None if it is anything else (NaN and infinities included)."""
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(digits)
    return value


def to_json(value: Mapping[str, Any]) -> bytes:
    """Compact JSON; ASCII only, so that unpaired surrogates from user code cannot break a reader's UTF-8."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def reply(request_id: bytes, value: Mapping[str, Any], blob: bytes = b"") -> list[bytes]:
    """The one answer to a request."""
    frames = [b"R", request_id, to_json(value)]
    return [*frames, blob] if blob else frames


def failure(request_id: bytes, code: str, message: str) -> list[bytes]:
    """The answer to a request that was not served."""
    return reply(request_id, {"error": {"code": code, "message": message}})


def call(call_id: bytes, kind: str, execution_id: str, arguments: Mapping[str, Any], blob: bytes = b"") -> list[bytes]:
    """A call to a gateway, in the name of an execution."""
    frames = [b"T", call_id, to_json({"kind": kind, "execution_id": execution_id, "arguments": arguments})]
    return [*frames, blob] if blob else frames


def withdrawal(call_id: bytes) -> list[bytes]:
    """Nothing waits for the answer to that call any more."""
    return [b"X", call_id]


def output(execution_id: str, piece: Piece) -> list[bytes]:
    """One output record of an attached execution."""
    return [
        b"O",
        execution_id.encode("ascii"),
        b"%d" % piece.offset,
        piece.kind.encode("ascii"),
        piece.json,
        piece.blob,
    ]


def event(kernel: str, seq: int, value: Mapping[str, Any]) -> list[bytes]:
    """Something that happened to a kernel, or to the network, told to every connection that said hello."""
    return [b"E", kernel.encode("ascii"), b"%d" % seq, to_json(value)]
