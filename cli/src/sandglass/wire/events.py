"""Server-sent events out of the bytes of a stream. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sandglass.errors import EndpointError

MAX_EVENT_BYTES = 64 * 1024 * 1024


class EventReader:
    """Takes bytes as they come and yields the data of each event. Comments and other fields are passed over."""

    def __init__(self, most: int = MAX_EVENT_BYTES) -> None:
        self._most = most
        self._pieces: list[bytes] = []
        self._pending = 0
        self._data: list[bytes] = []
        self._held = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """The data of the events that this piece completes."""
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._pieces.append(line)
            whole = b"".join(self._pieces).removesuffix(b"\r")
            self._pieces.clear()
            self._pending = 0
            if whole:
                self._take(whole)
            elif self._data:
                yield b"\n".join(self._data)
                self._data.clear()
                self._held = 0
        if rest:
            self._pieces.append(rest)
            self._pending += len(rest)
            self._check(self._pending)

    def _take(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            value = line[5:].removeprefix(b" ")
            self._held += len(value)
            self._check(self._held)
            self._data.append(value)

    def _check(self, held: int) -> None:
        if held > self._most:
            raise EndpointError(f"the endpoint sent an event of more than {self._most} bytes")
