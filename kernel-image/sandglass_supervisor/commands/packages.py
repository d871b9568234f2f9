"""The installers of packages: their command lines, and what their words mean when they fail (no processes here)."""

import os
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from ..execution.hint import Hint, allow_hosts
from ..kernels.node_process import find_node
from ..processes import safe_argv

_NPM = os.path.join("lib", "node_modules", "npm", "bin", "npm-cli.js")
_ARCHIVES = (".tgz", ".tar.gz", ".tar")
# By default pip asks a host that refused it for 8 s more and npm for 70 s. The first attempt does not wait, so that a
# refusal is reported at once; only a failure that may pass is worth a second attempt, which waits. pip's one retry
# follows at once, and without it pip does not say that it could not reach an index.
_ONCE = {"PIP_RETRIES": "1", "NPM_CONFIG_FETCH_RETRIES": "0"}
_AGAIN = {
    "PIP_RETRIES": "3",
    "NPM_CONFIG_FETCH_RETRIES": "1",
    "NPM_CONFIG_FETCH_RETRY_MINTIMEOUT": "500",
    "NPM_CONFIG_FETCH_RETRY_MAXTIMEOUT": "5000",
}
_HOSTS = 3
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
_OWN_PORTS = (None, 80, 443)
# How pip, npm and git say that they did not get through.
_UNREACHED = re.compile(
    r"after connection broken by|failed to establish a new connection|max retries exceeded|cannot connect to proxy"
    r"|tunnel connection failed|connect tunnel failed|from proxy after connect|could not resolve host"
    # npm's word for a proxy's refusal; a registry's own ends in what its answer says.
    r"|\b40(?:3 Forbidden|7 Proxy Authentication Required) - [A-Z]{1,9} https?://\S{1,2048}\r?$"
    r"|\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH"
    r"|EHOSTUNREACH|ETIMEDOUT|ECONNECTIONTIMEOUT|ERR_SOCKET_TIMEOUT)\b",
    re.IGNORECASE | re.MULTILINE,
)
# The egress proxy's answer, in the words of pip, git, curl and npm.
_PROXY_SAID = re.compile(
    r"(?:tunnel connection failed: |connect tunnel failed, response |received http code )(\d{3})\b"
    r"|\b(40[37]) (?:Forbidden|Proxy Authentication Required) - [A-Z]{1,9} https?://",
    re.IGNORECASE,
)
_REFUSED = "403"
_NOT_THERE = "502"
# It does not know the sandbox yet, it has too many connections, it has just started.
_BUSY = frozenset({"407", "429", "503"})
_NAMED = re.compile(
    r"\bhost='(?P<host>[^'\s]{1,255})', port=(?P<port>\d{1,5})"
    r"|(?:request to|unable to access|403 Forbidden - [A-Z]{1,9}|Required - [A-Z]{1,9}) '?(?P<url>https?://[^\s'\"]{1,2048})"
)
# pip's and npm's words for a git that is not there.
_NO_GIT = re.compile(r"Cannot find command 'git'|\bsyscall spawn git\b")
_INDEX = re.compile(
    r"--index-url\b[^(]{0,1000}\([^()]{0,100}?(?P<pip>https?://[^\s)]{1,2048})|^(?P<npm>https?://\S{1,2048})", re.M
)


class Installer(NamedTuple):
    """What is run, with variables beside the code's: ``once`` for the first attempt and ``again`` for the second.

    ``once`` is empty if the code's environment says how often to ask; ``question`` makes it print its configuration.
    """

    argv: list[str]
    once: dict[str, str]
    again: dict[str, str]
    question: list[str]


def installer(language: str, packages: list[str], workspace: str, env: Mapping[str, str]) -> Installer:
    """How packages of a language are installed; what ``env``, the code's environment, says is left as it is."""
    if language == "python":
        pip = [*safe_argv.module("pip"), "install"]
        named = [_below_home(package, workspace) for package in packages]
        argv = [*pip, "--no-input", "--disable-pip-version-check", "--", *named]
        # Where it fills in the index that its configuration names.
        return _patient(argv, [*pip, "--help"], "PIP_", env)
    npm = _npm()
    options = ["--prefix", workspace, "--no-audit", "--no-fund", "--no-update-notifier"]
    named = [_as_file(package, workspace) for package in packages]
    question = [*npm, "config", "get", "registry"]
    return _patient([*npm, "install", *options, "--", *named], question, "NPM_", env)


def is_unreached(output: str) -> bool:
    """True if an installer's output says that a host could not be reached."""
    return _UNREACHED.search(output) is not None


def lacks_git(output: str) -> bool:
    """True if an installer's output says that it needs git, and that there is none."""
    return _NO_GIT.search(output) is not None


def may_pass(output: str) -> bool:
    """True if an installer's output says that a host could not be reached, for a reason that a moment may end."""
    return is_unreached(output) and _REFUSED not in _proxy_said(output)


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


def no_network(hosts: list[str], output: str) -> tuple[str, Hint | None]:
    """Why the installer, whose output that is, could not reach these hosts, and what helps; none means its index."""
    names = ", ".join(f"'{host}'" for host in hosts) or "the host of the package index"
    said = _proxy_said(output)
    if said and said <= _BUSY:
        return (
            f"The egress proxy did not serve this sandbox at the moment (it answered {', '.join(sorted(said))} for"
            f" {names}). Install again in some seconds."
        ), None
    if said == {_NOT_THERE}:
        return (
            f"By this sandbox's network rules {names} may be reached, but DNS has no address for the name, or no server"
            " answers there. Correct the name if it is wrong, or try again later."
        ), None
    return f"This sandbox has no network to {names}.", allow_hosts(hosts)


def _proxy_said(output: str) -> set[str]:
    return {answer[1] or answer[2] for answer in _PROXY_SAID.finditer(output)}


def _patient(argv: list[str], question: list[str], prefix: str, env: Mapping[str, str]) -> Installer:
    once, again = (
        {
            name: value
            for name, value in defaults.items()
            if name.startswith(prefix) and not {name, name.lower()} & env.keys()
        }
        for defaults in (_ONCE, _AGAIN)
    )
    return Installer(argv, once, again, question)


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
