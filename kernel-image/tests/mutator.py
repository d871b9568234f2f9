"""Makes bad messages out of good ones: a seeded mutator for lists of frames."""

import json
import random
from collections.abc import Sequence
from typing import Any

_TOKENS = [
    *(b"null", b"true", b"-1", b"0", b"1e999", b"-0.0", b"NaN", b"Infinity", b'""', b"{}", b"[]", b"1.5", b'"1"'),
    *(b"9223372036854775807", b"9223372036854775808", b"-9223372036854775809", b"9" * 19, b"9" * 400, b"9" * 5000),
    *(b'"\\ud800"', b'"\\u0000"', b'"\\ud83d\\ude00"', b'"\xff"', b'"' + b"x" * 5000 + b'"', b'"../../etc/passwd"'),
    *(b"[" * 100 + b"]" * 100, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"[" * 100_000, b"[1,2,3]", b'{"a":1,"a":2}'),
]
_BYTES = [
    *(b"\0", b"\n", b"\r", b" ", b"\t", b"\x1b[", b"\x1b]", b"\x07", b"\xc0\x80", b"\xed\xa0\x80", b"\xf0\x9f\x98"),
    *(b"<", b">", b"&", b"&#", b"<!--", b"-->", b"<script>", b"'", b'"', b"\\", b"\xef\xbb\xbf", b"\xff\xfe", b"=" * 9),
    *(b"<IDS|MSG>", b"V", b"C", b"9" * 20, b"\xff" * 4, b"\0\0\0\x05", b"\x7f\xff\xff\xff"),
]
_MOST_BYTES = 2 * 1024 * 1024
_HOLE = "@hole@"


class Mutator:
    """The same seed and corpus give the same messages."""

    def __init__(self, seed: int, corpus: Sequence[Sequence[bytes]]) -> None:
        self._dice = random.Random(seed)
        self._corpus = corpus

    def next(self) -> list[bytes]:
        """The next message: mostly one change, sometimes many."""
        frames = list(self._dice.choice(self._corpus))
        for _ in range(self._dice.choice((1, 1, 1, 2, 3, 8))):
            if sum(map(len, frames)) > _MOST_BYTES:
                break
            if self._dice.random() < 0.2:
                self._shuffle(frames)
            elif frames:
                index = self._dice.randrange(len(frames))
                frames[index] = self._changed(frames[index])
        return frames

    def _shuffle(self, frames: list[bytes]) -> None:
        """Frames missing, added or in another order."""
        place = self._dice.randrange(len(frames) + 1)
        match self._dice.randrange(4):
            case 0 if frames:
                del frames[place % len(frames)]
            case 1:
                donor = self._dice.choice(self._corpus)
                frames.insert(place, self._dice.choice([b"", *donor, *_BYTES]))
            case 2 if frames:
                frames.insert(place, frames[place % len(frames)])
            case 3 if len(frames) > 1:
                first, second = self._dice.sample(range(len(frames)), 2)
                frames[first], frames[second] = frames[second], frames[first]

    def _changed(self, frame: bytes) -> bytes:
        if frame[:1] in (b"{", b"[") and self._dice.random() < 0.6:
            return self._changed_json(frame)
        start = self._dice.randrange(len(frame) + 1)
        end = min(len(frame), start + self._dice.choice((1, 1, 2, 8, 64, 4096)))
        match self._dice.randrange(6):
            case 0 if start < len(frame):
                flipped = frame[start] ^ (1 << self._dice.randrange(8))
                return frame[:start] + bytes([flipped]) + frame[start + 1 :]
            case 1:
                return frame[:start] + self._dice.choice(_BYTES) + frame[start:]
            case 2:
                return frame[:start] + self._dice.choice(_BYTES + _TOKENS) + frame[end:]
            case 3:
                return frame[:start] + frame[end:]
            case 4:
                return frame[:end] + frame[start:end] * self._dice.choice((1, 3, 100)) + frame[end:]
            case _:
                donor = self._dice.choice(self._dice.choice(self._corpus) or [b""])
                return frame[:start] + donor[self._dice.randrange(len(donor) + 1) :]

    def _changed_json(self, frame: bytes) -> bytes:
        """One value, name or entry of a JSON text is another."""
        try:
            value = json.loads(frame)
        except (ValueError, RecursionError):
            return frame[:-1]
        places = _places(value)
        if not places:
            return self._dice.choice(_TOKENS)
        holder, key = self._dice.choice(places)
        match self._dice.randrange(5):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                other, name = self._dice.choice(places)
                holder[self._dice.choice(("", "x" * 300, "\ud800", str(name)))] = other[name] = holder.pop(key)
            case _:
                holder[key] = _HOLE
        try:
            text = json.dumps(value, ensure_ascii=self._dice.random() < 0.5).encode("utf-8", "surrogatepass")
        except (ValueError, RecursionError):  # it holds itself by now
            return frame[1:]
        return text.replace(b'"%s"' % _HOLE.encode(), self._dice.choice(_TOKENS))


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every entry of every object and list, as its holder and key."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting and len(found) < 500:
        holder = waiting.pop()
        if isinstance(holder, dict):
            entries: list[Any] = list(holder)
        else:
            entries = list(range(len(holder))) if isinstance(holder, list) else []
        found += [(holder, key) for key in entries]
        waiting += [holder[key] for key in entries]
    return found
