"""Ten thousand sandboxes: how long until all run, what the operator holds, and that it then writes nothing any more."""

from __future__ import annotations

import time
from typing import Any

from . import operator_process, population, simulated
from .cluster_api import Cluster
from .cold_start import Failed
from .operator_process import OperatorProcess

SANDBOXES = 10_000
QUIET_S = 60
SETTLED_S = 5
PATIENCE_S = 1800


def measure(cluster: Cluster, kubeconfig: str) -> dict[str, Any]:
    with simulated.nodes(cluster, kubeconfig) as namespace:
        operator_process.install(cluster, kubeconfig, namespace)
        with operator_process.running(kubeconfig, namespace) as operator:
            empty, _ = operator.memory_mib()
            grown = populate(cluster, namespace, operator)
            quiet = rest(cluster, namespace, operator)
        with operator_process.running(kubeconfig, namespace) as successor:
            second = take_over(successor)
    return {"sandboxes": SANDBOXES, "empty_rss_mib": empty, **grown, **quiet, "successor": second}


def populate(cluster: Cluster, namespace: str, operator: OperatorProcess) -> dict[str, Any]:
    path = population.sandboxes(namespace)
    bodies = [population.sandbox(f"scale-{number:05}") for number in range(SANDBOXES)]
    begun = time.monotonic()
    population.create(cluster, path, bodies)
    created = time.monotonic() - begun
    print(f"  {SANDBOXES} resources are made after {created:.0f} s", flush=True)
    population.await_count("run, as the operator says,", operator.ready, SANDBOXES, PATIENCE_S, 1)
    running = time.monotonic() - begun
    if (found := population.ready(cluster, path)) != SANDBOXES:
        raise Failed(f"{found} of {SANDBOXES} sandboxes are Ready, and the operator says that all are")
    return {"created_s": round(created, 1), "all_running_s": round(running, 1)}


def rest(cluster: Cluster, namespace: str, operator: OperatorProcess) -> dict[str, Any]:
    """What is written, by the operator or to its sandboxes, while nobody wants anything."""
    path = population.sandboxes(namespace)
    start_writes = settled(operator)
    versions = cluster.versions(path)
    time.sleep(QUIET_S)
    end_writes = operator.writes()
    changed = [name for name, version in cluster.versions(path).items() if versions[name] != version]
    now, most = operator.memory_mib()
    written = sum(end_writes.values()) - sum(start_writes.values())
    print(
        f"  at rest: {now} MiB, {written} writes and {len(changed)} resources changed in {QUIET_S} s",
        flush=True,
    )
    return {
        "quiet_s": QUIET_S,
        "start_writes": start_writes,
        "quiet_writes": written,
        "changed_resources": len(changed),
        "rss_mib": now,
        "most_rss_mib": most,
    }


def settled(operator: OperatorProcess) -> dict[str, int]:
    """Its writes, once it has made none for a few seconds: the last answers may still be under way."""
    last, since = operator.writes(), time.monotonic()
    while time.monotonic() - since < SETTLED_S:
        time.sleep(0.5)
        if (now := operator.writes()) != last:
            last, since = now, time.monotonic()
    return last


def take_over(successor: OperatorProcess) -> dict[str, Any]:
    """A new operator goes through all that it finds, and finds nothing to do."""
    took = population.await_count("rounds of the new operator", successor.rounds, SANDBOXES, PATIENCE_S)
    settled(successor)
    now, most = successor.memory_mib()
    print(
        f"  a new operator has seen all after {took:.0f} s: {now} MiB, {sum(successor.writes().values())} writes",
        flush=True,
    )
    return {
        "rounds": int(successor.rounds()),
        "all_seen_s": round(took, 1),
        "writes": sum(successor.writes().values()),
        "rss_mib": now,
        "most_rss_mib": most,
    }
