"""How executions end: time-outs, interrupts, deaths, queues."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client, Output, Refused
from supervisors import PATIENT, Running, children_of

from sandglass_supervisor.limits import INTERRUPT_GRACE_S

STUCK = "sum(range(10**12))"  # holds the interpreter lock in C: no signal handler runs


def outcome(output: Output) -> dict[str, Any]:
    assert output.outcome is not None
    return output.outcome


def test_time_out_interrupts_and_keeps_the_kernel(client: Client, name: str) -> None:
    client.run(name + "1", "kept = 1")
    output = client.run(name + "2", "print('partial')\nwhile True: pass", timeout_s=3.0)
    ended = outcome(output)
    assert (ended["status"], ended["kernel_restarted"], output.text()) == ("timeout", False, "partial\n")
    assert 3000 <= ended["duration_ms"] < 3000 + 1000 * PATIENT["INTERRUPT_GRACE_S"]
    assert client.run(name + "3", "kept").only("result").blob == b"1"


@pytest.mark.slow
def test_stuck_code_is_killed(own: Running) -> None:
    client = own.ready()
    client.start("stuck", f"print('before', flush=True)\n{STUCK}", timeout_s=3.0)
    client.start("behind", "1")
    output = client.finish("stuck")
    assert 3000 + 1000 * INTERRUPT_GRACE_S <= outcome(output)["duration_ms"] < 12_000
    assert (outcome(output)["status"], outcome(output)["kernel_restarted"]) == ("timeout", True)
    assert "variables are lost" in str(outcome(output)["message"])
    assert output.text() == "before\n"
    behind = outcome(client.finish("behind"))
    assert (behind["status"], behind["kernel_restarted"]) == ("kernel_died", True)
    assert "did not run" in str(behind["message"])
    assert client.run("after", "1 + 1").only("result").blob == b"2"


@pytest.mark.slow
def test_a_flush_sends_what_any_thread_wrote(own: Running) -> None:
    client = own.ready()
    write = "import sys, threading\nsys.stdout.flush()\nt = threading.Thread(target=print, args=('from a thread',))"
    client.start("stuck", f"{write}\nt.start(); t.join(); sys.stdout.flush()\n{STUCK}", timeout_s=3.0)
    assert client.finish("stuck").text() == "from a thread\n"


@pytest.mark.slow
def test_time_out_does_not_count_the_queue(client: Client, name: str) -> None:
    client.start(name + "1", "import time; time.sleep(3.5)")
    assert outcome(client.run(name + "2", "pass", timeout_s=3.0))["status"] == "ok"


@pytest.mark.slow
def test_code_that_swallows_the_interrupt(client: Client, name: str) -> None:
    code = "import time\ntry: time.sleep(30)\nexcept KeyboardInterrupt: print('cleaned')"
    output = client.run(name, code, timeout_s=3.0)
    assert (outcome(output)["status"], output.text()) == ("timeout", "cleaned\n")


@pytest.mark.parametrize("by", ["execution", "session"])
def test_interrupt(client: Client, name: str, by: str) -> None:
    client.start(name, "import os, time\nos.system('echo on; exec sleep 30')\ntime.sleep(30)")
    # The first signal ends the program, the second the sleep behind it.
    client.until(lambda: client.output(name).text() == "on\n", PATIENCE, "output")
    which: dict[str, Any] = (
        {"execution_id": name} if by == "execution" else {"language": "python", "session": "default"}
    )
    assert client.ask("interrupt", **which) == {"interrupted": [name]}
    ended = outcome(client.finish(name))
    assert (ended["status"], ended["kernel_restarted"]) == ("interrupted", False)
    assert client.ask("interrupt", **which) == {"interrupted": []}


@pytest.mark.slow
def test_interrupt_right_after_start(client: Client, name: str) -> None:
    for turn in range(10):
        client.start(f"{name}{turn}", "import time; time.sleep(30)")
        assert client.ask("interrupt", execution_id=f"{name}{turn}")["interrupted"] == [f"{name}{turn}"]
        ended = outcome(client.finish(f"{name}{turn}"))
        assert (ended["status"], ended["kernel_restarted"]) == ("interrupted", False)


def test_interrupt_of_one_that_waits(client: Client, name: str) -> None:
    client.start(name + "1", "import time; time.sleep(60)")
    assert client.start(name + "2", "ran = True")["position"] == 1
    assert client.ask("interrupt", execution_id=name + "2")["interrupted"] == [name + "2"]
    assert outcome(client.finish(name + "2"))["status"] == "interrupted"
    assert client.output(name + "1").outcome is None
    assert client.ask("interrupt", execution_id=name + "1")["interrupted"] == [name + "1"]
    assert outcome(client.finish(name + "1"))["status"] == "interrupted"


@pytest.mark.alone
def test_death_is_told_at_once(own: Running) -> None:
    client, took = own.ready(), list[float]()
    # What else the machine does may delay one or two.
    while len(took) < 3 and min(took, default=1) >= 0.3:
        name = f"dies{len(took)}"
        client.start(name, "import os, time; print(os.getpid(), flush=True); time.sleep(60)")
        client.until(lambda name=name: client.output(name).text().endswith("\n"), PATIENCE, "the pid")
        began = time.monotonic()
        os.kill(int(client.output(name).text()), signal.SIGKILL)
        ended = outcome(client.finish(name))
        took.append(time.monotonic() - began)
        assert (ended["status"], ended["signal"], ended["kernel_restarted"]) == ("kernel_died", 9, True)
    assert min(took) < 0.3
    assert client.run("after", "'again'").only("result").blob == b"'again'"
    told = [event["event"] for _, _, event in client.events]
    # That the first kernel is ready may have been told before anybody listened.
    again = ["died", "starting", "ready"] * len(took)
    assert told in (["ready", *again], again)


# A process without the kernel's mark, in a session of its own, that has the kernel's connection, and fills it with what
# the run might say.
HEIR = """
import os, resource, signal, socket
kernel = get_ipython().kernel
said = kernel.session.msg("stream", {"name": "stdout", "text": "x"}, parent=kernel.get_parent("shell"))
frames = kernel.session.serialize(said, ident=b"stream.stdout")
more = [1] * (len(frames) - 1) + [0]
many = 500 * b"".join(bytes([2 + flag]) + len(frame).to_bytes(8, "big") + frame for flag, frame in zip(more, frames))
with open("/proc/net/unix") as table:
    sockets = {f"socket:[{line.split()[6]}]" for line in table if line.rstrip().endswith("-2")}
