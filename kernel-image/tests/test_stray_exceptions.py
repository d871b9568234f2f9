"""Exceptions that reach the kernel's own loop, as those of a forgotten alarm: told, and no end of the kernel."""

import os
import signal
from pathlib import Path

import pytest
from client import PATIENCE, Client, Output
from supervisors import Running

SESSION = "stray"
ALARM = """
import asyncio, signal, sys
kept = 1
def late(*_):
    open({told!r}, "x").close()
    raise {error}
signal.signal(signal.SIGALRM, late)
{sets}
"""
# The test raises the alarm once the run is over.
PID = "import os; print(os.getpid())"
# A thread does as soon as the loop waits for something.
WHEN_IT_WAITS = """
import os, threading
waits = threading.Event()
asyncio.get_running_loop().call_soon(waits.set)
threading.Thread(target=lambda: (waits.wait(), os.kill(os.getpid(), signal.SIGALRM))).start()
"""
TASK = """
import asyncio, sys
kept = 1
async def leaves():
    open({told!r}, "a").close()
    {does}
"""


@pytest.fixture
def told(home: Path) -> Path:
    """There as soon as the code is about to raise."""
    return home / "told"


def status(output: Output) -> str:
    assert output.outcome is not None
    assert output.outcome["kernel_restarted"] is False
    assert output.outcome.get("warning") is None
    return str(output.outcome["status"])


def waits(pid: int) -> bool:
    """Whether a process waits in an event loop; where Linux does not say in what it sleeps: whether it sleeps."""
    where = Path(f"/proc/{pid}/wchan").read_text()
    return "poll" in where or (where == "0" and ") S " in Path(f"/proc/{pid}/stat").read_text())


def still_works(client: Client, name: str) -> None:
    output = client.run(f"{name}-kept", "kept", session=SESSION)
    assert (status(output), output.only("result").blob) == ("ok", b"1")


@pytest.mark.parametrize("error", ["TimeoutError('too long')", "SystemExit(3)", "KeyboardInterrupt"])
def test_an_alarm_that_was_forgotten(client: Client, name: str, told: Path, error: str) -> None:
    output = client.run(name, ALARM.format(error=error, sets=PID, told=str(told)), session=SESSION)
    assert status(output) == "ok"
    pid = int(output.text())
    client.until(lambda: waits(pid), PATIENCE, "the kernel to wait in its loop")
    os.kill(pid, signal.SIGALRM)
    client.until(told.exists, PATIENCE, "the alarm")
    still_works(client, name)


@pytest.mark.slow
def test_an_alarm_while_a_later_cell_awaits_is_told(client: Client, name: str, told: Path) -> None:
    client.run(name, ALARM.format(error="TimeoutError('too long')", sets="", told=str(told)), session=SESSION)
    output = client.run(f"{name}-2", f"{WHEN_IT_WAITS}\nawait asyncio.sleep(1, 7)", session=SESSION)
    assert (status(output), output.only("result").blob) == ("ok", b"7")
    assert "in late\n" in output.text("stderr")
    assert "TimeoutError: too long" in output.text("stderr")
    still_works(client, name)


@pytest.mark.parametrize("error", ["TimeoutError('too long')", "SystemExit(3)"])
def test_an_alarm_before_the_reply(client: Client, name: str, told: Path, error: str) -> None:
    code = "own = vars(get_ipython().kernel)\nown['finish_metadata'] = lambda *_: [own.pop('finish_metadata'), late()]"
    output = client.run(name, ALARM.format(error=error, sets="", told=str(told)) + code, session=SESSION)
    assert status(output) == "error"
    assert output.outcome is not None
    assert output.outcome["message"] == {"T": "TimeoutError: too long", "S": "SystemExit: 3"}[error[0]]
    still_works(client, name)


@pytest.mark.slow
@pytest.mark.parametrize("does", ["sys.exit(3)", "raise KeyboardInterrupt"])
def test_a_task_that_leaves(client: Client, name: str, told: Path, does: str) -> None:
    begin = TASK.format(does=does, told=str(told)) + "task = asyncio.create_task(leaves())"
    assert status(client.run(name, begin, session=SESSION)) == "ok"
    client.until(told.exists, PATIENCE, "the task")
    output = client.run(f"{name}-2", "await task", session=SESSION)
    assert status(output) == "error"
    assert output.only("error").json["name"] == ("SystemExit" if "exit" in does else "KeyboardInterrupt")
    awaited = client.run(f"{name}-3", "await asyncio.create_task(leaves())", session=SESSION)
    assert status(awaited) == "error"
    still_works(client, name)


def test_a_forked_process_that_leaves_in_a_task_is_no_second_kernel(client: Client, name: str, told: Path) -> None:
    code = """
async def forks():
    global child
    child = os.fork()
    if child == 0:
        sys.exit(3)
await asyncio.create_task(forks())
os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""
    output = client.run(name, TASK.format(does="pass", told=str(told)) + "import os" + code, session=SESSION)
    assert (status(output), output.only("result").blob) == ("ok", b"3")
    still_works(client, name)


HOPELESS = """
import asyncio
loop = asyncio.get_running_loop()
def again():
    loop.call_soon(again)
    raise SystemExit
loop.call_soon(again)
"""


@pytest.mark.slow
def test_a_loop_that_cannot_go_on_ends_the_kernel(spare: Running) -> None:
    client = spare.ready()
    client.run("hopeless", HOPELESS)
    client.until(lambda: "died" in [event["event"] for _, _, event in client.events], PATIENCE, "the event")
    assert client.run("after", "6 * 7").only("result").blob == b"42"


@pytest.mark.slow
@pytest.mark.parametrize("end", ["get_ipython().ask_exit()", "get_ipython().kernel.io_loop.stop()"])
def test_what_ends_a_kernel_still_does(spare: Running, end: str) -> None:
    client = spare.ready()
    sets = "signal.setitimer(signal.ITIMER_REAL, 0.05)"
    alarm = ALARM.format(error="TimeoutError", sets=sets, told=str(spare.workspace / "told"))
    client.run("ends", f"{alarm}\n{end}")
    client.until(lambda: "died" in [event["event"] for _, _, event in client.events], PATIENCE, "the event")
    assert client.run("after", "6 * 7").only("result").blob == b"42"


def test_a_signal_to_end_ends_an_idle_kernel(spare: Running) -> None:
    client = spare.ready()
    pid = int(client.run("pid", "import os; os.getpid()").only("result").blob)
    os.kill(pid, signal.SIGTERM)
    client.until(lambda: "died" in [event["event"] for _, _, event in client.events], PATIENCE, "the event")
    assert not Path(f"/proc/{pid}").exists()
