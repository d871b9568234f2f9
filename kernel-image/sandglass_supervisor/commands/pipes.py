"""The pipes of commands: their output while they run, and what they left running may write when they have ended."""

import codecs
import fcntl
import os
import select
import termios
from array import array

from ..execution.execution import Execution
from ..limits import SLICE_BYTES
from ..shared.text import slices


class Pipe:
    """One output stream of a command: bytes become UTF-8 slices."""

    def __init__(self, kind: str, descriptor: int) -> None:
        self.kind = kind
        self.descriptor = descriptor
        self.open = True
        self._left: int | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take_no_more(self) -> None:
        """Take what is in it now and no more: the program has ended, and who still writes may never do."""
        if self._left is None:
            there = array("i", [0])
            fcntl.ioctl(self.descriptor, termios.FIONREAD, there)
            self._left = there[0]

    def read(self, execution: Execution) -> bool:
        """Read once; False if there is nothing now."""
        size = SLICE_BYTES if self._left is None else min(self._left, SLICE_BYTES)
        try:
            data = os.read(self.descriptor, size) if size else b""
        except BlockingIOError:
            return False
        if self._left is not None:
            self._left -= len(data)
        text = self._decoder.decode(data, final=not data)
        for blob in slices(text.encode("utf-8")):
            execution.write(self.kind, b"{}", blob)
        self.open = bool(data)
        return self.open

    def has_writer(self) -> bool:
        """True while somebody can still write into it."""
        look = select.poll()  # select() knows no descriptor above 1023, and code can have us hold that many
        look.register(self.descriptor, 0)
        return not look.poll(0)


def holding(data: bytes) -> int:
    """A descriptor to read ``data`` from; a file in memory, so that no half-written pipe has to be looked after."""
    if not data:
        return os.open(os.devnull, os.O_RDONLY)
    descriptor = os.memfd_create("stdin")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(descriptor, 0, os.SEEK_SET)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
