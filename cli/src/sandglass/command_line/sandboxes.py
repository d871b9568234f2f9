"""`start`, `stop`, `ls` and `metrics`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sandglass.command_line.common import (
    Box,
    Env,
    EnvFile,
    Form,
    Namespace,
    Output,
    client,
    note,
    say,
    variables,
    where,
    write,
)
from sandglass.core import sandboxes
from sandglass.core.facts import Usage
from sandglass.sandbox import walk
from sandglass.terminal.table import bytes_of, seconds_of, table
from sandglass.terminal.text import line

_MIB = 1024 * 1024


def start(
    sandbox: Box,
    image: Annotated[
        str | None, typer.Option("--image", help="Container image; by default the installation's.")
    ] = None,
    memory: Annotated[str | None, typer.Option("--memory", help="Memory, such as 1Gi; usually 512Mi.")] = None,
    cpus: Annotated[str | None, typer.Option("--cpus", help="CPUs, such as 2 or 500m; usually 1.")] = None,
    disk: Annotated[
        str | None, typer.Option("--disk", help="Most that it may write, such as 4Gi; usually 2Gi.")
    ] = None,
    workspace: Annotated[
        str | None, typer.Option("--workspace", help="Keep files when it stops, in a volume of this size, such as 2Gi.")
    ] = None,
    port: Annotated[list[int] | None, typer.Option("--port", help="A port on which code serves. Repeat it.")] = None,
    allowed_domain: Annotated[
        list[str] | None, typer.Option("--allowed-domain", help="A host that code may reach. Repeat it.")
    ] = None,
    idle_timeout: Annotated[
        str | None, typer.Option("--idle-timeout", help="Suspend it when it was unused for so long, such as 30m.")
    ] = None,
    env: Env = None,
    env_file: EnvFile = None,
    namespace: Namespace = None,
    output: Output = Form.TEXT,
) -> None:
    """Starts a sandbox, or changes one that runs.

    Waits until it can run code. Of a sandbox that is there, what the options name is changed, and all else stays. A
    sandbox that this command made and that does not start is deleted again.
    """
    config: dict[str, Any] = {
        "image": image,
        "memory": memory,
        "cpus": cpus,
        "disk": disk,
        "workspace": {"size": workspace} if workspace else None,
        "ports": port,
        "allowed_domains": allowed_domain,
        "idle_timeout": idle_timeout,
        "envs": variables(env, env_file),
    }
    given = {name: value for name, value in config.items() if value not in (None, [])}
    with client(namespace) as (connected, found):
        begun = walk(connected, sandboxes.start_or_undo(where(found, sandbox), given))
    if output is Form.JSON:
        write(begun)
        return
    say(f"{begun.sandbox} {begun.status}")
    for each in begun.ports:
        say(f"port {each.port}: {line(each.url)}")
        if each.link:
            say(f"  in a browser until {line(each.link_expires_at or '')}: {line(each.link)}")
    if begun.warning:
        note(line(begun.warning))


def stop(
    sandbox: Box,
    delete: Annotated[bool, typer.Option("--delete", help="Delete it, with its files.")] = False,
    namespace: Namespace = None,
    output: Output = Form.TEXT,
) -> None:
    """Stops a sandbox, or deletes it.

    Processes and variables end, and files too unless 'start' gave it a --workspace. Its settings stay for the next
    'sandglass start'.
    """
    with client(namespace) as (connected, found):
        told = walk(connected, sandboxes.stop(where(found, sandbox), delete))
    if output is Form.JSON:
        write({"sandbox": sandbox, "status": "deleted" if delete else "stopped", "message": told})
    else:
        say(line(told))


def ls(
    sandbox: Annotated[
        str | None, typer.Argument(metavar="SANDBOX", help="One sandbox, with its newest runs; by default all.")
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--all-namespaces", "-A", help="All namespaces that the key reaches.")
    ] = False,
    namespace: Namespace = None,
    output: Output = Form.TEXT,
) -> None:
    """Lists sandboxes; of one, its runs too."""
    with client(namespace) as (connected, found):
        chosen = "*" if everywhere else found.namespace
        states = walk(connected, sandboxes.list_all(chosen, sandbox))
    if output is Form.JSON:
        write(states)
        return
    rows = [
        [each.namespace, each.name, each.state, ", ".join(session.name for session in each.sessions), each.detail or ""]
        for each in states
    ]
    say(table(["NAMESPACE", "NAME", "STATE", "SESSIONS", "DETAIL"], rows) if rows else "no sandboxes")
    runs = [[run.id, run.kind, run.state] for each in states for run in each.executions]
    if runs:
        say("\n" + table(["EXECUTION", "KIND", "STATE"], runs))


def metrics(
    sandbox: Annotated[str | None, typer.Argument(metavar="SANDBOX", help="One sandbox; by default all.")] = None,
    everywhere: Annotated[
        bool, typer.Option("--all-namespaces", "-A", help="All namespaces that the key reaches.")
    ] = False,
    namespace: Namespace = None,
    output: Output = Form.TEXT,
) -> None:
    """Shows what sandboxes use: CPU, memory, disk, processes."""
    with client(namespace) as (connected, found):
        usages = walk(connected, sandboxes.metrics("*" if everywhere else found.namespace, sandbox))
    if output is Form.JSON:
        write(usages)
        return
    head = ["NAMESPACE", "NAME", "RUNNING", "CPU", "MEMORY", "DISK", "PROCESSES", "UP"]
    say(table(head, [_row(each) for each in usages]) if usages else "no sandboxes")


def _row(usage: Usage) -> list[str]:
    memory = None if usage.memory_mib is None else usage.memory_mib * _MIB
    limit = "" if usage.memory_limit_mib is None else f" of {bytes_of(usage.memory_limit_mib * _MIB)}"
    return [
        usage.namespace,
        usage.name,
        "yes" if usage.is_running else "no",
        "-" if usage.cpu_percent is None else f"{usage.cpu_percent:.0f} %",
        bytes_of(memory) + limit,
        bytes_of(usage.disk_bytes),
        "-" if usage.pids is None else str(usage.pids),
        seconds_of(usage.uptime_s),
    ]
