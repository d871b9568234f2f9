"""What gateways answer about shared servers: each rule with its bound, and texts of servers in other pods."""

import json
from typing import Any

import pytest

from sandglass_supervisor import limits
from sandglass_supervisor.link.wire import Problem
from sandglass_supervisor.mcp_servers import shared_server_words
from sandglass_supervisor.mcp_servers.requests import CallProblem

HOSTILE = "a\x1b[31m\u202eb"


def refusal(read: Any, *given: Any) -> tuple[str, str]:
    with pytest.raises(CallProblem) as refused:
        read(*given)
    return refused.value.kind, str(refused.value)


def test_a_result_at_the_bound_and_one_above() -> None:
    fits = b'{"a":"' + b"x" * (limits.MCP_RESULT_BYTES - 8) + b'"}'
    assert shared_server_words.parse_result(fits, "one") is fits
    kind, words = refusal(shared_server_words.parse_result, fits + b" ", "one")
    assert (kind, "4194305 bytes; at most 4194304" in words) == ("too_large", True)


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"[]",
        b"7",
        b"{",
        b'{"a":1}{}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":"\xff"}',
        '{"a":1}'.encode("utf-16-le"),
        b"\xef\xbb\xbf{}",
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":[' + b"1," * limits.MCP_VALUES + b"1]}",
        b'{"a":' * 100_000,
    ],
)
def test_results_that_no_code_could_read(blob: bytes) -> None:
    kind, words = refusal(shared_server_words.parse_result, blob, HOSTILE)
    assert (kind, words.startswith("what the gateway answered about server 'a b' cannot be read")) == ("failed", True)


@pytest.mark.parametrize(("depth", "is_read"), [(limits.MCP_DEPTH, True), (limits.MCP_DEPTH + 1, False)])
def test_the_depth_of_a_result(depth: int, is_read: bool) -> None:
    blob = b'{"a":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b',"b":[[],{"c":[]}]}'
    if is_read:
        assert shared_server_words.parse_result(blob, "one") == blob
    else:
        assert refusal(shared_server_words.parse_result, blob, "one")[1].endswith("it is nested too deep")


def listing(tools: Any, **more: Any) -> bytes:
    return json.dumps({"tools": tools, **more}).encode()


def test_tools_of_a_server() -> None:
    told = {"name": HOSTILE, "description": f" {HOSTILE}\nmore", "inputSchema": {"type": "object"}}
    [tool], notes = shared_server_words.parse_listed(listing([{**told, "outputSchema": {}, "other": 1}]), "one")
    assert (tool.name, tool.shown, tool.line, notes) == (HOSTILE, "a b", "a b", [])
    assert set(json.loads(tool.described)) == {"name", "description", "input_schema", "output_schema"}


def test_so_many_tools_at_most() -> None:
    tool = {"name": "a", "inputSchema": {}}
    assert shared_server_words.parse_listed(listing([tool] * limits.MCP_TOOLS), "one")[1] == []
    tools, notes = shared_server_words.parse_listed(listing([tool] * (limits.MCP_TOOLS + 1)), "one")
    assert (len(tools), notes) == (limits.MCP_TOOLS, ["the server has more tools than are listed"])
    assert shared_server_words.parse_listed(listing([tool], left_out=1), "one")[1] == notes
    tools, notes = shared_server_words.parse_listed(listing([{**tool, "name": ""}, {**tool, "name": "x" * 257}]), "one")
    assert (tools, len(notes)) == ([], 1)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"tools": {}},
        {"tools": [7]},
        {"tools": [{"name": 7}]},
        {"tools": [{"name": "a"}]},
        {"tools": [{"name": "a", "inputSchema": []}]},
        {"tools": [{"name": "a", "inputSchema": {}, "outputSchema": 7}]},
        {"tools": [{"name": "a", "inputSchema": {}, "description": 7}]},
    ],
)
def test_lists_of_tools_that_are_none(said: Any) -> None:
    kind, words = refusal(shared_server_words.parse_listed, json.dumps(said).encode(), "one")
    assert (kind, words) == ("failed", "what the gateway answered about server 'one' is no list of tools")


def test_tools_at_the_bound_of_bytes_and_one_above() -> None:
    said = {"name": "a", "inputSchema": {}, "description": ""}
    room = limits.MCP_TOOLS_BYTES - len(listing([said]))
    assert shared_server_words.parse_listed(listing([{**said, "description": "x" * room}]), "one")[0]
    blob = listing([{**said, "description": "x" * (room + 1)}])
    assert refusal(shared_server_words.parse_listed, blob, "one")[0] == "too_large"


def test_servers() -> None:
    said = {
        "servers": [
            {"name": "one", "state": HOSTILE * 50, "tools": [{"name": "add", "description": f"{HOSTILE}\nmore"}, "b"]},
            {"name": "one", "state": "again"},
            {"name": "my-own", "tools": [7, {}, {"name": ""}, {"name": "x" * 257}, {"name": "c", "description": 7}]},
            *({"name": name} for name in ("", "x" * 257, HOSTILE, "a\nb", 7, None)),
            7,
        ]
    }
    first, second = shared_server_words.parse_servers(said, b"")
    assert (first["name"], first["shared"], len(first["state"])) == ("one", True, limits.NAME_BYTES)
    assert first["tools"] == [{"name": "add", "description": "a b"}, {"name": "b", "description": ""}]
    assert second == {"name": "my-own", "state": "", "shared": True, "tools": [{"name": "c", "description": ""}]}
    assert shared_server_words.parse_servers({}, json.dumps(said).encode()) == [first, second]


def test_so_many_servers_at_most() -> None:
    said: dict[str, Any] = {"servers": [{"name": f"s{n}"} for n in range(limits.MCP_SHARED_SERVERS + 1)]}
    assert len(shared_server_words.parse_servers(said, b"")) == limits.MCP_SHARED_SERVERS
    said = {"servers": [{"name": "one", "tools": ["a"] * (limits.MCP_TOOLS + 1)}]}
    assert len(shared_server_words.parse_servers(said, b"")[0]["tools"]) == limits.MCP_TOOLS
    for said in ({}, {"servers": {}}, {"servers": None}):
        assert refusal(shared_server_words.parse_servers, said, b"")[0] == "failed"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        *((kind, kind) for kind in ("no_server", "no_tool", "not_allowed", "too_many", "timeout", "too_large")),
        ("not_running", "not_running"),
        ("failed", "failed"),
        ("gateway_lost", "unreachable"),
        ("no_gateway", "no_gateway"),
        ("execution_ended", "cancelled"),
        ("too_many_calls", "too_many"),
        ("internal", "gateway_failed"),
        (HOSTILE, "gateway_failed"),
    ],
)
def test_problems(code: str, kind: str) -> None:
    found = shared_server_words.problem_of(Problem(code, f"it\n{HOSTILE}\x00 broke"))
    assert found.kind == kind
    assert str(found).endswith("it\na b broke")
    assert "\x1b" not in str(found)
    assert "\u202e" not in str(found)


def test_words_of_a_problem_are_bounded() -> None:
    assert len(str(shared_server_words.problem_of(Problem("failed", "x" * 100_000)))) == limits.MESSAGE_CHARS
    assert str(shared_server_words.problem_of(Problem("failed", "\x00"))) == "the gateway says no more"
