"""The MCP Python SDK 1.x, which knows the 2025 handshake alone."""

import contextlib
import datetime
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ImageContent, TextContent

REVISIONS = {"SDK 1.x": "2025-11-25"}
Progressed = Callable[[float, float | None, str | None], Any]
Picture, Text = ImageContent, TextContent
# It forgets a call that its caller abandons, and says nothing to the server.
ENDS_WHAT_IS_ABANDONED = False


class Caller:
    """Calls tools; an answer is its content, its data, and whether it failed."""

    def __init__(self, session: ClientSession, patience: float, revision: str) -> None:
        self.session = session
        self.patience = datetime.timedelta(seconds=patience)
        self.revision = revision

    async def call(self, tool: str, arguments: dict[str, Any], progressed: Progressed | None) -> tuple[Any, Any, bool]:
        result = await self.session.call_tool(tool, arguments, self.patience, progress_callback=progressed)
        return result.content, result.structuredContent, bool(result.isError)


def kind(picture: ImageContent) -> str:
    return picture.mimeType


@contextlib.asynccontextmanager
async def connect(_: str, url: str, token: str, patience: float) -> AsyncIterator[Caller]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(headers=headers, timeout=httpx.Timeout(patience)) as http,
        streamable_http_client(url, http_client=http) as (read, write, _session_id),
        ClientSession(read, write) as session,
    ):
        handshake = await session.initialize()
        yield Caller(session, patience, str(handshake.protocolVersion))
