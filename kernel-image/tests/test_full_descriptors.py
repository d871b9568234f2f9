"""What is asked while the supervisor may open nothing more: it is answered, once, and nothing of it stays behind."""

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from client import Client
from supervisors import Running, needs_root

pytestmark = needs_root


def descriptors(running: Running) -> set[int]:
    """Those that stay: ZeroMQ opens and closes its own in threads of its own."""
    seen: set[int] | None = None
    while seen != (now := {int(name) for name in os.listdir(f"/proc/{running.process.pid}/fd")}):
        seen = now
        time.sleep(0.1)
    return now


@contextmanager
def few_descriptors(running: Running, free: int) -> Iterator[None]:
    """The supervisor may open so many more."""
    held = descriptors(running)
    unused = [number for number in range(len(held) + free + 1) if number not in held]
    before = resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, (unused[free], before[1]))
    yield
    resource.prlimit(running.process.pid, resource.RLIMIT_NOFILE, before)
    assert descriptors(running) <= held


def test_a_session_whose_env_could_not_be_looked_at_goes_on(spare: Running) -> None:
    client = spare.ready()
    for free in range(5):
        with few_descriptors(spare, free):
            ended = client.run(f"full-{free}", "1", session="other", python_env="x", timeout=5).outcome or {}
        assert ended["status"] == "env_error"
        assert "cannot be started: Too many open files" in ended["message"]
    assert client.run("after", "1 + 1", session="other").only("result").blob == b"2"


@pytest.mark.parametrize(("language", "needed"), [("python", 12), ("nodejs", 11)])
def test_a_kernel_that_could_not_be_started_can_be_later(spare: Running, language: str, needed: int) -> None:
    client = spare.ready()
    client.run("others", "1", session="other", language=language)
    client.ask("close", session="other", language=language)
    for free in range(needed):
        with few_descriptors(spare, free):
            ended = client.run(f"full-{free}", "1", session="other", language=language, timeout=5).outcome or {}
        assert ended["status"] == "env_error"
        assert "could not be started" in ended["message"]
    assert client.run("after", "1 + 1", session="other", language=language).only("result").blob == b"2"


def answers(client: Client, verb: str, seconds: float) -> int:
    """How many answers there are to one request."""
    request_id, count, end = client.send(verb), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        client.receive(0.05)
        count += client.replies.pop(request_id, None) is not None
    return count


@pytest.mark.parametrize("free", [0, 2, 3])
def test_metrics_are_answered_once(spare: Running, free: int) -> None:
    client = spare.ready()
    with few_descriptors(spare, free):
        assert answers(client, "metrics", 1.5) == 1
    assert client.ask("metrics")["kernels"] == 1
