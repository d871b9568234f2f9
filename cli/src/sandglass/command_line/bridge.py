"""`mcp`: the bridge for agents that start their servers themselves."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from pathlib import Path
from typing import Annotated, Any

import typer

from sandglass.bridge import standard_streams
from sandglass.bridge.own_sandbox import OwnSandbox
from sandglass.bridge.plan import Contract, Plan, Wishes, plan
from sandglass.bridge.server import Bridge
from sandglass.bridge.transfers import Transfers
from sandglass.command_line.common import Namespace, note, settings, variables, where
from sandglass.config.settings import Settings
from sandglass.errors import ConfigurationError

MAX_CONFIG_BYTES = 1024 * 1024

_OLD = "Taken and ignored, for configurations of ipybox."


def mcp(
    contract: Annotated[Contract, typer.Option("--contract", help="Whose tools the agent sees.")] = Contract.SANDGLASS,
    name: Annotated[
        str | None, typer.Option("--name", help="Use and keep the sandbox of this name; else a new one.")
    ] = None,
    allowed_domain: Annotated[
        list[str] | None,
        typer.Option("--allowed-domain", help="A host, address or range that code may reach; repeat it."),
    ] = None,
    allowed_dir: Annotated[
        list[Path] | None,
        typer.Option(
            "--allowed-dir", help="Folder for upload_file, download_file; by default home and temporary files."
        ),
    ] = None,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="ipybox: close the network but for the allowed hosts.")
    ] = False,
    sandbox_config: Annotated[
        Path | None, typer.Option("--sandbox-config", help="ipybox: its network.allowedDomains count.")
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", "--container-tag", help="Image; by default the installation's.")
    ] = None,
    memory: Annotated[str | None, typer.Option("--memory", help="Such as 1Gi, or 512m as Docker writes it.")] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env-var", "--container-env-var", metavar="KEY[=VALUE]", help="Variable for code; without a value, yours."
        ),
    ] = None,
    env_file: Annotated[
        Path | None,
        typer.Option("--env-file", "--container-env-file", help="File with a KEY=VALUE on each line, for code."),
    ] = None,
    namespace: Namespace = None,
    log_level: Annotated[str | None, typer.Option("--log-level", hidden=True, help=_OLD)] = None,
    tool_server_host: Annotated[str | None, typer.Option("--tool-server-host", hidden=True, help=_OLD)] = None,
    tool_server_port: Annotated[str | None, typer.Option("--tool-server-port", hidden=True, help=_OLD)] = None,
    kernel_gateway_host: Annotated[str | None, typer.Option("--kernel-gateway-host", hidden=True, help=_OLD)] = None,
    kernel_gateway_port: Annotated[str | None, typer.Option("--kernel-gateway-port", hidden=True, help=_OLD)] = None,
) -> None:
    """Serves MCP on standard input and output, for agents that start their servers.

    Each process of the contracts ipybox, ipython and code-mode has a sandbox of its own, deleted when its input ends.
    With the contract sandglass the agent names sandboxes itself, and they stay until they idle. Options of ipybox and
    variables of mcp-server-code-execution-mode (MCP_BRIDGE_…) and ipython-mcp (MCP_TOOL_TIMEOUT) are taken: see the
    manual.
    """
    wishes = Wishes(
        contract,
        tuple(allowed_domain or ()),
        tuple(allowed_dir or ()),
        sandbox,
        image,
        memory,
        variables(env, env_file) or {},
        _sandbox_config(sandbox_config),
    )
    planned = plan(wishes, os.environ)
    found = settings(namespace)
    for warning in planned.warnings:
        note(warning)
    asyncio.run(_serve(found, wishes, planned, name))
    standard_streams.leave(0)


async def _serve(found: Settings, wishes: Wishes, planned: Plan, name: str | None) -> None:
    import httpx

    from sandglass.wire.client import AsyncClient
    from sandglass.wire.exchange import client_options

    options: Any = client_options(found)
    client = AsyncClient(found)
    async with httpx.AsyncClient(**options) as http:
        bridge = Bridge(found, wishes.contract, planned, http)
        if wishes.contract is not Contract.SANDGLASS:
            place = where(found, name or f"mcp-{secrets.token_hex(8)}")
            own = OwnSandbox(client, place, planned, name is not None, note)
            is_ipybox = wishes.contract is Contract.IPYBOX
            bridge.use(own, Transfers(client, place, wishes.allowed_dirs).tools() if is_ipybox else {})
        try:
            await bridge.serve(standard_streams.lines(), standard_streams.write)
        finally:
            await client.close()


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
