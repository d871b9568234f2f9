#!/usr/bin/env python3
"""Attacks what the chart's admission policies keep out, where the tenant comes by label.

Nothing else refuses pods there: such a namespace has no Pod Security of ours, so that each rule must answer for itself.
Prints a line for each request that went as it must, and is over with the first that did not. Requests are dry runs, but
for what is laid out as bait, which goes with the namespace.

usage: refusals.py tenant RELEASE RELEASE_NAMESPACE NAMESPACE POD [OPTION...]
       refusals.py former RELEASE RELEASE_NAMESPACE NAMESPACE POD [OPTION...]
       POD runs in NAMESPACE as a sandbox, and NAMESPACE is a tenant's, or was; OPTIONS are kubectl's
"""

import json
import subprocess
import sys
from collections.abc import Iterator

from refused import leases, pods, writes
from refused.attempt import Attempt, Json


class Attacker:
    """Holds the tokens of operator and gateway, as it were, and tries what they do not need them for."""

    def __init__(self, release: str, release_namespace: str, namespace: str, pod: str, options: list[str]) -> None:
        self._account = f"--as=system:serviceaccount:{release_namespace}:{release}"
        self._release_namespace = release_namespace
        self._namespace = namespace
        self._pod = pod
        self._kubectl = ["kubectl", *options]
        # With every right, so that no role answers in a policy's place.
        self._operator = [f"{self._account}-operator", "--as-group=system:masters"]

    def tenant(self) -> Iterator[Attempt]:
        laid = [(self._laid(bait), rule) for bait, rule in writes.baits()]
        turned = [self._laid(one) for one in writes.TURNED]
        running = self._unversioned(self._get("pod", self._pod, self._namespace))
        yield from self._pods(running)
        yield from pods.disguises(running, writes.BAIT)
        yield from pods.enlarged(running, next(one for one, _ in laid if one["kind"] == "Pod"))
        yield from writes.granted(self._operator, self._namespace, self._present())
        yield from writes.refused(self._operator, self._namespace, [self._release_namespace, "kube-system"])
        yield from writes.kept(self._operator, laid)
        yield from writes.turned_back(self._operator, turned)
        yield from writes.released(self._operator, running)
        yield from self._leases()
        masters = "--as-group=system:masters"
        others = {
            "an administrator": [],
            "the gateway": [f"{self._account}-gateway", masters],
            "the egress proxy": [f"{self._account}-egress-proxy", masters],
            "an operator of another namespace": [f"--as=system:serviceaccount:{self._namespace}:operator", masters],
        }
        yield from self._statuses({"the operator": self._operator}, "")
        yield from self._statuses(others, writes.STATUSES)
        sandboxes = [one for one in self._present() if one["kind"] == "Sandbox" and not writes.is_child(one)]
        writers = {"an administrator": [], "the gateway": others["the gateway"]}
        yield from writes.disguised(writers, self._namespace, sandboxes[0])

    def former(self) -> Iterator[Attempt]:
        yield from writes.abandoned(self._operator, self._present())
        yield from self._statuses({"the operator": self._operator}, writes.ELSEWHERE)

    def _statuses(self, writers: dict[str, list[str]], refusal: str) -> Iterator[Attempt]:
        patch = ["patch", "--dry-run=server", "--subresource=status", "--type=merge"]
        forged = '--patch={"status": {"address": "192.0.2.1"}}'
        for sandbox in self._get("sandboxes.sandglass.dev", "", self._namespace)["items"]:
            for who, options in writers.items():
                verb = "does not write" if refusal else "writes"
                title = f"{who} {verb} the status of {sandbox['metadata']['name']}"
                yield Attempt(title, [*patch, *options, forged], sandbox, refusal)

    def _pods(self, running: Json) -> Iterator[Attempt]:
        create = ["create", "--dry-run=server", f"{self._account}-operator", f"--namespace={self._namespace}"]
        yield Attempt("the operator makes a hardened pod", create, pods.POD, "")
        for title, pod, refusal in pods.soft_pods():
            yield Attempt(f"the operator makes none with {title}", create, pod, refusal)
        place = f"/api/v1/namespaces/{self._namespace}/pods/{self._pod}"
        debug = ["replace", f"--raw={place}/ephemeralcontainers?dryRun=All"]
        for title, pod, refusal in pods.debuggers(running):
            yield Attempt(f"{title} is {'refused' if refusal else 'granted'}", debug, pod, refusal)

    def _leases(self) -> Iterator[Attempt]:
        gateway = ["create", "--dry-run=server", f"{self._account}-gateway"]
        own = leases.lease(self._namespace)
        yield Attempt("the gateway makes the Lease of a sandbox", gateway, own, "")
        for title, one in leases.strange_leases(self._namespace):
            yield Attempt(f"the gateway does not make {title}", gateway, one, leases.STRANGE)
        for elsewhere in (self._release_namespace, "kube-system"):
            one = leases.lease(elsewhere)
            yield Attempt(f"the gateway makes no Lease in {elsewhere}", gateway, one, leases.ELSEWHERE)

    def heartbeat(self) -> Attempt:
        """Return an attempt on the heartbeat of a node, as it stands."""
        alter = ["replace", "--dry-run=server", f"{self._account}-gateway"]
        heartbeats = self._get("lease", "", "kube-node-lease")["items"]
        return Attempt("the gateway alters no heartbeat of a node", alter, heartbeats[0], leases.ELSEWHERE)

    def problem(self, attempt: Attempt) -> str | None:
        """Make the request; None if the API server answered as it must."""
        done = subprocess.run(
            [*self._kubectl, *attempt.arguments, "--filename=-"],
            input=json.dumps(attempt.body),
            capture_output=True,
            text=True,
            check=False,
        )
        # That something is there already is found out after all rules were asked.
        granted = done.returncode == 0 or "(AlreadyExists)" in done.stderr
        if not granted and attempt.refusal in done.stderr if attempt.refusal else granted:
            return None
        return f"expected: {attempt.refusal or 'granted'}\n  got:      {done.stdout}{done.stderr}"

    def _present(self) -> list[Json]:
        """Return what the operator made there, and the sandboxes."""
        made = "pods,secrets,persistentvolumeclaims,configmaps,serviceaccounts,networkpolicies"
        own = self._get(made, "", self._namespace, "--selector=app.kubernetes.io/managed-by=sandglass-operator")
        baits = {writes.title(bait) for bait in [*(bait for bait, _ in writes.baits()), *writes.TURNED]}
        events = [
            event
            for event in self._get("events.events.k8s.io", "", self._namespace)["items"]
            if event.get("reportingController") == "sandglass.dev/operator"
        ]
        sandboxes: list[Json] = self._get("sandboxes.sandglass.dev", "", self._namespace)["items"]
        found = [*own["items"], *events, *sandboxes]
        return [self._unversioned(one) for one in found if writes.title(one) not in baits]

    def _get(self, kind: str, name: str, namespace: str, *options: str) -> Json:
        command = ["get", kind, *filter(None, [name]), f"--namespace={namespace}", "--output=json", *options]
        done = subprocess.run([*self._kubectl, *command], stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)

    def _laid(self, bait: Json) -> Json:
        command = [*self._kubectl, "apply", "--output=json", "--filename=-"]
        body = json.dumps(writes.placed(bait, self._namespace))
        done = subprocess.run(command, input=body, stdout=subprocess.PIPE, text=True, check=True)
        return self._unversioned(json.loads(done.stdout))

    @staticmethod
    def _unversioned(one: Json) -> Json:
        del one["metadata"]["resourceVersion"]
        return one


def main() -> None:
    of, release, release_namespace, namespace, pod, *options = sys.argv[1:]
    attacker = Attacker(release, release_namespace, namespace, pod, options)
    if of == "former":
        for attempt in attacker.former():
            report(attempt, attacker.problem(attempt))
        return
    for attempt in attacker.tenant():
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
