"""Runs in the kernel's process: ipykernel, with its output bounded and its connection read from standard input.

Derived classes only; nothing of ipykernel or IPython is changed in place.
"""

import asyncio
import contextlib
import faulthandler
import functools
import gc
import json
import logging
import os
import signal
import site
import sys
import threading
from collections.abc import Iterator
from typing import Any

import zmq
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQDisplayPublisher
from tornado.ioloop import IOLoop
from traitlets import Type
from traitlets.config import Config

from ..shared.crash_buffer import CrashBuffer
from . import asyncio_run, figures, run_variables, tools
from .current_run import OfCurrentRun
from .display import BoundedSession
from .errors import failed_reply
from .interrupts import CommandShell, interrupting
from .kernel_loop import serve
from .memory import ForgettingShell, LastValueHook
from .own_streams import OWN_STREAMS
from .streams import BoundedStream, BoundedThread

_IOPUB_MESSAGES = 64
# Which servers there are besides the sandbox's own, a gateway says once the run has begun: load raises for others.
_LOAD = "from mcptools.code_mode import load as _load; _load({!r}, globals()); del _load"
_ERRORS = os.dup(2)  # the raw stream, which the supervisor keeps; the code's own is made a stream of output
_NO_INPUT = "nobody can answer a question here: pass the value in the code, a file or an environment variable."


class SandboxDisplayHook(LastValueHook):
    """Sends the result of a run together with the end of the run, if that follows at once."""

    def finish_displayhook(self) -> None:
        """Queue the result; nobody is woken for it alone, unless every expression of a cell is shown."""
        OWN_STREAMS.mend()
        last = getattr(self.shell, "ast_node_interactivity", "all") != "all"
        with self.pub_socket.io_thread.unhurried() if last else contextlib.nullcontext():
            super().finish_displayhook()


class SandboxPublisher(OfCurrentRun, ZMQDisplayPublisher):
    """Displays also if what stands for standard output can take nothing."""

    def publish(self, *args: Any, **kwargs: Any) -> None:
        """Display something, after what was written before."""
        OWN_STREAMS.mend()
        super().publish(*args, **kwargs)

    def clear_output(self, *args: Any, **kwargs: Any) -> None:
        """Clear what was displayed, and what was written before."""
        OWN_STREAMS.mend()
        super().clear_output(*args, **kwargs)


class SandboxShell(CommandShell, ForgettingShell):
    """Does not ask programs for colours: whoever reads the output is no terminal."""

    displayhook_class = Type(SandboxDisplayHook)
    display_pub_class = Type(SandboxPublisher)
    run_follows = False
    _transformed: tuple[str, str] | None = None

    def transform_cell(self, raw_cell: str) -> str:
        """Transform code as IPython does; ipykernel asks twice for what it runs, and the second answer is the first."""
        known, self._transformed = self._transformed, None
        if known is not None and known[0] == raw_cell:
            return known[1]
        cell: str = super().transform_cell(raw_cell)
        if self.run_follows:
            self.run_follows, self._transformed = False, (raw_cell, cell)
        return cell

    def set_parent(self, parent: dict[str, Any]) -> None:
        """Have output belong to a run, also what comes by way of something that the code put before a stream."""
        super().set_parent(parent)
        OWN_STREAMS.set_parent(parent)

    def init_environment(self) -> None:
        """Leave the environment as the supervisor made it, but for the pagers."""
        os.environ.update(run_variables.PAGERS)


class NoShellThread:
    """Stands for the thread that ipykernel keeps for subshells: here cells come straight to the main thread."""

    parent_thread = threading.main_thread()

    def __bool__(self) -> bool:
        return False


