"""What an idle installation holds: gateway, operator, and a sandbox with its supervisor and one kernel."""

from __future__ import annotations

import json
import secrets
import subprocess
from typing import Any

from agent import Agent

from .cluster_api import ROOT, Cluster, JsonObject
from .cold_start import PODS, SANDBOXES, TENANT_NAMESPACE, start, stop

SYSTEM_NAMESPACE = "sandglass-system"


def measure(agent: Agent, cluster: Cluster) -> dict[str, Any]:
    sandbox = f"bench-{secrets.token_hex(3)}"
    start(agent, sandbox)
    try:
        agent.call("sandbox_run_code", sandbox=sandbox, code="1+1")
        name = cluster.get(f"{SANDBOXES}/{sandbox}")["status"]["podName"]
        return {
            "gateway": [processes(pod) for pod in pods_of(cluster, "mcp-gateway")],
            "operator": [processes(pod) for pod in pods_of(cluster, "operator")],
            "sandbox": processes(cluster.get(f"{PODS.format(TENANT_NAMESPACE)}/{name}")),
        }
    finally:
        stop(agent, sandbox)


def pods_of(cluster: Cluster, component: str) -> list[JsonObject]:
    selector = f"labelSelector=app.kubernetes.io%2Fcomponent%3D{component}"
    pods = cluster.get(f"{PODS.format(SYSTEM_NAMESPACE)}?{selector}")["items"]
    return [pod for pod in pods if pod["status"]["phase"] == "Running"]


def processes(pod: JsonObject) -> dict[str, Any]:
    container = pod["status"]["containerStatuses"][0]["containerID"].split("://")[1]
    script = ROOT / "e2e/node/memory.py"
    command = [str(ROOT / "e2e/cluster/cluster"), "exec", "--", "python3", "-I", str(script), container]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {
        "rss_mib": round(sum(process["rss_mib"] for process in found), 1),
        "pss_mib": round(sum(process["pss_mib"] for process in found), 1),
        "processes": found,
    }
