"""A server of this machine whose start in the cluster goes on when the endpoint answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sandglass.bridge import local_servers
from sandglass.bridge.code_mode import NotLoaded
from sandglass.bridge.discovery import Place, discover
from sandglass.bridge.messages import Incoming, parse
from sandglass.bridge.placeholders import Variables
from sandglass.core.runs import Where
from sandglass.errors import ToolError
from sandglass.wire.messages import ToolAnswer, ToolCall
from tests.bridges import call
from tests.endpoint import Json


@pytest.fixture
def config(tmp_path: Path) -> Path:
    place = tmp_path / "servers.json"
    place.write_text(json.dumps({"mcpServers": {"plain": {"command": "uvx", "args": ["plain"]}}}))
    return place


class Starting:
    """A client of an endpoint at which a start goes on: what its list says, one after the other."""

    def __init__(self, *states: Json | None, former: bool = False, refuses_removal: bool = False) -> None:
        self.states = iter(states)
        self.calls: list[str] = []
        self._last: Json | None = {"state": "running"} if former else None
        self._refuses_removal = refuses_removal

    @property
    def removed(self) -> int:
        return self.calls.count("mcp_remove_server")

    async def call(self, made: ToolCall) -> ToolAnswer:
        self.calls.append(made.tool)
        if made.tool == "mcp_register_server":
            return ToolAnswer("[starting]", {"name": "plain", "state": "starting"}, (), False)
        if made.tool == "mcp_remove_server":
            assert made.arguments == {"sandbox": "box", "name": "plain"}
            if self._refuses_removal:
                raise ToolError("it is being registered")
            return ToolAnswer("", {}, (), False)
        if "mcp_register_server" in self.calls:
            self._last = next(self.states, self._last)
        shared = [] if self._last is None else [{"name": "plain", "own": True, **self._last}]
        return ToolAnswer("", {"servers": [], "shared": shared}, (), False)


def loaded(client: Starting, config: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Json]]:
    """What becomes of the arguments of a call that names the server, and the progress that is told."""
    monkeypatch.setattr(local_servers, "POLL_S", 0)
    servers = discover([Place(config)], Variables()).servers
    local = local_servers.LocalServers(client, Where("box"), servers, None, print)  # type: ignore[arg-type]
    incoming = parse(json.dumps(call(1, "run_python", {}, progressToken="t")).encode())
    assert isinstance(incoming, Incoming)
    written: list[bytes] = []
    try:
        outcome: Any = asyncio.run(local.loaded(incoming, {"code": "1", "servers": ["plain"]}, written.append))
    except NotLoaded as problem:
        outcome = problem.text("compact")
    return outcome, [json.loads(line)["params"] for line in written]


def test_a_start_that_goes_on_is_waited_for_with_progress(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = {"state": "failed", "detail": "a volume is missing"}
    client = Starting({"state": "starting"}, failed, None, failed, {"state": "starting"}, failed, {"state": "idle"})
    outcome, told = loaded(client, config, monkeypatch)
    assert outcome == {"code": "1", "servers": ["plain"]}
    assert next(client.states, None) is None
    assert {each["message"] for each in told} == {"starting MCP server plain"}
    positions = [each["progress"] for each in told]
    assert positions == sorted(set(positions))
    # The run itself counts from one.
    assert positions[-1] < 1


@pytest.mark.parametrize(
    ("state", "why"),
    [({"state": "failed", "detail": "no room on any node"}, "no room on any node"), (None, "its start failed")],
)
def test_a_start_that_comes_to_nothing_is_told(
    config: Path, monkeypatch: pytest.MonkeyPatch, state: Json | None, why: str
) -> None:
    client = Starting({"state": "starting"}, *[state] * local_servers.MOST_FAILURES)
    outcome, _ = loaded(client, config, monkeypatch)
    assert outcome == f"[error] Unexpected failure: MCP server 'plain' was not loaded: {why}"
    assert next(client.states, "none") == "none"
    # What this registration made, and what is still there of it, is removed.
    assert client.removed == (state is not None)


def test_a_server_that_was_there_before_stays_when_the_new_one_does_not_start(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = {"state": "failed", "detail": "no room on any node"}
    client = Starting(*[failed] * local_servers.MOST_FAILURES, former=True)
    outcome, _ = loaded(client, config, monkeypatch)
    assert outcome.endswith("MCP server 'plain' was not loaded: no room on any node")
    assert client.removed == 0


def test_a_start_has_its_time(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local_servers, "START_S", 0.0)
    client = Starting({"state": "starting"}, refuses_removal=True)
    outcome, _ = loaded(client, config, monkeypatch)
    assert outcome == "[error] Unexpected failure: MCP server 'plain' was not loaded: it did not start in 0 s"
    assert client.removed == 1
    told = "MCP server plain did not start, and could not be removed: it is being registered\n"
    assert capsys.readouterr().out == told
