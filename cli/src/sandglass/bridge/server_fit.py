"""Whether an MCP server of this machine can run in the cluster, and how it is registered there. Pure."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from sandglass.bridge import container_images

Exists = Callable[[str], bool]
"""Whether there is a file or folder of that path on this machine."""

# They download what they start, so that the file itself matters nowhere.
_LAUNCHERS = frozenset({"npx", "uvx", "pipx"})
_RUNTIMES = frozenset({"docker", "podman", "nerdctl"})
_BRIDGES = frozenset({"sandglass", "kubectl-sandglass", "mcp-server-code-execution-mode"})
_BRIDGE_MODULES = frozenset({"mcp_server_code_execution_mode.py", "mcp-server-code-execution-mode"})
# They say where programs and files of this machine are.
_OF_THIS_MACHINE = frozenset({"PATH", "HOME", "USERPROFILE"})

_PATH = re.compile(r"[/~]|\.{1,2}(?:[/\\]|$)|[A-Za-z]:[/\\]|\\\\|file:/")
_SCRIPT = re.compile(r"\.(?:py|js|mjs|cjs|ts|sh|rb|jar)$")
_HOST = re.compile(r"://(?:[^/?#\s@]*@)?(\[[0-9A-Fa-f:.]+\]|[^/:?#\s]+)")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)")
_HERE = frozenset({"localhost", "host.docker.internal", "host.containers.internal"})
_NEAR = ("local", "localhost", "lan", "home.arpa")
_FILES = "a file or folder of this machine, which a server in the cluster does not see"


def registrable(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields without what is meant for this machine alone: where a launcher lies, and variables that say that."""
    found = dict(fields)
    if "command" in found and _program(found["command"]) in _LAUNCHERS:
        found["command"] = _program(found["command"])
    if "env" in found:
        found["env"] = {name: value for name, value in found["env"].items() if name.upper() not in _OF_THIS_MACHINE}
    return {name: value for name, value in found.items() if value}


def why_not(fields: Mapping[str, Any], exists: Exists) -> str:
    """Why it cannot run in the cluster; empty if nothing is in the way. Says nothing of the values."""
    return _why_not_url(fields["url"]) if "url" in fields else _why_not_command(fields, exists)


def _why_not_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, is_http = parts.hostname or "", parts.scheme in ("http", "https")
    except ValueError:
        host, is_http = "", False
    if not host or not is_http:
        return "'url' must begin with http:// or https:// and name a host"
    return "'url' names a host that this machine or its network alone reaches" if is_near(host) else ""


def _why_not_command(fields: Mapping[str, Any], exists: Exists) -> str:
    command, args = fields["command"], fields.get("args", [])
    program = _program(command)
    if program in _BRIDGES or any(_name(each) in _BRIDGE_MODULES for each in args) or args[:2] == ["-m", "sandglass"]:
        return "it is a bridge to sandboxes itself"
    if program in _RUNTIMES:
        return _why_not_container(program, container_images.image(args))
    if program != command:
        return "'command' is a file of this machine; servers that npx, uvx or pipx download can run in the cluster"
    if "cwd" in fields and (not fields["cwd"].startswith("/") or exists(fields["cwd"])):
        return f"'cwd' is {_FILES}"
    for where, text in _texts(fields):
        if any(exists(path) for path in _paths(text, where)):
            return f"'{where}' is {_FILES}"
        if any(_is_here(host.strip("[]")) for host in _HOST.findall(text)):
            return f"'{where}' names localhost, which in the cluster is another machine"
    return ""


def _why_not_container(program: str, image: str) -> str:
    named = f"image: {image}" if image else "image"
    return (
        f"it runs in a container of {program}, and agents choose no images here: an administrator can offer it to all "
        f"sandboxes as a SandboxToolServer with '{named}' in its 'stdio', beside 'command', the program that the image "
        "starts; the image must have what every sandbox's image has"
    )


def is_near(host: str) -> bool:
    """Whether a host is this machine, or in a network that is not the public one."""
    name = host.rstrip(".").lower()
    address = _address(name)
    if address is not None:
        return not address.is_global
    labels = name.split(".")
    # 127.1 and 2130706433 are addresses to some programs.
    is_odd = len(labels) == 1 or ":" in name or _NUMBER.fullmatch(labels[-1]) is not None
    return is_odd or name in _HERE or any(name.endswith(f".{each}") for each in _NEAR)


def _is_here(host: str) -> bool:
    name = host.rstrip(".").lower()
    address = _address(name)
    return name in _HERE if address is None else address.is_loopback or address.is_unspecified


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _texts(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for number, text in enumerate(fields.get("args", [])):
        yield f"args[{number}]", text
    for name, text in fields.get("env", {}).items():
        yield f"env.{name[:60]}", text


def _paths(text: str, where: str) -> Iterator[str]:
    """What in a text may be a path: all of it, or what stands behind `=` of an option."""
    option, _, value = text.partition("=")
    for each in {text, value} if option.startswith("-") else {text}:
        if _PATH.match(each) or (where.startswith("args") and _SCRIPT.search(each)):
            yield each.removeprefix("file://")


def _program(command: str) -> str:
    """The program's name, as every system writes it."""
    name = _name(command)
    return re.sub(r"\.(?:exe|cmd|bat)$", "", name.lower()) if name.lower().endswith((".exe", ".cmd", ".bat")) else name


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
