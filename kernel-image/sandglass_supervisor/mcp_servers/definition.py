"""What a caller registers: an MCP server to start or to connect to, checked field by field (pure)."""

import re
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..limits import (
    ARG_BYTES,
    ARG_COUNT,
    ENV_VALUE_BYTES,
    MCP_HEADERS,
    MCP_REVISION_CHARS,
    MCP_START_MOST_S,
    MCP_START_S,
    PATH_BYTES,
    URL_BYTES,
)
from ..link.arguments import at_home, bad, parse_envs, parse_flag, parse_text
from ..shared import server_names

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}", re.ASCII)  # a token of RFC 9110
_TRANSPORTS = ("streamable_http", "sse")


class Command(NamedTuple):
    """A server that is started here and speaks over its standard input and output."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str

    def describe(self) -> dict[str, str]:
        """What is told of it: no arguments, which may hold a key."""
        return {"command": self.argv[0]}


class Url(NamedTuple):
    """A server that is reached over HTTP."""

    url: str
    headers: dict[str, str]
    transport: str

    def describe(self) -> dict[str, str]:
        """What is told of it: scheme, host and port; the rest may hold a key."""
        parts = urlsplit(self.url)
        return {"url": f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"}


class Registration(NamedTuple):
    """A server under its name; ``timeout_s`` is how long its start may take.

    ``api`` says whether typed functions are written for it. ``revision`` is the caller's word for this definition.
    """

    name: str
    target: Command | Url
    timeout_s: float
    api: bool = True
    revision: str | None = None


def parse_registration(given: dict[str, Any], workspace: str) -> Registration:
    """The arguments of ``mcp_register``; raises Problem with the field and the rule."""
    name = parse_name(given)
    if ("command" in given) == ("url" in given):
        raise bad("command", "give either command, for a server to start, or url, for one to connect to")
    others = ("url", "headers", "transport") if "command" in given else ("command", "args", "env", "cwd")
    for field in others:
        if field in given:
            raise bad(field, f"belongs to {'url' if 'command' in given else 'command'}; leave it out")
    target = _command(given, workspace) if "command" in given else _url(given)
    return Registration(name, target, _timeout(given), parse_flag(given, "api", default=True), _revision(given))


def parse_name(given: dict[str, Any]) -> str:
    """The name of a server, under which code imports it; raises Problem."""
    name = given.get("name")
    if not isinstance(name, str) or not server_names.is_identifier(name):
        raise bad("name", server_names.RULE)
    if server_names.is_taken(name):
        raise bad("name", f"'{name}' has a meaning of its own in Python or in mcptools; choose another")
    return name


def _command(given: dict[str, Any], workspace: str) -> Command:
    command = parse_text(given["command"], "command", ARG_BYTES)
    if not command.strip():
        raise bad("command", "must not be empty")
    args = given.get("args", [])
    if not isinstance(args, list) or len(args) > ARG_COUNT:
        raise bad("args", f"must be a list of at most {ARG_COUNT} texts")
    texts = [parse_text(value, f"args[{index}]", ARG_BYTES) for index, value in enumerate(args)]
    cwd = at_home(parse_text(given.get("cwd", workspace), "cwd", PATH_BYTES), workspace)
    if not cwd.startswith("/"):
        raise bad("cwd", "must be an absolute path, or begin with '~/'")
    return Command((command, *texts), parse_envs(given.get("env", {}), "env"), cwd)


def _url(given: dict[str, Any]) -> Url:
    url = parse_text(given["url"], "url", URL_BYTES)
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not url.isprintable() or " " in url:
        raise bad("url", "must be a URL that begins with http:// or https:// and names a host")
    transport = given.get("transport", _TRANSPORTS[0])
    if transport not in _TRANSPORTS:
        raise bad("transport", f"must be one of {', '.join(_TRANSPORTS)}")
    return Url(url, _headers(given.get("headers", {})), transport)


def _headers(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > MCP_HEADERS:
        raise bad("headers", f"must be an object of at most {MCP_HEADERS} headers")
    for name in value:
        if not isinstance(name, str) or not _HEADER.fullmatch(name):
            raise bad("headers", "names must be letters, digits and '-', at most 256")
    texts = {name: parse_text(text, f"headers.{name}", ENV_VALUE_BYTES) for name, text in value.items()}
    for name, text in texts.items():
        if not (text.isascii() and text.isprintable() and text == text.strip()):
            raise bad(f"headers.{name}", "must be one line of printable ASCII, without blanks at its ends")
    return texts


def _timeout(given: dict[str, Any]) -> float:
    value = given.get("timeout_s", MCP_START_S)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MCP_START_MOST_S:
        raise bad("timeout_s", f"must be more than 0 and at most {MCP_START_MOST_S:g} seconds")
    return float(value)


def _revision(given: dict[str, Any]) -> str | None:
    if given.get("revision") is None:
        return None
    revision = parse_text(given["revision"], "revision", 4 * MCP_REVISION_CHARS)
    if not 0 < len(revision) <= MCP_REVISION_CHARS:
        raise bad("revision", f"must be a text of 1 to {MCP_REVISION_CHARS} characters")
    return revision
