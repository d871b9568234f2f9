"""Many sandboxes execute at once on the cluster's few processors: nobody may fail, and nobody may starve."""

from __future__ import annotations

import json
import secrets
import selectors
import time
from typing import Any

from agent import Agent

from .cluster_api import Cluster
from .cold_start import PODS, SANDBOXES, TENANT_NAMESPACE, start, stop
from .elsewhere import caller
from .figures import summary
from .memory import processes
from .overhead import body_of, connect, raw_request, receive

SANDBOXES_AT_ONCE = 20
CALLS_EACH = 50
# Twenty sandboxes may use 5 CPUs together, more than twice what a node with two processors has.
CPUS_EACH = "250m"
SINGLE_CALLS = 200
WARM_UP = 20


@caller()
def measure(cluster: Cluster) -> dict[str, Any]:
    single = alone()
    names = [f"crowd-{secrets.token_hex(3)}" for _ in range(SANDBOXES_AT_ONCE)]
    agents = [Agent.from_environment() for _ in names]
    try:
        for agent, name in zip(agents, names, strict=True):
            start(agent, name, cpus=CPUS_EACH)
        print(f"  {len(names)} sandboxes run", flush=True)
        all_at_once(agents, names, WARM_UP)
        crowd, errors = all_at_once(agents, names, CALLS_EACH)
        pods = [pss_of(cluster, name) for name in names]
    finally:
        last = Agent.from_environment()  # the others' connections may have idled for too long
        for name in names:
            stop(last, name)
    together = summary(crowd)
    return {
        "sandboxes": len(names),
        "alone_ms": single,
        "at_once_ms": together,
        "errors": errors,
        "p99_by_single_p50": round(together["p99"] / single["p50"], 2),
        "pod_pss_mib": summary(pods),
    }


def alone() -> dict[str, float]:
    """One sandbox of the usual size, and nobody else."""
    agent, name = Agent.from_environment(), f"alone-{secrets.token_hex(3)}"
    start(agent, name)
    try:
        all_at_once([agent], [name], WARM_UP)
        return summary(all_at_once([agent], [name], SINGLE_CALLS)[0])
    finally:
        stop(agent, name)


def all_at_once(agents: list[Agent], names: list[str], count: int) -> tuple[list[float], list[str]]:
    """Each sandbox gets its next call when it has answered the last. One thread asks, lest many wait for each other."""
    clients = [Client(agent, name, count) for agent, name in zip(agents, names, strict=True)]
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.connection, selectors.EVENT_READ, client)
            client.ask()
        while selector.get_map():
            for key, _ in selector.select(timeout=60):
                client = key.data
                if client.hears_all() and not client.goes_on():
                    selector.unregister(client.connection)
                    client.connection.close()
    return [each for client in clients for each in client.times], [each for client in clients for each in client.errors]


class Client:
    """One sandbox's caller on a connection of its own."""

    def __init__(self, agent: Agent, name: str, count: int) -> None:
        self.count = count
        self.request = raw_request(agent, name)
        self.connection = connect(agent)
        self.times: list[float] = []
        self.errors: list[str] = []
        self.heard = b""
        self.begun = 0.0

    def ask(self) -> None:
        self.heard = b""
        self.begun = time.perf_counter()
        self.connection.sendall(self.request)

    def hears_all(self) -> bool:
        self.heard += receive(self.connection)
        return body_of(self.heard) is not None

    def goes_on(self) -> bool:
        """Takes the answer; False after the last."""
        self.times.append((time.perf_counter() - self.begun) * 1000)
        result = json.loads(body_of(self.heard) or b"{}")["result"]
        if result.get("structuredContent", {}).get("result") != "2":
            self.errors.append(str(result["content"])[:200])
        if len(self.times) == self.count:
            return False
        self.ask()
        return True


def pss_of(cluster: Cluster, name: str) -> float:
    pod = cluster.get(f"{SANDBOXES}/{name}")["status"]["podName"]
    pss: float = processes(cluster.get(f"{PODS.format(TENANT_NAMESPACE)}/{pod}"))["pss_mib"]
    return pss
