"""The functions of the package."""

import re
import warnings
from typing import Any

from . import _errors, _gate, _values, _wire

_WORD = re.compile(r"[^\W_]+")


def call(server: str, tool: str, arguments: dict[str, Any] | None = None, timeout_s: float | None = None) -> Any:
    """Call a tool and return what it answers.

    That is its structured content if there is any, else its text, parsed if it is JSON. Several parts are a list;
    pictures are ``Media``: bytes with a ``type``. Raises ToolError if the tool says that it failed.
    """
    return _values.value_of(result_of(server, tool, arguments, timeout_s))


async def call_async(
    server: str, tool: str, arguments: dict[str, Any] | None = None, timeout_s: float | None = None
) -> Any:
    """Call in a coroutine, any number at once with asyncio.gather."""
    return _values.value_of(await result_of_async(server, tool, arguments, timeout_s))


def servers() -> list[dict[str, Any]]:
    """The servers with their ``name``, ``state`` and ``tools`` (``name`` and ``description``).

    First those of the sandbox, then those that sandboxes share (``shared``). Of one that sleeps no tools may be known.
    """
    answer = _result(_wire.ask({"op": "servers"}), None, None)
    found, note = answer.get("servers"), answer.get("note")
    if note:
        warnings.warn(str(note), RuntimeWarning, stacklevel=2)
    return found if isinstance(found, list) else []


def describe(what: str) -> dict[str, Any]:
    """A tool, "server.tool", with its ``input_schema`` and ``output_schema``; or "server" with its ``tools``."""
    server, _, tool = what.partition(".")
    request = {"op": "describe", "server": server}
    if tool:
        request["tool"] = tool
    found = _result(_wire.ask(request), server, tool or None)
    tools = found.get("tools")
    if tool and isinstance(tools, list) and tools and isinstance(tools[0], dict):
        return {"server": server, **tools[0]}
    return found


def search(words: str, limit: int = 5) -> list[dict[str, Any]]:
    """The tools whose names and descriptions have most of the words, best first."""
    wanted = set(_words(words))
    found: list[tuple[float, dict[str, Any]]] = []
    for server in servers():
        for tool in server.get("tools") or ():
            name, description = str(tool.get("name") or ""), str(tool.get("description") or "")
            score = _score(wanted, str(server.get("name")), name, description)
            if score:
                found.append((score, {"server": server.get("name"), "tool": name, "description": description}))
    found.sort(key=lambda scored: -scored[0])
    return [tool for _, tool in found[: max(limit, 0)]]


def result_of(server: str, tool: str, arguments: dict[str, Any] | None, timeout_s: float | None) -> dict[str, Any]:
    """MCP's result of a call; raises ToolError for one that is an error."""
    request = _request(server, tool, arguments, timeout_s)
    with _gate.of(server).entered():
        answer = _wire.ask(request, timeout_s)
    return _checked(answer, server, tool)


async def result_of_async(
    server: str, tool: str, arguments: dict[str, Any] | None, timeout_s: float | None
) -> dict[str, Any]:
    """``result_of`` for coroutines."""
    request = _request(server, tool, arguments, timeout_s)
    async with _gate.of(server).entered_async():
        answer = await _wire.ask_async(request, timeout_s)
    return _checked(answer, server, tool)


def _request(server: str, tool: str, arguments: dict[str, Any] | None, timeout_s: float | None) -> dict[str, Any]:
    if not isinstance(server, str) or not isinstance(tool, str):
        raise TypeError('server and tool are texts: mcptools.call("github", "list_issues", {"repo": "a/b"})')
    if arguments is not None and not isinstance(arguments, dict):
        raise TypeError(f"arguments are a dict, not {type(arguments).__name__}")
    if timeout_s is not None and not timeout_s > 0:
        raise ValueError(f"timeout_s is a number of seconds above 0, not {timeout_s!r}")
    request: dict[str, Any] = {"op": "call", "server": server, "tool": tool, "arguments": arguments or {}}
    if timeout_s is not None:
        request["timeout_s"] = timeout_s
    return request


def _checked(answer: dict[str, Any], server: str, tool: str) -> dict[str, Any]:
    result = _result(answer, server, tool)
    if result.get("isError"):
        text = _values.text_of(result) or f"{server}.{tool} failed, and says no more"
        raise _errors.ToolError(text, server, tool)
    return result


def _result(answer: dict[str, Any], server: str | None, tool: str | None) -> dict[str, Any]:
    result = answer.get("result")
    if not isinstance(result, dict):
        raise _errors.of_kind(answer.get("error"), server, tool)
    return result


def _words(text: str) -> list[str]:
    # searchIssues and search_issues are two words each.
    return [word.lower() for word in _WORD.findall(re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text[:10_000]))]


def _score(wanted: set[str], server: str, tool: str, description: str) -> float:
    places = ((3.0, set(_words(tool))), (2.0, set(_words(server))), (1.0, set(_words(description))))
    score = 0.0
    for word in wanted:
        for weight, words in places:
            if word in words:
                score += weight
            elif any(_alike(word, other) for other in words):
                score += weight / 2
    return score


def _alike(one: str, other: str) -> bool:
    """True for "issue" and "issues"."""
    return min(len(one), len(other)) > 2 and (one.startswith(other) or other.startswith(one))
