"""What an interrupt does where ipykernel and IPython would lose it.

While code is run that awaits it ends what runs, whichever task that is; what runs a program ends the run as well.
"""

import asyncio
import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.utils.process import system  # type: ignore[attr-defined] # it comes from one of two modules there


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
        if running is None or running is kernel or not _runs_code(running):
            wake(*args)
            loop.call_soon_threadsafe(bool)  # without this the loop stays asleep
        elif running is cell:
            raise KeyboardInterrupt  # a cancellation would wait for the loop, which the cell holds up
        elif asked:
            raise asyncio.CancelledError
        else:
            # The task may only be passing by; one that holds up the loop is still there at the second signal.
            asked = cell.cancel()

    return interrupt


def _runs_code(task: "asyncio.Task[Any]") -> bool:
    """Whether it is the task's own code that is on, and not asyncio's, which schedules whatever the task leaves.

    An exception there would lose that: nobody would hear of the task's end, or the task never go on.
    """
    return bool(getattr(task.get_coro(), "cr_running", False))


class CommandShell(ZMQInteractiveShell):
    """Ends the run when one of its programs is interrupted: IPython goes on with the next line."""

    def system_piped(self, cmd: str) -> None:
        """Run a program and print what it writes. As ipykernel has it, whose own would look for variables here."""
        if cmd.rstrip().endswith("&"):
            raise OSError("Background processes not supported.")
        line = self.var_expand(cmd, depth=1)
        with _interrupts_raised():
            exit_code = system(line)
        self.user_ns["_exit_code"] = exit_code
        if getattr(self, "system_raise_on_error", False) and exit_code != 0:
            raise subprocess.CalledProcessError(exit_code, cmd)

    system = system_piped

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Run a program and return what it writes."""
        with _interrupts_raised():
            return super().getoutput(cmd, split, depth + 1)


@contextlib.contextmanager
def _interrupts_raised() -> Iterator[None]:
    """Raise at the end what was raised by an interrupt meanwhile, and swallowed."""
    handle = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handle):
        yield
        return
    interrupted = False

    def note(*args: Any) -> None:
        nonlocal interrupted
        try:
            handle(*args)
        except KeyboardInterrupt:
            interrupted = True
            raise

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handle)
        if interrupted:
            raise KeyboardInterrupt from None
