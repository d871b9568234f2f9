"""The sandbox of one bridge: started beside the first messages, deleted at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from sandglass.async_sandbox import walk
from sandglass.bridge.plan import Plan
from sandglass.core import sandboxes
from sandglass.core.runs import Where
from sandglass.errors import SandglassError, ToolError
from sandglass.wire.client import AsyncClient

END_S = 10.0


class OwnSandbox:
    """Starts at once, so that it is there when the first tool is called; a start that failed is tried again then."""

    def __init__(self, client: AsyncClient, where: Where, plan: Plan, keeps: bool, warn: Callable[[str], None]) -> None:
        self.where = where
        self._client = client
        self._plan = plan
        self._keeps = keeps
        self._warn = warn
        self._starting: asyncio.Task[None] | None = None

    def begin(self) -> asyncio.Task[None]:
        """Starts it without waiting."""
        self._starting = asyncio.create_task(self._start())
        return self._starting

    @property
    def is_ready(self) -> bool:
        """Whether it has started."""
        task = self._starting
        return task is not None and task.done() and not task.cancelled() and task.exception() is None

    async def ready(self) -> None:
        """Waits until it runs; raises the reason if it does not start."""
        starting = self._starting
        if starting is None or (starting.done() and starting.exception() is not None):
            starting = self.begin()
        # Shielded: a call that is cancelled does not end the start for the others.
        await asyncio.shield(starting)

    async def end(self) -> None:
        """Deletes it, unless it is kept; in bounded time, since the client may be about to kill us."""
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
        if self._starting is not None:
            with suppress(asyncio.CancelledError, SandglassError):
                await self._starting
        if self._keeps:
            return
        try:
            await asyncio.wait_for(walk(self._client, sandboxes.stop(self.where, delete=True)), END_S)
        except (SandglassError, asyncio.TimeoutError) as error:
            why = str(error) or f"no answer in {END_S:.0f} s"
            if not isinstance(error, ToolError):
                self._warn(f"sandbox {self.where.sandbox} could not be deleted ({why}): it goes when it has idled")

    async def _start(self) -> None:
        try:
            await self._start_with(self._plan.config)
        except ToolError as refused:
            if not self._plan.wants_open_network:
                raise
            closed = {name: value for name, value in self._plan.config.items() if name != "allowed_domains"}
            await self._start_with(closed)
            self._warn(f"the network is not open here, as it was before: name hosts with --allowed-domain ({refused})")

    async def _start_with(self, config: Mapping[str, Any]) -> None:
        # One that is not kept goes at the end in any case.
        start = sandboxes.start_or_undo if self._keeps else sandboxes.start
        started = await walk(self._client, start(self.where, config))
        if started.warning:
            self._warn(started.warning)
