"""Real supervisors with real kernels, each in folders of its own, on a port of the loopback device."""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import zmq
from client import Client
from hypothesis import settings

settings.register_profile("quick", max_examples=50, deadline=None, database=None)
settings.load_profile("quick")
START = [sys.executable, "-I", "-m", "sandglass_supervisor"]


class Running:
    """A started supervisor; ``prefix`` is a program that starts it (setpriv, unshare), ``python`` runs it."""

    def __init__(
        self, folder: Path, prefix: list[str] | None = None, *, python: str = sys.executable, **env: str
    ) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        self.workspace.mkdir(mode=0o777)
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
            "SANDGLASS_RUNTIME_DIR": str(folder / "run"),
            "SANDGLASS_WORKSPACE": str(self.workspace),
            "SANDGLASS_ENV": '{"GREETING":"hi"}',
            "IPYTHONDIR": str(folder / "run" / "ipython"),
            "MPLCONFIGDIR": str(Path(tempfile.gettempdir()) / "sandglass-test-matplotlib"),
            "HOME": str(self.workspace),
            "PATH": os.environ["PATH"],
            **env,
        }
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*(prefix or []), python, *START[1:]], env=settings, stderr=log, stdin=subprocess.DEVNULL
            )
        self.endpoint, self.pid = self._serving()

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

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One supervisor for all tests that leave it as they found it."""
    running = Running(tmp_path_factory.mktemp("s"))
    yield running
    running.stop()


@pytest.fixture
def client(shared: Running) -> Iterator[Client]:
    """A fresh connection to the shared supervisor."""
    client = shared.client()
    client.hello()
    yield client
    client.close()
    shared.clients.remove(client)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Running]:
    """A supervisor for this test alone."""
    running = Running(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """An execution id that no other test uses."""
    return re.sub(r"[^A-Za-z0-9]", "-", f"{request.module.__name__}-{request.node.name}")[:200]
