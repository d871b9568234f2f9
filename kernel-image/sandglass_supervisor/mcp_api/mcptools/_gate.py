"""At most 32 calls of this process at once for each server, and 128 connections; others wait.

The supervisor would refuse more than 32, and has 256 connections for all processes.
"""

import asyncio
import concurrent.futures
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeAlias
from weakref import WeakSet

CALLS = 32
CONNECTIONS = 128


class _Place:
    """Held while a call runs. One that an interrupt loses on its way is free again when nothing refers to it."""

    __slots__ = ("__weakref__",)


_Ticket: TypeAlias = "concurrent.futures.Future[_Place]"


class Gate:
    """Lets so many in, and the others in the order in which they came: threads and tasks alike."""

    def __init__(self, most: int = CALLS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._inside: WeakSet[_Place] = WeakSet()
        self._waiting: deque[_Ticket] = deque()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Wait in this thread for a place, and hold it."""
        ticket = self._ticket()
        try:
            ticket.result()
            yield
        finally:
            self._leave(ticket)

    @asynccontextmanager
    async def entered_async(self) -> AsyncIterator[None]:
        """Wait in this task for a place, and hold it."""
        ticket = self._ticket()
        try:
            if not ticket.done():
                # A ticket that were cancelled could not be told from one that holds a place.
                await asyncio.shield(asyncio.wrap_future(ticket))
            yield
        finally:
            self._leave(ticket)

    def _ticket(self) -> _Ticket:
        """Has a place as its result as soon as there is one."""
        ticket: _Ticket = concurrent.futures.Future()
        with self._lock:
            self._waiting.append(ticket)
            self._admit()
        return ticket

    def _leave(self, ticket: _Ticket) -> None:
        with self._lock:
            if ticket.done():
                self._inside.discard(ticket.result())
            else:
                self._waiting.remove(ticket)
            self._admit()

    def _admit(self) -> None:
        while self._waiting and len(self._inside) < self._most:
            place = _Place()
            self._inside.add(place)
            self._waiting.popleft().set_result(place)
            # Nothing else may hold it: its ticket could be a lost one.
            del place


_gates: dict[str, Gate] = {}
_lock = threading.Lock()


def of(server: str) -> Gate:
    """The gate of a server."""
    with _lock:
        return _gates.setdefault(server, Gate())


def of_connections() -> Gate:
    """The gate of all connections."""
    with _lock:
        # No server has this name.
        return _gates.setdefault("", Gate(CONNECTIONS))


def _forget() -> None:
    """A forked process has none of the calls, and no thread that would release a lock that was held."""
    global _lock  # noqa: PLW0603
    _gates.clear()
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget)
