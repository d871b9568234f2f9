"""Functions of servers in other pods, written when a gateway says which tools they have."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import Client, Refused
from mcp_link import register
from mcp_shared import TOOLS, share
from supervisors import SLOW_STARTS, Running

from sandglass_supervisor import limits

ADD = "from mcptools.github.add import Params, run\nprint(run(Params(a=1, b=2)).sum)"


@pytest.fixture
def fresh(spare: Running) -> Running:
    """A sandbox whose workspace is empty."""
    return spare


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A sandbox for all requests that are refused: its workspace stays empty."""
    running = Running(tmp_path_factory.mktemp("untouched"), limits=SLOW_STARTS)
    yield running
    running.stop()


@pytest.fixture
def gateway(fresh: Running) -> Client:
    gateway = fresh.client()
    share(gateway, {"github": TOOLS})
    return gateway


def listing(tools: list[dict[str, Any]]) -> bytes:
    return json.dumps({"server": "github", "tools": tools, "left_out": 0}).encode()


def write(peer: Client, tools: list[dict[str, Any]] = TOOLS, name: str = "github") -> dict[str, Any]:
    return peer.ask("mcp_functions", listing(tools), timeout=60, name=name)


def refusal(peer: Client, blob: bytes, name: str = "github") -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        peer.ask("mcp_functions", blob, timeout=60, name=name)
    return refused.value.code, str(refused.value)


def written(running: Running) -> list[str]:
    return sorted(path.name for path in (running.workspace / "mcptools" / "github").glob("*.py"))


def printed(peer: Client, name: str, code: str) -> str:
    output = peer.command(name, sys.executable, "-c", code, timeout=60)
    return output.text("stdout") + output.text("stderr")


def test_the_folder_is_there_before_the_answer_and_code_does_not_ask_again(fresh: Running, gateway: Client) -> None:
    told = write(gateway)
    assert written(fresh) == ["__init__.py", "add.py", "big.py", "echo.py", "slow.py"]
    assert told == {
        "name": "github",
        "folder": str(fresh.workspace / "mcptools" / "github"),
        "tools": [
            {"name": "add", "module": "add", "description": "Adds two numbers."},
            *({"name": name, "module": name, "description": f"{name}."} for name in ("echo", "slow", "big")),
        ],
        "notes": [],
    }
    assert printed(gateway, "add", ADD) == "3.0\n"
    assert [asked.kind for asked in gateway.calls] == ["tool_call"]


@pytest.mark.slow
def test_the_names_are_those_of_the_modules(fresh: Running, gateway: Client) -> None:
    names = ["Create-Issue", "create_issue", "class", "1st", "\u212aey", "\u00dcber", "x" * 100]
    told = write(gateway, [{**TOOLS[1], "name": name} for name in names])
    modules = [tool["module"] for tool in told["tools"]]
    assert modules == ["create_issue", "create_issue_2", "class_", "_1st", "key", "_ber", "x" * 80]
    assert written(fresh) == sorted([*(f"{module}.py" for module in modules), "__init__.py"])


@pytest.mark.slow
def test_other_tools_replace_the_folder_at_once(fresh: Running, gateway: Client) -> None:
    write(gateway)
    share(gateway, {"github": TOOLS[:2]})
    told = write(gateway, TOOLS[:2])
    assert [tool["module"] for tool in told["tools"]] == ["add", "echo"]
    assert written(fresh) == ["__init__.py", "add.py", "echo.py"]
    # Those that are written already are told all the same.
    assert write(gateway, TOOLS[:2]) == told


@pytest.mark.slow
def test_a_server_without_tools(fresh: Running, gateway: Client) -> None:
    assert write(gateway, [])["tools"] == []
    assert written(fresh) == ["__init__.py"]


@pytest.mark.slow
def test_more_tools_than_an_answer_holds(fresh: Running, gateway: Client) -> None:
    tools = [{**TOOLS[1], "name": f"{index:0200}"} for index in range(limits.MCP_TOOLS)]
    told = write(gateway, tools)
    assert len(json.dumps(told["tools"], separators=(",", ":"))) <= limits.MCP_LIST_BYTES
    left_out = limits.MCP_TOOLS - len(told["tools"])
    assert told["notes"][0] == f"{left_out} more tools are not listed here; their functions are in the folder"
    assert len(written(fresh)) == limits.MCP_TOOLS + 1


@pytest.mark.slow
def test_a_server_of_the_sandbox_keeps_its_folder(fresh: Running, gateway: Client) -> None:
    register(gateway, "github")
    code, words = refusal(gateway, listing(TOOLS))
    assert code == "mcp_registering"
    assert words.endswith("name: server 'github' is being registered already; wait for the answer")
    assert len(written(fresh)) == 12
    gateway.ask("mcp_remove", name="github")
    assert len(write(gateway)["tools"]) == 4


@pytest.mark.slow
def test_a_second_request_while_the_first_is_carried_out(gateway: Client) -> None:
    first = gateway.send("mcp_functions", listing(TOOLS), name="github")
    assert refusal(gateway, listing(TOOLS))[0] == "mcp_registering"
    assert len(gateway.reply_to(first, 60)["tools"]) == 4
    assert len(write(gateway)["tools"]) == 4


@pytest.mark.parametrize(
    ("name", "blob", "code", "words"),
    [
        ("a-b", listing(TOOLS), "bad_request", "name: must be a Python identifier"),
        ("class", listing(TOOLS), "bad_request", "name: 'class' has a meaning of its own in Python"),
        ("github", b"", "mcp_start_failed", "MCP server 'github' runs, but what the gateway answered about server"),
        ("github", b'{"tools":7}', "mcp_start_failed", "MCP server 'github' runs, but what the gateway answered"),
        (
            "github",
            b'{"tools":[],"x":"' + b"x" * limits.MCP_TOOLS_BYTES + b'"}',
            "mcp_start_failed",
            "MCP server 'github' runs, but the tools of server 'github' have",
        ),
    ],
)
def test_what_breaks_a_rule(untouched: Running, name: str, blob: bytes, code: str, words: str) -> None:
    gateway = untouched.client()
    share(gateway, {"github": TOOLS})
    found, said = refusal(gateway, blob, name)
    gateway.close()
    untouched.clients.remove(gateway)
    assert found == code
    assert said.startswith(f"{code}: {words}")
    assert written(untouched) == []


@pytest.mark.slow
def test_an_image_without_the_generator_says_so(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_MCP_PACKAGES=str(tmp_path / "nothing"))
    try:
        peer = running.client()
        share(peer, {})
        code, words = refusal(peer, listing(TOOLS))
        assert code == "mcp_start_failed"
        assert "this image has no datamodel_code_generator" in words
    finally:
        running.stop()
