"""The ways in which the MCP Python SDK 2.x speaks to a server: with the 2025 handshake, and as it chooses itself."""

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ImageContent, TextContent

Mode = Literal["legacy", "auto"]
REVISIONS: dict[Mode, str] = {"legacy": "2025-11-25", "auto": "2026-07-28"}
Progressed = Callable[[float, float | None, str | None], Any]
Picture, Text = ImageContent, TextContent
ENDS_WHAT_IS_ABANDONED = True


class Caller:
    """Calls tools; an answer is its content, its data, and whether it failed."""

    def __init__(self, client: Client, patience: float) -> None:
        self.client = client
        self.patience = patience
        self.revision = client.protocol_version

    async def call(self, tool: str, arguments: dict[str, Any], progressed: Progressed | None) -> tuple[Any, Any, bool]:
        result = await self.client.call_tool(tool, arguments, self.patience, progress_callback=progressed)
        return result.content, result.structured_content, bool(result.is_error)


def kind(picture: ImageContent) -> str:
    return picture.mime_type


@contextlib.asynccontextmanager
async def connect(mode: Mode, url: str, token: str, patience: float) -> AsyncIterator[Caller]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(patience)) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield Caller(client, patience)
