"""google-adk: an agent with an McpToolset, whose model is scripted: it calls the tool and keeps what it is told."""

import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpToolset, StreamableHTTPConnectionParams
from google.genai import types
from scenario import Answer, Client, Connected, Picture, main

logging.disable(logging.WARNING)
USER = "sandglass"


class Scripted(BaseLlm):
    """Asks for one call of a tool; afterwards, `answer` is what it was told."""

    asks: types.FunctionCall
    answer: types.FunctionResponse | None = None

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = (llm_request.contents[-1].parts or [])[0]
        self.answer = last.function_response
        part = types.Part(text="done") if self.answer else types.Part(function_call=self.asks)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


@contextlib.asynccontextmanager
async def connect(url: str, headers: dict[str, str]) -> AsyncIterator[Connected]:
    told: list[str] = []

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    toolset = McpToolset(
        connection_params=StreamableHTTPConnectionParams(url=url, headers=headers), progress_callback=progressed
    )

    async def call(tool: str, arguments: dict[str, Any]) -> Answer:
        model = Scripted(model="scripted", asks=types.FunctionCall(name=tool, args=arguments))
        runner = InMemoryRunner(LlmAgent(name="agent", model=model, tools=[toolset]), app_name=USER)
        session = await runner.session_service.create_session(app_name=USER, user_id=USER)
        asked = types.Content(role="user", parts=[types.Part(text="go")])
        async for _ in runner.run_async(user_id=USER, session_id=session.id, new_message=asked):
            pass
        result = (model.answer.response if model.answer else None) or {}
        pictures = [
            Picture("base64 text in the FunctionResponse, no Part", part["mimeType"], part["data"])
            for part in result.get("content", [])
            if part["type"] == "image"
        ]
        return Answer(
            "\n".join(part["text"] for part in result.get("content", []) if part["type"] == "text"),
            pictures,
            error_as="isError in the FunctionResponse" if result.get("isError") else "",
        )

    try:
        yield Connected([tool.name for tool in await toolset.get_tools()], call, lambda: len(told))
    finally:
        await toolset.close()


main(
    Client(
        "google-adk",
        connect,
        patience_s=None,
        patience="300 s for a call: StreamableHTTPConnectionParams(sse_read_timeout=)",
        cancels=True,
    )
)
