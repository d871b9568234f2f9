"""The API of mcp-server-code-execution-mode, for code that comes from there.

After ``load(["github"], globals())`` the code has ``mcp_github`` with a coroutine for each tool, ``mcp_servers`` by
name, ``LOADED_MCP_SERVERS``, and the modules ``mcp.runtime`` and ``mcp.servers``. Results are dicts as the protocol has
them: ``content``, ``structuredContent`` and ``isError``, which raises nothing.
"""

import keyword
import re
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from . import _api, _gate, _wire
from ._errors import NoSuchServer, ToolRunnerError, of_kind

_OTHER = re.compile(r"\W", re.ASCII)
_SUMMARY_CHARS = 120


class MCPError(RuntimeError):
    """A call had no result: the server is not loaded, not running, or did not answer."""


class Proxy:
    """A loaded server: ``await proxy.tool(argument=value)``; a name that is no alias is a tool's own."""

    def __init__(self, name: str, alias: str, tools: list[dict[str, Any]]) -> None:
        self._name = name
        self._alias = alias
        self._tools = dict(zip(_aliases(tool["name"] for tool in tools), tools, strict=True))

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        tool = self._tools.get(attribute, {}).get("name", attribute)

        async def call(**arguments: Any) -> dict[str, Any]:
            return await call_tool(self._name, tool, arguments)

        call.__name__ = attribute
        call.__doc__ = self._tools.get(attribute, {}).get("description")
        return call

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._tools]

    def __repr__(self) -> str:
        return f"<MCP server {self._name}: {', '.join(self._tools)}>"


class ByName(dict[str, Proxy]):
    """Loaded servers, found also by the name that a configuration gives them: ``brave-search`` is ``brave_search``."""

    def __missing__(self, name: str) -> Proxy:
        alias = _plain(name)
        if alias == name or alias not in self:
            raise KeyError(name)
        return self[alias]

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and super().__contains__(_plain(name)))

    def get(self, name: str, default: Any = None) -> Any:
        """The server, or the default."""
        return super().get(name, super().get(_plain(name), default))


_loaded = ByName()


def load(names: Iterable[str], into: dict[str, Any]) -> None:
    """Give the code these servers, under names of its own, and the modules; raises MCPError for one that is unknown."""
    known = {server["name"]: server for server in _servers()}
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        if name not in known:
            raise MCPError(f"Unknown MCP server: {_shown(name)}; registered are: {', '.join(sorted(known)) or 'none'}")
    for name, alias in zip(wanted, _aliases(wanted), strict=True):
        described = _ask({"op": "describe", "server": name})
        proxy = _loaded[name] = Proxy(name, alias, described["tools"])
        into[f"mcp_{alias}"] = proxy
    into["mcp_servers"] = ByName(_loaded)
    into["LOADED_MCP_SERVERS"] = tuple(_loaded)
    _make_modules()


