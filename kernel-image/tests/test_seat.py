"""A seat before its sandbox comes, and the verb that makes it that sandbox's pod: what it refuses, and to whom."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import zmq
from client import PATIENCE, Client, Refused
from seats import SANDBOX, SEAT, command_env, configure, node_env, python_env, seat
from supervisors import Running, children_of

from sandglass_supervisor import limits
from sandglass_supervisor.link.wire import Problem
from sandglass_supervisor.seat import CONFIGURE, Configuration, Seat, parse_configuration
from sandglass_supervisor.settings import BadSetting, take
from sandglass_supervisor.verbs import Verbs

KEYS = {"SANDGLASS_LINK_SECRET_KEY": "s" * 40, "SANDGLASS_GATEWAY_PUBLIC_KEY": "g" * 40}
SEAT_IS = {**KEYS, "SANDGLASS_SEAT": "true"}
VERBS = Verbs(mock.Mock(), *(mock.Mock() for _ in range(5)))
ALL_VERBS = {*VERBS._table, *VERBS._answer_later}
UNSEEN = "value-that-nothing-may-see"


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A connection to a seat that stays one: each test must leave it unconfigured."""
    running = seat(tmp_path_factory.mktemp("waiting"), "")
    client = running.client()
    yield client
    assert client.hello()["seat"] == {"configured_for": None}
    running.stop()


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A connection to a seat that a sandbox has."""
    running = seat(tmp_path_factory.mktemp("taken"), "")
    client = running.client()
    assert configure(client, {"A": "1"}) == {}
    yield client
    running.stop()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts a seat for this test alone."""
    started: list[Running] = []

    def make(*languages: str, **more: Any) -> Running:
        started.append(seat(tmp_path / str(len(started)), ",".join(languages), **more))
        return started[-1]

    yield make
    for running in started:
        running.stop()


# Settings.


@pytest.mark.parametrize(
    ("languages", "kernels"),
    [
        ("", ()),
        ("python", ("python",)),
        ("javascript", ("nodejs",)),
        ("python,javascript", ("python", "nodejs")),
        ("javascript,python", ("nodejs", "python")),
    ],
)
def test_languages_of_a_seat(languages: str, kernels: tuple[str, ...]) -> None:
    found = take({**SEAT_IS, "SANDGLASS_SEAT_LANGUAGES": languages})
    assert (found.is_seat, found.seat_languages) == (True, kernels)


def test_other_pods_are_no_seats() -> None:
    for more in ({}, {"SANDGLASS_SEAT": "false"}, {"SANDGLASS_SEAT_LANGUAGES": ""}):
        found = take({**KEYS, **more})
        assert (found.is_seat, found.seat_languages) == (False, ())


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("SANDGLASS_SEAT", "yes", "must be true or false"),
        ("SANDGLASS_SEAT", "", "must be true or false"),
        ("SANDGLASS_SEAT_LANGUAGES", "nodejs", "must be python and javascript, each at most once, separated by ','"),
        ("SANDGLASS_SEAT_LANGUAGES", "python, javascript", "must be python and javascript"),
        ("SANDGLASS_SEAT_LANGUAGES", "python,python", "must be python and javascript, each at most once"),
        ("SANDGLASS_ENV", "{}", "must be absent where SANDGLASS_SEAT is true"),
        ("SANDGLASS_REPLACED", "Evicted", "must be absent where SANDGLASS_SEAT is true"),
        ("SANDGLASS_SERVES_TOOLS", "true", "must not be true where SANDGLASS_SEAT is"),
    ],
)
def test_what_no_seat_may_have(name: str, value: str, rule: str) -> None:
    with pytest.raises(BadSetting, match=f"^{name} {rule}"):
        take({**SEAT_IS, name: value})


def test_languages_are_for_seats_alone() -> None:
    with pytest.raises(BadSetting, match=r"^SANDGLASS_SEAT_LANGUAGES must be absent or empty"):
        take({**KEYS, "SANDGLASS_SEAT_LANGUAGES": "python"})


# Before it is configured.


def test_hello_says_that_it_waits(waiting: Client) -> None:
    hello = waiting.hello()
    assert (hello["sandbox_uid"], hello["incarnation"]) == (SEAT, "0")
    assert (hello["seat"], hello["kernels"]) == ({"configured_for": None}, [])


@pytest.mark.parametrize("verb", sorted(ALL_VERBS - {"hello", CONFIGURE} | {"kill", "dance"}))
def test_no_verb_is_served_before_it_is_configured(waiting: Client, verb: str) -> None:
    wanted: dict[str, Any] = {"execution_id": "early", "command": "true", "language": "python", "packages": ["x"]}
    others: dict[str, Any] = {"operation": "write", "path": "early", "name": "one", "server": "one", "tool": "x"}
    with pytest.raises(Refused, match=f"'configure' must come before '{verb}'") as refused:
        waiting.ask(verb, b"1", **{**wanted, **others})
    assert refused.value.code == "not_configured"


