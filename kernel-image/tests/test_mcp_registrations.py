"""Registrations of MCP servers: what starts, what replaces what, what is refused."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client, Refused
from mcp_link import SERVER, Link, refusal, register, serve
from supervisors import Running

from sandglass_supervisor import limits


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "timeout_s", "code", "words"),
    [
        ("quits", 50, "mcp_start_failed", 'its last words were "a key is missing"'),
        ("mute", 1, "mcp_timeout", "it did not answer within 1 s"),
        ("broken", 8, "mcp_timeout", "it did not answer within 8 s; it sent what is no message of MCP"),
    ],
)
def test_a_start_that_fails(peer: Client, behaviour: str, timeout_s: int, code: str, words: str) -> None:
    told = refusal(peer, name="one", command=sys.executable, args=[SERVER, behaviour], timeout_s=timeout_s)
    assert told[0] == code
    assert words in told[1]
    assert peer.ask("mcp_list") == {"servers": []}


@pytest.mark.slow
def test_a_server_that_is_starting_is_listed(peer: Client) -> None:
    request = peer.send("mcp_register", name="one", command=sys.executable, args=[SERVER, "mute"], timeout_s=2)
    (server,) = peer.ask("mcp_list")["servers"]
    assert (server["name"], server["state"], server["tools"]) == ("one", "starting", [])
    with pytest.raises(Refused, match="mcp_registering: name: server 'one' is being registered"):
        register(peer)
    with pytest.raises(Refused):
        peer.reply_to(request)
    assert peer.ask("mcp_list") == {"servers": []}


@pytest.mark.slow
def test_a_program_that_is_not_there(peer: Client) -> None:
    code, words = refusal(peer, name="one", command="no-such-program")
    assert code == "mcp_start_failed"
    assert "No such file or directory: 'no-such-program'" in words


@pytest.mark.slow
def test_a_url_that_refuses(peer: Client) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp?key=s3cret"
        code, words = refusal(peer, name="one", url=url)
    assert code == "mcp_start_failed"
    assert "s3cret" not in words


@pytest.mark.slow
def test_a_failed_registration_leaves_the_server_before_it(peer: Client, link: Link) -> None:
    serve(peer)
    refusal(peer, name="one", command=sys.executable, args=[SERVER, "quits"])
    assert link.call("add", a=1, b=2)["result"]


@pytest.mark.slow
def test_a_registration_replaces_the_server_before_it(peer: Client, link: Link) -> None:
    serve(peer)
    before = link.call("pid")["result"]["content"][0]["text"]
    register(peer)
    assert link.call("pid")["result"]["content"][0]["text"] != before
    peer.until(lambda: not os.path.exists(f"/proc/{before}"), PATIENCE, "the end of the old one")


@pytest.mark.slow
def test_a_server_that_writes_a_line_without_end(peer: Client, running: Running) -> None:
    before = running.rss()
    code, _ = refusal(peer, name="one", command=sys.executable, args=[SERVER, "flood"], timeout_s=3)
    assert code in ("mcp_start_failed", "mcp_timeout")
    assert running.rss() - before < 16 * limits.MIB


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", ["many", "pages"])
def test_a_server_with_too_many_tools(peer: Client, behaviour: str) -> None:
    told = register(peer, "one", behaviour)
    assert len(told["tools"]) == (limits.MCP_TOOLS if behaviour == "many" else 0)
    assert "left out" in told["notes"][0]


@pytest.mark.slow
def test_a_server_that_floods_its_standard_error(peer: Client, link: Link) -> None:
    serve(peer, "one", "noisy")
    assert link.call("add", a=1, b=2)["result"]


@pytest.mark.slow
def test_servers_at_the_bound_and_one_more(peer: Client) -> None:
    ids = [
        peer.send("mcp_register", name=f"s{n}", command=sys.executable, args=[SERVER], timeout_s=120, api=False)
        for n in range(limits.MCP_SERVERS)
    ]
    code, words = refusal(peer, name="more", command=sys.executable, args=[SERVER])
    assert (code, "at most 16" in words) == ("mcp_too_many", True)
    for request_id in ids:
        peer.reply_to(request_id, 120)
    assert len(peer.ask("mcp_list")["servers"]) == limits.MCP_SERVERS


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "a-b"}, "name: must be a Python identifier"),
        ({"name": "x" * 65}, "at most 64"),
        ({"name": "class"}, "has a meaning of its own"),
        ({"name": "search"}, "has a meaning of its own"),
        ({"name": "_x"}, "a letter first"),
        ({}, "either command"),
        ({"command": "x", "url": "http://example.com"}, "either command"),
        ({"command": "x", "headers": {}}, "headers: belongs to url"),
        ({"url": "http://example.com", "env": {}}, "env: belongs to command"),
        ({"command": " "}, "command: must not be empty"),
        ({"command": "x", "args": "y"}, "args: must be a list"),
        ({"command": "x", "args": [1]}, "args[0]: must be a text"),
        ({"command": "x", "cwd": "y"}, "cwd: must be an absolute path"),
        ({"command": "x", "env": {"a b": "c"}}, "env: names"),
        ({"url": "ftp://example.com"}, "url: must be a URL"),
        ({"url": "http://"}, "url: must be a URL"),
        ({"url": "http://[", "headers": {}}, "url: must be a URL"),
        ({"url": "http://example.com", "transport": "x"}, "transport: must be one of"),
        ({"url": "http://example.com", "headers": {"a b": "c"}}, "headers: names"),
        ({"url": "http://example.com", "headers": {"a": "b\r\nc"}}, "headers.a: must be one line"),
        ({"url": "http://example.com", "headers": {"a": "b "}}, "without blanks at its ends"),
        ({"command": "x", "timeout_s": 601}, "timeout_s"),
    ],
)
def test_bad_registrations(peer: Client, given: dict[str, Any], words: str) -> None:
    code, told = refusal(peer, **{"name": "one", **given})
    assert code == "bad_request"
    assert words in told


def test_without_the_client_package_the_refusal_says_so(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_MCP_PACKAGES=str(tmp_path / "nothing"))
    try:
        peer = running.client()
        peer.hello()
        code, words = refusal(peer, name="one", command="x")
        assert (code, "requirements-mcp.txt" in words) == ("mcp_unavailable", True)
    finally:
        running.stop()
