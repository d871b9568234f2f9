"""As much of a Kubernetes client as timing a pod needs: create, delete, watch. Python's standard library only."""

from __future__ import annotations

import base64
import copy
import http.client
import json
import pathlib
import ssl
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
JsonObject = dict[str, Any]
# Whoever has not used a connection for longer gets a new one: the API server may be closing the old.
IDLE_S = 20


class ApiError(Exception):
    """The API server refused."""


def kubectl() -> str:
    tools = subprocess.run([ROOT / "e2e/cluster/cluster", "tools"], capture_output=True, text=True, check=False)
    return f"{tools.stdout.strip()}/kubectl" if tools.returncode == 0 else "kubectl"


class Cluster:
    """The API server of a kubeconfig's current context, spoken to with client certificates or a token."""

    def __init__(self, kubeconfig: str) -> None:
        view = [kubectl(), f"--kubeconfig={kubeconfig}", "config", "view", "--raw", "--minify", "--output=json"]
        config = json.loads(subprocess.run(view, capture_output=True, text=True, check=True).stdout)
        self._server = urllib.parse.urlsplit(config["clusters"][0]["cluster"]["server"])
        user = config["users"][0]["user"]
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if "token" in user:
            self._headers["Authorization"] = f"Bearer {user['token']}"
        self._tls = self._trust(config["clusters"][0]["cluster"], user)
        self._connection = self._open()
        self._used = time.monotonic()

    def create(self, path: str, body: JsonObject) -> JsonObject:
        return self._ask("POST", path, body)

    def get(self, path: str) -> JsonObject:
        return self._ask("GET", path)

    def text(self, path: str) -> str:
        """What is no JSON, like metrics."""
        return self._send("GET", path, None, (200,))

    def versions(self, path: str) -> dict[str, str]:
        """The version of each object of a collection, by name; any write to one changes it."""
        only_metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        items = json.loads(self._send("GET", path, None, (200,), accept=only_metadata))["items"]
        return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}

    def merge(self, path: str, change: JsonObject) -> JsonObject:
        answer: JsonObject = json.loads(
            self._send("PATCH", path, json.dumps(change), (200,), content="application/merge-patch+json")
        )
        return answer

    def twin(self) -> Cluster:
        """The same with a connection of its own, for another thread."""
        other = copy.copy(self)
        other._connection = other._open()
        return other

    def delete_all(self, path: str) -> None:
        """Deletes all of a collection, without grace."""
        path = f"{path}?gracePeriodSeconds=0"
        # The API server gives one request a minute, and what it got done by then is done. That it ran out of it says a
        # Status without a kind.
        while json.loads(self._send("DELETE", path, None, (200, 504))).get("kind", "Status") == "Status":
            pass

    def delete(self, path: str, grace: int = 0) -> None:
        """Deletes with so many seconds of grace, without if 0; what is gone already is fine."""
        self._ask("DELETE", f"{path}?gracePeriodSeconds={grace}", accept=(200, 202, 404))

    def watch(self, path: str, name: str, patience: float = 120) -> Iterator[tuple[str, JsonObject]]:
        """Events of one object, from now on; the watch is established when this returns."""
        return self._events(self.watch_lines(f"{path}?fieldSelector=metadata.name%3D{name}&", patience))

    def watch_lines(self, path: str, patience: float = 120) -> Iterator[bytes]:
        """Events of a collection as they are sent, one a line; the watch is established when this returns."""
        connection = self._open(patience)
        path = path if "?" in path else f"{path}?"
        connection.request("GET", f"{path}watch=1", headers=self._headers)
        response = connection.getresponse()
        if response.status != 200:
            raise ApiError(f"watch {path}: {response.status} {response.read().decode()[:300]}")
        return self._lines(connection, response)

    def wait(self, events: Iterator[tuple[str, JsonObject]], condition: Callable[[str, JsonObject], bool]) -> None:
        for kind, thing in events:
            if condition(kind, thing):
                return
        raise ApiError("the watch ended before the condition held")

    @staticmethod
    def _events(lines: Iterator[bytes]) -> Iterator[tuple[str, JsonObject]]:
        for line in lines:
            event = json.loads(line)
            yield event["type"], event["object"]

    @staticmethod
    def _lines(connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> Iterator[bytes]:
        try:
            yield from response
        finally:
            connection.close()

    def _ask(
        self, method: str, path: str, body: JsonObject | None = None, accept: tuple[int, ...] = (200, 201, 202)
    ) -> JsonObject:
        answer: JsonObject = json.loads(self._send(method, path, json.dumps(body) if body else None, accept))
        return answer

    def _send(
        self,
        method: str,
        path: str,
        body: str | None,
        expected: tuple[int, ...],
        *,
        accept: str = "",
        content: str = "",
    ) -> str:
        if time.monotonic() - self._used > IDLE_S:
            self._connection.close()
            self._connection = self._open()
        own = {name: value for name, value in (("Accept", accept), ("Content-Type", content)) if value}
        self._connection.request(method, path, body, {**self._headers, **own})
        response = self._connection.getresponse()
        text = response.read().decode()
        self._used = time.monotonic()
        if response.status not in expected:
            raise ApiError(f"{method} {path}: {response.status} {text[:300]}")
        return text

    def _open(self, patience: float = 60) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection(self._server.netloc, timeout=patience, context=self._tls)

    @staticmethod
    def _trust(cluster: JsonObject, user: JsonObject) -> ssl.SSLContext:
        def content(holder: JsonObject, name: str) -> bytes:
            if f"{name}-data" in holder:
                return base64.b64decode(holder[f"{name}-data"])
            return pathlib.Path(holder[name]).read_bytes()

        tls = ssl.create_default_context(cadata=content(cluster, "certificate-authority").decode())
        if "client-certificate" in user or "client-certificate-data" in user:
            with tempfile.NamedTemporaryFile() as both:
                both.write(content(user, "client-certificate") + b"\n" + content(user, "client-key"))
                both.flush()
                tls.load_cert_chain(both.name)
        return tls


def is_ready(_: str, pod: JsonObject) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def is_gone(kind: str, _: JsonObject) -> bool:
    return kind == "DELETED"
