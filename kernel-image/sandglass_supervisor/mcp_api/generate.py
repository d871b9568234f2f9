"""``python -I -m sandglass_supervisor.mcp_api.generate``: writes the typed functions of a server's tools.

Started by the supervisor, with the rights of the code. It reads one JSON object: ``server``, ``folder`` and ``tools``
as the server lists them. It answers one: each tool's module, and notes.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ..shared.server_names import is_server_name
from . import bounds, names
from .folders import NODE, Unwritable, link, write
from .models import PARAMS, RESULT, warm_up
from .modules import Module, Tool, package, untyped
from .node_modules import node_files
from .texts import quoted
from .workers import made

_VARIABLE = "SANDGLASS_MCP_PACKAGES"


class BadRequest(Exception):
    """What the supervisor asked for is not what it may ask for."""


class Request(NamedTuple):
    """A server, where its folder belongs, its tools, and what is to be said of those that are left out."""

    server: str
    folder: Path
    tools: list[Tool]
    notes: list[str]


def main() -> int:
    """Read a request, write the folder, answer; 1 with a line on standard error if nothing was written."""
    try:
        request = _request(sys.stdin.buffer.read(bounds.REQUEST_BYTES + 1))
        _find_packages()
        answer = generate(request)
    except (BadRequest, Unwritable) as error:
        return _fail(str(error))
    except ImportError as error:
        return _fail(f"this image has no {error.name}: {_VARIABLE} names the folder of requirements-mcp.txt")
    except OSError as error:
        return _fail(f"the typed functions cannot be made: {error.strerror or error}")
    print(json.dumps(answer))  # noqa: T201 - the answer
    return 0


def generate(request: Request) -> dict[str, Any]:
    """Write the folder of a server, and return the answer."""
    server, tools = request.server, request.tools
    modules = names.module_names(tool.name for tool in tools)
    if tools:
        warm_up()
    sources = _bounded(server, tools, made(server, tools))
    files = {f"{name}.py": module.source for name, module in zip(modules, sources, strict=True)}
    files["__init__.py"] = package(server, dict(zip(modules, tools, strict=True)))
    write(request.folder, server, files)
    node_note = _write_for_node(request, modules)
    notes = [
        f"Params of {quoted(tool.name)} are not all checked: {module.note}"
        if PARAMS in tool.schemas
        else f"{quoted(tool.name)}: {module.note}"
        for tool, module in zip(tools, sources, strict=True)
        if module.note
    ]
    return {
        "tools": [{"name": tool.name, "module": module} for tool, module in zip(tools, modules, strict=True)],
        "notes": _few([*node_note, *request.notes, *notes]),
    }


def _write_for_node(request: Request, modules: list[str]) -> list[str]:
    """Write the functions for JavaScript. Those for Python are written by now: a failure is a note, and no more."""
    files = node_files(request.server, dict(zip(modules, request.tools, strict=True)))
    # A link leads there from where Node looks, because npm removes what it did not install.
    place = Path("node_modules", request.folder.name)
    try:
        write(request.folder / place, request.server, files, NODE)
        link(request.folder.parent / place, request.folder / place)
    except Unwritable as error:
        return [f"there are no functions for JavaScript: {' '.join(str(error).split())}"]
    return []


def _request(data: bytes) -> Request:
    if len(data) > bounds.REQUEST_BYTES:
        raise BadRequest(f"the tools of the server have more than {bounds.REQUEST_BYTES} bytes")
    try:
        asked = json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequest("the request is no JSON, or too deep") from None
    if not isinstance(asked, dict) or not is_server_name(asked.get("server")):
        raise BadRequest("server is no name of a server")
    folder = asked.get("folder")
    if not isinstance(folder, str) or not folder.startswith("/") or "\0" in folder:
        raise BadRequest("folder is no absolute path")
    if not isinstance(asked.get("tools"), list):
        raise BadRequest("tools is no list")
    return Request(asked["server"], Path(folder), *_tools(asked["tools"]))


def _tools(listed: list[Any]) -> tuple[list[Tool], list[str]]:
    tools: dict[str, Tool] = {}
    notes = []
    for tool in listed[: bounds.TOOLS]:
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or not 0 < len(name) <= bounds.TOOL_NAME_CHARS:
            notes.append(f"a tool without a name of 1 to {bounds.TOOL_NAME_CHARS} characters is left out")
        elif name in tools:
            notes.append(f"{quoted(name)} is listed more than once: the first is taken")
        else:
            schemas = {PARAMS: tool.get("input_schema", {})}
            if tool.get("output_schema") is not None:
                schemas[RESULT] = tool["output_schema"]
            description = tool.get("description")
            tools[name] = Tool(name, description if isinstance(description, str) else "", schemas)
    if len(listed) > bounds.TOOLS:
        notes.append(
            f"the server lists {len(listed)} tools: mcptools.call reaches those after the first {bounds.TOOLS}"
        )
    return list(tools.values()), notes


def _bounded(server: str, tools: list[Tool], modules: list[Module]) -> list[Module]:
    """All that fit into the folder; of the others the short form."""
    total = 0
    kept = []
    for tool, module in zip(tools, modules, strict=True):
        total += len(module.source)
        fits = total <= bounds.FOLDER_CHARS
        kept.append(module if fits else untyped(server, tool, "the modules of its server are too large together"))
    return kept


def _few(notes: list[str]) -> list[str]:
    if len(notes) <= bounds.NOTES:
        return notes
    return [*notes[: bounds.NOTES], f"and {len(notes) - bounds.NOTES} more notes of this kind"]


def _find_packages() -> None:
    """Our packages come first. Nothing of the workspace is looked at: a pyproject.toml there could name settings."""
    sys.path.insert(0, os.environ.get(_VARIABLE) or f"{sys.prefix}/mcp")
    os.chdir("/")


def _fail(why: str) -> int:
    sys.stderr.write(" ".join(why.split()) + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
