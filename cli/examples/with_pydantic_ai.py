"""pydantic-ai: an agent that has the endpoint's tools through MCP.

Needs `pydantic-ai-slim[mcp]` and nothing of this package. SANDGLASS_URL and SANDGLASS_TOKEN name the endpoint. The
model is pydantic-ai's FunctionModel with a script, so that nothing else is called: put yours in its place.
"""

from __future__ import annotations

import asyncio
import os
import secrets

from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

CODE = "import statistics\nstatistics.stdev([3, 5, 10, 14])"


def scripted(*turns: TextPart | ToolCallPart) -> FunctionModel:
    """A model that says one part of its script at a time."""
    rest = iter(turns)

    def says(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[next(rest)])

    return FunctionModel(says)


async def main() -> None:
    """Asks the agent, and prints what its tools and its model said."""
    box = f"example-{secrets.token_hex(4)}"
    model = scripted(
        ToolCallPart("sandbox_run_code", {"sandbox": box, "code": CODE}),
        ToolCallPart("sandbox_stop", {"sandbox": box, "delete": True}),
        TextPart("The numbers lie about 5 apart."),
    )
    headers = {"Authorization": f"Bearer {os.environ['SANDGLASS_TOKEN']}"}
    async with MCPToolset(f"{os.environ['SANDGLASS_URL']}?tools=core", headers=headers) as sandboxes:
        agent = Agent(model, toolsets=[sandboxes])
        result = await agent.run("How far are 3, 5, 10 and 14 apart?")

    for message in result.all_messages():
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                print("tool:  ", part.content)
    print("answer:", result.output)


if __name__ == "__main__":
    asyncio.run(main())
