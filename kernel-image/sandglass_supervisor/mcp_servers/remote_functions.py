"""Functions of servers in other pods, written when a gateway says which tools such a server has.

Code that imports them has them written too, in the name of an execution; a gateway asks when a caller registers one.
"""

import os
from typing import Any

from ..limits import MCP_LIST_BYTES, MCP_NOTES
from ..link.wire import Answer, Problem, Reply, Request
from . import shared_server_words
from .definition import parse_name
from .loads import Loads
from .requests import CallProblem
from .servers import Servers, listed
from .shared_servers import Listed


class RemoteFunctions:
    """Those of one server are written for one gateway at a time."""

    def __init__(self, servers: Servers, loads: Loads) -> None:
        self._servers = servers
        self._loads = loads
        self._waiting: set[str] = set()

    def write(self, request: Request, answer: Answer) -> None:
        """Answer ``mcp_functions`` when the folder is written; raises Problem."""
        server = parse_name(request.arguments)
        found = _tools(request.blob, server)
        if self._servers.is_own(server) or server in self._waiting:
            words = f"name: server '{server}' is being registered already; wait for the answer"
            raise Problem("mcp_registering", words)

        def written(value: dict[str, Any] | CallProblem) -> None:
            self._waiting.discard(server)
            answer(self._told(server, found, value))

        self._waiting.add(server)
        self._loads.write(server, found, written)

    def _told(self, server: str, found: Listed, made: dict[str, Any] | CallProblem) -> Reply | Problem:
        if isinstance(made, CallProblem):
            return _failure(server, made)
        tools, left_out = listed(found[0], made["modules"], MCP_LIST_BYTES)
        more = [f"{left_out} more tools are not listed here; their functions are in the folder"] if left_out else []
        folder = os.path.join(self._loads.folder, server)
        return {"name": server, "folder": folder, "tools": tools, "notes": [*more, *made["notes"]][:MCP_NOTES]}


def _tools(blob: bytes, server: str) -> Listed:
    """The tools as gateways list them; raises Problem."""
    try:
        return shared_server_words.parse_listed(blob, server)
    except CallProblem as problem:
        raise _failure(server, problem) from None


def _failure(server: str, why: CallProblem) -> Problem:
    return Problem("mcp_start_failed", f"MCP server '{server}' runs, but {why}")
