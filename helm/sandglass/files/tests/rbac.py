"""Asks the API server what our service accounts may do, and compares it with the table in rights.txt."""

import http.client
import json
import os
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

RELEASE_NAMESPACE = os.environ["RELEASE_NAMESPACE"]
TENANT_NAMESPACES = os.environ["TENANT_NAMESPACES"].split(",")
HOLDS = {
    "": True,
    "labels": os.environ["TENANTS_BY_LABEL"] == "true",
    "names": os.environ["TENANTS_BY_LABEL"] != "true",
    "on-demand": os.environ["TENANTS_ON_DEMAND"] == "true",
    "prepared": os.environ["TENANTS_ON_DEMAND"] != "true",
    "site-ca": os.environ["TRUSTED_CA"] == "true",
    "egress": "EGRESS_ACCOUNT" in os.environ,
    "agent-servers": os.environ["AGENT_SERVERS"] != "none",
    "no-agent-servers": os.environ["AGENT_SERVERS"] == "none",
    "public-ca": os.environ["TRUSTED_CA"] != "true",
}
OPERATOR_ACCOUNT = os.environ["OPERATOR_ACCOUNT"]
GATEWAY_ACCOUNT = os.environ["GATEWAY_ACCOUNT"]
EGRESS_ACCOUNT = os.environ.get("EGRESS_ACCOUNT", "")  # empty without the egress proxy
CREDENTIALS = Path("/var/run/secrets/kubernetes.io/serviceaccount")
RIGHTS = Path(__file__).with_name("rights.txt")


class Right(NamedTuple):
    """One question to the API server, and the answer it must give."""

    account: str
    account_namespace: str
    verb: str
    group: str
    resource: str
    subresource: str
    namespace: str  # empty = the whole cluster
    granted: bool

    def __str__(self) -> str:
        verdict = "may not, and needs to" if self.granted else "may, and must not"
        resource = f"{self.resource}/{self.subresource}" if self.subresource else self.resource
        return f"{self.account} {verdict}: {self.verb} {resource} in {self.namespace or 'the whole cluster'}"


def rights() -> Iterator[Right]:
    """Yield what the table says, line by line and verb by verb."""
    for line in RIGHTS.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        who, where, may, what, *verbs = line.split()
        path, _, group = what.partition(".")
        resource, _, subresource = path.partition("/")
        place, _, condition = where.partition(":")
        if not HOLDS[condition] or (who == "egress" and not EGRESS_ACCOUNT):
            continue
        for namespace in {"tenant": TENANT_NAMESPACES, "release": [RELEASE_NAMESPACE], "everywhere": [""]}[place]:
            account, account_namespace = {
                "operator": (OPERATOR_ACCOUNT, RELEASE_NAMESPACE),
                "gateway": (GATEWAY_ACCOUNT, RELEASE_NAMESPACE),
                "egress": (EGRESS_ACCOUNT, RELEASE_NAMESPACE),
                "sandbox": ("sandglass-sandbox", namespace),
            }[who]
            for verb in verbs:
                yield Right(account, account_namespace, verb, group, resource, subresource, namespace, may == "yes")


def granted(right: Right, api_server: http.client.HTTPSConnection, token: str) -> bool:
    """Ask the API server whether it would let the account do that."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{right.account_namespace}:{right.account}",
            "groups": [
                "system:serviceaccounts",
                f"system:serviceaccounts:{right.account_namespace}",
                "system:authenticated",
            ],
            "resourceAttributes": {
                "namespace": right.namespace,
                "verb": right.verb,
                "group": right.group,
                "resource": right.resource,
                "subresource": right.subresource,
            },
        },
    }
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    api_server.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", json.dumps(review), headers)
    response = api_server.getresponse()
    body = response.read()
    if response.status != http.client.CREATED:
        sys.exit(f"the API server refuses to say: HTTP {response.status}: {body!r}")
    return bool(json.loads(body)["status"]["allowed"])


def main() -> None:
    """Check the whole table; fail if one line of it does not hold."""
    api_server = http.client.HTTPSConnection(
        os.environ["KUBERNETES_SERVICE_HOST"],
        int(os.environ["KUBERNETES_SERVICE_PORT"]),
        timeout=10,
        context=ssl.create_default_context(cafile=str(CREDENTIALS / "ca.crt")),
    )
    token = (CREDENTIALS / "token").read_text()
    asked = list(rights())
    wrong = [right for right in asked if granted(right, api_server, token) is not right.granted]
    for right in wrong:
        print(right)
    if wrong:
        sys.exit(f"{len(wrong)} of {len(asked)} rights are wrong")
    print(f"{len(asked)} rights are as they should be")


main()
