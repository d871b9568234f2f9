"""Finds the MCP servers that the user's clients have on this machine, as mcp-server-code-execution-mode does."""

from __future__ import annotations

import itertools
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sandglass.bridge import server_files, server_fit
from sandglass.bridge.placeholders import Resolved, Unresolved, Variables, resolve
from sandglass.bridge.server_files import Entry, File, Unusable
from sandglass.errors import ConfigurationError

MOST_FILES = 256
"""Of one folder."""

_MOST_LISTED = 10_000
_CLAUDE = ("Claude Code/claude_code_config.json", "Claude/claude_code_config.json", "Claude/claude_desktop_config.json")
_NOT_TRUSTED = (
    "and variables are not filled in for files of the current folder, which may have come with a repository: name the "
    "file with --mcp-server-config if it is yours"
)


@dataclass(frozen=True)
class Place:
    """A file, or a folder of files, in which servers are looked for."""

    path: Path
    is_folder: bool = False
    is_named: bool = False
    """Whether the user named it, so that its absence is told."""
    is_required: bool = False
    """Whether nothing starts without it."""
    is_trusted: bool = True
    project: Path | None = None
    """The folder whose servers are meant, in a file that has some for each."""

    @property
    def name(self) -> str:
        """Of a place that is a file, for users."""
        return str(self.path) if self.project is None else f"{self.path} (for {self.project})"


@dataclass(frozen=True)
class Server:
    """A server of this machine, as it is registered in the cluster, or why it cannot be."""

    entry: Entry
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False)
    filled: Resolved = field(default_factory=lambda: Resolved(None, {}), repr=False)
    why_not: str = ""

    def hidden(self, text: str) -> str:
        """A text without the values of its variables, be they filled in or in the file itself."""
        # A header's key stands behind a word such as Bearer.
        headers = {name: value.rpartition(" ")[2] for name, value in self.fields.get("headers", {}).items()}
        values = {**self.fields.get("env", {}), **headers}
        return Resolved(None, values).hidden(self.filled.hidden(text))


@dataclass(frozen=True)
class Discovered:
    """What was found, and what to tell the user of it."""

    servers: tuple[Server, ...] = ()
    notes: tuple[str, ...] = ()


def places(home: Path | None, folder: Path, environ: Mapping[str, str]) -> list[Place]:
    """Where servers are looked for, in their order: files, of which a later one counts more, then folders."""
    is_trusted = folder == home
    files = [] if home is None else [home / ".claude.json"]
    settings = [] if home is None else [home / "Library/Application Support"]
    files += [base / name for base in settings for name in _CLAUDE]
    if home is not None:
        files.append(home / ".config/Claude/claude_desktop_config.json")
    if environ.get("APPDATA"):
        files.append(Path(environ["APPDATA"]) / "Claude/claude_desktop_config.json")
    found = [Place(path) for path in files]
    found += [
        Place(folder / name, is_trusted=is_trusted)
        for name in ("claude_code_config.json", "claude_desktop_config.json")
    ]
    if home is not None:
        # The user's own file: what it has for this folder counts more than what lies in the folder.
        found.append(Place(home / ".claude.json", project=folder))
    folders = [] if home is None else [home / ".config/mcp/servers"]
    folders += [base / name / "mcp/servers" for base in settings for name in ("Claude Code", "Claude")]
    found += [Place(path, is_folder=True) for path in folders]
    return [*found, Place(folder / "mcp-servers", is_folder=True, is_trusted=is_trusted)]


def discover(wanted: Sequence[Place], variables: Variables) -> Discovered:
    """Reads the places. What cannot be read is a note, unless the user named it."""
    notes: list[str] = []
    files = [file for place in wanted for file in _files(place, notes.append)]
    # What a folder has never takes the place of what a file has.
    entries, told = server_files.merged(sorted(files, key=lambda file: not file.overrides))
    # A file that two places name has its note once.
    return Discovered(tuple(_server(entry, variables) for entry in entries), tuple(dict.fromkeys((*notes, *told))))


def _server(entry: Entry, variables: Variables) -> Server:
    if entry.problem:
        return Server(entry, why_not=entry.problem)
    known = variables if entry.file.is_trusted else replace(variables, refusal=_NOT_TRUSTED)
    try:
        filled = resolve(server_fit.registrable(entry.fields), known)
    except Unresolved as problem:
        return Server(entry, why_not=str(problem))
    return Server(entry, filled.value, filled, filled.hidden(server_fit.why_not(filled.value, _exists)))


def _files(place: Place, tell: Callable[[str], None]) -> Iterator[File]:
    for path in _listed(place, tell) if place.is_folder else [place.path]:
        try:
            content = _content(path)
            if content is None and not place.is_named:
                continue
            servers = server_files.servers_of(content, place.project)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or str(error)
            if place.is_required:
                raise ConfigurationError(f"--mcp-server-config {path}: {problem}") from None
            tell(f"{path}: its MCP servers are left out: {problem}")
        else:
            origin = str(path) if place.is_folder else place.name
            yield File(origin, servers, not place.is_folder, place.is_trusted)


def _listed(place: Place, tell: Callable[[str], None]) -> list[Path]:
    try:
        with os.scandir(place.path) as listing:
            names = sorted(each.name for each in itertools.islice(listing, _MOST_LISTED) if each.name.endswith(".json"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError) as error:
        tell(f"{place.path}: its MCP servers are left out: {getattr(error, 'strerror', None) or error}")
        return []
    if len(names) > MOST_FILES:
        tell(f"{place.path}: more than {MOST_FILES} files; those beyond are left out")
    return [place.path / name for name in names[:MOST_FILES]]


def _content(path: Path) -> bytes | None:
    """The content of a file; None if there is none. A pipe or a device would hold the start up for ever."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unusable("it is no file")
        with path.open("rb") as file:
            return file.read(server_files.MOST_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _exists(path: str) -> bool:
    try:
        return os.path.lexists(os.path.expanduser(path))
    except ValueError:
        return False
