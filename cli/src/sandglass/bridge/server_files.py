"""MCP servers in the configuration files of clients: what the files say, checked and bounded. Pure."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

MOST_FILE_BYTES = 16 * 1024 * 1024
"""Claude Code keeps more than servers in its file."""

MOST_SERVERS = 256
MOST_NAME_CHARS = 256
MOST_ARGS = 256
MOST_PAIRS = 256
MOST_DOMAINS = 64
MOST_TEXT_CHARS = 32 * 1024
ALIAS_CHARS = 64

# What mcptools has itself, so that no server can have the name.
_TAKEN = frozenset(
    ["call", "call_async", "code_mode", "describe", "mcptools", "node_modules", "proxy", "runtime", "search", "servers"]
)
_OTHER = re.compile(r"[^a-z0-9_]+")
_ROOM = 4


class Unusable(ValueError):
    """A file or an entry that breaks a rule; the text says which, and nothing of what stands there."""


@dataclass(frozen=True)
class File:
    """A configuration file: which servers it has, and what it may do."""

    place: str
    servers: Mapping[str, Any] = field(repr=False)
    overrides: bool = True
    """Whether its servers take the place of those of files before it."""
    is_trusted: bool = True
    """Whether variables of this machine are filled in: it is the user's own, or was named by the user."""


@dataclass(frozen=True)
class Entry:
    """A server as a file has it: `fields` are arguments of `mcp_register_server`, unless `problem` says why not."""

    name: str
    alias: str
    """The name under which it is registered: an identifier."""
    file: File
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False)
    problem: str = ""

    @property
    def origin(self) -> str:
        """What is started, or the host; without what may hold a key."""
        if "command" in self.fields:
            return str(self.fields["command"])
        try:
            return urlsplit(str(self.fields.get("url", ""))).netloc.rpartition("@")[2]
        except ValueError:
            return ""


def servers_of(content: bytes | None, project: PurePath | None = None) -> Mapping[str, Any]:
    """`mcpServers` of a file, or of a folder in its `projects`; empty if it has none. None: there is no file."""
    if content is None:
        raise Unusable("there is no such file")
    if len(content) > MOST_FILE_BYTES:
        raise Unusable(f"it has more than {MOST_FILE_BYTES} bytes")
    try:
        parsed = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise Unusable("it is not JSON in UTF-8") from None
    holder = parsed if project is None else _of_project(parsed, project)
    found = holder.get("mcpServers", {}) if isinstance(holder, dict) else None
    if not isinstance(found, dict):
        where = "its 'mcpServers'" if project is None else f"its 'projects.{project}.mcpServers'"
        raise Unusable(f"it must be a JSON object, and {where} an object of servers by name")
    return found


def _of_project(parsed: Any, project: PurePath) -> Any:
    """What Claude Code keeps for a folder, by its path; on Windows with either stroke."""
    projects = parsed.get("projects", {}) if isinstance(parsed, dict) else {}
    if not isinstance(projects, dict):
        raise Unusable("its 'projects' must be an object of objects by folder")
    return projects.get(str(project), projects.get(project.as_posix(), {}))


def merged(files: Sequence[File]) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """All servers in their order, each name once, and what to tell the user."""
    found: dict[str, File] = {}
    notes: list[str] = []
    for file in files:
        for name in file.servers:
            if name in found and not file.overrides:
                continue
            if name not in found and len(found) == MOST_SERVERS:
                notes.append(f"{file.place}: more than {MOST_SERVERS} MCP servers; those beyond are left out")
                break
            if name in found and not file.is_trusted:
                notes.append(f"MCP server {name!r} of {file.place} takes the place of that of {found[name].place}")
            found[name] = file
    aliases = aliased(found)
    entries = (_entry(name, alias, file) for (name, file), alias in zip(found.items(), aliases, strict=True))
    return tuple(entries), tuple(notes)


def aliased(names: Iterable[str]) -> list[str]:
    """A name for code for each, all different: small letters, digits and `_`, a letter first; `_2` for a second one."""
    found: dict[str, None] = {}
    for plain in plain_names(names):
        alias, count = plain, 1
        while alias in found:
            count += 1
            alias = f"{plain}_{count}"
        found[alias] = None
    return list(found)


def plain_names(names: Iterable[str]) -> list[str]:
    """The same for each alone, so that two may be alike."""
    found = []
    for name in names:
        plain = _OTHER.sub("_", name[:MOST_NAME_CHARS].lower()) or "server"
        if not plain[0].isalpha():
            plain = f"server_{plain.lstrip('_')}"
        plain = plain[: ALIAS_CHARS - _ROOM]
        found.append(f"{plain}_" if keyword.iskeyword(plain) or plain in _TAKEN else plain)
    return found


def _entry(name: str, alias: str, file: File) -> Entry:
    try:
        if not name or len(name) > MOST_NAME_CHARS:
            raise Unusable(f"its name must have 1 to {MOST_NAME_CHARS} characters")
        return Entry(name[:MOST_NAME_CHARS], alias, file, _fields(file.servers[name]))
    except Unusable as problem:
        return Entry(name[:MOST_NAME_CHARS], alias, file, problem=str(problem))


def _fields(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise Unusable("it must be an object with 'command' or 'url'")
    if given.get("disabled") is True or given.get("enabled") is False:
        raise Unusable("it is switched off in the file")
    if ("command" in given) == ("url" in given):
        raise Unusable("it must have either 'command', for a server to start, or 'url', for one to connect to")
    fields: dict[str, Any]
    if "command" in given:
        fields = {
            "command": _text(given["command"], "command"),
            "args": _texts(given.get("args"), "args", MOST_ARGS),
            "env": _pairs(given.get("env"), "env"),
            "cwd": _text(given.get("cwd") or "", "cwd"),
        }
    else:
        is_sse = "sse" in (given.get("type"), given.get("transport"))
        fields = {
            "url": _text(given["url"], "url"),
            "headers": _pairs(given.get("headers"), "headers"),
            "transport": "sse" if is_sse else "",
        }
    fields["allowed_domains"] = _texts(given.get("allowed_domains"), "allowed_domains", MOST_DOMAINS)
    if not (fields.get("command") or fields.get("url")):
        raise Unusable("'command' and 'url' must not be empty")
    return {name: value for name, value in fields.items() if value}


def _text(value: Any, where: str) -> str:
    # Numbers are what users write for ports and counts.
    text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if not isinstance(text, str) or len(text) > MOST_TEXT_CHARS or "\0" in text:
        raise Unusable(f"'{where}' must be a text of at most {MOST_TEXT_CHARS} characters")
    return text


def _texts(value: Any, where: str, most: int) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > most:
        raise Unusable(f"'{where}' must be a list of at most {most} texts")
    return [_text(each, f"{where}[{number}]") for number, each in enumerate(value)]


def _pairs(value: Any, where: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > MOST_PAIRS:
        raise Unusable(f"'{where}' must be an object of at most {MOST_PAIRS} texts")
    return {_text(name, where): _text(each, f"{where}.{name[:60]}") for name, each in value.items()}
