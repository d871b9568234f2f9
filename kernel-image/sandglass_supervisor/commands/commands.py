"""Commands: programs run as they are, their output read from pipes, all that they started ended when time is up."""

import os
import signal
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from ..execution import outcome
from ..execution.execution import Execution
from ..execution.outcome import ERROR, OK, OOM_KILLED, Outcome
from ..limits import COMMANDS, GROUP_LOOK_S, INTERRUPT_GRACE_S, PIPE_GRACE_S
from ..link.arguments import Command
from ..link.wire import Problem
from ..loop import Loop, Timer
from ..processes.belongings import OF_COMMANDS, Belongings, full
from ..processes.cgroup import Cgroup
from ..processes.children import Child, Children, Program, describe
from ..processes.offspring import Offspring
from . import shell
from .pipes import Pipe, holding
from .spawn_errors import unstarted

_KILLED_BELOW = 128 + signal.SIGKILL  # what a shell makes of its program's end

Conclude = Callable[[Outcome], None]


class Means(NamedTuple):
    """What commands are run with: shared by all of them."""

    loop: Loop
    children: Children
    cgroup: Cgroup
    offspring: Offspring
    belongings: Belongings


class Commands:
    """At most 16 at a time; the 17th is refused."""

    def __init__(self, means: Means, env: dict[str, str]) -> None:
        self._means = means
        self._env = env
        self._running: set[_Run] = set()

    def check_room(self) -> None:
        """Raise Problem if another command would be refused."""
        if len(self._running) >= COMMANDS:
            raise Problem("rejected", f"{COMMANDS} commands run already; try again later")

    def run(self, execution: Execution, command: Command, conclude: Conclude | None = None) -> None:
        """Start a command; whatever happens to it, the execution gets its outcome, or ``conclude`` gets it instead."""
        env = {**self._env, **command.envs}
        conclude = execution.finish if conclude is None else conclude
        execution.start()
        command, warning = shell.arrange(command, env)
        if warning:
            execution.warn(warning)

        def ended(how: Outcome) -> None:
            self._running.discard(run)
            conclude(how)

        try:
            run = _Run(execution, command, env, self._means, ended)
        except OSError as error:
            conclude(unstarted(error, command, env))
            return
        self._running.add(run)

    def execution_of(self, mark: int) -> str | None:
        """The execution whose command's processes bear that mark."""
        return next((run.execution_id for run in self._running if run.mark == mark), None)

    def cut_off(self, refusal: str) -> None:
        """End all that run, with all that they started."""
        for run in list(self._running):
            run.cut_off(refusal)

    def ask(self, command: Command, answer: Callable[[str], None]) -> None:
        """Run a command of which nobody else is told; ``answer`` is called once, with the end of its output."""
        unseen = Execution(
            command.execution_id, "question", self._means.loop, lambda _peer, _frames: False, block=False
        )

        def conclude(ended: Outcome) -> None:
            answer(unseen.journal.tail())
            unseen.finish(ended)

        self.run(unseen, command, conclude)


