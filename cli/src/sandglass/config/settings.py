"""From flags, environment and contexts to one endpoint. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from sandglass.errors import ConfigurationError

MAX_URL_CHARS = 2048
MAX_TOKEN_CHARS = 16 * 1024
URL = "SANDGLASS_URL"
TOKEN = "SANDGLASS_TOKEN"  # noqa: S105 - the name of the variable
CONTEXT = "SANDGLASS_CONTEXT"
NAMESPACE = "SANDGLASS_NAMESPACE"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_VISIBLE = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Context:
    """One endpoint in the configuration file."""

    url: str
    token: str | None = field(default=None, repr=False)
    namespace: str | None = None


@dataclass(frozen=True)
class Contexts:
    """The configuration file: named endpoints, and which of them is used if nothing else is said."""

    by_name: Mapping[str, Context] = field(default_factory=dict)
    current: str | None = None


@dataclass(frozen=True)
class Flags:
    """What was said on the command line or by arguments of the library."""

    url: str | None = None
    token: str | None = field(default=None, repr=False)
    namespace: str | None = None
    context: str | None = None


@dataclass(frozen=True)
class Settings:
    """One endpoint, checked."""

    url: str
    token: str | None = field(repr=False)
    namespace: str | None


def resolve(flags: Flags, environ: Mapping[str, str], contexts: Contexts) -> Settings:
    """The endpoint that is meant: a flag before the environment, the environment before the context.

    A key belongs to the endpoint that it was stored with: the key of a context goes to no other URL.
    """
    named = flags.context or environ.get(CONTEXT) or None
    context = _context(named or contexts.current, contexts)
    # A context that was named on purpose counts more than variables that happen to be set.
    from_environ = environ if flags.context is None else {}
    url = flags.url or from_environ.get(URL) or (context.url if context else None)
    if not url:
        raise ConfigurationError(
            f"no endpoint: set {URL}, give --url, or store one with 'sandglass context set NAME --url ADDRESS'"
        )
    url = checked_url(url)
    token = flags.token or from_environ.get(TOKEN) or None
    namespace = flags.namespace or from_environ.get(NAMESPACE) or None
    if context and url == checked_url(context.url):
        token = token or context.token
        namespace = namespace or context.namespace
    return Settings(url, checked_token(token), checked_name("namespace", namespace))


def checked_url(url: str) -> str:
    """The URL without a slash at its end."""
    if len(url) > MAX_URL_CHARS or not _VISIBLE.fullmatch(url):
        raise ConfigurationError(f"the URL must be up to {MAX_URL_CHARS} visible ASCII characters")
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_whole = False
        parts = urlsplit("")
    if not is_whole:
        raise ConfigurationError(
            "the URL must begin with http:// or https:// and name a host: https://sandglass.example.com/mcp"
        )
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(f"the URL must hold no password, since URLs are logged: put the key into {TOKEN}")
    if parts.query or parts.fragment:
        raise ConfigurationError("the URL must have no '?' and no '#': what a command needs there it adds itself")
    return url.rstrip("/")


def checked_token(token: str | None) -> str | None:
    """The key, or None for none; the error says nothing of it."""
    if token is None or not token.strip():
        return None
    token = token.strip()
    if len(token) > MAX_TOKEN_CHARS or not _VISIBLE.fullmatch(token):
        raise ConfigurationError(f"the key must be one line of up to {MAX_TOKEN_CHARS} visible ASCII characters")
    return token


def checked_name(what: str, name: str | None) -> str | None:
    """A name of a sandbox, namespace or context; None stays None."""
    if name is not None and not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"the {what} must be 1 to 63 letters, digits, '-' or '_', the first a letter or digit, not {name[:80]!r}"
        )
    return name


def _context(name: str | None, contexts: Contexts) -> Context | None:
    if name is None:
        return None
    if name not in contexts.by_name:
        known = ", ".join(sorted(contexts.by_name)) or "none"
        raise ConfigurationError(f"there is no context {name[:80]!r}; there are: {known}")
    return contexts.by_name[name]
