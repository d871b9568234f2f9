"""Code cannot have the supervisor get a signal that looks like the container runtime's, and keeps its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from client import PATIENCE, Client
from supervisors import Running, first_process_of, needs_root

SETRLIMIT = {"x86_64": 160, "aarch64": 164}[os.uname().machine]
WAYS = (Path(__file__).parent / "signal_ways.py").read_text()


@needs_root
def test_no_way_leads_to_the_first_process(first: Running) -> None:
    client = first.ready()
    found = json.loads(client.command("ways", sys.executable, "-c", WAYS, "1").text())
    assert set(found.values()) == {"PermissionError"}, found
    assert client.run("after", "1 + 1").only("result").blob == b"2"
    # With the queue still full of the code's signals, the runtime's own ends it.
    fills = WAYS.replace(
        'if __name__ == "__main__":', 'if fill_queue() or print("full", flush=True) or signal.pause():'
    )
    client.ask("command", execution_id="fills", command=sys.executable, args=["-c", fills], attach=True)
    client.until(lambda: client.output("fills").text() == "full\n", PATIENCE, "the full queue")
    os.kill(first_process_of(first), signal.SIGTERM)
    assert first.process.wait(PATIENCE) == 128 + signal.SIGTERM


@pytest.mark.slow
def test_control_each_way_reaches_a_process_that_is_not_guarded() -> None:
    told = subprocess.run([sys.executable, "-c", WAYS], capture_output=True, check=True, timeout=60)
    found = json.loads(told.stdout)
    assert {name for name, sender in found.items() if sender != 0} == set(), found


SELF = """
import fcntl, os, resource, signal, socket, struct, threading
own = struct.pack('=iii', signal.SIGUSR1, 0, -1).ljust(128, b'\\0')
got = []
for number in (signal.SIGUSR1, signal.SIGIO): signal.signal(number, lambda number, _: got.append(number))
signal.raise_signal(signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGUSR1)
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
signal.pidfd_send_signal(os.pidfd_open(os.getpid()), signal.SIGUSR1)
ours, theirs = socket.socketpair()
fcntl.fcntl(ours, fcntl.F_SETOWN, os.getpid())
fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC)
theirs.send(b'x')
print(got.count(signal.SIGUSR1), got.count(signal.SIGIO), resource.getrlimit(10)[0] > 2**59)
"""


def test_signals_of_ones_own_still_work(client: Client, name: str) -> None:
    assert client.command(name, sys.executable, "-c", SELF).text() == "4 1 True\n"


@pytest.mark.parametrize(
    "how",
    [
        "resource.setrlimit(10, (0, 0))",
        "resource.prlimit(0, 10, (0, 0))",
        f"check(ctypes.CDLL(None, use_errno=True).syscall({SETRLIMIT}, 10, (ctypes.c_ulong * 2)()))",
    ],
)
def test_no_process_loses_its_mark(client: Client, name: str, how: str) -> None:
    check = "def check(result):\n  if result < 0: raise OSError(ctypes.get_errno(), 'x')\n"
    code = f"import ctypes, resource\n{check}{how}\n"
    output = client.command(name, sys.executable, "-c", code)
    assert "PermissionError" in output.text("stderr") or "not allowed to raise" in output.text("stderr")
