"""What a call of an MCP server's tool costs code, beside the server asked directly, and the same in ipybox."""

from __future__ import annotations

import json
import pathlib
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

from agent import Agent

from . import ipybox
from .cold_start import Failed, start, stop
from .figures import summary

FILES = pathlib.Path(__file__).parent.parent / "tool-calls"
SERVER = FILES / "server.py"
CELL = FILES / "calls.py"
NAME = "bench"
CALL_P50_MS = 4.0


def measure(agent: Agent) -> dict[str, Any]:
    agent.path += "&tools=all"  # the usual list has no tools for MCP servers
    sandbox = f"bench-{secrets.token_hex(3)}"
    start(agent, sandbox)
    try:
        own_pod = of_ours(agent, sandbox)
    finally:
        stop(agent, sandbox)
    return {"own_pod": own_pod, "ipybox": of_ipybox()}


def of_ours(agent: Agent, sandbox: str) -> dict[str, Any]:
    agent.call("sandbox_write_file", sandbox=sandbox, path=SERVER.name, content=SERVER.read_text())
    answer = agent.call("mcp_register_server", sandbox=sandbox, name=NAME, command="python3", args=[SERVER.name])
    if answer.failed:
        raise Failed(f"the MCP server: {answer.text}")
    ran = agent.call("sandbox_run_code", sandbox=sandbox, code=cell(SERVER.name), max_output_chars=100_000)
    if ran["status"] != "ok":
        raise Failed(f"the calls of the tool: {ran.text[-1000:]}")
    return both_ways(ran["stdout"])


def of_ipybox() -> dict[str, Any]:
    python = ipybox.environment() / "bin/python"
    with tempfile.TemporaryDirectory() as folder:
        code = pathlib.Path(folder, "cell.py")
        code.write_text(cell(str(SERVER)))
        client = [str(each) for each in (python, ipybox.CLIENT / "measure_tools.py", NAME, SERVER, code)]
        env = ipybox.variables(python, folder)
        answer = subprocess.run(client, capture_output=True, text=True, check=False, timeout=300, env=env)
    if answer.returncode != 0:
        raise Failed(f"ipybox: {answer.stderr[-500:]}")
    return both_ways(answer.stdout)


def cell(server: str) -> str:
    return CELL.read_text().replace("mcptools.MODULE", f"mcptools.{NAME}").replace('"SERVER"', json.dumps(server))


def both_ways(printed: str) -> dict[str, Any]:
    found = json.loads(printed.splitlines()[-1])
    function, direct = (summary([each / 1000 for each in found[way]]) for way in ("function", "direct"))
    return {"function_ms": function, "direct_ms": direct}


def timings(result: dict[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
    if tools := result.get("tools"):
        yield "a tool called by code", tools["own_pod"]["function_ms"]
        yield "its server asked directly", tools["own_pod"]["direct_ms"]
        yield "a tool called by code in ipybox", tools["ipybox"]["function_ms"]


def gates(result: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    if tools := result.get("tools"):
        ours, theirs = (tools[name]["function_ms"]["p50"] for name in ("own_pod", "ipybox"))
        yield "a tool's call at p50, in ms,", ours, CALL_P50_MS
        yield "a tool's call / ipybox's", ours / theirs, 1
