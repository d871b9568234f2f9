"""Which executions the supervisor says it never heard of: only those of which that is certain."""

from types import SimpleNamespace
from typing import cast

from sandglass_supervisor.execution.execution import DONE, Execution
from sandglass_supervisor.execution.executions import Executions
from sandglass_supervisor.limits import JOURNAL_EXECUTIONS, REMEMBERED_IDS


def ended(execution_id: str) -> Execution:
    return cast(Execution, SimpleNamespace(id=execution_id, state=DONE, journal=SimpleNamespace(cost=0)))


def test_what_came_is_known_and_what_was_forgotten_is_remembered() -> None:
    executions = Executions()
    for number in range(JOURNAL_EXECUTIONS + 1):
        executions.add(ended(str(number)))
    assert executions.get("0") is None
    assert executions.came("0")
    assert executions.came("1")
    assert not executions.came("another")


def test_who_cannot_remember_all_says_of_none_that_it_never_came() -> None:
    executions = Executions()
    for number in range(JOURNAL_EXECUTIONS + REMEMBERED_IDS):
        executions.add(ended(str(number)))
    assert not executions.came("another")

    executions.add(ended("one more"))
    assert executions.came("0")
    assert executions.came("another")


def test_who_follows_others_says_of_none_that_it_never_came() -> None:
    executions = Executions()
    executions.follow_others()
    assert executions.came("another")
