"""Code in a sandbox uses servers that run in other pods, by way of a gateway."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client, Output
from mcp_link import ASK, Link, register, serve
from mcp_shared import TOOLS, Shared, result, share
from supervisors import Running

from sandglass_supervisor import limits

CALL = "import mcptools\nprint(mcptools.call('github', 'slow'))"


@pytest.fixture
def shared(peer: Client) -> Shared:
    return share(peer, {"github": TOOLS})


@pytest.fixture
def other(running: Running) -> Iterator[Client]:
    """Another gateway."""
    other = running.client()
    share(other, {"github": TOOLS})
    yield other
    if other in running.clients:
        other.close()
        running.clients.remove(other)


def shown(output: Output) -> list[str]:
    assert output.outcome is not None
    assert output.outcome["status"] == "ok", output.text("error") or output.outcome
    return output.text("stdout").splitlines()


def calls(peer: Client, tool: str) -> list[bytes]:
    return [asked.call_id for asked in peer.calls if asked.arguments.get("tool") == tool]


CODE = """
import asyncio
import mcptools
print([(server["name"], server["state"], server.get("shared")) for server in mcptools.servers()])
print(mcptools.search("number", 1))
print(mcptools.describe("github.add")["output_schema"]["required"], len(mcptools.describe("github")["tools"]))
print(mcptools.call("github", "add", {"a": 1, "b": 2}), mcptools.call("github", "echo", {"word": "\u00e9"}))
print(asyncio.run(mcptools.call_async("github", "add", {"a": 2, "b": 2})))
"""


@pytest.mark.parametrize("name", ["kernel", "command"])
def test_servers_describe_search_and_call(peer: Client, shared: Shared, running: Running, name: str) -> None:
    if name == "kernel":
        output = peer.run("shared-kernel", CODE)
    else:
        # In a fresh sandbox no kernel has imported the package yet, and the workspace has none.
        script = running.workspace / "scripts" / "shared.py"
        script.parent.mkdir()
        script.write_text(CODE)
        output = peer.command("shared-command", sys.executable, "scripts/shared.py")
    assert shown(output) == [
        "[('github', 'running', True)]",
        "[{'server': 'github', 'tool': 'add', 'description': 'Adds two numbers.'}]",
        "['sum'] 4",
        "{'sum': 3} {'word': '\u00e9'}",
        "{'sum': 4}",
    ], output.text("stderr")
    [first, *_] = [asked for asked in peer.calls if asked.kind == "tool_call"]
    assert first.execution_id == f"shared-{name}"
    assert first.arguments == {"server": "github", "tool": "add", "timeout_s": limits.TIMEOUT_MAX_S}
    assert json.loads(first.blob) == {"a": 1, "b": 2}


ERRORS = """
import mcptools
for server, tool in [("nothing", "add"), *(("github", f"is_{code}") for code in %r)]:
    try:
        mcptools.call(server, tool)
    except mcptools.ToolRunnerError as error:
        print(type(error).__name__, str(error).splitlines()[0])
"""


@pytest.mark.slow
def test_problems_are_exceptions_with_what_to_do(peer: Client, shared: Shared) -> None:
    serve(peer)
    codes = ["no_tool", "not_allowed", "too_many", "timeout", "too_large", "not_running", "failed", "internal"]
    lines = shown(peer.run("problems", ERRORS % codes, timeout=60))
    own = "there is no MCP server 'nothing' in this sandbox; registered are: one"
    assert lines == [
        f"NoSuchServer {own}; no server 'nothing' is shared with this sandbox",
        "NoSuchTool words of is_no_tool",
        "NotAllowed words of is_not_allowed",
        "TooManyCalls words of is_too_many",
        "ToolTimeout words of is_timeout; give timeout_s for another limit",
        "ResultTooLarge words of is_too_large",
        "ServerNotRunning words of is_not_running",
        "ToolError words of is_failed",
        "ToolRunnerError the gateway could not carry out the call, try again later (internal): words of is_internal",
    ]


@pytest.mark.slow
def test_a_server_of_the_sandbox_hides_a_shared_one(peer: Client, shared: Shared) -> None:
    register(peer, "github")
    code = """
