"""Runs in the kernel's process: ipykernel, with its output bounded and its connection read from standard input.

Derived classes only; nothing of ipykernel or IPython is changed in place. The rules of the output come from
measurements: ZeroMQ's marks count messages, so messages must be small, few may wait, and a writer must wait when the
reader does (XPUB_NODROP, a low mark, slices with a flush behind each, no time-out of the flush).
"""

import faulthandler
import json
import os
import sys
import threading
from functools import partial
from typing import Any

import zmq
from ipykernel.iostream import IOPubThread, OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.session import Session
from traitlets import Type
from traitlets.config import Config

from .limits import SLICE_BYTES, TEXT_BYTES, TRACEBACK_BYTES

_IOPUB_MESSAGES = 64
_WAITING_SENDS = 64
_HAND_OVER_COST = 256
_ENCODED_PICTURE_CHARS = 4 * 1024 * 1024  # 3 MiB as base64
_NO_INPUT = "input() cannot be answered here: pass the value in the code, a file or an environment variable."


class BoundedThread(IOPubThread):
    """Lets a sender wait when many messages wait already, so that they pile up nowhere."""

    def send_multipart(self, *args: Any, **kwargs: Any) -> None:
        """Queue a message for the thread that owns the socket."""
        super().send_multipart(*args, **kwargs)
        if len(self._events) > _WAITING_SENDS:
            self.catch_up()

    def catch_up(self) -> None:
        """Return when all that waits now has been sent."""
        if threading.current_thread() is not self.thread and self.thread.is_alive():
            sent = threading.Event()
            self.schedule(sent.set)
            sent.wait()


class BoundedStream(OutStream):
    """Standard output or error: in slices, the writer waits for the reader, and the order between both is kept."""

    flush_timeout = None  # type: ignore[assignment] # None is what threading.Event.wait takes for "for ever"
    sibling: "BoundedStream | None" = None
    _unsent = 0

    def write(self, string: str) -> int:
        """Write text, waiting for the reader once a slice is full."""
        if not isinstance(string, str):
            raise TypeError(f"write() argument must be str, not {type(string)}")
        if not string.isascii():
            # An unpaired surrogate is no UTF-8: it would cost the whole message.
            string = string.encode("utf-8", "replace").decode("utf-8")
        if self.sibling is not None and self.sibling._unsent:
            self.sibling.hand_over()
        for start in range(0, len(string), SLICE_BYTES):
            part = string[start : start + SLICE_BYTES]
            super().write(part)
            self._unsent += len(part)
            if self._unsent >= SLICE_BYTES:
                self.flush()
        return len(string)

    def hand_over(self) -> None:
        """Send what was written so far before anything that is written from now on, to whichever stream."""
        self._unsent = 0
        if self._is_master_process():
            self.pub_thread.schedule(partial(self._publish, self._rotate_buffers()))
            if len(self.pub_thread._events) > _WAITING_SENDS:
                self.pub_thread.catch_up()

    def _flush(self) -> None:
        self._unsent = 0
        super()._flush()

    def _publish(self, buffers: dict[Any, Any]) -> None:
        for parent, buffer in buffers.items():
            content = {"name": self.name, "text": buffer.getvalue()}
            if content["text"]:
                self.session.send(self.pub_thread, "stream", content, parent=dict(parent), ident=self.topic)


