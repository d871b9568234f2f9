"""What only the Linux kernel's own interface offers: non-dumpable processes, signals as data, the children's filter.

Also ways that cannot leave a folder. Written with ctypes alone. Numbers are those of ``linux/prctl.h``,
``linux/seccomp.h``, ``linux/openat2.h`` and the system call tables.
"""

import ctypes
import errno
import os
import signal
import struct
from typing import NamedTuple

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong]
_PR_SET_PDEATHSIG, _PR_GET_DUMPABLE, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 3, 4, 22
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_SECCOMP_MODE_FILTER = 2
_SFD_NONBLOCK, _SFD_CLOEXEC = 0o4000, 0o2000000
_SIGNALFD_INFO_BYTES = 128
_SIGSET_BYTES = 128

# Classic BPF: load a word, jumps, return. Offsets are into struct seccomp_data.
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NR_AT, _ARCH_AT, _FIRST_ARG_AT = 0, 4, 16
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # deny = EPERM
_X32_BIT = 0x40000000

_OPENAT2 = 437  # the same on all architectures
RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 0x01, 0x02, 0x04, 0x08
_ATTEMPTS = 64
_RENAME_NOREPLACE = 1


class _Architecture(NamedTuple):
    """The audit number and the system calls that could reach the supervisor, by their number."""

    audit: int
    prlimit64: int
    setpriority: int
    ioprio_set: int
    sched: tuple[int, ...]  # setparam, setscheduler, setaffinity, setattr


_ARCHITECTURES = {
    "x86_64": _Architecture(0xC000003E, 302, 141, 251, (142, 144, 203, 314)),
    "aarch64": _Architecture(0xC00000B7, 261, 140, 30, (118, 119, 122, 274)),
}
_PRIO_USER, _IOPRIO_WHO_USER = 2, 3  # all processes of a user, and so the supervisor


def _prctl(option: int, argument: int = 0, pointer: bytes | None = None) -> int:
    result = int(_LIBC.prctl(option, argument, pointer, 0, 0))
    if result < 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")
    return result


def set_undumpable() -> None:
    """Keep processes of the same user out of this one's memory, environment and descriptors."""
    _prctl(_PR_SET_DUMPABLE, 0)


def is_dumpable() -> bool:
    """True if processes of the same user can look into this one."""
    return _prctl(_PR_GET_DUMPABLE) == 1


def die_with_parent() -> None:
    """Have this process killed when the thread that forked it ends; survives exec."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends, as PID 1 is anyway."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def signal_descriptor(signals: set[signal.Signals]) -> int:
    """Block ``signals`` and give a non-blocking descriptor that delivers them as data (see ``read_signals``)."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    mask = sum(1 << (number - 1) for number in signals).to_bytes(_SIGSET_BYTES, "little")
    descriptor = int(_LIBC.signalfd(-1, mask, _SFD_NONBLOCK | _SFD_CLOEXEC))
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "signalfd")
    return descriptor


def read_signals(descriptor: int) -> list[tuple[int, int]]:
    """The signals that arrived, as (number, sender's pid); a sender outside our pid namespace has pid 0."""
    try:
        data = os.read(descriptor, 16 * _SIGNALFD_INFO_BYTES)
    except BlockingIOError:
        return []
    infos = (data[start : start + 16] for start in range(0, len(data), _SIGNALFD_INFO_BYTES))
    return [(number, pid) for number, _, _, pid in (struct.unpack("=IiiI", info) for info in infos)]


def threads() -> tuple[int, ...]:
    """The ids of this process's threads; the first thread's is the process's own."""
    return tuple(sorted(int(name) for name in os.listdir("/proc/self/task")))


def filter_program(machine: str, supervisor: tuple[int, ...]) -> bytes:
    """The BPF program for the supervisor's children on ``machine`` (as uname says).

    EPERM for prlimit64 on another process (it can kill even PID 1) and for the calls that set when and where the
    supervisor's threads run. Another architecture's system calls end the process: their numbers mean other things.
    """
    if machine not in _ARCHITECTURES:
        raise NotImplementedError(f"no system call filter for {machine}; known are {', '.join(_ARCHITECTURES)}")
    arch = _ARCHITECTURES[machine]
    code = [(_LOAD, 0, 0, _ARCH_AT), (_JUMP_EQUAL, 1, 0, arch.audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NR_AT)]
    if machine == "x86_64":
        code += [(_JUMP_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _DENY)]
    # A pid is an int: the kernel looks at the lower half of the argument only, and so do we (little endian).
    code += [(_JUMP_EQUAL, 0, 4, arch.prlimit64), (_LOAD, 0, 0, _FIRST_ARG_AT), (_JUMP_EQUAL, 1, 0, 0)]
    code += [(_RETURN, 0, 0, _DENY), (_RETURN, 0, 0, _ALLOW)]
    code += _denial(arch.setpriority, ((_PRIO_USER,), supervisor))
    code += _denial(arch.ioprio_set, ((_IOPRIO_WHO_USER,), supervisor))
    for number in arch.sched:
        code += _denial(number, (supervisor,))
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _denial(number: int, forbidden: tuple[tuple[int, ...], ...]) -> list[tuple[int, int, int, int]]:
    """Instructions that deny a system call if one of its first arguments is what is forbidden for it."""
    looks = []
    for argument, values in enumerate(forbidden):
        looks += [(_LOAD, _FIRST_ARG_AT + 8 * argument), *((_JUMP_EQUAL, value) for value in values)]
    length = len(looks) + 2
    code = [(_JUMP_EQUAL, 0, length, number)]
    for at, (operation, value) in enumerate(looks):
        code.append((operation, length - at - 2 if operation == _JUMP_EQUAL else 0, 0, value))
    return [*code, (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]


def install_filter(program: bytes) -> None:
    """Filter this process's system calls, and those of all it starts, for good."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header)


def openat2(folder: int, path: str, flags: int, resolve: int) -> int:
    """Open what ``path`` leads to from the descriptor ``folder``, never along a way that ``resolve`` forbids."""
    how = struct.pack("=QQQ", flags | os.O_CLOEXEC, 0, resolve)
    size = ctypes.c_size_t(len(how))
    number = errno.EAGAIN
    # EAGAIN: something was renamed meanwhile, so that the system cannot be sure that ".." stays inside.
    for _ in range(_ATTEMPTS):
        found = int(_LIBC.syscall(ctypes.c_long(_OPENAT2), ctypes.c_int(folder), os.fsencode(path), how, size))
        if found >= 0:
            return found
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(number, os.strerror(number), path)


def rename_new(name: str, folder: int, new_name: str, new_folder: int) -> None:
    """Rename; raises FileExistsError if the new name is taken, and OSError EINVAL if that cannot be made sure."""
    rename = getattr(_LIBC, "renameat2", None)
    if rename is None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if rename(folder, os.fsencode(name), new_folder, os.fsencode(new_name), _RENAME_NOREPLACE) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
