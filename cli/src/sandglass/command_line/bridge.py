"""`mcp`: the bridge for agents that start their servers themselves."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sandglass.bridge import standard_streams
from sandglass.bridge.discovery import Discovered
from sandglass.bridge.image_links import ImageLinks
from sandglass.bridge.local_servers import LocalServers
from sandglass.bridge.own_sandbox import OwnSandbox
from sandglass.bridge.placeholders import Variables
from sandglass.bridge.plan import Contract, Plan, Tools, Wishes, of_code, plan
from sandglass.bridge.server import Bridge
from sandglass.bridge.synced_folder import SyncedFolder
from sandglass.bridge.transfers import Transfers
from sandglass.bridge.workspace import DOT_ENV, NOT_HIDDEN, TOLD, WITH_HIDDEN, SyncRules, bind
from sandglass.command_line import local_servers
from sandglass.command_line.common import Namespace, note, settings, variables, where
from sandglass.config.settings import Settings
from sandglass.errors import ConfigurationError

MAX_CONFIG_BYTES = 1024 * 1024

Folder = tuple[Path, str]


@dataclass(frozen=True)
class _Local:
    """What of this machine the bridge works with, and the name of a sandbox that is kept."""

    name: str | None
    folders: list[Folder]
    rules: SyncRules
    variables: Variables
    servers: Discovered
    placement: str | None


_OLD = "Taken and ignored, for configurations of ipybox."


def mcp(
    contract: Annotated[
        Contract,
        typer.Option("--contract", help="Whose tools the agent sees: ours, or those of a system that you come from."),
    ] = Contract.SANDGLASS,
    tools: Annotated[
        Tools | None,
        typer.Option("--tools", help="sandglass: list seven tools alone, or all, with those for MCP servers."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", help="Use and keep the sandbox of this name; else a new one, deleted at the end."),
    ] = None,
    allowed_domain: Annotated[
        list[str] | None,
        typer.Option("--allowed-domain", help="A host, address or range that code may reach. Repeat it."),
    ] = None,
    allowed_dir: Annotated[
        list[Path] | None,
        typer.Option(
            "--allowed-dir",
            help="ipybox: folder for upload_file, download_file; by default home and temporary files. Repeat it.",
        ),
    ] = None,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", help="Folder that is kept the same as the sandbox's /workspace.")
    ] = None,
    container_bind: Annotated[
        list[str] | None,
        typer.Option(
            "--container-bind", metavar="FOLDER:PATH", help="The same for a folder and a PATH in /workspace. Repeat it."
        ),
    ] = None,
    sync_hidden: Annotated[
        bool, typer.Option("--sync-hidden", help="Copy hidden files out of the sandbox too; .git and secrets never.")
    ] = False,
    sync_deletions: Annotated[
        bool, typer.Option("--sync-deletions/--no-sync-deletions", help="Delete on one side what the other deleted.")
    ] = True,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="ipybox: close the network but for the allowed hosts.")
    ] = False,
    sandbox_config: Annotated[
        Path | None, typer.Option("--sandbox-config", help="ipybox: a file whose network.allowedDomains count.")
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", "--container-tag", help="Container image; by default the installation's.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", help="Memory, such as 1Gi, or 512m as Docker writes it.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env-var",
            "--container-env-var",
            metavar="KEY[=VALUE]",
            help="Variable for the code; without a value, your own of that name. Repeat it.",
        ),
    ] = None,
    env_file: Annotated[
        Path | None,
        typer.Option(
            "--env-file", "--container-env-file", help="File of variables for the code, KEY=VALUE on each line."
        ),
    ] = None,
    mcp_server_config: local_servers.Config = None,
    no_discovery: local_servers.NoDiscovery = False,
    mcp_placement: local_servers.PlacementOption = None,
    list_servers: local_servers.ListServers = False,
    namespace: Namespace = None,
    log_level: Annotated[str | None, typer.Option("--log-level", hidden=True, help=_OLD)] = None,
    tool_server_host: Annotated[str | None, typer.Option("--tool-server-host", hidden=True, help=_OLD)] = None,
    tool_server_port: Annotated[str | None, typer.Option("--tool-server-port", hidden=True, help=_OLD)] = None,
    kernel_gateway_host: Annotated[str | None, typer.Option("--kernel-gateway-host", hidden=True, help=_OLD)] = None,
    kernel_gateway_port: Annotated[str | None, typer.Option("--kernel-gateway-port", hidden=True, help=_OLD)] = None,
) -> None:
    """Serves MCP to an agent that starts its servers.

    Messages go over standard input and output. With the contract sandglass the agent names sandboxes itself, and they
    stay until they idle. Each process of the contracts ipybox, ipython and code-mode has a sandbox of its own, deleted
    when its input ends. Options of ipybox and variables of mcp-server-code-execution-mode (MCP_BRIDGE_…) and
    ipython-mcp (MCP_TOOL_TIMEOUT) are taken: see the manual.

    With the contract code-mode, code loads MCP servers of other clients' files: mcpServers of ~/.claude.json (those for
    the current folder too), of Claude Code's and Desktop's files, of ./claude_code_config.json and
    ./claude_desktop_config.json, and of *.json in ~/.config/mcp/servers and ./mcp-servers. --list-servers shows them.
    """
    known = _variables(workspace)
    _tell_unused(
        contract,
        name=name,
        allowed_domain=allowed_domain,
        allowed_dir=allowed_dir,
        sandbox=sandbox,
        sandbox_config=sandbox_config,
        image=image,
        memory=memory,
        env_var=env,
        env_file=env_file,
    )
    local_servers.check(contract, mcp_server_config, no_discovery, mcp_placement, list_servers)
    discovered = local_servers.found(contract, mcp_server_config or [], no_discovery, known)
    if list_servers:
        local_servers.show(discovered)
        return
    wishes = Wishes(
        contract,
        tuple(allowed_domain or ()),
        tuple(allowed_dir or ()),
        sandbox,
        image,
        memory,
        of_code(known.dot_env) | (variables(env, env_file) or {}),
        _sandbox_config(sandbox_config),
        tools,
    )
    planned = plan(wishes, os.environ)
    found = settings(namespace)
    for warning in planned.warnings:
        note(warning)
    folders = _folders(contract, workspace, container_bind or [])
    if contract is Contract.IPYBOX and not folders:
        note("no folder is kept the same as the sandbox's: name one with --workspace")
    if folders:
        note(TOLD + (WITH_HIDDEN if sync_hidden else NOT_HIDDEN))
    local_servers.tell(discovered)
    placement = None if mcp_placement is None else mcp_placement.value
    local = _Local(name, folders, SyncRules(sync_hidden, sync_deletions), known, discovered, placement)
    asyncio.run(_serve(found, wishes, planned, local))
    standard_streams.leave(0)


async def _serve(found: Settings, wishes: Wishes, planned: Plan, local: _Local) -> None:
    import httpx

    from sandglass.wire.client import AsyncClient
    from sandglass.wire.exchange import client_options

    options: Any = client_options(found)
    client = AsyncClient(found)
    async with httpx.AsyncClient(**options) as http:
        bridge = Bridge(found, wishes.contract, planned, http, note)
        bridge.fill_in(local.variables)
        if wishes.contract is not Contract.SANDGLASS:
            place = where(found, local.name or f"mcp-{secrets.token_hex(8)}")
            own = OwnSandbox(client, place, planned, local.name is not None, note)
            is_ipybox = wishes.contract is Contract.IPYBOX
            synced = [SyncedFolder(client, place, here, there, note, local.rules) for here, there in local.folders]

            async def sync() -> None:
                for folder in synced:
                    await folder.sync()

            bridge.use(own, Transfers(client, place, wishes.allowed_dirs).tools() if is_ipybox else {}, sync)
            if wishes.contract is Contract.CODE_MODE:
                bridge.load(LocalServers(client, place, local.servers.servers, local.placement, note))
        try:
            links = ImageLinks(local.folders if wishes.contract is Contract.IPYBOX else [])
            await bridge.serve(standard_streams.lines(), links.writing(standard_streams.write))
        finally:
            await client.close()


def _tell_unused(contract: Contract, **given: object) -> None:
    """Says which options concern a sandbox of the bridge's own, where it has none."""
    names = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    if contract is Contract.SANDGLASS and names:
        note(f"{', '.join(names)}: without effect with the contract sandglass, whose agents start sandboxes themselves")


