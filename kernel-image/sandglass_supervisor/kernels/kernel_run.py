"""One run of code in a kernel: what the kernel says about it becomes output, and in the end an outcome."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..execution.execution import Execution
from ..execution.outcome import ERROR, OK, OUTPUT_LOST, Outcome, heap_full, kernel_died, oom_killed
from ..limits import IDLE_GRACE_S
from ..loop import Loop, Timer
from ..processes.cgroup import Memory
from ..shared.text import plain
from . import content
from .jupyter import Message
from .kernel_process import Ending

_MOST_RUNS = 2**53
_KINDS = frozenset(
    {
        "stream",
        "display_data",
        "update_display_data",
        "clear_output",
        "execute_result",
        "error",
        "status",
        "execute_reply",
    }
)


class Run:
    """Done when the reply and the idle state have both arrived; ``ended`` is called once."""

    def __init__(self, msg_id: str, execution: Execution, loop: Loop, ended: Callable[[Outcome], None]) -> None:
        self.msg_id = msg_id
        self.execution = execution
        self.output_lost = self.idle_lost = False
        self.stop_asked = False
        self.exit_asked = False
        self.put_back: Callable[[], None] | None = None  # gives it another turn, if it may have one
        self.lost_before: str | None = None
        self.verdict: Callable[[Outcome], Outcome] = lambda ended: ended
        self._loop = loop
        self._ended = ended
        self._idle = False
        self._outcome: Outcome | None = None
        self._error: content.Entry | None = None
        self._error_told = False
        self._messages = 0
        self._grace: Timer | None = None

    def hear(self, message: Message) -> None:
        """Take in a message whose parent is this run."""
        self._messages += 1
        if message.kind not in _KINDS:
            return
        # Code can forge a message that is nested as deep as can be read, and too deep for what comes then.
        with suppress(RecursionError):
            self._take(message.kind, content.parse(message.content))
        self._settle()

    def _take(self, kind: str, said: dict[str, Any]) -> None:
        match kind:
            case "stream":
                for entry in content.stream(said):
                    self.execution.write(*entry)
            case "display_data" | "update_display_data":
                self._show("display", said, update=kind == "update_display_data")
            case "clear_output":
                self.execution.write(*content.cleared(said))
            case "execute_result":
                self._show("result", said)
            case "error":
                self._error_told = True
                self.execution.write(*content.error(said))
            case "status":
                self._idle = self._idle or said.get("execution_state") == "idle"
            case "execute_reply":
                self._reply(said)

    def lose_output(self) -> None:
        """The kernel's output broke off; its idle state may come all the same, once there is a new way for it."""
        self.output_lost = True
        if self._grace is not None:
            self._grace.cancel()
            self._lost_idle_after(self._messages)

    def close(self) -> None:
        """The kernel is gone: nothing more will come."""
        if self._grace is not None:
            self._grace.cancel()

    def bury(self, ending: Ending, memory: Memory | None) -> None:
        """The kernel's process ended under it; ``memory`` is the sandbox's if that was full."""
        died = kernel_died(ending.signal, ending.exit_code, broken=ending.broken)
        if self.stop_asked:
            self._ended(died)
            return
        if ending.stderr:
            self.execution.write("stderr", b"{}", plain(ending.stderr + "\n").encode("utf-8", "replace"))
        if ending.heap_full:
            died = heap_full(ending.exit_code, ending.signal)
        elif memory is not None:
            died = oom_killed(memory, kernel=True)
        self._ended(died)

    def _show(self, kind: str, said: dict[str, object], *, update: bool = False) -> None:
        entry = content.shown(kind, said, update=update)
        if entry is not None:
            self.execution.write(*entry)

    def _reply(self, said: dict[str, object]) -> None:
        if self._outcome is not None:
            return  # a second one, which only code itself can have made
        count = said.get("execution_count")
        # The code can set it to anything; a number of a thousand digits would be no number to the gateway.
        count = count if type(count) is int and 0 <= count < _MOST_RUNS else None
        if said.get("status") == "ok":
            self._outcome = Outcome(OK, execution_count=count)
        else:
            self._error = content.error(said)
            name, value = said.get("ename", "Error"), said.get("evalue", "")
            self._outcome = Outcome(ERROR, plain(f"{name}: {value}")[:300], execution_count=count)
        self.exit_asked = content.asks_exit(said)
        for entry in content.pages(said):
            self.execution.write(*entry)
        self._lost_idle_after(self._messages)

    def _settle(self) -> None:
        if self._outcome is not None and self._idle:
            self._finish(self._outcome._replace(message=OUTPUT_LOST) if self.output_lost else self._outcome)

    def _finish(self, outcome: Outcome) -> None:
        self.close()
        if self._error is not None and not self._error_told:
            self.execution.write(*self._error)
        self._ended(outcome)

    def _lost_idle_after(self, heard: int) -> None:
        """Code can break its own output channel; then the idle state never comes, and the reply must do."""

        def look() -> None:
            if self._outcome is None:
                return
            if self.execution.congested or self._messages != heard:
                self._lost_idle_after(self._messages)
            else:
                self.output_lost = self.idle_lost = True
                self._finish(self._outcome._replace(message=OUTPUT_LOST))

        self._grace = self._loop.call_in(IDLE_GRACE_S, look)
