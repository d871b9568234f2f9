"""Very many sandboxes: made at a given pace, counted, and seen to arrive on the clock of this process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException

from .cluster_api import ApiError, Cluster, JsonObject, is_ready
from .cold_start import Failed

CLIENTS = 8
MOST_WATCHES = 10
KIND = {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox"}


def sandboxes(namespace: str) -> str:
    return f"/apis/sandglass.dev/v1alpha1/namespaces/{namespace}/sandboxes"


def sandbox(name: str) -> JsonObject:
    return {**KIND, "metadata": {"name": name}, "spec": {}}


def create(cluster: Cluster, path: str, bodies: list[JsonObject], per_second: float | None = None) -> dict[str, float]:
    """When each was asked for, by name; at that pace whatever the answers take, or as fast as they come."""
    sent: dict[str, float] = {}
    begun = time.perf_counter()

    def share(client: Cluster, first: int) -> None:
        for number in range(first, len(bodies), CLIENTS):
            if per_second:
                time.sleep(max(0.0, begun + number / per_second - time.perf_counter()))
            sent[bodies[number]["metadata"]["name"]] = time.perf_counter()
            client.create(path, bodies[number])

    each(cluster, share)
    return sent


def suspend(cluster: Cluster, path: str, names: list[str]) -> None:
    def share(client: Cluster, first: int) -> None:
        for name in names[first::CLIENTS]:
            client.merge(f"{path}/{name}", {"spec": {"suspended": True}})

    each(cluster, share)


def each(cluster: Cluster, work: Callable[[Cluster, int], None]) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        for done in [pool.submit(work, cluster.twin(), number) for number in range(CLIENTS)]:
            done.result()


def ready(cluster: Cluster, path: str) -> int:
    return sum(is_ready("", item) for item in cluster.get(path)["items"])


def suspended(cluster: Cluster, path: str) -> int:
    def is_suspended(item: JsonObject) -> bool:
        conditions = item.get("status", {}).get("conditions", [])
        return any(condition["type"] == "Suspended" and condition["status"] == "True" for condition in conditions)

    return sum(is_suspended(item) for item in cluster.get(path)["items"])


def await_count(what: str, count: Callable[[], float], wanted: float, patience: float, pause: float = 0.5) -> float:
    """Seconds until so many were counted; tells every ten how far it is."""
    begun = told = time.monotonic()
    while (found := count()) < wanted:
        now = time.monotonic()
        if now - begun > patience:
            raise Failed(f"{found:.0f} of {wanted:.0f} {what} after {patience:.0f} s")
        if now - told > 10:
            print(f"  {found:.0f} of {wanted:.0f} {what} after {now - begun:.0f} s", flush=True)
            told = now
        time.sleep(pause)
    return time.monotonic() - begun


class Arrivals:
    """When objects of a collection were first seen, by the name that `name_of` finds in them; empty is left out."""

    def __init__(self, cluster: Cluster, path: str, name_of: Callable[[JsonObject], str]) -> None:
        self.times: dict[str, float] = {}
        self._cluster = cluster
        self._name_of = name_of
        self._path = path
        self._lines = cluster.watch_lines(path)
        self._cut = ""
        threading.Thread(target=self._read, daemon=True).start()

    def await_all(self, names: set[str], patience: float) -> None:
        await_count(f"of {self._path} were seen", lambda: self._seen(names), len(names), patience)

    def _seen(self, names: set[str]) -> int:
        cut = self._cut  # first: what arrived before the end must count
        seen = len(names & self.times.keys())
        if cut and seen < len(names):
            raise Failed(f"{seen} of {len(names)} of {self._path} were seen when the watch ended: {cut}")
        return seen

    def _read(self) -> None:
        try:
            for _ in range(MOST_WATCHES):
                last = self._read_one()
                # The API server lets go who lags behind, as this process may on a full machine.
                version = json.loads(last)["object"]["metadata"]["resourceVersion"]
                self._lines = self._cluster.watch_lines(f"{self._path}?resourceVersion={version}&")
            self._cut = f"the API server closed it {MOST_WATCHES} times"
        except (OSError, HTTPException, ApiError, ValueError, KeyError) as problem:
            self._cut = f"{type(problem).__name__}: {problem}"

    def _read_one(self) -> bytes:
        """The last line that a watch told before it was closed."""
        line = b""
        for line in self._lines:
            now = time.perf_counter()
            # Most lines are changes, and only what is read is paid for.
            if line.startswith(b'{"type":"ADDED"'):
                name = self._name_of(json.loads(line)["object"]["metadata"])
                self.times.setdefault(name, now)
        return line


def own_name(metadata: JsonObject) -> str:
    name: str = metadata["name"]
    return name


def name_of_sandbox(metadata: JsonObject) -> str:
    name: str = metadata.get("labels", {}).get("sandglass.dev/sandbox", "")
    return name
