"""smolagents: an agent with a tool that runs Python in a sandbox, through the library.

Needs `smolagents` and this package. SANDGLASS_URL and SANDGLASS_TOKEN name the endpoint. The model is a script, so that
nothing else is called: put yours in its place.
"""

from __future__ import annotations

from typing import Any

from smolagents import ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model

from sandglass import Sandbox

CODE = "import statistics\nstatistics.stdev([3, 5, 10, 14])"


class Scripted(Model):
    """Calls one tool after the other, as its script says."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        super().__init__()
        self._calls = list(calls)

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        """Says the next call of the script."""
        name, arguments = self._calls.pop(0)
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        return ChatMessage(
            MessageRole.ASSISTANT, "", [ChatMessageToolCall(function, str(len(self._calls)), "function")]
        )


def main() -> None:
    """Asks the agent, and prints what its tool and its model said."""
    model = Scripted(("run_python", {"code": CODE}), ("final_answer", {"answer": "The numbers lie about 5 apart."}))

    with Sandbox() as sandbox:

        @tool
        def run_python(code: str) -> str:
            """Runs Python in a sandbox. Variables stay for the next call; the last expression is shown.

            Args:
                code: The Python code.
            """
            run = sandbox.run_code(code)
            return run.text if run.is_ok else f"[{run.status}] {run.text} {run.message}"

        agent = ToolCallingAgent(tools=[run_python], model=model, verbosity_level=0)
        answer = agent.run("How far are 3, 5, 10 and 14 apart?")

    print("tool:  ", agent.memory.steps[1].observations)
    print("answer:", answer)


if __name__ == "__main__":
    main()
