"""The link's frames: bounds, malformed input, many connections."""

import json
import random
from typing import Any

import pytest
from client import Client, Refused
from supervisors import Running

JSON_BYTES, BLOB_BYTES, CODE_BYTES = 262_144, 8 * 1024 * 1024, 1024 * 1024


def raw(client: Client, *frames: bytes) -> None:
    client.socket.send_multipart(frames)


def test_hello(client: Client) -> None:
    hello = client.hello()
    assert hello["protocol"] == 1
    assert hello["sandbox_uid"] == "uid-1"
    assert hello["incarnation"] == "7"
    assert hello["window"] == 262_144
    assert hello["limits"] == {
        "code_bytes": CODE_BYTES,
        "json_bytes": JSON_BYTES,
        "blob_bytes": BLOB_BYTES,
        "queue": 8,
        "journal_bytes": BLOB_BYTES,
        "journal_executions": 64,
    }
    assert hello["boot_id"] == client.hello()["boot_id"]
    assert hello["kernels"][0]["language"] == "python"


@pytest.mark.parametrize("offered", [[], [2], "1", None, [1.5], {"1": 1}])
def test_no_common_version(client: Client, offered: object) -> None:
    with pytest.raises(Refused, match="protocol 1"):
        client.ask("hello", protocol=offered)
    assert client.ask("hello", protocol=[7, 1, 9])["protocol"] == 1


def test_unknown_and_later_verbs(client: Client) -> None:
    with pytest.raises(Refused, match="unknown_verb"):
        client.ask("dance")
    with pytest.raises(Refused, match="not_supported"):
        client.ask("kill")
    for verb in ("attach", "detach", "interrupt"):
        with pytest.raises(Refused, match="execution_never_came"):
            client.ask(verb, execution_id="never-seen")


BAD_ARGUMENTS = [
    ("execute", {"execution_id": "a b"}, "execution_id"),
    ("execute", {"execution_id": ""}, "execution_id"),
    ("execute", {"execution_id": "x" * 256}, "execution_id"),
    ("execute", {"execution_id": "é"}, "execution_id"),
    ("execute", {"execution_id": 7}, "execution_id"),
    ("execute", {"language": "cobol"}, "language"),
    ("execute", {"session": "../x"}, "session"),
    ("execute", {"session": "x" * 64}, "session"),
    ("execute", {"timeout_s": 0}, "timeout_s"),
    ("execute", {"timeout_s": -1}, "timeout_s"),
    ("execute", {"timeout_s": 86_401}, "timeout_s"),
    ("execute", {"timeout_s": "1"}, "timeout_s"),
    ("execute", {"timeout_s": True}, "timeout_s"),
    ("execute", {"envs": ["A=1"]}, "envs"),
    ("execute", {"envs": {"1A": "x"}}, "envs"),
    ("execute", {"envs": {"A=B": "x"}}, "envs"),
    ("execute", {"envs": {"A": 1}}, "envs.A"),
    ("execute", {"envs": {"A": "\0"}}, "envs.A"),
    ("execute", {"envs": {"A": "x" * 32_769}}, "envs.A"),
    ("execute", {"envs": {f"A{i}": "" for i in range(257)}}, "envs"),
    ("execute", {"on_full": "drop"}, "on_full"),
    ("execute", {"attach": 1}, "attach"),
    ("execute", {"wait_kernel": "yes"}, "wait_kernel"),
    ("command", {"command": ""}, "command"),
    ("command", {"command": None}, "command"),
    ("command", {"command": "a\0b"}, "command"),
    ("command", {"command": "a\ud800"}, "command"),
    ("command", {"command": "true", "args": "x"}, "args"),
    ("command", {"command": "true", "args": [1]}, "args"),
    ("command", {"command": "true", "args": ["x"] * 1025}, "args"),
    ("command", {"command": "true", "args": ["x" * 131_072]}, "args"),
    ("command", {"command": "true", "cwd": "relative"}, "cwd"),
    ("command", {"command": "true", "cwd": "/" + "x" * 4096}, "cwd"),
    ("attach", {"offset": -1}, "offset"),
    ("attach", {"offset": 1.5}, "offset"),
    ("attach", {"offset": 2**63}, "offset"),
]


@pytest.mark.parametrize(("verb", "arguments", "field"), BAD_ARGUMENTS)
def test_bad_arguments_are_named(client: Client, name: str, verb: str, arguments: dict[str, Any], field: str) -> None:
    client.run(name, "1")
    fresh = name if verb == "attach" else name + "-bad"
    with pytest.raises(Refused, match=f"bad_request: {field}"):
        client.ask(verb, b"1", **{"execution_id": fresh, **arguments})


GOOD_ARGUMENTS = [
    ("execute", {"session": "default", "timeout_s": 86_400, "envs": {"A" * 256: "x" * 32_768}}),
    ("execute", {"envs": {f"A{i}": "" for i in range(256)}}),
    ("command", {"command": "true", "args": ["x"] * 1024}),
    ("command", {"command": "true", "args": ["x" * 131_071]}),
]


@pytest.mark.parametrize(("verb", "arguments"), GOOD_ARGUMENTS)
def test_arguments_at_their_bound(client: Client, name: str, verb: str, arguments: dict[str, Any]) -> None:
    execution_id = (name + "x" * 255)[:255]
    client.ask(verb, b"1" if verb == "execute" else None, execution_id=execution_id, attach=True, **arguments)
    assert client.finish(execution_id).outcome["status"] == "ok"  # type: ignore[index]


