"""smolagents: MCPClient, whose tools are functions for code that a model writes; they return the first part alone."""

import asyncio
import base64
import contextlib
import io
from collections.abc import AsyncIterator
from typing import Any

import PIL.Image
from scenario import WORDS, Answer, Client, Connected, Picture, main
from smolagents import MCPClient


@contextlib.asynccontextmanager
async def connect(url: str, headers: dict[str, str]) -> AsyncIterator[Connected]:
    server = {"url": url, "transport": "streamable-http", "headers": headers}
    client = await asyncio.to_thread(MCPClient, server, structured_output=False)
    tools = {tool.name: tool for tool in client.get_tools()}

    async def call(tool: str, arguments: dict[str, Any]) -> Answer:
        result = await asyncio.to_thread(lambda: tools[tool](**arguments))
        return Answer(result, error_as="text alone: isError is dropped" if result.startswith("[error]") else "")

    try:
        yield Connected(list(tools), call)
    finally:
        await asyncio.to_thread(client.disconnect)


async def own_picture(agent: Connected, sandbox: str) -> Picture:
    """What code of an agent does with the text of the tool for files."""
    asked = {"sandbox": sandbox, "path": WORDS["picture"]["file"], "encoding": "base64"}
    text = (await agent.call("sandbox_read_file", **asked)).text
    image = PIL.Image.open(io.BytesIO(base64.b64decode(text)))
    return Picture(
        "dropped; from sandbox_read_file as base64: PIL.Image", f"image/{(image.format or '').lower()}", text
    )


main(
    Client(
        "smolagents",
        connect,
        patience_s=None,
        patience="300 s without a byte: the transport's sse_read_timeout",
        cancels=False,
        own_picture=own_picture,
    )
)
