"""The variables that are in the environment for one execution alone."""

import contextlib
import os

_ENVIRON = os.environ  # the code may put anything else under that name


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
