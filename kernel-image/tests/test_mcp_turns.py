"""How many calls of a server are under way at a time."""

from sandglass_supervisor.mcp_servers.turns import Turns


class Calls:
    """Calls that begin when their turn comes; some of them are over at once."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.short: set[int] = set()
        self.depth = self.deepest = 0
        self.turns = Turns(self._begin)

    def _begin(self, number: int) -> None:
        self.begun.append(number)
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        if number in self.short:
            self.turns.leave(number)
        self.depth -= 1


def test_so_many_begin_and_the_others_follow_in_their_order() -> None:
    calls = Calls()
    for number in range(5):
        calls.turns.enter(number, 2)
    assert calls.begun == [0, 1]
    calls.turns.leave(1)
    calls.turns.leave(1)
    assert calls.begun == [0, 1, 2]
    calls.turns.leave(3)  # it waits no more
    calls.turns.leave(0)
    assert calls.begun == [0, 1, 2, 4]
    assert calls.turns.running == [2, 4]


def test_the_newest_number_counts_for_all() -> None:
    calls = Calls()
    for number in range(4):
        calls.turns.enter(number, 1)
    calls.turns.enter(4, 3)
    assert calls.begun == [0, 1, 2]
    calls.turns.enter(5, 1)
    calls.turns.leave(0)
    calls.turns.leave(1)
    assert calls.begun == [0, 1, 2]
    calls.turns.leave(2)
    assert calls.begun == [0, 1, 2, 3]


def test_calls_that_are_over_at_once_do_not_begin_within_each_other() -> None:
    calls = Calls()
    calls.turns.enter(0, 1)
    calls.short = set(range(1, 2000))
    for number in range(1, 2000):
        calls.turns.enter(number, 1)
    calls.turns.leave(0)
    assert calls.begun == list(range(2000))
    assert calls.deepest == 1
    assert calls.turns.running == []


def test_nothing_begins_when_all_is_over() -> None:
    calls = Calls()
    for number in range(3):
        calls.turns.enter(number, 1)
    calls.turns.clear()
    for number in range(3):
        calls.turns.leave(number)
    assert calls.begun == [0]
    calls.turns.enter(3, 1)
    assert calls.begun == [0, 3]
