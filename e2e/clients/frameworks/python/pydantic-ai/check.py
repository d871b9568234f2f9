"""pydantic-ai: its MCPToolset, whose failed calls ask the model to try again."""

import base64
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from pydantic_ai import BinaryImage, ModelRetry
from pydantic_ai.mcp import MCPToolset
from scenario import Answer, Client, Connected, Picture, main


@contextlib.asynccontextmanager
async def connect(url: str, headers: dict[str, str]) -> AsyncIterator[Connected]:
    told: list[str] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async with MCPToolset(url, headers=headers, progress_handler=progressed) as toolset:

        async def call(tool: str, arguments: dict[str, Any]) -> Answer:
            try:
                result = await toolset.direct_call_tool(tool, arguments)
            except ModelRetry as problem:
                return Answer(str(problem), error_as="ModelRetry")
            parts = result if isinstance(result, list) else [result]
            return Answer(
                "\n".join(str(part) for part in parts if not isinstance(part, BinaryImage)),
                [
                    Picture("BinaryImage", part.media_type, base64.b64encode(part.data).decode())
                    for part in parts
                    if isinstance(part, BinaryImage)
                ],
            )

        yield Connected([tool.name for tool in await toolset.list_tools()], call, lambda: len(told))


main(
    Client(
        "pydantic-ai-slim",
        connect,
        patience_s=None,
        patience="300 s for a call: MCPToolset(read_timeout=)",
        cancels=True,
    )
)
