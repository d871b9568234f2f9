"""The session process: holds the client session of one MCP server, so that no trusted process runs the SDK.

It hears frames (``shared/json_frames.py``) on descriptor 3 and answers on 4: ``start`` with what to start or to reach,
``call`` and ``cancel``. It says ``started`` or ``failed``, ``result`` or ``error`` for each call, ``tools`` when the
server's list has changed, ``unreadable`` once if the server sends what is no message, and ``ended`` when it is gone.
It ends with descriptor 3.
"""

import asyncio
import gc
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from ..limits import (
    MCP_FRAME_SLACK_BYTES,
    MCP_REQUEST_BYTES,
    MCP_RESULT_BYTES,
    MCP_SESSION_BYTES,
    MCP_VALUES,
    SLICE_BYTES,
)
from ..shared.json_frames import JsonFrames, encode, has_more_values, to_json
from . import packages

packages.find()
gc.disable()  # nothing of what is imported goes again, and to look for it takes a tenth of the start
import anyio  # noqa: E402 - these are in the folder that was just found
from mcp.client.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

from .tool_lists import ToolLists  # noqa: E402

gc.freeze()
gc.enable()

_REQUESTS, _ANSWERS = 3, 4
_LOOK_S = 0.25
_LIST_AGAIN_S = 0.5  # between two lists of a server that keeps changing
_WHY_CHARS = 2000
_UNAUTHORIZED = 401
_DEPTH = 4000  # as deep as the supervisor can read, a session can
_CLOSED = "Connection closed"  # what the SDK says to all who wait


