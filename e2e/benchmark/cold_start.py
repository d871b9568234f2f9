"""From nothing to the first result, against the start of a bare pod with the same image: rounds in turn, one run."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from agent import Agent

from .cluster_api import Cluster, JsonObject, is_gone, is_ready
from .figures import summary

TENANT_NAMESPACE = "sandglass-default"
PODS = "/api/v1/namespaces/{}/pods"
SANDBOXES = f"/apis/sandglass.dev/v1alpha1/namespaces/{TENANT_NAMESPACE}/sandboxes"


class Failed(Exception):
    """The system under measurement did not do what is measured."""


def measure(agent: Agent, cluster: Cluster, rounds: int) -> dict[str, Any]:
    bench = f"sandglass-bench-{secrets.token_hex(3)}"
    cluster.create("/api/v1/namespaces", {"metadata": {"name": bench}})
    taken: list[Round] = []
    try:
        container = container_of_a_sandbox(agent, cluster)
        for number in range(rounds + 1):
            bare = bare_pod_start(cluster, PODS.format(bench), f"bare-{number}", container)
            ready = resource_to_ready(cluster)
            taken.append(Round(bare, ready, *cold_start(agent, cluster)))
            print(f"  round {number:2}: {taken[-1]}" + ("" if number else "  (not counted)"), flush=True)
    finally:
        cluster.delete(f"/api/v1/namespaces/{bench}")
    counted = taken[1:]  # the first round fills caches on all sides
    figures = {
        "bare_pod_ms": summary([each.bare for each in counted]),
        "resource_to_ready_ms": summary([each.ready for each in counted]),
        "sandbox_start_ms": summary([each.start for each in counted]),
        "first_result_ms": summary([each.result for each in counted]),
        "ratio_of_rounds": summary([each.result / each.bare for each in counted]),
    }
    bare = figures["bare_pod_ms"]["p50"]
    return {
        **figures,
        "ready_adds_ms": round(figures["resource_to_ready_ms"]["p50"] - bare, 1),
        "ratio": round(figures["first_result_ms"]["p50"] / bare, 3),
    }


class Round(NamedTuple):
    """Milliseconds of one round; start and result are of the same sandbox."""

    bare: float
    ready: float
    start: float
    result: float

    def __str__(self) -> str:
        return (
            f"bare pod {self.bare:5.0f} ms, resource to Ready {self.ready:5.0f} ms, "
            f"sandbox_start {self.start:5.0f} ms, first result {self.result:5.0f} ms"
        )


def container_of_a_sandbox(agent: Agent, cluster: Cluster) -> JsonObject:
    """Image and resources of a sandbox's container: the bare pod gets the same, and nothing else of it."""
    name = f"bench-{secrets.token_hex(3)}"
    start(agent, name)
    try:
        pod = cluster.get(f"{SANDBOXES}/{name}")["status"]["podName"]
        container = cluster.get(f"{PODS.format(TENANT_NAMESPACE)}/{pod}")["spec"]["containers"][0]
        return {key: container[key] for key in ("image", "resources")}
    finally:
        stop(agent, name)


def bare_pod_start(cluster: Cluster, pods: str, name: str, container: JsonObject) -> float:
    sleeper = {"name": "bare", "command": ["sleep", "infinity"], "imagePullPolicy": "IfNotPresent", **container}
    pod = {"metadata": {"name": name}, "spec": {"containers": [sleeper]}}
    events = cluster.watch(pods, name)
    begun = time.perf_counter()
    cluster.create(pods, pod)
    cluster.wait(events, is_ready)
    seconds = time.perf_counter() - begun
    # With no grace at all the pod would be gone before its node began to clear it away, in the time of what is next.
    cluster.delete(f"{pods}/{name}", grace=1)
    cluster.wait(events, is_gone)
    return seconds * 1000


def resource_to_ready(cluster: Cluster) -> float:
    """What the operator adds to a pod's start, without gateway and kernel."""
    name = f"bench-{secrets.token_hex(3)}"
    kind = {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox"}
    events = cluster.watch(SANDBOXES, name)
    begun = time.perf_counter()
    cluster.create(SANDBOXES, {**kind, "metadata": {"name": name}, "spec": {}})
    cluster.wait(events, is_ready)
    seconds = time.perf_counter() - begun
    with its_pod_gone(cluster, name):
        cluster.delete(f"{SANDBOXES}/{name}")
    return seconds * 1000


def cold_start(agent: Agent, cluster: Cluster) -> tuple[float, float]:
    name = f"bench-{secrets.token_hex(3)}"
    begun = time.perf_counter()
    start(agent, name)
    started = time.perf_counter()
    answer = agent.call("sandbox_run_code", sandbox=name, code="1+1")
    ended = time.perf_counter()
    if answer["result"] != "2":
        raise Failed(f"1+1 gave {answer.text}")
    with its_pod_gone(cluster, name):
        stop(agent, name)
    return (started - begun) * 1000, (ended - begun) * 1000


@contextlib.contextmanager
def its_pod_gone(cluster: Cluster, name: str) -> Iterator[None]:
    """Leaves only when the sandbox's pod has gone, so that no end of one round falls into the next."""
    pod = cluster.get(f"{SANDBOXES}/{name}")["status"]["podName"]
    events = cluster.watch(PODS.format(TENANT_NAMESPACE), pod)
    yield
    cluster.wait(events, is_gone)


def start(agent: Agent, name: str, **config: str) -> None:
    answer = agent.call("sandbox_start", sandbox=name, config=config)
    if answer.failed:
        raise Failed(answer.text)


def stop(agent: Agent, name: str) -> None:
    agent.call("sandbox_stop", sandbox=name, delete=True)
