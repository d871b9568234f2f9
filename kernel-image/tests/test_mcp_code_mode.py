"""The API of mcp-server-code-execution-mode, with a real server, in a kernel."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import Client, Refused
from mcp_shared import TOOLS, share
from supervisors import Running

SERVER = str(Path(__file__).with_name("mcp") / "server.py")
LOAD = "from mcptools.code_mode import load; load(['one'], globals())\n"


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    running = Running(tmp_path_factory.mktemp("code-mode"))
    peer = running.client()
    share(peer, {})
    for name in ("one", "two"):
        peer.ask("mcp_register", timeout=60, name=name, command=sys.executable, args=[SERVER], api=False)
    yield peer
    running.stop()


def lines(peer: Client, name: str, code: str) -> list[str]:
    output = peer.run(name, LOAD + code, session=name)
    peer.ask("close", language="python", session=name)
    assert output.outcome is not None
    return output.text("stdout").splitlines() or [output.outcome["message"]]


def test_proxies_return_the_result_as_it_is(peer: Client) -> None:
    code = """
result = await mcp_one.add(a=1, b=2)
print(result["structuredContent"], result["isError"], result["content"][0]["type"])
print((await mcp_one.wrong())["isError"])
print(mcp_one, LOADED_MCP_SERVERS, list(mcp_servers))
import asyncio
print(sum(r["structuredContent"]["sum"] for r in await asyncio.gather(*(mcp_one.add(a=n, b=0) for n in range(100)))))
"""
    assert lines(peer, "proxies", code) == [
        "{'sum': 3} False text",
        "True",
        "<MCP server one: add, echo, wrong, fails, slow, big, dies, env, pid, grows, values> ('one',) ['one']",
        "4950",
    ]


@pytest.mark.slow
def test_the_runtime(peer: Client) -> None:
    code = """
from mcp import runtime
from mcp.servers.one import add, TOOLS, TOOL_MAP
print((await add(a=2, b=2))["structuredContent"], TOOLS[0]["alias"], TOOL_MAP["add"])
print((await runtime.call_tool("one", "add", {"a": 1, "b": 1}))["structuredContent"])
print(await runtime.list_servers(), runtime.discovered_servers(), runtime.list_servers_sync())
print([tool["name"] for tool in await runtime.list_tools("one")][:2], runtime.describe_server("one")["alias"])
print(runtime.list_loaded_server_metadata()[0]["tools"][0]["input_schema"]["required"])
print((await runtime.query_tool_docs("one", "add"))[0])
print([doc["tool"] for doc in await runtime.search_tool_docs("add two numbers", limit=1)])
print(runtime.search_tool_docs_sync("numbers", detail="full")[0]["input_schema"]["type"])
print(runtime.capability_summary().splitlines()[-1])
"""
    assert lines(peer, "runtime", code) == [
        "{'sum': 4} add add",
        "{'sum': 2}",
        "('one',) ('one', 'two') ('one',)",
        "['add', 'echo'] one",
        "['a', 'b']",
        "{'server': 'one', 'tool': 'add', 'alias': 'add', 'call': 'await mcp_one.add(...)',"
        " 'description': 'Adds two numbers.'}",
        "['add']",
        "object",
        "one: 11 tools",
    ]


@pytest.mark.slow
def test_errors_name_the_server_and_the_rule(peer: Client) -> None:
    code = """
from mcp.runtime import MCPError, call_tool, describe_server
for call in (
    lambda: mcp_one.nothing(), lambda: mcp_one.fails(), lambda: call_tool("two", "add"), lambda: call_tool("one", ""),
    lambda: call_tool("one", "add", [1]),
):
    try:
        await call()
    except MCPError as error:
        print(isinstance(error, RuntimeError), str(error).splitlines()[0][:60])
