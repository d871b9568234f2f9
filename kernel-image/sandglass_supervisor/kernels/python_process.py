"""One Python kernel's process and its sockets: start, handshake, messages in and out, death."""

import contextlib
import json
import os
import secrets
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import runtime
from ..limits import (
    DEATH_GRACE_S,
    KERNEL_START_S,
    LAST_MESSAGES_S,
    RESUBSCRIBE_S,
    SLICE_BYTES,
    SOCKET_NAME_BYTES,
    STDERR_HEAD_BYTES,
    STDERR_TAIL_BYTES,
)
from ..link.arguments import Execute
from ..loop import Timer
from ..processes import safe_argv
from ..processes.children import Child, Program, describe
from ..shared import crash_buffer
from . import jupyter
from .jupyter import Message
from .kernel_process import Ending, Listener, Place
from .python_env import PythonEnv
from .zmtp import KernelSocket

_SHELL_PORT, _IOPUB_PORT = 1, 2
_LAST_WORDS = 3  # the first descriptor behind the standard ones
_CODE = "from sandglass_supervisor.inside.python_kernel import main; main()"


class PythonProcess:
    """Lives from its construction to ``kernel_ended``; after that it is of no more use."""

    def __init__(self, place: Place, listener: Listener, env: PythonEnv | None = None) -> None:
        self._place = place
        self._env = env
        self._listener = listener
        self._key = secrets.token_hex(32).encode("ascii")
        self._address = os.path.join(place.folder, secrets.token_hex(SOCKET_NAME_BYTES))
        self._held = False
        self._variables: dict[str, str] = {}  # that go with the first run
        self._ready = self._asked = self._is_deaf = self._is_idle = False
        self._stderr = bytearray()
        self._stderr_left_out = 0
        self._errors = -1
        self._last_words = -1
        self._last_heard: list[bytes] | None = None
        self._breaks = 0
        with contextlib.ExitStack() as undo:
            # The child comes last: once it runs nothing here may fail, and its end is told to a whole object.
            self._shell = self._connect("DEALER", _SHELL_PORT, self._read_shell, undo)
            self._iopub = self._connect("SUB", _IOPUB_PORT, self._read_iopub, undo)
            self._child = self._start(undo)
            undo.pop_all()
        place.loop.watch(self._errors, self._read_errors)
        self._deadline: Timer = place.loop.call_in(KERNEL_START_S, self.kill)

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
        """Ask the kernel to run the request's code with its variables in the environment, and servers as proxies."""
        content = {
            "code": request.code,
            "silent": False,
            "store_history": True,
            "allow_stdin": False,
            "stop_on_error": False,
        }
        lasting, self._variables = self._variables, {}
        ours = {"envs": request.envs, "servers": request.servers, **({"variables": lasting} if lasting else {})}
        self._request(msg_id, "execute_request", content, {"sandglass": ours})

    def has_begun(self, msg_id: str) -> bool:
        """True once the code of that execution runs: the kernel notes it in memory that is shared with us."""
        return crash_buffer.has_begun(self._last_words, msg_id)

    def interrupt(self) -> None:
        """SIGINT for the kernel and what it started: what Control-C does in a terminal."""
        if self._child.alive:
            self._child.signal_group(signal.SIGINT)

    def kill(self, *, is_idle: bool = False) -> None:
        """End the kernel and what it started; ``kernel_ended`` follows, at once if nobody waits for its last words."""
        self._is_idle = is_idle
        self._child.signal_group(signal.SIGKILL)

    def hold(self) -> None:
        """Read no more output until ``release``: the kernel will block when the sockets' buffers are full."""
        if not self._held:
            self._held = True
            self._iopub.hold()

    def release(self) -> None:
        """Read output again."""
        self._held = False
        self._iopub.release()

    def resubscribe(self) -> None:
        """Connect to the output anew; ``kernel_ready`` follows. A connection is given up after a large message."""
        # First: of a second subscriber to the same the kernel's socket says nothing, and no welcome would come.
        self._iopub.close()
        try:
            with contextlib.ExitStack() as undo:
                fresh = self._connect("SUB", _IOPUB_PORT, self._read_iopub, undo)
                undo.pop_all()
        except OSError:
            self.kill()
            return
        self._held = self._ready = self._asked = False
        self._iopub, self._breaks = fresh, 0
        self._deadline = self._place.loop.call_in(RESUBSCRIBE_S, self.kill)

    def _start(self, undo: contextlib.ExitStack) -> Child:
        """Raises OSError, and then ``undo`` gives back what we hold of it."""
        runtime.make_private(self._place.folder)
        with contextlib.ExitStack() as theirs:
            self._errors, write_end = os.pipe()
            undo.callback(os.close, self._errors)
            theirs.callback(os.close, write_end)
            os.set_blocking(self._errors, False)
            self._last_words = crash_buffer.memory()
            undo.callback(os.close, self._last_words)
            stdin = os.memfd_create("connection")
            theirs.callback(os.close, stdin)
            null = os.open(os.devnull, os.O_WRONLY)
            theirs.callback(os.close, null)
            about = {
                "address": self._address,
                "key": self._key.decode(),
                "shell": _SHELL_PORT,
                "iopub": _IOPUB_PORT,
                "last_words": _LAST_WORDS,
            }
            os.write(stdin, json.dumps(about).encode())
            os.lseek(stdin, 0, os.SEEK_SET)
            argv, variables = safe_argv.code(_CODE), self._place.env
            if self._env is not None:
                argv, variables = self._env.argv(), self._env.variables(variables)
            more = (self._last_words,)
            program = Program(argv, variables, self._place.workspace, stdin, null, write_end, more)
            return self._place.children.start(program, self._ended)

    def _connect(self, kind: str, port: int, heard: Callable[[], None], undo: contextlib.ExitStack) -> KernelSocket:
        """A socket that ``undo`` closes; raises OSError if there can be none."""
        found = KernelSocket(self._place.loop, f"{self._address}-{port}", kind, heard)
        undo.callback(found.close)
        return found

    def _request(self, msg_id: str, kind: str, content: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
        """Send a request; a kernel whose requests have filled all there is between it and us is killed."""
        try:
            self._shell.send(jupyter.request(self._key, msg_id, kind, content, metadata))
        except BlockingIOError:
            self._is_deaf = True
            self.kill()

    def _read_shell(self) -> None:
        for message in self._messages(self._shell):
            if message.kind == "kernel_info_reply" and not self._ready:
                self._ready = True
                self._deadline.cancel()
                self._listener.kernel_ready()
            elif message.kind == "execute_reply":
                self._listener.kernel_said(message)

    def _read_iopub(self) -> None:
        for message in self._messages(self._iopub):
            if message.kind == "iopub_welcome" and not self._asked:
                # Subscribed: from here on no output is missed. Now see that the main thread answers as well.
                # Once: code can forge any number of welcomes, and have the main thread take no request.
                self._asked = True
                # A request that was sent before would be refused as a replay, so each has an id of its own.
                self._request(f"hello-{secrets.token_hex(4)}", "kernel_info_request", {}, {})
            else:
                self._listener.kernel_said(message)
            if self._held:
                return
        if self._iopub.breaks != self._breaks:
            self._breaks = self._iopub.breaks
            self._listener.kernel_lost_output()

    def _messages(self, source: KernelSocket) -> Iterator[Message]:
        for frames in source.turn():
            message = jupyter.parse(self._key, frames)
            if message is not None:
                if message.kind == "stream":
                    self._last_heard = frames
                yield message

    def _read_errors(self) -> None:
        try:
            data = os.read(self._errors, SLICE_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._place.loop.unwatch(self._errors)
        self._stderr += data
        surplus = len(self._stderr) - STDERR_HEAD_BYTES - STDERR_TAIL_BYTES
        if surplus > 0:
            del self._stderr[STDERR_HEAD_BYTES:-STDERR_TAIL_BYTES]
            self._stderr_left_out += surplus

    def _ended(self, status: int) -> None:
        def gone() -> None:
            # What was said last may still be on its way through ZeroMQ's own thread.
            self._place.loop.call_in(0.0 if self._is_idle else DEATH_GRACE_S, lambda: self._finish(status))

        # What the kernel had started goes with it: a fresh kernel begins with nothing of the old one running.
        self._place.offspring.end(self._child, gone)

    def _finish(self, status: int) -> None:
        self._read_errors()
        # What hid from that may have the connection, and write on for ever.
        end = self._place.loop.clock() + LAST_MESSAGES_S
        has_more = True
        while has_more and self._place.loop.clock() < end:
            for message in self._messages(self._iopub):
                self._listener.kernel_said(message)
            has_more = self._iopub.has_more
        self._tell_last_words()
        self._close()
        exit_code, number = describe(status)
        self._listener.kernel_ended(Ending(exit_code, number, self._said_to_stderr(), deaf=self._is_deaf))
        os.close(self._last_words)  # up to here it could be asked what had begun

    def _said_to_stderr(self) -> str:
        said = self._stderr
        if self._stderr_left_out:
            note = b"\n[... %d bytes left out ...]\n" % self._stderr_left_out
            said = said[:STDERR_HEAD_BYTES] + note + said[STDERR_HEAD_BYTES:]
        return said.decode("utf-8", "replace").strip()

    def _tell_last_words(self) -> None:
        heard = None if self._last_heard is None else jupyter.signature_of(self._last_heard)
        for frames in crash_buffer.after(self._last_words, heard):
            message = jupyter.parse(self._key, frames)
            if message is not None:
                self._listener.kernel_said(message)

    def _close(self) -> None:
        self._deadline.cancel()
        self._place.loop.unwatch(self._errors)
        self._shell.close()
        self._iopub.close()
        os.close(self._errors)
        runtime.clear(self._place.folder, self._address)
