"""What the operator writes, and what somebody with its token would."""

import copy
from collections.abc import Iterator

from refused.attempt import Attempt, Json
from refused.pods import CONTAINER, POD

ELSEWHERE = "may write only in the namespaces of its tenants"
PODS = "may write only pods of sandboxes"
SECRETS = "may write only Secrets of links"
OWNED = "may write only Secrets of links that belong to a Sandbox"
CLAIMS = "may write only claims of workspaces"
CONFIG_MAPS = "may write only the ConfigMap sandglass-trusted-ca"
ACCOUNTS = "may write only the service account sandglass-sandbox"
POLICIES = "may write only NetworkPolicies of sandboxes"
SELECTORS = "must select sandboxes"
EVENTS = "may write only Events of Sandboxes"
SERVERS = "may write only Sandboxes of tool servers"
LABEL = "only the Sandglass operator may set, change or remove sandglass.dev/tool-server"
STATUSES = "only the Sandglass operator may write the status"

BAIT = "bait"
OPERATORS = {"app.kubernetes.io/managed-by": "sandglass-operator"}


def thing(api_version: str, kind: str, name: str, labels: Json = None, **fields: Json) -> Json:
    metadata = {"name": name, **({"labels": labels} if labels else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def secret(name: str, kind: str = "sandglass.dev/link", **annotations: str) -> Json:
    made = thing("v1", "Secret", name, OPERATORS, type=kind)
    made["metadata"]["annotations"] = annotations
    return made


def owned(one: Json, api_version: str, kind: str, name: str, uid: str) -> Json:
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}
    one["metadata"]["ownerReferences"] = [owner]
    return one


def claim(name: str, labels: Json) -> Json:
    resources = {"requests": {"storage": "1Mi"}}
    return thing(
        "v1", "PersistentVolumeClaim", name, labels, spec={"accessModes": ["ReadWriteOnce"], "resources": resources}
    )


def policy(name: str, labels: Json, **selector: Json) -> Json:
    spec = {"podSelector": selector, "policyTypes": ["Ingress"]}
    return thing("networking.k8s.io/v1", "NetworkPolicy", name, labels, spec=spec)


def event(name: str, kind: str) -> Json:
    return thing(
        "events.k8s.io/v1",
        "Event",
        name,
        eventTime="2026-01-01T00:00:00.000000Z",
        action="Reconcile",
        reason="Tried",
        type="Normal",
        reportingController="sandglass.dev/operator",
        reportingInstance="sandglass-operator",
        regarding={"apiVersion": "v1", "kind": kind, "name": "some"},
    )


def account(name: str, mounted: Json) -> Json:
    return thing("v1", "ServiceAccount", name, OPERATORS, automountServiceAccountToken=mounted)


TOOL_SERVER = "sandglass.dev/tool-server"


def child(name: str, label: str, **owner: Json) -> Json:
    """Return the Sandbox of a tool server, as the operator makes it, but for what is said of its owner."""
    made = thing("sandglass.dev/v1alpha1", "Sandbox", name, {**OPERATORS, TOOL_SERVER: label}, spec={})
    of = {"apiVersion": "sandglass.dev/v1alpha1", "kind": "SandboxToolServer", "name": "some", "uid": "some"}
    made["metadata"]["ownerReferences"] = [{**of, "controller": True, **owner}]
    return made


def is_child(one: Json) -> bool:
    return TOOL_SERVER in one["metadata"].get("labels", {})


WORKSPACE = {**OPERATORS, "app.kubernetes.io/component": "workspace"}
SANDBOXES = {"matchLabels": {"app.kubernetes.io/component": "sandbox"}}
OTHERS = {"matchLabels": {"app.kubernetes.io/component": "web"}}
ONE_SANDBOX = {"matchLabels": {"sandglass.dev/sandbox-uid": "some"}}

OWN = [
    POD,
    owned(secret("sbx-some-1"), "sandglass.dev/v1alpha1", "Sandbox", "box", "some"),
    owned(secret("sbx-seat-0"), "v1", "Pod", "sbx-seat-0", "some"),
    claim("workspace-some", WORKSPACE),
    thing("v1", "ConfigMap", "sandglass-trusted-ca", OPERATORS),
    policy("sbx-some", OPERATORS, **ONE_SANDBOX),
    policy("sbx-labels-taken", None, **SANDBOXES),
    event("some.1", "Sandbox"),
    event("some.2", "SandboxToolServer"),
    event("some.3", "SandboxPool"),
    child("some-mcp", "some"),
    account("sandglass-sandbox", False),
    policy("sandglass-access", OPERATORS, **SANDBOXES),
    policy("sandglass-default-deny", OPERATORS, **SANDBOXES),
]


def unlike(pod: Json, key: str) -> Json:
    changed = copy.deepcopy(pod)
    del changed["metadata"]["labels"][key]
    return changed


def of_account(pod: Json, name: str) -> Json:
    changed = copy.deepcopy(pod)
    changed["spec"]["serviceAccountName"] = name
    return changed


STRANGE = {
    "a pod that nobody manages": (unlike(POD, "app.kubernetes.io/managed-by"), PODS),
    "a pod of no component, whose shape nobody looks at": (unlike(POD, "app.kubernetes.io/component"), PODS),
    "a pod of another account": (of_account(POD, "default"), PODS),
    "a Secret of another name": (secret("some"), SECRETS),
    "a Secret of another type, which becomes the token of an account": (
        secret(
            "sbx-some-1",
            "kubernetes.io/service-account-token",
            **{"kubernetes.io/service-account.name": "default"},
        ),
        SECRETS,
    ),
    "a Secret of a link that belongs to no sandbox": (secret("sbx-some-1"), OWNED),
    "a Secret of a link that belongs to another sandbox": (
        owned(secret("sbx-some-1"), "sandglass.dev/v1alpha1", "Sandbox", "box", "other"),
        OWNED,
    ),
    "a Secret of a link that belongs to another pod": (
        owned(secret("sbx-seat-0"), "v1", "Pod", "sbx-other-0", "some"),
        OWNED,
    ),
    "a claim of another name": (claim("some", WORKSPACE), CLAIMS),
    "a claim that nobody manages": (claim("workspace-some", {"app.kubernetes.io/component": "workspace"}), CLAIMS),
    "a claim of no workspace": (claim("workspace-some", OPERATORS), CLAIMS),
    "a ConfigMap of another name": (thing("v1", "ConfigMap", "some", OPERATORS), CONFIG_MAPS),
    "an account of another name": (account("some", False), ACCOUNTS),
    "an account with its token mounted": (account("sandglass-sandbox", True), ACCOUNTS),
    "an account whose token is mounted unless a pod says otherwise": (
        thing("v1", "ServiceAccount", "sandglass-sandbox"),
        ACCOUNTS,
    ),
    "a NetworkPolicy of another name": (policy("some", OPERATORS, **SANDBOXES), POLICIES),
    "a NetworkPolicy of the namespace that nobody manages": (policy("sandglass-access", None, **SANDBOXES), POLICIES),
    "a NetworkPolicy for all pods": (policy("sbx-some", OPERATORS), SELECTORS),
    "a NetworkPolicy for other pods": (
        policy("sbx-some", OPERATORS, **OTHERS),
        SELECTORS,
    ),
    "a NetworkPolicy for pods of the same word": (
        policy("sbx-some", OPERATORS, matchLabels={"tier": "sandbox"}),
        SELECTORS,
    ),
    "an Event of a pod": (event("some.1", "Pod"), EVENTS),
    "an ordinary sandbox": (thing("sandglass.dev/v1alpha1", "Sandbox", "some", OPERATORS, spec={}), SERVERS),
    "a tool server's sandbox of another name": (child("some", "some"), SERVERS),
    "a tool server's sandbox with the label of another": (child("some-mcp", "other"), SERVERS),
    "a tool server's sandbox that another kind owns": (child("some-mcp", "some", kind="Sandbox"), SERVERS),
    "a tool server's sandbox that no controller owns": (child("some-mcp", "some", controller=False), SERVERS),
}

# Policies of the operator's own that somebody turned to other pods.
TURNED = [policy("sbx-turned", OPERATORS, **OTHERS), policy("sbx-emptied", OPERATORS)]

SANDBOX = thing("sandglass.dev/v1alpha1", "Sandbox", "some", spec={})


def baits() -> list[tuple[Json, str]]:
    """Return somebody else's objects, and the rule that keeps the operator from altering and deleting each."""
    pod = unlike(unlike(POD, "app.kubernetes.io/managed-by"), "app.kubernetes.io/component")
    pod["metadata"]["name"] = BAIT
    # No node shall take it, so that it may still be given to one.
    pod["spec"]["schedulerName"] = "nobody"
    # Which a node gives to a pod while it runs.
    pod["spec"]["containers"] = [{**CONTAINER, "resources": {"limits": {"cpu": "1"}}}]
    return [
        (pod, PODS),
        (secret("sbx-bait", "Opaque"), SECRETS),
        (secret("mountable-bait", "Opaque"), SECRETS),
        (claim("workspace-bait", None), CLAIMS),
        (thing("v1", "ConfigMap", BAIT), CONFIG_MAPS),
        (account(BAIT, False), ACCOUNTS),
        (policy(BAIT, OPERATORS, **SANDBOXES), POLICIES),
        # It bears the name of a sandbox's own, and is for other pods.
        (policy("sbx-bait", None, **OTHERS), POLICIES),
        (event("bait.1", "Pod"), EVENTS),
    ]


def title(one: Json) -> str:
    return f"{one['kind']} {one['metadata']['name']}"


def placed(one: Json, namespace: str) -> Json:
    there = copy.deepcopy(one)
    there["metadata"]["namespace"] = namespace
    if "regarding" in there:
        # The API server takes no other Events.
        there["regarding"]["namespace"] = namespace
    return there


def granted(account: list[str], namespace: str, present: list[Json]) -> Iterator[Attempt]:
    """Yield all that the operator does, also once more what it did already."""
    create = ["create", "--dry-run=server", *account]
    ours = [one for one in present if one["kind"] != "Sandbox" or is_child(one)]
    for one in [*OWN, *ours, thing("v1", "Secret", "mountable-some")]:
        yield Attempt(f"the operator makes {title(one)}", create, placed(one, namespace), "")
    for one in present:
        # A Secret of a link cannot be altered. A user's sandbox is deleted when it has expired, and not written.
        if one["kind"] == "Sandbox" and not is_child(one):
            yield Attempt(
                f"the operator does not write {title(one)}", ["replace", "--dry-run=server", *account], one, SERVERS
            )
        elif one["kind"] != "Secret":
            yield Attempt(f"the operator writes {title(one)}", ["replace", "--dry-run=server", *account], one, "")
        if one["kind"] in {"Pod", "Secret", "Sandbox"}:
            yield Attempt(f"the operator deletes {title(one)}", ["delete", "--dry-run=server", *account], one, "")


def refused(account: list[str], namespace: str, elsewhere: list[str]) -> Iterator[Attempt]:
    """Yield what it never does: making what is strange, or anything elsewhere."""
    create = ["create", "--dry-run=server", *account]
    for what, (one, rule) in STRANGE.items():
        yield Attempt(f"the operator does not make {what}", create, placed(one, namespace), rule)
    asked = placed(secret("mountable-some", "Opaque"), namespace)
    yield Attempt("the operator asks for a Secret and makes none", ["create", *account], asked, SECRETS)
    # Without an account, a pod is refused for that.
    for one in [of_account(POD, "default"), *OWN[1:], SANDBOX]:
        for there in elsewhere:
            what = f"the operator does not make {title(one)} in {there}"
            yield Attempt(what, create, placed(one, there), ELSEWHERE)


def kept(account: list[str], laid: list[tuple[Json, str]]) -> Iterator[Attempt]:
    """Yield attempts on the baits as the API server has them, also in the guise of the operator's own."""
    for one, rule in laid:
        guise = copy.deepcopy(one)
        is_claim = one["kind"] == "PersistentVolumeClaim"
        guise["metadata"]["labels"] = WORKSPACE if is_claim else POD["metadata"]["labels"]
        if one["kind"] == "NetworkPolicy":
            guise["spec"]["podSelector"] = SANDBOXES
        for verb, body in (("replace", guise), ("delete", one)):
            what = f"the operator does not {verb} {title(one)} of somebody else"
            yield Attempt(what, [verb, "--dry-run=server", *account], body, rule)


def disguised(accounts: dict[str, list[str]], namespace: str, sandbox: Json) -> Iterator[Attempt]:
    """Yield attempts to pass a sandbox off as a tool server's, each beside the same without the label."""
    labelled, plain = copy.deepcopy(sandbox), copy.deepcopy(sandbox)
    for one in (labelled, plain):
        one["metadata"].setdefault("labels", {})["example.com/team"] = "data"
    labelled["metadata"]["labels"][TOOL_SERVER] = "some"
    for who, options in accounts.items():
        create, replace = ([verb, "--dry-run=server", *options] for verb in ("create", "replace"))
        yield Attempt(f"{who} makes a sandbox", create, placed(SANDBOX, namespace), "")
        yield Attempt(f"{who} makes none of a tool server", create, placed(child("some-mcp", "some"), namespace), LABEL)
        yield Attempt(f"{who} labels {title(sandbox)}", replace, plain, "")
        yield Attempt(f"{who} does not give {title(sandbox)} the label of a tool server", replace, labelled, LABEL)


def turned_back(account: list[str], turned: list[Json]) -> Iterator[Attempt]:
    """Yield what restores a policy of the operator's own, and what would leave it as it is."""
    replace = ["replace", "--dry-run=server", *account]
    for one in turned:
        right = copy.deepcopy(one)
        right["spec"]["podSelector"] = ONE_SANDBOX
        yield Attempt(f"the operator turns {title(one)} back to its sandbox", replace, right, "")
        yield Attempt(f"the operator does not write {title(one)} for other pods", replace, one, SELECTORS)


def released(account: list[str], running: Json) -> Iterator[Attempt]:
    """Yield attempts to take from a sandbox's pod what puts it under the rules."""
    for key in POD["metadata"]["labels"]:
        what = f"the operator does not take {key} from a sandbox's pod"
        yield Attempt(what, ["replace", "--dry-run=server", *account], unlike(running, key), PODS)


def abandoned(account: list[str], present: list[Json]) -> Iterator[Attempt]:
    """Yield attempts on what is left where no tenant is any more."""
    for one in present:
        for verb in ("replace", "delete"):
            what = f"the operator does not {verb} {title(one)}, of no tenant any more"
            yield Attempt(what, [verb, "--dry-run=server", *account], one, ELSEWHERE)
