"""How long a resource waits for its pod when many come every second, and how much of that is the API server's time.

A moment is that at which a watch of this process tells of an object: Kubernetes' own times are whole seconds.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from . import operator_process, population, simulated
from .cluster_api import Cluster, JsonObject
from .cold_start import PODS
from .figures import summary
from .java_image import cpu_seconds

PER_SECOND = 50
SECONDS = 20
WARM_UP_SECONDS = 5
PATIENCE_S = 120
# What the operator makes before a pod is there, one after the other.
STEPS = ("secrets", "pods")
DURATION = "apiserver_request_duration_seconds"


def measure(cluster: Cluster, kubeconfig: str) -> dict[str, Any]:
    # Three threads read and write here; none shall wait for another's slice.
    sys.setswitchinterval(0.0005)
    with simulated.nodes(cluster, kubeconfig) as namespace:
        operator_process.install(cluster, kubeconfig, namespace)
        with operator_process.running(kubeconfig, namespace) as operator:
            run(cluster, namespace, "warm-up", WARM_UP_SECONDS)
            before, cpu = posts(cluster), cpu_seconds(operator.process)
            sent, seen, pods = run(cluster, namespace, "rate", SECONDS)
            after = posts(cluster)
            cpu = cpu_seconds(operator.process) - cpu
            writes = operator.writes()
        plain = plain_pods(cluster, namespace)
    to_pod = [(pods[name] - seen[name]) * 1000 for name in sent]
    steps = {step: mean_ms(before.get(step, (0, 0)), after[step]) for step in STEPS}
    return {
        "per_second": PER_SECOND,
        "seconds": SECONDS,
        "resource_to_pod_ms": summary(to_pod),
        "request_to_pod_ms": summary([(pods[name] - sent[name]) * 1000 for name in sent]),
        "plain_pod_ms": summary(plain),
        "api_server_ms": steps,
        "api_server_share": round(sum(steps.values()) * len(to_pod) / sum(to_pod), 3),
        "operator_cpu_ms": round(cpu / len(to_pod) * 1000, 2),
        "writes": writes,
    }


def run(
    cluster: Cluster, namespace: str, prefix: str, seconds: int
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """When each sandbox was asked for, was seen, and its pod was seen."""
    path = population.sandboxes(namespace)
    bodies = [population.sandbox(f"{prefix}-{number}") for number in range(PER_SECOND * seconds)]
    resources = population.Arrivals(cluster, path, population.own_name)
    pods = population.Arrivals(cluster, PODS.format(namespace), population.name_of_sandbox)
    sent = population.create(cluster, path, bodies, PER_SECOND)
    resources.await_all(set(sent), PATIENCE_S)
    pods.await_all(set(sent), PATIENCE_S)
    # The next measurement shall not find work that this one left.
    population.await_count(f"{prefix} are Ready", lambda: population.ready(cluster, path), len(sent), PATIENCE_S, 2)
    return sent, resources.times, pods.times


def plain_pods(cluster: Cluster, namespace: str) -> list[float]:
    """Milliseconds from asking for a pod to seeing it, at the same pace: pods like those of sandboxes, without them."""
    path = PODS.format(namespace)
    spec: JsonObject = cluster.get(f"{path}?limit=1")["items"][0]["spec"]
    spec.pop("nodeName", None)
    bodies = [{"metadata": {"name": f"plain-{number}"}, "spec": spec} for number in range(PER_SECOND * SECONDS)]
    arrivals = population.Arrivals(cluster, path, population.own_name)
    sent = population.create(cluster, path, bodies, PER_SECOND)
    arrivals.await_all(set(sent), PATIENCE_S)
    return [(arrivals.times[name] - sent[name]) * 1000 for name in sent]


def posts(cluster: Cluster) -> dict[str, tuple[float, float]]:
    """Seconds that the API server worked on creations, and how many there were, by kind."""
    found: dict[str, dict[str, float]] = {step: {"sum": 0.0, "count": 0.0} for step in STEPS}
    for kind, labels, value in re.findall(rf"^{DURATION}_(sum|count)\{{(.*)\}} (\S+)$", cluster.text("/metrics"), re.M):
        label = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if label["verb"] == "POST" and label["resource"] in found and not label["subresource"]:
            found[label["resource"]][kind] += float(value)
    return {step: (each["sum"], each["count"]) for step, each in found.items()}


def mean_ms(before: tuple[float, float], after: tuple[float, float]) -> float:
    return round((after[0] - before[0]) / (after[1] - before[1]) * 1000, 2)
