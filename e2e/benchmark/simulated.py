"""Nodes that only pretend (KWOK), a namespace for them, and an end of all that, whatever happened meanwhile.

Pods come to these nodes by a RuntimeClass, which the operator can force on every sandbox: its scheduling rules select
the nodes and tolerate their taint, so that nothing else gets there.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import time
from collections.abc import Iterator

from .cluster_api import ROOT, Cluster, JsonObject
from .cold_start import Failed
from .java_image import FOLDER, start

NODES = 11
PODS_EACH = 1000
# Whoever made something; the next run takes away what belongs to nobody any more.
OWNER = "sandglass.dev/bench"
# Beside the networks of the cluster and of its pods.
POD_NETWORK = "10.201.0.1/16"
KINDS = ("/api/v1/namespaces", "/api/v1/nodes", "/apis/node.k8s.io/v1/runtimeclasses")
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
PATIENCE_S = 60
CLEANING_S = 900


@contextlib.contextmanager
def nodes(cluster: Cluster, kubeconfig: str) -> Iterator[str]:
    """Name of a new namespace, which is also that of the RuntimeClass that leads to the nodes."""
    sweep(cluster)
    name = f"sandglass-bench-{os.getpid()}"
    labels = {OWNER: f"{os.getpid()}-{started_at(os.getpid())}"}
    names = [f"{name}-{number}" for number in range(NODES)]
    with kwok(kubeconfig, f"{OWNER}={labels[OWNER]}") as simulator:
        try:
            for each in names:
                cluster.create("/api/v1/nodes", node(each, labels))
            await_leases(cluster, simulator, set(names))
            cluster.create("/apis/node.k8s.io/v1/runtimeclasses", runtime_class(name, labels))
            restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
            cluster.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": {**labels, **restricted}}})
            yield name
        finally:
            remove(cluster, labels[OWNER])


def await_leases(cluster: Cluster, simulator: subprocess.Popen[bytes], names: set[str]) -> None:
    """A node with a lease is one that KWOK looks after."""
    deadline = time.monotonic() + PATIENCE_S
    while not names <= cluster.versions(LEASES).keys():
        if simulator.poll() is not None or time.monotonic() > deadline:
            raise Failed(f"KWOK does not take the nodes, see {FOLDER}/kwok.log")
        time.sleep(0.2)


def sweep(cluster: Cluster) -> None:
    """Takes away what a run left that was killed."""
    for owner in {item["metadata"]["labels"][OWNER] for kind in KINDS for item in owned(cluster, kind)}:
        pid, _, begun = owner.partition("-")
        if started_at(int(pid)) != begun:
            remove(cluster, owner)


def remove(cluster: Cluster, owner: str) -> None:
    """The namespace first: without their nodes, its pods would wait for somebody to end them."""
    begun = time.monotonic()
    for namespace in owned(cluster, KINDS[0], owner):
        name = namespace["metadata"]["name"]
        # KWOK may be gone with the run that it was of; nobody else ends these pods.
        with contextlib.suppress(OSError):
            cluster.delete_all(f"/api/v1/namespaces/{name}/pods")
        cluster.delete(f"{KINDS[0]}/{name}")
    while owned(cluster, KINDS[0], owner):
        if time.monotonic() - begun > CLEANING_S:
            raise Failed(f"a namespace of {OWNER}={owner} is still there after {CLEANING_S} s")
        time.sleep(1)
    for kind in KINDS[1:]:
        for item in owned(cluster, kind, owner):
            cluster.delete(f"{kind}/{item['metadata']['name']}")
    print(f"  cleaned up in {time.monotonic() - begun:.0f} s", flush=True)


def owned(cluster: Cluster, kind: str, owner: str | None = None) -> list[JsonObject]:
    selector = f"{OWNER}={owner}" if owner else OWNER
    found: list[JsonObject] = cluster.get(f"{kind}?labelSelector={selector.replace('=', '%3D')}")["items"]
    return found


def started_at(pid: int) -> str:
    """When that process started, in ticks; empty if there is none. A number alone may be another's by now."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


@contextlib.contextmanager
def kwok(kubeconfig: str, selector: str) -> Iterator[subprocess.Popen[bytes]]:
    """The simulator, for the nodes with that label; it ends with this process at the latest."""
    tool = subprocess.run(
        [ROOT / "e2e/cluster/cluster", "extra", "kwok"], stdout=subprocess.PIPE, text=True, check=True
    )
    words = [
        tool.stdout.strip(),
        f"--kubeconfig={kubeconfig}",
        f"--config={pathlib.Path(__file__).parent / 'kwok.yaml'}",
        "--manage-all-nodes=false",
        f"--manage-nodes-with-label-selector={selector}",
        "--node-lease-duration-seconds=40",
        f"--cidr={POD_NETWORK}",
    ]
    FOLDER.mkdir(parents=True, exist_ok=True)
    log_file, pid_file = FOLDER / "kwok.log", FOLDER / "kwok.pid"
    with log_file.open("wb") as log, start(words, {"HOME": str(FOLDER), "GOGC": "400"}, log.fileno()) as process:
        pid_file.write_text(f"{process.pid}\n")
        try:
            yield process
        finally:
            process.kill()
            pid_file.unlink()


def node(name: str, labels: dict[str, str]) -> JsonObject:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    room = {"cpu": "10000", "memory": "10Ti", "ephemeral-storage": "10Ti", "pods": str(PODS_EACH)}
    ready = {"type": "Ready", "status": "True", "reason": "Simulated", "message": "KWOK"}
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    return {
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "spec": {"taints": [{"key": OWNER, "value": labels[OWNER], "effect": "NoSchedule"}]},
        "status": {"capacity": room, "allocatable": room, "conditions": [{**ready, **times}]},
    }


def runtime_class(name: str, labels: dict[str, str]) -> JsonObject:
    toleration = {"key": OWNER, "operator": "Equal", "value": labels[OWNER], "effect": "NoSchedule"}
    return {
        "metadata": {"name": name, "labels": labels},
        "handler": "simulated",
        "scheduling": {"nodeSelector": labels, "tolerations": [toleration]},
    }