class BoundedSession(Session):
    """Sends results, pictures and tracebacks only up to a size that every reader can take."""

    def send(self, stream: Any, msg_or_type: Any, content: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Send a message, with what is too large in it cut or replaced by a note."""
        if isinstance(msg_or_type, dict):
            msg_or_type = {**msg_or_type, "content": _bounded(msg_or_type["content"])}
        elif isinstance(content, dict):
            content = _bounded(content)
        return super().send(stream, msg_or_type, content, *args, **kwargs)


class SandboxKernel(IPythonKernel):
    """Sets the variables of one execution and takes them back; says clearly that nobody answers ``input``."""

    async def execute_request(self, stream: Any, ident: Any, parent: Any) -> None:
        """Run code with the variables that came with the request."""
        given = parent.get("metadata", {}).get("sandglass", {}).get("envs", {})
        before = {name: os.environ.get(name) for name in given}
        os.environ.update(given)
        try:
            await super().execute_request(stream, ident, parent)
        except KeyboardInterrupt:
            # It met ipykernel's own code, a moment before or after the user's; without this no reply would follow.
            content = {"status": "error", "ename": "KeyboardInterrupt", "evalue": "", "traceback": ["KeyboardInterrupt"]}
            self.session.send(stream, "execute_reply", content, parent, ident=ident)
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def raw_input(self, prompt: str = "") -> str:
        """Stand in for the built-in input."""
        raise EOFError(_NO_INPUT)

    def getpass(self, prompt: str = "", stream: Any = None, *, echo_char: str | None = None) -> str:
        """Stand in for getpass.getpass."""
        raise EOFError(_NO_INPUT)


class SandboxKernelApp(IPKernelApp):
    """ipykernel with our classes, no connection file and no heartbeat."""

    kernel_class = Type(SandboxKernel, klass="ipykernel.kernelbase.Kernel")  # type: ignore[assignment] # a trait

    def connect_as(self, about: dict[str, Any]) -> None:
        """Take the sockets' address and the key that messages are signed with."""
        self.transport, self.ip = "ipc", about["address"]
        self.shell_port, self.iopub_port = about["shell"], about["iopub"]
        self.stdin_port, self.control_port = about["iopub"] + 1, about["iopub"] + 2
        self.session = BoundedSession(parent=self, key=about["key"].encode())

    def init_connection_file(self) -> None:
        """There is none: the key is in no file."""

    def write_connection_file(self, **kwargs: Any) -> None:
        """There is none."""

    def init_path(self) -> None:
        """Let code import files of its working directory: after the standard library, before installed packages."""
        installed = (i for i, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
        sys.path.insert(next(installed, len(sys.path)), "")

    def log_connection_info(self) -> None:
        """Note the ports; there is nobody to tell."""
        self._ports = {"shell": self.shell_port, "iopub": self.iopub_port, "control": self.control_port}

    def init_heartbeat(self) -> None:
        """None: the supervisor sees the process itself."""

    def init_iopub(self, context: zmq.Context[Any]) -> None:
        """Create the output socket with a low mark that makes senders wait."""
        self.iopub_socket = context.socket(zmq.XPUB)
        self.iopub_socket.linger = 1000
        self.iopub_socket.setsockopt(zmq.XPUB_NODROP, 1)
        self.iopub_socket.setsockopt(zmq.SNDHWM, _IOPUB_MESSAGES)
        self.iopub_port = self._bind_socket(self.iopub_socket, self.iopub_port)
        self.configure_tornado_logger()
        self.iopub_thread = BoundedThread(self.iopub_socket, pipe=True, session=self.session)
        self.iopub_thread.start()
        self.iopub_socket = self.iopub_thread.background_socket

    def init_io(self) -> None:
        """Redirect the streams and make each know the other."""
        super().init_io()
        out, err = sys.stdout, sys.stderr
        if isinstance(out, BoundedStream) and isinstance(err, BoundedStream):
            out.sibling, err.sibling = err, out


def _bounded(content: dict[str, Any]) -> dict[str, Any]:
    data = content.get("data")
    if isinstance(data, dict):
        content = {**content, "data": _bounded_data(data)}
    if "traceback" in content and "ename" in content:
        lines = _cut("\n".join(map(str, content["traceback"])), TRACEBACK_BYTES)
        content = {**content, "traceback": lines.split("\n"), "evalue": _cut(str(content["evalue"]), TRACEBACK_BYTES)}
    return content


def _bounded_data(data: dict[str, Any]) -> dict[str, Any]:
    kept, notes = {}, []
    for mime, value in data.items():
        if not isinstance(value, str):
            kept[mime] = value
        elif mime.startswith("text/"):
            kept[mime] = _cut(value, TEXT_BYTES)
        elif len(value) <= _ENCODED_PICTURE_CHARS:
            kept[mime] = value
        else:
            notes.append(f"[{mime} of {len(value)} characters was left out: too large; save it to a file]")
    return {**kept, "text/plain": "\n".join(notes)} if notes else kept


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _settings() -> Config:
    config = Config()
    config.IPKernelApp.outstream_class = f"{__name__}.BoundedStream"
    config.IPKernelApp.log_level = "CRITICAL"
    config.HistoryManager.enabled = False  # no database in the user's folder; In, Out and _ are kept in memory
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Context"
    return config


def main() -> None:
    """Read the connection from standard input, then serve until killed."""
    with os.fdopen(os.dup(0), "rb") as given:
        about = json.loads(given.read())
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.argv = [""]
    faulthandler.enable(os.dup(2), all_threads=False)  # a crash is told on the raw stream, which the supervisor keeps
    app = SandboxKernelApp.instance(config=_settings())
    app.connect_as(about)
    app.initialize([])
    app.start()
