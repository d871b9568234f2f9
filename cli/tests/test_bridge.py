"""The bridge between a client on standard streams and the endpoint, message by message."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.bridges import INITIALIZED, SESSION, Gateway, call, initialize, wait_until
from tests.endpoint import PATIENCE, TOKEN, Json, Reply, result
from tests.test_library import STARTED, STOPPED, absent


def test_messages_pass_unchanged_with_the_headers_of_the_older_revisions(gateway: Gateway, bridges: Any) -> None:
    gateway.tools["sandbox_run_code"] = lambda _: result(text="two\nlines é")
    bridge = bridges()
    assert bridge.ask(initialize())["result"] == INITIALIZED
    bridge.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    answer = bridge.ask(call("a", "sandbox_run_code", {"sandbox": "x", "code": "1"}))
    assert (answer["id"], answer["result"]["content"][0]["text"]) == ("a", "two\nlines é")
    assert bridge.ask({"jsonrpc": "2.0", "id": 3, "method": "nonsense"})["error"]["code"] == -32601
    assert bridge.end() == (0, b"", "")
    asked = [each for each in gateway.endpoint.received if each.message["method"] != "initialize"]
    assert {each.headers.get("mcp-protocol-version") for each in asked} == {"2025-11-25"}
    assert {each.headers.get("mcp-session-id") for each in asked} == {SESSION}
    assert {each.path for each in gateway.endpoint.received} == {"/mcp"}


@pytest.mark.slow
def test_requests_of_the_newest_revision_have_its_headers(gateway: Gateway, bridges: Any) -> None:
    gateway.tools["größe"] = lambda _: result(text="ok")
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    bridge = bridges()
    assert bridge.ask(call(1, "größe", {}, **meta))["result"]["content"][0]["text"] == "ok"
    bridge.end()
    headers = gateway.endpoint.received[0].headers
    assert [headers.get(name) for name in ("mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id")] == [
        "2026-07-28", "tools/call", "=?base64?Z3LDtsOfZQ==?=", None
    ]  # fmt: skip


def test_progress_comes_before_the_answer_and_calls_run_side_by_side(gateway: Gateway, bridges: Any) -> None:
    hold = threading.Event()
    told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 7, "progress": 1}}
    slow = [told, {"jsonrpc": "2.0", "id": "?", "result": result(text="slow")}]
    gateway.tools["slow"] = lambda _: Reply(events=list(slow), hold=hold)
    gateway.tools["quick"] = lambda _: result(text="quick")
    bridge = bridges()
    assert bridge.ask(call(1, "slow", {}, progressToken=7)) == told
    assert bridge.ask(call(2, "quick", {}))["id"] == 2
    hold.set()
    assert bridge.receive()["id"] == 1
    bridge.end()


def test_a_cancelled_call_loses_its_connection_and_has_no_answer(gateway: Gateway, bridges: Any) -> None:
    hold = threading.Event()
    events: list[Json | bytes] = [b": keep-alive", {"jsonrpc": "2.0", "id": "?", "result": result(text="late")}]
    gateway.tools["slow"] = lambda _: Reply(events=list(events), hold=hold)
    gateway.tools["quick"] = lambda _: result(text="quick")
    bridge = bridges()
    bridge.send(call(1, "slow", {}))
    wait_until(lambda: len(gateway.endpoint.received) == 1)
    bridge.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    assert bridge.ask(call(2, "quick", {}))["id"] == 2
    hold.set()
    assert bridge.ask(call(3, "quick", {}))["id"] == 3
    assert bridge.end()[1] == b""


@pytest.mark.slow
def test_what_cannot_run_twice_is_told_and_the_rest_is_tried_again(gateway: Gateway, bridges: Any) -> None:
    broken = iter([True, True])
    gateway.tools["sandbox_run_code"] = lambda _: Reply(breaks=True)
    gateway.tools["sandbox_list"] = lambda _: Reply(breaks=True) if next(broken, False) else result(text="listed")
    bridge = bridges()
    failed = bridge.ask(call(1, "sandbox_run_code", {}))
    assert failed["result"]["isError"] is True
    assert "It may have run" in failed["result"]["content"][0]["text"]
    assert bridge.ask(call(2, "sandbox_list", {}))["result"]["content"][0]["text"] == "listed"
    bridge.end()
    assert [each.tool for each in gateway.endpoint.received] == ["sandbox_run_code"] + ["sandbox_list"] * 3


@pytest.mark.slow
@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff", b'{"id": 1}', b"1" * 100])
def test_a_line_that_is_no_message_is_answered_and_the_next_one_counts(
    gateway: Gateway, bridges: Any, line: bytes
) -> None:
    bridge = bridges()
    assert bridge.ask(line)["error"]["code"] in (-32700, -32600)
    assert bridge.ask(initialize())["id"] == 0
    bridge.end()


@pytest.mark.slow
def test_a_line_that_is_too_long_is_refused_and_the_next_one_counts(gateway: Gateway, bridges: Any) -> None:
    bridge = bridges()
    refused = bridge.ask(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (33 * 1024 * 1024) + b'"}')
    assert "at most 16777216 bytes" in refused["error"]["message"]
    assert bridge.ask(initialize())["id"] == 0
    bridge.end()


@pytest.mark.slow
def test_a_key_that_is_refused_is_an_error_of_the_request(gateway: Gateway, bridges: Any) -> None:
    bridge = bridges(SANDGLASS_TOKEN="sgk_wrong")
    answer = bridge.ask(initialize())
    assert (answer["id"], answer["error"]["message"]) == (0, "Unauthorized: the API key is not valid")
    assert "sgk_wrong" not in str(bridge.end())


@pytest.mark.slow
def test_a_drop_in_contract_has_a_sandbox_of_its_own_that_ends_with_standard_input(
    gateway: Gateway, bridges: Any
) -> None:
    gateway.tools["execute"] = lambda _: result(text="{}")
    bridge = bridges("--contract", "ipython", MCP_TOOL_TIMEOUT="60000")
    bridge.ask(initialize())
    bridge.ask(call(1, "execute", {"session": "a", "code": "1"}))
    bridge.ask(call(2, "execute", {"session": "a", "code": "1", "timeout_s": 3}))
    assert bridge.end()[0] == 0
    started = gateway.endpoint.calls("sandbox_start")
    name = started[0]["sandbox"]
    assert started[0]["config"] == {"allowed_domains": ["*"]}
    assert gateway.endpoint.calls("sandbox_stop") == [{"sandbox": name, "delete": True}]
    executed = [each for each in gateway.endpoint.received if each.tool == "execute"]
    assert {each.path for each in executed} == {f"/mcp/ipython?sandbox={name}"}
    assert [each.arguments.get("timeout_s") for each in executed] == [58, 3]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_runs_and_the_sandbox(gateway: Gateway, bridges: Any, number: int) -> None:
    hold = threading.Event()
    events: list[Json | bytes] = [b": keep-alive", {"jsonrpc": "2.0", "id": "?", "result": result(text="late")}]
    gateway.tools["execute"] = lambda _: Reply(events=list(events), hold=hold)
    bridge = bridges("--contract", "ipython")
    bridge.send(call(1, "execute", {}))
    wait_until(lambda: any(each.tool == "execute" for each in gateway.endpoint.received))
    bridge.process.send_signal(number)
    assert bridge.process.wait(PATIENCE) == 0
    hold.set()
    assert len(gateway.endpoint.calls("sandbox_stop")) == 1
    assert bridge.end()[1] == b""


@pytest.mark.slow
def test_a_named_sandbox_is_kept(gateway: Gateway, bridges: Any) -> None:
    gateway.tools["execute"] = lambda _: result(text="{}")
    bridge = bridges("--contract", "ipython", "--name", "mine", "-n", "team-a")
    bridge.ask(call(1, "execute", {}))
    bridge.end()
    assert gateway.endpoint.calls("sandbox_stop") == []
    executed = next(each for each in gateway.endpoint.received if each.tool == "execute")
    assert executed.path == "/mcp/ipython?sandbox=mine&namespace=team-a"


@pytest.mark.slow
def test_a_named_sandbox_that_does_not_start_is_deleted_if_this_bridge_made_it(gateway: Gateway, bridges: Any) -> None:
    there: list[Json] = [{"namespace": "default", "name": "mine", "state": "starting", "detail": None}]
    there[0] |= {"sessions": None, "executions": None}
    made = there[0]

    def start(_: Json) -> Json:
        there[:] = [made]
        return result(text="Error: Sandbox start failed: no such image.", is_error=True)

    def stop(_: Json) -> Json:
        there.clear()
        return STOPPED

    listed = lambda _: result({"sandboxes": list(there)}) if there else absent("mine")  # noqa: E731
    gateway.tools |= {"sandbox_start": start, "sandbox_stop": stop, "sandbox_list": listed}
    arguments = ("--contract", "code-mode", "--name", "mine")
    bridge = bridges(*arguments)
    told = bridge.ask(call(1, "run_python", {"code": "1"}))["result"]["content"][0]["text"]
    bridge.end()
    assert told == "Error: Sandbox start failed: no such image."
    assert gateway.endpoint.calls("sandbox_stop") == []
    there.clear()
    bridge = bridges(*arguments)
    told = bridge.ask(call(1, "run_python", {"code": "1"}))["result"]["content"][0]["text"]
    assert told.endswith("no such image. The sandbox that this start made was deleted again.")
    bridge.end()
    assert {"sandbox": "mine", "delete": True} in gateway.endpoint.calls("sandbox_stop")


@pytest.mark.slow
def test_where_the_network_cannot_be_open_the_sandbox_starts_closed_with_a_warning(
    gateway: Gateway, bridges: Any
) -> None:
    def start(arguments: Json) -> Json:
        if "allowed_domains" in arguments.get("config", {}):
            return result(text="Error: '*' is not allowed here", is_error=True)
        return STARTED

    gateway.tools |= {"sandbox_start": start, "execute_ipython_cell": lambda _: result(text="1")}
    bridge = bridges("--contract", "ipybox", KERNEL_ENV_A="1", OTHER="2")
    bridge.ask(call(1, "execute_ipython_cell", {}))
    code, _, errors = bridge.end()
    assert code == 0
    assert errors.count("the network is not open here") == 1
    assert gateway.endpoint.calls("sandbox_start")[1]["config"] == {"envs": {"A": "1"}}


@pytest.mark.slow
def test_a_start_that_fails_is_the_answer_of_the_call_and_tried_again_by_the_next(
    gateway: Gateway, bridges: Any
) -> None:
    answers = iter([result(text="Error: no room on any node", is_error=True), STARTED])
    gateway.tools |= {"sandbox_start": lambda _: next(answers), "run_python": lambda _: result(text="1")}
    bridge = bridges("--contract", "code-mode")
    failed = bridge.ask(call(1, "run_python", {"code": "1"}))
    assert failed["result"]["isError"] is True
    assert failed["result"]["content"][0]["text"] == "Error: no room on any node"
    assert bridge.ask(call(2, "run_python", {"code": "1"}))["result"]["content"][0]["text"] == "1"
    bridge.end()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("message", "message_id"),
    [
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":2,"method":5}', 2),
        (b'{"jsonrpc":"2.0","id":"a"}', "a"),
        (b'{"jsonrpc":"2.0","id":3,"method":""}', 3),
    ],
)
def test_a_request_that_no_endpoint_could_answer_is_answered(
    gateway: Gateway, bridges: Any, message: bytes, message_id: Any
) -> None:
    bridge = bridges()
    bridge.send(message)
    bridge.send({"jsonrpc": "2.0", "id": 9, "result": {}})
    # Without an answer of its own, that of the next request would come first.
    answer = bridge.ask(initialize())
    assert (answer["id"], answer.get("error", {}).get("code")) == (message_id, -32600)
    assert bridge.receive()["id"] == 0
    assert bridge.end()[1] == b""


@pytest.mark.slow
def test_a_failure_of_the_bridge_itself_is_answered_and_its_type_alone_is_logged(
    gateway: Gateway, bridges: Any
) -> None:
    bridge = bridges()
    named = {"name": "secret\ud800", "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    bridge.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": named})
    failed = bridge.ask(initialize())
    assert (failed["id"], failed["result"]["isError"]) == (1, True)
    assert failed["result"]["content"][0]["text"] == (
        "Error: the bridge could not serve this request (UnicodeEncodeError)"
    )
    assert bridge.receive()["id"] == 0
    failed = bridge.ask({"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": named})
    assert (failed["id"], failed["error"]["code"]) == (2, -32603)
    bridge.send({"jsonrpc": "2.0", "method": "notifications/x\ud800", "params": named})
    assert bridge.ask(initialize())["id"] == 0
    code, _, errors = bridge.end()
    assert code == 0
    assert errors.splitlines() == [
        "sandglass: a request could not be served: UnicodeEncodeError",
        "sandglass: a request could not be served: UnicodeEncodeError",
        "sandglass: a notification could not be passed on: UnicodeEncodeError",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_works(gateway: Gateway, tmp_path: Path, mode: Any) -> None:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.types import TextContent

    gateway.tools["execute_ipython_cell"] = lambda _: result(text="2")
    environ = {**os.environ, "SANDGLASS_URL": gateway.endpoint.url, "SANDGLASS_TOKEN": TOKEN}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    arguments = ["-m", "sandglass", "mcp", "--contract", "ipybox"]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environ)

    async def main() -> str:
        async with Client(stdio_client(server), mode=mode) as client:
            answer = await client.call_tool("execute_ipython_cell", {"code": "1+1"})
            part = answer.content[0]
            assert isinstance(part, TextContent)
            return part.text

    assert asyncio.run(main()) == "2"
    wait_until(lambda: gateway.endpoint.calls("sandbox_stop"))
