"""What code expects of a standard stream besides that it takes text, and ipykernel's streams do not have."""

import codecs
import io
from functools import cached_property
from typing import Any

from ipykernel.iostream import OutStream

from .current_run import OfCurrentRun


class StandardStream(OfCurrentRun, OutStream):
    """Standard output or error, of which programs can be given the descriptor."""

    def fileno(self) -> int:
        """The descriptor that becomes output; ipykernel tells the one that was there before, which leads to nowhere."""
        if self._fid is None:
            raise io.UnsupportedOperation("fileno")
        return int(self._original_stdstream_fd)

    @cached_property
    def buffer(self) -> "Bytes":
        """The same stream for bytes."""
        return Bytes(self)

    def reconfigure(self, **_: Any) -> None:
        """There is nothing to set: it takes any character, and shows it at once."""


class Bytes(io.BufferedIOBase):
    """Takes UTF-8 for a stream; whoever wraps it and closes the wrapper does not close the stream."""

    def __init__(self, stream: StandardStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """That of the stream."""
        return self._stream.fileno()

    def write(self, data: Any) -> int:
        """Write all of it, but for the beginning of a character that is to be continued."""
        data = bytes(memoryview(data))
        self._stream.write(self._decoder.decode(data))
        return len(data)

    def flush(self) -> None:
        """Send what was written."""
        self._stream.flush()

    def close(self) -> None:
        """Leave the stream open."""
