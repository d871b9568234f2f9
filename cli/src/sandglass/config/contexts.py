"""The text of the configuration file: reading and writing. Pure."""

from __future__ import annotations

import json
import sys
from typing import Any

from sandglass.config.settings import Context, Contexts, checked_name, checked_token, checked_url
from sandglass.errors import ConfigurationError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_BYTES = 1024 * 1024
MAX_CONTEXTS = 1000
_KEYS = {"url", "token", "namespace"}


def parse(text: str) -> Contexts:
    """The contexts of a file; an error names the place and the rule."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"it is not TOML: {error}") from None
    unknown = set(content) - {"current", "contexts"}
    if unknown:
        raise ConfigurationError(f"'{min(unknown)[:80]}' is no setting; there are 'current' and [contexts.NAME]")
    tables = content.get("contexts", {})
    if not isinstance(tables, dict) or len(tables) > MAX_CONTEXTS:
        raise ConfigurationError(f"[contexts.NAME] must be tables, at most {MAX_CONTEXTS}")
    current = content.get("current")
    if current is not None and not isinstance(current, str):
        raise ConfigurationError("'current' must be a text, the name of a context")
    return Contexts({name: _context(name, table) for name, table in tables.items()}, current)


def write(contexts: Contexts) -> str:
    """The same as a file."""
    lines = [] if contexts.current is None else [f"current = {_quoted(contexts.current)}", ""]
    for name, context in sorted(contexts.by_name.items()):
        lines.append(f"[contexts.{name}]")
        lines.append(f"url = {_quoted(context.url)}")
        if context.token is not None:
            lines.append(f"token = {_quoted(context.token)}")
        if context.namespace is not None:
            lines.append(f"namespace = {_quoted(context.namespace)}")
        lines.append("")
    return "\n".join(lines)


def _context(name: str, table: Any) -> Context:
    try:
        checked_name("context", name)
        if not isinstance(table, dict):
            raise ConfigurationError("it must be a table")
        for key, value in table.items():
            if key not in _KEYS:
                raise ConfigurationError(f"'{key[:80]}' is no setting; there are {', '.join(sorted(_KEYS))}")
            if not isinstance(value, str):
                raise ConfigurationError(f"'{key}' must be a text")
        if "url" not in table:
            raise ConfigurationError("'url' is missing")
        return Context(
            checked_url(table["url"]),
            checked_token(table.get("token")),
            checked_name("namespace", table.get("namespace")),
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"[contexts.{name[:80]}]: {error}") from None


def _quoted(text: str) -> str:
    # A text of JSON in ASCII is one of TOML: what we write has no control characters but those that JSON escapes.
    return json.dumps(text)
