"""The tools that a server lists: within bounds, and without those that would cost it the whole list."""

from typing import Any

from mcp.types.methods import validate_server_result
from pydantic import ValidationError

from ..limits import MCP_TOOLS, MCP_TOOLS_BYTES, MCP_VALUES
from ..shared.json_frames import to_json

_TOLD = ("name", "description", "inputSchema", "outputSchema")


class ToolLists:
    """Lists the tools of one server, whose messages it hears before the SDK does."""

    def __init__(self) -> None:
        self._version = ""
        self._broken = 0

    def hear(self, message: Any) -> None:
        """Take tools out of a list that do not follow MCP: the SDK refuses a list for one of them."""
        result = getattr(getattr(message, "message", None), "result", None)
        if not self._version or not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return
        if not self._follows(result):
            sound = [tool for tool in result["tools"] if self._follows({**result, "tools": [tool]})]
            self._broken += len(result["tools"]) - len(sound)
            result["tools"] = sound

    def _follows(self, result: dict[str, Any]) -> bool:
        try:
            validate_server_result("tools/list", self._version, result)
        except ValidationError:
            return False
        return True

    async def tools(self, client: Any) -> tuple[list[dict[str, Any]], list[str]]:
        """What the server offers, and notes on what was left out. Raises what the SDK raises."""
        self._version, self._broken = client.protocol_version, 0
        tools, notes = await _within_bounds(client)
        if self._broken:
            rule = "MCP wants a name, and an inputSchema that is an object with the type 'object'"
            notes.append(f"left out, since they do not follow MCP's schema of a tool: {self._broken}. {rule}")
        return tools, notes


async def _within_bounds(client: Any) -> tuple[list[dict[str, Any]], list[str]]:
    tools: list[dict[str, Any]] = []
    size, values, cursor = 0, 0, None
    # A page may be empty: so the pages are counted too.
    for _ in range(MCP_TOOLS):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            whole = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
            told = {name: whole[name] for name in _TOLD if name in whole}
            body = to_json(told)
            size += len(body)
            values += body.count(b",")
            if len(tools) == MCP_TOOLS or size > MCP_TOOLS_BYTES or values > MCP_VALUES // 2:
                bound = f"{MCP_TOOLS} tools and {MCP_TOOLS_BYTES} bytes of their descriptions"
                return tools, [f"the server has more tools; those beyond {bound} are left out"]
            tools.append(told)
        cursor = page.next_cursor
        if not cursor:
            return tools, []
    return tools, [f"the server lists its tools on more than {MCP_TOOLS} pages; those beyond are left out"]
