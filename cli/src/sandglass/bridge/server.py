"""The bridge at work: lines in, calls to the endpoint, lines out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

import httpx

from sandglass.bridge import messages
from sandglass.bridge.code_mode import COMPACT, NotLoaded
from sandglass.bridge.local_servers import TOOL, LocalServers
from sandglass.bridge.messages import Incoming
from sandglass.bridge.own_sandbox import OwnSandbox
from sandglass.bridge.placeholders import Variables, registration
from sandglass.bridge.plan import Contract, Plan
from sandglass.config.settings import Settings
from sandglass.errors import EndpointError, SandglassError
from sandglass.wire.events import EventReader
from sandglass.wire.exchange import MAX_ANSWER_BYTES, Retry, failed
from sandglass.wire.messages import EVENTS, ToolCall
from sandglass.wire.retries import PATIENT_ATTEMPTS, Failure, retry_after

MOST_AT_ONCE = 64
LAST_SYNC_S = 30.0
BROKE = (
    "The connection to the sandbox broke while this call ran. It may have run, or run still: look at its effects before"
    " you make the same call again."
)
LocalTool = Callable[[Incoming, Callable[[bytes], None]], Awaitable[bytes]]


async def _nothing() -> None:
    """No folder is kept the same."""


class Bridge:
    """One client. Requests run side by side; each is answered once, or not at all once it is cancelled."""

    def __init__(
        self, settings: Settings, contract: Contract, plan: Plan, http: httpx.AsyncClient, warn: Callable[[str], None]
    ) -> None:
        self._plan = plan
        self._warn = warn
        self._contract = contract
        self._settings = settings
        self._http = http
        self._sandbox: OwnSandbox | None = None
        self._running: dict[str | int, asyncio.Task[None]] = {}
        self._others: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(MOST_AT_ONCE)
        self._revision: str | None = None
        self._session: str | None = None
        self._local: Mapping[str, tuple[dict[str, Any], LocalTool]] = {}
        self._write: Callable[[bytes], None] = lambda _: None
        self._sync: Callable[[], Awaitable[None]] = _nothing
        self._variables = Variables()
        self._servers: LocalServers | None = None

    def load(self, servers: LocalServers) -> None:
        """Loads MCP servers of this machine when code names them."""
        self._servers = servers

    def fill_in(self, variables: Variables) -> None:
        """Fills placeholders in registrations of MCP servers in with these."""
        self._variables = variables

    def use(
        self,
        sandbox: OwnSandbox,
        local: Mapping[str, tuple[dict[str, Any], LocalTool]],
        sync: Callable[[], Awaitable[None]],
    ) -> None:
        """Has a sandbox of its own, tools that this machine answers, and folders that are kept the same."""
        self._sandbox = sandbox
        self._local = local
        self._sync = sync

    async def serve(self, lines: AsyncIterator[bytes], write: Callable[[bytes], None]) -> None:
        """Serves until the lines end; then ends what runs."""
        self._write = write
        if self._sandbox is not None:
            self._sandbox.begin()
        try:
            async for line in lines:
                await self._take(line)
        finally:
            await self._end()

    async def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        incoming = messages.parse(line)
        if isinstance(incoming, bytes):
            self._write(incoming)
        elif incoming.method == "notifications/cancelled":
            self._cancel(incoming)
        elif incoming.method and incoming.id is not None:
            await self._room.acquire()
            self._keep(incoming.id, asyncio.create_task(self._answer(incoming)))
        elif incoming.method:
            self._keep(None, asyncio.create_task(self._notify(incoming)))

    def _keep(self, message_id: str | int | None, task: asyncio.Task[None]) -> None:
        if message_id is None:
            self._others.add(task)
            task.add_done_callback(self._others.discard)
            return
        self._running[message_id] = task

        def ended(_: asyncio.Task[None]) -> None:
            self._room.release()
            if self._running.get(message_id) is task:
                del self._running[message_id]

        task.add_done_callback(ended)

    def _cancel(self, incoming: Incoming) -> None:
        """Ends the call's connection, which cancels it at the endpoint in every revision."""
        named = incoming.params.get("requestId")
        task = self._running.get(named) if isinstance(named, str | int) else None
        if task is not None:
            task.cancel()

    async def _end(self) -> None:
        tasks = [*self._running.values(), *self._others]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._sandbox is not None:
            if self._sandbox.is_ready:
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._sync(), LAST_SYNC_S)
            await self._sandbox.end()

    async def _answer(self, incoming: Incoming) -> None:
        try:
            if incoming.tool in self._local and self._sandbox is not None:
                await self._sandbox.ready()
                self._write(await self._local[incoming.tool][1](incoming, self._write))
                await self._sync()
                return
            self._write(await self._call(incoming) if incoming.tool else await self._retried(incoming))
        except SandglassError as error:
            self._write(messages.failure(incoming, str(error)))
        except Exception as error:  # noqa: BLE001
            # Without an answer the client would wait for ever; the text of the error may hold what the client sent.
            self._warn(f"a request could not be served: {type(error).__name__}")
            self._write(messages.failure(incoming, f"the bridge could not serve this request ({type(error).__name__})"))

    async def _call(self, incoming: Incoming) -> bytes:
        registering = registration(self._contract, incoming.tool, incoming.arguments, self._variables)
        arguments = incoming.arguments if registering is None else registering[0]
        if self._sandbox is not None:
            await self._sandbox.ready()
            await self._sync()
        if self._servers is not None and incoming.tool == TOOL:
            try:
                arguments = await self._servers.loaded(incoming, arguments, self._write)
            except NotLoaded as problem:
                return messages.result(incoming, problem.text(self._plan.query.get("output", COMPACT)), is_error=True)
        arguments = self._plan.filled(incoming.tool, arguments)
        answer = await self._retried(
            incoming if arguments is incoming.arguments else incoming.with_arguments(arguments)
        )
        # The client may look at the files as soon as it has the answer.
        await self._sync()
        return answer if registering is None else messages.rewritten(answer, registering[1].hidden)

    async def _notify(self, incoming: Incoming) -> None:
        try:
            await self._retried(incoming)
        except SandglassError:
            # A notification has no answer; the next request meets the same trouble and says so.
            return
        except Exception as error:  # noqa: BLE001
            self._warn(f"a notification could not be passed on: {type(error).__name__}")

    async def _retried(self, incoming: Incoming) -> bytes:
        call = ToolCall(incoming.tool, {}, is_repeatable=incoming.is_repeatable)
        attempt = 1
        while True:
            try:
                return await self._attempt(incoming)
            except Retry as retry:
                if retry.failure is Failure.BROKEN and not incoming.is_repeatable:
                    raise EndpointError(BROKE) from None
                await asyncio.sleep(retry.pause(call, attempt, PATIENT_ATTEMPTS))
            attempt += 1

    async def _attempt(self, incoming: Incoming) -> bytes:
        headers = messages.headers(incoming, self._revision, self._session)
        try:
            async with self._http.stream("POST", self._url(), headers=headers, content=incoming.body) as response:
                if response.headers.get("content-type", "").startswith(EVENTS):
                    return await self._relay(response)
                return await self._relay_whole(response, incoming)
        except httpx.HTTPError as error:
            raise failed(error, self._settings) from None

    async def _relay(self, response: httpx.Response) -> bytes:
        events = EventReader()
        async for piece in response.aiter_bytes():
            for data in events.feed(piece):
                if not messages.is_notification(data):
                    return messages.line(data)
                self._write(messages.line(data))
        raise Retry(Failure.BROKEN, EndpointError("the endpoint ended the answer before its end"))

    async def _relay_whole(self, response: httpx.Response, incoming: Incoming) -> bytes:
        pieces, size = [], 0
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > MAX_ANSWER_BYTES:
                raise EndpointError(f"the endpoint's answer has more than {MAX_ANSWER_BYTES} bytes")
            pieces.append(piece)
        body = b"".join(pieces)
        if incoming.id is None:
            return body
        if response.status_code in (502, 503, 504):
            failure = Failure.BUSY if response.status_code == 503 else Failure.BROKEN
            problem = EndpointError(f"the endpoint answered HTTP {response.status_code}")
            raise Retry(failure, problem, retry_after(response.headers.get("retry-after")))
        if response.status_code == 200 and incoming.method == "initialize":
            self._begun(body, response.headers.get("mcp-session-id"))
        if response.status_code == 200 and incoming.method == "tools/list" and (self._local or self._servers):
            body = self._with_local_tools(body)
        return messages.answer(response.status_code, body, incoming)

    def _begun(self, body: bytes, session: str | None) -> None:
        try:
            self._revision = str(json.loads(body)["result"]["protocolVersion"])
            self._session = session
        except (ValueError, KeyError, TypeError, RecursionError):
            self._revision = messages.LEGACY

    def _with_local_tools(self, body: bytes) -> bytes:
        try:
            content = json.loads(body)
            content["result"]["tools"].extend(definition for definition, _ in self._local.values())
            if self._servers is not None:
                self._servers.described(content["result"]["tools"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return body
        return messages.encoded(content)

    def _url(self) -> str:
        if self._sandbox is None:
            return self._settings.url + (f"?{urlencode(self._plan.query)}" if self._plan.query else "")
        where = self._sandbox.where
        query = {"sandbox": where.sandbox, **self._plan.query}
        if where.namespace is not None:
            query["namespace"] = where.namespace
        return f"{self._settings.url}/{self._contract.value}?{urlencode(query)}"
