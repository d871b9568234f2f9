"""What of the container's limits the code gets: processes and files as fit, and libraries that know its CPUs."""

import math
from collections.abc import Iterable

from ..limits import PROCESS_BYTES, PROCESSES_LEAST, PROCESSES_MOST


def processes(memory_bytes: int | None) -> int:
    """Processes and threads that may live at a time, by the container's memory; None is no limit.

    More of them than memory has room for do not meet the clear error of a fork: they take turns at being killed and at
    evicting the supervisor's own pages. A bomb in 512 MiB then went on for minutes.
    """
    if memory_bytes is None:
        return PROCESSES_MOST
    return min(max(memory_bytes // PROCESS_BYTES, PROCESSES_LEAST), PROCESSES_MOST)


def file_bytes(disk_bytes: int | None, memory_bytes: int | None, volumes_bytes: Iterable[int]) -> int | None:
    """What one file may hold: all that the largest place for files has, shared memory among them; None is no limit."""
    if disk_bytes is None or memory_bytes is None:
        return None
    return max(disk_bytes, memory_bytes, *volumes_bytes)


def variables(cpus: float | None) -> dict[str, str]:
    """Environment that tells libraries how many CPUs there are to use; None is no limit.

    They would start a thread for each of the node's. OpenMP's variable is also that of OpenBLAS and MKL; Python's is
    what ``os.cpu_count`` goes by from 3.13 on, and with it all pools that ask.
    """
    if cpus is None:
        return {}
    whole = str(max(1, math.ceil(cpus)))
    return {"OMP_NUM_THREADS": whole, "PYTHON_CPU_COUNT": whole}
