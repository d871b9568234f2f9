"""The kernel's own standard streams, whatever the code puts in their place.

ipykernel knows only what ``sys.stdout`` and ``sys.stderr`` are at the moment: a stream that is kept behind another one
goes on telling its output as that of an old run, and one that cannot be flushed keeps the run's end from being told.
"""

import os
import sys
from functools import partial
from typing import Any

from .forked_streams import write_lines
from .streams import BoundedStream


class OwnStreams:
    """Both streams of one kernel, by their names in ``sys``; none before the kernel has made them."""

    def __init__(self) -> None:
        self._by_name: dict[str, BoundedStream] = {}

    def know(self, out: BoundedStream, err: BoundedStream) -> None:
        """Take what the kernel has made."""
        self._by_name = {"stdout": out, "stderr": err}
        for own in (out, err):
            os.register_at_fork(after_in_child=partial(write_lines, own))

    def set_parent(self, parent: dict[str, Any]) -> None:
        """Have what is written from now on belong to a run, by whatever way it comes here."""
        for name, own in self._by_name.items():
            if getattr(sys, name, None) is not own:
                own.set_parent(parent)  # type: ignore[no-untyped-call] # ipykernel's

    def mend(self) -> None:
        """Send what was written, and put back what stands behind something that cannot be flushed, as a closed file."""
        for name, own in self._by_name.items():
            there = getattr(sys, name, None)
            if there is own:
                continue
            try:
                there.flush()  # type: ignore[union-attr] # None is one of the things that cannot
            except Exception as error:  # noqa: BLE001 - it is the code's
                setattr(sys, name, own)
                why = f"it could not be flushed ({type(error).__name__}: {words(error)})"
                self._by_name["stderr"].write(f"sys.{name} is the kernel's own again: {why}\n")
            if not own.closed:
                own.flush()


def words(error: BaseException) -> str:
    """What an exception says, if it can."""
    return str(error) if has_words(error) else "it cannot be shown"


def has_words(error: BaseException) -> bool:
    """Whether an exception can say anything: its ``__str__`` is the code's."""
    try:
        str(error)
    except BaseException:  # noqa: BLE001 - so is what that raises
        return False
    return True


OWN_STREAMS = OwnStreams()
