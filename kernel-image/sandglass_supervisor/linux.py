"""What only the Linux kernel's own interface offers: non-dumpable processes, signals as data, system call filters.

Also ways that cannot leave a folder. Written with ctypes alone. Numbers are those of ``linux/prctl.h``,
``linux/seccomp.h``, ``linux/openat2.h`` and ``asm-generic/siginfo.h``.
"""

import contextlib
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
_SI_USER, _SI_KERNEL = 0, 0x80

_OPENAT2 = 437  # the same on all architectures
RESOLVE_NO_XDEV, RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH = 0x01, 0x02, 0x04, 0x08
_ATTEMPTS = 64
_RENAME_NOREPLACE = 1


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


class OomScore:
    """This process's ``oom_score_adj``, which what it forks inherits: the higher, the sooner Linux ends it for memory.

    Made before ``set_undumpable``: from then on the file is root's, and neither this process nor a child that has not
    become its program could open it. Without the file nothing is changed.
    """

    _HIGHEST = b"1000"

    def __init__(self) -> None:
        self._own = b""
        with contextlib.suppress(OSError):
            self._file = os.open("/proc/self/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
            self._own = os.read(self._file, 16).strip()

    def raise_for_children(self) -> None:
        """Until ``restore``: what is forked now goes first, and for that moment this process is no better off."""
        self._write(self._HIGHEST)

    def restore(self) -> None:
        """As it was given."""
        self._write(self._own)

    def _write(self, score: bytes) -> None:
        if self._own:
            with contextlib.suppress(OSError):
                os.pwrite(self._file, score, 0)


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


class Signal(NamedTuple):
    """A signal that arrived, with its code and the sender's pid, which is 0 for one outside our pid namespace."""

    number: int
    code: int
    sender: int

    @property
    def is_from_outside(self) -> bool:
        """True for what a process outside our pid namespace sent by kill; code must not be able to send the like."""
        return self.sender == 0 and self.code in (_SI_USER, _SI_KERNEL)


def read_signals(descriptor: int) -> list[Signal]:
    """The signals that arrived."""
    try:
        data = os.read(descriptor, 16 * _SIGNALFD_INFO_BYTES)
    except BlockingIOError:
        return []
    infos = (data[start : start + 16] for start in range(0, len(data), _SIGNALFD_INFO_BYTES))
    return [Signal(number, code, pid) for number, _, code, pid in (struct.unpack("=IiiI", info) for info in infos)]


def threads() -> tuple[int, ...]:
    """The ids of this process's threads; the first thread's is the process's own."""
    return tuple(sorted(int(name) for name in os.listdir("/proc/self/task")))


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


def writable_bytes(folder: str) -> int:
    """The size of the file system that a folder is in; 0 if nothing can be written there."""
    try:
        about = os.statvfs(folder)
    except OSError:
        return 0
    return 0 if about.f_flag & os.ST_RDONLY else about.f_blocks * about.f_frsize


def rename_new(name: str, folder: int, new_name: str, new_folder: int) -> None:
    """Rename; raises FileExistsError if the new name is taken, and OSError EINVAL if that cannot be made sure."""
    rename = getattr(_LIBC, "renameat2", None)
    if rename is None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if rename(folder, os.fsencode(name), new_folder, os.fsencode(new_name), _RENAME_NOREPLACE) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
