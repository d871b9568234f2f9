"""All servers of the sandbox: registered, listed, removed by callers; called by code."""

import os
from collections.abc import Callable, Iterator
from typing import Any

from ..limits import MCP_CHANGES_S, MCP_LIST_BYTES, MCP_NOTES, MCP_SERVERS, MCP_TEXT_CHARS
from ..link.wire import Answer, Problem, Reply
from ..shared.json_frames import to_json
from ..shared.text import one_line
from . import api
from .api import Generation
from .definition import Command, Registration, parse_name, parse_registration
from .process import Means
from .requests import CallProblem
from .server import Server
from .words import Tool


class _Known:
    """A server with the names of the modules that its API has, and the writing of that API, one at a time."""

    def __init__(self, means: Means, registration: Registration) -> None:
        self.server = Server(means, registration)
        self.modules: dict[str, str] = {}
        self.notes: list[str] = []
        self._means = means
        self._generation: Generation | None = None
        self._before: _Known | None = None
        self._again = self._gone = self._resting = False

    def write(self, done: Callable[[str | None], None]) -> None:
        """Write the API; ``done`` gets None, or why it was not written."""

        def made(what: dict[str, Any] | str) -> None:
            self._generation = None
            if self._gone:
                done("the server was replaced or removed meanwhile")
                return
            if not isinstance(what, str):
                self.modules, self.notes = what["modules"], what["notes"]
            done(what if isinstance(what, str) else None)
            if not self._resting:
                rested()

        def rested() -> None:
            self._resting = False
            if self._again and self._generation is None:
                self._again = False
                self.change()

        self._resting = True
        self._means.loop.call_in(MCP_CHANGES_S, rested)
        self._generation = Generation(self._means, self.server.name, self.server.tools, made)

    def change(self) -> None:
        """The tools are others: write the API anew, but not more often than every other second."""
        if self._generation is not None or self._resting:
            self._again = True
        elif not self._gone:
            self.write(lambda _: None)

    def replace(self, before: "_Known") -> None:
        """Take the place of that one, which ends its calls."""
        self._before = before
        before.retire()

    def retire(self) -> None:
        """End the server when its calls are answered, or after a while, and now the one that it replaced itself."""
        self.write_no_more()
        self.server.retire()
        if self._before is not None:
            self._before.end()
            self._before = None

    def end(self) -> None:
        """End the server, the one that it replaced, and what is written for it."""
        self.write_no_more()
        self.server.stop()
        if self._before is not None:
            self._before.end()

    def write_no_more(self) -> None:
        """Stop what is written for it."""
        self._gone = True
        if self._generation is not None:
            self._generation.stop()


