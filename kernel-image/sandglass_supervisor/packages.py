"""The installers of packages: their command lines, and what their words mean when they fail (no processes here)."""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from . import unshadowed
from .node_process import find_node

_NPM = os.path.join("lib", "node_modules", "npm", "bin", "npm-cli.js")
_ARCHIVES = (".tgz", ".tar.gz", ".tar")
_HOSTS = 3
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
_OWN_PORTS = (None, 80, 443)
# How pip, npm and git say that they did not get through.
_UNREACHED = re.compile(
    r"after connection broken by|failed to establish a new connection|max retries exceeded|cannot connect to proxy"
    r"|tunnel connection failed|connect tunnel failed|from proxy after connect|could not resolve host"
    # npm's word for a proxy's refusal; a registry's own ends in what its answer says.
    r"|\b403 Forbidden - [A-Z]{1,9} https?://\S{1,2048}\r?$"
    r"|\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH"
    r"|EHOSTUNREACH|ETIMEDOUT|ECONNECTIONTIMEOUT|ERR_SOCKET_TIMEOUT)\b",
    re.IGNORECASE | re.MULTILINE,
)
# The egress proxy's answer, in the words of pip, git and curl; its 502 is for hosts that are allowed.
_PROXY_SAID = re.compile(
    r"(?:tunnel connection failed: |connect tunnel failed, response |received http code )(\d{3})\b", re.IGNORECASE
)
_NOT_THERE = "502"
_NAMED = re.compile(
    r"\bhost='(?P<host>[^'\s]{1,255})', port=(?P<port>\d{1,5})"
    r"|(?:request to|unable to access|403 Forbidden - [A-Z]{1,9}) '?(?P<url>https?://[^\s'\"]{1,2048})"
)
_INDEX = re.compile(
    r"--index-url\b[^(]{0,1000}\([^()]{0,100}?(?P<pip>https?://[^\s)]{1,2048})|^(?P<npm>https?://\S{1,2048})", re.M
)


class Installer(NamedTuple):
    """What is run, with more variables than the code's; ``question`` makes it print its configuration."""

    argv: list[str]
    envs: dict[str, str]
    question: list[str]


def installer(language: str, packages: list[str], workspace: str, env: Mapping[str, str]) -> Installer:
    """How packages of a language are installed; what ``env``, the code's environment, says is left as it is."""
    if language == "python":
        pip = [*unshadowed.module("pip"), "install"]
        named = [_below_home(package, workspace) for package in packages]
        argv = [*pip, "--no-input", "--disable-pip-version-check", "--", *named]
        return Installer(argv, {}, [*pip, "--help"])  # where it fills in the index that its configuration names
    npm = _npm()
    # npm alone would wait 10 s and then 60 s before it says that there is no network.
    waits = {"NPM_CONFIG_FETCH_RETRY_MINTIMEOUT": "1000", "NPM_CONFIG_FETCH_RETRY_MAXTIMEOUT": "5000"}
    envs = {name: value for name, value in waits.items() if not {name, name.lower()} & env.keys()}
    options = ["--prefix", workspace, "--no-audit", "--no-fund", "--no-update-notifier"]
    named = [_as_file(package, workspace) for package in packages]
    return Installer([*npm, "install", *options, "--", *named], envs, [*npm, "config", "get", "registry"])


def is_unreached(output: str) -> bool:
    """True if an installer's output says that a host could not be reached."""
    return _UNREACHED.search(output) is not None


def hosts_in(output: str) -> list[str]:
    """The hosts that an installer says it wanted to reach, a few at most, with their port if it is an unusual one."""
    found: dict[str, None] = {}
    for match in _NAMED.finditer(output):
        url = match["url"] or f"http://{match['host']}:{match['port']}"
        found.update(dict.fromkeys(_host_of(url)))
    return list(found)[:_HOSTS]


def index_in(answer: str) -> list[str]:
    """The host of the index in what the installer told of its configuration; empty if it told none."""
    match = _INDEX.search(answer)
    return [] if match is None else _host_of(match["pip"] or match["npm"])


def no_network(hosts: list[str], output: str) -> str:
    """What to do if the installer, whose output that is, could not reach these hosts; none means its index."""
    names = ", ".join(f"'{host}'" for host in hosts) or "the host of the package index"
    if {answer[1] for answer in _PROXY_SAID.finditer(output)} == {_NOT_THERE}:
        return (
            f"By this sandbox's network rules {names} may be reached, but DNS has no address for the name, or no server"
            " answers there. Correct the name if it is wrong, or try again later."
        )
    return (
        f"This sandbox has no network to {names}. To open it, put {names} into 'allowed_domains' of sandbox_start's"
        " 'config' (spec.allowedDomains of the Sandbox); or write wheels or npm tarballs into the sandbox with"
        " sandbox_write_file and install them by their paths."
    )


def _npm() -> list[str]:
    node = find_node()
    script = os.path.join(os.path.dirname(os.path.dirname(node)), _NPM)
    return [node, script] if os.path.isabs(node) and os.path.isfile(script) else ["npm"]


def _as_file(package: str, workspace: str) -> str:
    """A path in a form that npm cannot take for a repository somewhere in the network."""
    path = os.path.join(workspace, _below_home(package, workspace))
    # Also one that is not there: npm would look for made/a.tgz among the repositories of others.
    is_archive = package.lower().endswith(_ARCHIVES) and ":" not in package
    is_path = is_archive or ("/" in package and os.path.exists(path))
    return path if is_path else package


def _below_home(package: str, workspace: str) -> str:
    """A path that begins with ``~/`` as the other tools understand it; no shell does that here."""
    return os.path.join(workspace, package[2:].lstrip("/")) if package.startswith("~/") else package


def _host_of(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return []
    host = f"[{host}]" if ":" in host else host
    if not _HOST.fullmatch(host):
        return []
    return [host if port in _OWN_PORTS else f"{host}:{port}"]
