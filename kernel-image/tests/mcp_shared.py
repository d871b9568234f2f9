"""A gateway that answers calls about servers that sandboxes share."""

import json
from typing import Any

from client import Asked, Client

KINDS = ("tool_servers", "tool_list", "tool_call")
NUMBER = {"type": "number"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "add",
        "description": "Adds two numbers.\nSecond line.",
        "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
        "outputSchema": {"type": "object", "properties": {"sum": NUMBER}, "required": ["sum"]},
    },
    *({"name": name, "description": f"{name}.", "inputSchema": {"type": "object"}} for name in ("echo", "slow", "big")),
]


class Shared:
    """Servers by name, each with the same tools: ``slow`` is answered by the test, ``is_CODE`` with that problem."""

    def __init__(self, servers: dict[str, list[dict[str, Any]]]) -> None:
        self.servers = servers

    def answer(self, asked: Asked) -> dict[str, Any] | tuple[dict[str, Any], bytes] | None:
        if asked.kind == "tool_servers":
            return {"servers": [listed(name, tools) for name, tools in self.servers.items()]}
        name = asked.arguments["server"]
        if name not in self.servers:
            return problem("no_server", f"no server '{name}' is shared with this sandbox")
        if asked.kind == "tool_list":
            return {}, json.dumps({"server": name, "tools": self.servers[name], "left_out": 0}).encode()
        return self.called(asked.arguments["tool"], json.loads(asked.blob))

    def called(self, tool: str, given: dict[str, Any]) -> dict[str, Any] | tuple[dict[str, Any], bytes] | None:
        if tool == "slow":
            return None
        if tool.startswith("is_"):
            return problem(tool[3:], f"words of \x1b[31m{tool}\u202e")
        if tool == "big":
            return result("x" * given["bytes"])
        if tool == "add":
            return result("the sum", structuredContent={"sum": given["a"] + given["b"]})
        return result(json.dumps(given))


def listed(name: str, tools: list[dict[str, Any]]) -> dict[str, Any]:
    known = [{"name": tool["name"], "description": tool["description"]} for tool in tools]
    return {"name": name, "state": "running", "tools": known}


def result(text: str, **more: Any) -> tuple[dict[str, Any], bytes]:
    return {}, json.dumps({"content": [{"type": "text", "text": text}], "isError": False, **more}).encode()


def problem(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def share(peer: Client, servers: dict[str, list[dict[str, Any]]]) -> Shared:
    """Have the gateway answer such calls from now on."""
    shared = Shared(servers)
    peer.answering = shared.answer
    peer.hello(*KINDS)
    return shared