class _Run:
    def __init__(
        self, execution: Execution, command: Command, env: dict[str, str], means: Means, conclude: Conclude
    ) -> None:
        self._execution = execution
        self._conclude: Conclude | None = conclude
        self._loop = means.loop
        self._cgroup = means.cgroup
        self._offspring = means.offspring
        self._belongings = means.belongings
        self._oom_kills = means.cgroup.oom_kills()
        self._verdict: Callable[[Outcome], Outcome] | None = None
        self._timeout_s = command.timeout_s
        self._ended: Outcome | None = None
        self._stop_by = 0.0
        self._clearing = self._cleared = False
        self._timers: list[Timer] = []
        self._pipes: list[Pipe] = []
        self._belongings.begin(OF_COMMANDS)
        try:
            self._child = self._start(command, env, means.children)
        except OSError:
            self._belongings.end(OF_COMMANDS)
            raise
        execution.resume = self._watch
        execution.interrupt = self._interrupt
        self._watch()
        self._timers.append(self._loop.call_in(command.timeout_s, self._time_out))

    @property
    def mark(self) -> int:
        """What all its processes bear."""
        return self._child.mark

    @property
    def execution_id(self) -> str:
        """Whose command it is."""
        return self._execution.id

    def _start(self, command: Command, env: dict[str, str], children: Children) -> Child:
        theirs: list[int] = []
        try:
            for kind in ("stdout", "stderr"):
                reader, writer = os.pipe()
                self._pipes.append(Pipe(kind, reader))
                theirs.append(writer)
                os.set_blocking(reader, False)
            theirs.append(holding(command.stdin))
            stdout, stderr, stdin = theirs
            return children.start(Program(command.argv, env, command.cwd, stdin, stdout, stderr), self._exited)
        except OSError:
            for pipe in self._pipes:
                os.close(pipe.descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def _watch(self) -> None:
        for pipe in self._pipes:
            if pipe.open:
                self._loop.watch(pipe.descriptor, partial(self._read, pipe))

    def _read(self, pipe: Pipe) -> None:
        pipe.read(self._execution)
        if not pipe.open:
            self._loop.unwatch(pipe.descriptor)
        if self._execution.congested:
            for other in self._pipes:
                self._loop.unwatch(other.descriptor)
        self._settle()

    def _exited(self, status: int) -> None:
        exit_code, number = describe(status)
        was_killed = number == signal.SIGKILL or exit_code == _KILLED_BELOW
        memory = self._cgroup.shortage(self._oom_kills) if was_killed else None
        if memory is not None:
            self._ended = outcome.oom_killed(memory, kernel=False, exit_code=exit_code)
        elif number is not None:
            self._ended = Outcome(ERROR, f"Ended by signal {number}.", signal=number)
        else:
            # It ran to its end: what its exit code means, its caller knows.
            self._ended = Outcome(OK, exit_code=exit_code)
        if self._verdict is not None:
            # What runs behind a shell ignores an interrupt, and nobody is left who would end it.
            self._child.signal_group(signal.SIGTERM)
            self._await_group()
        # Something that it left running may hold the pipes open for ever; wait a moment only.
        self._timers.append(self._loop.call_in(PIPE_GRACE_S, self._give_up_pipes))
        self._settle()

    def _give_up_pipes(self) -> None:
        if not self._is_to_be_cleared and self._offspring.exceeds(self._child):
            self._execution.warn(
                f"It left more than {self._offspring.most} processes running, so all that it had started was ended."
            )
            self._clear()
        if self._is_to_be_cleared and not self._cleared:
            self._timers.append(self._loop.call_in(PIPE_GRACE_S, self._give_up_pipes))
            return
        for pipe in self._pipes:
            if pipe.open:
                pipe.take_no_more()
            while pipe.open and not self._execution.congested and pipe.read(self._execution):
                pass
            pipe.open = pipe.open and self._execution.congested
        if self._execution.congested:
            self._timers.append(self._loop.call_in(PIPE_GRACE_S, self._give_up_pipes))
        self._settle()

    def _settle(self) -> None:
        if self._ended is None or any(pipe.open for pipe in self._pipes) or self._conclude is None:
            return
        if self._is_to_be_cleared and not self._cleared:
            return
        conclude, self._conclude = self._conclude, None
        for timer in self._timers:
            timer.cancel()
        self._part()
        self._belongings.end(OF_COMMANDS)
        ended = self._verdict(self._ended) if self._verdict else self._ended
        memory = self._cgroup.shortage(self._oom_kills) if ended.status != OOM_KILLED else None
        if memory is not None:
            self._execution.warn(outcome.killed_beside(memory))
        if ended.status == ERROR or ended.exit_code:
            self._execution.warn(full())
        conclude(ended)

    def _part(self) -> None:
        """Let go of its pipes and of what it left running, which may go on and write on: nobody would hear that."""
        held = [pipe.descriptor for pipe in self._pipes if not self._cleared and pipe.has_writer()]
        for pipe in self._pipes:
            self._loop.unwatch(pipe.descriptor)
            if pipe.descriptor not in held:
                os.close(pipe.descriptor)
        if held:
            self._execution.warn(outcome.LEFT_WRITING)
        if not self._cleared:
            self._offspring.watch(self._child, held)

    def _time_out(self) -> None:
        self._stop(signal.SIGTERM, lambda ended: outcome.timed_out(self._timeout_s, ended))

    def _interrupt(self) -> bool:
        self._stop(signal.SIGINT, outcome.interrupted)
        return True

    def _stop(self, number: signal.Signals, verdict: Callable[[Outcome], Outcome]) -> None:
        if self._verdict is not None:
            return
        self._verdict = verdict
        self._execution.hurry()
        self._child.signal_group(number)
        self._stop_by = self._loop.clock() + INTERRUPT_GRACE_S
        self._timers.append(self._loop.call_in(INTERRUPT_GRACE_S, self._clear))
        if self._ended is not None:
            self._await_group()

    def cut_off(self, refusal: str) -> None:
        """End it without any grace."""
        self._verdict = lambda _: outcome.cut_off(refusal)
        self._execution.hurry()
        self._clear()

    @property
    def _is_to_be_cleared(self) -> bool:
        """True if it may leave nothing running."""
        return self._verdict is not None or self._clearing

    def _await_group(self) -> None:
        """The first process has ended; the others of its group may take until the end of the grace."""
        if self._child.has_group() and self._loop.clock() < self._stop_by:
            self._timers.append(self._loop.call_in(GROUP_LOOK_S, self._await_group))
        else:
            self._clear()

    def _clear(self) -> None:
        """Kill all that is left of it, in whatever group; it is told how it ended when nothing is."""
        if not self._clearing:
            self._clearing = True
            self._offspring.end(self._child, self._all_gone)

    def _all_gone(self) -> None:
        self._cleared = True
        self._settle()
