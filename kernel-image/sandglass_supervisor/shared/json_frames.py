"""JSON objects on a stream of bytes: four bytes of length (big endian), then UTF-8 (pure)."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

HEADER_BYTES = 4
_STRING = re.compile(rb'"[^"]*"')


class BrokenFrames(Exception):
    """What came is no frame; the text says why. Nothing after it can be understood."""


class Unspeakable(Exception):
    """A value that JSON cannot hold, such as one that is nested too deep."""


class Frame(NamedTuple):
    """An object, and how many bytes it was."""

    value: dict[str, Any]
    size: int


def encode(value: Mapping[str, Any]) -> bytes:
    """One frame. Raises Unspeakable."""
    return framed(to_json(value))


def framed(body: bytes) -> bytes:
    """One frame of a text that is JSON already."""
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def to_json(value: object, *, strict: bool = False) -> bytes:
    """JSON in UTF-8, or in ASCII if it has half a character, which survives as an escape. Raises Unspeakable.

    With ``strict`` numbers that only Python's JSON knows, such as infinity, are unspeakable too.
    """
    try:
        try:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=not strict).encode("utf-8")
        except UnicodeEncodeError:
            return json.dumps(value, separators=(",", ":"), allow_nan=not strict).encode("ascii")
    except (RecursionError, ValueError, TypeError) as error:
        or_number = ", or has a number that JSON has not" if strict else ""
        raise Unspeakable(f"it is nested too deep for JSON{or_number}") from error


def from_json(body: bytes, most_values: int, constant: Callable[[str], object] | None = None) -> Any:
    """The value of a text of at most so many values; raises BrokenFrames.

    ``constant`` makes a value of NaN and infinities, or raises ValueError; without it they are what they are.
    """
    if has_more_values(body, most_values):
        raise BrokenFrames(f"JSON of more than {most_values} values")
    try:
        return json.loads(body, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise BrokenFrames("what is not JSON, or nested too deep") from error


class JsonFrames:
    """Takes bytes as they come and gives whole objects.

    A frame has at most ``most_bytes`` and about ``most_values``.
    """

    def __init__(self, most_bytes: int, most_values: int) -> None:
        self._most_bytes = most_bytes
        self._most_values = most_values
        self._data = bytearray()

    @property
    def held(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._data)

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The objects that are whole now; raises BrokenFrames. Whoever stops early gets the others the next time."""
        self._data += data
        while len(self._data) >= HEADER_BYTES:
            length = int.from_bytes(self._data[:HEADER_BYTES], "big")
            if length > self._most_bytes:
                raise BrokenFrames(f"a frame of {length} bytes; at most {self._most_bytes} are allowed")
            end = HEADER_BYTES + length
            if len(self._data) < end:
                return
            body = bytes(self._data[HEADER_BYTES:end])
            del self._data[:end]
            value = from_json(body, self._most_values)
            if not isinstance(value, dict):
                raise BrokenFrames("a frame that is not an object")
            yield Frame(value, length)


def has_more_values(body: bytes, most: int) -> bool:
    """True if a text of JSON has more than so many values: each costs memory, and may be two bytes long."""
    if len(body) < most:
        return False
    # Without escapes, in time that grows with the length alone, whatever the text is.
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * most:
        return True
    bare = _STRING.sub(b"", plain)
    return bare.count(b",") + bare.count(b"[") + bare.count(b"{") > most
