"""The egress proxy beside tinyproxy and Squid and a direct connection, all on loopback, in one run."""

from __future__ import annotations

import base64
import contextlib
import hmac
import os
import pathlib
import secrets
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from .cluster_api import ROOT
from .cold_start import Failed
from .egress_stand_ins import NAMESPACE
from .figures import percentile, summary
from .gateway_process import free_port
from .java_image import FOLDER, JavaImage, memory_mib, start

IMAGE = JavaImage(module="egress-proxy", component="egressProxy")
PEERS = ("tinyproxy", "squid")
CALLS = 400
BLOCK = 50
# What a proxy is after its first minute: compiled, its buffers and threads there.
WARM_UP = 1000
TUNNELS = 200
ROUND_TRIPS = 50
DOWNLOAD = 512 << 20
DOWNLOADS = 5
PATIENCE_S = 60


class Way:
    """How to come to the server: directly if there is no proxy."""

    def __init__(self, port: int, proxy: int | None = None, head: bytes = b"") -> None:
        self._to = proxy or port
        self._request = b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n" % (port, port, head)
        self._proxied = proxy is not None

    def open(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self._to), timeout=PATIENCE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._proxied:
            connection.sendall(self._request)
            answer = b""
            while b"\r\n\r\n" not in answer:
                heard = connection.recv(4096)
                if not heard:
                    break
                answer += heard
            if b" 200 " not in answer[:20]:
                connection.close()
                raise Failed(f"a proxy answers {answer[:60]!r}")
        return connection


def measure() -> dict[str, Any]:
    install()
    uid, secret = "bench-uid", secrets.token_bytes(32)
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        api, port = stack.enter_context(stand_ins(uid))
        processes = {
            "sandglass": (free_port(), sandglass(folder, api, secret)),
            "tinyproxy": (free_port(), tinyproxy(folder)),
            "squid": (free_port(), squid(folder)),
        }
        password = base64.urlsafe_b64encode(
            hmac.digest(secret, f"sandglass-egress-credential-v1\0{uid}".encode(), "sha256")
        ).rstrip(b"=")
        shown = base64.b64encode(uid.encode() + b":" + password)
        ways = {"direct": Way(port)}
        running = {}
        for each, (own, command) in processes.items():
            running[each] = stack.enter_context(process(each, *command(own)))
            head = b"Proxy-Authorization: Basic %s\r\n" % shown if each == "sandglass" else b""
            ways[each] = Way(port, own, head)
            await_open(each, running[each], ways[each])
        return figures(ways, running)


def figures(ways: dict[str, Way], running: dict[str, subprocess.Popen[bytes]]) -> dict[str, Any]:
    opening: dict[str, list[float]] = {each: [] for each in ways}
    for _ in range(WARM_UP):
        for way in ways.values():
            first_byte(way)
    while len(opening["direct"]) < CALLS:
        for each, way in ways.items():
            for _ in range(BLOCK):
                opening[each].append(first_byte(way))
    speed: dict[str, list[float]] = {each: [] for each in ways}
    for _ in range(DOWNLOADS):
        for each, way in ways.items():
            speed[each].append(throughput(way))
    found: dict[str, Any] = {"tunnels": TUNNELS}
    for each, way in ways.items():
        many, rss = crowd(way, running.get(each))
        found[each] = {
            "opening_ms": summary(opening[each]),
            "mib_per_s": round(percentile(speed[each], 0.5), 1),
            "crowd_ms": summary(many),
            "rss_mib": rss,
        }
        print(
            f"  {each}: CONNECT to first byte p50 {found[each]['opening_ms']['p50']:.2f}, "
            f"p99 {found[each]['opening_ms']['p99']:.2f} ms; {found[each]['mib_per_s']:.0f} MiB/s; "
            f"{TUNNELS} tunnels p99 {found[each]['crowd_ms']['p99']:.1f} ms; {rss} MiB RSS",
            flush=True,
        )
    found["added_p50_ms"] = round(found["sandglass"]["opening_ms"]["p50"] - found["direct"]["opening_ms"]["p50"], 3)
    return found


def first_byte(way: Way) -> float:
    """Milliseconds from nothing to the first byte that came back."""
    begun = time.perf_counter()
    connection = way.open()
    connection.sendall(b"e")
    if connection.recv(1) != b"e":
        raise Failed("the server does not echo")
    taken = time.perf_counter() - begun
    connection.close()
    return taken * 1000


def throughput(way: Way) -> float:
    """MiB per second through one tunnel."""
    buffer = bytearray(1 << 20)
    with way.open() as connection:
        connection.sendall(b"d")
        left, begun = DOWNLOAD, time.perf_counter()
        while left > 0:
            heard = connection.recv_into(buffer)
            if not heard:
                raise Failed("a download ended early")
            left -= heard
        return DOWNLOAD / (1 << 20) / (time.perf_counter() - begun)


