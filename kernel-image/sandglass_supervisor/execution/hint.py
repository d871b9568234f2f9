"""What a caller can do about an outcome (pure).

The pod does not know in which contract's words a caller is told: a gateway makes a sentence of it, and leaves out what
it does not know.
"""

from typing import Any, Final, NamedTuple

from ..limits import MESSAGE_CHARS


class Hint(NamedTuple):
    """One of the kinds below, with the values that it needs."""

    kind: str
    line: str | None = None
    hosts: tuple[str, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """The wire's hint object."""
        return {name: value for name, value in self._asdict().items() if value is not None}


STOP_AND_START: Final = Hint("stop_and_start")
END_A_SESSION: Final = Hint("end_a_session")
MORE_TIME: Final = Hint("more_time")
FREE_MEMORY: Final = Hint("free_memory")


def command(kind: str, line: str) -> Hint | None:
    """A command that does ``install``, ``upgrade`` or ``make``; none if it is too long: a part of it is another one."""
    return Hint(kind, line=line) if len(line) <= MESSAGE_CHARS else None


def allow_hosts(hosts: list[str]) -> Hint:
    """To let the sandbox reach these, or to bring in what they have."""
    return Hint("allow_hosts", hosts=tuple(hosts))
