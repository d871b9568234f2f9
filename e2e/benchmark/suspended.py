"""What the operator holds when sandboxes ran and then sleep."""

from __future__ import annotations

import time
from typing import Any

from . import operator_process, population, simulated
from .cluster_api import Cluster
from .scale import settled

SANDBOXES = 200
PATIENCE_S = 300
# After a minute without work it gives back what it no longer needs; sandboxes sleep for longer than that.
IDLE_S = 90


def measure(cluster: Cluster, kubeconfig: str) -> dict[str, Any]:
    with simulated.nodes(cluster, kubeconfig) as namespace:
        operator_process.install(cluster, kubeconfig, namespace)
        path = population.sandboxes(namespace)
        names = [f"asleep-{number}" for number in range(SANDBOXES)]
        with operator_process.running(kubeconfig, namespace) as operator:
            empty, _ = operator.memory_mib()
            population.create(cluster, path, [population.sandbox(name) for name in names])
            population.await_count("run", lambda: population.ready(cluster, path), SANDBOXES, PATIENCE_S)
            running, _ = operator.memory_mib()
            population.suspend(cluster, path, names)
            population.await_count("sleep", lambda: population.suspended(cluster, path), SANDBOXES, PATIENCE_S)
            settled(operator)
            time.sleep(IDLE_S)
            now, most = operator.memory_mib()
    return {
        "sandboxes": SANDBOXES,
        "empty_rss_mib": empty,
        "running_rss_mib": running,
        "rss_mib": now,
        "most_rss_mib": most,
    }
