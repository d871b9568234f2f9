"""What a call of an MCP server's tool costs code, beside the server asked directly, and the same in ipybox.

And what a task costs a model in tokens (characters / 4) that code solves, beside a model that calls the tools itself.
"""

from __future__ import annotations

import json
import pathlib
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

from agent import Agent

from . import ipybox
from .cold_start import Failed, start, stop
from .conversations import CHARACTERS_PER_TOKEN, compact
from .figures import summary

FILES = pathlib.Path(__file__).parent.parent / "tool-calls"
SERVER = FILES / "server.py"
CELL = FILES / "calls.py"
ROWS = FILES / "rows.py"
TASK = FILES / "join.py"
NAME = "bench"
CALL_P50_MS = 4.0
FEWER_TOKENS = 20.0


def measure(agent: Agent) -> dict[str, Any]:
    agent.path += "&tools=all"  # the usual list has no tools for MCP servers
    sandbox = f"bench-{secrets.token_hex(3)}"
    start(agent, sandbox)
    try:
        own_pod = of_ours(agent, sandbox)
        task = worked_task(agent, sandbox)
    finally:
        stop(agent, sandbox)
    return {"own_pod": own_pod, "ipybox": of_ipybox(), "task": task}


def of_ours(agent: Agent, sandbox: str) -> dict[str, Any]:
    agent.call("sandbox_write_file", sandbox=sandbox, path=SERVER.name, content=SERVER.read_text())
    register(agent, sandbox, NAME, [SERVER.name])
    ran = agent.call("sandbox_run_code", sandbox=sandbox, code=cell(SERVER.name), max_output_chars=100_000)
    if ran["status"] != "ok":
        raise Failed(f"the calls of the tool: {ran.text[-1000:]}")
    return both_ways(ran["stdout"])


def register(agent: Agent, sandbox: str, name: str, args: list[str]) -> None:
    answer = agent.call("mcp_register_server", sandbox=sandbox, name=name, command="python3", args=args)
    if answer.failed:
        raise Failed(f"the MCP server {name}: {answer.text}")


def worked_task(agent: Agent, sandbox: str) -> dict[str, float]:
    """Join the data of two servers: which five customers owe most. What counts is what the model writes and reads."""
    agent.call("sandbox_write_file", sandbox=sandbox, path=ROWS.name, content=ROWS.read_text())
    for role in ("orders", "customers"):
        register(agent, sandbox, role, [ROWS.name, role])
    code = TASK.read_text().partition('"""\n\n')[2]
    answer = agent.call("sandbox_run_code", sandbox=sandbox, code=code)
    if answer.failed or "[tools] orders.list_orders" not in answer.text:
        raise Failed(f"the task: {answer.text[-1000:]}")
    by_code = len("sandbox_run_code") + len(compact({"sandbox": sandbox, "code": code})) + len(answer.text)
    by_calls = len(answer.text) + sum(
        len(f"{tool}{compact(arguments)}") + len(text) for tool, arguments, text in called_one_by_one()
    )
    tokens = {"code": by_code / CHARACTERS_PER_TOKEN, "calls": by_calls / CHARACTERS_PER_TOKEN}
    return {**{way: round(count) for way, count in tokens.items()}, "fewer": round(by_calls / by_code, 1)}


def called_one_by_one() -> Iterator[tuple[str, dict[str, Any], str]]:
    """The calls that a model would make: the orders, then each customer who owes something."""
    orders = directly("orders", "list_orders", [{}])[0]
    yield "list_orders", {}, orders
    owing = sorted({each["customer"] for each in json.loads(orders)["orders"] if each["status"] == "open"})
    asked: list[dict[str, Any]] = [{"id": each} for each in owing]
    for arguments, text in zip(asked, directly("customers", "get_customer", asked), strict=True):
        yield "get_customer", arguments, text


def directly(role: str, tool: str, calls: list[dict[str, Any]]) -> list[str]:
    requests = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        for number, arguments in enumerate(calls)
    ]
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    answered = subprocess.run(
        [sys.executable, ROWS, role], input=lines, capture_output=True, text=True, check=True, timeout=60
    )
    return [json.loads(line)["result"]["content"][0]["text"] for line in answered.stdout.splitlines()]


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
    try:
        found = json.loads(printed.splitlines()[-1])
    except (IndexError, ValueError):
        raise Failed(f"no timings, but {printed[-300:]!r}") from None
    function, direct = (summary([each / 1000 for each in found[way]]) for way in ("function", "direct"))
    return {"function_ms": function, "direct_ms": direct}


def timings(result: dict[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
    if tools := result.get("tools"):
        yield "a tool called by code", tools["own_pod"]["function_ms"]
        yield "its server asked directly", tools["own_pod"]["direct_ms"]
        yield "a tool called by code in ipybox", tools["ipybox"]["function_ms"]


def lines(result: dict[str, Any]) -> Iterator[str]:
    if tools := result.get("tools"):
        task = tools["task"]
        yield (
            f"  two servers' data joined: {task['code']} tokens by code, {task['calls']:,} if the model calls the tools"
            f" itself, {task['fewer']} times as many"
        )


def gates(result: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    if tools := result.get("tools"):
        ours, theirs = (tools[name]["function_ms"]["p50"] for name in ("own_pod", "ipybox"))
        yield "a tool's call at p50, in ms,", ours, CALL_P50_MS
        yield "a tool's call / ipybox's", ours / theirs, 1
        yield "a task's tokens by code / by calls", 1 / tools["task"]["fewer"], 1 / FEWER_TOKENS
