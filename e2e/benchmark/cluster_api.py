"""As much of a Kubernetes client as timing a pod needs: create, delete, watch. Python's standard library only."""

from __future__ import annotations

import base64
import http.client
import json
import pathlib
import ssl
import subprocess
import tempfile
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
JsonObject = dict[str, Any]


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

    def create(self, path: str, body: JsonObject) -> JsonObject:
        return self._ask("POST", path, body)

    def get(self, path: str) -> JsonObject:
        return self._ask("GET", path)

    def delete(self, path: str) -> None:
        """Deletes without grace; what is gone already is fine."""
        self._ask("DELETE", f"{path}?gracePeriodSeconds=0", accept=(200, 202, 404))

    def watch(self, path: str, name: str, patience: float = 120) -> Iterator[tuple[str, JsonObject]]:
        """Events of one object, from now on; the watch is established when this returns."""
        connection = self._open(patience)
        connection.request("GET", f"{path}?watch=1&fieldSelector=metadata.name%3D{name}", headers=self._headers)
        response = connection.getresponse()
        if response.status != 200:
            raise ApiError(f"watch {path}: {response.status} {response.read().decode()[:300]}")
        return self._events(connection, response)

    def wait(self, events: Iterator[tuple[str, JsonObject]], condition: Callable[[str, JsonObject], bool]) -> None:
        for kind, thing in events:
            if condition(kind, thing):
                return
        raise ApiError("the watch ended before the condition held")

    @staticmethod
    def _events(
        connection: http.client.HTTPConnection, response: http.client.HTTPResponse
    ) -> Iterator[tuple[str, JsonObject]]:
        try:
            for line in response:
                event = json.loads(line)
                yield event["type"], event["object"]
        finally:
            connection.close()

    def _ask(
        self, method: str, path: str, body: JsonObject | None = None, accept: tuple[int, ...] = (200, 201, 202)
    ) -> JsonObject:
        self._connection.request(method, path, json.dumps(body) if body else None, self._headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.status not in accept:
            raise ApiError(f"{method} {path}: {response.status} {text[:300]}")
        answer: JsonObject = json.loads(text)
        return answer

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
