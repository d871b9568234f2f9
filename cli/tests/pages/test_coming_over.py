"""The configurations that docs/bridge.md prints for users of earlier systems, with the official client."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bridges import Gateway, wait_until
from tests.endpoint import TOKEN, Endpoint, Json, result

PAGE = (Path(__file__).parents[3] / "docs/bridge.md").read_text()


def configurations(mark: str) -> list[Json]:
    found = re.findall(rf"^```json {mark}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return [json.loads(each) for each in found]


AFTER = [next(iter(each["mcpServers"].values())) for each in configurations("after")]
TOOL = {"ipybox": "execute_ipython_cell", "ipython": "execute", "code-mode": "run_python"}


def contract(server: Json) -> str:
    arguments: list[str] = server["args"]
    return arguments[arguments.index("--contract") + 1] if "--contract" in arguments else "sandglass"


def test_each_system_has_its_page() -> None:
    assert [contract(server) for server in AFTER] == ["ipybox", "ipybox", "ipybox", "ipython", "code-mode", "sandglass"]
    assert len(configurations("before")) == 6


@pytest.mark.parametrize("server", AFTER, ids=[f"{number}-{contract(server)}" for number, server in enumerate(AFTER)])
def test_what_the_page_prints_works(endpoint: Endpoint, tmp_path: Path, server: Json) -> None:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    gateway = Gateway(endpoint)
    tool = TOOL.get(contract(server), "sandbox_list")
    gateway.tools[tool] = lambda _: result(text="answered")
    (tmp_path / "sandbox.json").write_text('{"network": {"allowedDomains": ["example.com"]}}')
    environ = {**os.environ, "SANDGLASS_URL": endpoint.url, "SANDGLASS_TOKEN": TOKEN, **server.get("env", {})}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    assert server["command"] == "sandglass"
    arguments = [str(tmp_path) if each == "/path/to/workspace" else each for each in server["args"]]
    if "--workspace" in arguments:
        gateway.tools["sandbox_list_files"] = lambda _: result({"entries": [], "truncated": False})
        gateway.tools["sandbox_write_file"] = lambda _: result({"size": 1})
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "sandglass", *arguments], env=environ, cwd=tmp_path
    )

    async def main() -> Any:
        with (tmp_path / "errors").open("w") as errors:
            async with Client(stdio_client(started, errlog=errors)) as client:
                return (await client.call_tool(tool, {"code": "1", "session": "s"})).content[0]

    assert asyncio.run(main()).text == "answered"
    if contract(server) == "sandglass":
        return
    wait_until(lambda: endpoint.calls("sandbox_stop"))
    config = endpoint.calls("sandbox_start")[0]["config"]
    warned = (tmp_path / "errors").read_text()
    if "--container-tag" in server["args"]:
        assert config == {"allowed_domains": ["example.com"], "envs": {"MODE": "test"}}
        assert "192.168.1.0/24: private ranges stay closed" in warned
    if contract(server) == "code-mode":
        assert config == {"allowed_domains": [], "memory": "512Mi"}
        assert "MCP_BRIDGE_RUNTIME has no meaning here" in warned