import mcptools
print([(server["name"], server.get("shared")) for server in mcptools.servers()])
print(mcptools.call("github", "pid") > 0, len(mcptools.describe("github")["tools"]))
from mcptools.github import pid
"""
    assert shown(peer.run("hidden", code, timeout=60)) == ["[('github', None)]", "True 11"]
    assert {asked.kind for asked in peer.calls} == {"tool_servers"}
    peer.ask("mcp_remove", name="github")
    again = "import mcptools; print(mcptools.call('github', 'add', {'a': 1, 'b': 1}))"
    assert shown(peer.run("not-hidden", again)) == ["{'sum': 2}"]


def test_a_result_above_the_bound(peer: Client, shared: Shared) -> None:
    fits = limits.MCP_RESULT_BYTES - len(result("")[1])
    code = f"""
import mcptools
print(len(mcptools.call("github", "big", {{"bytes": {fits}}})))
try:
    mcptools.call("github", "big", {{"bytes": {fits + 1}}})
except mcptools.ResultTooLarge as error:
    print(error)
"""
    lines = shown(peer.run("big", code))
    assert (lines[0], "at most 4194304 are taken" in lines[1]) == (str(fits), True)


def test_many_calls_at_once(peer: Client, shared: Shared) -> None:
    share(peer, {"github": TOOLS, "gitlab": TOOLS, "gitea": TOOLS})
    code = """
import asyncio, mcptools
from concurrent.futures import ThreadPoolExecutor
names = ["github", "gitlab", "gitea"]
given = [(names[n % 3], "add", {"a": n, "b": 0}) for n in range(300)]
tasks = await asyncio.gather(*(mcptools.call_async(*one) for one in given[:200]))
with ThreadPoolExecutor(100) as threads:
    tasks += threads.map(lambda one: mcptools.call(*one), given[200:])
print([task["sum"] for task in tasks] == [*range(300)])
"""
    assert shown(peer.run("many", code, timeout=60)) == ["True"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["interrupt", "task", "process", "end"])
def test_a_call_that_is_given_up_is_withdrawn(peer: Client, shared: Shared, how: str) -> None:
    task = "import asyncio, mcptools\nawait asyncio.wait_for(mcptools.call_async('github', 'slow'), 1.5)"
    thread = f"import threading\nthreading.Thread(target=lambda: exec({CALL!r}), daemon=True).start()"
    if how == "process":
        peer.ask("command", execution_id="given-up-process", command=sys.executable, args=["-c", CALL], attach=True)
    else:
        peer.start(f"given-up-{how}", {"task": task, "end": thread}.get(how, CALL))
    if how != "end":
        peer.until(lambda: calls(peer, "slow"), PATIENCE, "the call")
    if how in ("interrupt", "process"):
        peer.ask("interrupt", execution_id=f"given-up-{how}")
    outcome = peer.finish(f"given-up-{how}").outcome
    assert outcome is not None
    assert outcome["status"] == {"interrupt": "interrupted", "process": "interrupted", "task": "error"}.get(how, "ok")
    peer.until(lambda: peer.withdrawn == calls(peer, "slow"), PATIENCE, "word of the withdrawal")


def test_the_gateway_that_has_the_call_ends(peer: Client, other: Client, running: Running) -> None:
    """It reads the execution, so the call comes to it; another one is there all the time."""
    code = "import mcptools\ntry:\n    mcptools.call('github', 'slow')\nexcept mcptools.Unreachable as e:\n    print(e)"
    other.ask("execute", code.encode(), execution_id="lost", attach=True)
    other.until(lambda: calls(other, "slow"), PATIENCE, "the call")
    other.close()
    running.clients.remove(other)
    peer.ask("attach", execution_id="lost")
    assert peer.finish("lost").text().startswith("the gateway that had the call is gone; whether")
    assert peer.calls == []
    share(peer, {"github": TOOLS})
    assert shown(peer.run("found", "import mcptools; print(mcptools.call('github', 'echo', {}))")) == ["{}"]


@pytest.mark.slow
def test_a_run_in_the_background_waits_for_a_gateway(own: Running) -> None:
    first = own.ready()
    code = "import mcptools; print(mcptools.call('github', 'add', {'a': 1, 'b': 2}))"
    first.start("background", code, attach=False)
    first.until(lambda: first.ask("list")["executions"][-1]["state"] == "running", PATIENCE, "the beginning")
    first.close()
    own.clients.remove(first)
    second = own.client()
    second.hello()
    share(second, {"github": TOOLS})
    second.ask("attach", execution_id="background")
    assert shown(second.finish("background")) == ["{'sum': 3}"]
    assert second.calls[-1].execution_id == "background"


@pytest.mark.slow
def test_without_a_gateway_for_such_calls_the_code_is_told(tmp_path: Path) -> None:
    running = Running(tmp_path, limits={"MCP_GATEWAY_S": 0.3})
    try:
        peer = running.client()
        peer.hello("other_kind")
        code = """
