"""LangChain: an agent with a tool that runs Python in a sandbox, through the library.

Needs `langchain` and this package. SANDGLASS_URL and SANDGLASS_TOKEN name the endpoint. The model is a scripted one of
LangChain, so that nothing else is called: put yours in its place.
"""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool

from sandglass import Sandbox

CODE = "import statistics\nstatistics.stdev([3, 5, 10, 14])"


class Scripted(FakeMessagesListChatModel):
    """Calls the tool once, then answers."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        """Takes the tools and needs none: the script has its calls."""
        return self


def main() -> None:
    """Asks the agent, and prints what its tool and its model said."""
    call = {"name": "run_python", "args": {"code": CODE}, "id": "1"}
    model = Scripted(responses=[AIMessage("", tool_calls=[call]), AIMessage("The numbers lie about 5 apart.")])

    with Sandbox() as sandbox:

        @tool
        def run_python(code: str) -> str:
            """Runs Python in a sandbox. Variables stay for the next call; the last expression is shown."""
            run = sandbox.run_code(code)
            return run.text if run.is_ok else f"[{run.status}] {run.text} {run.message}"

        agent = create_agent(model, [run_python])
        messages = agent.invoke({"messages": [("user", "How far are 3, 5, 10 and 14 apart?")]})["messages"]

    print("tool:  ", *[message.text for message in messages if isinstance(message, ToolMessage)])
    print("answer:", messages[-1].text)


if __name__ == "__main__":
    main()