class SandboxKernel(IPythonKernel):
    """Sets the variables of one execution and takes them back; says clearly that nobody answers ``input``."""

    shell_class = Type(SandboxShell)
    _supports_kernel_subshells = False
    _execute_sleep = 0  # ipykernel sleeps so that output comes before the reply; the supervisor waits for both

    def _publish_status(self, status: str, channel: str, parent: Any = None) -> None:
        """Tell the state, but not that a run begins: the run's own input tells that."""
        if status != "busy":
            super()._publish_status(status, channel, parent)

    def _publish_execute_input(self, code: str, parent: Any, execution_count: int) -> None:
        """Note that the run begins where the supervisor looks before it interrupts: a message would cost more."""
        if isinstance(self.parent, SandboxKernelApp) and self.parent.last_words is not None:
            self.parent.last_words.begin(parent["header"]["msg_id"])

    async def execute_request(self, stream: Any, ident: Any, parent: Any) -> None:
        """Run code with the variables that came with the request."""
        given = parent.get("metadata", {}).get("sandglass", {})
        if "variables" in given:  # with the first run of a kernel that was started ahead
            if isinstance(self.parent, SandboxKernelApp) and self.parent.ran_files:
                os._exit(0)  # those files may have looked for them: the run gets a kernel that starts with them
            run_variables.keep(given["variables"])
        before = run_variables.put(given.get("envs", {}))
        try:
            if given.get("servers"):
                # As the code itself would: what it raises is told as the code's error.
                exec(_LOAD.format(given["servers"]), self.shell.user_ns)  # type: ignore[union-attr]  # noqa: S102
            await super().execute_request(stream, ident, parent)
        except (Exception, KeyboardInterrupt, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001
            # It met ipykernel's own code, a moment before or after the user's; without this no reply would follow.
            try:
                content = failed_reply(error, self.shell.user_global_ns)  # type: ignore[union-attr] # it is there
                self.session.send(stream, "execute_reply", content, parent, ident=ident)  # type: ignore[union-attr]
            except Exception:  # noqa: BLE001 - whatever the code broke, nothing can be told
                os.write(_ERRORS, b"The code took from the kernel what it needs to answer, such as builtins.len.\n")
                os._exit(1)
        finally:
            run_variables.put_back(before)

    async def do_execute(self, code: str, *args: Any, **kwargs: Any) -> Any:
        """Run code; what programs wrote to the standard descriptors belongs to this run, so wait for it."""
        if isinstance(self.shell, SandboxShell):
            self.shell.run_follows, self.shell.failure = True, None
            with contextlib.suppress(Exception):  # what goes may have finalizers
                self.shell.forget(code)
        reply = await super().do_execute(code, *args, **kwargs)
        if isinstance(self.shell, SandboxShell):
            self.shell.conclude(reply)
        OWN_STREAMS.mend()  # the reply would not follow
        for stream in getattr(self.parent, "streams", ()):
            stream.settle()
        # There is nothing left to interrupt, and what tells the end must not be cut in two.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return reply

    @contextlib.contextmanager
    def _cancel_on_sigint(self, future: Any) -> Iterator[None]:
        """Have an interrupt end what the code awaits or does: ipykernel's handler waits for the loop."""
        with super()._cancel_on_sigint(future):
            wake = signal.getsignal(signal.SIGINT)
            if callable(wake):
                signal.signal(signal.SIGINT, interrupting(future, wake))
            yield

    def raw_input(self, prompt: str = "") -> str:
        """Stand in for the built-in input."""
        raise EOFError(f"input(): {_NO_INPUT}")

    def getpass(self, prompt: str = "", stream: Any = None, *, echo_char: str | None = None) -> str:
        """Stand in for getpass.getpass."""
        raise EOFError(f"getpass(): {_NO_INPUT}")


class SandboxKernelApp(IPKernelApp):
    """ipykernel with our classes, no connection file and no heartbeat."""

    kernel_class = Type(SandboxKernel, klass="ipykernel.kernelbase.Kernel")  # type: ignore[assignment] # a trait
    last_words: CrashBuffer | None = None
    ran_files = False  # of the image's or the user's own: configuration, and what runs before the first cell

    def initialize(self, argv: Any = None) -> None:
        """Set all up, and know whether code of others ran meanwhile."""
        super().initialize(argv)
        self.ran_files = self.ran_files or bool(self.loaded_config_files)

    def _exec_file(self, *args: Any, **kwargs: Any) -> None:
        """Run a file that is to run before the first cell."""
        self.ran_files = True
        super()._exec_file(*args, **kwargs)

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
        _add_user_packages()
        installed = (i for i, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
        sys.path.insert(next(installed, len(sys.path)), "")
        tools.arrange()

    def patch_io(self) -> None:
        """Have the crash report that code asks for come where the supervisor reads it, and not by what has crashed."""
        enable = faulthandler.enable
        told = functools.wraps(enable)(lambda file=_ERRORS, *args, **kwargs: enable(file, *args, **kwargs))
        faulthandler.enable = told

    def init_gui_pylab(self) -> None:
        """Choose matplotlib's backend without the variable that ipykernel sets, and that programs would inherit."""
        given = os.environ.get("MPLBACKEND")
        super().init_gui_pylab()
        if not given:
            os.environ.pop("MPLBACKEND", None)
        figures.arrange(self.shell)

    def start(self) -> None:
        """Serve until the code or the supervisor ends the kernel; an exception that reaches the loop does not."""
        self.kernel.start()
        self.io_loop = IOLoop.current()
        asyncio_run.arrange(self.io_loop.asyncio_loop)  # type: ignore[attr-defined] # tornado's is asyncio's
        serve(self.io_loop, self.shell)

    def log_connection_info(self) -> None:
        """There is nobody to tell."""

    def init_heartbeat(self) -> None:
        """None: the supervisor sees the process itself."""

    def init_control(self, context: zmq.Context[Any]) -> None:
        """Create the control channel, and no thread for the shell channel: it would cost each run two more hops."""
        super().init_control(context)
        self.shell_channel_thread = NoShellThread()

    def init_iopub(self, context: zmq.Context[Any]) -> None:
        """Create the output socket with a low mark that makes senders wait."""
        self.iopub_socket = context.socket(zmq.XPUB)
        self.iopub_socket.linger = 1000
        self.iopub_socket.setsockopt(zmq.XPUB_NODROP, 1)
        # The supervisor connects anew when its connection broke, and may do so before ZeroMQ has forgotten the former
        # one: it is to be welcomed all the same.
        self.iopub_socket.setsockopt(zmq.XPUB_VERBOSE, 1)
        self.iopub_socket.setsockopt(zmq.SNDHWM, _IOPUB_MESSAGES)
        self.iopub_socket.bind(f"ipc://{self.ip}-{self.iopub_port}")
        self.configure_tornado_logger()
        self.iopub_thread = BoundedThread(self.iopub_socket, pipe=True, session=self.session)
        self.iopub_thread.last_words = self.last_words
        self.iopub_thread.start()
        self.iopub_socket = self.iopub_thread.background_socket

    def init_io(self) -> None:
        """Redirect the streams and make each know the other."""
        super().init_io()
        out, err = sys.stdout, sys.stderr
        if isinstance(out, BoundedStream) and isinstance(err, BoundedStream):
            out.sibling, err.sibling = err, out
            self.streams = (out, err)
            OWN_STREAMS.know(out, err)
        for handler in self.log.handlers:
            if isinstance(handler, logging.StreamHandler):  # its own stream would come back as the code's output
                handler.setStream(open(_ERRORS, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _add_user_packages() -> None:
    """Make the folder that pip installs into, so that its first package can be imported at once.

    It belongs behind the packages that the kernel itself needs and before those of the system.
    """
    folder = site.getusersitepackages()
    if not site.ENABLE_USER_SITE or folder in sys.path:
        return
    with contextlib.suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        own = [i for i, entry in enumerate(sys.path) if entry.startswith(f"{sys.prefix}/")]
        sys.path.insert(own[-1] + 1 if own else len(sys.path), folder)


def _settings() -> Config:
    config = Config()
    config.IPKernelApp.outstream_class = f"{BoundedStream.__module__}.BoundedStream"
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
    faulthandler.enable(_ERRORS, all_threads=False)  # so that a crash is told
    app = SandboxKernelApp.instance(config=_settings())
    app.connect_as(about)
    app.last_words = CrashBuffer(about["last_words"])
    # Nobody debugs here, and the debugger costs 7 MiB and much of the start; ipykernel does without if it must.
    sys.modules["debugpy"] = None  # type: ignore[assignment] # this is how an import is made to fail
    app.initialize([])
    app.log.setLevel(logging.CRITICAL)  # log_level alone has each message made and then dropped, several a run
    del sys.modules["debugpy"]
    gc.freeze()  # IPython's hundred thousand objects stay: the collector need not look at them again each time
    app.start()
