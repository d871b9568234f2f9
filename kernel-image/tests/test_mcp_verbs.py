"""Calls of tools over the link, as gateways make them for code of other sandboxes."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client, Refused
from mcp_link import SERVER, Link, refusal, serve
from supervisors import Running

from sandglass_supervisor import limits


def tools(peer: Client, server: str = "one") -> dict[str, Any]:
    said, blob = peer.both_to(peer.send("mcp_tools", server=server))
    assert said == {}
    return dict(json.loads(blob))


def send(peer: Client, tool: str, call_id: str = "c", *, timeout_s: float = 20, **arguments: Any) -> bytes:
    blob = json.dumps(arguments).encode()
    return peer.send("mcp_call", blob, server="one", tool=tool, call_id=call_id, timeout_s=timeout_s)


def call(peer: Client, tool: str, **more: Any) -> dict[str, Any]:
    said, blob = peer.both_to(send(peer, tool, **more))
    assert said == {}
    return dict(json.loads(blob))


def problem(peer: Client, tool: str, **more: Any) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        call(peer, tool, **more)
    return refused.value.code, str(refused.value)


@pytest.fixture
def other(running: Running) -> Iterator[Client]:
    """Another gateway."""
    other = running.client()
    other.hello()
    yield other
    if other in running.clients:
        other.close()
        running.clients.remove(other)


@pytest.mark.usefixtures("server_one")
def test_the_tools_of_a_server_with_the_names_of_mcp(peer: Client) -> None:
    told = tools(peer)
    assert (told["server"], told["left_out"], len(told["tools"])) == ("one", 0, 11)
    first = told["tools"][0]
    assert (first["name"], first["description"]) == ("add", "Adds two numbers.\nSecond line.")
    assert first["inputSchema"]["required"] == ["a", "b"]
    assert first["outputSchema"]["required"] == ["sum"]
    assert set(told["tools"][1]) == {"name", "description", "inputSchema"}
    with pytest.raises(Refused, match="no_server: there is no MCP server 'two'"):
        tools(peer, "two")


@pytest.mark.slow
def test_a_call_gives_the_result_as_it_is(peer: Client) -> None:
    serve(peer)
    assert call(peer, "add", a=1, b=2) == {
        "content": [{"type": "text", "text": "the sum"}],
        "structuredContent": {"sum": 3},
        "isError": False,
    }
    assert call(peer, "wrong")["isError"] is True
    assert json.loads(call(peer, "echo", word="\u00e9 \U0001f600")["content"][0]["text"]) == {
        "word": "\u00e9 \U0001f600"
    }
    assert problem(peer, "fails") == ("failed", "failed: the server said no")
    assert problem(peer, "nothing")[0] == "no_tool"
    assert problem(peer, "slow", timeout_s=0.2, seconds=20)[0] == "timeout"
    assert problem(peer, "dies")[0] == "not_running"
    assert call(peer, "add", a=1, b=1)["structuredContent"] == {"sum": 2}
    with pytest.raises(Refused, match="no_server: there is no MCP server 'two'"):
        peer.ask("mcp_call", b"{}", server="two", tool="add", call_id="c", timeout_s=1)


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_a_result_at_the_bound_and_one_above(peer: Client) -> None:
    result = {"content": [{"type": "text", "text": ""}], "isError": False}
    fits = limits.MCP_RESULT_BYTES - len(json.dumps(result, separators=(",", ":")))
    assert len(call(peer, "big", bytes=fits)["content"][0]["text"]) == fits
    assert problem(peer, "big", bytes=fits + 1)[0] == "too_large"
    assert problem(peer, "values", count=limits.MCP_VALUES + 1)[0] == "too_large"


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
def test_many_calls_at_once_and_one_too_many(peer: Client) -> None:
    waiting = [send(peer, "slow", f"c{n}", seconds=5) for n in range(limits.MCP_CALLS)]
    assert problem(peer, "slow", call_id="more", seconds=1)[0] == "too_many"
    assert all(b"slept" in peer.both_to(request)[1] for request in waiting)


def wait_in(peer: Client, call_id: str, at_once: int, **arguments: Any) -> bytes:
    """Send a slow call that says how many the server is to have at a time."""
    blob = json.dumps({"seconds": 60, **arguments}).encode()
    named = {"server": "one", "tool": "slow", "call_id": call_id, "timeout_s": 60}
    return peer.send("mcp_call", blob, at_once=at_once, **named)


@pytest.mark.slow
def test_calls_of_all_gateways_share_one_number_at_a_time(peer: Client, other: Client, tmp_path: Path) -> None:
    begun = tmp_path / "notes.begun"
    serve(peer, "one", "well", str(tmp_path / "notes"))
    first = wait_in(peer, "a", 1)
    peer.until(begun.exists, 20, "the first call at the server")
    second, third = wait_in(other, "a", 1), wait_in(other, "b", 1, seconds=0)
    assert tools(other)["server"] == "one"  # so the supervisor has them
    other.ask("mcp_cancel", call_id="a")
    with pytest.raises(Refused, match="cancelled"):
        other.reply_to(second)
    assert begun.read_text() == "begun\n"
    assert not (tmp_path / "notes").exists()  # of what did not reach it, a server hears nothing
    peer.ask("mcp_cancel", call_id="a")
    with pytest.raises(Refused, match="cancelled"):
        peer.reply_to(first)
    assert b"slept" in other.both_to(third, 20)[1]


@pytest.mark.slow
def test_so_many_calls_wait_for_a_server_and_one_too_many(peer: Client) -> None:
    serve(peer)
    waiting = [wait_in(peer, f"c{n}", 1) for n in range(limits.MCP_CALLS_WAITING)]
    with pytest.raises(Refused, match=f"too_many: {limits.MCP_CALLS_WAITING} calls of server 'one' wait"):
        peer.both_to(wait_in(peer, "more", 1), 20)
    peer.ask("mcp_remove", name="one")
    for request in waiting:
        with pytest.raises(Refused, match="not_running"):
            peer.reply_to(request)


@pytest.mark.slow
def test_the_time_of_a_call_begins_with_its_turn(peer: Client, tmp_path: Path) -> None:
    begun = tmp_path / "notes.begun"
    serve(peer, "one", "well", str(tmp_path / "notes"))
    wait_in(peer, "a", 1)
    peer.until(begun.exists, 20, "the first call at the server")
    late = peer.send("mcp_call", b"{}", server="one", tool="add", call_id="b", timeout_s=0.001, at_once=1)
    after = wait_in(peer, "c", 1, seconds=0)
    assert tools(peer)["server"] == "one"
    assert late not in peer.replies
    peer.ask("mcp_cancel", call_id="a")
    # It is over, in time or late, before the next one begins.
    assert b"slept" in peer.both_to(after, 20)[1]
    assert late in peer.replies


@pytest.mark.slow
def test_a_server_that_is_replaced_ends_its_calls(peer: Client, tmp_path: Path) -> None:
    def pid() -> str:
        return str(call(peer, "pid")["content"][0]["text"])

    begun = tmp_path / "notes.begun"
    serve(peer, "one", "well", str(tmp_path / "notes"))
    first = pid()
    waiting = wait_in(peer, "a", 4)
    peer.until(begun.exists, 20, "the call at the server")
    serve(peer, "one", "well")
    second = pid()
    assert second != first
    assert os.path.exists(f"/proc/{first}")
    assert waiting not in peer.replies
    peer.ask("mcp_cancel", call_id="a")
    peer.until(lambda: not os.path.exists(f"/proc/{first}"), 10, "the end of the one without calls")
    assert pid() == second


@pytest.mark.slow
def test_of_one_name_one_server_at_most_ends_its_calls(peer: Client, tmp_path: Path) -> None:
    serve(peer, "one", "well", str(tmp_path / "one"))
    first = wait_in(peer, "a", 4)
    peer.until((tmp_path / "one.begun").exists, 20, "the call at the server")
    serve(peer, "one", "well", str(tmp_path / "two"))
    second = wait_in(peer, "b", 4)
    peer.until((tmp_path / "two.begun").exists, 20, "the call at the second server")
    serve(peer, "one", "well")
    with pytest.raises(Refused, match="not_running"):
        peer.reply_to(first)
    assert second not in peer.replies
    peer.ask("mcp_remove", name="one")
    with pytest.raises(Refused, match="not_running"):
        peer.reply_to(second)


@pytest.mark.slow
def test_a_call_is_cancelled_by_the_gateway_that_made_it(peer: Client, other: Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    serve(peer, "one", "well", str(notes))
    request = send(peer, "slow", "mine", seconds=30)
    assert call(peer, "add", a=1, b=1)  # so the other one has reached the server
    assert problem(peer, "slow", call_id="mine", seconds=30) == (
        "bad_request",
        "bad_request: call_id: a call of that id waits already; give each another",
    )
    assert other.ask("mcp_cancel", call_id="mine") == {}
    assert call(peer, "add", a=1, b=1)
    assert request not in peer.replies
    assert peer.ask("mcp_cancel", call_id="mine") == {}
    with pytest.raises(Refused, match="cancelled"):
        peer.reply_to(request)
    peer.until(notes.exists, PATIENCE, "word of the cancellation")
    assert peer.ask("mcp_cancel", call_id="mine") == {}


@pytest.mark.slow
def test_the_end_of_a_gateway_cancels_its_calls(peer: Client, other: Client, running: Running, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    serve(peer, "one", "well", str(notes))
    send(other, "slow", seconds=60, timeout_s=60)
    assert call(other, "add", call_id="second", a=1, b=1)
    mine = send(peer, "slow", "mine", seconds=5)
    other.close()
    running.clients.remove(other)
    peer.until(notes.exists, PATIENCE, "word of the cancellation")
    assert b"slept" in peer.both_to(mine)[1]
    assert notes.read_text() == "cancelled\n"


@pytest.mark.slow
@pytest.mark.usefixtures("server_one")
@pytest.mark.parametrize(
    ("given", "blob", "words"),
    [
        ({"server": 7}, b"{}", "server: must be a text"),
        ({"server": "x" * 257}, b"{}", "server: must be a text of 1 to 256 characters"),
        ({"tool": ""}, b"{}", "tool: must be a text of 1 to 256 characters"),
        ({"call_id": "x" * 65}, b"{}", "call_id: must be a text of 1 to 64 characters"),
        ({"call_id": None}, b"{}", "call_id: must be a text"),
        ({"timeout_s": None}, b"{}", "timeout_s: must be a number of seconds"),
        ({"timeout_s": 0}, b"{}", "timeout_s: must be more than 0"),
        ({"at_once": 0}, b"{}", "at_once: must be a whole number from 1 to 32"),
        ({"at_once": 33}, b"{}", "at_once: must be a whole number from 1 to 32"),
        ({"at_once": True}, b"{}", "at_once: must be a whole number from 1 to 32"),
        ({"at_once": 1.5}, b"{}", "at_once: must be a whole number from 1 to 32"),
        ({}, b"[]", "blob: the tool's arguments must be one JSON object"),
        ({}, b'"\xff', "blob: the tool's arguments must be one JSON object, not what is not JSON"),
        ({}, b"[" * 100_000, "blob: the tool's arguments must be one JSON object, not what is not JSON"),
        (
            {},
            b'{"a":[' + b"1," * limits.MCP_VALUES + b"1]}",
            "blob: the tool's arguments must be one JSON object, not JSON",
        ),
    ],
)
def test_bad_calls(peer: Client, given: dict[str, Any], blob: bytes, words: str) -> None:
    with pytest.raises(Refused) as refused:
        peer.ask("mcp_call", blob, **{"server": "one", "tool": "echo", "call_id": "c", "timeout_s": 5, **given})
    assert str(refused.value).startswith(f"bad_request: {words}")
    assert call(peer, "echo", call_id="x" * 64)["content"]


@pytest.mark.slow
def test_a_server_without_functions_for_code(peer: Client, running: Running) -> None:
    told = serve(peer, "shared")
    assert "folder" not in told
    assert told["tools"][0] == {"name": "add", "module": "", "description": "Adds two numbers."}
    assert not (running.workspace / "mcptools" / "shared").exists()
    peer.ask("mcp_call", b"{}", server="shared", tool="grows", call_id="c", timeout_s=10)
    peer.until(lambda: tools(peer, "shared")["tools"][-1]["name"] == "late", PATIENCE, "the new tool")
    assert not (running.workspace / "mcptools" / "shared").exists()


@pytest.mark.slow
def test_a_revision_that_is_there_is_not_registered_again(peer: Client, link: Link) -> None:
    def pid() -> str:
        return str(call(peer, "pid")["content"][0]["text"])

    told = serve(peer, revision="r1")
    first = pid()
    assert serve(peer, revision="r1") == told
    assert pid() == first
    serve(peer, revision="r" * 64)
    second = pid()
    assert second != first
    peer.until(lambda: not os.path.exists(f"/proc/{first}"), PATIENCE, "the end of the old one")
    serve(peer)
    assert pid() != second


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"api": 1}, "api: must be true or false"),
        ({"revision": ""}, "revision: must be a text of 1 to 64 characters"),
        ({"revision": "r" * 65}, "revision: must be a text of 1 to 64 characters"),
    ],
)
def test_bad_registrations(peer: Client, given: dict[str, Any], words: str) -> None:
    code, told = refusal(peer, name="one", command=sys.executable, args=[SERVER], **given)
    assert (code, words in told) == ("bad_request", True)
