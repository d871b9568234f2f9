"""All that a child started, wherever it hides: found by its mark, counted while it may go on, hunted when it may not.

A process can leave its group, its session, its parent and its environment; its mark it keeps (see ``children``).
"""

import os
import signal
from collections.abc import Callable, Collection, Container
from contextlib import suppress
from typing import NamedTuple

from ..limits import DEED_STEP_S, HUNT_PAUSE_S, HUNT_S, LOOK_FIRST_S, LOOK_LAST_S
from ..loop import Loop, Timer
from .children import Child, log, mark_of
from .drains import Drains

_QUIET_ROUNDS = 3


class _Census(NamedTuple):
    """The processes that bear each mark, newest first; ``fled``: others ended while they were looked at."""

    marked: dict[int, list[int]]
    fled: bool


def _census(marks: Container[int], found: Callable[[int], None] = lambda pid: None) -> _Census | None:
    """Call ``found`` for each process as soon as it is seen to bear one of the marks; None if none can be seen now."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return None  # it takes a descriptor, and code can have us use up all of them
    marked: dict[int, list[int]] = {}
    fled = False
    # What was forked last is what goes on forking: first come the highest numbers.
    for name in reversed(names):
        if not name.isdigit():
            continue
        pid = int(name)
        try:
            mark = mark_of(pid)
        except ProcessLookupError:
            fled = True
            continue
        except PermissionError:
            continue
        if mark in marks:
            found(pid)
            marked.setdefault(mark, []).append(pid)
    return _Census(marked, fled)


class _Hunt:
    """Kills what bears a mark, in rounds, until three of them in a row have found nothing; the loop runs on meanwhile.

    A round overtakes what forks: to look at a process and kill it costs less than to fork one.
    """

    def __init__(self, loop: Loop, child: Child, done: Callable[[bool], None]) -> None:
        self._loop = loop
        self._child = child
        self._done = done
        self._until = loop.clock() + HUNT_S
        self._struck: set[int] = set()
        self._groups: set[int] = set()
        self._quiet = 0
        self._turn()

    def _turn(self) -> None:
        if not self._child.marked:
            self._done(True)
            return
        pause = self._loop.clock() + DEED_STEP_S
        while self._quiet < _QUIET_ROUNDS and self._loop.clock() < pause:
            known = len(self._struck)
            self._groups.clear()
            census = _census((self._child.mark,), self._strike)
            self._quiet = 0 if census is None or census.marked or census.fled else self._quiet + 1
            if census is None or (census.marked and len(self._struck) == known):
                break  # descriptors need time to come free, and who was struck to end
        if self._quiet == _QUIET_ROUNDS:
            self._done(True)
        elif self._loop.clock() < self._until:
            self._loop.call_in(HUNT_PAUSE_S, self._turn)
        else:
            self._done(False)

    def _strike(self, pid: int) -> None:
        self._struck.add(pid)
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
            group = os.getpgid(pid)
            # Nobody is missed in it: it is killed at one stroke, what is being forked included. And all of it descends
            # from the child, for a group lies within a session, and a session begins with one process.
            if group not in self._groups:
                self._groups.add(group)
                os.killpg(group, signal.SIGKILL)


class Offspring:
    """What commands leave running goes on; if it becomes more than ``most`` processes, all of it is killed."""

    def __init__(self, loop: Loop, most: int) -> None:
        self.most = most
        self._loop = loop
        self._drains = Drains(loop)
        self._left: dict[int, Child] = {}
        self._doomed: set[int] = set()
        self._counts: dict[int, int] = {}
        self._look_in_s = LOOK_FIRST_S
        self._timer: Timer | None = None

    def end(self, child: Child, done: Callable[[], None]) -> None:
        """Kill all that descends from the child; ``done`` is called when nothing of it is left, after 2 s at most."""
        # Whoever lowered its mark has its group, if it did not leave that, too.
        child.signal_group(signal.SIGKILL)
        self._hunt(child, done)

    def _hunt(self, child: Child, done: Callable[[], None]) -> None:
        def ended(complete: bool) -> None:
            if not complete:
                # What was killed may wait for a disk or for its share of a processor; it is killed again until it ends.
                log("unended", pid=child.pid)
                self._doomed.add(child.mark)
                self.watch(child)
            done()

        self._left.pop(child.mark, None)
        _Hunt(self._loop, child, ended)

    def end_left(self) -> None:
        """Kill all that ended commands have left running."""
        for child in list(self._left.values()):
            self._hunt(child, lambda: None)

    def goes_on(self) -> bool:
        """True if something that ended children have left may be running now, other than what was killed already."""
        left = self._left.keys() - self._doomed
        census = _census(left) if left else _Census({}, fled=False)
        return census is None or bool(census.marked)

    def exceeds(self, child: Child) -> bool:
        """True if more than may be descend from the child now, as far as can be seen."""
        census = _census((child.mark,)) if child.marked else None
        return census is not None and len(census.marked.get(child.mark, ())) > self.most

    def watch(self, child: Child, held: Collection[int] = ()) -> None:
        """Look from time to time at what an ended child has left, until nothing of it is left.

        The pipes that it has ``held`` are read to nowhere, and closed at their end.
        """
        if held:
            self._drains.add(held)
        if not child.marked:
            return
        self._left[child.mark] = child
        if self._timer is None or self._look_in_s > LOOK_FIRST_S:
            self._look_again(LOOK_FIRST_S)

    def _look_again(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._look_in_s = seconds
        self._timer = self._loop.call_in(seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        census = _census(self._left)
        if census is None:
            self._look_again(LOOK_LAST_S)
            return
        before, self._counts = self._counts, {mark: len(pids) for mark, pids in census.marked.items()}
        self._left = {mark: child for mark, child in self._left.items() if mark in census.marked}
        self._doomed &= self._left.keys()
        grows = any(count > before.get(mark, 0) for mark, count in self._counts.items())
        for mark, count in self._counts.items():
            if count > self.most or mark in self._doomed:
                log("runaway", pid=self._left[mark].pid, processes=count)
                # Not its group: that may be gone for long, and its number somebody else's.
                self._hunt(self._left[mark], lambda: None)
        if self._left and self._timer is None:
            self._look_again(LOOK_FIRST_S if grows else min(2 * self._look_in_s, LOOK_LAST_S))
