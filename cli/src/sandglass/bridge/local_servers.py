"""MCP servers of this machine, registered in the cluster when code first names them."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandglass.bridge import code_mode, messages, server_files
from sandglass.bridge.discovery import Server
from sandglass.bridge.messages import Incoming
from sandglass.core.runs import Where
from sandglass.errors import SandglassError, ToolError
from sandglass.wire.client import AsyncClient
from sandglass.wire.messages import Progress, ToolCall

TOOL = "run_python"
MOST_NAMED = 16
"""The endpoint refuses more."""

MOST_LISTED = 64
START_S = 150.0
POLL_S = 1.0
MOST_FAILURES = 5
_CALLABLE = ("running", "idle")
Write = Callable[[bytes], None]


@dataclass(frozen=True)
class Known:
    """The servers that code in the sandbox may call: their states, why one failed, and those of an administrator."""

    states: Mapping[str, str]
    details: Mapping[str, str]
    shared: frozenset[str]
    is_whole: bool = True
    """Whether there are no others: the sandbox was there to say so."""

    def has(self, name: str) -> bool:
        """Whether a server may be meant by that name. Only the endpoint knows for certain how names are read."""
        named, *known = server_files.plain_names([name, *self.states])
        return not self.is_whole or name in self.states or named in known


class LocalServers:
    """Registers servers for one sandbox. Whether they are still there is asked with each call that names them."""

    def __init__(
        self,
        client: AsyncClient,
        where: Where,
        servers: Sequence[Server],
        placement: str | None,
        warn: Callable[[str], None],
    ) -> None:
        self._client = client
        self._where = where
        self._by_name = {each.entry.alias: each for each in servers} | {each.entry.name: each for each in servers}
        self._usable = [each.entry.alias for each in servers if not each.why_not]
        self._placement = placement
        self._warn = warn
        self._mine: set[str] = set()
        self._told: set[str] = set()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def loaded(self, incoming: Incoming, arguments: Mapping[str, Any], write: Write) -> Mapping[str, Any]:
        """The arguments with the names under which the servers are registered now. `NotLoaded` if one is not."""
        names = arguments.get("servers")
        if not isinstance(names, list) or len(names) > MOST_NAMED or not all(isinstance(name, str) for name in names):
            return arguments
        if not names:
            return arguments
        found = {name: self._by_name[name] for name in names if name in self._by_name}
        known = await self._known()
        for name in names:
            # An endpoint may look for it for ten seconds.
            if name not in found and not known.has(name):
                every = dict.fromkeys((*known.states, *self._usable))
                raise code_mode.unknown(name, list(every)[:MOST_LISTED])
        for name, server in found.items():
            # An administrator may share it, as the reason says.
            if server.why_not and not self._is_there(server, known):
                raise code_mode.unavailable(name, server.why_not)
        progress = _Reporter(incoming, write)
        missing = {server.entry.alias: server for server in found.values() if not self._is_there(server, known)}
        ended = await asyncio.gather(
            *(self._load(server, progress) for server in missing.values()), return_exceptions=True
        )
        for problem in ended:
            if problem is not None:
                raise problem
        registered = [found[name].entry.alias if name in found else name for name in names]
        return {**arguments, "servers": list(dict.fromkeys(registered))}

    def described(self, tools: Iterable[Any]) -> None:
        """Names the servers in the description of the tool that loads them; by identifiers, not in a file's words."""
        for tool in tools:
            if isinstance(tool, dict) and tool.get("name") == TOOL and self._usable:
                servers = tool["inputSchema"]["properties"]["servers"]
                servers["description"] = f"{servers['description']}. Known are: {', '.join(self._usable[:MOST_LISTED])}"

    def _is_there(self, server: Server, known: Known) -> bool:
        alias = server.entry.alias
        if alias in known.shared:
            if alias not in self._told:
                self._told.add(alias)
                self._warn(
                    f"MCP server {alias} is the one that an administrator shares, not that of {server.entry.file.place}"
                )
            return True
        return alias in self._mine and alias in known.states

    async def _load(self, server: Server, progress: _Reporter) -> None:
        # One after the other: a second registration of the same would end the first.
        async with self._locks[server.entry.alias]:
            known = await self._known()
            if not self._is_there(server, known):
                await self._register(server, progress, is_new=known.is_whole and server.entry.alias not in known.states)

    async def _register(self, server: Server, progress: _Reporter, is_new: bool) -> None:
        alias = server.entry.alias
        progress.tell(f"starting MCP server {alias}")
        arguments = self._where.arguments(name=alias, placement=self._placement, **server.fields)
        call = ToolCall("mcp_register_server", arguments, is_repeatable=True, on_progress=progress.heard)
        try:
            state = (await self._client.call(call)).data.get("state")
        except SandglassError as refused:
            raise code_mode.failed(alias, server.hidden(str(refused))) from None
        if state == "starting":
            try:
                await self._started(server, progress)
            except code_mode.NotLoaded:
                # The endpoint has answered before the start failed, and leaves it. One of that name from before stays.
                if is_new:
                    await self._removed(alias)
                raise
        self._mine.add(alias)

    async def _removed(self, alias: str) -> None:
        call = ToolCall("mcp_remove_server", self._where.arguments(name=alias), is_repeatable=True)
        try:
            if (await self._known()).states.get(alias, "running") not in _CALLABLE:
                await self._client.call(call)
        except SandglassError as refused:
            self._warn(f"MCP server {alias} did not start, and could not be removed: {refused}")

    async def _started(self, server: Server, progress: _Reporter) -> None:
        """Waits until it runs. What looks failed for a moment may wait for a volume, or for another replica's cache."""
        alias = server.entry.alias
        ends = time.monotonic() + START_S
        failures = 0
        while True:
            await asyncio.sleep(POLL_S)
            progress.tell(f"starting MCP server {alias}")
            known = await self._known()
            state = known.states.get(alias)
            if state in _CALLABLE:
                return
            failures = 0 if state == "starting" else failures + 1
            why = known.details.get(alias)
            if failures == MOST_FAILURES:
                raise code_mode.failed(alias, server.hidden(why or "its start failed"))
            if time.monotonic() >= ends:
                raise code_mode.failed(alias, server.hidden(why or f"it did not start in {START_S:.0f} s"))

    async def _known(self) -> Known:
        try:
            answer = await self._client.call(ToolCall("mcp_list_servers", self._where.arguments(), is_repeatable=True))
        except ToolError:
            # Of a sandbox that sleeps; a registration wakes it, or says why not.
            return Known({}, {}, frozenset(), is_whole=False)
        own, outside = _entries(answer.data, "servers"), _entries(answer.data, "shared")
        every = [*outside, *own]
        return Known(
            {str(each.get("name")): str(each.get("state")) for each in every},
            {str(each.get("name")): str(each.get("detail") or "") for each in every},
            frozenset(str(each.get("name")) for each in outside if each.get("own") is False),
        )


class _Reporter:
    """Progress of a call while servers start: by less than one in all, since the run itself counts from there."""

    def __init__(self, incoming: Incoming, write: Write) -> None:
        self._incoming = incoming
        self._write = write
        self._steps = itertools.count(1)

    def tell(self, words: str) -> None:
        line = messages.progress(self._incoming, next(self._steps) / 10_000, None, words)
        if line is not None:
            self._write(line)

    def heard(self, progress: Progress) -> None:
        self.tell(progress.text)


def _entries(data: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    found = data.get(field)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
