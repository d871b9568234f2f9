"""Programs that hide what they start, and ways to find it nevertheless."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from supervisors import Running

# Each process forks a successor, which leaves session and group, and ends: so many chains, for a minute at most.
HYDRA = """
import fcntl, os, sys, time
lock = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o666)
fcntl.flock(lock, fcntl.LOCK_EX)
end = time.monotonic() + 60
def fork():
    while True:
        try:
            return os.fork()
        except BlockingIOError:
            time.sleep(0.001)
for _ in range(int(sys.argv[1])):
    if fork() == 0:
        while time.monotonic() < end:
            if fork() > 0:
                os._exit(0)
            os.setsid()
        os._exit(0)
print('on', flush=True)
time.sleep(60)
"""
# A process in another session, whose parent is gone and whose environment is empty.
LEAVER = """
import fcntl, os, sys, time
lock = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o666)
fcntl.flock(lock, fcntl.LOCK_EX)
os.set_inheritable(lock, True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        os.execve('/bin/sleep', ['sleep', '60'], {})
    os._exit(0)
os.wait()
print('on', flush=True)
time.sleep(60)
"""
WHOSE = "SANDGLASS_TEST_WHOSE"


def living(name: str) -> list[int]:
    """The processes that have the execution's name in their environment, but for those that have ended."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if f"{WHOSE}={name}".encode() in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                found.append(int(entry))
    return found


def is_over(running: Running, name: str) -> bool:
    """True if no process of a bomb lives: they all hold its lock, which nobody misses who forks at the wrong moment."""
    descriptor = os.open(running.workspace / name, os.O_WRONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
