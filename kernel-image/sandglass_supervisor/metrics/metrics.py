"""What the sandbox uses, for the verb ``metrics``."""

import os
import signal
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..limits import CPU_SAMPLE_S, DISK_FRESH_S, DISK_WAIT_S
from ..loop import Loop
from ..processes.cgroup import Cgroup
from ..processes.children import Children
from .network_traffic import traffic

_SOON_S = 1e-3


class Disk:
    """Bytes that the sandbox's folders hold: counted by ``du`` in a process of its own, at most every 10 s."""

    def __init__(self, loop: Loop, children: Children, folders: Sequence[str], env: dict[str, str]) -> None:
        self._loop = loop
        self._children = children
        self._folders = folders
        self._env = env
        self._bytes: int | None = None
        self._counted_at: float | None = None
        self._counting = False
        self._waiting: list[Callable[[int | None], None]] = []

    def ask(self, answer: Callable[[int | None], None]) -> None:
        """Call ``answer`` once: with a fresh figure, or after a second with the last known one."""
        if self._counted_at is not None and self._loop.clock() - self._counted_at < DISK_FRESH_S:
            answer(self._bytes)
            return
        self._waiting.append(answer)
        # Counting millions of files takes long: answer with what is known, the count goes on.
        self._loop.call_in(DISK_WAIT_S, self._answer)
        if not self._counting:
            self._count()

    def _count(self) -> None:
        def counted(_: int, said: bytes) -> None:
            late.cancel()
            self._bytes = _sum(said, self._bytes)
            self._counting = False
            self._counted_at = self._loop.clock()
            self._answer()

        try:
            child = self._children.ask(["du", "-sxk", "--", *self._folders], self._env, counted)
        except OSError:
            self._answer()
            return
        self._counting = True
        late = self._loop.call_in(6 * DISK_FRESH_S, lambda: child.signal_group(signal.SIGKILL))

    def _answer(self) -> None:
        waiting, self._waiting = self._waiting, []
        for answer in waiting:
            answer(self._bytes)


def scratch_folders(workspace: str, temporary: str) -> list[str]:
    """The folders that the limit of the disk is for: the workspace, and the temporary one if it is a volume too."""
    below = os.path.commonpath([workspace, temporary]) == temporary
    return [workspace] if below or not os.path.ismount(temporary) else [workspace, temporary]


def _sum(told: bytes, before: int | None) -> int | None:
    """What ``du`` says of each folder in KiB, all together in bytes; ``before`` if it says nothing."""
    sizes = [int(size) for size in (line.split(b"\t")[0] for line in told.splitlines()) if size.isdigit()]
    return sum(sizes) * 1024 if sizes else before


class CpuRate:
    """Per cent of one CPU over the last 5 to 10 s, whoever asks and how often (pure)."""

    def __init__(self, now: float, seconds: float | None) -> None:
        self._before = self._last = (now, seconds)

    def sample(self, now: float, seconds: float | None) -> None:
        """Note a reading; called at even distances."""
        self._before, self._last = self._last, (now, seconds)

    def percent(self, now: float, seconds: float | None) -> float | None:
        """The rate up to this reading; None if one of the two readings failed."""
        then, before = self._before
        if seconds is None or before is None:
            return None
        return round(max(0.0, 100 * (seconds - before) / max(now - then, _SOON_S)), 1)


class Bounds(NamedTuple):
    """Limits that no control group tells of: of the disk in bytes, and of processes and threads."""

    disk_bytes: int | None
    processes: int


class Metrics:
    """Readings of the cgroup, the disk and the network; what cannot be read is None."""

    def __init__(self, loop: Loop, cgroup: Cgroup, disk: Disk, bounds: Bounds, kernels: Callable[[], int]) -> None:
        self._loop = loop
        self._cgroup = cgroup
        self._disk = disk
        self._bounds = bounds
        self._kernels = kernels
        self._started_at = loop.clock()
        self._rate = CpuRate(self._started_at, cgroup.cpu().seconds)
        loop.call_in(CPU_SAMPLE_S, self._sample)

    def begin(self) -> None:
        """Count the sandbox's age from now on: until here it was nobody's."""
        self._started_at = self._loop.clock()

    def ask(self, answer: Callable[[dict[str, Any]], None]) -> None:
        """Call ``answer`` once with all readings, within about a second."""
        self._disk.ask(lambda disk_bytes: answer(self._read(disk_bytes)))

    def _read(self, disk_bytes: int | None) -> dict[str, Any]:
        now = self._loop.clock()
        cpu, memory, pids, network = self._cgroup.cpu(), self._cgroup.memory(), self._cgroup.pids(), traffic()
        most = self._bounds.processes
        return {
            "cpu_seconds": cpu.seconds,
            "cpu_usage_percent": self._rate.percent(now, cpu.seconds),
            "cpu_limit": cpu.limit,
            "memory_bytes": memory.used,
            "memory_limit_bytes": memory.limit,
            "memory_peak_bytes": memory.peak,
            "oom_kills": memory.oom_kills,
            "disk_bytes": disk_bytes,
            "disk_limit_bytes": self._bounds.disk_bytes,
            "pids": pids.now,
            "pids_limit": most if pids.limit is None else min(most, pids.limit),
            "network_received_bytes": network.received,
            "network_sent_bytes": network.sent,
            "kernels": self._kernels(),
            "uptime_s": round(now - self._started_at, 3),
        }

    def _sample(self) -> None:
        self._rate.sample(self._loop.clock(), self._cgroup.cpu().seconds)
        self._loop.call_in(CPU_SAMPLE_S, self._sample)
