"""What code leaves in the sandbox that outlives its processes: shared memory, queues and semaphores, by who made it.

Linux does not say who made what. So it is looked at before and after each run: what came meanwhile is of those that
ran. What more than one can have made goes with the last of them; what a command can have made stays, as its files do.
"""

import ctypes
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where POSIX has it
QUEUES = "/dev/mqueue"
OF_COMMANDS = "commands"  # the owner of what commands make
_TICK_NS = 2_000_000_000  # of a folder's time, which queues have in whole seconds: what happens within may not show
_MIB = 1 << 20
_LIBC = ctypes.CDLL(None, use_errno=True)
_IPC_RMID = 0


class Store(Protocol):
    """A place where such things are, each with a name of its own."""

    def names(self) -> Iterable[str] | None:
        """What is there now; None if that is as it was the last time."""

    def remove(self, name: str) -> None:
        """Remove one, as far as that can be done; without effect if it is gone."""


class Folder:
    """Files, and folders with all that is in them; ``remove_tree`` removes a folder, and may take its time."""

    def __init__(self, path: str, remove_tree: Callable[[str], None]) -> None:
        self._path = path
        self._remove_tree = remove_tree
        self._changed_ns = -1

    def names(self) -> Iterable[str] | None:
        """See ``Store``."""
        try:
            changed_ns = os.stat(self._path).st_mtime_ns
            if changed_ns == self._changed_ns:
                return None
            names = os.listdir(self._path)
        except OSError:
            return ()
        self._changed_ns = changed_ns if time.time_ns() - changed_ns > _TICK_NS else -1
        return names

    def remove(self, name: str) -> None:
        """See ``Store``."""
        path = os.path.join(self._path, name)
        with suppress(FileNotFoundError):
            try:
                os.unlink(path)
            except IsADirectoryError:
                # Its name is free at once.
                gone = os.path.join(self._path, f".removed-{secrets.token_hex(8)}")
                os.rename(path, gone)
                self._remove_tree(gone)
            except OSError:
                return


class SystemV:
    """One of System V's three kinds: ``shm``, ``msg`` or ``sem``."""

    def __init__(self, kind: str) -> None:
        self._table = f"/proc/sysvipc/{kind}"
        self._control = getattr(_LIBC, f"{kind}ctl")
        self._arguments = (0, _IPC_RMID, None) if kind == "sem" else (_IPC_RMID, None)

    def names(self) -> Iterable[str]:
        """See ``Store``."""
        try:
            with open(self._table, encoding="ascii") as table:
                return [line.split(None, 2)[1] for line in table.read().splitlines()[1:]]
        except OSError:
            return ()

    def remove(self, name: str) -> None:
        """See ``Store``."""
        self._control(int(name), *self._arguments)


def stores(remove_tree: Callable[[str], None]) -> Sequence[Store]:
    """Those of a container, whose namespaces are its own."""
    folders = (Folder(path, remove_tree) for path in (SHARED_MEMORY, QUEUES))
    return (*folders, *(SystemV(kind) for kind in ("shm", "msg", "sem")))


class Belongings:
    """Who can have made what is in the stores; an owner is a kernel or ``OF_COMMANDS``."""

    def __init__(self, stores: Sequence[Store] = (), commands_go_on: Callable[[], bool] = lambda: False) -> None:
        """``commands_go_on`` tells whether something runs that commands have left."""
        self._stores = stores
        self._commands_go_on = commands_go_on
        self._owners: list[dict[str, set[Hashable]]] = [{} for _ in stores]
        self._active: Counter[Hashable] = Counter()
        self._alive: set[Hashable] = set()

    def clear(self) -> None:
        """Remove everything, before anything runs: it is of a supervisor that went before."""
        for store in self._stores:
            for name in store.names() or ():
                store.remove(name)

    def begin(self, owner: Hashable) -> None:
        """The owner begins to run."""
        self._look()
        self._active[owner] += 1
        self._alive.add(owner)

    def end(self, owner: Hashable) -> None:
        """The owner has run."""
        self._look()
        self._active -= Counter((owner,))

    def release(self, owner: Hashable) -> None:
        """The owner is gone with all its processes: remove what none but it can have made."""
        self._look()
        self._alive.discard(owner)
        del self._active[owner]
        for store, known in zip(self._stores, self._owners, strict=True):
            for name in [name for name, owners in known.items() if owner in owners]:
                known[name].discard(owner)
                if not known[name]:
                    store.remove(name)
                    del known[name]

    def _look(self) -> None:
        # What came while none of them ran is of a thread or a process that one of them has left running.
        owners = set(self._active) or self._alive - {OF_COMMANDS}
        if not owners or self._commands_go_on():
            owners.add(OF_COMMANDS)
        for store, known in zip(self._stores, self._owners, strict=True):
            names = store.names()
            if names is None:
                continue
            for name in known.keys() - set(names):
                del known[name]
            for name in names:
                if name not in known:
                    known[name] = set(owners)


def full(path: str = SHARED_MEMORY) -> str | None:
    """What to do if shared memory is full, for code that failed; None if it is not, or is no place of its own."""
    try:
        if not os.path.ismount(path):
            return None
        about = os.statvfs(path)
    except OSError:
        return None
    if not about.f_blocks or about.f_bavail:
        return None
    size = about.f_blocks * about.f_frsize / _MIB
    return (
        f"Shared memory ({path}, {size:.0f} MiB) is full, so nothing more can be made there, locks and queues of"
        f" multiprocessing among it. See what is there: 'ls -l {path}'; a reset removes what its session made."
    )
