"""What the filter of system calls makes of calls, on each architecture: it is run as Linux would run it."""

import struct

import pytest

from sandglass_supervisor.processes.call_filter import filter_program

ALLOW, DENY, KILL = 0x7FFF0000, 0x00050001, 0x80000000
SUPERVISOR = (1, 7, 8)
OTHER = 42
ADDRESSES = (0x1000, 0x7FFF_0000_0000)  # of the second one the lower half is 0
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X86_64 = {
    "setrlimit": 160,
    "prlimit64": 302,
    "setpriority": 141,
    "ioprio_set": 251,
    "sched_setparam": 142,
    "sched_setscheduler": 144,
    "sched_setaffinity": 203,
    "sched_setattr": 314,
    "kill": 62,
    "tkill": 200,
    "tgkill": 234,
    "rt_sigqueueinfo": 129,
    "rt_tgsigqueueinfo": 297,
    "pidfd_open": 434,
    "pidfd_send_signal": 424,
    "fcntl": 72,
    "ioctl": 16,
    "write": 1,
}
AARCH64 = {
    "setrlimit": 164,
    "prlimit64": 261,
    "setpriority": 140,
    "ioprio_set": 30,
    "sched_setparam": 118,
    "sched_setscheduler": 119,
    "sched_setaffinity": 122,
    "sched_setattr": 274,
    "kill": 129,
    "tkill": 130,
    "tgkill": 131,
    "rt_sigqueueinfo": 138,
    "rt_tgsigqueueinfo": 240,
    "pidfd_open": 434,
    "pidfd_send_signal": 424,
    "fcntl": 25,
    "ioctl": 29,
    "write": 64,
}
NUMBERS = {"x86_64": X86_64, "aarch64": AARCH64}
MINUS = 2**64
OF_A_THREAD = ("sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr", "kill", "tkill")
DENIED = [
    *((name, thread) for name in (*OF_A_THREAD, "rt_sigqueueinfo", "pidfd_open") for thread in SUPERVISOR),
    # The kernel takes an int: what stands in the upper half is nothing to it.
    *((name, thread | 5 << 32) for name in ("kill", "rt_sigqueueinfo") for thread in SUPERVISOR),
    *((name, thread, OTHER) for name in ("tgkill", "rt_tgsigqueueinfo") for thread in SUPERVISOR),
    *((name, OTHER, thread) for name in ("tgkill", "rt_tgsigqueueinfo") for thread in SUPERVISOR),
    *((name, 0, thread) for name in ("setpriority", "ioprio_set") for thread in SUPERVISOR),
    ("setpriority", 2, OTHER),
    ("ioprio_set", 3, OTHER),
    ("setrlimit", 10, ADDRESSES[0]),
    ("prlimit64", OTHER, 7),
    *(("prlimit64", 0, 10, address) for address in ADDRESSES),
    *(("pidfd_send_signal", 5, 15, address, 0) for address in ADDRESSES),
    *(("pidfd_send_signal", 5, 15, 0, flags) for flags in (1, 2, 4)),
    *(("fcntl", 5, 8, thread) for thread in SUPERVISOR),
    *(("fcntl", 5, 8, MINUS - thread) for thread in SUPERVISOR),
    ("fcntl", 5, 15, ADDRESSES[0]),
    ("ioctl", 5, 0x8901, ADDRESSES[0]),
    ("ioctl", 5, 0x8902, ADDRESSES[0]),
]
ALLOWED = [
    *((name, OTHER) for name in (*OF_A_THREAD, "rt_sigqueueinfo", "pidfd_open")),
    ("kill", MINUS - 1, 9),
    ("kill", 0, 9),
    ("tgkill", OTHER, OTHER),
    ("rt_tgsigqueueinfo", OTHER, OTHER),
    ("setpriority", 0, 0),
    ("setpriority", 0, OTHER),
    ("ioprio_set", 1, 0),
    ("setrlimit", 7, ADDRESSES[0]),
    ("prlimit64", 0, 7, ADDRESSES[0]),
    ("prlimit64", 0, 10, 0, ADDRESSES[0]),
    ("pidfd_send_signal", 5, 15, 0, 0),
    ("fcntl", 5, 8, OTHER),
    ("fcntl", 5, 8, MINUS - OTHER),
    ("fcntl", 5, 4, 1),
    ("fcntl", 5, 10, 15),
    ("ioctl", 5, 0x541B, ADDRESSES[0]),
    ("ioctl", 5, 0x5452, ADDRESSES[0]),
    ("write", 1, 10, 8),
]


def verdict(program: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the filter says: classic BPF, as far as it is used."""
    data = struct.pack("=iIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = loaded = 0
    while True:
        kind, if_true, if_false, value = code[at]
        at += 1
        match kind:
            case 0x20:
                loaded = int(struct.unpack_from("=I", data, value)[0])
            case 0x15:
                at += if_true if loaded == value else if_false
            case 0x35:
                at += if_true if loaded >= value else if_false
            case _:
                return int(value)


@pytest.mark.parametrize("machine", NUMBERS)
@pytest.mark.parametrize(("calls", "expected"), [(DENIED, DENY), (ALLOWED, ALLOW)], ids=["denied", "allowed"])
def test_calls(machine: str, calls: list[tuple[str, int]], expected: int) -> None:
    program = filter_program(machine, SUPERVISOR)
    for name, *arguments in calls:
        found = verdict(program, AUDIT[machine], NUMBERS[machine][name], *arguments)
        assert found == expected, (name, arguments)


@pytest.mark.parametrize("machine", NUMBERS)
def test_the_calls_of_other_architectures_end_the_process(machine: str) -> None:
    program = filter_program(machine, SUPERVISOR)
    others = {*AUDIT.values(), 0x40000003, 0x40000028} - {AUDIT[machine]}  # i386 and ARM of 32 bits among them
    assert {verdict(program, audit, 1) for audit in others} == {KILL}


def test_x32_numbers_are_denied() -> None:
    program = filter_program("x86_64", SUPERVISOR)
    assert verdict(program, AUDIT["x86_64"], 0x40000000 | 522, 1) == DENY
    assert verdict(program, AUDIT["x86_64"], 0x40000000) == DENY


@pytest.mark.parametrize("machine", NUMBERS)
def test_it_stays_a_sound_program_with_many_threads(machine: str) -> None:
    program = filter_program(machine, range(1, 41))
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    for at, (kind, if_true, if_false, _) in enumerate(code):
        if kind in (0x15, 0x35):
            assert at + 1 + max(if_true, if_false) < len(code)
    assert code[-1][0] == 0x06
    assert verdict(program, AUDIT[machine], NUMBERS[machine]["fcntl"], 5, 8, MINUS - 40) == DENY


def test_no_other_machine_is_guessed() -> None:
    with pytest.raises(NotImplementedError, match="x86_64, aarch64"):
        filter_program("riscv64", SUPERVISOR)