mine = os.getpid()
if os.fork() == 0:
    os.setsid()
    for number in range(3, 256):
        try:
            if os.readlink(f"/proc/self/fd/{number}") not in sockets:
                continue
        except OSError:
            continue
        connection = socket.socket(fileno=number)
        connection.setblocking(True)
        while os.getppid() == mine:
            pass
        try:
            while True:
                connection.sendall(many)
        except OSError:
            pass
    os._exit(0)
os.kill(mine, signal.SIGKILL)
"""


@pytest.mark.slow
def test_an_heir_of_the_connection_does_not_hold_the_end_up(own: Running) -> None:
    client = own.ready()
    ended = outcome(client.run("leaves", HEIR))
    assert (ended["status"], ended["signal"]) == ("kernel_died", 9)
    assert ended["duration_ms"] < 15_000
    assert client.run("after", "'again'").only("result").blob == b"'again'"


@pytest.mark.slow
def test_death_of_an_idle_kernel(own: Running) -> None:
    client = own.ready()
    pid = int(client.run("pid", "import os; os.getpid()").only("result").blob)
    os.kill(pid, signal.SIGKILL)
    client.until(lambda: "died" in [event["event"] for _, _, event in client.events], PATIENCE, "the event")
    after = client.run("after", "'again'")
    assert after.only("result").blob == b"'again'"
    assert outcome(after)["kernel_restarted"] is True
    assert outcome(after)["warning"].startswith(
        "Before this run, while nothing ran, the kernel's process ended by signal 9."
    )
    later = outcome(client.run("later", "1"))
    assert (later["kernel_restarted"], later.get("warning")) == (False, None)


ENDS_BEFORE_THE_NEXT = "import os; get_ipython().kernel.pre_handler_hook = lambda: os._exit(0)"

ENDS_WITH_TOO_MANY_PAGES = """
for _ in range(10):
    get_ipython().payload_manager.write_payload({"source": "page", "data": {"text/plain": "x" * 10**6}}, single=False)
