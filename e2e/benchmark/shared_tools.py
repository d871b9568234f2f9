"""A server that sandboxes share: calls of several sandboxes at once, and the first call of one whose pod sleeps."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agent import Agent

from .cluster_api import Cluster, JsonObject
from .cold_start import SANDBOXES, TENANT_NAMESPACE, Failed, start, stop
from .figures import summary
from .tools import FILES, SERVER

SERVERS = f"/apis/sandglass.dev/v1alpha1/namespaces/{TENANT_NAMESPACE}/sandboxtoolservers"
SANDBOXES_AT_ONCE, THREADS, CALLS = 8, 4, 25
CPUS_EACH = "250m"
# Longer than eight clients need to connect, or the server falls asleep in the middle of their first calls.
IDLE = "20s"
TAIL_BY_MEDIAN = 10.0
MORE_THAN_OWN_START_MS = 1500.0


def measure(agent: Agent, cluster: Cluster) -> dict[str, Any]:
    name = f"bench-{secrets.token_hex(3)}"
    sandboxes = [f"{name}-{number}" for number in range(SANDBOXES_AT_ONCE)]
    cluster.create(SERVERS, resource(name))
    try:
        for sandbox in sandboxes:
            start(agent, sandbox, cpus=CPUS_EACH)
        printed(agent, sandboxes[0], crowd(name, 1, 1))  # starts the server
        with ThreadPoolExecutor(SANDBOXES_AT_ONCE) as pool:
            taken = list(pool.map(lambda sandbox: calls(sandbox, name), sandboxes))
        own = float(printed(agent, sandboxes[0], own_start()))
        sleep(cluster, f"{name}-mcp")
        first = json.loads(printed(agent, sandboxes[0], crowd(name, 1, 1)))[0] / 1000
    finally:
        for sandbox in sandboxes:
            stop(agent, sandbox)
        cluster.delete(f"{SERVERS}/{name}")
    return {
        "at_once_ms": summary([each / 1000 for of_one in taken for each in of_one]),
        "own_start_ms": round(own, 1),
        "first_of_sleeping_ms": round(first, 1),
    }


def resource(name: str) -> JsonObject:
    stdio = {"command": "python3", "args": ["-c", SERVER.read_text()]}
    return {
        "apiVersion": "sandglass.dev/v1alpha1",
        "kind": "SandboxToolServer",
        "metadata": {"name": name},
        "spec": {"stdio": stdio, "allowedDomains": [], "idleTimeout": IDLE},
    }


def calls(sandbox: str, server: str) -> list[int]:
    """Microseconds of each call of one sandbox; its agent has a connection of its own."""
    taken: list[int] = json.loads(printed(Agent.from_environment(), sandbox, crowd(server, THREADS, CALLS)))
    return taken


def crowd(server: str, threads: int, count: int) -> str:
    line = 'SERVER, THREADS, CALLS = "bench", 1, 1'
    ours = f"SERVER, THREADS, CALLS = {server.replace('-', '_')!r}, {threads}, {count}"
    return (FILES / "crowd.py").read_text().replace(line, ours)


def own_start() -> str:
    return (FILES / "own_start.py").read_text().replace('SOURCE = ""', f"SOURCE = {json.dumps(SERVER.read_text())}")


def printed(agent: Agent, sandbox: str, code: str) -> str:
    ran = agent.call("sandbox_run_code", sandbox=sandbox, code=code, max_output_chars=100_000)
    if ran["status"] != "ok":
        raise Failed(f"the calls of a shared server: {ran.text[-1000:]}")
    return str(ran["stdout"]).splitlines()[-1]


def sleep(cluster: Cluster, child: str) -> None:
    """Waits until the operator has ended the pod for lack of calls."""
    events = cluster.watch(SANDBOXES, child)
    if not sleeps(cluster.get(f"{SANDBOXES}/{child}")):
        cluster.wait(events, lambda _, sandbox: sleeps(sandbox))


def sleeps(sandbox: JsonObject) -> bool:
    conditions = sandbox.get("status", {}).get("conditions", [])
    return any(each["type"] == "Suspended" and each["status"] == "True" for each in conditions)


def timings(result: dict[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
    if shared := result.get("shared_tools"):
        yield "a shared tool, 32 calls at once", shared["at_once_ms"]


def lines(result: dict[str, Any]) -> Iterator[str]:
    if shared := result.get("shared_tools"):
        yield (
            f"  the first call of a server that sleeps: {shared['first_of_sleeping_ms']:.0f} ms; the server starts"
            f" in {shared['own_start_ms']:.0f} ms"
        )


def gates(result: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    if shared := result.get("shared_tools"):
        at_once = shared["at_once_ms"]
        yield "a shared tool's call, p99 / p50 of 32 at once", at_once["p99"] / at_once["p50"], TAIL_BY_MEDIAN
        added = shared["first_of_sleeping_ms"] - shared["own_start_ms"]
        yield "what a sleeping server's first call adds, in ms,", added, MORE_THAN_OWN_START_MS
