"""Sandboxes whose network is open: a listener of the test stands for an address that policies must close."""

import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from client import PATIENCE, Client, Refused
from supervisors import Running

from sandglass_supervisor import limits
from sandglass_supervisor.loop import Loop
from sandglass_supervisor.network_probe import Address, NetworkProbe
from sandglass_supervisor.settings import BadSetting, take

KEYS = {"SANDGLASS_LINK_SECRET_KEY": "k" * 40, "SANDGLASS_GATEWAY_PUBLIC_KEY": "g" * 40}
# As long as any test takes, and as often: whatever the machine does meanwhile, the next attempt is near.
PATIENT = {"PROBE_PAUSE_S": 0.1, "PROBE_PAUSE_GROWTH": 1.0, "PROBE_S": 120.0}


@pytest.fixture(params=["127.0.0.1", "::1"])
def closed(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    """An address that refuses connections until somebody has it listen."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.socket(family) as server:
        server.bind((request.param, 0))
        yield server


def address(server: socket.socket) -> Address:
    host, port = server.getsockname()[:2]
    return Address(host, port)


def until(loop: Loop, done: Any) -> None:
    while not done():
        loop.run_once()


def test_what_answers_is_reached_once(closed: socket.socket) -> None:
    closed.listen()
    loop, reached = Loop(), list[Address]()
    NetworkProbe(loop, (address(closed), address(closed)), reached.append)
    until(loop, lambda: reached)
    assert reached == [address(closed)]
    assert not loop._handlers, "it is over"
    assert loop._wait_ms() is None, "nothing is due any more"


def test_what_refuses_is_not_reached_nor_is_what_answers_after_its_end(closed: socket.socket) -> None:
    now = SimpleNamespace(s=0.0)
    loop, reached = Loop(lambda: now.s), list[Address]()
    NetworkProbe(loop, (address(closed),), reached.append)
    now.s = limits.PROBE_S - 0.1
    loop._run_timers()
    assert not reached
    closed.listen()
    now.s += 2 * limits.PROBE_PAUSE_GROWTH * limits.PROBE_PAUSE_S
    loop._run_timers()
    assert not loop._handlers, "its time was over"


class Counting(NetworkProbe):
    attempts = 0

    def _try(self, address: Address) -> None:
        self.attempts += 1
        super()._try(address)


def test_it_goes_on_for_seconds_and_ends_by_itself(closed: socket.socket) -> None:
    now = SimpleNamespace(s=0.0)
    loop = Loop(lambda: now.s)
    probe = Counting(loop, (address(closed),), lambda _: None)
    while loop._handlers:
        now.s += 0.05
        loop._run_timers()
    assert probe.attempts == 12, "after 0, 0.1, 0.3, 0.7 and 1.5 s, then each second"
    assert now.s == pytest.approx(limits.PROBE_S, abs=0.1)


def test_without_addresses_nothing_is_tried() -> None:
    loop = Loop()
    NetworkProbe(loop, (), lambda _: pytest.fail("nothing to reach"))
    assert not loop._handlers


def open_network(folder: Path, server: socket.socket, *, required: str = "true") -> Running:
    return Running(
        folder,
        limits=PATIENT,
        SANDGLASS_CLOSED_ADDRESSES=str(address(server)),
        SANDGLASS_REQUIRE_CLOSED=required,
    )


@pytest.fixture
def opened(closed: socket.socket, tmp_path: Path) -> Iterator[Running]:
    """One that gets through from the start."""
    closed.listen()
    running = open_network(tmp_path, closed)
    yield running
    running.stop()


@pytest.fixture
def shut(closed: socket.socket, tmp_path: Path) -> Iterator[Running]:
    """One that does not get through, yet."""
    running = open_network(tmp_path, closed)
    yield running
    running.stop()


def informed(client: Client) -> dict[str, Any]:
    """What hello says, once the probe has got through."""
    said: dict[str, Any] = {}

    def reached() -> bool:
        said.update(client.ask("hello", protocol=[1], peer="test"))
        return said["network"]["reached"] is not None

    client.until(reached, PATIENCE, "the probe to get through")
    return said


@pytest.mark.parametrize(
    ("verb", "wanted"),
    [
        ("execute", {"language": "python"}),
        ("command", {"command": "true"}),
        ("install", {"language": "python", "packages": ["x"]}),
    ],
)
def test_nothing_runs_where_the_network_is_open(
    opened: Running, closed: socket.socket, verb: str, wanted: dict[str, Any]
) -> None:
    client = opened.client()
    said = informed(client)
    where = str(address(closed))
    assert said["network"]["reached"] == where
    assert said["kernels"] == [], "a kernel that starts runs what earlier code left for it"
    with pytest.raises(Refused) as refused:
        client.ask(verb, b"1" if verb == "execute" else None, execution_id="x", **wanted)
    assert refused.value.code == "network_open"
    assert f"got a connection to {where}" in str(refused.value)
    assert "docs/operations.md" in str(refused.value)
    listed = client.ask("list")
    assert listed["executions"] == []
    assert listed["network"] == said["network"]


def test_files_can_still_be_fetched(opened: Running) -> None:
    client = opened.client()
    informed(client)
    client.write("kept", b"abc")
    assert client.read("kept") == b"abc"
    assert client.ask("reset") == {"state": "unused"}


@pytest.mark.slow
def test_what_runs_is_ended_when_the_network_turns_out_to_be_open(shut: Running, closed: socket.socket) -> None:
    client = shut.ready()
    assert client.hello()["network"] == {"reached": None, "refusal": None}
    client.start("code", "import time; print('begun', flush=True); time.sleep(60)", wait_kernel=True)
    client.start("queued", "1")
    argv = ("-c", "sleep 61 & echo left; exec sleep 60")
    client.ask("command", execution_id="command", command="sh", args=argv, attach=True)
    client.command("ended", "sh", "-c", "setsid sleep 62 >/dev/null 2>&1 &")
    client.until(lambda: client.output("code").text() and client.output("command").text(), PATIENCE, "both to run")

    closed.listen()
    for name in ("code", "command", "queued"):
        client.finish(name)

    for name in ("code", "command"):
        outcome = client.output(name).outcome
        assert outcome is not None
        assert outcome["status"] == "interrupted"
        assert f"The run was ended. The sandbox got a connection to {address(closed)}" in outcome["message"]
    assert (client.output("queued").outcome or {})["status"] == "rejected"
    assert ("/network", {"event": "open", "reached": str(address(closed))}) in [
        (name, about) for name, _, about in client.events
    ]
    children = Path(f"/proc/{shut.pid}/task/{shut.pid}/children")
    client.until(
        lambda: not children.read_text().split(), PATIENCE, "all that runs to be gone, also what was left behind"
    )
    with pytest.raises(Refused, match="network_open"):
        client.start("later", "1")


@pytest.mark.slow
def test_an_installation_may_let_code_run_all_the_same(closed: socket.socket, tmp_path: Path) -> None:
    closed.listen()
    running = open_network(tmp_path, closed, required="false")
    try:
        client = running.client()
        assert informed(client)["network"] == {"reached": str(address(closed)), "refusal": None}
        first = client.run("first", "1 + 1", wait_kernel=True)
        assert first.only("result").blob == b"2"
        assert f"got a connection to {address(closed)}" in (first.outcome or {})["warning"]
        assert "warning" not in (client.run("second", "1").outcome or {}), "it is told once"
    finally:
        running.stop()


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("", ()),
        ("192.0.2.1:443", (Address("192.0.2.1", 443),)),
        ("192.0.2.1:443,[2001:db8::1]:8080", (Address("192.0.2.1", 443), Address("2001:db8::1", 8080))),
    ],
)
def test_addresses_are_read(text: str, addresses: tuple[Address, ...]) -> None:
    settings = take({**KEYS, "SANDGLASS_CLOSED_ADDRESSES": text})
    assert settings.closed_addresses == addresses
    assert ",".join(map(str, addresses)) == text
    assert settings.require_closed


@pytest.mark.parametrize(
    "text",
    [
        *("example.com:443", "192.0.2.1", "192.0.2.1:65536", "192.0.2.1:x", "2001:db8::1:443", "[192.0.2.1]:1", "\0:1"),
        ",".join(["192.0.2.1:1"] * (limits.PROBE_ADDRESSES + 1)),
    ],
)
def test_addresses_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(BadSetting, match="SANDGLASS_CLOSED_ADDRESSES"):
        take({**KEYS, "SANDGLASS_CLOSED_ADDRESSES": text})


def test_a_requirement_is_true_or_false() -> None:
    with pytest.raises(BadSetting, match="SANDGLASS_REQUIRE_CLOSED"):
        take({**KEYS, "SANDGLASS_REQUIRE_CLOSED": "yes"})