def crowd(way: Way, process: subprocess.Popen[bytes] | None) -> tuple[list[float], float | None]:
    """Round trips of all tunnels at once, in milliseconds, and what the proxy holds in memory with them."""
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        begun = {}
        for _ in range(TUNNELS):
            connection = stack.enter_context(way.open())
            selector.register(connection, selectors.EVENT_READ)
            begun[connection] = time.perf_counter()
            connection.sendall(b"ping")
        taken: list[float] = []
        while len(taken) < TUNNELS * ROUND_TRIPS:
            ready = selector.select(PATIENCE_S)
            if not ready:
                raise Failed("a tunnel hangs")
            for key, _ in ready:
                connection = key.fileobj  # type: ignore[assignment]
                if not connection.recv(64):
                    raise Failed("a tunnel ended")
                taken.append((time.perf_counter() - begun[connection]) * 1000)
                begun[connection] = time.perf_counter()
                connection.sendall(b"ping")
        return taken, memory_mib(process)[0] if process else None


def install() -> None:
    """Puts peers that are missing on this machine."""
    missing = [each for each in PEERS if program(each) is None]
    if missing:
        print(f"  installing {' and '.join(missing)} from Debian on this machine, to compare with", flush=True)
        words = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        FOLDER.mkdir(parents=True, exist_ok=True)
        with (FOLDER / "apt.log").open("wb") as log:
            if subprocess.run(words, env=quiet, stdout=log, stderr=log, check=False).returncode != 0:
                raise Failed(f"{' and '.join(missing)} could not be installed, see {FOLDER}/apt.log")


def program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


@contextlib.contextmanager
def stand_ins(uid: str) -> Iterator[tuple[str, int]]:
    words = [sys.executable, "-m", "benchmark.egress_stand_ins", uid]
    with subprocess.Popen(words, cwd=ROOT / "e2e", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            api, port = (process.stdout.readline() if process.stdout else b"").decode().split()
            yield api, int(port)
        finally:
            process.kill()


@contextlib.contextmanager
def process(name: str, words: list[str], settings: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / f"egress-{name}.log").open("wb") as log, start(words, settings, log.fileno()) as running:
        try:
            yield running
        finally:
            # Squid leaves shared memory behind if it is killed, and does not start beside it.
            running.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(PATIENCE_S)
            running.kill()


def await_open(name: str, running: subprocess.Popen[bytes], way: Way) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and running.poll() is None:
        with contextlib.suppress(OSError, Failed):
            way.open().close()
            return
        time.sleep(0.1)
    raise Failed(f"{name} opens no tunnel, see {FOLDER}/egress-{name}.log")


def sandglass(folder: pathlib.Path, api: str, secret: bytes) -> Any:
    file = folder / "secret"
    file.write_bytes(secret)

    def command(port: int) -> tuple[list[str], dict[str, str]]:
        settings = {
            "EGRESS_NAMESPACES": NAMESPACE,
            "EGRESS_SECRET_FILE": str(file),
            "EGRESS_ALLOWED_RANGES": "127.0.0.1",
            "EGRESS_PORT": str(port),
            "EGRESS_HTTP_PORT": str(free_port()),
            "EGRESS_DENIALS_PORT": str(free_port()),
            # One sandbox stands for many here.
            "EGRESS_MAX_TUNNELS": "1000",
            "EGRESS_MAX_NEW_TUNNELS": "100000",
            "KUBERNETES_MASTER": api,
            "KUBERNETES_AUTH_TRYKUBECONFIG": "false",
            "KUBERNETES_AUTH_TRYSERVICEACCOUNT": "false",
        }
        return [IMAGE.java(), "-XX:MaxRAM=256m", *IMAGE.arguments(), "dev.sandglass.egress.EgressMain"], settings

    return command


def tinyproxy(folder: pathlib.Path) -> Any:
    def command(port: int) -> tuple[list[str], dict[str, str]]:
        file = folder / "tinyproxy.conf"
        file.write_text(
            f"Port {port}\nListen 127.0.0.1\nTimeout 600\nMaxClients 1000\nAllow 127.0.0.1\nLogLevel Error\n"
        )
        return [str(program("tinyproxy")), "-d", "-c", str(file)], {}

    return command


def squid(folder: pathlib.Path) -> Any:
    def command(port: int) -> tuple[list[str], dict[str, str]]:
        file = folder / "squid.conf"
        file.write_text(
            f"http_port 127.0.0.1:{port}\nhttp_access allow all\ncache deny all\ncache_mem 0 MB\n"
            "access_log none\n"
            "cache_log /dev/null\npid_filename none\nshutdown_lifetime 0 seconds\n"
            "pinger_enable off\ncoredump_dir none\n"
        )
        return [str(program("squid")), "-N", "-n", f"bench{os.getpid()}", "-f", str(file)], {}

    return command