class Servers:
    """At most 16. One whose registration fails leaves nothing behind, and the one of that name before it in place."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._known: dict[str, _Known] = {}
        self._coming: dict[str, _Known] = {}
        self.comes: Callable[[str], None] = lambda _name: None  # one of that name is about to be registered

    def __iter__(self) -> Iterator[Server]:
        return (known.server for known in self._known.values())

    def register(self, given: dict[str, Any], answer: Answer) -> None:
        """Start a server and write its API; raises Problem, or answers when it is done or has failed."""
        wanted = parse_registration(given, self._means.workspace)
        self._check_new(wanted)
        there = self._known.get(wanted.name)
        if there is not None and wanted.revision is not None and there.server.registration.revision == wanted.revision:
            answer(_describe_whole(there, self._means.workspace))
        else:
            self._start(wanted, answer)

    def _check_new(self, wanted: Registration) -> None:
        """Raise Problem if no such server may be started now."""
        if not os.path.isdir(os.path.join(self._means.packages, "mcp")):
            words = (
                "this sandbox's image has no MCP client: install the packages of requirements-mcp.txt into"
                f" {self._means.packages}, or use the image of this version"
            )
            raise Problem("mcp_unavailable", words)
        if wanted.name in self._coming:
            words = f"name: server '{wanted.name}' is being registered already; wait for the answer"
            raise Problem("mcp_registering", words)
        if wanted.name not in self._known and len(self._known.keys() | self._coming.keys()) >= MCP_SERVERS:
            raise Problem("mcp_too_many", f"a sandbox has at most {MCP_SERVERS} MCP servers; remove one first")

    def _start(self, wanted: Registration, answer: Answer) -> None:
        known = self._coming[wanted.name] = _Known(self._means, wanted)
        self.comes(wanted.name)

        def fail(code: str, words: str) -> None:
            self._coming.pop(wanted.name, None)
            answer(Problem(code, words))

        def started(why: str | None, *, late: bool = False) -> None:
            if why is not None:
                fail("mcp_timeout" if late else "mcp_start_failed", _failure(wanted, why))
            elif wanted.api:
                known.write(written)
            else:
                written(None)

        def written(wrong: str | None) -> None:
            if wrong is not None:
                known.end()
                fail("mcp_start_failed", f"MCP server '{wanted.name}' runs, but {known.server.hide(wrong)}")
                return
            self._coming.pop(wanted.name, None)
            before = self._known.get(wanted.name)
            if before is not None:
                known.replace(before)
            self._known[wanted.name] = known
            if wanted.api:
                known.server.changed = known.change
            answer(_describe_whole(known, self._means.workspace))

        known.server.start(started)

    def list(self) -> Reply:
        """All servers as ``mcp_list`` tells them, those too that are still starting."""
        all_of_them = {**self._coming, **self._known}
        share = MCP_LIST_BYTES // max(1, len(all_of_them))
        return {"servers": [_describe(known, share) for known in all_of_them.values()]}

    def remove(self, given: dict[str, Any]) -> Reply:
        """End a server and forget it; its API stays until another takes its folder, and says that it is gone."""
        name = parse_name(given)
        known = self._known.pop(name, None)
        if known is None:
            raise Problem("no_server", self.names(name))
        known.end()
        return {}

    def is_own(self, name: str) -> bool:
        """True if a server of that name is registered, or about to be."""
        return name in self._known or name in self._coming

    def get(self, name: str) -> Server | None:
        """The server of that name, if it is one of this sandbox."""
        known = self._known.get(name)
        return None if known is None else known.server

    def find(self, name: str) -> Server:
        """The server of that name; raises CallProblem."""
        known = self._known.get(name)
        if known is None:
            raise CallProblem("no_server", self.names(name))
        return known.server

    def names(self, asked: str) -> str:
        """That there is no such server, and which there are."""
        there = ", ".join(sorted(self._known)) or "none"
        return f"there is no MCP server {one_line(asked, MCP_TEXT_CHARS)!r} in this sandbox; registered are: {there}"


def _describe(known: _Known, most_bytes: int) -> Reply:
    server = known.server
    tools, left_out = listed(server.tools, known.modules, most_bytes)
    told = {"name": server.name, "state": server.state, **server.registration.target.describe(), "tools": tools}
    return {**told, "left_out": left_out} if left_out else told


def listed(all_of_them: list[Tool], modules: dict[str, str], most_bytes: int) -> tuple[list[Reply], int]:
    """The tools in at most so many bytes: first without descriptions, then fewer."""
    tools: list[Reply] = []
    size = 0
    for tool in all_of_them:
        told = {"name": tool.shown, "module": modules.get(tool.name, ""), "description": tool.line}
        size += len(to_json(told))
        if size > most_bytes:
            break
        tools.append(told if size < most_bytes // 2 else {**told, "description": ""})
    return tools, len(all_of_them) - len(tools)


def _describe_whole(known: _Known, workspace: str) -> Reply:
    told = _describe(known, MCP_LIST_BYTES)
    notes = known.server.notes + known.notes
    if told.get("left_out"):
        where = "their functions are in the folder" if known.server.registration.api else "mcp_tools lists them"
        notes = [f"{told['left_out']} more tools are not listed here; {where}", *notes]
    notes = [known.server.hide(note) for note in notes[:MCP_NOTES]]
    info = {field: known.server.hide(text) for field, text in known.server.info.items()}
    whole = {"name": told["name"], "server_info": info, "tools": told["tools"], "notes": notes}
    if not known.server.registration.api:
        return whole
    return {**whole, "folder": os.path.join(workspace, api.FOLDER, told["name"])}


def _failure(wanted: Registration, why: str) -> str:
    target = wanted.target
    doing = f"'{target.argv[0]}' did not start" if isinstance(target, Command) else "its URL did not answer as one"
    return f"MCP server '{wanted.name}': {one_line(doing, MCP_TEXT_CHARS)}: {why}"
