"""What the bridge tells its user once, and not with every call."""

from __future__ import annotations

from collections.abc import Callable

MOST_NOTES = 200


class Notes:
    """Tells each thing once, and at most `MOST_NOTES` things: a sandbox may bring a new name with every call."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._told: set[str] = set()

    def tell(self, words: str, line: str | None = None) -> None:
        """Tells it, in the words of `line` if they say more than what makes it the same thing."""
        if words in self._told or len(self._told) > MOST_NOTES:
            return
        self._told.add(words)
        if len(self._told) > MOST_NOTES:
            self._warn("there is more to tell of the folder; no more of it is told until the bridge starts anew")
        else:
            self._warn(line or words)
