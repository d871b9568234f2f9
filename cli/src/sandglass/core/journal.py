"""What a copy notes while it goes on, so that the same copy, started again, goes on where it was cut. Pure.

Lines are added and never changed. The last one may be cut, as the copy was: what follows a line that cannot be read
counts for nothing, and is copied again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_BYTES = 64 * 1024 * 1024
_SUM_CHARS = 64


@dataclass(frozen=True)
class Stamp:
    """By which a file that changed is seen."""

    size: int
    modified: str


@dataclass(frozen=True)
class Piece:
    """Bytes that were written, and their SHA-256."""

    offset: int
    length: int
    sha256: str


@dataclass
class Unfinished:
    """A file that was begun: the source as it was then, and for a download the part of this machine with its pieces."""

    source: Stamp
    part: str
    pieces: list[Piece] = field(default_factory=list)


@dataclass(frozen=True)
class Whole:
    """A file that was copied to its end; the target is known for downloads alone."""

    source: Stamp
    target: Stamp | None


@dataclass
class Past:
    """All that a journal says, by target."""

    base: str | None = None
    """Where the copy goes: a folder that it made is there when it is started again, and would take it in."""
    unfinished: dict[str, Unfinished] = field(default_factory=dict)
    whole: dict[str, Whole] = field(default_factory=dict)
    parts: set[str] = field(default_factory=set)
    """Every part that was ever begun."""

    def take(self, line: bytes) -> None:
        """The next line; `ValueError` if it is none."""
        said = json.loads(line)
        if not isinstance(said, dict) or not isinstance(said.get("target"), str):
            raise ValueError("no line of a journal")
        target = said["target"]
        if said.get("is") == "base":
            self.base = target
        elif said.get("is") == "begun":
            self.whole.pop(target, None)
            self.unfinished[target] = Unfinished(_stamp(said["source"]), _text(said["part"]))
            self.parts |= {said["part"]} - {""}
        elif said.get("is") == "piece":
            self.unfinished[target].pieces.append(_piece(said))
        elif said.get("is") == "whole":
            there = said["there"]
            self.unfinished.pop(target, None)
            self.whole[target] = Whole(_stamp(said["source"]), None if there is None else _stamp(there))
        else:
            raise ValueError("no line of a journal")


def parse(content: bytes) -> tuple[Past, int]:
    """What a journal says, and how many of its bytes say it."""
    past, read = Past(), 0
    for line in content.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            past.take(line)
        except (ValueError, KeyError, TypeError, RecursionError):
            break
        read += len(line)
    return past, read


def base(target: str) -> bytes:
    """The line for where the copy goes."""
    return _line({"is": "base", "target": target})


def begun(target: str, source: Stamp, part: str) -> bytes:
    """The line for a file that is begun."""
    return _line({"is": "begun", "target": target, "source": [source.size, source.modified], "part": part})


def piece(target: str, written: Piece) -> bytes:
    """The line for bytes that were written."""
    return _line(
        {"is": "piece", "target": target, "offset": written.offset, "length": written.length, "sha256": written.sha256}
    )


def whole(target: str, source: Stamp, there: Stamp | None) -> bytes:
    """The line for a file that was copied to its end."""
    known = None if there is None else [there.size, there.modified]
    return _line({"is": "whole", "target": target, "source": [source.size, source.modified], "there": known})


def gaps(kept: Mapping[int, int], size: int, most: int) -> Iterator[tuple[int, int]]:
    """Offset and length of what is missing between the kept lengths by offset, `most` bytes at a time."""
    done = 0
    for offset, length in [*sorted(kept.items()), (size, 0)]:
        while done < min(offset, size):
            missing = min(most, offset - done, size - done)
            yield done, missing
            done += missing
        done = max(done, offset + length)


def _line(said: Mapping[str, Any]) -> bytes:
    return json.dumps(said, separators=(",", ":")).encode() + b"\n"


def _stamp(said: Any) -> Stamp:
    size, modified = said
    return Stamp(_count(size), _text(modified))


def _piece(said: Mapping[str, Any]) -> Piece:
    if len(_text(said["sha256"])) != _SUM_CHARS:
        raise ValueError("no SHA-256")
    return Piece(_count(said["offset"]), _count(said["length"]), said["sha256"])


def _count(said: Any) -> int:
    if not isinstance(said, int) or isinstance(said, bool) or said < 0:
        raise ValueError("no count")
    return said


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise TypeError("no text")
    return said