def test_code_at_its_bound(client: Client, name: str) -> None:
    code = b"'" + b"x" * (CODE_BYTES - 7) + b"'; 1+1"
    assert len(code) == CODE_BYTES
    client.ask("execute", code, execution_id=name, attach=True)
    assert client.finish(name).only("result").blob == b"2"
    with pytest.raises(Refused, match="at most 1048576"):
        client.ask("execute", code + b" ", execution_id=name + "2")
    with pytest.raises(Refused, match="UTF-8"):
        client.ask("execute", b"\xff", execution_id=name + "3")


def test_frames_at_their_bound(client: Client, name: str) -> None:
    padding = JSON_BYTES - len(json.dumps({"verb": "list", "pad": ""}))
    raw(client, b"V", b"r" * 32, json.dumps({"verb": "list", "pad": "x" * padding}).encode())
    assert "kernels" in client.reply_to(b"r" * 32)
    raw(client, b"V", b"over", json.dumps({"verb": "list", "pad": "x" * (padding + 1)}).encode())
    with pytest.raises(Refused, match="at most 262144"):
        client.reply_to(b"over")
    blob = bytes(BLOB_BYTES)
    assert len(client.command(name, "wc", "-c", stdin=blob).text().split()[0]) == 7
    with pytest.raises(Refused, match="at most 8388608"):
        client.ask("command", blob + b"x", execution_id=name + "2", command="true")


@pytest.mark.parametrize(
    "frames",
    [
        [b""],
        [b"X"],
        [b"VV", b"1", b"{}"],
        [b"V"],
        [b"V", b"1"],
        [b"V", b"", b"{}"],
        [b"V", b"r" * 33, b'{"verb":"list"}'],
        [b"V", b"a b", b'{"verb":"list"}'],
        [b"V", b"1", b'{"verb":"list"}', b"", b""],
        [b"C"],
        [b"C", b"x"],
        [b"C", b"x", b"-1"],
        [b"C", b"x", b"1" * 20],
        [b"C", b"x", b"\xd9\xa1"],
        [b"C", b"", b"1"],
        [b"R", b"1", b"{}"],
    ],
)
def test_nonsense_is_dropped(client: Client, frames: list[bytes]) -> None:
    raw(client, *frames)
    client.ask("list")
    assert client.replies == {}


@pytest.mark.parametrize(
    "text",
    [
        *(
            b"",
            b"[]",
            b"1",
            b"null",
            b"{",
            b"\xff",
            b'{"verb":1}',
            b"{}",
            b'{"verb":NaN}',
            b'{"verb":"list","x":Infinity}',
        ),
        b'{"a":' * 40_000 + b"1" + b"}" * 40_000,
        b'{"verb":' + b"9" * 5000 + b"}",
    ],
    ids=range(12),
)
def test_bad_json_is_answered(client: Client, text: bytes) -> None:
    raw(client, b"V", b"bad", text)
    with pytest.raises(Refused, match="bad_request"):
        client.reply_to(b"bad")


def test_a_frame_over_the_hard_bound_costs_the_connection_only(shared: Running, client: Client) -> None:
    other = shared.client()
    raw(other, b"V", b"1", b'{"verb":"list"}', bytes(17 * 1024 * 1024))
    with pytest.raises(TimeoutError):
        other.reply_to(b"1", 0.5)
    assert client.ask("list")["kernels"]


@pytest.mark.slow
def test_random_frames(spare: Running) -> None:
    client = spare.ready()
    dice = random.Random(20260710)
    verbs = [
        b"hello",
        b"execute",
        b"command",
        b"attach",
        b"detach",
        b"interrupt",
        b"list",
        b"metrics",
        b"files",
        b"kill",
        b"x",
    ]
    values = [
        b"1",
        b'""',
        b"null",
        b"[]",
        b"{}",
        b'"python"',
        b'"warm-up"',
        b'"list"',
        b'"read"',
        b"-1",
        b"1e999",
        b"true",
        b'"\\ud800"',
    ]
    names = [
        b"execution_id",
        b"offset",
        b"language",
        b"session",
        b"envs",
        b"timeout_s",
        b"command",
        b"args",
        b"protocol",
        b"operation",
        b"path",
    ]

    def body() -> bytes:
        fields = [b'"verb":"%s"' % dice.choice(verbs)]
        fields += [b'"%s":%s' % (dice.choice(names), dice.choice(values)) for _ in range(dice.randrange(5))]
        text = bytearray(b"{" + b",".join(fields) + b"}")
        for _ in range(dice.choice([0, 0, 1, 3])):
            text[dice.randrange(len(text))] = dice.randrange(256)
        return bytes(text)

    for _ in range(3000):
        letter = dice.choice([b"V", b"V", b"V", b"C", b"R", b"", b"\0"])
        rest = [
            dice.choice([b"id", b"warm-up", b"", b"12", body(), dice.randbytes(40)]) for _ in range(dice.randrange(5))
        ]
        raw(client, *([letter, b"f%d" % dice.randrange(9), body()] if dice.random() < 0.6 else [letter, *rest]))
        client.receive(0)
    assert spare.process.poll() is None
    assert "Traceback" not in spare.log.read_text()
    assert "internal" not in spare.log.read_text()
    client.ask("list")  # all of it has been taken in: an interrupt among it would meet the next run
    last = spare.client()
    assert last.run("after", "1 + 1").only("result").blob == b"2"


def test_acknowledging_more_than_was_sent(client: Client, name: str) -> None:
    client.start(name, "import time; time.sleep(0.2); print('x' * 1000)")
    client.credit(name, 2**62)
    assert len(client.finish(name).text()) == 1001
