"""What an interrupt does while code is run that awaits: it ends what runs, whichever task that is."""

import asyncio
from collections.abc import Callable
from typing import Any


def interrupting(cell: "asyncio.Future[Any]", wake: Callable[..., Any]) -> Callable[..., None]:
    """A handler of SIGINT for a cell that is a task; ``wake`` has the cell cancelled once the loop goes on.

    Made by the kernel's own task, which is never cancelled: no reply would follow.
    """
    loop = asyncio.get_running_loop()
    kernel = asyncio.current_task()
    asked = False

    def interrupt(*args: Any) -> None:
        nonlocal asked
        running = asyncio.current_task(loop)
        if running is cell:
            raise KeyboardInterrupt  # a cancellation would wait for the loop, which the cell holds up
        if running is None or running is kernel:
            wake(*args)
            loop.call_soon_threadsafe(bool)  # without this the loop stays asleep
        elif asked:
            raise asyncio.CancelledError
        else:
            # The task may only be passing by; one that holds up the loop is still there at the second signal.
            asked = cell.cancel()

    return interrupt
