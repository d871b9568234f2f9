"""MCP servers of this machine in the code of `run_python`, from the file of another client to the endpoint."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from sandglass.bridge import local_servers
from tests.bridges import Gateway, call
from tests.endpoint import PATIENCE, TOKEN, Endpoint, Json, Reply, result

KEY = "value-of-a-key-1234"
REFUSED = f'Error: Not registered: it ended. Its last words:\nno such key "{KEY}"'


class Servers:
    """The servers of a sandbox, as the gateway keeps them."""

    def __init__(self, gateway: Gateway) -> None:
        self.endpoint = gateway.endpoint
        self.there: dict[str, str] = {}
        self.shared: list[Json] = []
        self.answers: list[Json | Reply] = []
        gateway.tools |= {
            "mcp_register_server": self.register,
            "mcp_list_servers": self.listed,
            "run_python": lambda arguments: result(text=f"ran with {arguments.get('servers')}"),
        }

    def register(self, arguments: Json) -> Json | Reply:
        if self.answers:
            return self.answers.pop(0)
        self.there[arguments["name"]] = "running"
        return result({"name": arguments["name"], "state": "running"}, "tools")

    def listed(self, _: Json) -> Json:
        own = [{"name": name, "state": state} for name, state in self.there.items()]
        return result({"servers": own, "shared": self.shared}, "servers")

    @property
    def registered(self) -> list[Json]:
        return self.endpoint.calls("mcp_register_server")


@pytest.fixture
def servers(gateway: Gateway) -> Servers:
    return Servers(gateway)


@pytest.fixture
def config() -> Path:
    place = Path(os.environ["HOME"]) / ".claude.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    found = {
        "brave-search": {"command": "npx", "args": ["-y", "brave"], "env": {"K": "${API_KEY}"}},
        "remote": {
            "type": "sse",
            "url": "https://mcp.example.com/sse",
            "headers": {"Authorization": "Bearer ${API_KEY}"},
        },
        "plain": {"command": "uvx", "args": ["plain"], "allowed_domains": ["example.com"]},
        "files": {"command": "npx", "args": ["-y", "fs", str(place)]},
    }
    place.write_text(json.dumps({"mcpServers": found}))
    return place


def run_python(bridge: Any, *names: str) -> str:
    answer = bridge.ask(call(1, "run_python", {"code": "1", "servers": list(names)}))["result"]
    text = answer["content"][0]["text"]
    assert answer["isError"] is not text.startswith("ran with")
    return str(text)


def test_a_server_is_registered_when_code_first_names_it(servers: Servers, config: Path, bridges: Any) -> None:
    bridge = bridges("--contract", "code-mode", API_KEY=KEY)
    assert run_python(bridge) == "ran with []"
    assert servers.registered == []
    servers.there["others"] = "running"
    assert run_python(bridge, "brave-search", "others") == "ran with ['brave_search', 'others']"
    assert run_python(bridge, "brave_search", "brave-search", "remote") == "ran with ['brave_search', 'remote']"
    assert run_python(bridge, "plain") == "ran with ['plain']"
    code, _, errors = bridge.end()
    sandbox = servers.endpoint.calls("sandbox_start")[0]["sandbox"]
    assert servers.registered == [
        {"sandbox": sandbox, "name": "brave_search", "command": "npx", "args": ["-y", "brave"], "env": {"K": KEY}},
        {
            "sandbox": sandbox,
            "name": "remote",
            "url": "https://mcp.example.com/sse",
            "headers": {"Authorization": f"Bearer {KEY}"},
            "transport": "sse",
        },
        {
            "sandbox": sandbox,
            "name": "plain",
            "command": "uvx",
            "args": ["plain"],
            "allowed_domains": ["example.com"],
        },
    ]
    assert {each.path for each in servers.endpoint.received if each.tool.startswith("mcp_")} == {
        "/mcp?structured=true&tools=all"
    }
    assert code == 0
    assert KEY not in errors
    assert "MCP servers that code can load: brave_search, remote, plain; 1 cannot be loaded" in errors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "known"), [((), "others, brave_search, remote, plain"), (("--no-discovery",), "others")]
)
def test_a_misspelt_name_is_told_at_once(
    servers: Servers, config: Path, bridges: Any, options: tuple[str, ...], known: str
) -> None:
    servers.there["others"] = "running"
    bridge = bridges("--contract", "code-mode", *options, API_KEY=KEY)
    assert (
        run_python(bridge, "brave-serch") == f"[validation_error] Unknown MCP server: brave-serch; known are: {known}"
    )
    # The endpoint knows how it reads a name.
    assert run_python(bridge, "Others") == "ran with ['Others']"
    servers.there.clear()
    answer = run_python(bridge, "others")
    assert answer.startswith("[validation_error] Unknown MCP server: others; known are: ")
    bridge.end()
    assert servers.registered == []
    assert len(servers.endpoint.calls("run_python")) == 1


@pytest.mark.slow
def test_a_name_is_left_to_the_endpoint_where_the_sandbox_does_not_say_what_it_has(
    gateway: Gateway, config: Path, bridges: Any
) -> None:
    Servers(gateway)
    gateway.tools["mcp_list_servers"] = lambda _: result(text="Error: it is suspended", is_error=True)
    bridge = bridges("--contract", "code-mode")
    assert run_python(bridge, "others") == "ran with ['others']"
    bridge.end()


@pytest.mark.slow
def test_the_user_chooses_the_pod(servers: Servers, config: Path, bridges: Any) -> None:
    bridge = bridges("--contract", "code-mode", "--mcp-placement", "own", "-n", "team-a")
    run_python(bridge, "plain")
    bridge.end()
    assert (servers.registered[0]["placement"], servers.registered[0]["namespace"]) == ("own", "team-a")


@pytest.mark.slow
def test_a_server_that_is_gone_is_registered_anew(servers: Servers, config: Path, bridges: Any) -> None:
    bridge = bridges("--contract", "code-mode")
    run_python(bridge, "plain")
    servers.there.clear()
    assert run_python(bridge, "plain") == "ran with ['plain']"
    bridge.end()
    assert [each["name"] for each in servers.registered] == ["plain", "plain"]


@pytest.mark.slow
def test_a_server_of_an_earlier_bridge_is_registered_anew(servers: Servers, config: Path, bridges: Any) -> None:
    servers.there["plain"] = "running"
    bridge = bridges("--contract", "code-mode", "--name", "mine")
    run_python(bridge, "plain")
    bridge.end()
    assert len(servers.registered) == 1


@pytest.mark.slow
def test_what_an_administrator_shares_counts_more(servers: Servers, config: Path, bridges: Any) -> None:
    servers.shared.append({"name": "plain", "state": "idle", "detail": "", "own": False})
    bridge = bridges("--contract", "code-mode")
    assert run_python(bridge, "plain") == "ran with ['plain']"
    assert run_python(bridge, "plain") == "ran with ['plain']"
    _, _, errors = bridge.end()
    assert servers.registered == []
    assert errors.count("MCP server plain is the one that an administrator shares, not that of") == 1


@pytest.mark.slow
def test_what_cannot_run_in_the_cluster_is_used_where_an_administrator_shares_it(
    servers: Servers, config: Path, bridges: Any
) -> None:
    servers.shared.append({"name": "files", "state": "idle", "detail": "", "own": False})
    bridge = bridges("--contract", "code-mode")
    assert run_python(bridge, "files", "plain") == "ran with ['files', 'plain']"
    _, _, errors = bridge.end()
    assert [each["name"] for each in servers.registered] == ["plain"]
    assert errors.count("MCP server files is the one that an administrator shares, not that of") == 1


@pytest.mark.slow
def test_calls_side_by_side_register_a_server_once(gateway: Gateway, config: Path, bridges: Any) -> None:
    servers = Servers(gateway)
    hold = threading.Event()
    register = servers.register

    def slow(arguments: Json) -> Json | Reply:
        hold.wait(PATIENCE)
        return register(arguments)

    gateway.tools["mcp_register_server"] = slow
    bridge = bridges("--contract", "code-mode")
    for number in (1, 2, 3):
        bridge.send(call(number, "run_python", {"code": "1", "servers": ["plain"]}))
    hold.set()
    assert {bridge.receive()["id"] for _ in range(3)} == {1, 2, 3}
    bridge.end()
    assert len(servers.registered) == 1


WORDS = "MCP server 'brave_search' was not loaded: Not registered: it ended. Its last words: no such key "
PAYLOAD = {
    "status": "error",
    "summary": f'Unexpected failure: {WORDS}"${{API_KEY}}"',
    "stdout": [],
    "stderr": [],
    "error": f'{WORDS}"${{API_KEY}}"',
}
TOON = [
    'status: "error"',
    f'summary: "Unexpected failure: {WORDS}\\"${{API_KEY}}\\""',
    "stdout[0]:",
    "stderr[0]:",
    f'error: "{WORDS}\\"${{API_KEY}}\\""',
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("compact", f"[error] {PAYLOAD['summary']}"),
        ("json", "```json\n" + json.dumps(PAYLOAD, separators=(",", ":")) + "\n```"),
        ("toon", "\n".join(["```toon", *TOON, "```"])),
    ],
)
def test_a_start_that_fails_is_the_answer_in_the_form_of_the_contract_and_tried_again_by_the_next(
    servers: Servers, config: Path, bridges: Any, form: str, text: str
) -> None:
    servers.answers.append(result(text=REFUSED, is_error=True))
    bridge = bridges("--contract", "code-mode", API_KEY=KEY, MCP_BRIDGE_OUTPUT_MODE=form)
    assert run_python(bridge, "brave-search") == text
    assert run_python(bridge, "brave-search") == "ran with ['brave_search']"
    bridge.end()
    assert len(servers.endpoint.calls("run_python")) == 1


@pytest.mark.slow
def test_what_cannot_run_in_the_cluster_is_answered_with_the_reason(
    servers: Servers, config: Path, bridges: Any
) -> None:
    bridge = bridges("--contract", "code-mode")
    assert run_python(bridge, "plain", "files") == (
        "[validation_error] Server 'files' is not available: 'args[2]' is a file or folder of this machine, which a "
        "server in the cluster does not see"
    )
    assert (
        "Server 'brave-search' is not available: 'env.K' has ${API_KEY}, and there is no variable API_KEY"
        in run_python(bridge, "brave-search")
    )
    bridge.end()
    assert servers.registered == []
    assert servers.endpoint.calls("run_python") == []


@pytest.mark.slow
@pytest.mark.parametrize("names", [5, {"plain": 1}, ["plain", 5], ["plain"] * 17, None])
def test_what_is_no_list_of_names_is_left_to_the_endpoint(
    servers: Servers, config: Path, bridges: Any, names: Any
) -> None:
    bridge = bridges("--contract", "code-mode")
    bridge.ask(call(1, "run_python", {"code": "1", "servers": names}))
    bridge.end()
    assert servers.registered == []
    assert servers.endpoint.calls("run_python")[0]["servers"] == names


def test_the_list_of_tools_names_the_servers_by_identifiers(config: Path, gateway: Gateway, bridges: Any) -> None:
    servers = {"type": "array", "description": "Servers to load"}
    tool = {
        "name": "run_python",
        "description": "d",
        "inputSchema": {"type": "object", "properties": {"servers": servers}},
    }
    listed = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}}
    gateway.endpoint.answer = lambda _: Reply(listed)
    bridge = bridges("--contract", "code-mode", API_KEY=KEY)
    tools = bridge.ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})["result"]["tools"]
    assert tools[0]["inputSchema"]["properties"]["servers"]["description"] == (
        "Servers to load. Known are: brave_search, remote, plain"
    )


@pytest.mark.slow
def test_the_official_client_calls_with_a_server_of_a_file(endpoint: Endpoint, config: Path, tmp_path: Path) -> None:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    gateway = Gateway(endpoint)
    servers = Servers(gateway)
    environ = {**os.environ, "SANDGLASS_URL": endpoint.url, "SANDGLASS_TOKEN": TOKEN, "API_KEY": KEY}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    arguments = ["-m", "sandglass", "mcp", "--contract", "code-mode"]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environ, cwd=tmp_path)

    async def main() -> list[Any]:
        async with Client(stdio_client(server)) as client:
            return [
                await client.call_tool("run_python", {"code": "1", "servers": ["brave-search"]}),
                await client.call_tool("run_python", {"code": "1", "servers": ["files"]}),
            ]

    done, refused = asyncio.run(main())
    assert (done.is_error, done.content[0].text) == (False, "ran with ['brave_search']")
    assert refused.is_error
    assert refused.content[0].text.startswith("[validation_error] Server 'files' is not available")
    assert servers.registered[0]["env"] == {"K": KEY}


def test_the_bound_of_names_is_that_of_the_endpoint() -> None:
    place = Path(__file__).parents[3] / "mcp-gateway/src/main/java/dev/sandglass/gateway/contract/dropin/codemode"
    assert f"MOST_LOADED = {local_servers.MOST_NAMED};" in (place / "RunPythonTool.java").read_text()
