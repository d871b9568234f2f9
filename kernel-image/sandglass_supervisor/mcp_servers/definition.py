"""What a caller registers: an MCP server to start or to connect to, checked field by field (pure)."""

import re
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..limits import (
    ARG_BYTES,
    ARG_COUNT,
    ENV_COUNT,
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
from ..shared.text import one_line

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}", re.ASCII)  # a token of RFC 9110
_TRANSPORTS = ("streamable_http", "sse")
_NAME_SHOWN = 80
HEADER_RULE = "must be one line of printable ASCII, without blanks at its ends"
_OF_COMMAND = ("command", "args", "env", "cwd", "secret_env")
_OF_URL = ("url", "headers", "transport", "secret_headers")
_SECRET_PREFIX = "sandglass-mcp-"  # noqa: S105 - of names
_SECRET_NAME_CHARS = _SECRET_KEY_CHARS = 253
_SECRET_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
# "." is a folder, and what begins with ".." is the kubelet's own.
_SECRET_KEY = re.compile(r"[.]?[-_A-Za-z0-9][-._A-Za-z0-9]*", re.ASCII)


class SecretEntry(NamedTuple):
    """An entry of a Secret that the kubelet brings into the pod; its value is read anew at each start."""

    secret: str
    key: str


class Command(NamedTuple):
    """A server that is started here and speaks over its standard input and output."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    secret_env: dict[str, SecretEntry]

    def describe(self) -> dict[str, str]:
        """What is told of it: no arguments, which may hold a key."""
        return {"command": self.argv[0]}


class Url(NamedTuple):
    """A server that is reached over HTTP."""

    url: str
    headers: dict[str, str]
    transport: str
    secret_headers: dict[str, SecretEntry]

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
    others = _OF_URL if "command" in given else _OF_COMMAND
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
    env = parse_envs(given.get("env", {}), "env")
    secret_env = _entries(given, "secret_env")
    parse_envs(dict.fromkeys(secret_env, ""), "secret_env")
    _check_apart(env, secret_env, "env", "secret_env", ENV_COUNT)
    return Command((command, *texts), env, cwd, secret_env)


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
    headers, secret_headers = _headers(given.get("headers", {})), _entries(given, "secret_headers")
    _check_header_names(secret_headers, "secret_headers")
    names, secret_names = list(map(str.lower, headers)), list(map(str.lower, secret_headers))
    if len(set(secret_names)) < len(secret_names):
        raise bad("secret_headers", "names must be unique; upper and lower case are the same")
    _check_apart(names, secret_names, "headers", "secret_headers", MCP_HEADERS)
    return Url(url, headers, transport, secret_headers)


def _check_apart(given: Collection[str], secret: Collection[str], field: str, secret_field: str, most: int) -> None:
    """Each name has one value, and there are not too many of them together."""
    both = sorted(set(given) & set(secret))
    if both:
        raise bad(secret_field, f"'{both[0]}' has a value in '{field}' already; give it one of the two")
    if len(given) + len(secret) > most:
        raise bad(secret_field, f"together with '{field}' there may be at most {most}")


def _entries(given: dict[str, Any], field: str) -> dict[str, SecretEntry]:
    """Entries of Secrets by the names of what gets their values."""
    value = given.get(field, {})
    if not isinstance(value, dict) or len(value) > ENV_COUNT:
        raise bad(field, f"must be an object of at most {ENV_COUNT} entries of Secrets")
    return {name: _entry(entry, f"{field}.{one_line(str(name), _NAME_SHOWN)}") for name, entry in value.items()}


def _entry(value: object, field: str) -> SecretEntry:
    if not isinstance(value, dict) or value.keys() != {"secret", "key"}:
        raise bad(field, "must be an object of 'secret' and 'key'")
    secret, key = value["secret"], value["key"]
    if not isinstance(secret, str) or len(secret) > _SECRET_NAME_CHARS or not _SECRET_NAME.fullmatch(secret):
        raise bad(f"{field}.secret", f"must be the name of a Secret, of at most {_SECRET_NAME_CHARS} characters")
    if not secret.startswith(_SECRET_PREFIX):
        raise bad(f"{field}.secret", f"must begin with '{_SECRET_PREFIX}': other Secrets are not for MCP servers")
    if not isinstance(key, str) or len(key) > _SECRET_KEY_CHARS or not _SECRET_KEY.fullmatch(key):
        rule = "must be letters, digits, '-', '_' and '.', not '.' alone and without '..' in front"
        raise bad(f"{field}.key", f"{rule}, at most {_SECRET_KEY_CHARS} characters")
    return SecretEntry(secret, key)


def _check_header_names(names: Iterable[object], field: str) -> None:
    for name in names:
        if not isinstance(name, str) or not _HEADER.fullmatch(name):
            raise bad(field, "names must be letters, digits and '-', at most 256")


def _headers(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > MCP_HEADERS:
        raise bad("headers", f"must be an object of at most {MCP_HEADERS} headers")
    _check_header_names(value, "headers")
    texts = {name: parse_text(text, f"headers.{name}", ENV_VALUE_BYTES) for name, text in value.items()}
    for name, text in texts.items():
        if not is_header_value(text):
            raise bad(f"headers.{name}", HEADER_RULE)
    return texts


def is_header_value(text: str) -> bool:
    """True for what ``HEADER_RULE`` says."""
    return text.isascii() and text.isprintable() and text == text.strip()


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