class _Session:
    """One server; ``serve`` returns when the session is over."""

    def __init__(self) -> None:
        self._sdk: Any = None
        self._lists = ToolLists()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._scopes: dict[int, Any] = {}
        self._unreadable = False  # it sent something that is no message
        self._local = False  # the server is a process of ours
        self._began = asyncio.Event()
        self._changed = asyncio.Event()  # the server has other tools than it listed
        self._ended = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None

    async def hear(self) -> None:
        """Serve until the supervisor closes its end."""
        frames = JsonFrames(MCP_REQUEST_BYTES + 2 * MCP_FRAME_SLACK_BYTES, 2 * MCP_VALUES)
        watching = asyncio.create_task(self._watch_memory())
        reader = asyncio.StreamReader()
        pipe = os.fdopen(_REQUESTS, "rb", buffering=0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        while data := await reader.read(SLICE_BYTES):
            for said in frames.feed(data):
                self._take(said.value)
        watching.cancel()
        if self._serving is not None:
            self._serving.cancel()
            with suppress(asyncio.CancelledError):
                await self._serving

    def _take(self, said: dict[str, Any]) -> None:
        match said["op"]:
            case "start":
                self._local = "argv" in said
                self._serving = asyncio.create_task(self._serve(said))
            case "call":
                # Here, as word to cancel it may come before its task has its first turn.
                self._scopes[said["id"]] = anyio.CancelScope()
                task = asyncio.create_task(self._call(said))
                self._tasks[said["id"]] = task
                task.add_done_callback(lambda _: self._forget(said["id"]))
            case "cancel" if said["id"] in self._scopes:
                self._scopes[said["id"]].cancel()

    async def _serve(self, wanted: dict[str, Any]) -> None:
        """Hold the session from its start to its end, in one task, as the SDK's scopes want it."""
        deadline = asyncio.get_running_loop().call_later(wanted["timeout_s"], self._late, wanted["timeout_s"])
        try:
            transport = _heard(_transport(wanted, self._answered), self._lists.hear, self._closed)
            async with Client(transport, message_handler=self._told, cache=None) as client:
                tools, notes = await self._lists.tools(client)
                self._sdk = client
                self._began.set()
                deadline.cancel()
                _say({"op": "started", "server_info": _about(client), "tools": tools, "notes": notes})
                async with anyio.create_task_group() as group:
                    group.start_soon(self._list_changes, client)
                    await self._ended.wait()
                    self._give_up("it closed the connection")
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it is, the supervisor is told
            self._give_up(_why(error))
        finally:
            deadline.cancel()

    async def _watch_memory(self) -> None:
        """The SDK reads lines of any length."""
        while _resident_bytes() < MCP_SESSION_BYTES:  # noqa: ASYNC110 - memory has no event
            await asyncio.sleep(_LOOK_S)
        self._give_up("it sent more than its session can hold")

    def _late(self, seconds: float) -> None:
        self._give_up(f"it did not answer within {seconds:g} s", late=True)

    def _give_up(self, why: str, *, late: bool = False) -> None:
        _say({"op": "ended" if self._began.is_set() else "failed", "late": late, "why": why})
        _leave()

    def _closed(self) -> None:
        """The end of what a process of ours writes is its own; over HTTP the next call connects anew."""
        if self._local:
            self._ended.set()

    async def _answered(self, response: Any) -> None:
        """An answer over HTTP: a key that is refused may have been replaced, and the next start reads it anew."""
        if response.status_code == _UNAUTHORIZED and response.request.method == "POST":
            self._give_up("it answered 401, so it does not take the key in a header that comes from a Secret")

    async def _told(self, message: Any) -> None:
        """A notification of the server, or what the SDK could not read."""
        if isinstance(message, ValueError) and not self._unreadable:
            self._unreadable = True
            _say({"op": "unreadable"})
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._changed.set()

    async def _list_changes(self, client: Any) -> None:
        """List the tools once for all changes since the last list: a server may tell of more than can be listed."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            with suppress(Exception):  # the server does not list them now: what it said before stays
                tools, notes = await self._lists.tools(client)
                _say({"op": "tools", "tools": tools, "notes": notes})
            await asyncio.sleep(_LIST_AGAIN_S)

    async def _call(self, wanted: dict[str, Any]) -> None:
        number = wanted["id"]
        answer: dict[str, Any] = {"op": "error", "id": number, "kind": "cancelled", "message": "the call was cancelled"}
        with self._scopes[number]:
            try:
                answer = await self._ask(wanted)
            except Exception as error:  # noqa: BLE001 - the server's own error, or one of the way
                if str(error) == _CLOSED:
                    # The end of the server answers all calls. Of one that is reached over HTTP this is its end.
                    if not self._local:
                        self._give_up("it cannot be reached any more")
                    return
                answer = {"op": "error", "id": number, "kind": "failed", "message": _why(error)}
        _say(answer)

    def _forget(self, number: int) -> None:
        del self._tasks[number], self._scopes[number]

    async def _ask(self, wanted: dict[str, Any]) -> dict[str, Any]:
        try:
            json.dumps(wanted["arguments"], ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            words = "arguments: hold half a character (an unpaired surrogate), which no server can be sent"
            return {"op": "error", "id": wanted["id"], "kind": "bad_request", "message": words}
        said = await self._sdk.call_tool(wanted["tool"], wanted["arguments"])
        result = said.model_dump(mode="json", by_alias=True, exclude_none=True)
        result = {name: result[name] for name in ("content", "structuredContent", "isError") if name in result}
        body = to_json(result)
        if len(body) > MCP_RESULT_BYTES or has_more_values(body, MCP_VALUES):
            bound = f"{MCP_RESULT_BYTES} bytes and {MCP_VALUES} values"
            words = f"the result has {len(body)} bytes; at most {bound} are taken. Ask for less at a time."
            return {"op": "error", "id": wanted["id"], "kind": "too_large", "message": words}
        return {"op": "result", "id": wanted["id"], "result": {"isError": False, **result}}


@asynccontextmanager
async def _transport(wanted: dict[str, Any], answered: Any) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's streams to and from the server; ``answered`` sees responses over HTTP if keys were given."""
    if "argv" in wanted:
        program, *args = wanted["argv"]
        server = StdioServerParameters(
            command=program, args=args, env=wanted["env"], cwd=wanted["cwd"], encoding_error_handler="replace"
        )
        async with stdio_client(server) as streams:
            yield streams
        return
    from mcp.shared._httpx_utils import create_mcp_http_client

    def http_client(**given: Any) -> Any:
        http = create_mcp_http_client(**given)
        if wanted["keys"]:
            http.event_hooks = {"response": [answered]}
        return http

    if wanted["transport"] == "sse":
        from mcp.client.sse import sse_client

        async with sse_client(wanted["url"], wanted["headers"], httpx_client_factory=http_client) as streams:
            yield streams
    else:
        from mcp.client.streamable_http import streamable_http_client

        async with (
            http_client(headers=wanted["headers"]) as http,
            streamable_http_client(wanted["url"], http_client=http) as streams,
        ):
            yield streams


@asynccontextmanager
async def _heard(
    transport: Any, hear: Callable[[Any], None], end: Callable[[], None]
) -> AsyncIterator[tuple[Any, Any]]:
    """A transport of which each message is heard before the SDK gets it, and the end, which the SDK does not report."""
    async with transport as (read, write):
        sender, receiver = anyio.create_memory_object_stream[Any](0)

        async def forward() -> None:
            async with sender:
                async for message in read:
                    hear(message)
                    await sender.send(message)
            end()

        async with anyio.create_task_group() as group:
            group.start_soon(forward)
            yield receiver, write
            group.cancel_scope.cancel()


def _about(client: Any) -> dict[str, str]:
    info = client.server_info
    return {
        "name": "" if info is None else info.name,
        "version": "" if info is None else info.version,
        "protocol_version": str(client.protocol_version),
    }


def _resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as sizes:
        return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _why(error: BaseException) -> str:
    """The innermost reason, in a line."""
    while inner := getattr(error, "exceptions", ()):  # an exception group, which Python 3.10 has not
        error = inner[0]
    text = " ".join(str(error).split()) or type(error).__name__
    # Whole words: the supervisor hides keys, and does not know one that is cut.
    return text if len(text) <= _WHY_CHARS else text[:_WHY_CHARS].rpartition(" ")[0] + " …"


def _say(value: dict[str, Any]) -> None:
    """Write a frame whole; the supervisor reads it at once, or is gone and so are we."""
    data = memoryview(encode(value))
    while data:
        try:
            data = data[os.write(_ANSWERS, data) :]
        except OSError:
            os._exit(1)


def _leave() -> None:
    """End without asking the SDK, whose own end may wait for a server that does not; the supervisor kills the rest."""
    sys.stderr.flush()
    os._exit(0)


def main() -> None:
    """Run until the supervisor or the server ends it."""
    sys.setrecursionlimit(_DEPTH)
    logging.disable()  # its standard error is the server's last words
    asyncio.run(_Session().hear())


if __name__ == "__main__":
    main()
