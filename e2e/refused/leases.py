"""Leases, of which the gateway writes those of sandboxes."""

from collections.abc import Iterator

from refused.attempt import Json

ELSEWHERE = "may write Leases only in the namespaces of its tenants"
STRANGE = "may write only the Leases of Sandboxes"


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
