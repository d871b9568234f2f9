"""The pod of a shared MCP server: no kernel, and a session process that waits for the server."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from client import Client, Refused
from mcp_link import serve
from mcp_shared import share
from supervisors import Running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(serves: str = "true", packages: str = os.environ["SANDGLASS_MCP_PACKAGES"]) -> Running:
        started.append(Running(tmp_path, SANDGLASS_MCP_PACKAGES=packages, SANDGLASS_SERVES_TOOLS=serves))
        return started[-1]

    yield start
    for running in started:
        running.stop()


def peer_of(running: Running) -> Client:
    peer = running.client()
    share(peer, {})
    return peer


def programs(running: Running) -> dict[int, str]:
    """What the supervisor has started: pids with their arguments."""
    found = {}
    for pid in Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split():
        with suppress(OSError):
            found[int(pid)] = Path(f"/proc/{pid}/cmdline").read_text()
    return found


def sessions(running: Running) -> list[int]:
    return [pid for pid, words in programs(running).items() if "session_process" in words]


def pipes(pid: int) -> set[str]:
    """The pipes of which a process has an end."""
    found = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.add(os.readlink(descriptor))
    return {name for name in found if name.startswith("pipe:")}


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, "does not happen"
        time.sleep(0.01)


@pytest.mark.slow
def test_the_process_that_waits_gets_the_first_server_and_no_other_is_started(start: Callable[..., Running]) -> None:
    running = start()
    peer = peer_of(running)
    waiting = sessions(running)
    assert len(waiting) == 1

    tools = serve(peer)["tools"]

    assert tools[0]["name"] == "add"
    assert sessions(running) == waiting
    serve(peer, "two")
    assert len(sessions(running)) == 2
    peer.ask("mcp_remove", name="one")
    wait_for(lambda: waiting[0] not in programs(running))


@pytest.mark.slow
def test_it_has_no_kernel_until_one_is_asked_for(start: Callable[..., Running]) -> None:
    running = start()
    peer = peer_of(running)
    assert list(programs(running)) == sessions(running)
    assert peer.ask("mcp_list") == {"servers": []}


@pytest.mark.slow
def test_a_sandbox_has_a_kernel_and_no_session(start: Callable[..., Running]) -> None:
    running = start(serves="false")
    peer_of(running)
    assert programs(running)
    assert sessions(running) == []


@pytest.mark.slow
def test_one_that_ends_before_its_time_is_replaced_by_the_next_start(start: Callable[..., Running]) -> None:
    running = start()
    peer = peer_of(running)
    [waiting] = sessions(running)
    shared = pipes(waiting) & pipes(running.pid)
    assert len(shared) == 3
    os.kill(waiting, signal.SIGKILL)
    wait_for(lambda: not shared & pipes(running.pid))

    assert serve(peer)["tools"][0]["name"] == "add"
    assert sessions(running) != [waiting]


@pytest.mark.slow
def test_an_image_without_the_packages_serves_and_says_so(start: Callable[..., Running]) -> None:
    running = start(packages="/nonexistent")
    peer = peer_of(running)
    with pytest.raises(Refused, match="mcp_unavailable"):
        serve(peer)