def test_there_are_verbs_to_refuse() -> None:
    assert {"hello", CONFIGURE, "execute", "command", "install", "files", "mcp_call"} <= ALL_VERBS


# What configure takes.

BAD = [
    ({"sandbox_uid": None}, "sandbox_uid"),
    ({"sandbox_uid": 7}, "sandbox_uid"),
    ({"sandbox_uid": ""}, "sandbox_uid"),
    ({"sandbox_uid": "u" * 64}, "sandbox_uid"),
    ({"sandbox_uid": "a b"}, "sandbox_uid"),
    ({"sandbox_uid": "é"}, "sandbox_uid"),
    ({"sandbox_uid": "a\n"}, "sandbox_uid"),
    ({"sandbox_uid": "-a"}, "sandbox_uid"),
    ({"sandbox_uid": "a\0"}, "sandbox_uid"),
    ({"incarnation": None}, "incarnation"),
    ({"incarnation": "1"}, "incarnation"),
    ({"incarnation": True}, "incarnation"),
    ({"incarnation": 1.0}, "incarnation"),
    ({"incarnation": 0}, "incarnation"),
    ({"incarnation": 2**31}, "incarnation"),
    ({"lost": 1}, "lost"),
    ({"lost": "two words"}, "lost"),
    ({"lost": "é"}, "lost"),
    ({"lost": "L" * 64}, "lost"),
    ({"env": None}, "env"),
    ({"env": []}, "env"),
    ({"env": "A=1"}, "env"),
    ({"env": {f"A{i}": "" for i in range(limits.ENV_COUNT + 1)}}, "env"),
    ({"env": {"": "x"}}, "env"),
    ({"env": {"1A": "x"}}, "env"),
    ({"env": {"A=B": "x"}}, "env"),
    ({"env": {"É": "x"}}, "env"),
    ({"env": {"A\0": "x"}}, "env"),
    ({"env": {"A" * (limits.ENV_NAME_BYTES + 1): "x"}}, "env"),
    ({"env": {"A": 1}}, "env.A"),
    ({"env": {"A": None}}, "env.A"),
    ({"env": {"A": {"B": "C"}}}, "env.A"),
    ({"env": {"A": "\0"}}, "env.A"),
    ({"env": {"A": "\ud800"}}, "env.A"),
    ({"env": {"A": "x" * (limits.ENV_VALUE_BYTES + 1)}}, "env.A"),
    ({"env": {"A": "é" * (limits.ENV_VALUE_BYTES // 2 + 1)}}, "env.A"),
]


@pytest.mark.parametrize(("wrong", "field"), BAD)
def test_bad_arguments_are_named_and_change_nothing(waiting: Client, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused, match=f"bad_request: {field}: "):
        configure(waiting, **wrong)
    assert waiting.hello()["seat"] == {"configured_for": None}


def test_arguments_at_their_bound() -> None:
    env = {"A" * limits.ENV_NAME_BYTES: "é" * (limits.ENV_VALUE_BYTES // 2), "B": "\u202e\n"}
    env |= {f"A{i}": "" for i in range(limits.ENV_COUNT - len(env))}
    given = {"sandbox_uid": "u" * 63, "incarnation": 2**31 - 1, "lost": "L" * 63, "env": env}
    found = parse_configuration(given)
    assert found == ("u" * 63, 2**31 - 1, env, "L" * 63)
    assert "é" not in repr(found)
    assert parse_configuration({"sandbox_uid": "u", "incarnation": 1, "env": {}}).lost is None
    with pytest.raises(Problem, match="env"):
        parse_configuration({"sandbox_uid": "u", "incarnation": 1})


def test_variables_at_their_bound_reach_the_code(start: Callable[..., Running]) -> None:
    env = {"A" * limits.ENV_NAME_BYTES: "x" * limits.ENV_VALUE_BYTES, "B": "é\u202e\n '\"\\", "C": ""}
    # As much as one message of the link holds.
    env |= {f"A{i}": "x" * limits.ENV_VALUE_BYTES for i in range(limits.JSON_BYTES // limits.ENV_VALUE_BYTES - 2)}
    client = start("python", "javascript").client()
    configure(client, env)
    assert env.items() <= python_env(client, "python").items()
    assert env.items() <= node_env(client, "node").items()
    assert env.items() <= command_env(client, "command").items()


# Once and for all.


def test_the_same_again_is_answered_the_same(taken: Client) -> None:
    assert configure(taken, {"A": "1"}) == {}
    assert configure(taken, {"A": "1"}, lost="Evicted") == {}
    hello = taken.hello()
    assert (hello["sandbox_uid"], hello["seat"]) == (SEAT, {"configured_for": SANDBOX})


@pytest.mark.parametrize(
    "other",
    [
        {"env": {"A": "2"}},
        {"env": {}},
        {"env": {"A": "1", "B": "2"}},
        {"sandbox_uid": "sandbox-2"},
        {"incarnation": 2},
        {"sandbox_uid": SEAT},
    ],
)
def test_anything_else_is_refused_and_changes_nothing(
    taken: Client, request: pytest.FixtureRequest, other: dict[str, Any]
) -> None:
    with pytest.raises(Refused) as refused:
        configure(taken, **{"env": {"A": "1"}, **other})
    assert refused.value.code == "already_configured"
    assert taken.hello()["seat"] == {"configured_for": SANDBOX}
    index = request.node.callspec.indices["other"]
    env = python_env(taken, f"after-{index}")
    assert (env["A"], "B" in env) == ("1", False)


def test_of_two_gateways_at_once_one_is_the_first(start: Callable[..., Running]) -> None:
    running = start("python")
    clients = [running.client() for _ in range(2)]
    for client in clients:
        client.hello()
    asked = [
        client.send("configure", sandbox_uid=f"sandbox-{at}", incarnation=1, env={"WHOSE": str(at)})
        for at, client in enumerate(clients)
    ]
    codes = []
    for client, request_id in zip(clients, asked, strict=True):
        try:
            codes.append(client.reply_to(request_id).get("code", "served"))
        except Refused as refused:
            codes.append(refused.code)
    assert sorted(codes) == ["already_configured", "served"]
    first = codes.index("served")
    assert clients[0].hello()["seat"] == {"configured_for": f"sandbox-{first}"}
    assert python_env(clients[1 - first], "whose")["WHOSE"] == str(first)


def test_what_could_not_be_applied_can_be_asked_for_again() -> None:
    begin = mock.Mock(side_effect=[OSError("no room"), None])
    one = Seat(begin)
    wanted = {"sandbox_uid": SANDBOX, "incarnation": 1, "env": {"A": "1"}}
    with pytest.raises(OSError, match="no room"):
        one.configure(wanted)
    assert one.describe() == {"configured_for": None}
    assert one.configure(wanted) == {}
    assert begin.mock_calls == 2 * [mock.call(Configuration(SANDBOX, 1, {"A": "1"}, None))]
    assert one.describe() == {"configured_for": SANDBOX}


def test_a_pod_that_is_no_seat_cannot_be_configured(client: Client) -> None:
    assert "seat" not in client.hello()
    with pytest.raises(Refused, match="bad_request: configure: this pod is no seat"):
        configure(client)


# Who may.

ATTACK = """
import json, sys, zmq
public, secret = zmq.curve_keypair()
socket = zmq.Context().socket(zmq.DEALER)
socket.linger = 0
socket.curve_serverkey, socket.curve_publickey, socket.curve_secretkey = {server!r}, public, secret
socket.connect({endpoint!r})
asked = {{"verb": "configure", "sandbox_uid": "mine", "incarnation": 1, "env": {{}}}}
socket.send_multipart([b"V", b"r1", json.dumps(asked).encode()])
print(socket.poll(1000))
"""


def test_code_cannot_configure_for_it_has_no_key(start: Callable[..., Running]) -> None:
    running = start("python")
    client = running.client()
    configure(client)
    output = client.run("attack", ATTACK.format(server=running.server, endpoint=running.endpoint))
    assert output.text() == "0\n"
    with pytest.raises(Refused, match="already_configured"):
        configure(client, sandbox_uid="mine")


@pytest.mark.slow
def test_without_the_key_a_seat_that_waits_is_not_configured(start: Callable[..., Running]) -> None:
    running = start("")
    stranger = running.client(keys=zmq.curve_keypair())
    stranger.send("configure", sandbox_uid="mine", incarnation=1, env={})
    client = running.client()
    with pytest.raises(TimeoutError):
        stranger.until(lambda: bool(stranger.replies), 1, "an answer")
    assert client.hello()["seat"] == {"configured_for": None}
    assert configure(client) == {}


def seen(pid: int) -> bool:
    """Whether a process has the value where others of its user can read it without asking it."""
    return UNSEEN.encode() in Path(f"/proc/{pid}/environ").read_bytes()


@pytest.mark.slow
def test_variables_come_with_the_first_run_and_no_sooner(start: Callable[..., Running]) -> None:
    running = start("python", "javascript")
    client = running.client()
    client.hello()
    client.until(lambda: len(children_of(running.pid)) == 2, PATIENCE, "both kernels")
    configure(client, {"HIDDEN": UNSEEN})
    kernels = children_of(running.pid)
    assert [seen(pid) for pid in kernels] == [False, False]
    assert python_env(client, "python")["HIDDEN"] == UNSEEN
    assert node_env(client, "node")["HIDDEN"] == UNSEEN
    assert set(children_of(running.pid)) == set(kernels), "they run on"
    assert UNSEEN not in running.log.read_text()
