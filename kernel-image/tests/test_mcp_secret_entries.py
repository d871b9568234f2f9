"""Registrations that name entries of Secrets, at the bounds."""

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandglass_supervisor import limits
from sandglass_supervisor.link.wire import Problem
from sandglass_supervisor.mcp_servers.definition import Command, SecretEntry, Url, parse_registration

ENTRY = {"secret": "sandglass-mcp-one", "key": "token"}


def env(**fields: Any) -> dict[str, SecretEntry]:
    target = parse_registration({"name": "one", "command": "npx", **fields}, "/workspace").target
    assert isinstance(target, Command)
    return target.secret_env


def headers(**fields: Any) -> dict[str, SecretEntry]:
    target = parse_registration({"name": "one", "url": "http://x/", **fields}, "/workspace").target
    assert isinstance(target, Url)
    return target.secret_headers


def why(parse: Any, **fields: Any) -> str:
    with pytest.raises(Problem) as problem:
        parse(**fields)
    assert problem.value.code == "bad_request"
    return str(problem.value)


def entry(secret: object = "sandglass-mcp-one", key: object = "token") -> dict[str, Any]:
    return {"TOKEN": {"secret": secret, "key": key}}


def test_entries_by_name() -> None:
    assert env() == headers() == {}
    assert env(secret_env={"TOKEN": ENTRY}, env={"A": "b"}) == {"TOKEN": SecretEntry("sandglass-mcp-one", "token")}
    assert headers(secret_headers={"X-Key": ENTRY}) == {"X-Key": SecretEntry("sandglass-mcp-one", "token")}


@pytest.mark.parametrize(
    "secret", ["sandglass-mcp-a", "sandglass-mcp-a.b", "sandglass-mcp-9", "sandglass-mcp-" + "a" * 239]
)
@pytest.mark.parametrize("key", ["token", ".dockerconfigjson", "A_b.c-d", "a..b", "-", "k" * 253])
def test_names_and_keys_that_may_be(secret: str, key: str) -> None:
    assert env(secret_env=entry(secret, key)) == {"TOKEN": SecretEntry(secret, key)}


@pytest.mark.parametrize(
    "secret",
    [
        *("sandglass-mcp-", "sandglass-mcp-a/../b", "sandglass-mcp-a\n", "sandglass-mcp-\u0430", "sandglass-mcp-a..b"),
        *("mountable-a", "sbx-a", "Sandglass-mcp-a", "sandglass-mcp-a_b", "sandglass-mcp-" + "a" * 240, "", ".."),
        *(None, 1, []),
    ],
)
def test_names_that_may_not_be(secret: object) -> None:
    assert "secret_env.TOKEN.secret: must be" in why(env, secret_env=entry(secret))


@pytest.mark.parametrize(
    "key", ["", ".", "..", "..data", "...", "a/b", "/a", "a\0", "a b", "a\n", "\u00e9", "k" * 254, None, 1, ["a"]]
)
def test_keys_that_may_not_be(key: object) -> None:
    assert "secret_env.TOKEN.key: must be letters" in why(env, secret_env=entry(key=key))


@given(secret=st.text(max_size=300), key=st.text(max_size=300))
def test_any_text_is_an_entry_below_its_own_folder_or_is_refused(secret: str, key: str) -> None:
    try:
        found = env(secret_env=entry(f"sandglass-mcp-{secret}", key))["TOKEN"]
    except Problem:
        return
    assert set(found.secret + found.key) <= set(string.ascii_letters + string.digits + "-._")
    assert not found.key.startswith("..")
    assert found.key != "."


@pytest.mark.parametrize("value", [None, "x", [], {}, {"secret": "sandglass-mcp-a"}, {**ENTRY, "optional": True}])
def test_what_is_no_entry(value: object) -> None:
    assert "secret_env.TOKEN: must be an object of 'secret' and 'key'" in why(env, secret_env={"TOKEN": value})
    assert "secret_headers.X-Key: must be" in why(headers, secret_headers={"X-Key": value})


@pytest.mark.parametrize("value", [None, "x", [], [ENTRY], 1])
def test_what_is_no_object_of_entries(value: object) -> None:
    assert "secret_env: must be an object" in why(env, secret_env=value)
    assert "secret_headers: must be an object" in why(headers, secret_headers=value)


def test_names_of_variables_and_headers_keep_their_rules() -> None:
    assert "secret_env: names must be letters" in why(env, secret_env={"A=B": ENTRY})
    assert "secret_env: names must be letters" in why(env, secret_env={"9": ENTRY})
    assert "secret_headers: names must be letters" in why(headers, secret_headers={"a b": ENTRY})
    assert "secret_headers: names must be letters" in why(headers, secret_headers={"a\r\nb": ENTRY})
    assert env(secret_env={"A" * 256: ENTRY})
    assert "secret_env: names" in why(env, secret_env={"A" * 257: ENTRY})
    assert headers(secret_headers={"A" * 256: ENTRY})
    assert "secret_headers: names" in why(headers, secret_headers={"A" * 257: ENTRY})


def test_each_name_has_one_value() -> None:
    words = "secret_env: 'A' has a value in 'env' already; give it one of the two"
    assert words in why(env, env={"A": "hidden"}, secret_env={"A": ENTRY})
    assert env(env={"a": "b"}, secret_env={"A": ENTRY})
    assert "has a value in 'headers' already" in why(headers, headers={"x-key": "b"}, secret_headers={"X-Key": ENTRY})
    assert "upper and lower case are the same" in why(headers, secret_headers={"x-key": ENTRY, "X-Key": ENTRY})


def test_how_many_there_may_be() -> None:
    many = {f"A{n}": ENTRY for n in range(limits.ENV_COUNT - 1)}
    assert env(env={"A": "b"}, secret_env=many)
    assert "together with 'env' there may be at most 256" in why(env, env={"A": "b", "B": "c"}, secret_env=many)
    assert "secret_env: must be an object of at most" in why(env, secret_env={**many, "A": ENTRY, "B": ENTRY})
    some = {f"A{n}": ENTRY for n in range(limits.MCP_HEADERS - 1)}
    assert headers(headers={"A": "b"}, secret_headers=some)
    assert "together with 'headers' there may be at most 64" in why(
        headers, headers={"A": "b", "B": "c"}, secret_headers=some
    )


def test_they_belong_to_their_kind_of_server() -> None:
    assert "secret_headers: belongs to url; leave it out" in why(env, secret_headers={})
    assert "secret_env: belongs to command; leave it out" in why(headers, secret_env={})
