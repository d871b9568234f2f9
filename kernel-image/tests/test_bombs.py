"""Commands that multiply: all of one ends with it, in whatever session it hides, and nothing else does."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from bombs import HYDRA, LEAVER, WHOSE, is_over, living
from client import PATIENCE, Client, Output
from supervisors import FIRST_PROCESS, UID, Running, first_process_of

from sandglass_supervisor.loop import Loop
from sandglass_supervisor.processes import offspring
from sandglass_supervisor.processes.children import Child, mark_of
from sandglass_supervisor.processes.offspring import Offspring

pytestmark = pytest.mark.alone
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become somebody else")

# It multiplies until it is refused; only for a user whose processes are limited.
BASH_BOMB = """
import fcntl, os, sys
lock = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o666)
fcntl.flock(lock, fcntl.LOCK_EX)
os.set_inheritable(lock, True)
os.execvp('bash', ['bash', '-c', 'b() { b | b & }; b; wait'])
"""


@pytest.fixture
def limited(folder: Path) -> Iterator[Running]:
    """PID 1 without privileges, and at most 300 processes of its user."""
    # A user of its own: the limit counts all processes of one, wherever they run.
    prefix = [str(int(UID) + 1_000_000_000) if part == UID else part for part in FIRST_PROCESS]
    running = Running(folder, prefix, SANDGLASS_MAX_PROCESSES="300")
    running.workspace.chmod(0o777)
    inner = first_process_of(running)
    yield running
    with suppress(ProcessLookupError):
        os.kill(inner, signal.SIGKILL)
    running.stop()


def python(client: Client, name: str, *argv: str, **more: Any) -> None:
    argv = ("-I", "-S", "-c", *argv, name)
    client.ask("command", execution_id=name, command=sys.executable, args=argv, attach=True, **more)


def hydra(client: Client, name: str, heads: int, **more: Any) -> None:
    python(client, name, HYDRA, str(heads), **more)
    client.until(lambda: client.output(name).text() == "on\n" or client.output(name).outcome, PATIENCE, "its heads")


def status(output: Output) -> object:
    assert output.outcome is not None
    return output.outcome["status"]


@pytest.mark.parametrize("heads", [1, 40])
def test_a_hydra_ends_with_its_time(shared: Running, client: Client, name: str, heads: int) -> None:
    hydra(client, name, heads, timeout_s=3)
    assert not is_over(shared, name)
    assert status(client.finish(name)) == "timeout"
    client.until(lambda: is_over(shared, name), PATIENCE, "its end")


def test_a_hydra_ends_when_interrupted(shared: Running, client: Client, name: str) -> None:
    hydra(client, name, 20)
    assert not is_over(shared, name)
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    assert status(client.finish(name)) == "interrupted"
    client.until(lambda: is_over(shared, name), PATIENCE, "its end")


def test_what_leaves_everything_behind_ends_too(shared: Running, client: Client, name: str) -> None:
    python(client, name, LEAVER, timeout_s=3)
    client.until(lambda: client.output(name).text() == "on\n", PATIENCE, "output")
    assert not is_over(shared, name)
    assert status(client.finish(name)) == "timeout"
    assert is_over(shared, name)


def test_without_a_mark_the_group_ends() -> None:
    loop, done = Loop(), []
    process = subprocess.Popen(
        ["sh", "-c", "sleep 60 & echo; sleep 60"], start_new_session=True, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    child = Child(process.pid, 5, lambda status: None)
    assert not child.marked
    left = Offspring(loop, 0)
    assert not left.exceeds(child)
    left.watch(child)
    left.end(child, lambda: done.append(True))
    # The other process holds the pipe, too.
    assert (done, process.stdout.read(), process.wait(5)) == ([True], b"", -signal.SIGKILL)


def test_what_was_killed_and_takes_long_to_end_is_not_what_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        child = Child(process.pid, mark_of(process.pid), lambda status: None)
        lingers = offspring._Census({child.mark: [process.pid]}, fled=False)
        nothing = offspring._Census({}, fled=False)
        # Nothing is looked for and killed here: the mark of this process is that of the whole machine.
        monkeypatch.setattr(offspring, "_census", lambda marks, found=None: lingers if child.mark in marks else nothing)
        monkeypatch.setattr(offspring, "HUNT_S", 0.05)
        loop, done = Loop(), []
        left = Offspring(loop, 9)
        left.watch(child)
        assert left.goes_on()
        left.end(child, lambda: done.append(True))
        while not done:
            loop.run_once()
        assert not left.goes_on()


def test_what_would_lower_its_mark_is_found(own: Running, name: str) -> None:
    client = own.ready()
    lower = "import resource\ntry: resource.setrlimit(10, (0, 0))\nexcept (OSError, ValueError) as e: print(type(e))\n"
    python(client, name, lower + LEAVER, timeout_s=2)
    assert status(client.finish(name)) == "timeout"
    assert "Error" in client.output(name).text()
    assert is_over(own, name)


def test_only_the_command_is_hit(own: Running, name: str) -> None:
    client = own.ready()
    start = "import subprocess; of_kernel = subprocess.Popen(['sleep', '60'], start_new_session=True); kept = 1"
    client.run("kernel", start)
    client.run("node", "let kept = 1", language="nodejs")
    client.command("leaves", "sh", "-c", "setsid sleep 60 & nohup sleep 60 & echo", envs={WHOSE: name + "left"})
    client.ask("command", execution_id="other", command="sleep", args=["60"], envs={WHOSE: name + "other"})
    hydra(client, name, 20, timeout_s=0.5)
    assert status(client.finish(name)) == "timeout"
    client.until(lambda: is_over(own, name), PATIENCE, "its end")
    try:
        assert client.run("still", "kept, of_kernel.poll()").only("result").blob == b"(1, None)"
        assert client.run("still-node", "kept", language="nodejs").only("result").blob == b"1"
        assert len(living(name + "left")) == 2
        assert len(living(name + "other")) == 1
    finally:
        client.run("end", "of_kernel.kill()")
        for pid in living(name + "left"):
            os.kill(pid, signal.SIGKILL)


def test_what_runs_behind_a_shell_ends_with_an_interrupt(client: Client, name: str) -> None:
    script = "sleep 60 & (trap '' INT TERM; sleep 60; sleep 60) & setsid sleep 60 & echo on; wait"
    client.ask("command", execution_id=name, command="sh", args=["-c", script], envs={WHOSE: name}, attach=True)
    client.until(lambda: client.output(name).text() == "on\n", PATIENCE, "output")
    client.ask("interrupt", execution_id=name)
    assert status(client.finish(name)) == "interrupted"
    assert living(name) == []


def leave(client: Client, name: str, count: int, where: str) -> Output:
    script = f"i=0; while [ $i -lt {count} ]; do setsid sleep 60 {where} & i=$((i+1)); done; echo on"
    return client.command(name, "sh", "-c", script, envs={WHOSE: name})


@pytest.mark.parametrize("where", ["", ">/dev/null 2>&1"])
def test_a_command_may_leave_so_many_processes(tmp_path: Path, name: str, where: str) -> None:
    running = Running(tmp_path, SANDGLASS_MAX_PROCESSES="40")  # root's processes are not limited by it
    client = running.ready()
    try:
        at_most = leave(client, name, 20, where)
        one_more = leave(client, name + "more", 21, where)
        assert (status(at_most), status(one_more)) == ("ok", "ok")
        assert at_most.outcome is not None
        assert one_more.outcome is not None
        assert "more than" not in at_most.outcome.get("warning", "")
        if not where:
            assert "more than 20 processes running" in one_more.outcome["warning"]
        client.until(lambda: not living(name + "more"), PATIENCE, "the end of what is too many")
        assert len(living(name)) == 20
    finally:
        for pid in living(name):
            os.kill(pid, signal.SIGKILL)
        running.stop()


def test_what_a_command_left_may_not_grow_without_bound(tmp_path: Path, name: str) -> None:
    running = Running(tmp_path, SANDGLASS_MAX_PROCESSES="40")
    client = running.ready()
    grow = "i=0; until [ -e go ]; do sleep 0.1; done; while [ $i -lt 30 ]; do sleep 60 & i=$((i+1)); done; wait"
    try:
        assert status(client.command(name, "sh", "-c", f"({grow}) & echo on", envs={WHOSE: name})) == "ok"
        assert living(name)
        (running.workspace / "go").touch()
        client.until(lambda: not living(name), PATIENCE, "its end")
        assert "runaway" in running.log.read_text()
    finally:
        running.stop()


@needs_root
@pytest.mark.parametrize("how", ["bash", "hydra"])
def test_a_bomb_that_meets_the_limit_is_ended(limited: Running, name: str, how: str) -> None:
    client = limited.ready()
    if how == "bash":
        python(client, name, BASH_BOMB, timeout_s=3)
        assert status(client.finish(name)) in ("ok", "error", "timeout")
    else:
        python(client, name, HYDRA, "400", timeout_s=2)
        assert status(client.finish(name)) == "timeout"
    client.until(lambda: is_over(limited, name), PATIENCE, "its end")
    assert client.run("after", "1 + 1").only("result").blob == b"2"
