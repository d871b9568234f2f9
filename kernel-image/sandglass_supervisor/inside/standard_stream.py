"""What code expects of a standard stream besides that it takes text, and ipykernel's streams do not have."""

import codecs
import io
import os
import sys
import threading
from functools import cached_property
from typing import Any

from ipykernel.iostream import OutStream

from .current_run import OfCurrentRun


class ProgramPipe:
    """Stands at the descriptor of a standard stream, for what programs write there."""

    def __init__(self, name: str) -> None:
        # The end for writing stays open besides: code that closes the descriptor does not end the pipe.
        self.reading, writing = os.pipe()
        self.descriptor: int = getattr(sys, name).fileno()
        self.is_read = True
        self._before = os.dup(self.descriptor)
        os.dup2(writing, self.descriptor)

    def close(self, reader: threading.Thread) -> None:
        """Put back what stood there, once the thread that reads has ended."""
        self.is_read = False
        os.write(self.descriptor, b"\0")  # it wakes for something to read, and takes it for nothing
        reader.join()
        os.dup2(self._before, self.descriptor)
        os.close(self._before)


class StandardStream(OfCurrentRun, OutStream):
    """Standard output or error, of which programs can be given the descriptor.

    The pipe is ours, and ipykernel makes none: its own could be waited for only by members that are private.
    """

    def __init__(
        self, session: Any, pub_thread: Any, name: str, *args: Any, watchfd: Any = True, **kwargs: Any
    ) -> None:
        super().__init__(session, pub_thread, name, *args, watchfd=False, **kwargs)
        self.programs = ProgramPipe(name) if watchfd else None
        self.reader = threading.Thread(target=self.read_programs, daemon=True)
        if self.programs is not None:
            self.reader.start()

    def read_programs(self) -> None:
        """Make output of what programs write."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the stream, and let go of the descriptor."""
        if self.programs is not None and self.programs.is_read:
            self.programs.close(self.reader)
        super().close()

    def fileno(self) -> int:
        """The descriptor that becomes output."""
        if self.programs is None:
            raise io.UnsupportedOperation("fileno")
        return self.programs.descriptor

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
