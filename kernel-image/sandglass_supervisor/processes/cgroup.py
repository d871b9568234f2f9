"""The container's accounts, from cgroup v1 or v2 as seen inside the pod.

The parsers are pure; ``Cgroup`` reads files, and what cannot be read is None.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple

# cgroup v1 writes "no limit" as the largest multiple of the page size that a signed 64-bit number holds.
_V1_NO_LIMIT = 2**62


class Memory(NamedTuple):
    """Bytes; ``used`` is the working set: usage without what could be dropped at once, which ``peak`` includes.

    ``oom_kills`` counts the processes that the kernel has killed here for lack of memory. ``shared``: of ``used``, what
    is shared memory, such as files in /dev/shm.
    """

    used: int | None
    limit: int | None
    peak: int | None
    oom_kills: int | None
    shared: int | None = None


class Cpu(NamedTuple):
    """``seconds`` used since the container began; ``limit`` in CPUs, None for no limit."""

    seconds: float | None
    limit: float | None


class Pids(NamedTuple):
    """Processes and threads."""

    now: int | None
    limit: int | None


def parse_number(text: str | None) -> int | None:
    """A file that holds one number; ``max`` and v1's huge numbers are no limit: None."""
    value = (text or "").strip()
    if not (value.isascii() and value.isdigit()):
        return None
    return int(value) if int(value) < _V1_NO_LIMIT else None


def parse_table(text: str | None) -> dict[str, int]:
    """A file of ``name number`` lines; other lines are left out."""
    pairs = (line.split() for line in (text or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isascii() and pair[1].isdigit()}


def quota(quota_us: int | None, period_us: int | None) -> float | None:
    """So many CPUs may be used at a time; None: as many as there are."""
    return None if quota_us is None or not period_us else quota_us / period_us


def working_set(usage: int | None, inactive_file: int | None) -> int | None:
    """Memory that cannot be dropped at once, as Kubernetes counts it."""
    return None if usage is None else max(0, usage - (inactive_file or 0))


class Cgroup:
    """Reads the tree below ``root``, which the container runtime makes the container's own."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._v2 = os.path.exists(os.path.join(root, "cgroup.controllers"))

    def memory(self) -> Memory:
        """Memory now, its limit and its peak."""
        if self._v2:
            usage, stat = self._number("memory.current"), self._table("memory.stat")
            used = working_set(usage, stat.get("inactive_file"))
            limit, peak = self._number("memory.max"), self._number("memory.peak")
            return Memory(used, limit, peak, self._oom_kills(), stat.get("shmem"))
        usage, stat = self._number("memory/memory.usage_in_bytes"), self._table("memory/memory.stat")
        used = working_set(usage, stat.get("total_inactive_file"))
        limit, peak = self._number("memory/memory.limit_in_bytes"), self._number("memory/memory.max_usage_in_bytes")
        return Memory(used, limit, peak, self._oom_kills(), stat.get("total_shmem"))

    def cpu(self) -> Cpu:
        """CPU time used, and how many CPUs may be."""
        if self._v2:
            usec = self._table("cpu.stat").get("usage_usec")
            share, _, period = (self._read("cpu.max") or "").partition(" ")
            return Cpu(None if usec is None else usec / 1e6, quota(parse_number(share), parse_number(period)))
        nanoseconds = self._any_number("cpuacct.usage", ("cpuacct", "cpu,cpuacct"))
        folders = ("cpu", "cpu,cpuacct")
        share_us, period_us = (self._any_number(f"cpu.cfs_{name}_us", folders) for name in ("quota", "period"))
        return Cpu(None if nanoseconds is None else nanoseconds / 1e9, quota(share_us, period_us))

    def pids(self) -> Pids:
        """Processes and threads now, and their limit."""
        folder = "" if self._v2 else "pids/"
        return Pids(self._number(f"{folder}pids.current"), self._number(f"{folder}pids.max"))

    def oom_kills(self) -> int:
        """How many processes the kernel has killed here for lack of memory; 0 if it does not say."""
        return self._oom_kills() or 0

    def shortage(self, before: int) -> Memory | None:
        """The memory's account if more processes have been killed for lack of it than ``before``, else None."""
        return self.memory() if self.oom_kills() > before else None

    def _oom_kills(self) -> int | None:
        name = "memory.events" if self._v2 else "memory/memory.oom_control"
        return self._table(name).get("oom_kill")

    def _any_number(self, name: str, folders: Sequence[str]) -> int | None:
        """A controller's file in the first of the folders that it may be mounted on."""
        found = (self._number(f"{folder}/{name}") for folder in folders)
        return next((number for number in found if number is not None), None)

    def _number(self, name: str) -> int | None:
        return parse_number(self._read(name))

    def _table(self, name: str) -> dict[str, int]:
        return parse_table(self._read(name))

    def _read(self, name: str) -> str | None:
        try:
            with open(os.path.join(self._root, name), encoding="ascii", errors="replace") as file:
                return file.read(64 * 1024)
        except OSError:
            return None
