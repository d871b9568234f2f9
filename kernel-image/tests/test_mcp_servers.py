"""MCP servers in a sandbox: registered over the link, called through the socket."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client, Refused
from mcp_link import ASK, Link, register, serve
from supervisors import Running

from sandglass_supervisor import limits


def test_what_a_registration_tells(peer: Client, running: Running) -> None:
    told = register(peer)
    assert told["name"] == "one"
    assert told["server_info"] == {"name": "test", "version": "1.0", "protocol_version": "2025-11-25"}
    assert told["folder"] == f"{running.workspace}/mcptools/one"
    assert told["tools"][:2] == [
        {"name": "add", "module": "add", "description": "Adds two numbers."},
        {"name": "echo", "module": "echo", "description": "echo"},
    ]
    listed = peer.ask("mcp_list")["servers"]
    assert [(server["name"], server["state"], server["command"]) for server in listed] == [
        ("one", "running", sys.executable)
    ]
    peer.ask("mcp_remove", name="one")
    assert peer.ask("mcp_list") == {"servers": []}
    with pytest.raises(Refused, match="there is no MCP server 'one'"):
        peer.ask("mcp_remove", name="one")


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_results_and_errors_of_tools(link: Link) -> None:
    assert link.call("add", a=1, b=2)["result"]["structuredContent"] == {"sum": 3}
    assert link.call("wrong")["result"]["isError"] is True
    assert link.call("fails")["error"] == {"kind": "failed", "message": "the server said no"}
    unknown = link.call("nothing")["error"]
    assert unknown["kind"] == "no_tool"
    assert "it has add, echo" in unknown["message"]
    assert link.call("add", server="two")["error"]["message"].count("registered are: one;")


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_any_text_arrives_unchanged(link: Link) -> None:
    words = "caf\u00e9 \U0001f600 \u202e \x1b[31m \0"
    assert json.loads(link.call("echo", words=words)["result"]["content"][0]["text"]) == {"words": words}
    half = link.call("echo", words="\ud800")["error"]
    assert (half["kind"], "half a character" in half["message"]) == ("bad_request", True)


TYPED = """
import asyncio
import mcptools
from mcptools import ToolError
from mcptools.one.add import Params, run, run_async
from mcptools.one import echo, wrong
print(run(Params(a=1, b=2)).sum)
async def many():
    return [result.sum for result in await asyncio.gather(*(run_async(Params(a=n, b=1)) for n in range(20)))]
print(await many() == list(range(1, 21)))
print(echo.run(echo.Params(word="caf\u00e9")))
try:
    wrong.run(wrong.Params())
except ToolError as error:
    print(error)
print(mcptools.call("one", "add", {"a": 2, "b": 2}))
try:
    Params(a="x", b=2)
except ValueError as error:
    print("one validation" if "a" in str(error) else error)
