"""The operator as its image runs it, but as a process of this machine, in one namespace with the chart's rights there.

It is the only one, so it holds no election: every write that it makes is for a sandbox.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import secrets
import subprocess
import time
from collections.abc import Iterator

from .cluster_api import ROOT, Cluster, kubectl
from .cold_start import Failed
from .gateway_process import free_port
from .java_image import FOLDER, JavaImage, memory_mib, start

IMAGE = JavaImage(module="operator", component="operator")
# The chart's, as a test of the operator makes sure.
ROLE = ROOT / "operator/src/test/resources/rbac/operator-role.yaml"
ACCOUNT = "sandglass-operator"
PATIENCE_S = 120


class OperatorProcess:
    """One that runs; known by the kernel of the system and by its own metrics."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self._port = port

    def writes(self) -> dict[str, int]:
        """What it asked of the API server that was no question, by method, kind and answer."""
        found: dict[str, int] = {}
        for label, value in self._metric("sandglass_api_requests_total"):
            if label["method"] != "GET":
                name = f"{label['method']} {label['resource']} {label['code']}"
                found[name] = found.get(name, 0) + int(value)
        return found

    def rounds(self) -> float:
        """How many rounds it has ended."""
        return sum(value for _, value in self._metric("operator_sdk_reconciliations_success_total"))

    def ready(self) -> float:
        """How many sandboxes it knows to be ready."""
        return sum(value for label, value in self._metric("sandglass_sandboxes") if label["ready"] == "true")

    def _metric(self, name: str) -> list[tuple[dict[str, str], float]]:
        lines = re.findall(rf"^{name}(?:\{{(.*)\}})? (\S+)$", self._get("/metrics")[1], re.MULTILINE)
        return [(dict(re.findall(r'(\w+)="([^"]*)"', labels)), float(value)) for labels, value in lines]

    def memory_mib(self) -> tuple[float, float]:
        """What it holds now, and the most it ever held."""
        return memory_mib(self.process)

    def await_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError):
                if self._get("/readyz")[0] == 200:
                    return
            time.sleep(0.1)
        raise Failed(f"the operator did not get ready, see {FOLDER}/operator.log")

    def _get(self, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()


def install(cluster: Cluster, kubeconfig: str, namespace: str) -> None:
    """Accounts and rights, as the chart gives them."""
    for account in (ACCOUNT, "sandglass-sandbox"):
        cluster.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": account}})
    ask(kubeconfig, namespace, "apply", f"--filename={ROLE}")
    group = "rbac.authorization.k8s.io"
    binding = {
        "metadata": {"name": ACCOUNT},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": ACCOUNT},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
    }
    cluster.create(f"/apis/{group}/v1/namespaces/{namespace}/rolebindings", binding)


@contextlib.contextmanager
def running(kubeconfig: str, namespace: str) -> Iterator[OperatorProcess]:
    """One that looks after that namespace, ready; its sandboxes get the RuntimeClass of the same name."""
    IMAGE.train("dev.sandglass.operator.training.Training", "dev.sandglass.operator.OperatorMain")
    secret = FOLDER / "link-secret"
    secret.write_text(secrets.token_hex(32))
    port = free_port()
    settings = {
        **IMAGE.environment(),
        "KUBECONFIG": identity(kubeconfig, namespace),
        "OPERATOR_NAMESPACES": namespace,
        "OPERATOR_GATEWAY_NAMESPACE": "sandglass-system",
        "OPERATOR_DEFAULT_IMAGE": "simulated/kernel:1",
        "OPERATOR_LINK_SECRET_FILE": str(secret),
        "OPERATOR_RUNTIME_CLASS_NAME": namespace,
        "OPERATOR_HTTP_PORT": str(port),
        # Nothing expires while it is measured, however slow the machine is.
        "OPERATOR_IDLE_TIMEOUT": "8h",
    }
    with (FOLDER / "operator.log").open("ab") as log, start(IMAGE.command(), settings, log.fileno()) as process:
        try:
            operator = OperatorProcess(process, port)
            operator.await_ready()
            yield operator
        finally:
            process.kill()


def identity(kubeconfig: str, namespace: str) -> str:
    """A kubeconfig of the operator's account, whose token ends by itself."""
    view = ask(kubeconfig, namespace, "config", "view", "--raw", "--minify", "--flatten", "--output=json")
    cluster = json.loads(view)["clusters"][0]["cluster"]
    token = ask(kubeconfig, namespace, "create", "token", ACCOUNT, "--duration=4h").strip()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bench", "cluster": cluster}],
        "users": [{"name": "bench", "user": {"token": token}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
        "current-context": "bench",
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / "operator.kubeconfig"
    file.touch(mode=0o600)
    file.write_text(json.dumps(config))
    return str(file)


def ask(kubeconfig: str, namespace: str, *words: str) -> str:
    command = [kubectl(), f"--kubeconfig={kubeconfig}", f"--namespace={namespace}", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
