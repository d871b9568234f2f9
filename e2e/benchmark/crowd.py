"""Many sandboxes execute at once on the cluster's few processors: nobody may fail, and nobody may starve."""

from __future__ import annotations

import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from agent import Agent

from .cluster_api import Cluster
from .cold_start import PODS, SANDBOXES, TENANT_NAMESPACE, start, stop
from .figures import summary
from .memory import processes

SANDBOXES_AT_ONCE = 20
CALLS_EACH = 50
# A quarter of it is requested: with a whole one each, a node of two would not take twenty. Together they are still
# allowed three times what there is.
CPUS_EACH = "300m"
SINGLE_CALLS = 200
WARM_UP = 20


def measure(cluster: Cluster) -> dict[str, Any]:
    single = alone()
    names = [f"crowd-{secrets.token_hex(3)}" for _ in range(SANDBOXES_AT_ONCE)]
    agents = [Agent.from_environment() for _ in names]
    try:
        for agent, name in zip(agents, names, strict=True):
            start(agent, name, cpus=CPUS_EACH)
        print(f"  {len(names)} sandboxes run", flush=True)
        for agent, name in zip(agents, names, strict=True):
            calls(agent, name, WARM_UP)
        crowd, errors = all_at_once(agents, names)
        pods = [pss_of(cluster, name) for name in names]
    finally:
        for agent, name in zip(agents, names, strict=True):
            stop(agent, name)
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
        calls(agent, name, WARM_UP)
        return summary(calls(agent, name, SINGLE_CALLS)[0])
    finally:
        stop(agent, name)


def all_at_once(agents: list[Agent], names: list[str]) -> tuple[list[float], list[str]]:
    line = threading.Barrier(len(names))

    def run(agent: Agent, name: str) -> tuple[list[float], list[str]]:
        line.wait()
        return calls(agent, name, CALLS_EACH)

    with ThreadPoolExecutor(len(names)) as pool:
        found = list(pool.map(run, agents, names))
    return [each for times, _ in found for each in times], [each for _, errors in found for each in errors]


def calls(agent: Agent, name: str, count: int) -> tuple[list[float], list[str]]:
    times, errors = [], []
    for _ in range(count):
        begun = time.perf_counter()
        answer = agent.call("sandbox_run_code", sandbox=name, code="1+1")
        times.append((time.perf_counter() - begun) * 1000)
        if answer.data.get("result") != "2":
            errors.append(answer.text[:200])
    return times, errors


def pss_of(cluster: Cluster, name: str) -> float:
    pod = cluster.get(f"{SANDBOXES}/{name}")["status"]["podName"]
    pss: float = processes(cluster.get(f"{PODS.format(TENANT_NAMESPACE)}/{pod}"))["pss_mib"]
    return pss
