"""What waits for a kernel: at most eight executions, in the order in which they came."""

from collections import deque
from itertools import takewhile

from ..execution import outcome
from ..execution.execution import QUEUED, Execution
from ..execution.outcome import Outcome
from ..limits import INTERRUPT_GRACE_S, QUEUE
from ..link.arguments import Execute


class KernelQueue:
    """First in, first out; whoever waits may be withdrawn."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Execution, Execute]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether another one would be refused."""
        return len(self._waiting) >= QUEUE

    def add(self, execution: Execution, request: Execute) -> None:
        """To the end."""
        self._waiting.append((execution, request))
        execution.interrupt = lambda: self.withdraw(execution)

    def put_back(self, execution: Execution, request: Execute) -> None:
        """To the front: it was taken before, and did not begin."""
        execution.wait_again()
        self._waiting.appendleft((execution, request))
        execution.interrupt = lambda: self.withdraw(execution)

    def take(self) -> tuple[Execution, Execute]:
        """From the front."""
        return self._waiting.popleft()

    def ahead_of(self, execution: Execution) -> int | None:
        """How many wait before this one; None if it does not wait."""
        waiting = [queued for queued, _ in self._waiting]
        return waiting.index(execution) if execution in waiting else None

    def seconds_before(self, execution: Execution) -> float:
        """How long those that wait before this one may run at most, counting what the end of each may take."""
        before = takewhile(lambda entry: entry[0] is not execution, self._waiting)
        return sum(request.timeout_s + INTERRUPT_GRACE_S for _, request in before)

    def withdraw(self, execution: Execution) -> bool:
        """End an execution that still waits, because a caller interrupted it."""
        for entry in self._waiting:
            if entry[0] is execution and execution.state == QUEUED:
                self._waiting.remove(entry)
                execution.finish(Outcome(outcome.INTERRUPTED, "A caller interrupted it before it ran."))
                return True
        return False

    def fail(self, ended: Outcome) -> None:
        """End all that wait."""
        while self._waiting:
            self._waiting.popleft()[0].finish(ended)
