"""Has the functions of shared servers written when code first imports them: one server at a time."""

import hashlib
import os
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..limits import MCP_CONNECTIONS, MCP_LOADED_S, MCP_NOTES
from ..shared import server_names
from . import api
from .api import Generation
from .process import Means
from .requests import CallProblem
from .shared_servers import Listed, SharedServers, Withdraw
from .words import Tool

Answer = Callable[[dict[str, Any] | CallProblem], None]


class _Written(NamedTuple):
    """A folder that was written here: the digest of its schemas, which folder it is, and when the gateway was asked."""

    digest: bytes
    mark: tuple[int, int] | None
    asked_at: float
    modules: dict[str, str]
    notes: list[str]


class _Load:
    """The wish of one execution or more for the functions of a server."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.wishes: dict[int, tuple[str, Answer]] = {}
        self.cancel: Withdraw = lambda: None


class Loads:
    """The folders of shared servers in the workspace, each written anew when the schemas of its tools are others.

    ``is_own`` tells whether a server of that name is registered in the sandbox, or about to be: the folder is its own.
    """

    def __init__(self, means: Means, shared: SharedServers, is_own: Callable[[str], bool]) -> None:
        self._means = means
        self._shared = shared
        self._is_own = is_own
        self._written: dict[str, _Written] = {}
        self._loads: dict[str, _Load] = {}
        self._wishes = 0
        self._writing: tuple[str, Generation] | None = None
        self._queue: deque[Callable[[], None]] = deque()

    @property
    def folder(self) -> str:
        """Where the functions of all servers are."""
        return os.path.join(self._means.workspace, api.FOLDER)

    def load(self, execution_id: str, server: str, answer: Answer) -> Withdraw:
        """Write the functions of a server, unless they are there; raises CallProblem for a name that has none."""
        if not server_names.is_server_name(server):
            words = f"functions are made for a server whose name {server_names.RULE}, and has no other meaning"
            raise CallProblem("no_server", f"{words}; mcptools.call reaches any")
        known = self._written.get(server)
        if known is not None and self._is_new(known, server):
            answer(self._told(server, known.notes))
            return lambda: None
        if sum(len(load.wishes) for load in self._loads.values()) >= MCP_CONNECTIONS:
            raise CallProblem("too_many", "too many imports of functions wait; wait for one")
        load = self._loads.get(server)
        self._wishes += 1
        wish = self._wishes
        if load is not None:
            load.wishes[wish] = (execution_id, answer)
        else:
            load = self._loads[server] = _Load(server)
            load.wishes[wish] = (execution_id, answer)
            self._ask(load)
        return partial(self._give_up, load, wish)

    def write(self, server: str, listed: Listed, answer: Callable[[dict[str, Any] | CallProblem], None]) -> None:
        """Write the functions of a server whose tools are known; the answer has ``modules`` and ``notes``."""

        def written(value: dict[str, Any] | CallProblem) -> None:
            known = self._written.get(server)
            answer(value if known is None or isinstance(value, CallProblem) else {**value, "modules": known.modules})

        load = _Load(server)
        load.wishes[0] = ("", written)
        self._write(load, *listed)

    def _is_new(self, known: _Written, server: str) -> bool:
        return self._means.loop.clock() - known.asked_at < MCP_LOADED_S and known.mark == self._mark(server)

    def _ask(self, load: _Load) -> None:
        """Ask in the name of the first that waits."""
        execution_id, _ = next(iter(load.wishes.values()))

        def listed(found: Listed | CallProblem) -> None:
            if isinstance(found, CallProblem):
                if found.kind == "cancelled" and self._has_others(load, execution_id):
                    self._ask(load)
                else:
                    self._settle(load, found)
                return
            self._write(load, *found)

        load.cancel = self._shared.tools(execution_id, load.server, listed)

    def _has_others(self, load: _Load, execution_id: str) -> bool:
        """Answer those of an execution that is over, and tell whether others wait."""
        for wish, (whose, answer) in list(load.wishes.items()):
            if whose == execution_id:
                del load.wishes[wish]
                answer(CallProblem("cancelled", "the execution that imported the functions is over"))
        return bool(load.wishes)

    def _write(self, load: _Load, tools: list[Tool], notes: list[str]) -> None:
        load.cancel = lambda: None
        digest = hashlib.sha256(b"\n".join(tool.described for tool in tools)).digest()
        known = self._written.get(load.server)
        if known is not None and known.digest == digest and known.mark == self._mark(load.server):
            self._written[load.server] = known._replace(asked_at=self._means.loop.clock())
            self._settle(load, self._told(load.server, known.notes))
            return

        def done(made: dict[str, Any] | str) -> None:
            self._writing = None
            if self._is_own(load.server):
                self._settle(load, _own(load.server))
            elif isinstance(made, str):
                self._settle(load, CallProblem("not_loaded", made))
            else:
                told = [*notes, *made["notes"]][:MCP_NOTES]
                now = self._means.loop.clock()
                self._written[load.server] = _Written(digest, self._mark(load.server), now, made["modules"], told)
                self._settle(load, self._told(load.server, told))
            self._generate_next()

        self._queue.append(lambda: self._generate(load, tools, done))
        self._generate_next()

    def _generate(self, load: _Load, tools: list[Tool], done: api.Done) -> None:
        if self._is_own(load.server):
            self._settle(load, _own(load.server))
        elif load.wishes:
            self._writing = load.server, Generation(self._means, load.server, tools, done)
        else:
            self._settle(load, CallProblem("cancelled", "nothing waits for the functions"))

    def _generate_next(self) -> None:
        while self._queue and self._writing is None:
            self._queue.popleft()()

    def give_way(self, server: str) -> None:
        """A server of that name is about to be registered in the sandbox: write nothing more of the shared one."""
        if self._writing is not None and self._writing[0] == server:
            self._writing[1].stop()

    def _give_up(self, load: _Load, wish: int) -> None:
        """Wait no more: with the last one that waits the gateway is asked no more either."""
        found = load.wishes.pop(wish, None)
        if found is None:
            return
        if not load.wishes:
            load.cancel()
        found[1](CallProblem("cancelled", "the import was cancelled"))

    def _settle(self, load: _Load, value: dict[str, Any] | CallProblem) -> None:
        if self._loads.get(load.server) is load:
            del self._loads[load.server]
        wishes, load.wishes = load.wishes, {}
        for _, answer in wishes.values():
            answer(value)

    def _told(self, server: str, notes: list[str]) -> dict[str, Any]:
        return {"server": server, "folder": self.folder, "notes": notes}

    def _mark(self, server: str) -> tuple[int, int] | None:
        """Of the folder that is there now: one that another has written has another."""
        try:
            about = os.lstat(os.path.join(self.folder, server, "__init__.py"))
        except OSError:
            return None
        return about.st_ino, about.st_mtime_ns


def _own(server: str) -> CallProblem:
    return CallProblem(
        "not_loaded", f"server {server!r} is being registered in this sandbox; import it again after that"
    )
