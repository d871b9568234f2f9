"""What a kernel wrote last, in memory that outlives it: ZeroMQ's threads, its own and ours, may not get to pass it on.

The kernel notes each message before it sends it; when it has died, the supervisor takes those that did not arrive.
Two halves are filled by turns, so that the newest messages, of one half at least, are always there. The run that began
last is noted there too.
"""

import mmap
import os
import struct
from collections.abc import Iterator, Sequence

from ..limits import LAST_WORDS_BYTES

_HEAD = struct.Struct("=QQQ")  # the half that is being filled, and how much of each is
_BEGUN = struct.Struct("=32s")  # the id of the run that began last
_LENGTHS = struct.Struct("=6I")  # delimiter, signature, header, parent header, metadata, content
_START = _HEAD.size + _BEGUN.size
_SIZE = _START + 2 * LAST_WORDS_BYTES


class CrashBuffer:
    """The kernel's side; takes over the descriptor that ``memory`` gave."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)
        os.close(descriptor)
        self._half = 0
        self._filled = [0, 0]

    def note(self, frames: Sequence[bytes]) -> None:
        """Keep a message of six frames; one that is too large leaves nothing but what follows it."""
        entry = b"".join((_LENGTHS.pack(*map(len, frames)), *frames))
        if self._filled[self._half] + len(entry) > LAST_WORDS_BYTES:
            self._half ^= 1
            self._filled[self._half] = 0
            if len(entry) > LAST_WORDS_BYTES:
                self._filled = [0, 0]
                entry = b""
            self._publish()
        start = _START + self._half * LAST_WORDS_BYTES + self._filled[self._half]
        self._memory[start : start + len(entry)] = entry
        # Told when it is whole: the process may end at any moment.
        self._filled[self._half] += len(entry)
        self._publish()

    def begin(self, msg_id: str) -> None:
        """Note that a run has begun."""
        _BEGUN.pack_into(self._memory, _HEAD.size, msg_id.encode())

    def _publish(self) -> None:
        _HEAD.pack_into(self._memory, 0, self._half, *self._filled)


def memory() -> int:
    """A descriptor of empty memory to share with a kernel."""
    descriptor = os.memfd_create("last-words")
    os.ftruncate(descriptor, _SIZE)
    return descriptor


def has_begun(descriptor: int, msg_id: str) -> bool:
    """True once that run has begun."""
    return os.pread(descriptor, _BEGUN.size, _HEAD.size).rstrip(b"\0") == msg_id.encode()


def after(descriptor: int, signature: bytes | None) -> list[list[bytes]]:
    """The messages that were noted after the one with that signature; all, if it is not among them any more."""
    noted = list(_noted(os.pread(descriptor, _SIZE, 0)))
    known = [index for index, frames in enumerate(noted) if frames[1] == signature]
    return noted[known[-1] + 1 :] if known else noted


def _noted(data: bytes) -> Iterator[list[bytes]]:
    """Oldest first. The code can write there whatever it likes, so nothing in it is relied upon."""
    if len(data) != _SIZE:
        return
    half, *filled = _HEAD.unpack_from(data)
    for index in (1 - (half & 1), half & 1):
        start = _START + index * LAST_WORDS_BYTES
        end = start + min(filled[index], LAST_WORDS_BYTES)
        while start + _LENGTHS.size <= end:
            lengths = _LENGTHS.unpack_from(data, start)
            start += _LENGTHS.size
            if start + sum(lengths) > end:
                break
            frames = []
            for length in lengths:
                frames.append(data[start : start + length])
                start += length
            yield frames
