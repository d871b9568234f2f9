"""`mcp --list-servers`, and the options that say which MCP servers of this machine the bridge knows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from sandglass.bridge.discovery import Discovered, Place, Server, discover, places
from sandglass.bridge.placeholders import Variables
from sandglass.bridge.plan import SERVERS_CONFIG, Contract
from sandglass.command_line.common import note, say
from sandglass.errors import ConfigurationError
from sandglass.terminal.table import table
from sandglass.terminal.text import line

_SHOWN_CHARS = 60


class Placement(str, Enum):
    """In which pod MCP servers of this machine run."""

    OWN = "own"
    SANDBOX = "sandbox"


Config = Annotated[
    list[Path] | None,
    typer.Option(
        "--mcp-server-config",
        metavar="FILE",
        help="code-mode: a file with mcpServers, besides those that are found. Repeat it.",
    ),
]
NoDiscovery = Annotated[
    bool, typer.Option("--no-discovery", help="code-mode: do not look for MCP servers in files of other clients.")
]
PlacementOption = Annotated[
    Placement | None,
    typer.Option("--mcp-placement", help="code-mode: run MCP servers in pods of their own, or in the sandbox's."),
]
ListServers = Annotated[
    bool, typer.Option("--list-servers", help="code-mode: print the MCP servers that code can load, and end.")
]


def found(contract: Contract, config: Sequence[Path], no_discovery: bool, variables: Variables) -> Discovered:
    """The MCP servers of this machine for that contract; none but for code-mode."""
    if contract is not Contract.CODE_MODE:
        return Discovered()
    wanted = [] if no_discovery else places(_home(), Path.cwd(), os.environ)
    named = os.environ.get(SERVERS_CONFIG)
    if named:
        wanted.append(Place(Path(named).expanduser(), is_named=True))
    wanted += [Place(path.expanduser(), is_named=True, is_required=True) for path in config]
    return discover(wanted, variables)


def check(contract: Contract, *options: object) -> None:
    """Refuses these options where another contract's code loads nothing."""
    if contract is not Contract.CODE_MODE and any(options):
        raise ConfigurationError(
            "--mcp-server-config, --no-discovery, --mcp-placement and --list-servers go with --contract code-mode"
        )


def tell(discovered: Discovered) -> None:
    """What the user should know of them at the start."""
    for each in discovered.notes:
        note(each)
    if not discovered.servers:
        return
    usable = [each.entry.alias for each in discovered.servers if not each.why_not]
    count = len(discovered.servers) - len(usable)
    rest = f"; {count} cannot be loaded, see 'sandglass mcp --contract code-mode --list-servers'" if count else ""
    note(f"MCP servers that code can load: {', '.join(usable) or 'none'}{rest}")


def show(discovered: Discovered) -> None:
    """Prints them, without arguments, variables and headers, which may hold keys."""
    for each in discovered.notes:
        note(each)
    rows = [_row(each) for each in discovered.servers]
    say(table(("NAME", "IN CODE", "RUNS", "FILE", "LOADED"), rows) if rows else "(no MCP servers)")


def _row(server: Server) -> tuple[str, str, str, str, str]:
    entry = server.entry
    return (
        entry.name[:_SHOWN_CHARS],
        f"mcp_{entry.alias}",
        line(entry.origin)[:_SHOWN_CHARS],
        entry.file.place,
        f"no: {server.why_not}" if server.why_not else "when named",
    )


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None
