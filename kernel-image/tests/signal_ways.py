"""Ways by which code has a process get SIGTERM that seems to come from nowhere, as the container runtime's does.

Runs in a sandbox: ``tried(pid)`` is what came of each way, "sent" or the error's name. ``heard()`` is what a process of
its own told of the same ways: the control. See ``test_signals``.
"""

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable

LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "tkill": 200, "tgkill": 234},
    "aarch64": {"rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "tkill": 130, "tgkill": 131},
}[os.uname().machine] | {"pidfd_send_signal": 424}
F_SETOWN_EX, FIOSETOWN, SIOCSPGRP = 15, 0x8901, 0x8902
NOBODY = struct.pack("=iii", signal.SIGTERM, 0, -1).ljust(128, b"\0")  # SI_QUEUE, of pid 0


def call(name: str, *arguments: object) -> None:
    words = (argument if isinstance(argument, bytes) else ctypes.c_long(argument) for argument in arguments)  # type: ignore[arg-type]
    if LIBC.syscall(ctypes.c_long(NUMBERS[name]), *words) < 0:
        raise OSError(ctypes.get_errno(), name)


def by_pidfd(pid: int, info: bytes | int, flags: int) -> None:
    descriptor = os.open(f"/proc/{pid}", os.O_RDONLY)
    try:
        call("pidfd_send_signal", descriptor, signal.SIGTERM, info, flags)
    finally:
        os.close(descriptor)


def owned(own: Callable[[int], object]) -> None:
    """Have the owner of a socket told by SIGTERM that something came."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        fcntl.fcntl(ours, fcntl.F_SETSIG, signal.SIGTERM)
        own(ours.fileno())
        fcntl.fcntl(ours, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        theirs.send(b"x")


def fill_queue() -> None:
    """So many signals wait for this user that Linux keeps no more senders but those of kill."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMAX})
    own = struct.pack("=iii", signal.SIGRTMAX, 0, -1).ljust(128, b"\0")
    for _ in range(resource.getrlimit(resource.RLIMIT_SIGPENDING)[0] + 1):
        try:
            call("rt_sigqueueinfo", os.getpid(), signal.SIGRTMAX, own)
        except BlockingIOError:
            return


WAYS: dict[str, Callable[[int], object]] = {
    "rt_sigqueueinfo": lambda pid: call("rt_sigqueueinfo", pid, signal.SIGTERM, NOBODY),
    "rt_tgsigqueueinfo": lambda pid: call("rt_tgsigqueueinfo", pid, pid, signal.SIGTERM, NOBODY),
    "pidfd_send_signal": lambda pid: by_pidfd(pid, NOBODY, 0),
    "F_SETOWN": lambda pid: owned(lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, pid)),
    "F_SETOWN of a group": lambda pid: owned(lambda fd: fcntl.fcntl(fd, fcntl.F_SETOWN, -pid)),
    "F_SETOWN_EX": lambda pid: owned(lambda fd: fcntl.fcntl(fd, F_SETOWN_EX, struct.pack("=ii", 1, pid))),
    "FIOSETOWN": lambda pid: owned(lambda fd: fcntl.ioctl(fd, FIOSETOWN, struct.pack("=i", pid))),
    "SIOCSPGRP": lambda pid: owned(lambda fd: fcntl.ioctl(fd, SIOCSPGRP, struct.pack("=i", pid))),
    # From here on with a full queue.
    "tkill": lambda pid: call("tkill", pid, signal.SIGTERM),
    "tgkill": lambda pid: call("tgkill", pid, pid, signal.SIGTERM),
    "pidfd_send_signal to a thread": lambda pid: by_pidfd(pid, 0, 1),
}


def tried(pid: int) -> dict[str, str]:
    found = {}
    for name, way in WAYS.items():
        if name == "tkill":
            fill_queue()
        try:
            way(pid)
            found[name] = "sent"
        except OSError as error:
            found[name] = type(error).__name__
    return found


def heard() -> dict[str, int]:
    """The sender's pid of each SIGTERM that came to this process by one of the ways, as a signalfd has it; -1: none."""
    os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    mask = (1 << (signal.SIGTERM - 1)).to_bytes(128, "little")
    descriptor = LIBC.signalfd(-1, mask, os.O_NONBLOCK)
    found = {}
    for name, way in WAYS.items():
        if name == "tkill":
            fill_queue()
        try:
            way(os.getpid())
            found[name] = struct.unpack_from("=I", os.read(descriptor, 128), 12)[0]
        except OSError:
            found[name] = -1
    return found


if __name__ == "__main__":
    print(json.dumps(tried(int(sys.argv[1])) if len(sys.argv) > 1 else heard()))
