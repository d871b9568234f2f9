"""100 MB printed and streamed: whole by checksum, also to a client that stops reading, in bounded memory."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from typing import Any

from agent import Agent

from .cluster_api import Cluster
from .cold_start import PODS, SANDBOXES, TENANT_NAMESPACE, Failed, start, stop
from .memory import pods_of, processes

LINES = 100_000
CODE = f"""
import hashlib
digest = hashlib.sha256()
for number in range({LINES}):
    line = f"{{number:>999}}"
    digest.update(line.encode() + b"\\n")
    print(line)
digest.hexdigest()
"""
PAUSE_S = 10


def measure(cluster: Cluster) -> dict[str, Any]:
    agent, sandbox = Agent.from_environment(), f"bench-{secrets.token_hex(3)}"
    start(agent, sandbox)
    try:
        flood(agent, sandbox, 0)  # what both sides keep for good after a first one is not what a flood adds
        idle = Memory(cluster, sandbox)
        idle.look()
        found = {}
        for name, pause in (("read_on", 0), ("stopped_reading", PAUSE_S)):
            memory = Memory(cluster, sandbox)
            with memory:
                seconds = flood(agent, sandbox, pause)
            found[name] = {
                "seconds": round(seconds, 2),
                "mb_per_s": round(LINES / 1000 / max(seconds - pause, 0.001), 1),
                "gateway_grew_mib": round(memory.gateway - idle.gateway, 1),
                "supervisor_rss_mib": memory.supervisor,
            }
            print(f"  {name}: {found[name]}", flush=True)
    finally:
        stop(agent, sandbox)
    return found


def flood(agent: Agent, sandbox: str, pause_s: float) -> float:
    """Seconds until all was there, the pause included."""
    digest, heard = hashlib.sha256(), 0

    def hear(text: str) -> None:
        nonlocal heard
        digest.update(text.encode())
        if pause_s and heard < LINES * 500 <= heard + len(text):
            time.sleep(pause_s)  # this is the client that does not read
        heard += len(text)

    begun = time.perf_counter()
    answer = agent.call("sandbox_run_code", hear, sandbox=sandbox, code=CODE, timeout=300)
    elapsed = time.perf_counter() - begun
    if answer["status"] != "ok" or answer["result"] != repr(digest.hexdigest()):
        raise Failed(f"the output did not arrive whole: {heard} bytes, {answer['status']}")
    return elapsed


class Memory:
    """The most that gateways and a sandbox's supervisor held while this was entered, in MiB of RSS."""

    def __init__(self, cluster: Cluster, sandbox: str) -> None:
        self._gateways = pods_of(cluster, "mcp-gateway")
        name = cluster.get(f"{SANDBOXES}/{sandbox}")["status"]["podName"]
        self._pod = cluster.get(f"{PODS.format(TENANT_NAMESPACE)}/{name}")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.gateway = self.supervisor = 0.0

    def look(self) -> None:
        self.gateway = max(self.gateway, sum(processes(pod)["rss_mib"] for pod in self._gateways))
        found = processes(self._pod)["processes"]
        supervisor = [each["rss_mib"] for each in found if "-m sandglass_supervisor" in each["command"]]
        self.supervisor = max(self.supervisor, *supervisor)

    def _watch(self) -> None:
        while not self._over.wait(0.2):
            self.look()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
