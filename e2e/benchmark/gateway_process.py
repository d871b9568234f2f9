"""The gateway as its image runs it, but as a process of this machine, with its metrics and memory."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator

from .cold_start import Failed
from .java_image import FOLDER, JavaImage, memory_mib, start

IMAGE = JavaImage(module="mcp-gateway", component="gateway")
PATIENCE_S = 60


class GatewayProcess:
    """One that runs; known by the kernel of the system and by its own metrics."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, management: int, token: str) -> None:
        self.process = process
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.token = token
        self._management = management

    def metric(self, name: str) -> float:
        found = re.search(rf"^{name} (\S+)$", self._get("/actuator/prometheus")[1], re.MULTILINE)
        if found is None:
            raise Failed(f"the gateway has no metric {name}")
        return float(found[1])

    def memory_mib(self) -> tuple[float, float]:
        """What it holds now, and the most it ever held."""
        return memory_mib(self.process)

    def count(self, what: str) -> int:
        """Entries of its folder in /proc: threads are `task`, open files `fd`."""
        return len(os.listdir(f"/proc/{self.process.pid}/{what}"))

    def await_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if self._get("/actuator/health/readiness")[0] == 200:
                    return
            time.sleep(0.1)
        raise Failed(f"the gateway did not get ready, see {FOLDER}/gateway.log")

    def _get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._management, timeout=PATIENCE_S)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()


@contextlib.contextmanager
def running(kubernetes: str, secret: pathlib.Path, keys: pathlib.Path) -> Iterator[GatewayProcess]:
    """A gateway of the tenant `default`, ready, before that API; `keys` is an empty folder for its API key."""
    token = secrets.token_hex(16)
    key = {"sha256": hashlib.sha256(token.encode()).hexdigest(), "tenants": ["default"]}
    (keys / "bench").write_text(json.dumps(key))
    port, management = free_port(), free_port()
    settings = {
        "GATEWAY_LINK_SECRET_FILE": str(secret),
        "GATEWAY_API_KEYS_DIR": str(keys),
        "KUBERNETES_MASTER": kubernetes,
        "KUBERNETES_AUTH_TRYKUBECONFIG": "false",
        "KUBERNETES_AUTH_TRYSERVICEACCOUNT": "false",
        "SERVER_ADDRESS": "127.0.0.1",
        "SERVER_PORT": str(port),
        "MANAGEMENT_SERVER_ADDRESS": "127.0.0.1",
        "MANAGEMENT_SERVER_PORT": str(management),
    }
    IMAGE.train("dev.sandglass.gateway.training.Training", "dev.sandglass.gateway.GatewayApplication")
    with (FOLDER / "gateway.log").open("wb") as log, start(IMAGE.command(), settings, log.fileno()) as process:
        try:
            gateway = GatewayProcess(process, port, management, token)
            gateway.await_ready()
            yield gateway
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
