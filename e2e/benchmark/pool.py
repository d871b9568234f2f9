"""Warm starts from a SandboxPool beside cold ones, in turn in one run: one at a time, and in bursts.

Each start asks for environment variables and a network list, and ends with the first result of ``1+1``. A cold start
asks for a little more memory, which no seat has.
"""

from __future__ import annotations

import contextlib
import functools
import re
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from agent import Agent

from .cluster_api import Cluster, JsonObject, is_ready
from .cold_start import PODS, SANDBOXES, TENANT_NAMESPACE, Failed, its_pod_gone, stop
from .figures import summary
from .memory import SYSTEM_NAMESPACE, pods_of, processes

POOLS = f"/apis/sandglass.dev/v1alpha1/namespaces/{TENANT_NAMESPACE}/sandboxpools"
SERIAL_SEATS, BURST = 2, 10
# Small, so that twenty of them fit on one node of two processors: a start is measured, not a load.
CPUS, MEMORY_MIB = "250m", 256
COLD_MEMORY_MIB = MEMORY_MIB + 1
SERIAL_P50_MS, SERIAL_P99_MS = 60.0, 120.0
BURST_P50_MS, BURST_P99_MS = 200.0, 350.0
WRITES_OF_A_CLAIM = 2.0
SEAT_PSS_MIB = 45.0
PATIENCE_S = 180.0
# Of the operator, for a claim: the seat's pod, and the Sandbox's status.
CLAIM_WRITES = ("PATCH pods ", "PUT sandboxes/status ", "PATCH sandboxes/status ")
MANAGEMENT_PORT = 8081


class Start(NamedTuple):
    """Milliseconds to the answer of ``sandbox_start`` and to the first result, and what the status says of it."""

    name: str
    started: float
    milliseconds: float
    told: str


def measure(agent: Agent, cluster: Cluster, rounds: int, bursts: int) -> dict[str, Any]:
    with a_pool(cluster) as pool:
        seat_pss = processes(seats(cluster, pool)[0])["pss_mib"]
        pairs = []
        for number in range(rounds + 1):
            await_ready(cluster, pool, SERIAL_SEATS)
            cold, warm = (serial(agent, cluster, memory) for memory in (COLD_MEMORY_MIB, MEMORY_MIB))
            pairs.append((cold, warm))
            counted = "" if number else "  (not counted)"
            print(
                f"  round {number:2}: cold {cold.milliseconds:5.0f} ms, warm {warm.milliseconds:5.0f} ms{counted}",
                flush=True,
            )
        cluster.merge(f"{POOLS}/{pool}", {"spec": {"replicas": BURST}})
        before_all, warm_bursts = claim_writes(cluster), []
        for number in range(bursts):
            await_ready(cluster, pool, BURST)
            warm_bursts += burst(cluster, MEMORY_MIB)
            print(f"  burst {number:2}: {summary([each.milliseconds for each in warm_bursts[-BURST:]])}", flush=True)
        writes = (claim_writes(cluster) - before_all) / len(warm_bursts)
        cold_burst = burst(cluster, COLD_MEMORY_MIB)
    counted_warm = [warm for _, warm in pairs[1:]]
    return {
        "warm_start_ms": summary([each.started for each in counted_warm]),
        "warm_ms": summary([each.milliseconds for each in counted_warm]),
        "cold_ms": summary([each.milliseconds for each, _ in pairs[1:]]),
        "burst_warm_ms": summary([each.milliseconds for each in warm_bursts]),
        "burst_cold_ms": summary([each.milliseconds for each in cold_burst]),
        "missed": sorted(each.told for each in counted_warm + warm_bursts if not each.told.startswith("Warm")),
        "writes_of_a_claim": round(writes, 2),
        "seat_pss_mib": seat_pss,
    }


@contextlib.contextmanager
def a_pool(cluster: Cluster) -> Iterator[str]:
    """A pool of seats as the warm starts ask for them; its seats go with it."""
    name = f"bench-{secrets.token_hex(3)}"
    template = {"memory": f"{MEMORY_MIB}Mi", "cpus": CPUS}
    body = {
        "apiVersion": "sandglass.dev/v1alpha1",
        "kind": "SandboxPool",
        "metadata": {"name": name},
        "spec": {"replicas": SERIAL_SEATS, "template": template},
    }
    cluster.create(POOLS, body)
    try:
        await_ready(cluster, name, SERIAL_SEATS)
        yield name
    finally:
        cluster.delete(f"{POOLS}/{name}")


@contextlib.contextmanager
def without_pools(cluster: Cluster) -> Iterator[None]:
    """What is measured of cold starts, and of what an installation holds, is measured without seats."""
    sizes = {pool["metadata"]["name"]: pool["spec"]["replicas"] for pool in cluster.get(POOLS)["items"]}
    for name in sizes:
        cluster.merge(f"{POOLS}/{name}", {"spec": {"replicas": 0}})
        until(f"pool {name} has no seat", functools.partial(empty, cluster, name))
    try:
        yield
    finally:
        for name, replicas in sizes.items():
            cluster.merge(f"{POOLS}/{name}", {"spec": {"replicas": replicas}})


