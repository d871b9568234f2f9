"""OpenAI Agents SDK: an agent that has the endpoint's tools through MCP.

Needs `openai-agents` and nothing of this package. SANDGLASS_URL and SANDGLASS_TOKEN name the endpoint. The model is the
scripted one of the SDK, so that nothing else is called: put yours in its place.
"""

from __future__ import annotations

import asyncio
import os
import secrets

from agents import Agent, Runner, ToolCallOutputItem, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from agents.testing import ScriptedModel, assistant_message, function_call

CODE = "import statistics\nstatistics.stdev([3, 5, 10, 14])"


async def main() -> None:
    """Asks the agent, and prints what its tools and its model said."""
    box = f"example-{secrets.token_hex(4)}"
    model = ScriptedModel(
        [
            [function_call("sandbox_run_code", {"sandbox": box, "code": CODE}, call_id="1")],
            [function_call("sandbox_stop", {"sandbox": box, "delete": True}, call_id="2")],
            [assistant_message("The numbers lie about 5 apart.")],
        ]
    )
    server = MCPServerStreamableHttp(
        {
            "url": f"{os.environ['SANDGLASS_URL']}?tools=core",
            "headers": {"Authorization": f"Bearer {os.environ['SANDGLASS_TOKEN']}"},
        },
        # A call waits for its code for up to 50 s; the SDK's own limit is 5 s.
        client_session_timeout_seconds=90,
    )
    set_tracing_disabled(True)
    async with server:
        agent = Agent("analyst", model=model, mcp_servers=[server])
        result = await Runner.run(agent, "How far are 3, 5, 10 and 14 apart?")

    for item in result.new_items:
        if isinstance(item, ToolCallOutputItem):
            print("tool:  ", *[part["text"] for part in item.raw_item["output"] if "text" in part])
    print("answer:", result.final_output)


if __name__ == "__main__":
    asyncio.run(main())
