"""`${VAR}` in registrations of MCP servers: what is filled in, what is refused, and what stays on this machine."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from sandglass.bridge.placeholders import MOST_CHARS, Unresolved, Variables, registration, resolve
from sandglass.bridge.plan import Contract
from tests.bridges import Gateway, call
from tests.endpoint import TOKEN, Endpoint, Json, result

KEY = "value-of-a-key-1234"
VARIABLES = Variables({"KEY": KEY, "BOTH": "environ"}, {"BOTH": "file", "FILED": "of-file"}, "/w/.env")


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${KEY}", KEY),
        ("Bearer ${KEY}!", f"Bearer {KEY}!"),
        ("${BOTH} ${FILED}", "environ of-file"),
        ("${ABSENT:-other}", "other"),
        ("${ABSENT:-}", ""),
        ("${KEY:-other}", KEY),
        ("$KEY ${} ${1} ${A B} {KEY} $${", "$KEY ${} ${1} ${A B} {KEY} $${"),
        ("ünï ${KEY} \ud800 \u202e", f"ünï {KEY} \ud800 \u202e"),
    ],
)
def test_a_text_is_filled_in(text: str, filled: str) -> None:
    assert resolve(text, VARIABLES).value == filled


def test_every_text_of_a_registration_is_filled_in_but_not_its_name() -> None:
    given = {
        "name": "${KEY}",
        "sandbox": "${KEY}",
        "command": "${KEY}",
        "args": ["-k", "${KEY}"],
        "env": {"${KEY}": "${KEY}"},
        "cwd": "/${KEY}",
        "headers": ["A: ${KEY}"],
        "timeout": 3,
    }
    found = registration(Contract.SANDGLASS, "mcp_register_server", given, VARIABLES)
    assert found is not None
    assert found[0] == {
        "name": "${KEY}",
        "sandbox": "${KEY}",
        "command": KEY,
        "args": ["-k", KEY],
        "env": {"${KEY}": KEY},
        "cwd": f"/{KEY}",
        "headers": [f"A: {KEY}"],
        "timeout": 3,
    }
    assert KEY not in repr(found[1])
    assert KEY not in repr(VARIABLES)


@pytest.mark.parametrize(
    ("contract", "tool", "arguments"),
    [
        (Contract.SANDGLASS, "sandbox_run_code", {"code": "${KEY}"}),
        (Contract.SANDGLASS, "register_mcp_server", {"server_params": {"command": "${KEY}"}}),
        (Contract.IPYBOX, "execute_ipython_cell", {"code": "${KEY}"}),
        (Contract.IPYBOX, "register_mcp_server", {"server_name": "${KEY}", "server_params": {"command": "x"}}),
        (Contract.IPYBOX, "register_mcp_server", {"server_params": 5}),
        (Contract.IPYBOX, "register_mcp_server", {}),
        (Contract.CODE_MODE, "run_python", {"code": "${KEY}"}),
        (Contract.IPYTHON, "execute", {"code": "${KEY}"}),
    ],
)
def test_other_calls_stay_as_they_are(contract: Contract, tool: str, arguments: Json) -> None:
    assert registration(contract, tool, arguments, VARIABLES) is None


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"env": {"K": "${GONE}"}}, "'server_params.env.K' has ${GONE}, and there is no variable GONE in the environ"),
        ({"args": ["a", "${GONE}"]}, "'server_params.args[1]' has ${GONE}"),
        ({"url": "https://${GONE}/"}, "'server_params.url' has ${GONE}"),
        ({"env": {"K": "${SANDGLASS_TOKEN}"}}, "is the key of this bridge itself and goes to no MCP server"),
        ({"env": {"K": "${KERNEL_ENV_A}"}}, "variables that begin with KERNEL_ENV_ are for the code"),
        ({"env": {"K": "${A:-${KEY}}"}}, "'server_params.env.K' has a placeholder within another one"),
        ({"env": {"K": "${NESTED}"}}, "'server_params.env.K' has a placeholder within another one or in the value"),
        ({"env": {"K" * 100: "${" + "G" * 100 + "}"}}, "'server_params.env." + "K" * 60 + "…' has ${" + "G" * 58 + "…"),
    ],
)
def test_what_cannot_be_filled_in_is_refused_by_argument_and_variable(params: Json, words: str) -> None:
    known = {"SANDGLASS_TOKEN": TOKEN, "KERNEL_ENV_A": "1", "KEY": KEY, "NESTED": KEY + "${KEY}"}
    with pytest.raises(Unresolved) as refused:
        registration(Contract.IPYBOX, "register_mcp_server", {"server_params": params}, Variables(known, {}, "/w/.env"))
    assert str(refused.value).startswith("Not registered: ")
    assert words in str(refused.value)
    assert KEY not in str(refused.value)
    assert TOKEN not in str(refused.value)


def test_where_a_variable_was_looked_for_is_said() -> None:
    with pytest.raises(Unresolved, match=r"in the environment of 'sandglass mcp' and in /w/\.env: set it there"):
        resolve("${GONE}", VARIABLES)
    with pytest.raises(Unresolved, match=r"in the environment of 'sandglass mcp': set it there"):
        resolve("${GONE}", Variables())


def test_a_registration_grows_up_to_the_bound() -> None:
    large = Variables({"L": "x" * (MOST_CHARS // 4)})
    assert len(resolve("${L}${L}${L}${L}", large).value) == MOST_CHARS
    with pytest.raises(Unresolved, match=f"'args.1.': with its variables, the registration has more than {MOST_CHARS}"):
        resolve(["${L}${L}${L}", "${L}x${L}"], large, "args")


def test_hostile_texts_cost_no_more_than_their_length() -> None:
    hostile = "${A:-" * 200_000 + "${" + "A" * 1_000_000
    with pytest.raises(Unresolved):
        resolve(hostile, VARIABLES)


def test_what_lies_deep_is_left_to_the_endpoint() -> None:
    assert resolve([[[[["${KEY}"]]]]], VARIABLES).value == [[[[["${KEY}"]]]]]
    assert resolve([[[["${KEY}"]]]], VARIABLES).value == [[[[KEY]]]]


def test_values_are_hidden_in_words_but_short_ones_are_not() -> None:
    resolved = resolve("${KEY} ${LONGER} ${SHORT}", Variables({"KEY": KEY, "LONGER": f"{KEY}5", "SHORT": "words"}))
    assert resolved.hidden(f"bad key {KEY}5, {KEY} and words") == "bad key ${LONGER}, ${KEY} and words"


@pytest.mark.slow
def test_the_official_client_registers_with_a_value_that_it_does_not_know(endpoint: Endpoint, tmp_path: Path) -> None:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    gateway = Gateway(endpoint)
    gateway.tools |= {
        "register_mcp_server": lambda _: result(text='["search"]'),
        "sandbox_list_files": lambda _: result({"entries": [], "truncated": False}),
    }
    (tmp_path / ".env").write_text(f"API_KEY={KEY}\nMODE=file\n")
    environ = {**os.environ, "SANDGLASS_URL": endpoint.url, "SANDGLASS_TOKEN": TOKEN, "MODE": "environ"}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    arguments = ["-m", "sandglass", "mcp", "--contract", "ipybox", "--workspace", str(tmp_path)]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environ)
    params = {"command": "npx", "args": ["-y", "x"], "env": {"API_KEY": "${API_KEY}", "MODE": "${MODE}"}}

    async def main() -> list[Any]:
        with (tmp_path / ".errors").open("w") as errors:
            async with Client(stdio_client(server, errlog=errors)) as client:
                given = {"server_name": "web", "server_params": params}
                absent = {"server_name": "web", "server_params": {"url": "https://${HOST_OF_IT}/"}}
                return [
                    await client.call_tool("register_mcp_server", given),
                    await client.call_tool("register_mcp_server", absent),
                ]

    done, refused = asyncio.run(main())
    assert done.content[0].text == '["search"]'
    asked = endpoint.calls("register_mcp_server")
    assert [each["server_params"]["env"] for each in asked] == [{"API_KEY": KEY, "MODE": "environ"}]
    assert refused.is_error
    words = refused.content[0].text
    assert words.startswith("Error: Not registered: 'server_params.url' has ${HOST_OF_IT}, and there is no variable")
    assert f"in the environment of 'sandglass mcp' and in {tmp_path}/.env" in words
    assert KEY not in (tmp_path / ".errors").read_text()


def test_our_own_contract_fills_in_and_an_error_shows_no_value(gateway: Gateway, bridges: Any) -> None:
    answers = iter(
        [
            result(text=f'Error: Not registered: it ended: "no such key: {KEY}\\".', is_error=True),
            result(text=f"search: {KEY}"),
        ]
    )
    gateway.tools["mcp_register_server"] = lambda _: next(answers)
    bridge = bridges("--tools", "all", API_KEY=KEY)
    given = {"sandbox": "box", "name": "web", "command": "npx", "env": ["API_KEY=${API_KEY}"]}
    failed = bridge.ask(call(1, "mcp_register_server", given))["result"]
    assert failed["content"][0]["text"] == 'Error: Not registered: it ended: "no such key: ${API_KEY}\\".'
    assert failed["isError"] is True
    done = bridge.ask(call(2, "mcp_register_server", given))["result"]
    assert done["content"][0]["text"] == f"search: {KEY}"
    _, _, errors = bridge.end()
    assert KEY not in errors
    assert {each.path for each in gateway.endpoint.received} == {"/mcp?tools=all"}
    asked = gateway.endpoint.calls("mcp_register_server")
    assert asked == [{**given, "env": [f"API_KEY={KEY}"]}] * 2