def seats(cluster: Cluster, pool: str) -> list[JsonObject]:
    """The pods of the pool that no sandbox has claimed."""
    selector = f"labelSelector=sandglass.dev%2Fpool%3D{pool},!sandglass.dev%2Fsandbox-uid"
    items: list[JsonObject] = cluster.get(f"{PODS.format(TENANT_NAMESPACE)}?{selector}")["items"]
    return items


def empty(cluster: Cluster, pool: str) -> bool:
    return not seats(cluster, pool)


def await_ready(cluster: Cluster, pool: str, replicas: int) -> None:
    # The status follows claims and refills some seconds later.
    def ready() -> bool:
        there = seats(cluster, pool)
        return len(there) == replicas and all(is_ready("", pod) for pod in there)

    until(f"pool {pool} has {replicas} seats ready", ready)


def until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"{PATIENCE_S:.0f} s and not yet: {what}")
        time.sleep(0.2)


def serial(agent: Agent, cluster: Cluster, memory: int) -> Start:
    begun = start(agent, memory)
    told = start_told(cluster, begun)
    with its_pod_gone(cluster, begun.name):
        stop(agent, begun.name)
    return told


def start(agent: Agent, memory: int) -> Start:
    name = f"bench-{secrets.token_hex(3)}"
    config = {
        "memory": memory,
        "cpus": CPUS,
        "envs": {"BENCH": name},
        "allowedDomains": ["bench.example.com"],
    }
    begun = time.perf_counter()
    started = agent.call("sandbox_start", sandbox=name, config=config)
    if started.failed:
        raise Failed(started.text)
    answered = (time.perf_counter() - begun) * 1000
    answer = agent.call("sandbox_run_code", sandbox=name, code="1+1")
    milliseconds = (time.perf_counter() - begun) * 1000
    if answer["result"] != "2":
        raise Failed(f"1+1 gave {answer.text}")
    return Start(name, answered, milliseconds, "")


def start_told(cluster: Cluster, begun: Start) -> Start:
    return begun._replace(told=cluster.get(f"{SANDBOXES}/{begun.name}")["status"].get("start", "Cold"))


def burst(cluster: Cluster, memory: int) -> list[Start]:
    """That many starts at once, each of a caller with a connection of its own that is open already."""
    agents = [Agent.from_environment() for _ in range(BURST)]
    for each in agents:
        each.call("sandbox_list")
    with ThreadPoolExecutor(BURST) as threads:
        begun = list(threads.map(lambda each: start(each, memory), agents))
    told = [start_told(cluster, each) for each in begun]
    for one in begun:
        with its_pod_gone(cluster, one.name):
            stop(agents[0], one.name)
    return told


def claim_writes(cluster: Cluster) -> float:
    """How often the operator wrote what a claim takes, by its own count."""
    counted = 0.0
    for pod in pods_of(cluster, "operator"):
        text = cluster.text(
            f"/api/v1/namespaces/{SYSTEM_NAMESPACE}/pods/{pod['metadata']['name']}:{MANAGEMENT_PORT}/proxy/metrics"
        )
        for labels, value in re.findall(r"^sandglass_api_requests_total\{(.*)\} (\S+)$", text, re.M):
            found = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            if f"{found['method']} {found['resource']} ".startswith(CLAIM_WRITES):
                counted += float(value)
    return counted


def timings(result: dict[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
    if found := result.get("pool"):
        yield "warm: sandbox_start", found["warm_start_ms"]
        yield "warm: start to first result", found["warm_ms"]
        yield "cold, in turn with them", found["cold_ms"]
        yield f"warm, {BURST} at once", found["burst_warm_ms"]
        yield f"cold, {BURST} at once", found["burst_cold_ms"]


def lines(result: dict[str, Any]) -> Iterator[str]:
    if found := result.get("pool"):
        ratio = found["warm_ms"]["p50"] / found["cold_ms"]["p50"]
        missed = ", ".join(found["missed"]) or "none"
        yield (
            f"  warm / cold start: {ratio:.2f}; {found['writes_of_a_claim']:.1f} writes for a claim, "
            f"{found['seat_pss_mib']:.1f} MiB PSS in a seat; missed: {missed}"
        )


def gates(result: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    if found := result.get("pool"):
        yield "a warm start to its first result at p50, in ms,", found["warm_ms"]["p50"], SERIAL_P50_MS
        yield "a warm start to its first result at p99, in ms,", found["warm_ms"]["p99"], SERIAL_P99_MS
        yield f"a warm start among {BURST} at once at p50, in ms,", found["burst_warm_ms"]["p50"], BURST_P50_MS
        yield f"a warm start among {BURST} at once at p99, in ms,", found["burst_warm_ms"]["p99"], BURST_P99_MS
        yield "the number of starts that missed a seat", len(found["missed"]), 0
        yield "writes for a claim", found["writes_of_a_claim"], WRITES_OF_A_CLAIM
        yield "an idle seat, in MiB PSS,", found["seat_pss_mib"], SEAT_PSS_MIB
