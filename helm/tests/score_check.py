"""What a public scanner (kube-score, with all of its checks) says of the rendered chart and of the pods of sandboxes.

usage: score_check.py KUBE_SCORE RENDERED_CHART GOLDEN_FOLDER_OF_THE_OPERATOR

Every finding must be one of the exceptions below, and an exception that nothing needs any more is a failure too.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

FINE = 10  # the best grade
SANDBOX = "sandboxes' pods"
OVERCOMMITTED = "requests are a part of the limits on purpose: most of it is idle most of the time"
NO_CPU_LIMIT = "a CPU limit would throttle, which shows in the latency of everything; requests keep the peace"
PULL_POLICY = "tags are not moved, and a start must not wait for a registry; pullPolicy is a value of the chart"
NO_DISK = "the root file system is read-only, and every emptyDir has a sizeLimit"
SHORT_LIVED = "a hook or test that speaks to the API server or the gateway, and is gone after seconds"

# (object, check) -> why it is meant. The object is KIND/NAME, or SANDBOX.
EXCEPTIONS = {
    (SANDBOX, "container-resource-requests-equal-limits"): OVERCOMMITTED,
    (SANDBOX, "container-cpu-requests-equal-limits"): OVERCOMMITTED,
    (SANDBOX, "container-memory-requests-equal-limits"): OVERCOMMITTED,
    (SANDBOX, "container-ephemeral-storage-request-equals-limit"): OVERCOMMITTED,
    (SANDBOX, "container-image-pull-policy"): PULL_POLICY,
}
for policy in ("NetworkPolicy/sandglass-default-deny", "NetworkPolicy/sandglass-access"):
    EXCEPTIONS[policy, "networkpolicy-targets-pod"] = "the pods it waits for are made by the operator"
for program in ("Deployment/sandglass-gateway", "Deployment/sandglass-operator", "Deployment/sandglass-egress-proxy"):
    EXCEPTIONS |= {
        (program, "container-resources"): NO_CPU_LIMIT,
        (program, "deployment-has-host-podantiaffinity"): "they spread over nodes by topologySpreadConstraints",
    }
for once in ("Job/sandglass-install-secrets", "Pod/sandglass-test-mcp", "Pod/sandglass-test-rbac"):
    EXCEPTIONS |= {(once, "container-resources"): NO_CPU_LIMIT, (once, "pod-networkpolicy"): SHORT_LIVED}
for ours in {thing for thing, _ in EXCEPTIONS if thing.startswith(("Deployment/", "Job/", "Pod/"))}:
    EXCEPTIONS |= {
        (ours, "container-resource-requests-equal-limits"): OVERCOMMITTED,
        (ours, "container-cpu-requests-equal-limits"): NO_CPU_LIMIT,
        (ours, "container-memory-requests-equal-limits"): OVERCOMMITTED,
        (ours, "container-ephemeral-storage-request-and-limit"): NO_DISK,
        (ours, "container-image-pull-policy"): PULL_POLICY,
    }


def findings(scanner: str, files: list[pathlib.Path]) -> dict[tuple[str, str], str]:
    """(object, check) -> words, of everything in these files that is not fine."""
    words = [
        scanner,
        "score",
        "--output-format=json",
        "--all-default-optional",
        "--kubernetes-version=v1.36",
        *map(str, files),
    ]
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    try:
        things = json.loads(answer.stdout)
    except ValueError:
        sys.exit(f"kube-score failed on {files[0]}: {answer.stderr}")
    found = {}
    for thing in things:
        name = f"{thing['type_meta']['kind']}/{thing['object_meta']['name']}"
        for check in thing["checks"]:
            if not check["skipped"] and check["grade"] < FINE:
                comments = "; ".join(comment["summary"] for comment in check["comments"] or [])
                found[name, check["check"]["id"]] = comments
    return found


def of_sandboxes(scanner: str, chart: pathlib.Path, golden: pathlib.Path) -> dict[tuple[str, str], str]:
    """Each scenario by itself: its policy, or its namespace's if it has none, selects its pod."""
    found = {}
    pods = sorted(golden.glob("*/out-Pod.yaml"))
    if not pods:
        sys.exit(f"there is no */out-Pod.yaml in {golden}")
    with tempfile.TemporaryDirectory() as folder:
        access = pathlib.Path(folder, "access.yaml")
        access.write_text(access_of_tenant(chart))
        for pod in pods:
            own = pod.with_name("out-NetworkPolicy.yaml")
            for (_, check), words in findings(scanner, [pod, own if own.exists() else access]).items():
                found[SANDBOX, check] = f"{pod.parent.name}: {words}"
    return found


def access_of_tenant(chart: pathlib.Path) -> str:
    """The policy that the chart makes for all sandboxes of a namespace, in the namespace of the scenarios."""
    policies = [text for text in chart.read_text().split("\n---\n") if "\n  name: sandglass-access\n" in text]
    if len(policies) != 1:
        sys.exit(f"{chart} has {len(policies)} policies named sandglass-access; expected one")
    return policies[0].replace('namespace: "sandglass-default"', "namespace: tenant-a")


def main() -> None:
    scanner, chart, golden = sys.argv[1:]
    found = findings(scanner, [pathlib.Path(chart)]) | of_sandboxes(scanner, pathlib.Path(chart), pathlib.Path(golden))
    wrong = [
        f"{thing}: {check}: {words}" for (thing, check), words in found.items() if (thing, check) not in EXCEPTIONS
    ]
    wrong += [f"{thing}: {check}: an exception that nothing needs" for thing, check in EXCEPTIONS.keys() - found.keys()]
    if wrong:
        sys.exit("kube-score (exceptions and their reasons: helm/tests/score_check.py):\n" + "\n".join(sorted(wrong)))


if __name__ == "__main__":
    main()
