"""``asyncio.run`` in a cell, as in a program: the kernel's own event loop, in which the cell runs, steps aside for it.

asyncio refuses to run a loop within another one. The two do not mix here: while the inner loop runs, the outer one is
held up, as it is by any code of a cell, and no task of either is the other's.
"""

import asyncio
import contextlib
import functools
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

_ADVICE = "the cell runs in this event loop already: write 'await task' instead of run_until_complete(task)."


def arrange(kernels: asyncio.AbstractEventLoop) -> None:
    """Let code that runs in the kernel's loop run others."""
    aside = functools.partial(_set_aside, kernels)
    until_complete = asyncio.BaseEventLoop.run_until_complete

    @functools.wraps(until_complete)
    def run_until_complete(loop: Any, future: Any) -> Any:
        if loop is kernels and asyncio._get_running_loop() is kernels:
            if not asyncio.iscoroutine(future):
                raise RuntimeError(_ADVICE)
            return asyncio.run(future)
        with aside():
            return until_complete(loop, future)

    asyncio.run = asyncio.runners.run = _within(aside, asyncio.run)
    base: Any = asyncio.BaseEventLoop
    forever = _within(aside, base.run_forever)

    @functools.wraps(base.run_forever)
    def run_forever(loop: Any) -> None:
        if loop is kernels and asyncio._get_running_loop() is kernels:
            raise RuntimeError("This event loop is already running")  # Python 3.13's own refusal stops the loop
        forever(loop)

    base.run_until_complete, base.run_forever = run_until_complete, run_forever
    runner: Any = getattr(asyncio, "Runner", None)  # not before Python 3.11
    if runner is not None:
        runner.run = _within(aside, runner.run)


def _within(
    aside: Callable[[], contextlib.AbstractContextManager[None]], run: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(run)
    def run_alone(*args: Any, **kwargs: Any) -> Any:
        with aside():
            return run(*args, **kwargs)

    return run_alone


@contextlib.contextmanager
def _set_aside(kernels: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Without effect where no loop runs, or another one: in a thread, and in a loop that the code itself runs."""
    if asyncio._get_running_loop() is not kernels or threading.current_thread() is not threading.main_thread():
        yield
        return
    task = asyncio.current_task(kernels)
    # An interrupt is to end the code: the cell's own handler would wait for the kernel's loop.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    if task is not None:
        asyncio.tasks._leave_task(kernels, task)
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio.set_event_loop(kernels)
        asyncio._set_running_loop(kernels)
        if task is not None:
            asyncio.tasks._enter_task(kernels, task)
        signal.signal(signal.SIGINT, handler)
