"""MCP servers in files of other clients: what is read, what is left out, and within which bounds."""

from __future__ import annotations

import json
import keyword
import random
import re
import sys
from typing import Any

import pytest

from sandglass.bridge import server_files
from sandglass.bridge.server_files import File, Unusable, aliased, merged, servers_of
from tests.endpoint import Json


def file(servers: Json, place: str = "a.json", **more: Any) -> File:
    return File(place, servers, **more)


def fields(server: Any) -> Any:
    entry = merged([file({"it": server})])[0][0]
    return entry.problem or entry.fields


def test_servers_are_read_with_or_without_a_mark_of_the_encoding() -> None:
    content = json.dumps({"mcpServers": {"ünï": {"command": "x"}}, "more": 1}).encode()
    assert servers_of(content) == servers_of(b"\xef\xbb\xbf" + content) == {"ünï": {"command": "x"}}
    assert servers_of(b"{}") == {}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON in UTF-8"),
        (b"{", "not JSON in UTF-8"),
        (b"\xff{}", "not JSON in UTF-8"),
        (b"[" * 100_000, "not JSON in UTF-8"),
        (b"1" * 100_000, "not JSON in UTF-8"),
        (b"[]", "must be a JSON object"),
        (b'{"mcpServers": []}', "must be a JSON object"),
        (b'{"mcpServers": null}', "must be a JSON object"),
        (None, "there is no such file"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused(content: bytes | None, words: str) -> None:
    with pytest.raises(Unusable, match=words):
        servers_of(content)


def test_a_file_has_up_to_so_many_bytes() -> None:
    content = b"{}" + b" " * (server_files.MOST_FILE_BYTES - 2)
    assert servers_of(content) == {}
    with pytest.raises(Unusable, match=f"more than {server_files.MOST_FILE_BYTES} bytes"):
        servers_of(content + b" ")


def test_what_a_server_says_becomes_arguments_of_a_registration() -> None:
    stdio = {"type": "stdio", "command": "npx", "args": ["-y", 8080], "env": {"A": "b", "N": 1}, "cwd": "", "x": 1}
    assert fields(stdio) == {"command": "npx", "args": ["-y", "8080"], "env": {"A": "b", "N": "1"}}
    url = {"type": "http", "url": "https://example.com/mcp", "headers": {"A": "b"}, "allowed_domains": ["example.com"]}
    assert fields(url) == {
        "url": "https://example.com/mcp",
        "headers": {"A": "b"},
        "allowed_domains": ["example.com"],
    }
    assert fields({"type": "sse", "url": "https://example.com/sse"})["transport"] == "sse"
    assert fields({"command": "x", "args": None, "env": None}) == {"command": "x"}


@pytest.mark.parametrize(
    ("server", "words"),
    [
        (None, "it must be an object"),
        ("npx", "it must be an object"),
        ({}, "either 'command', for a server to start, or 'url'"),
        ({"command": "x", "url": "y"}, "either 'command', for a server to start, or 'url'"),
        ({"command": ""}, "'command' and 'url' must not be empty"),
        ({"command": ["npx"]}, "'command' must be a text"),
        ({"command": "x", "args": "-y"}, "'args' must be a list"),
        ({"command": "x", "args": [True]}, r"'args\[0\]' must be a text"),
        ({"command": "x", "args": [{}]}, r"'args\[0\]' must be a text"),
        ({"command": "x\0y"}, "'command' must be a text"),
        ({"command": "x", "env": ["A=b"]}, "'env' must be an object"),
        ({"command": "x", "env": {"A": None}}, r"'env\.A' must be a text"),
        ({"command": "x", "cwd": 5, "disabled": True}, "it is switched off in the file"),
        ({"command": "x", "enabled": False}, "it is switched off in the file"),
        ({"url": "x", "headers": "A: b"}, "'headers' must be an object"),
        ({"command": "x", "args": ["a"] * 257}, "'args' must be a list of at most 256"),
        ({"command": "x", "args": ["a" * 32769]}, r"'args\[0\]' must be a text of at most 32768"),
        ({"command": "x", "env": {f"A{n}": "b" for n in range(257)}}, "'env' must be an object of at most 256"),
        ({"command": "x", "allowed_domains": ["a"] * 65}, "'allowed_domains' must be a list of at most 64"),
    ],
)
def test_a_server_that_breaks_a_rule_is_left_out_with_it(server: Any, words: str) -> None:
    assert re.search(words, str(fields(server)))


def test_a_server_at_the_bounds_is_taken() -> None:
    server = {"command": "x", "args": ["a" * 32768] * 256, "env": {f"A{n}": "b" for n in range(256)}}
    assert fields(server) == server
    longest = merged([file({"n" * 256: {"command": "x"}, "n" * 257: {"command": "x"}, "": {"command": "x"}})])[0]
    assert [each.problem for each in longest] == [""] + ["its name must have 1 to 256 characters"] * 2


def test_a_later_file_counts_more_and_one_of_a_folder_never() -> None:
    entries, notes = merged(
        [
            file({"a": {"command": "one"}, "b": {"command": "one"}}),
            file({"b": {"command": "two"}}, "b.json"),
            file({"b": {"command": "three"}, "c": {"command": "three"}}, "c.json", overrides=False),
            file({"c": {"command": "four"}}, "d.json", overrides=False),
        ]
    )
    assert [(each.name, each.fields["command"]) for each in entries] == [("a", "one"), ("b", "two"), ("c", "three")]
    assert [each.file.place for each in entries] == ["a.json", "b.json", "c.json"]
    assert notes == ()


def test_a_file_of_the_current_folder_that_takes_a_place_is_told() -> None:
    _, notes = merged([file({"a": {"command": "x"}}), file({"a": {"command": "y"}}, "./b.json", is_trusted=False)])
    assert notes == ("MCP server 'a' of ./b.json takes the place of that of a.json",)


def test_there_are_up_to_so_many_servers() -> None:
    many = {f"s{number}": {"command": "x"} for number in range(server_files.MOST_SERVERS)}
    assert merged([file(many)])[1] == ()
    entries, notes = merged([file(many), file({"one-more": {"command": "x"}, "s0": {"command": "y"}}, "b.json")])
    assert len(entries) == server_files.MOST_SERVERS
    assert notes == ("b.json: more than 256 MCP servers; those beyond are left out",)


def test_names_become_identifiers_that_differ() -> None:
    names = ["brave-search", "Brave Search", "brave_search", "class", "search", "1password", "_x", "", "日本", "日本語"]
    assert aliased(names) == [
        "brave_search",
        "brave_search_2",
        "brave_search_3",
        "class_",
        "search_",
        "server_1password",
        "server_x",
        "server",
        "server_",
        "server__2",
    ]


def test_any_names_become_names_that_the_endpoint_takes() -> None:
    chance = random.Random(7)
    letters = [chr(chance.randrange(sys.maxunicode + 1)) for _ in range(60)] + list("aZ09_-. ") + ["class", "call"]
    names = {"".join(chance.choices(letters, k=chance.randrange(0, 90))) for _ in range(3000)}
    found = aliased(names)
    assert len(set(found)) == len(names)
    for alias in found:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", alias)
        assert not keyword.iskeyword(alias)


def test_any_entry_is_taken_or_left_out() -> None:
    chance = random.Random(11)
    leaves: list[Any] = [
        None,
        True,
        3,
        -1.5,
        "",
        "x",
        "\ud800",
        "\0",
        "\u202e",
        "a" * 40_000,
        [],
        {},
        ["x"],
        {"x": "y"},
        [[]],
        {"": {}},
    ]
    keys = ["command", "url", "args", "env", "headers", "cwd", "type", "transport", "disabled", "allowed_domains"]
    for _ in range(3000):
        server = {key: chance.choice(leaves) for key in chance.sample(keys, chance.randrange(len(keys)))}
        entry = merged([file({"x": server})])[0][0]
        assert bool(entry.problem) != bool(entry.fields)
        assert isinstance(entry.origin, str)


def test_what_is_shown_of_a_server_has_no_arguments_and_no_key() -> None:
    entry = merged([file({"x": {"url": "https://u:secret@example.com:8443/mcp?key=secret", "headers": {"A": "s"}}})])[
        0
    ][0]
    assert entry.origin == "example.com:8443"
    assert "secret" not in repr(entry)
    assert merged([file({"x": {"url": "https://[broken"}})])[0][0].origin == ""