def _folders(contract: Contract, workspace: Path | None, binds: list[str]) -> list[Folder]:
    try:
        found = [(Path(here), there) for here, there in map(bind, binds)]
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    if (found or workspace is not None) and contract is Contract.SANDGLASS:
        raise ConfigurationError("--workspace and --container-bind go with a contract that has a sandbox of its own")
    for here, _ in found:
        with suppress(OSError):
            here.expanduser().mkdir(parents=True, exist_ok=True)
    if workspace is not None:
        found.insert(0, (workspace, ""))
    for here, _ in found:
        if not here.expanduser().is_dir():
            raise ConfigurationError(f"{here} is not there, or no folder: make it first")
    return [(here.expanduser().resolve(), there) for here, there in found]


def _variables(workspace: Path | None) -> Variables:
    """The environment and the workspace's .env: what is marked there is for the code, the rest for MCP servers."""
    place = None if workspace is None else workspace.expanduser() / DOT_ENV
    if place is None or not place.is_file():
        return Variables(dict(os.environ))
    return Variables(dict(os.environ), variables(None, place) or {}, str(place))


def _sandbox_config(place: Path | None) -> dict[str, Any] | None:
    if place is None:
        return None
    try:
        with place.open("rb") as file:
            content = json.loads(file.read(MAX_CONFIG_BYTES))
    except FileNotFoundError:
        note(f"--sandbox-config {place}: there is no such file; the default counts, no network")
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"--sandbox-config {place}: it must be a file of JSON ({error})") from None
    if not isinstance(content, dict):
        raise ConfigurationError(f"--sandbox-config {place}: it must hold a JSON object")
    return content
