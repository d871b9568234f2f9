"""Call the tools of MCP servers from code.

    import mcptools
    mcptools.servers()                                   # servers, their states and tools
    mcptools.search("open issues")                       # tools by words
    mcptools.describe("github.list_issues")              # what one takes and returns
    mcptools.call("github", "list_issues", {"repo": "a/b"})
    await mcptools.call_async("github", "list_issues", {"repo": "a/b"})

Typed functions are modules, written when they are first imported:

    from mcptools.github.list_issues import Params, run, run_async

Any number of calls may run at once. Names and descriptions of tools come from their servers.
"""

from . import _imports
from ._api import call, call_async, describe, search, servers
from ._errors import (
    NoSuchServer,
    NoSuchTool,
    NotAllowed,
    ResultTooLarge,
    ServerNotRunning,
    ToolCancelled,
    ToolError,
    ToolRunnerError,
    ToolTimeout,
    TooManyCalls,
    Unreachable,
)
from ._values import Media

__all__ = [
    "Media",
    "NoSuchServer",
    "NoSuchTool",
    "NotAllowed",
    "ResultTooLarge",
    "ServerNotRunning",
    "TooManyCalls",
    "ToolCancelled",
    "ToolError",
    "ToolRunnerError",
    "ToolTimeout",
    "Unreachable",
    "call",
    "call_async",
    "describe",
    "search",
    "servers",
]

_imports.arrange()
