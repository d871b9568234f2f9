"""Pods that pass for a sandbox, or are one without its hardened shape."""

import copy
from collections.abc import Iterator

from refused.attempt import ABSENT, Attempt, Json, Weakness

HOST = "hostNetwork, hostPID and hostIPC must not be true"
TOKENS = "automountServiceAccountToken must be false"
VOLUMES = "spec.volumes of a sandbox's pod may only be"
SECRETS = "may only mount Secrets whose names begin with mountable-"
VARIABLES = "may read no Secret but the one named like the pod"
ROOT = "runAsNonRoot must be true"
SECCOMP = "seccompProfile must be RuntimeDefault"
APPARMOR = "appArmorProfile must not be Unconfined"
PRIVILEGES = "allowPrivilegeEscalation must be false"
READ_ONLY = "readOnlyRootFilesystem must be true"
CAPABILITIES = "must drop ALL and add none"
PROC = "procMount must be Default"
SYSCTLS = "sysctls must be empty"
PORTS = "hostPort must not be set"
LABELS = "only the Sandglass operator may set a sandbox's labels"
SIZE = "the size of a sandbox's pod cannot change"

CONTAINER = {
    "name": "kernel",
    "image": "refused",
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    },
}
POD: Json = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "hardened",
        "labels": {"app.kubernetes.io/component": "sandbox", "app.kubernetes.io/managed-by": "sandglass-operator"},
    },
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
    Weakness(SECRETS, "volumes", [{"name": "neighbour", "secret": {"secretName": "sbx-neighbour"}}]),
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
OF_CONTAINERS = [
    Weakness(
        VARIABLES, "env", [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "sbx-neighbour", "key": "key"}}}]
    ),
    Weakness(VARIABLES, "envFrom", [{"secretRef": {"name": "hardened"}}]),
]
OF_LASTING_CONTAINERS = [Weakness(PORTS, "ports", [{"containerPort": 8080, "hostPort": 8080}])]


def soft_pods() -> Iterator[tuple[str, Json, str]]:
    """Yield pods with one weakness each: what it is, the pod, the words of the rule that must see it."""
    places: list[tuple[list[Weakness], list[str | int]]] = [
        (OF_SPECS, ["spec"]),
        (OF_POD_CONTEXTS, ["spec", "securityContext"]),
    ]
    for kind in ("initContainers", "containers"):
        places.append((OF_CONTEXTS + OF_LASTING_CONTEXTS, ["spec", kind, 0, "securityContext"]))
        places.append((OF_CONTAINERS + OF_LASTING_CONTAINERS, ["spec", kind, 0]))
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
    for weakness in [*OF_CONTAINERS, *OF_LASTING_CONTEXTS, *OF_CONTEXTS]:
        # The API server itself keeps it from a pod in the user namespace of its node.
        if weakness.rule == PROC:
            continue
        pod = copy.deepcopy(running)
        debugger: Json = copy.deepcopy({**CONTAINER, "name": "debugger"})
        weakness.put(debugger if weakness in OF_CONTAINERS else debugger["securityContext"])
        pod["spec"]["ephemeralContainers"] = [*pod["spec"].get("ephemeralContainers", []), debugger]
        yield f"a debugger's {weakness}", pod, "" if weakness.rule == READ_ONLY else weakness.rule


def disguises(running: Json, bait: str) -> Iterator[Attempt]:
    """Yield attempts of an administrator to change a sandbox's labels, or to give them to another pod."""
    namespace = running["metadata"]["namespace"]
    place = f"/api/v1/namespaces/{namespace}/pods"
    bare = copy.deepcopy(running)
    del bare["metadata"]["labels"]
    for path in ("", "/status"):
        replace = ["replace", f"--raw={place}/{running['metadata']['name']}{path}?dryRun=All"]
        yield Attempt(f"pods{path}: with its labels it is granted", replace, running, "")
        yield Attempt(f"pods{path}: without them it is refused", replace, bare, LABELS)
    binding: Json = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": bait, "namespace": namespace},
        "target": {"kind": "Node", "name": "nowhere"},
    }
    labelled = copy.deepcopy(binding)
    labelled["metadata"]["labels"] = POD["metadata"]["labels"]
    for path in (f"{place}/{bait}/binding", f"/api/v1/namespaces/{namespace}/bindings"):
        bind = ["create", f"--raw={path}?dryRun=All"]
        title = path.rpartition("/")[2]
        yield Attempt(f"{title}: without labels it is granted", bind, binding, "")
        yield Attempt(f"{title}: with a sandbox's labels it is refused", bind, labelled, LABELS)


def enlarged(running: Json, bait: Json) -> Iterator[Attempt]:
    """Yield attempts of an administrator to give more processors to a pod that runs, and to one that is no sandbox."""
    for pod, outcome, rule in ((bait, "granted", ""), (running, "refused", SIZE)):
        larger = copy.deepcopy(pod)
        # The limit alone: a node has to have what is requested.
        larger["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "3"
        metadata = pod["metadata"]
        place = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/resize?dryRun=All"
        yield Attempt(f"pods/resize: {metadata['name']} is {outcome}", ["replace", f"--raw={place}"], larger, rule)
