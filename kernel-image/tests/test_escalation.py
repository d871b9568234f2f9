"""How far it goes until code ends that does not want to: SIGINT, SIGINT again, SIGKILL; and what is said of it."""

import os
import signal
import time
from itertools import count

import pytest
from client import PATIENCE, Client
from supervisors import HASTE, Running

ENDLESS_IN_C = {
    "a sum": "sum(range(10**12))",
    "the C library": "import ctypes; ctypes.PyDLL(None).sigsuspend((ctypes.c_ulong * 16)(*[2**64 - 1] * 16))",
}
BEGUN_S = 3.0  # in which code is where it does not react any more
DEAF = {
    "ignores": "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('on', flush=True)\nwhile True: pass",
    "catches": "import time\nwhile True:\n  try: time.sleep(1)\n  except BaseException: pass",
    "stops": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "awaits on": "import asyncio\nwhile True:\n  try: await asyncio.sleep(9)\n  except BaseException: pass",
}


def test_a_catastrophic_pattern_is_interrupted(client: Client, name: str) -> None:
    code = "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')"
    began = time.monotonic()
    ended = client.run(name, code, timeout_s=0.5).outcome
    assert time.monotonic() - began < 0.5 + 10
    assert ended is not None
    assert ended["status"] == "timeout"


@pytest.mark.slow
@pytest.mark.parametrize("what", [*ENDLESS_IN_C, *DEAF])
def test_what_cannot_be_interrupted_is_killed(hasty: Running, what: str) -> None:
    client = hasty.ready()
    client.run("before", "kept = 1")
    client.start("endless", {**ENDLESS_IN_C, **DEAF}[what], timeout_s=BEGUN_S)
    began = time.monotonic()
    ended = client.finish("endless").outcome
    assert time.monotonic() - began < BEGUN_S + HASTE["INTERRUPT_GRACE_S"] + 10
    assert ended is not None
    assert (ended["status"], ended["kernel_restarted"], ended["signal"]) == ("timeout", True, 9), ended
    assert "did not react, so its process was killed" in ended["message"]
    assert "Run the code that made the variables again" in ended["message"]
    assert client.run("after", "'kept' in globals()").only("result").blob == b"False"


def test_what_reacts_keeps_its_variables_and_is_told_what_to_do(client: Client, name: str) -> None:
    client.run(name + "1", "kept = 1")
    ended = client.run(name + "2", "while True: pass", timeout_s=0.3).outcome
    assert ended is not None
    assert (ended["status"], ended["kernel_restarted"]) == ("timeout", False)
    assert ended["message"] == "The time-out of 0.3 s was reached and the run was interrupted."
    assert ended["hint"] == {"kind": "more_time"}
    assert client.run(name + "3", "kept").only("result").blob == b"1"


@pytest.mark.slow
def test_an_interrupt_by_a_caller_goes_as_far(hasty: Running) -> None:
    client = hasty.ready()
    client.start("deaf", DEAF["ignores"])
    client.until(lambda: client.output("deaf").text() == "on\n", PATIENCE, "output")
    assert client.ask("interrupt", language="python", session="default") == {"interrupted": ["deaf"]}
    ended = client.finish("deaf").outcome
    assert ended is not None
    assert (ended["status"], ended["kernel_restarted"]) == ("interrupted", True)
    assert client.run("after", "1 + 1").only("result").blob == b"2"


@pytest.mark.slow
def test_whoever_waits_hears_of_a_killed_kernel_at_once(spare: Running) -> None:
    client = spare.ready()
    for turn in range(5):
        client.start(f"waits{turn}", "import os, time; print(os.getpid(), flush=True); time.sleep(60)")
        client.until(lambda turn=turn: client.output(f"waits{turn}").text().endswith("\n"), PATIENCE, "the pid")
        os.kill(int(client.output(f"waits{turn}").text()), signal.SIGKILL)
        began = time.monotonic()
        ended = client.finish(f"waits{turn}").outcome
        # 300 ms is what is promised, see test_outcomes; a busy machine is no reason to fail. The code sleeps on.
        assert time.monotonic() - began < 10
        assert ended is not None
        assert (ended["status"], ended["signal"], ended["kernel_restarted"]) == ("kernel_died", 9, True)
        assert "variables are lost; files are kept. Run the code" in ended["message"]


@pytest.mark.slow
def test_programs_of_a_killed_kernel_go_with_it(hasty: Running) -> None:
    client = hasty.ready()
    code = "import os, subprocess; print(subprocess.Popen(['sleep', '300']).pid, flush=True)\n" + DEAF["ignores"]
    client.start("deaf", code, timeout_s=BEGUN_S)
    ended = client.finish("deaf")
    assert ended.outcome is not None
    assert ended.outcome["kernel_restarted"] is True
    pid = ended.text().split()[0]
    states = (client.command(f"look{i}", "sh", "-c", f"cat /proc/{pid}/stat || true").text() for i in count())
    assert next(state for state in states if not state or state.split()[2] == "Z") is not None
