"""All executions of this incarnation: the newest are kept, and together they keep to a bound."""

from collections.abc import Iterator

from ..limits import JOURNAL_EXECUTIONS, JOURNALS_BYTES, REMEMBERED_IDS
from .execution import DONE, Execution

_ROOM_BYTES = JOURNALS_BYTES // 8  # is made at a time: to look at all journals is nothing to do for each output


class Executions:
    """In order of their arrival; forgets the oldest that are done."""

    def __init__(self) -> None:
        self._known: dict[str, Execution] = {}
        self._forgotten: dict[str, None] = {}
        self._knows_all = True
        self._bytes = 0  # what all journals cost together

    def __iter__(self) -> Iterator[Execution]:
        return iter(list(self._known.values()))

    def get(self, execution_id: str) -> Execution | None:
        """The execution, unless it is unknown or forgotten."""
        return self._known.get(execution_id)

    def was_forgotten(self, execution_id: str) -> bool:
        """True for an execution that ran, and whose output is gone: it must not run again."""
        return execution_id in self._forgotten

    def came(self, execution_id: str) -> bool:
        """False only if it is certain that no execution of this id ever came to this sandbox's pod."""
        return not self._knows_all or execution_id in self._known or execution_id in self._forgotten

    def follow_others(self) -> None:
        """There were executions before, of which nothing is known here."""
        self._knows_all = False

    def add(self, execution: Execution) -> None:
        """Take in a new execution; the oldest ones that are done make room."""
        self._known[execution.id] = execution
        surplus = len(self._known) - JOURNAL_EXECUTIONS
        if surplus > 0:
            for old in [known for known in self._known.values() if known.state == DONE][:surplus]:
                self._forget(old)
        self._count(execution.journal.cost)
        execution.journal.changed = self._count

    def _count(self, change: int) -> None:
        self._bytes += change
        if self._bytes > JOURNALS_BYTES and change > 0:
            self._trim(JOURNALS_BYTES - _ROOM_BYTES)

    def _trim(self, left: int) -> None:
        """Bring all journals together to that size: the oldest that are done lose output first, then the largest."""
        for done in [known for known in self._known.values() if known.state == DONE]:
            if self._bytes <= left:
                return
            done.journal.shrink(max(0, done.journal.cost - (self._bytes - left)))
        going = sorted((known.journal for known in self._known.values() if known.state != DONE), key=lambda j: j.cost)
        left -= self._bytes - sum(journal.cost for journal in going)
        for index, journal in enumerate(going):
            journal.shrink(max(0, left // (len(going) - index)))
            left -= journal.cost

    def _forget(self, execution: Execution) -> None:
        del self._known[execution.id]
        execution.journal.changed = None
        self._count(-execution.journal.cost)
        self._forgotten[execution.id] = None
        if len(self._forgotten) > REMEMBERED_IDS:
            del self._forgotten[next(iter(self._forgotten))]
            self._knows_all = False

    def detach(self, peer: bytes) -> None:
        """Forget a connection everywhere."""
        for execution in self:
            execution.detach(peer)
