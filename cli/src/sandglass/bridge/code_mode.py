"""A call of `run_python` that is refused before it reaches the endpoint, in the endpoint's own forms. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sandglass.terminal.text import line

COMPACT = "compact"
MOST_CHARS = 4000


class NotLoaded(Exception):
    """A server that the code names cannot be loaded, so that nothing was run."""

    def __init__(self, status: str, summary: str, error: str) -> None:
        super().__init__(error)
        self._status = status
        self._summary = _cleaned(summary)
        self._error = _cleaned(error)

    def text(self, form: str) -> str:
        """The result in that form: `compact`, `toon` or `json`."""
        facts: dict[str, Any] = {
            "status": self._status,
            "summary": self._summary,
            "stdout": [],
            "stderr": [],
            "error": self._error,
        }
        if form == "json":
            return f"```json\n{_json(facts)}\n```"
        if form == "toon":
            return "```toon\n" + "\n".join(_toon(name, value) for name, value in facts.items()) + "\n```"
        return f"[{self._status}] {self._summary}"


def unavailable(name: str, why: str) -> NotLoaded:
    """Of a server that is known on this machine and cannot run in the cluster."""
    words = f"Server '{name}' is not available: {why}"
    return NotLoaded("validation_error", words, words)


def unknown(name: str, known: Sequence[str]) -> NotLoaded:
    """Of a name that no server has, in the endpoint's words and with those that there are."""
    words = f"Unknown MCP server: {name}; known are: {', '.join(known) or 'none'}"
    return NotLoaded("validation_error", words, words)


def failed(name: str, why: str) -> NotLoaded:
    """Of a server that did not start."""
    words = f"MCP server '{name}' was not loaded: {why}"
    return NotLoaded("error", f"Unexpected failure: {words}", words)


def _cleaned(text: str) -> str:
    """On one line, without characters that do not show."""
    shown = line(text)
    return shown if len(shown) <= MOST_CHARS else shown[:MOST_CHARS] + "…"


def _json(value: Any) -> str:
    # A backtick would end the block.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("`", "\\u0060")


def _toon(name: str, value: str | list[str]) -> str:
    """A field in TOON, where every text may stand in quotes."""
    return f"{name}[0]:" if isinstance(value, list) else f"{name}: {_json(value)}"
