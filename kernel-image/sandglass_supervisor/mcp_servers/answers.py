"""What code gets for what it asks at the socket: of the sandbox's own servers at once, of shared ones by a gateway.

A server of the sandbox hides a shared one of the same name.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from ..shared.json_frames import to_json
from .loads import Loads
from .requests import Call, CallProblem, Describe, Load
from .server import Outcome, Server, no_tool
from .servers import Servers
from .shared_server_words import NO_GATEWAY
from .shared_servers import Listed, SharedServers, Withdraw
from .words import Tool

# Takes the answer: a value, or one that is JSON already, or why there is none.
Give = Callable[[Outcome | bytes], None]


class Answers:
    """Each method answers once, perhaps before it returns, and returns what cancels it; or raises CallProblem.

    ``execution_id`` is the execution whose process asks, None for a process that belongs to none.
    """

    def __init__(self, servers: Servers, shared: SharedServers, loads: Loads) -> None:
        self._servers = servers
        self._shared = shared
        self._loads = loads

    def call(self, execution_id: str | None, call: Call, give: Give) -> Withdraw:
        """Call a tool."""
        server = self._servers.get(call.server)
        if server is not None:
            return partial(server.cancel, server.call(call, give))
        return self._shared.call(self._named(execution_id, call.server), call, self._telling(call.server, give))

    def servers(self, execution_id: str | None, give: Give) -> Withdraw:
        """List all servers, with a note if it is not known which are shared."""
        own = [_line(server) for server in self._servers]
        if execution_id is None:
            give({"servers": own, "note": _NO_EXECUTION})
            return _nothing

        def listed(found: list[dict[str, Any]] | CallProblem) -> None:
            if isinstance(found, CallProblem):
                give({"servers": own, "note": f"servers that sandboxes share are not listed: {found}"})
                return
            names = {server["name"] for server in own}
            give({"servers": [*own, *(server for server in found if server["name"] not in names)]})

        return self._shared.servers(execution_id, listed)

    def describe(self, execution_id: str | None, wanted: Describe, give: Give) -> Withdraw:
        """List the tools of a server, or one of them, with their schemas."""
        server = self._servers.get(wanted.server)
        if server is not None:
            give(_described(wanted, server.tools))
            return _nothing
        tell = self._telling(wanted.server, give)

        def listed(found: Listed | CallProblem) -> None:
            if isinstance(found, CallProblem):
                tell(found)
                return
            try:
                tell(_described(wanted, found[0]))
            except CallProblem as problem:
                tell(problem)

        return self._shared.tools(self._named(execution_id, wanted.server), wanted.server, listed)

    def load(self, execution_id: str | None, wanted: Load, give: Give) -> Withdraw:
        """Have the functions of a server written; those of the sandbox's own are there."""
        if self._servers.get(wanted.server) is not None:
            give({"server": wanted.server, "folder": self._loads.folder, "notes": []})
            return _nothing
        whose = self._named(execution_id, wanted.server)
        return self._loads.load(whose, wanted.server, self._telling(wanted.server, give))

    def _named(self, execution_id: str | None, server: str) -> str:
        """The execution; raises CallProblem, as gateways are asked in the name of one."""
        if execution_id is None:
            raise CallProblem("no_server", f"{self._servers.names(server)}; {_NO_EXECUTION}")
        return execution_id

    def _telling(self, server: str, give: Give) -> Give:
        """Tell of a server that is not there which ones the sandbox has of its own."""

        def tell(value: Outcome | bytes) -> None:
            if isinstance(value, CallProblem) and value.kind in ("no_server", NO_GATEWAY):
                kind = "unreachable" if value.kind == NO_GATEWAY else value.kind
                value = CallProblem(kind, f"{self._servers.names(server)}; {value}")
            give(value)

        return tell


_NO_EXECUTION = "servers that sandboxes share are reached from an execution while it runs, and this process is of none"


def _line(server: Server) -> dict[str, Any]:
    tools = [{"name": tool.name, "description": tool.line} for tool in server.tools]
    return {"name": server.name, "state": server.state, "tools": tools}


def _described(wanted: Describe, tools: list[Tool]) -> bytes:
    found = [tool for tool in tools if wanted.tool in (None, tool.name)]
    if wanted.tool is not None and not found:
        raise no_tool(wanted.server, tools, wanted.tool)
    listed = b",".join(tool.described for tool in found)
    return b'{"server":%s,"tools":[%s]}' % (to_json(wanted.server), listed)


def _nothing() -> None:
    """Withdraw what is answered already."""
