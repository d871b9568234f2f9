"""What the sandbox uses, for the verb ``metrics``."""

import os
import signal
from collections.abc import Callable, Sequence
from typing import Any

from .cgroup import Cgroup
from .children import Children, Program
from .limits import DISK_FRESH_S, DISK_WAIT_S
from .loop import Loop

_RATE_WINDOW_S = 0.5


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
        reader, writer = os.pipe()
        null = os.open(os.devnull, os.O_RDWR)
        try:
            argv = ["du", "-sxk", "--", *self._folders]
            child = self._children.start(Program(argv, self._env, "/", null, writer, null), lambda _: counted())
        except OSError:
            os.close(reader)
            self._answer()
            return
        finally:
            os.close(writer)
            os.close(null)

        def counted() -> None:
            with os.fdopen(reader, "rb") as output:
                sizes = [line.split(b"\t")[0] for line in output.read(4096).splitlines()]
            if any(size.isdigit() for size in sizes):
                self._bytes = sum(int(size) for size in sizes if size.isdigit()) * 1024
            self._counting = False
            self._counted_at = self._loop.clock()
            self._answer()

        self._counting = True
        self._loop.call_in(6 * DISK_FRESH_S, lambda: child.signal_group(signal.SIGKILL))

    def _answer(self) -> None:
        waiting, self._waiting = self._waiting, []
        for answer in waiting:
            answer(self._bytes)


class Metrics:
    """Readings of the cgroup and the disk; what cannot be read is None."""

    def __init__(self, loop: Loop, cgroup: Cgroup, disk: Disk, disk_limit_bytes: int | None) -> None:
        self._loop = loop
        self._cgroup = cgroup
        self._disk = disk
        self._disk_limit_bytes = disk_limit_bytes
        self._started_at = loop.clock()
        self._sample = (self._started_at, cgroup.cpu_seconds())
        self._percent: float | None = None

    def ask(self, answer: Callable[[dict[str, Any]], None]) -> None:
        """Call ``answer`` once with all readings, within about a second."""
        self._disk.ask(lambda disk_bytes: answer(self._read(disk_bytes)))

    def _read(self, disk_bytes: int | None) -> dict[str, Any]:
        now = self._loop.clock()
        memory, pids, cpu_seconds = self._cgroup.memory(), self._cgroup.pids(), self._cgroup.cpu_seconds()
        return {
            "cpu_seconds": cpu_seconds,
            "cpu_usage_percent": self._rate(now, cpu_seconds),
            "memory_bytes": memory.used,
            "memory_limit_bytes": memory.limit,
            "memory_peak_bytes": memory.peak,
            "disk_bytes": disk_bytes,
            "disk_limit_bytes": self._disk_limit_bytes,
            "pids": pids.now,
            "pids_limit": pids.limit,
            "uptime_s": round(now - self._started_at, 3),
        }

    def _rate(self, now: float, cpu_seconds: float | None) -> float | None:
        """Per cent of one CPU since the last reading; asked again within half a second, the last answer holds."""
        then, before = self._sample
        if cpu_seconds is None or before is None:
            return None
        if now - then >= _RATE_WINDOW_S or self._percent is None:
            self._percent = round(100 * (cpu_seconds - before) / max(now - then, 1e-3), 1)
            self._sample = (now, cpu_seconds)
        return self._percent