import mcptools, warnings
warnings.simplefilter("error")
for work in (lambda: mcptools.call("github", "add"), lambda: mcptools.describe("github"), mcptools.servers):
    try:
        work()
    except (mcptools.Unreachable, RuntimeWarning) as error:
        print(type(error).__name__, str(error).splitlines()[0])
"""
        words = "those that sandboxes share are reached by way of a gateway, and none was there for 0.3 s"
        own = "there is no MCP server 'github' in this sandbox; registered are: none"
        assert shown(peer.run("nobody", code)) == [
            *[f"Unreachable {own}; {words}"] * 2,
            f"RuntimeWarning servers that sandboxes share are not listed: {words}",
        ]
    finally:
        running.stop()


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_a_process_of_no_execution_reaches_servers_of_the_sandbox_alone(
    peer: Client, link: Link, shared: Shared
) -> None:
    assert link.call("add", a=1, b=2)["result"]["structuredContent"] == {"sum": 3}
    for answer in (link.call("add", server="github"), link.ask(op="describe", server="github")):
        assert answer["error"]["kind"] == "no_server"
        assert "reached from an execution while it runs" in answer["error"]["message"]
    told = link.ask(op="servers")["result"]
    assert [server["name"] for server in told["servers"]] == ["one"]
    assert "reached from an execution while it runs" in told["note"]
    assert peer.calls == []


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["op='call', server='github', tool='echo'", "op='describe', server='github'"])
def test_an_execution_has_a_number_of_calls_and_of_questions(peer: Client, shared: Shared, asked: str) -> None:
    code = f"""{ASK}
answers = [ask({asked}) for _ in range({limits.MCP_CALLS_OF_EXECUTION + 1})]
print([answer.get("error", {{}}).get("kind") for answer in answers].index("too_many"))
print("result" in ask({"op='servers'" if "call" in asked else asked.replace("describe", "call") + ", tool='echo'"}))
"""
    assert shown(peer.run(asked[4:8], code, timeout=60)) == [str(limits.MCP_CALLS_OF_EXECUTION), "True"]


def test_what_is_no_answer_is_an_error_of_the_call(peer: Client, shared: Shared) -> None:
    answers: Iterator[tuple[dict[str, Any], bytes]] = iter(
        [({}, b"[]"), ({}, b'{"a":NaN}'), ({"x": 1}, b""), ({"error": "odd"}, b"")]
    )
    peer.answering = lambda _: next(answers)
    code = f"{ASK}\nfor _ in range(4): print(call('echo', server='github')['error']['kind'])"
    assert shown(peer.run("odd", code)) == ["failed"] * 4


def test_no_gateway_hears_what_it_was_not_asked(peer: Client, other: Client, shared: Shared) -> None:
    """Gateways that have no call of the pod hear nothing, however long a call waits."""
    peer.start("quiet", CALL)
    peer.until(lambda: calls(peer, "slow"), PATIENCE, "the call")
    other.ask("list")
    assert other.calls == []
    assert other.withdrawn == []
    [call_id] = calls(peer, "slow")
    peer.give(call_id, *result("done"))
    assert shown(peer.finish("quiet")) == ["done"]
    assert peer.withdrawn == []
