"""The kernel's loop goes on whatever the code lets into it: a late signal's exception, ``sys.exit`` in a task."""

import contextlib
import os
import sys
import time
import traceback
from typing import Any

from .errors import ends_well

_KERNEL = os.getpid()
_IN_VAIN = 100  # turns of a loop that ends at once; then the code has broken it for good
_AT_ONCE_S = 0.01
_STOP_S = 0.1  # as ipykernel has it


def serve(loop: Any, shell: Any) -> None:
    """Run the loop until it is stopped. What else ends it is told, and the loop goes on."""
    in_vain = 0
    while True:
        began = time.monotonic()
        try:
            loop.start()
        except BaseException as error:
            in_vain = in_vain + 1 if time.monotonic() - began < _AT_ONCE_S else 0
            if os.getpid() != _KERNEL or in_vain > _IN_VAIN:
                raise
            _tell(error)
        else:
            return
        if shell.exit_now:  # the exception may have come in the turn that was to be the last
            loop.call_later(_STOP_S, loop.stop)


def _tell(error: BaseException) -> None:
    """Print where it came from; an interrupt is told by the run that it ends, and a good end needs no words."""
    if not isinstance(error, KeyboardInterrupt) and not ends_well(error):
        with contextlib.suppress(BaseException):
            traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
            sys.stderr.flush()
