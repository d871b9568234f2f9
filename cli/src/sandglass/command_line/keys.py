"""`keys`: API keys of an installation, through kubectl and with its rights."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import subprocess
from typing import Annotated, Any

import typer

from sandglass.command_line.common import Form, Output, note, say, write
from sandglass.config.settings import checked_name
from sandglass.errors import ConfigurationError, ToolError
from sandglass.terminal.table import table

keys = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="API keys, for administrators. kubectl's current context and its rights count.",
)
_PATIENCE_S = 60
_CALLER = re.compile(r"[A-Za-z0-9._-]{1,63}")
_Caller = Annotated[str, typer.Argument(metavar="CALLER", help="Name of the key; audit lines have it.")]
_System = Annotated[str, typer.Option("--system-namespace", help="Namespace of the installation.")]
_Release = Annotated[str, typer.Option("--release", help="Name of the Helm release.")]


@keys.command("create")
def create(
    caller: _Caller,
    tenant: Annotated[
        list[str], typer.Option("--tenant", "-t", help="A tenant that the key reaches, or '*' for all. Repeat it.")
    ],
    system: _System = "sandglass-system",
    release: _Release = "sandglass",
) -> None:
    """Makes a key, and prints it once.

    It is stored nowhere: the installation keeps a digest.
    """
    _checked(caller)
    tenants = [each if each == "*" else checked_name("tenant", each) for each in tenant]
    if caller in _grants(system, release):
        raise ToolError(f"there is a key {caller} already: revoke it first, or choose another name")
    key = f"sgk_{secrets.token_hex(32)}"
    grant = json.dumps({"sha256": hashlib.sha256(key.encode()).hexdigest(), "tenants": tenants})
    _patch(system, release, {caller: base64.b64encode(grant.encode()).decode()})
    say(key)
    note(f"the key of {caller} works within a minute or two")


@keys.command("list")
def list_keys(
    system: _System = "sandglass-system", release: _Release = "sandglass", output: Output = Form.TEXT
) -> None:
    """Lists the keys by name, with the tenants that they reach."""
    found = [{"caller": caller, "tenants": tenants} for caller, tenants in sorted(_grants(system, release).items())]
    if output is Form.JSON:
        write(found)
    else:
        say(table(["CALLER", "TENANTS"], [[str(each["caller"]), ", ".join(each["tenants"])] for each in found]))


@keys.command("revoke")
def revoke(caller: _Caller, system: _System = "sandglass-system", release: _Release = "sandglass") -> None:
    """Revokes a key. What it started runs on."""
    _checked(caller)
    if caller not in _grants(system, release):
        raise ToolError(f"there is no key {caller}: see 'sandglass keys list'")
    _patch(system, release, {caller: None})
    say(f"{caller} is revoked within a minute or two")


def _checked(caller: str) -> None:
    if not _CALLER.fullmatch(caller):
        raise ConfigurationError("the name of a key must be 1 to 63 letters, digits, '.', '-' or '_'")


def _grants(system: str, release: str) -> dict[str, list[str]]:
    secret = json.loads(_kubectl(system, "get", "secret", f"{release}-api-keys", "-o", "json"))
    return {caller: _tenants(grant) for caller, grant in (secret.get("data") or {}).items()}


def _tenants(grant: str) -> list[str]:
    try:
        return [str(each) for each in json.loads(base64.b64decode(grant))["tenants"]]
    except (ValueError, KeyError, TypeError):
        return ["(unreadable)"]


def _patch(system: str, release: str, data: dict[str, Any]) -> None:
    # By standard input: arguments of a process are seen by every user of the machine.
    patch = json.dumps({"data": data})
    words = ("patch", "secret", f"{release}-api-keys", "--type", "merge", "--patch-file", "/dev/stdin")
    _kubectl(system, *words, stdin=patch)


def _kubectl(system: str, *words: str, stdin: str | None = None) -> str:
    checked_name("namespace", system)
    try:
        done = subprocess.run(  # noqa: S603 - the user's own kubectl
            ["kubectl", "--namespace", system, *words],  # noqa: S607 - found as a shell finds it
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except FileNotFoundError:
        raise ConfigurationError("kubectl is not on the PATH, and keys are managed through it") from None
    except subprocess.TimeoutExpired:
        raise ToolError(f"kubectl did not answer in {_PATIENCE_S} s") from None
    if done.returncode != 0:
        raise ToolError(f"kubectl: {' '.join(done.stderr.split())[:500]}")
    return done.stdout
