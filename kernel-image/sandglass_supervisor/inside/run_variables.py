"""The environment of the code: variables of the sandbox, and those of one execution alone."""

import contextlib
import os
import time

_ENVIRON = os.environ  # the code may put anything else under that name
# Nobody sits at a terminal here: programs that show page after page would wait for ever.
PAGERS = {"PAGER": "cat", "GIT_PAGER": "cat"}
_TIME_ZONE = {"TZ", "TZDIR"}


def keep(given: dict[str, str]) -> None:
    """Set variables of the sandbox for good, as if the kernel had been started with them."""
    _ENVIRON.update({**given, **PAGERS})
    if _TIME_ZONE & given.keys():
        time.tzset()


def put(given: dict[str, str]) -> dict[str, str | None]:
    """Set variables; what was there before, which ``put_back`` takes."""
    before = {name: _ENVIRON.get(name) for name in given}
    _ENVIRON.update(given)
    return before


def put_back(before: dict[str, str | None]) -> None:
    """Undo the variables of one execution, whatever its code made of them; others that it set stay."""
    undone = False
    while not undone:
        # An interrupt that comes too late for the code must not leave half of them.
        with contextlib.suppress(KeyboardInterrupt):
            for name, value in before.items():
                if value is None:
                    _ENVIRON.pop(name, None)
                else:
                    _ENVIRON[name] = value
            undone = True
