#!/usr/bin/env python3
"""Attacks what the chart's admission policies keep out, where the tenant comes by label.

Nothing else refuses pods there: such a namespace has no Pod Security of ours, so that each rule must answer for itself.
Every request is a dry run. Prints a line for each that went as it must, and is over with the first that did not.

usage: refusals.py RELEASE RELEASE_NAMESPACE NAMESPACE POD [OPTION...]
       POD runs in NAMESPACE as a sandbox; OPTIONS are kubectl's
"""

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

Json = Any
ABSENT = object()

HOST = "has no namespaces of the host"
TOKENS = "has no service account's token"
VOLUMES = "the volumes of a sandbox are"
ROOT = "runs as a user that is not root"
SECCOMP = "has the seccomp profile RuntimeDefault"
APPARMOR = "is not without AppArmor"
PRIVILEGES = "are not privileged, with allowPrivilegeEscalation false"
READ_ONLY = "have a read-only root file system"
CAPABILITIES = "drop ALL capabilities and add none"
PROC = "see /proc as the runtime masks it"
SYSCTLS = "sets no sysctls"
PORTS = "have no port of the host"
ELSEWHERE = "writes Leases in the namespaces of its tenants alone"
STRANGE = "writes the Leases of sandboxes alone"

CONTAINER = {
    "name": "kernel",
    "image": "refused",
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    },
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "hardened", "labels": {"app.kubernetes.io/component": "sandbox"}},
    "spec": {
        "serviceAccountName": "sandglass-sandbox",
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "initContainers": [{**CONTAINER, "name": "before"}],
        "containers": [CONTAINER],
    },
}


class Weakness(NamedTuple):
    """A field with a value that it must not have, and the rule's words for it."""

    rule: str
    field: str
    value: Json

    def __str__(self) -> str:
        value = "absent" if self.value is ABSENT else json.dumps(self.value)
        return f"{self.field} {value}"

    def put(self, place: Json) -> None:
        if self.value is ABSENT:
            del place[self.field]
        else:
            place[self.field] = self.value


OF_SPECS = [
    Weakness(HOST, "hostNetwork", True),
    Weakness(HOST, "hostPID", True),
    Weakness(HOST, "hostIPC", True),
    Weakness(TOKENS, "automountServiceAccountToken", ABSENT),
    Weakness(TOKENS, "automountServiceAccountToken", True),
    Weakness(VOLUMES, "volumes", [{"name": "node", "hostPath": {"path": "/"}}]),
    Weakness(
        VOLUMES, "volumes", [{"name": "own", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]
    ),
]
OF_POD_CONTEXTS = [
    Weakness(ROOT, "runAsNonRoot", ABSENT),
    Weakness(ROOT, "runAsUser", 0),
    Weakness(SECCOMP, "seccompProfile", ABSENT),
    Weakness(SECCOMP, "seccompProfile", {"type": "Unconfined"}),
    Weakness(APPARMOR, "appArmorProfile", {"type": "Unconfined"}),
    Weakness(SYSCTLS, "sysctls", [{"name": "kernel.shm_rmid_forced", "value": "1"}]),
]
OF_CONTEXTS = [
    Weakness(ROOT, "runAsNonRoot", False),
    Weakness(ROOT, "runAsUser", 0),
    Weakness(SECCOMP, "seccompProfile", {"type": "Unconfined"}),
    Weakness(APPARMOR, "appArmorProfile", {"type": "Unconfined"}),
    Weakness(PRIVILEGES, "allowPrivilegeEscalation", ABSENT),
    Weakness(PRIVILEGES, "allowPrivilegeEscalation", True),
    Weakness(CAPABILITIES, "capabilities", ABSENT),
    Weakness(CAPABILITIES, "capabilities", {"drop": ["ALL"], "add": ["NET_ADMIN"]}),
    Weakness(PROC, "procMount", "Unmasked"),
]
# `kubectl debug` leaves the root file system writable, also with --profile=restricted.
OF_LASTING_CONTEXTS = [
    Weakness(READ_ONLY, "readOnlyRootFilesystem", ABSENT),
    Weakness(READ_ONLY, "readOnlyRootFilesystem", False),
]
OF_LASTING_CONTAINERS = [Weakness(PORTS, "ports", [{"containerPort": 8080, "hostPort": 8080}])]


class Attempt(NamedTuple):
    """What kubectl is told, and the words that it must be refused with; none = the request must be granted."""

    title: str
    arguments: list[str]
    body: Json
    refusal: str


def soft_pods() -> Iterator[tuple[str, Json, str]]:
    """Yield pods with one weakness each: what it is, the pod, the words of the rule that must see it."""
    places: list[tuple[list[Weakness], list[str | int]]] = [
        (OF_SPECS, ["spec"]),
        (OF_POD_CONTEXTS, ["spec", "securityContext"]),
    ]
    for kind in ("initContainers", "containers"):
        places.append((OF_CONTEXTS + OF_LASTING_CONTEXTS, ["spec", kind, 0, "securityContext"]))
        places.append((OF_LASTING_CONTAINERS, ["spec", kind, 0]))
    for weaknesses, path in places:
        for weakness in weaknesses:
            pod: Json = copy.deepcopy(POD)
            if weakness.rule == PROC:
                # Otherwise the API server itself refuses it.
                pod["spec"]["hostUsers"] = False
            place: Json = pod
            for step in path:
                place = place[step]
            weakness.put(place)
            yield f"{'.'.join(map(str, path[1:])) or 'spec'}: {weakness}", pod, weakness.rule


def debuggers(running: Json) -> Iterator[tuple[str, Json, str]]:
    """Yield the running pod with a container for debugging of one weakness each, as soft_pods does."""
    del running["metadata"]["resourceVersion"]
    for weakness in [*OF_LASTING_CONTEXTS, *OF_CONTEXTS]:
        # The API server itself keeps it from a pod in the user namespace of its node.
        if weakness.rule == PROC:
            continue
        pod = copy.deepcopy(running)
        debugger: Json = copy.deepcopy({**CONTAINER, "name": "debugger"})
        weakness.put(debugger["securityContext"])
        pod["spec"]["ephemeralContainers"] = [*pod["spec"].get("ephemeralContainers", []), debugger]
        yield f"a debugger's {weakness}", pod, "" if weakness.rule == READ_ONLY else weakness.rule


def lease(namespace: str, uid: str = "00000000-0000-4000-8000-000000000000") -> Json:
    """Return a Lease as the gateway makes it."""
    owner = {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox", "name": "some", "uid": uid}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": f"sbx-{uid}",
            "namespace": namespace,
            "labels": {"sandglass.dev/sandbox": "some"},
            "ownerReferences": [owner],
        },
    }


