"""Notes of the bridge: each once, and no more than its bound."""

from __future__ import annotations

from sandglass.bridge.notes import MOST_NOTES, Notes


def test_each_is_told_once_in_its_own_line() -> None:
    told: list[str] = []
    notes = Notes(told.append)
    for line in ("files left out: a", "files left out: b"):
        notes.tell("files left out", line)
    notes.tell("a conflict")
    assert told == ["files left out: a", "a conflict"]


def test_new_ones_without_end_are_told_up_to_the_bound() -> None:
    told: list[str] = []
    notes = Notes(told.append)
    for number in range(3 * MOST_NOTES):
        notes.tell(f"note {number}")
    assert told[:MOST_NOTES] == [f"note {number}" for number in range(MOST_NOTES)]
    assert len(told) == MOST_NOTES + 1
    assert "no more of it is told" in told[-1]