async def call_tool(server: str, tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    """Call a tool of a loaded server; the result as the protocol has it."""
    server = _proxy(server)._name
    if not tool:
        raise MCPError("Missing tool name")
    if arguments is not None and not isinstance(arguments, dict):
        raise MCPError("Arguments must be an object")
    request = {"op": "call", "server": server, "tool": tool, "arguments": arguments or {}}
    try:
        async with _gate.of(server).entered_async():
            answer = await _wire.ask_async(request)
        return _result(answer, server, tool)
    except ToolRunnerError as problem:
        raise MCPError(str(problem)) from None


async def list_tools(server: str) -> list[dict[str, Any]]:
    """The tools of a loaded server."""
    return list_tools_sync(server)


async def list_servers() -> tuple[str, ...]:
    """The servers that are loaded."""
    return list_servers_sync()


def list_tools_sync(server: str) -> list[dict[str, Any]]:
    """``list_tools`` outside of coroutines."""
    return list(describe_server(server)["tools"])


def list_servers_sync() -> tuple[str, ...]:
    """``list_servers`` outside of coroutines."""
    return tuple(_loaded)


def discovered_servers() -> tuple[str, ...]:
    """All servers of the sandbox, loaded or not."""
    return tuple(server["name"] for server in _servers())


def describe_server(name: str) -> dict[str, Any]:
    """A loaded server: ``name``, ``alias`` and ``tools``, each with ``name``, ``alias``, ``description``, schema."""
    proxy = _proxy(name)
    tools = [
        {
            "name": tool["name"],
            "alias": alias,
            "description": tool.get("description", ""),
            "input_schema": tool.get("input_schema", {}),
        }
        for alias, tool in proxy._tools.items()
    ]
    return {"name": proxy._name, "alias": proxy._alias, "tools": tools}


def list_loaded_server_metadata() -> tuple[dict[str, Any], ...]:
    """What ``describe_server`` says of each loaded server."""
    return tuple(describe_server(name) for name in _loaded)


async def query_tool_docs(server: str, tool: str | None = None, detail: str = "summary") -> list[dict[str, Any]]:
    """What a server says of its tools, or of one; with ``detail="full"`` with schemas."""
    return query_tool_docs_sync(server, tool, detail)


async def search_tool_docs(query: str, *, limit: int = 5, detail: str = "summary") -> list[dict[str, Any]]:
    """The tools of loaded servers that fit the words, best first."""
    return search_tool_docs_sync(query, limit=limit, detail=detail)


def query_tool_docs_sync(server: str, tool: str | None = None, detail: str = "summary") -> list[dict[str, Any]]:
    """``query_tool_docs`` outside of coroutines."""
    described = describe_server(server)
    return [_doc(described, one, detail) for one in described["tools"] if tool in (None, one["name"], one["alias"])]


def search_tool_docs_sync(query: str, *, limit: int = 5, detail: str = "summary") -> list[dict[str, Any]]:
    """``search_tool_docs`` outside of coroutines."""
    found = _guarded(lambda: _api.search(query, limit=sys.maxsize))
    docs = [
        doc
        for tool in found
        if tool["server"] in _loaded
        for doc in query_tool_docs_sync(tool["server"], tool["tool"], detail)
    ]
    return docs[: max(limit, 0)]


def capability_summary() -> str:
    """A few lines on what there is."""
    lines = [
        "await mcp_<alias>.<tool>(argument=value) calls a tool of a loaded server; the result is a dict.",
        "mcp.runtime has call_tool, list_tools, list_servers, discovered_servers, describe_server, query_tool_docs,",
        "search_tool_docs, list_loaded_server_metadata and MCPError.",
    ]
    lines += [f"{name}: {len(proxy._tools)} tools" for name, proxy in _loaded.items()]
    return "\n".join(lines)


_RUNTIME = (
    MCPError,
    call_tool,
    capability_summary,
    describe_server,
    discovered_servers,
    list_loaded_server_metadata,
    list_servers,
    list_servers_sync,
    list_tools,
    list_tools_sync,
    query_tool_docs,
    query_tool_docs_sync,
    search_tool_docs,
    search_tool_docs_sync,
)


def _make_modules() -> None:
    """``mcp``, ``mcp.runtime`` and ``mcp.servers.<alias>``, which stand for a package of that name in this process."""
    package = _module("mcp", None)
    runtime, servers = _module("mcp.runtime", package), _module("mcp.servers", package)
    for member in _RUNTIME:
        setattr(runtime, member.__name__, member)
    for name, proxy in _loaded.items():
        module = _module(f"mcp.servers.{proxy._alias}", servers)
        described = describe_server(name)["tools"]
        module.__dict__.update({tool["alias"]: getattr(proxy, tool["alias"]) for tool in described})
        module.__dict__.update(TOOLS=described, TOOL_MAP={tool["alias"]: tool["name"] for tool in described})


def _module(name: str, parent: ModuleType | None) -> ModuleType:
    module = sys.modules[name] = ModuleType(name, "Made for the servers that were loaded.")
    module.__path__ = []
    if parent is not None:
        setattr(parent, name.rpartition(".")[2], module)
    return module


def _shown(name: str) -> str:
    """A name of the caller's in our words: what is no printable character, as an escape."""
    return name if name.isprintable() else name.encode("unicode_escape").decode()


def _plain(name: str) -> str:
    """A configuration's name as the command line registers it: small letters, ``_`` for other characters."""
    return _OTHER.sub("_", name.lower())


def _aliases(names: Iterable[str]) -> list[str]:
    """A name for Python for each: ``_`` for other characters and after keywords, ``_2`` for one that is taken."""
    found: dict[str, None] = {}
    for name in names:
        plain = _OTHER.sub("_", name) or "_"
        if plain[0].isdigit() or keyword.iskeyword(plain):
            plain = f"_{plain}" if plain[0].isdigit() else f"{plain}_"
        alias, count = plain, 1
        while alias in found:
            count += 1
            alias = f"{plain}_{count}"
        found[alias] = None
    return list(found)


def _doc(server: dict[str, Any], tool: dict[str, Any], detail: str) -> dict[str, Any]:
    call = f"await mcp_{server['alias']}.{tool['alias']}(...)"
    doc = {"server": server["name"], "tool": tool["name"], "alias": tool["alias"], "call": call}
    if detail == "full":
        return {**doc, "description": tool["description"], "input_schema": tool["input_schema"]}
    return {**doc, "description": tool["description"].strip().partition("\n")[0][:_SUMMARY_CHARS]}


def _proxy(name: str) -> Proxy:
    if name not in _loaded:
        raise MCPError(f"MCP server {name} is not loaded; loaded are: {', '.join(_loaded) or 'none'}")
    return _loaded[name]


def _servers() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = _guarded(_api.servers)
    return found


def _ask(request: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _guarded(lambda: _result(_wire.ask(request), request["server"], None))
    return found


def _result(answer: dict[str, Any], server: str, tool: str | None) -> dict[str, Any]:
    result = answer.get("result")
    if not isinstance(result, dict):
        raise of_kind(answer.get("error"), server, tool)
    return result


def _guarded(ask: Any) -> Any:
    try:
        return ask()
    except NoSuchServer as problem:
        raise MCPError(f"Unknown MCP server: {problem.server}") from None
    except ToolRunnerError as problem:
        raise MCPError(str(problem)) from None
