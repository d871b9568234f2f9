"""The gateway as its image runs it, but as a process of this machine: same program, flags, memory limit and cache."""

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

from .cluster_api import ROOT
from .cold_start import Failed

# Laid out by images/build, for the image's build.
IMAGE = ROOT / "mcp-gateway/target/image"
FOLDER = ROOT / "build/bench"
CACHE = FOLDER / "gateway.aot"
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
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        now, most = (re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE) for field in ("VmRSS", "VmHWM"))
        if now is None or most is None:
            raise Failed("the gateway has ended")
        return round(int(now[1]) / 1024, 1), round(int(most[1]) / 1024, 1)

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
    train(secret)
    with (FOLDER / "gateway.log").open("wb") as log, start(command(), settings, log.fileno()) as process:
        try:
            gateway = GatewayProcess(process, port, management, token)
            gateway.await_ready()
            yield gateway
        finally:
            process.kill()


def start(words: list[str], settings: dict[str, str], log: int) -> subprocess.Popen[bytes]:
    # Nothing of the caller's: options for Java, a proxy or a kubeconfig would make it another gateway.
    env = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **settings}
    return subprocess.Popen(words, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def command() -> list[str]:
    """The image's entry point, with its paths moved here and its container's memory limit made explicit."""
    dockerfile = (IMAGE / "Dockerfile").read_text().replace("\\\n", "")
    entry = re.search(r"^ENTRYPOINT (\[.*\])$", dockerfile, re.MULTILINE)
    options = re.search(r'^ENV JAVA_TOOL_OPTIONS="(.*)"$', dockerfile, re.MULTILINE)
    values = (ROOT / "helm/sandglass/values.yaml").read_text()
    limit = re.search(r"^gateway:\n(?:(?: .*)?\n)*?    limits:\n      memory: (\d+)Mi$", values, re.MULTILINE)
    if entry is None or options is None or limit is None:
        raise Failed("the image's entry point and options, or the chart's memory limit of the gateway is not found")
    words: list[str] = json.loads(entry[1])
    moved = [str(CACHE).join(word.split("/app/gateway.aot")) for word in words[1:]]
    place = moved.index("@/app/java.args")
    return [java(), f"-XX:MaxRAM={limit[1]}m", *options[1].split(), *moved[:place], *arguments(), *moved[place + 1 :]]


def java() -> str:
    return str(IMAGE / "runtime/bin/java")


def arguments() -> list[str]:
    """Collector and class path."""
    try:
        words = (IMAGE / "app/java.args").read_text().split()
    except FileNotFoundError:
        raise Failed(f"{IMAGE} is not laid out; run `make images`") from None
    return [re.sub(r"(?:^|(?<=:))/app/", f"{IMAGE}/app/", word) for word in words]


def train(secret: pathlib.Path) -> None:
    """Makes the AOT cache as the image's build does, unless it is of this program already."""
    if CACHE.exists() and CACHE.stat().st_mtime > (IMAGE / "app/mcp-gateway.jar").stat().st_mtime:
        return
    print("  making the gateway's AOT cache", flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    words = [java(), f"-XX:AOTCacheOutput={CACHE}", *arguments(), "dev.sandglass.gateway.GatewayApplication"]
    settings = {
        "GATEWAY_TRAINING": "true",
        "GATEWAY_UNAUTHENTICATED": "true",
        "GATEWAY_LINK_SECRET_FILE": str(secret),
        "SERVER_PORT": "0",
        "MANAGEMENT_SERVER_PORT": "0",
    }
    with (FOLDER / "training.log").open("wb") as log, start(words, settings, log.fileno()) as process:
        if process.wait() != 0:
            raise Failed(f"the gateway's training failed, see {FOLDER}/training.log")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
