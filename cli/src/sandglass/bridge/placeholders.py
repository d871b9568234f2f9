"""`${VAR}` in the registration of an MCP server, filled in where the variables are: on this machine. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandglass.bridge.plan import KERNEL_ENV, Contract
from sandglass.config.settings import TOKEN
from sandglass.errors import ConfigurationError

MOST_CHARS = 4 * 1024 * 1024
"""Of all texts with placeholders; far more than any registration may have, which the endpoint checks."""

# No default has the signs that begin and end a placeholder, so that each sign of a text is looked at once.
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^${}]*))?\}")
_LEFT = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::-|\})")
_MOST_DEPTH = 4
_SHOWN_CHARS = 60
_LEAST_HIDDEN_CHARS = 8

# The tool that registers, the argument that holds the registration (none: all of them), and what stays as it is.
_TOOLS = {
    Contract.SANDGLASS: ("mcp_register_server", "", frozenset({"sandbox", "namespace", "name"})),
    Contract.IPYBOX: ("register_mcp_server", "server_params", frozenset[str]()),
}


class Unresolved(ConfigurationError):
    """A placeholder that cannot be filled in; the text says which, where and why, and no value."""


@dataclass(frozen=True)
class Variables:
    """What placeholders may name: the environment of this process, then the `.env` of the workspace."""

    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    dot_env: Mapping[str, str] = field(default_factory=dict, repr=False)
    place: str = ""
    """Of the `.env`; empty if none was read."""
    refusal: str = ""
    """Why none is filled in, as a clause behind the placeholder; empty if they are."""

    def find(self, name: str) -> str | None:
        """The value of a variable; None if it is not set. `Unresolved` if it is not meant for MCP servers."""
        if self.refusal:
            raise Unresolved(self.refusal)
        if name == TOKEN:
            raise Unresolved("which is the key of this bridge itself and goes to no MCP server")
        if name.startswith(KERNEL_ENV):
            raise Unresolved(f"but variables that begin with {KERNEL_ENV} are for the code, and not for MCP servers")
        return self.environ.get(name, self.dot_env.get(name))

    @property
    def searched(self) -> str:
        """Where they are looked for, in words."""
        return "the environment of 'sandglass mcp'" + (f" and in {self.place}" if self.place else "")


@dataclass(frozen=True)
class Resolved:
    """Texts without placeholders, and the values that were filled in."""

    value: Any = field(repr=False)
    used: Mapping[str, str] = field(repr=False)

    def hidden(self, text: str) -> str:
        """A text with the names of variables in place of their values; short values are no secrets, but words."""
        for name, value in sorted(self.used.items(), key=lambda item: -len(item[1])):
            if len(value) >= _LEAST_HIDDEN_CHARS:
                text = text.replace(value, f"${{{name}}}")
        return text


def registration(
    contract: Contract, tool: str, arguments: Mapping[str, Any], variables: Variables
) -> tuple[Mapping[str, Any], Resolved] | None:
    """The arguments of a call that registers a server, filled in; None if it is no such call, or has no placeholder."""
    known, holder, kept = _TOOLS.get(contract, ("", "", frozenset[str]()))
    if not known or tool != known:
        return None
    texts = arguments.get(holder) if holder else {name: arguments[name] for name in arguments.keys() - kept}
    try:
        resolved = resolve(texts, variables, holder)
    except Unresolved as problem:
        raise Unresolved(f"Not registered: {problem}") from None
    if resolved.value == texts:
        return None
    filled = {holder: resolved.value} if holder else resolved.value
    return {**arguments, **filled}, resolved


def resolve(value: Any, variables: Variables, path: str = "") -> Resolved:
    """All texts of a value filled in, those in its lists and objects too. `Unresolved` if one cannot be."""
    filler = _Filler(variables)
    return Resolved(filler.filled(value, path, _MOST_DEPTH), filler.used)


class _Filler:
    def __init__(self, variables: Variables) -> None:
        self._variables = variables
        self._chars = 0
        self.used: dict[str, str] = {}

    def filled(self, value: Any, path: str, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, path)
        # What lies deeper is no registration: the endpoint refuses it as it is.
        if depth and isinstance(value, list):
            return [self.filled(each, f"{path}[{number}]", depth - 1) for number, each in enumerate(value)]
        if depth and isinstance(value, dict):
            return {name: self.filled(each, _below(path, name), depth - 1) for name, each in value.items()}
        return value

    def _text(self, text: str, path: str) -> str:
        if "${" not in text:
            return text
        pieces: list[str] = []
        end = 0
        for found in _PLACEHOLDER.finditer(text):
            pieces += [text[end : found.start()], self._value(found, path)]
            end = found.end()
            self._grow(len(pieces[-1]), path)
        pieces.append(text[end:])
        filled = "".join(pieces)
        if _LEFT.search(filled):
            # The endpoint would show it, and with it perhaps a part of a value.
            raise Unresolved(
                f"'{path}' has a placeholder within another one or in the value of a variable: write it out"
            )
        return filled

    def _value(self, found: re.Match[str], path: str) -> str:
        name, otherwise = found[1], found[2]
        try:
            value = self._variables.find(name)
        except Unresolved as why:
            raise Unresolved(f"'{path}' has {_shown(found[0])}, {why}") from None
        if value is None and otherwise is None:
            raise Unresolved(
                f"'{path}' has {_shown(found[0])}, and there is no variable {_shown(name)} in "
                f"{self._variables.searched}: set it there, or write the value itself"
            )
        if value is None:
            return otherwise
        self.used[name] = value
        return value

    def _grow(self, chars: int, path: str) -> None:
        self._chars += chars
        if self._chars > MOST_CHARS:
            raise Unresolved(f"'{path}': with its variables, the registration has more than {MOST_CHARS} characters")


def _below(path: str, name: str) -> str:
    return f"{path}.{_shown(name)}" if path else _shown(name)


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
