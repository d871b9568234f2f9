"""langchain-mcp-adapters: tools of LangChain, which answer with messages for the model."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from scenario import Answer, Client, Connected, Picture, main


@contextlib.asynccontextmanager
async def connect(url: str, headers: dict[str, str]) -> AsyncIterator[Connected]:
    told: list[str] = []

    async def progressed(progress: float, total: float | None, message: str | None, context: object) -> None:
        told.append(message or "")

    server = {"transport": "streamable_http", "url": url, "headers": headers}
    client = MultiServerMCPClient({"sandglass": server}, callbacks=Callbacks(on_progress=progressed))
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def call(tool: str, arguments: dict[str, Any]) -> Answer:
        asked = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        message: ToolMessage = await tools[tool].ainvoke(asked)
        blocks = message.content_blocks
        return Answer(
            "\n".join(block["text"] for block in blocks if block["type"] == "text"),
            [
                Picture("ImageContentBlock (base64) of a ToolMessage", block["mime_type"], block["base64"])
                for block in blocks
                if block["type"] == "image"
            ],
            error_as="ToolMessage with status 'error'" if message.status == "error" else "",
        )

    yield Connected(list(tools), call, lambda: len(told))


main(
    Client(
        "langchain-mcp-adapters",
        connect,
        patience_s=None,
        patience="none for a call; 300 s without a byte: sse_read_timeout",
        cancels=True,
    )
)