get_ipython().ask_exit()
"""


@pytest.mark.slow
@pytest.mark.parametrize("code", [ENDS_BEFORE_THE_NEXT, "get_ipython().ask_exit()", ENDS_WITH_TOO_MANY_PAGES])
def test_what_waits_for_a_kernel_that_ends_just_then_runs_in_the_next(spare: Running, code: str) -> None:
    client = spare.ready()
    client.start("ends", code)
    client.start("first", "import asyncio; await asyncio.sleep(0.3); 'ran'")
    client.start("second", "'ran'")
    assert outcome(client.finish("ends"))["status"] == "ok"
    for name, warning in (("first", "Before this run, while nothing ran, the kernel's process ended"), ("second", "")):
        told = outcome(client.finish(name))
        assert (told["status"], told["kernel_restarted"]) == ("ok", bool(warning))
        assert told.get("warning", "").startswith(warning)
        assert client.output(name).only("result").blob == b"'ran'"


@pytest.mark.slow
def test_a_kernel_that_the_code_ends_does_so_in_order(spare: Running) -> None:
    client = spare.ready()
    client.run("ends", "kept = open('kept', 'w'); kept.write('all'); get_ipython().ask_exit()")
    assert client.run("after", "open('kept').read()").only("result").blob == b"'all'"


@pytest.mark.slow
def test_death_of_a_kernel_that_had_nothing_to_lose(own: Running) -> None:
    client = own.ready()
    client.ask("reset")
    client.until(lambda: len(children_of(own.process.pid)) == 1, PATIENCE, "the fresh kernel to be alone")
    (kernel,) = children_of(own.process.pid)
    os.kill(kernel, signal.SIGKILL)
    client.until(
        lambda: [event["event"] for _, _, event in client.events].count("died") == 2,
        PATIENCE,
        "the event after that of the reset",
    )
    after = outcome(client.run("after", "1"))
    assert (after["kernel_restarted"], after.get("warning")) == (False, None)


@pytest.mark.slow
def test_exit_ends_the_kernel_honestly(own: Running) -> None:
    client = own.ready()
    output = client.run("exit", "import os; os._exit(3)")
    assert (outcome(output)["status"], outcome(output)["exit_code"]) == ("kernel_died", 3)


@pytest.mark.slow
def test_memory_limit(tmp_path: Path) -> None:
    tree = tmp_path / "cgroup" / "memory"
    tree.mkdir(parents=True)
    (tree / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n")
    (tree / "memory.limit_in_bytes").write_text("536870912\n")
    (tree / "memory.max_usage_in_bytes").write_text("536866816\n")
    (tmp_path / "own").mkdir()
    running = Running(tmp_path / "own", SANDGLASS_CGROUP_ROOT=str(tmp_path / "cgroup"))
    try:
        client = running.ready()
        client.start("eats", "import os, time; print(os.getpid(), flush=True); time.sleep(60)")
        client.until(lambda: client.output("eats").text().endswith("\n"), PATIENCE, "the pid")
        (tree / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
        os.kill(int(client.output("eats").text()), signal.SIGKILL)
        ended = outcome(client.finish("eats"))
        assert ended["status"] == "oom_killed"
        assert "memory limit of 512 MiB (peak 512 MiB)" in str(ended["message"])
        assert "oom" in [event["event"] for _, _, event in client.events]
    finally:
        running.stop()


@pytest.mark.slow
def test_kernel_that_cannot_start(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_ENV='{"PYTHONHOME":"/nonexistent"}')
    try:
        client = running.client()
        client.hello()
        ended = outcome(client.run("none", "1"))
        assert ended["status"] == "env_error"
        assert "could not be started" in str(ended["message"])
        assert client.events[-1][2]["event"] == "given_up"
        kernel = client.ask("list")["kernels"][0]
        assert kernel["state"] == "dead"
        assert kernel["trouble"] in str(ended["message"])
        assert client.command("works", "echo", "still here").text() == "still here\n"
    finally:
        running.stop()


def test_queue_keeps_order_and_refuses_the_ninth(client: Client, name: str, home: Path) -> None:
    go, grace_s = home / "go", PATIENT["INTERRUPT_GRACE_S"]
    client.run(name + "order", "import os, time; order = []")
    client.start(name, f"while not os.path.exists({str(go)!r}): time.sleep(0.005)", timeout_s=60.0)
    places = [client.start(f"{name}{i}", f"order.append({i})", timeout_s=100.0) for i in range(8)]
    assert [place["position"] for place in places] == list(range(1, 9))
    # The one that runs has 60 s of its own, and each may need a grace to end. Some seconds may have gone by already.
    waits = [place["waits_s"] for place in places]
    assert 40 < waits[0] <= 60 + grace_s
    assert all(abs(wait - waits[0] - (100 + grace_s) * number) < 20 for number, wait in enumerate(waits))
    with pytest.raises(Refused, match="rejected"):
        client.start(f"{name}8", "order.append(8)")
    go.touch()
    for i in range(8):
        assert outcome(client.finish(f"{name}{i}"))["status"] == "ok"
    assert client.run(name + "look", "order").only("result").blob == b"[0, 1, 2, 3, 4, 5, 6, 7]"


@pytest.mark.slow
def test_wait_kernel_false(own: Running) -> None:
    client = own.client()
    with pytest.raises(Refused, match="is starting"):
        client.start("now", "1", wait_kernel=False)
    client.run("later", "1")
    assert outcome(client.run("now", "1", wait_kernel=False))["status"] == "ok"
