"""To which run output belongs."""

from typing import Any


class OfCurrentRun:
    """Sends output as that of the run that is on.

    ipykernel sends what a task or a callback of the loop says as that of the run in which it began, which is over.
    """

    _header: dict[str, Any] | None = None

    @property
    def parent_header(self) -> dict[str, Any]:
        """The header of the request that runs, or ran last."""
        return self._header or {}

    @parent_header.setter
    def parent_header(self, value: dict[str, Any]) -> None:
        self._header = value
