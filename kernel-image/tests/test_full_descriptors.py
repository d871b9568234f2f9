"""What is asked while the supervisor may open nothing more: it is answered, once, and nothing of it stays behind."""

import os
import resource
import signal
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bombs import WHOSE, living
from client import PATIENCE, Client
from supervisors import Running, needs_root

from sandglass_supervisor.limits import DISK_WAIT_S, LOOK_LAST_S

pytestmark = needs_root


def descriptors(running: Running) -> set[int]:
    """Those that stay: ZeroMQ opens and closes its own in threads of its own."""
    seen: set[int] | None = None
    while seen != (now := {int(name) for name in os.listdir(f"/proc/{running.process.pid}/fd")}):
        seen = now
        time.sleep(0.05)
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
            ended = client.run(f"full-{free}", "1", session="other", python_env="x").outcome or {}
        assert ended["status"] == "env_error"
        assert "cannot be started: Too many open files" in ended["message"]
    assert client.run("after", "1 + 1", session="other").only("result").blob == b"2"


@pytest.mark.slow
@pytest.mark.parametrize(("language", "needed"), [("python", 12), ("nodejs", 11)])
def test_a_kernel_that_could_not_be_started_can_be_later(spare: Running, language: str, needed: int) -> None:
    client = spare.ready()
    client.run("others", "1", session="other", language=language)
    client.ask("close", session="other", language=language)
    for free in range(needed):
        with few_descriptors(spare, free):
            ended = client.run(f"full-{free}", "1", session="other", language=language).outcome or {}
        assert ended["status"] == "env_error"
        assert "could not be started" in ended["message"]
    assert client.run("after", "1 + 1", session="other", language=language).only("result").blob == b"2"


@pytest.mark.slow
@pytest.mark.parametrize("stdin", [None, b"x"])
def test_a_command_that_could_not_be_started_leaves_nothing(spare: Running, stdin: bytes | None) -> None:
    client = spare.ready()
    for free in range(8):
        with few_descriptors(spare, free):
            ended = client.command(f"full-{free}", "cat", stdin=stdin).outcome or {}
        assert (ended["status"], ended["message"]) == ("error", "cat could not be started: Too many open files.")
    assert client.command("after", "cat", stdin=stdin).text() == (stdin or b"").decode()


def test_an_installation_that_could_not_be_started_is_over(spare: Running) -> None:
    client = spare.ready()
    for turn in range(2):
        os.utime(sysconfig.get_path("purelib"))  # Python will list it anew when it looks for Node's package
        with few_descriptors(spare, 0):
            client.ask("install", execution_id=f"full-{turn}", language="nodejs", packages=["x"], attach=True)
            ended = client.finish(f"full-{turn}").outcome or {}
        told = (ended["status"], ended["message"])
        assert told == ("error", "The installer could not be started: Too many open files.")
    assert {entry["state"] for entry in client.ask("list")["executions"]} == {"done"}


@pytest.mark.slow
def test_a_kernel_that_ends_meanwhile(spare: Running, name: str) -> None:
    """What it had started cannot be looked for, /proc being a folder to open: that is made up for."""
    client = spare.ready()
    start = f"""
const options = {{ detached: true, env: {{ {WHOSE}: '{name}' }} }}
require('child_process').spawn('/bin/sleep', ['60'], options).pid
"""
    client.run("starts", start, language="nodejs")
    with few_descriptors(spare, 0):
        ended = client.run("ends", "process.kill(process.pid, 'SIGKILL')", language="nodejs").outcome or {}
        assert ended["status"] == "kernel_died"
        assert client.ask("list")["kernels"]
    client.until(lambda: not living(name), PATIENCE, "its end")
    assert client.run("after", "1 + 1", language="nodejs").only("result").blob == b"2"


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "status", "left"), [("command", "ok", 1), ("interrupt", "interrupted", 0)])
def test_a_command_that_ends_meanwhile(spare: Running, name: str, verb: str, status: str, left: int) -> None:
    client = spare.ready()
    os.mkfifo(spare.workspace / "go")
    script = f"env {WHOSE}={name} setsid sleep 60 & echo on; read line <go"
    client.ask("command", execution_id=name, command="sh", args=["-c", script], attach=True)
    client.until(lambda: client.output(name).text() == "on\n" and living(name), PATIENCE, "what it leaves")
    with few_descriptors(spare, 0):
        if verb == "interrupt":
            client.ask("interrupt", execution_id=name)
        else:
            (spare.workspace / "go").write_text("\n")
        assert (client.finish(name).outcome or {})["status"] == status
        assert client.ask("list")["kernels"]
    try:
        client.until(lambda: len(living(name)) == left, PATIENCE, "what it may leave")
        assert client.run("after", "1 + 1").only("result").blob == b"2"
    finally:
        for pid in living(name):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_what_a_command_left_is_looked_at_again_afterwards(tmp_path: Path, name: str) -> None:
    running = Running(tmp_path, SANDGLASS_MAX_PROCESSES="40")
    client = running.ready()
    grow = "until [ -e go ]; do sleep 0.1; done; for i in $(seq 30); do sleep 60 & done; wait"
    try:
        client.command(name, "sh", "-c", f"({grow}) >/dev/null 2>&1 &", envs={WHOSE: name})
        with few_descriptors(running, 0):
            time.sleep(2 * LOOK_LAST_S)  # nothing tells that it looked in vain
        (running.workspace / "go").touch()
        client.until(lambda: "runaway" in running.log.read_text() and not living(name), PATIENCE, "its end")
    finally:
        for pid in living(name):
            os.kill(pid, signal.SIGKILL)
        running.stop()


def test_html_is_told_meanwhile(spare: Running) -> None:
    client = spare.ready()
    code = "from IPython.display import HTML; HTML('<p>1 &lt; 2')"
    with few_descriptors(spare, 0):
        assert client.run("meanwhile", code).only("result").blob == b"1 &lt; 2"
    assert client.run("after", code).only("result").blob == b"1 < 2"


def answers(client: Client, verb: str, seconds: float) -> int:
    """How many answers there are to one request, so long after the first."""
    request_id = client.send(verb)
    client.reply_to(request_id)
    count, end = 1, time.monotonic() + seconds
    while time.monotonic() < end:
        client.receive(0.05)
        count += client.replies.pop(request_id, None) is not None
    return count


@pytest.mark.slow
@pytest.mark.parametrize("free", [0, 2, 3])
def test_metrics_are_answered_once(spare: Running, free: int) -> None:
    client = spare.ready()
    with few_descriptors(spare, free):
        assert answers(client, "metrics", 1.2 * DISK_WAIT_S) == 1
    assert client.ask("metrics")["kernels"] == 1
