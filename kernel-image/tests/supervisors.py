"""Real supervisors with real kernels, each in folders of its own, on a port of the loopback device."""

import os
import re
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import zmq
from client import PATIENCE, Client

from sandglass_supervisor import limits as product

# For tests of what comes when the supervisor's patience is over: the same, only sooner. The interrupt's grace as it is
# in earnest is tested in test_outcomes.
HASTE = MappingProxyType({"INTERRUPT_GRACE_S": 0.5, "RESUBSCRIBE_S": 1.0, "ENV_PROBE_S": 1.0})
# A busy machine may take long to start a program. Only where code stops it before it begins, tests wait for less.
SLOW_STARTS = MappingProxyType({"EXEC_S": 20.0})
# For tests of kernels that react, and so are not killed: a busy machine may take their time.
PATIENT = MappingProxyType({**SLOW_STARTS, "INTERRUPT_GRACE_S": 4.0})
# A user for each process that runs tests, here and in other checkouts: the limit of processes counts all that a user
# runs on the machine, in whatever namespace, and signals reach all of it.
UID = str(1_000_000_000 + secrets.randbelow(1_000_000_000))
UNPRIVILEGED = [
    "setpriv",
    *("--reuid", UID, "--regid", "65532", "--clear-groups"),
    # Only so that Python is found below the home of the user who runs the tests.
    *("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"),
]
# As in a pod: process ids, shared memory and queues of its own.
FIRST_PROCESS = [
    *("unshare", "--pid", "--ipc", "--mount", "--fork", "--mount-proc", "--kill-child", "sh", "-c"),
    "mount -t tmpfs -o size=64m,mode=1777 shm /dev/shm && mkdir -p /dev/mqueue && mount -t mqueue mqueue /dev/mqueue"
    ' && chmod 1777 /dev/mqueue && exec "$@"',
    *("sh", *UNPRIVILEGED),
]
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become somebody else, or to mount")


def program(limits: Mapping[str, float]) -> list[str]:
    """Arguments of Python that run the supervisor with some limits changed before any part of it reads them."""
    if not limits:
        return ["-m", "sandglass_supervisor"]
    assert limits.keys() <= vars(product).keys()
    change = f"import sys; from sandglass_supervisor import limits; vars(limits).update({dict(limits)})"
    return ["-c", f"{change}; from sandglass_supervisor.__main__ import main; sys.exit(main())"]


class Running:
    """A started supervisor.

    ``prefix`` is a program that starts it (setpriv, unshare), ``python`` runs it, ``limits`` stand in for some of
    those in ``limits.py``.
    """

    def __init__(
        self,
        folder: Path,
        prefix: list[str] | None = None,
        *,
        python: str = sys.executable,
        limits: Mapping[str, float] = MappingProxyType({}),
        **env: str,
    ) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir(mode=0o777)
        # Not below the folder: its path must leave room for the names of sockets.
        self.runtime = Path(tempfile.mkdtemp(prefix="sg-run-"))
        self.runtime.chmod(0o777)
        self.server, self.secret = zmq.curve_keypair()
        self.gateway = zmq.curve_keypair()
        self.clients: list[Client] = []
        settings = {
            "SANDGLASS_LINK_SECRET_KEY": self.secret.decode(),
            "SANDGLASS_GATEWAY_PUBLIC_KEY": self.gateway[0].decode(),
            "SANDGLASS_LINK_ADDRESS": "127.0.0.1",
            "SANDGLASS_LINK_PORT": "0",
            "SANDGLASS_SANDBOX_UID": "uid-1",
            "SANDGLASS_INCARNATION": "7",
            "SANDGLASS_RUNTIME_DIR": str(self.runtime),
            "SANDGLASS_WORKSPACE": str(self.workspace),
            "SANDGLASS_ENV": '{"GREETING":"hi"}',
            "IPYTHONDIR": str(self.runtime / "ipython"),
            "MPLCONFIGDIR": str(Path(tempfile.gettempdir()) / "sandglass-test-matplotlib"),
            "HOME": str(self.workspace),
            # What the machine's own installers are configured to ask is none of the tests' business.
            "PIP_CONFIG_FILE": os.devnull,
            "NPM_CONFIG_GLOBALCONFIG": os.devnull,
            "PATH": os.environ["PATH"],
            **env,
        }
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*(prefix or []), python, "-I", *program(limits)], env=settings, stderr=log, stdin=subprocess.DEVNULL
            )

    @property
    def endpoint(self) -> str:
        return self._serving[0]

    @property
    def pid(self) -> int:
        """The supervisor's, as it sees it itself."""
        return self._serving[1]

    @cached_property
    def _serving(self) -> tuple[str, int]:
        while True:
            found = re.search(r"serving endpoint=(\S+) pid=(\d+)", self.log.read_text())
            if found:
                return found[1], int(found[2])
            assert self.process.poll() is None, self.log.read_text()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(0.01)

    def client(self, **more: Any) -> Client:
        client = Client(self.endpoint, self.server, more.pop("keys", self.gateway), **more)
        self.clients.append(client)
        return client

    def ready(self) -> Client:
        """A client that has said hello to a supervisor whose kernel answers."""
        client = self.client()
        client.hello()
        client.run("warm-up", "pass")
        return client

    def rss(self, field: str = "VmRSS") -> int:
        """The supervisor's resident memory in bytes."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"{field}:\s+(\d+)", text)[1]) * 1024  # type: ignore[index] # always there

    def descriptors(self) -> int:
        """How many the supervisor has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def cpu_s(self) -> float:
        """Seconds of processors that the supervisor has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        kernels = held_kernels_of(self.process.pid)
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        # A kernel that is about to end might still write to its folder while that is removed.
        for descriptor in kernels:
            select.select([descriptor], [], [], PATIENCE)
            os.close(descriptor)
        shutil.rmtree(self.runtime, ignore_errors=True)


def children_of(pid: int) -> list[int]:
    """The processes that one has started and that still are its children; none if it is gone."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def held_kernels_of(pid: int) -> list[int]:
    """Descriptors of its children that run code of ours, which can be read from once these have ended."""
    found = []
    for child in children_of(pid):
        with suppress(OSError):
            if b"sandglass_supervisor" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(os.pidfd_open(child))
    return found


def first_process_of(running: Running) -> int:
    """The pid, seen from outside, of the process that unshare started."""
    assert running.pid == 1
    (inner,) = children_of(running.process.pid)
    return inner


class Spares:
    """Supervisors for tests that need one of their own: the next one starts while the present test runs."""

    def __init__(self, make: Callable[[], Running]) -> None:
        self._make = make
        self._next: Running | None = None

    def take(self) -> Running:
        taken, self._next = self._next or self._make(), self._make()
        return taken

    def stop(self) -> None:
        if self._next is not None:
            self._next.stop()
