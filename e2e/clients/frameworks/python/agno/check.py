"""agno: MCPTools, whose functions answer with a ToolResult."""

import base64
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

from agno.tools.mcp import MCPTools
from scenario import Answer, Client, Connected, Picture, main

logging.disable(logging.ERROR)
FAILED = "Error from MCP tool "


@contextlib.asynccontextmanager
async def connect(url: str, headers: dict[str, str]) -> AsyncIterator[Connected]:
    async with MCPTools(url=url, headers=headers) as tools:

        async def call(tool: str, arguments: dict[str, Any]) -> Answer:
            result = await tools.functions[tool].entrypoint(**arguments)
            return Answer(
                result.content,
                [
                    Picture("agno.media.Image", image.mime_type, base64.b64encode(image.content).decode())
                    for image in result.images or []
                ],
                error_as="text: the repr of the content" if result.content.startswith(FAILED) else "",
            )

        yield Connected(list(tools.functions), call)


main(Client("agno", connect, patience_s=10, patience="10 s for a call: MCPTools(timeout_seconds=)", cancels=True))
