"""The generator as the supervisor starts it, and code that uses what it wrote."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-I", "-m", "sandglass_supervisor.mcp_api.generate"]
PACKAGES = os.environ.get("SANDGLASS_MCP_PACKAGES") or f"{sys.prefix}/mcp"


def tool(name: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": schema if schema is not None else {"type": "object"}, **more}


def run(workspace: Path, tools: Any, server: str = "demo", **more: Any) -> subprocess.CompletedProcess[str]:
    request = {"server": server, "folder": str(workspace / "mcptools"), "tools": tools, **more}
    return subprocess.run(
        COMMAND, check=False, input=json.dumps(request), capture_output=True, text=True, timeout=90, cwd=workspace
    )


def generated(workspace: Path, tools: Any, server: str = "demo") -> dict[str, Any]:
    done = run(workspace, tools, server)
    assert (done.returncode, done.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def code(workspace: Path, text: str, socket: Path | None = None) -> str:
    """What code prints that runs in the workspace, as in a kernel."""
    environment = {**os.environ, "SANDGLASS_MCP_SOCKET": str(socket)} if socket else None
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=workspace,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
