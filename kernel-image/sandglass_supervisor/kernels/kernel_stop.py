"""How a run is ended before its time: interrupts once its code has begun, and in the end the death of its kernel."""

from collections.abc import Callable

from ..execution.outcome import Outcome
from ..limits import BEGUN_LOOK_S, INTERRUPT_GRACE_S
from ..loop import Loop, Timer
from .kernel_process import KernelProcess
from .kernel_run import Run


class Stop:
    """What is due for one run; after ``cancel`` nothing of it happens any more."""

    def __init__(self, run: Run, process: KernelProcess, loop: Loop) -> None:
        self._run = run
        self._process = process
        self._loop = loop
        self._timers: list[Timer] = []
        self._cancelled = False

    def ask(self, verdict: Callable[[Outcome], Outcome]) -> None:
        """Interrupt the run, kill the kernel if that does not help; the first reason given counts."""
        if self._run.stop_asked or self._cancelled:
            return
        self._run.stop_asked = True
        self._run.verdict = verdict
        self._run.execution.hurry()
        self._interrupt_once_begun()
        # The first one may have met a program that the code waits for, and not the code.
        self._in(INTERRUPT_GRACE_S / 2, self._process.interrupt)
        self._in(INTERRUPT_GRACE_S, self._process.kill)

    def ask_in(self, seconds: float, verdict: Callable[[Outcome], Outcome]) -> None:
        """Ask when so many seconds are over."""
        self._in(seconds, lambda: self.ask(verdict))

    def cancel(self) -> None:
        """The run is over."""
        self._cancelled = True
        for timer in self._timers:
            timer.cancel()

    def _in(self, seconds: float, action: Callable[[], None]) -> None:
        if not self._cancelled:
            self._timers.append(self._loop.call_in(seconds, action))

    def _interrupt_once_begun(self) -> None:
        """Before the code has begun an interrupt would be ignored."""
        if self._cancelled:
            return
        if self._process.has_begun(self._run.msg_id):
            self._process.interrupt()
        else:
            self._in(BEGUN_LOOK_S, self._interrupt_once_begun)
