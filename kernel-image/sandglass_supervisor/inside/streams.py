"""The kernel's output: ipykernel's streams and their thread, derived so that nothing piles up and nothing is late.

ZeroMQ's marks count messages, so messages must be small, few may wait, and a writer must wait when the reader does:
slices with a flush behind each, and no time-out of the flush.
"""

import codecs
import contextlib
import ctypes
import fcntl
import os
import select
import signal
import struct
import sys
import termios
import threading
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import zmq
from ipykernel.iostream import IOPubThread

from ..limits import SLICE_BYTES
from ..shared.crash_buffer import CrashBuffer
from .standard_stream import ProgramPipe, StandardStream

_KERNEL = os.getpid()
_WAITING_SENDS = 64
# It keeps the interpreter: who lets go of it beside a busy thread waits for milliseconds, here with each print.
_IOCTL = ctypes.PyDLL(None).ioctl


class BoundedThread(IOPubThread):
    """Sends in the main thread where that is safe, which spares each run several changes of threads.

    It is where an interrupt is ignored, so that no half of a message remains; a lock keeps the socket to one thread at
    a time. Lets a sender wait when many messages wait already, so that they pile up nowhere.
    """

    last_words: CrashBuffer | None = None
    _unhurried = False
    _working = False
    _sends_here = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._socket_lock = threading.RLock()
        self._main = threading.main_thread().ident
        super().__init__(*args, **kwargs)

    def send_multipart(self, *args: Any, **kwargs: Any) -> None:
        """Send a message, or queue it for the thread.

        A flush runs there and must have sent when it returns: code that never lets go of the interpreter may follow.
        """
        if threading.current_thread() is self.thread:
            self._really_send(*args, **kwargs)
            return
        if not self.thread.is_alive():
            super().send_multipart(*args, **kwargs)
            return
        send = partial(self._really_send, *args, **kwargs)
        if self.run_here(send):
            return
        if self._unhurried and threading.get_ident() == self._main:
            self._events.append(send)
        else:
            self.schedule(send)
        if len(self._events) > _WAITING_SENDS:
            self.catch_up()

    def run_here(self, action: Callable[[], Any]) -> bool:
        """Do what waits and then ``action`` in this thread; False, and ``action`` is not done, if that is not safe."""
        if threading.get_ident() != self._main or signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            return False
        if os.getpid() != _KERNEL or not self._socket_lock.acquire(blocking=False):
            return False
        within, self._sends_here = self._sends_here, True
        try:
            done = self._send_waiting()
            if done:
                self._do(action)
        finally:
            self._sends_here = within
            self._socket_lock.release()
        return done

    def is_needed(self) -> bool:
        """True in a thread that others may be waiting for, because it sends."""
        current = threading.get_ident()
        return current == self.thread.ident or (current == self._main and self._sends_here)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """What waits has been sent, and nobody else sends meanwhile."""
        if os.getpid() == _KERNEL:
            with self._socket_lock:
                self._send_waiting()
                yield
        else:
            yield  # it was forked off: what waits is its parent's, and the lock may never be free

    def _send_waiting(self) -> bool:
        """Do what waits; False if something is left that the thread has to do itself."""
        while self._events and not self._working:
            if not isinstance(self._events[0], partial):
                return False
            self._do(self._events.popleft())
        return True

    def _do(self, action: Callable[[], Any]) -> None:
        """What waits behind an action must not overtake what the action itself sends."""
        within, self._working = self._working, True
        try:
            action()
        finally:
            self._working = within

    @contextlib.contextmanager
    def unhurried(self) -> Iterator[None]:
        """What the main thread sends meanwhile goes with what is sent next."""
        self._unhurried = True
        try:
            yield
        finally:
            self._unhurried = False

    def _handle_event(self, msg: Any) -> None:
        with self._socket_lock:
            for _ in range(len(self._events)):
                if self._events:  # an earlier one may have seen to it
                    self._events.popleft()()

    def _really_send(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Note what is shown before it is sent: the process may die before ZeroMQ's own thread has seen to it."""
        if os.getpid() != _KERNEL:
            super()._really_send(msg, *args, **kwargs)
            return
        with self._socket_lock:
            if len(msg) > 6 and msg[0].startswith(b"stream.") and self.last_words is not None:
                self.last_words.note(msg[1:7])
            super()._really_send(msg, *args, **kwargs)
            # Sending takes the news of a subscription from the descriptor that the thread waits at.
            self._hear_subscriptions()

    def _setup_xpub_listener(self) -> None:
        """Hear subscriptions as ipykernel does, but under the lock."""
        self.io_loop.add_handler(self.socket, lambda *_: self._hear_subscriptions(), self.io_loop.READ)

    def _hear_subscriptions(self) -> None:
        with self._socket_lock:
            while self.socket is not None and self.socket.getsockopt(zmq.EVENTS) & zmq.POLLIN:
                self._handle_subscription(self.socket.recv_multipart(zmq.DONTWAIT))

    def catch_up(self) -> None:
        """Return when all that waits now has been sent."""
        if threading.current_thread() is not self.thread and self.thread.is_alive():
            sent = threading.Event()
            self.schedule(sent.set)
            sent.wait()


class BoundedStream(StandardStream):
    """Standard output or error: in slices, the writer waits for the reader, and the order between both is kept."""

    flush_timeout = None  # type: ignore[assignment] # None is what threading.Event.wait takes for "for ever"
    sibling: "BoundedStream | None" = None
    _unsent = 0
    _written = _flushed = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._counting = threading.Lock()
        self._ordering = threading.RLock()  # a handler of a signal may print meanwhile
        self._handed_over: deque[dict[Any, Any]] = deque()
        self._piped = threading.Condition()
        self._piped_bytes = 0
        self._is_piping, self._is_taking = True, False
        self._waiting = ctypes.c_int()
        self._waiting_at = ctypes.byref(self._waiting)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        super().__init__(*args, **kwargs)

    def write(self, string: str) -> int:
        """Write text, waiting for the reader once a slice is full."""
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string)}")
        if not string.isascii():
            # An unpaired surrogate is no UTF-8: it would cost the whole message.
            string = string.encode("utf-8", "replace").decode("utf-8")
        if string != "\n":  # which ``print`` writes by itself, and which belongs to what is before it
            self._put_programs_first()
        if self.sibling is not None and self.sibling._unsent:
            self.sibling.hand_over()
        for start in range(0, len(string), SLICE_BYTES):
            part = string[start : start + SLICE_BYTES]
            super().write(part)
            with self._counting:
                self._written += 1
            self._unsent += len(part)
            if self._unsent >= SLICE_BYTES:
                self.flush()
        return len(string)

    def flush(self) -> None:
        """Return when all that was written has been sent; at once if nothing was since the last time.

        ipykernel flushes both streams around each run, and each flush costs two changes of threads.
        """
        self._put_programs_first()
        written = self._written
        if written != self._flushed:
            if not self.pub_thread.run_here(self._flush):
                super().flush()
            self._flushed = written

    def close(self) -> None:
        """Close the stream once what was written before has been sent."""
        # When the interpreter ends, the thread that reads the descriptor has ended as well.
        if not (self.closed or sys.is_finalizing()):
            self.settle()
            self.flush()
        super().close()

    def hand_over(self) -> None:
        """Send what was written so far before anything that is written from now on, to whichever stream."""
        self._unsent = 0
        thread = self.pub_thread
        if thread is not None and os.getpid() == _KERNEL:
            # One step: what is written and flushed in between would be sent before what was taken.
            with self._ordering:
                self._handed_over.append(self._rotate_buffers())
            thread.schedule(partial(self._send_handed_over))
            if len(thread._events) > _WAITING_SENDS:
                thread.catch_up()

    def _put_programs_first(self) -> None:
        """What programs have written to either descriptor becomes output before what the code writes now."""
        if self._is_behind() and not self._is_waited_for():
            self.settle()
        if self.sibling is not None and self.sibling._is_behind() and not self._is_waited_for():
            self.sibling.settle()

    def _is_behind(self) -> bool:
        """True if programs have written what is no output of this stream yet."""
        if self.programs is None:
            return False
        _IOCTL(self.programs.reading, termios.FIONREAD, self._waiting_at)
        return self._waiting.value > 0 or self._is_taking

    def _is_waited_for(self) -> bool:
        """True in a thread that ``settle`` needs, and in those that these need: there it would wait for itself."""
        own = (stream.reader.ident for stream in (self, self.sibling) if stream is not None)
        return self.pub_thread is None or self.pub_thread.is_needed() or threading.get_ident() in own

    def settle(self) -> None:
        """Return when all that programs had written to the descriptor before has become output of this stream.

        At once if nobody reads it any more, because the stream is closed.
        """
        if self.programs is None or os.getpid() != _KERNEL:
            return
        with self._piped:
            waiting = struct.unpack("=i", fcntl.ioctl(self.programs.reading, termios.FIONREAD, bytes(4)))[0]
            target = self._piped_bytes + waiting
            self._piped.wait_for(lambda: self._piped_bytes >= target or not self._is_piping)

    def read_programs(self) -> None:
        """Make output of what programs write, in a thread of its own."""
        try:
            while self.programs is not None and self._pipe_on(self.programs):
                pass
        finally:
            with self._piped:
                self._is_piping = False
                self._piped.notify_all()

    def _pipe_on(self, programs: ProgramPipe) -> bool:
        """Make output of what programs write to the descriptor next; False if that was the end of it."""
        select.select([programs.reading], [], [])
        # Reading and writing on are one step for ``settle``.
        with self._piped:
            self._is_taking = True
            data = os.read(programs.reading, SLICE_BYTES)
            if not data or not programs.is_read:
                return False
            # Code can put another ``write`` in its place; whatever that raises, what comes after is still to be read.
            with contextlib.suppress(Exception):
                self.write(self._decoder.decode(data))
            self._is_taking = False
            self._piped_bytes += len(data)
            self._piped.notify_all()
        return True

    def _flush(self) -> None:
        thread = self.pub_thread
        if thread is not None:
            with thread.alone():
                self._unsent = 0
                if os.getpid() != _KERNEL:
                    super()._flush()  # it was forked off: the lock may never be free
                    return
                with self._ordering:
                    while self._handed_over:
                        self._send_handed_over()
                    super()._flush()

    def _send_handed_over(self) -> None:
        """Send what was handed over longest ago, if a flush has not; under the socket's lock, as all that is sent."""
        if self._handed_over:
            self._publish(self._handed_over.popleft())

    def _publish(self, buffers: dict[Any, Any]) -> None:
        if self.closed:
            return
        for parent, buffer in buffers.items():
            content = {"name": self.name, "text": buffer.getvalue()}
            if content["text"]:
                self.session.send(self.pub_thread, "stream", content, parent=dict(parent), ident=self.topic)