def strange_leases(namespace: str) -> Iterator[tuple[str, Json]]:
    """Yield Leases in a tenant's namespace that are no sandbox's."""
    for key in ("labels", "ownerReferences"):
        one = lease(namespace)
        del one["metadata"][key]
        yield f"a Lease without {key}", one
    other = lease(namespace)
    other["metadata"]["name"] = "who-leads"
    yield "a Lease of another name", other
    other = lease(namespace)
    other["metadata"]["ownerReferences"][0].update(apiVersion="v1", kind="ConfigMap")
    yield "a Lease of another owner", other


class Attacker:
    """Holds the tokens of operator and gateway, as it were, and tries what they do not need them for."""

    def __init__(self, release: str, release_namespace: str, namespace: str, pod: str, options: list[str]) -> None:
        self._account = f"--as=system:serviceaccount:{release_namespace}:{release}"
        self._release_namespace = release_namespace
        self._namespace = namespace
        self._pod = pod
        self._kubectl = ["kubectl", *options]

    def attempts(self) -> Iterator[Attempt]:
        create = ["create", "--dry-run=server"]
        operator = [*create, f"{self._account}-operator", f"--namespace={self._namespace}"]
        yield Attempt("the operator makes a hardened pod", operator, POD, "")
        for title, pod, refusal in soft_pods():
            yield Attempt(f"the operator makes none with {title}", operator, pod, refusal)
        place = f"/api/v1/namespaces/{self._namespace}/pods/{self._pod}"
        debug = ["replace", f"--raw={place}/ephemeralcontainers?dryRun=All"]
        for title, pod, refusal in debuggers(self._get("pod", self._pod, self._namespace)):
            yield Attempt(f"{title} is {'refused' if refusal else 'granted'}", debug, pod, refusal)
        gateway = [*create, f"{self._account}-gateway"]
        yield Attempt("the gateway makes the Lease of a sandbox", gateway, lease(self._namespace), "")
        for title, one in strange_leases(self._namespace):
            yield Attempt(f"the gateway does not make {title}", gateway, one, STRANGE)
        for elsewhere in (self._release_namespace, "kube-system"):
            yield Attempt(f"the gateway makes no Lease in {elsewhere}", gateway, lease(elsewhere), ELSEWHERE)

    def heartbeat(self) -> Attempt:
        """Return an attempt on the heartbeat of a node, as it stands."""
        alter = ["replace", "--dry-run=server", f"{self._account}-gateway"]
        heartbeats = self._get("lease", "", "kube-node-lease")["items"]
        return Attempt("the gateway alters no heartbeat of a node", alter, heartbeats[0], ELSEWHERE)

    def problem(self, attempt: Attempt) -> str | None:
        """Make the request; None if the API server answered as it must."""
        done = subprocess.run(
            [*self._kubectl, *attempt.arguments, "--filename=-"],
            input=json.dumps(attempt.body),
            capture_output=True,
            text=True,
            check=False,
        )
        granted = done.returncode == 0
        if not granted and attempt.refusal in done.stderr if attempt.refusal else granted:
            return None
        return f"expected: {attempt.refusal or 'granted'}\n  got:      {done.stdout}{done.stderr}"

    def _get(self, kind: str, name: str, namespace: str) -> Json:
        command = [*self._kubectl, "get", kind, *filter(None, [name]), f"--namespace={namespace}", "--output=json"]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main() -> None:
    release, release_namespace, namespace, pod, *options = sys.argv[1:]
    attacker = Attacker(release, release_namespace, namespace, pod, options)
    for attempt in attacker.attempts():
        report(attempt, attacker.problem(attempt))
    heartbeat = attacker.heartbeat()
    problem = attacker.problem(heartbeat)
    # The node may have written it in between, which is answered first.
    while problem and "the object has been modified" in problem:
        heartbeat = attacker.heartbeat()
        problem = attacker.problem(heartbeat)
    report(heartbeat, problem)


def report(attempt: Attempt, problem: str | None) -> None:
    if problem:
        sys.exit(f"FAILED  {attempt.title}\n  {problem}")
    print(f"ok      {attempt.title}")


main()
