"""A kernel's streams in the processes that its code forks off: whole lines, by the way of what programs write.

ipykernel would make a connection to the kernel for each piece of text, and a line and its end are two.
"""

import contextlib
import os
import select
import sys
import threading
from select import PIPE_BUF
from typing import NoReturn

from .streams import BoundedStream


class LineWriter:
    """Text for a descriptor, written at once up to the last whole line; no short line is torn by another's.

    Each thread's unfinished line waits for its end or a flush. No lock is taken, as one could be held for ever by a
    thread that a fork has left behind.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._unfinished: dict[int, bytes] = {}

    def write(self, text: str) -> int:
        """Write the lines that are whole now."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        thread = threading.get_ident()
        data = self._unfinished.pop(thread, b"") + text.encode("utf-8", "replace")
        end = data.rfind(b"\n") + 1
        if len(data) - end > PIPE_BUF:
            end = len(data)
        if end < len(data):
            self._unfinished[thread] = data[end:]
        self._send(data[:end])
        return len(text)

    def flush(self) -> None:
        """Write what is unfinished."""
        for thread in list(self._unfinished):
            self._send(self._unfinished.pop(thread, b""))

    def _send(self, data: bytes) -> None:
        start = 0
        while start < len(data):
            end = start + PIPE_BUF
            if end < len(data):
                end = data.rfind(b"\n", start, end) + 1 or end
            try:
                start += os.write(self._descriptor, data[start:end])
            except BlockingIOError:  # a program that shares the descriptor made it so
                select.select([], [self._descriptor], [])


def write_lines(stream: BoundedStream) -> None:
    """Make a stream of the kernel that of a process that was forked off; what waits in it is the kernel's."""
    if stream.programs is not None and not stream.closed:
        lines = LineWriter(stream.programs.descriptor)
        # Closing it would end the thread that reads, which the kernel has.
        vars(stream).update(write=lines.write, flush=lines.flush)
        stream.programs.is_read = False
        # It would display nothing, as what it takes for the kernel's messages only the kernel may send.
        stream.session.pid = os.getpid()


def leave(code: object) -> NoReturn:
    """End a process that was forked off, with what ``sys.exit`` was given: it would go on as a second kernel."""
    if code is not None and not isinstance(code, int):
        with contextlib.suppress(Exception):
            sys.stderr.write(f"{code}\n")
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit((code or 0) & 0xFF)
