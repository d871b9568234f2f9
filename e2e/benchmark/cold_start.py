"""From nothing to the first result, against the start of a bare pod with the same image: rounds in turn, one run."""

from __future__ import annotations

import secrets
import time
from typing import Any

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
    try:
        container = container_of_a_sandbox(agent, cluster)
        bare: list[float] = []
        cold: list[float] = []
        for number in range(rounds + 1):
            seconds = (
                bare_pod_start(cluster, PODS.format(bench), f"bare-{number}", container),
                cold_start(agent, cluster),
            )
            if number > 0:  # the first round fills caches on both sides
                bare.append(seconds[0] * 1000)
                cold.append(seconds[1] * 1000)
                print(f"  round {number:2}: bare pod {bare[-1]:6.0f} ms, first result {cold[-1]:6.0f} ms", flush=True)
    finally:
        cluster.delete(f"/api/v1/namespaces/{bench}")
    of_rounds = [mine / theirs for mine, theirs in zip(cold, bare, strict=True)]
    figures = {"bare_pod_ms": summary(bare), "first_result_ms": summary(cold), "ratio_of_rounds": summary(of_rounds)}
    ratio = figures["first_result_ms"]["p50"] / figures["bare_pod_ms"]["p50"]
    return {**figures, "ratio": round(ratio, 3)}


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
    spec = {"containers": [sleeper], "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False}
    events = cluster.watch(pods, name)
    begun = time.perf_counter()
    cluster.create(pods, {"metadata": {"name": name}, "spec": spec})
    cluster.wait(events, is_ready)
    seconds = time.perf_counter() - begun
    cluster.delete(f"{pods}/{name}")
    cluster.wait(events, is_gone)
    return seconds


def cold_start(agent: Agent, cluster: Cluster) -> float:
    name = f"bench-{secrets.token_hex(3)}"
    begun = time.perf_counter()
    start(agent, name)
    answer = agent.call("sandbox_run_code", sandbox=name, code="1+1")
    seconds = time.perf_counter() - begun
    if answer["result"] != "2":
        raise Failed(f"1+1 gave {answer.text}")
    pod = cluster.get(f"{SANDBOXES}/{name}")["status"]["podName"]
    gone = cluster.watch(PODS.format(TENANT_NAMESPACE), pod)
    stop(agent, name)
    cluster.wait(gone, is_gone)
    return seconds


def start(agent: Agent, name: str) -> None:
    answer = agent.call("sandbox_start", sandbox=name)
    if answer.failed:
        raise Failed(answer.text)


def stop(agent: Agent, name: str) -> None:
    agent.call("sandbox_stop", sandbox=name, delete=True)
