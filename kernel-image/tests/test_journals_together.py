"""All journals keep to one bound together: at each output, and without losing anyone's first and last part."""

from itertools import pairwise
from typing import Any

from supervisors import Running

from sandglass_supervisor.execution.execution import Execution
from sandglass_supervisor.execution.executions import Executions
from sandglass_supervisor.execution.journal import Journal
from sandglass_supervisor.execution.outcome import OK, Outcome
from sandglass_supervisor.limits import COMMANDS, JOURNAL_EXECUTIONS, JOURNALS_BYTES, MIB, SLICE_BYTES
from sandglass_supervisor.loop import Loop

ROOM = JOURNALS_BYTES // 8


def started(executions: Executions, name: str) -> Execution:
    execution = Execution(name, "command", Loop(), lambda *_: True, block=False)
    executions.add(execution)
    execution.start()
    return execution


def write(execution: Execution, size: int) -> None:
    for _ in range(size // SLICE_BYTES):
        execution.write("stdout", b"{}", b"%-*d" % (SLICE_BYTES, execution.journal.end))


def cost(executions: Executions) -> int:
    return sum(execution.journal.cost for execution in executions)


def spans(journal: Journal) -> list[tuple[str, int, int]]:
    found, cursor = [], journal.locate(0)
    while (piece := journal.read(cursor)) is not None:
        journal.advance(cursor, piece)
        found.append((piece.kind, piece.offset, piece.end))
    return found


def test_they_never_cost_more_and_each_keeps_its_first_and_last_part() -> None:
    executions = Executions()
    all_of_them = [started(executions, str(number)) for number in range(COMMANDS)]
    for _ in range(200):
        for execution in all_of_them:
            write(execution, SLICE_BYTES)
            assert cost(executions) <= JOURNALS_BYTES
    assert cost(executions) >= JOURNALS_BYTES - 2 * ROOM
    for execution in all_of_them:
        kinds = spans(execution.journal)
        assert [kind for kind, _, _ in kinds].count("gap") == 1
        assert (kinds[0][:2], kinds[-1][::2]) == (("stdout", 0), ("stdout", execution.journal.end))
        assert all(before[2] == after[1] for before, after in pairwise(kinds))


def test_what_is_done_makes_room_first_the_oldest_before_the_others() -> None:
    executions = Executions()
    oldest, newer, goes_on = (started(executions, name) for name in ("oldest", "newer", "goes on"))
    for execution in (goes_on, oldest, newer):
        write(execution, 7 * MIB)
    oldest.finish(Outcome(OK))
    newer.finish(Outcome(OK))
    write(started(executions, "another"), 7 * MIB)
    write(started(executions, "more"), 7 * MIB)
    assert oldest.journal.dropped > 0
    assert [execution.journal.dropped for execution in (newer, goes_on)] == [0, 0]
    assert cost(executions) <= JOURNALS_BYTES


def test_who_wrote_little_loses_nothing_to_those_who_write_much() -> None:
    executions = Executions()
    modest = started(executions, "modest")
    write(modest, MIB)
    for number in range(5):
        write(started(executions, str(number)), 8 * MIB)
    assert modest.journal.dropped == 0


def test_what_was_forgotten_counts_no_more() -> None:
    executions = Executions()
    for number in range(3 * JOURNAL_EXECUTIONS):
        execution = started(executions, str(number))
        write(execution, 4 * SLICE_BYTES)
        execution.finish(Outcome(OK))
    assert len(list(executions)) == JOURNAL_EXECUTIONS
    assert all(execution.journal.dropped == 0 for execution in executions)


def test_floods_that_nobody_reads_cost_the_supervisor_little(spare: Running) -> None:
    client = spare.ready()
    flood: dict[str, Any] = {
        "command": "sh",
        "args": ["-c", "yes | head -c 40000000"],
        "attach": False,
        "on_full": "truncate",
    }
    for number in range(COMMANDS):
        client.ask("command", execution_id=f"flood-{number}", **flood)
    client.until(
        lambda: all(execution["state"] == "done" for execution in client.ask("list")["executions"]), 60, "their ends"
    )
    assert spare.rss("VmHWM") < 96 * MIB