"""
    assert lines(peer, "errors", code) == [
        "True server 'one' has no tool 'nothing'; it has add, echo, wrong,",
        "True the server said no",
        "True MCP server two is not loaded; loaded are: one",
        "True Missing tool name",
        "True Arguments must be an object",
    ]
    output = peer.run("unknown", "from mcptools.code_mode import load; load(['three'], globals())")
    assert output.outcome is not None
    assert output.outcome["message"] == "MCPError: Unknown MCP server: three; registered are: one, two"
    output = peer.run("odd", "from mcptools.code_mode import load; load(['a\\u2028b\\ud800\\x01'], globals())")
    assert output.outcome is not None
    assert output.outcome["message"] == r"MCPError: Unknown MCP server: a\u2028b\ud800\x01; registered are: one, two"


def test_servers_that_an_execution_names_are_there(peer: Client) -> None:
    code = "print((await mcp_one.add(a=1, b=1))['structuredContent'], '_load' in globals())"
    output = peer.run("named", code, session="named", servers=["one", "two"])
    assert output.text("stdout") == "{'sum': 2} False\n", output.outcome
    peer.run("named-again", "print(LOADED_MCP_SERVERS)", session="named")
    assert peer.output("named-again").text("stdout") == "('one', 'two')\n"


@pytest.mark.slow
def test_servers_in_other_pods_are_there_too(peer: Client) -> None:
    share(peer, {"far": TOOLS})
    code = """
import mcp.runtime as runtime
print((await mcp_far.add(a=1, b=1))['structuredContent'], (await mcp_one.add(a=1, b=2))['structuredContent'])
print(LOADED_MCP_SERVERS, runtime.discovered_servers())
"""
    output = peer.run("far", code, session="far", servers=["far", "one"])
    assert output.text("stdout").splitlines() == ["{'sum': 2} {'sum': 3}", "('far', 'one') ('one', 'two', 'far')"]
    share(peer, {})


@pytest.mark.slow
def test_a_server_that_is_unknown_ends_the_execution_before_its_code(peer: Client) -> None:
    output = peer.run("unknown-named", "print(1)", session="unknown", servers=["one", "three"])
    assert output.text("stdout") == ""
    assert output.outcome is not None
    assert output.outcome["message"] == "MCPError: Unknown MCP server: three; registered are: one, two"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"servers": "one"}, "servers: must be a list of at most 16 names"),
        ({"servers": ["one"] * 17}, "servers: must be a list of at most 16 names"),
        ({"servers": [1]}, "servers[0]: must be a text"),
        ({"servers": ["one"], "language": "nodejs"}, "servers: is for language python alone"),
    ],
)
def test_names_of_servers_are_a_short_list_for_python(peer: Client, more: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused) as refused:
        peer.run("never", "print(1)", **more)
    assert words in str(refused.value)


@pytest.mark.slow
def test_a_shared_server_is_loaded_beside_one_of_the_sandbox_and_alone(tmp_path: Path) -> None:
    running = Running(tmp_path)
    peer = running.client()
    share(peer, {"github": TOOLS})
    code = "print((await mcp_github.add(a=40, b=2))['structuredContent'], LOADED_MCP_SERVERS)"
    alone = peer.run("alone", code, session="alone", servers=["github"])
    assert alone.text("stdout") == "{'sum': 42} ('github',)\n", alone.outcome
    peer.ask("mcp_register", timeout=60, name="one", command=sys.executable, args=[SERVER], api=False)
    both = peer.run("both", code, session="both", servers=["one", "github"])
    assert both.text("stdout") == "{'sum': 42} ('one', 'github')\n", both.outcome
    running.stop()


def test_aliases() -> None:
    from sandglass_supervisor.mcp_api.mcptools.code_mode import _aliases

    assert _aliases(["get-issue", "get_issue", "class", "2fa", "\u00e9", ""]) == [
        "get_issue",
        "get_issue_2",
        "class_",
        "_2fa",
        "_",
        "__2",
    ]


@pytest.mark.slow
def test_a_server_is_found_by_the_name_of_a_configuration(peer: Client) -> None:
    code = """
from mcp import runtime
print(mcp_servers["One"], "One" in mcp_servers, "three" in mcp_servers, mcp_servers.get("three"), list(mcp_servers))
print((await runtime.call_tool("One", "add", {"a": 1, "b": 2}))["structuredContent"])
print(runtime.describe_server("One")["name"])
for name in ("three", "Th-ree"):
    try:
        mcp_servers[name]
    except KeyError as error:
        print(error)
"""
    shown = "<MCP server one: add, echo, wrong, fails, slow, big, dies, env, pid, grows, values>"
    assert lines(peer, "raw", code) == [
        f"{shown} True False None ['one']",
        "{'sum': 3}",
        "one",
        "'three'",
        "'Th-ree'",
    ]
