"""fastmcp: its Client, whose calls raise ToolError for failed tools."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import fastmcp
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.exceptions import ToolError
from scenario import Answer, Client, Connected, Picture, main


@contextlib.asynccontextmanager
async def connect(url: str, headers: dict[str, str]) -> AsyncIterator[Connected]:
    told: list[str] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async with fastmcp.Client(StreamableHttpTransport(url, headers=headers), progress_handler=progressed) as client:

        async def call(tool: str, arguments: dict[str, Any]) -> Answer:
            try:
                result = await client.call_tool(tool, arguments)
            except ToolError as problem:
                return Answer(str(problem), error_as="ToolError")
            return Answer(
                "\n".join(part.text for part in result.content if part.type == "text"),
                [
                    Picture(f"mcp.types.{type(part).__name__}", part.mime_type, part.data)
                    for part in result.content
                    if part.type == "image"
                ],
            )

        yield Connected([tool.name for tool in await client.list_tools()], call, lambda: len(told))


main(
    Client(
        "fastmcp",
        connect,
        patience_s=None,
        patience="none for a call; 300 s without a byte (httpx2 read): Client(timeout=)",
        cancels=True,
    )
)
