"""Which system calls the supervisor's children may not make: a seccomp filter in classic BPF (pure).

What a child may not: signal the supervisor or have the kernel signal it, move its threads or their share of the
processors, set its limits, or set the limit that is a child's mark. Numbers are those of ``linux/seccomp.h``,
``asm/unistd.h``, ``asm-generic/fcntl.h`` and ``asm-generic/sockios.h``.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MARK_LIMIT = 10  # RLIMIT_LOCKS: Linux looks at it no more, and forks and programs inherit it

# Load a word, jumps, return. Offsets are into struct seccomp_data; the halves of arguments are little endian.
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NR_AT, _ARCH_AT, _FIRST_ARG_AT, _ARG_BYTES, _HIGH = 0, 4, 16, 8, 4
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # deny = EPERM
_X32_BIT = 0x40000000
_PRIO_USER, _IOPRIO_WHO_USER = 2, 3  # all processes of a user, and so the supervisor
_F_SETOWN, _F_SETOWN_EX = 8, 15
_FIOSETOWN, _SIOCSPGRP = 0x8901, 0x8902

_Code = list[tuple[int, int, int, int]]


class _Calls(NamedTuple):
    """The audit number of an architecture and its numbers of the system calls that could reach the supervisor."""

    audit: int
    prlimit64: int
    setrlimit: int
    setpriority: int
    ioprio_set: int
    sched: tuple[int, ...]  # setparam, setscheduler, setaffinity, setattr
    kill: tuple[int, ...]  # kill, tkill, rt_sigqueueinfo
    tgkill: tuple[int, ...]  # tgkill, rt_tgsigqueueinfo
    fcntl: int
    ioctl: int
    pidfd_send_signal: int = 424  # the same on all architectures
    pidfd_open: int = 434


_ARCHITECTURES = {
    "x86_64": _Calls(0xC000003E, 302, 160, 141, 251, (142, 144, 203, 314), (62, 200, 129), (234, 297), 72, 16),
    "aarch64": _Calls(0xC00000B7, 261, 164, 140, 30, (118, 119, 122, 274), (129, 130, 138), (131, 240), 25, 29),
}


class _Look(NamedTuple):
    """True if half a word of an argument is among the values, or with ``other`` if it is not.

    Of what the kernel takes for an int it looks at the lower half only, and so do we.
    """

    argument: int
    values: tuple[int, ...]
    other: bool = False
    high: bool = False

    def code(self, otherwise: int) -> _Code:
        """Go on behind the last instruction if it is true, else ``otherwise`` instructions further."""
        at = _FIRST_ARG_AT + _ARG_BYTES * self.argument + (_HIGH if self.high else 0)
        code = [(_LOAD, 0, 0, at)]
        for left, value in zip(range(len(self.values) - 1, -1, -1), self.values, strict=True):
            if self.other:
                code.append((_JUMP_EQUAL, left + otherwise, 0, value))
            else:
                code.append((_JUMP_EQUAL, left, 0 if left else otherwise, value))
        return code


class _Denial(NamedTuple):
    """A system call is denied if all looks are true."""

    number: int
    looks: tuple[_Look, ...]

    def code(self) -> _Code:
        code: _Code = [(_RETURN, 0, 0, _DENY)]
        for look in reversed(self.looks):
            code = look.code(len(code)) + code
        return code


def filter_program(machine: str, supervisor: Sequence[int]) -> bytes:
    """The program for children on ``machine`` (as uname says) of a supervisor with these threads.

    Another architecture's system calls end the process: their numbers mean other things.
    """
    if machine not in _ARCHITECTURES:
        raise NotImplementedError(f"no system call filter for {machine}; known are {', '.join(_ARCHITECTURES)}")
    calls = _ARCHITECTURES[machine]
    code = [(_LOAD, 0, 0, _ARCH_AT), (_JUMP_EQUAL, 1, 0, calls.audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _NR_AT)]
    if machine == "x86_64":
        code += [(_JUMP_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _DENY)]
    by_number: dict[int, _Code] = {}
    for denial in _denials(calls, tuple(supervisor)):
        by_number[denial.number] = by_number.get(denial.number, []) + denial.code()
    for number, denials in by_number.items():
        block = [*denials, (_RETURN, 0, 0, _ALLOW)]
        code += [(_JUMP_EQUAL, 0, len(block), number), *block]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _denials(calls: _Calls, supervisor: tuple[int, ...]) -> Iterator[_Denial]:
    def if_supervisor(number: int, argument: int) -> _Denial:
        return _Denial(number, (_Look(argument, supervisor),))

    yield _Denial(calls.prlimit64, (_Look(0, (0,), other=True),))  # of another process: it can kill even PID 1
    yield from _if_given(calls.prlimit64, 2, _Look(1, (MARK_LIMIT,)))
    yield _Denial(calls.setrlimit, (_Look(0, (MARK_LIMIT,)),))
    for number, everything in ((calls.setpriority, _PRIO_USER), (calls.ioprio_set, _IOPRIO_WHO_USER)):
        yield _Denial(number, (_Look(0, (everything,)),))
        yield if_supervisor(number, 1)
    for number in (*calls.sched, *calls.kill, calls.pidfd_open):
        yield if_supervisor(number, 0)
    for number in calls.tgkill:
        yield if_supervisor(number, 0)
        yield if_supervisor(number, 1)
    # A pidfd does not tell whose it is. Without a word of the sender's own, and not for a thread, the sender is told.
    yield from _if_given(calls.pidfd_send_signal, 2)
    yield _Denial(calls.pidfd_send_signal, (_Look(3, (0,), other=True),))
    # Who owns a file hears of it by a signal without a sender; a negative owner is a process group.
    owners = supervisor + tuple(-thread & 0xFFFFFFFF for thread in supervisor)
    yield _Denial(calls.fcntl, (_Look(1, (_F_SETOWN,)), _Look(2, owners)))
    yield _Denial(calls.fcntl, (_Look(1, (_F_SETOWN_EX,)),))
    yield _Denial(calls.ioctl, (_Look(1, (_FIOSETOWN, _SIOCSPGRP)),))


def _if_given(number: int, argument: int, *looks: _Look) -> Iterator[_Denial]:
    """Denied if an argument is an address, and not null."""
    for high in (False, True):
        yield _Denial(number, (*looks, _Look(argument, (0,), other=True, high=high)))
