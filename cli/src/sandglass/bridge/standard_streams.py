"""Standard input as lines of a coroutine, standard output as a function, and the signals that end a bridge."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress

from sandglass.bridge.messages import MAX_LINE_BYTES

_AHEAD = 16


async def lines() -> AsyncIterator[bytes]:
    """The lines of standard input until its end, or until a signal ends us. A line that is too long comes cut off."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()
    room = threading.Semaphore(_AHEAD)

    def read() -> None:
        stream = sys.stdin.buffer
        with suppress(RuntimeError, ValueError, OSError):
            while line := stream.readline(MAX_LINE_BYTES + 1):
                rest = line
                while rest and not rest.endswith(b"\n") and len(rest) > MAX_LINE_BYTES:
                    rest = stream.readline(MAX_LINE_BYTES + 1)
                room.acquire()
                loop.call_soon_threadsafe(queue.put_nowait, line)
            loop.call_soon_threadsafe(queue.put_nowait, None)

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, queue.put_nowait, None)
    threading.Thread(target=read, daemon=True).start()
    while (line := await queue.get()) is not None:
        room.release()
        yield line


def write(line: bytes) -> None:
    """Writes a line. A client that is gone reads nothing: the end of standard input ends us."""
    with suppress(BrokenPipeError, ValueError):
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()


def leave(status: int) -> None:
    """Ends the process: the thread that waits for standard input would hold it up otherwise."""
    with suppress(BrokenPipeError, ValueError):
        sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
