"""openai-agents: MCPServerStreamableHttp, and the items that its agents hand to the model."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import RunContextWrapper
from agents.mcp import MCPServerStreamableHttp, MCPUtil
from scenario import Answer, Client, Connected, Picture, main


@contextlib.asynccontextmanager
async def connect(url: str, headers: dict[str, str]) -> AsyncIterator[Connected]:
    async with MCPServerStreamableHttp({"url": url, "headers": headers}) as server:
        tools = {tool.name: tool for tool in await server.list_tools()}

        async def call(tool: str, arguments: dict[str, Any]) -> Answer:
            output = await MCPUtil.invoke_mcp_tool(server, tools[tool], RunContextWrapper(None), json.dumps(arguments))
            items = output if isinstance(output, list) else [output]
            text = "\n".join(item["text"] for item in items if item["type"] == "text")
            # "data:image/png;base64,..."
            pictures = [
                item["image_url"].removeprefix("data:").split(";base64,") for item in items if item["type"] == "image"
            ]
            return Answer(
                text,
                [Picture("ToolOutputImage (data URL)", *picture) for picture in pictures],
                error_as="text alone: isError is dropped" if text.startswith("[error]") else "",
            )

        yield Connected(list(tools), call)


main(
    Client(
        "openai-agents",
        connect,
        patience_s=5,
        patience="5 s for a call: MCPServerStreamableHttp(client_session_timeout_seconds=)",
        cancels=True,
    )
)