"""


def test_the_typed_functions_that_a_kernel_imports(peer: Client) -> None:
    register(peer)
    output = peer.run("typed", TYPED, timeout=60)
    assert output.text("stdout").splitlines() == [
        "3.0",
        "True",
        '{"word": "caf\\u00e9"}',
        "that is not how it works",
        "{'sum': 4}",
        "one validation",
    ], output.text("stderr") or output.outcome


@pytest.mark.slow
def test_a_kernel_that_has_the_old_functions_gets_new_ones_after_a_registration(peer: Client) -> None:
    register(peer)
    peer.run("first", "from mcptools.one.add import run, Params; print(run(Params(a=1, b=1)).sum)", timeout=60)
    register(peer)
    again = peer.run("second", "import mcptools.one.pid as pid; print(pid.run(pid.Params()).isdigit())", timeout=60)
    assert again.text("stdout") == "True\n", again.outcome


@pytest.mark.slow
def test_an_interrupt_cancels_the_call_at_the_server(peer: Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    serve(peer, "one", "well", str(notes))
    code = "import mcptools; print('begins', flush=True); mcptools.call('one', 'slow', {'seconds': 60})"
    peer.start("interrupted", code)
    peer.until(lambda: peer.output("interrupted").text("stdout") == "begins\n", PATIENCE, "the beginning")
    # Of a call that was not sent yet the server would hear nothing.
    peer.until(Path(f"{notes}.begun").exists, PATIENCE, "the call at the server")
    peer.ask("interrupt", execution_id="interrupted")
    ended = peer.finish("interrupted").outcome
    assert ended is not None
    assert ended["status"] == "interrupted"
    peer.until(notes.exists, PATIENCE, "word of the cancellation")
    assert peer.run("after", "print(mcptools.call('one', 'add', {'a': 1, 'b': 1}))").text("stdout") == "{'sum': 2}\n"


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_describe_and_servers(link: Link) -> None:
    (server,) = link.ask(op="servers")["result"]["servers"]
    assert server["tools"][1] == {"name": "echo", "description": "echo"}
    described = link.ask(op="describe", server="one", tool="add")["result"]["tools"]
    assert described[0]["output_schema"]["required"] == ["sum"]
    assert link.ask(op="describe", server="one", tool="nothing")["error"]["kind"] == "no_tool"


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_many_calls_at_once_and_one_too_many(link: Link) -> None:
    for number in range(limits.MCP_CALLS):
        link.send(id=number, op="call", server="one", tool="slow", arguments={"seconds": 5})
    link.send(id=99, op="call", server="one", tool="slow", arguments={"seconds": 1})
    first = link.receive()
    assert (first["id"], first["error"]["kind"]) == (99, "too_many")
    answers = [link.receive() for _ in range(limits.MCP_CALLS)]
    assert sorted(answer["id"] for answer in answers) == list(range(limits.MCP_CALLS))
    assert all(answer["result"]["content"][0]["text"] == "slept" for answer in answers)


@pytest.mark.slow
def test_a_call_that_takes_too_long_is_given_up_and_cancelled(peer: Client, link: Link, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    serve(peer, "one", "well", str(tmp_path / "notes"))
    late = link.call("slow", timeout_s=1, seconds=30)["error"]
    assert late["kind"] == "timeout"
    assert "within 1 s" in late["message"]
    peer.until((tmp_path / "notes").exists, PATIENCE, "word of the cancellation")
    assert link.call("add", a=1, b=1)["result"]["structuredContent"] == {"sum": 2}


@pytest.mark.slow
def test_cancel_and_a_closed_connection(peer: Client, running: Running, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    serve(peer, "one", "well", str(notes))
    link = Link(running)
    link.send(id=4, op="call", server="one", tool="slow", arguments={"seconds": 30})
    link.send(id=4, op="cancel")
    assert link.receive()["error"]["kind"] == "cancelled"
    link.send(id=5, op="call", server="one", tool="slow", arguments={"seconds": 30})
    assert link.call("add", a=1, b=1)["result"]  # so the other one has reached the server
    link.send(id=5, op="cancel")
    link.send(id=6, op="cancel")
    assert link.receive()["error"]["kind"] == "cancelled"
    link.send(id=7, op="call", server="one", tool="slow", arguments={"seconds": 30})
    assert link.call("add", a=1, b=1)["result"]
    link.close()
    # The first may have been taken back before the server saw it.
    peer.until(lambda: notes.exists() and notes.read_text().count("cancelled") >= 2, PATIENCE, "two cancellations")


@pytest.mark.slow
def test_the_end_of_an_execution_cancels_its_calls(peer: Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    serve(peer, "one", "well", str(notes))
    code = ASK + "import threading; threading.Thread(target=call, args=('slow',), kwargs={'seconds': 30}).start()\n"
    peer.run("leaves-a-call", code + f"import os, time\nwhile not os.path.exists('{notes}.begun'): time.sleep(0.01)")
    peer.until(notes.exists, PATIENCE, "word of the cancellation")


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_an_execution_has_a_number_of_calls(peer: Client) -> None:
    many = (
        f"kinds = [call('nothing').get('error', {{}}).get('kind') for _ in range({limits.MCP_CALLS_OF_EXECUTION + 1})]"
    )
    output = peer.run("too-many", f"{ASK}\n{many}\nprint(kinds[-2:])", timeout=60)
    assert output.text("stdout").strip() == "['no_tool', 'too_many']"
    assert peer.run("next", "print(call('add', a=1, b=2)['result']['structuredContent'])").text("stdout") == (
        "{'sum': 3}\n"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_the_end_of_an_execution_names_the_tools_that_it_called(peer: Client) -> None:
    code = "[call('add', a=1, b=2) for _ in range(3)]; call('wrong'); call('nothing'); call('add', server='two')"
    ended = peer.run("calls", f"{ASK}\n{code}").outcome
    assert ended is not None
    assert ended["tools"] == [
        {"server": "one", "tool": "add", "calls": 3},
        {"server": "one", "tool": "wrong", "calls": 1},
    ]
    none = peer.run("calls-none", "1").outcome
    assert none is not None
    assert "tools" not in none


@pytest.mark.usefixtures("server_one")
def test_commands_and_node_may_call(peer: Client) -> None:
    code = f"{ASK}\nprint(call('add', a=2, b=2)['result']['structuredContent'])"
    assert peer.command("by-command", sys.executable, "-c", code).text("stdout") == "{'sum': 4}\n"
    shown = peer.run("node", "console.log(typeof process.env.SANDGLASS_MCP_SOCKET)", language="nodejs")
    assert shown.text("stdout") == "string\n"


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_a_result_at_the_bound_and_one_above(link: Link) -> None:
    result = {"content": [{"type": "text", "text": ""}], "isError": False}
    around = len(json.dumps(result, separators=(",", ":")))
    fits = limits.MCP_RESULT_BYTES - around
    assert len(link.call("big", bytes=fits)["result"]["content"][0]["text"]) == fits
    assert link.call("big", bytes=fits + 1)["error"]["kind"] == "too_large"
    assert link.call("add", a=1, b=1)["result"]


@pytest.mark.slow
def test_a_server_that_dies_says_its_last_words_and_comes_back(peer: Client, link: Link) -> None:
    serve(peer)
    before = link.call("pid")["result"]["content"][0]["text"]
    ended = link.call("dies")["error"]
    assert ended["kind"] == "not_running"
    assert 'its last words were "no more of this". The next call starts it anew.' in ended["message"]
    after = link.call("pid")["result"]["content"][0]["text"]
    assert after != before


@pytest.mark.slow
def test_a_server_whose_tools_change(peer: Client, link: Link) -> None:
    register(peer)
    assert link.call("late")["error"]["kind"] == "no_tool"
    assert link.call("grows")["result"]
    peer.until(lambda: link.call("late").get("error", {}).get("kind") == "failed", PATIENCE, "the new tool")
    peer.until(lambda: peer.ask("mcp_list")["servers"][0]["tools"][-1]["module"] == "late", PATIENCE, "its module")


@pytest.mark.slow
def test_tools_that_do_not_follow_mcp_are_left_out_alone(peer: Client, link: Link) -> None:
    notes = register(peer, "one", "odd")["notes"]
    assert any("left out, since they do not follow MCP's schema of a tool: 9. " in note for note in notes), notes
    assert link.call("add", a=1, b=2)["result"]["structuredContent"] == {"sum": 3}
    assert link.call("untyped")["error"]["kind"] == "no_tool"


@pytest.mark.slow
def test_env_reaches_the_server_alone(peer: Client, link: Link) -> None:
    serve(peer, env={"KEY": "s3cret"})
    assert link.call("env", name="KEY")["result"]["content"][0]["text"] == "s3cret"
    assert link.call("env", name="GREETING")["result"]["content"][0]["text"] == "hi"
    assert "s3cret" not in json.dumps(peer.ask("mcp_list"))
    assert peer.run("env", "import os; print(os.environ.get('KEY'))").text("stdout") == "None\n"


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
@pytest.mark.parametrize(
    "asked",
    [
        {"op": "nothing"},
        {"op": "call", "server": 1, "tool": "x"},
        {"op": "call", "server": "one", "tool": "add", "arguments": []},
        {"op": "call", "server": "one", "tool": "add", "timeout_s": 0},
        {"op": "call", "server": "one", "tool": "x" * 257},
    ],
)
def test_bad_requests_of_code(link: Link, asked: dict[str, Any]) -> None:
    assert link.ask(**asked)["error"]["kind"] == "bad_request"
