"""A kernel as callers know it, addressed by language and session: its queue, its time-outs, and life after death."""

from collections.abc import Callable
from typing import Any

from ..execution import outcome
from ..execution.execution import Execution
from ..execution.outcome import Outcome
from ..limits import INTERRUPT_GRACE_S, QUEUE
from ..link.arguments import Execute
from ..link.wire import Problem
from ..loop import Timer
from ..processes import belongings
from ..processes.cgroup import Cgroup
from .between_runs import BetweenRuns
from .jupyter import Message
from .kernel_process import Ending, KernelProcess, Maker, Place
from .kernel_queue import KernelQueue
from .kernel_run import Run
from .kernel_stop import Stop
from .python_env import PythonEnv

STARTING, IDLE, BUSY, DEAD = "starting", "idle", "busy", "dead"
_START_ATTEMPTS = 3
_SIGKILL = 9

Tell = Callable[[str, dict[str, Any]], None]


class Kernel:
    """One run at a time, eight waiting; when its process ends a fresh one is started."""

    def __init__(
        self,
        name: tuple[str, str],
        make: Maker,
        place: Place,
        cgroup: Cgroup,
        tell: Tell,
        env: PythonEnv | None = None,
    ) -> None:
        self.language, self.session = name
        self.env = env
        self.used = False
        self.label: str | None = None  # what callers call the session
        self._make = make
        self._place = place
        self._cgroup = cgroup
        self._tell = tell
        self._queue = KernelQueue()
        self._run: Run | None = None
        self._between = BetweenRuns()
        self._run_until = 0.0
        self._stop: Stop | None = None  # what is due for it
        self._leaving: Timer | None = None
        self._put_back = ""  # the execution that had another turn last
        self._runs = 0
        self._executions = 0
        self._failed_starts = 0
        self._trouble: str | None = None  # why there is none
        self._oom_kills = cgroup.oom_kills()
        self._process: KernelProcess | None = None
        self._on_purpose: str | None = None
        self.lost: str | None = None  # what the next run is told of variables that were lost while nothing ran
        self._replaced: list[Callable[[], None]] = []
        self.state = DEAD
        self._start()

    @property
    def name(self) -> str:
        """As events call it."""
        return f"{self.language}/{self.session}"

    def describe(self) -> dict[str, Any]:
        """The kernel as ``hello`` and ``list`` tell it."""
        return {
            "language": self.language,
            "session": self.session,
            "state": self.state,
            "used": self.used,
            "executions": self._executions,
            "uptime_s": round(self._place.loop.clock() - self._started_at, 3),
            "python_env": None if self.env is None else self.env.name,
            "trouble": self._trouble,
            **({} if self.label is None else {"label": self.label}),
        }

    @property
    def is_waiting(self) -> bool:
        """True if nothing ever ran in it, and what comes next can."""
        return (
            not self.used and self._on_purpose is None and self.state in (STARTING, IDLE) and self._process is not None
        )

    def configure(self, variables: dict[str, str]) -> None:
        """Be a sandbox's from now on: nothing has run in it, and the first run finds these variables."""
        self._started_at = self._place.loop.clock()
        if self._process is not None:
            self._process.put_variables(variables)

    def serve(self, session: str, tell: Tell) -> None:
        """Serve a session, and have its events told: until now nobody was told that this kernel is there."""
        self.session, self._tell, self._started_at = session, tell, self._place.loop.clock()
        self._tell(self.name, {"event": "starting"})
        if self.state == IDLE:
            self._tell(self.name, {"event": "ready"})

    def discard(self) -> None:
        """End it, and tell nobody: another takes its place."""
        self._tell = lambda _name, _event: None
        self.close(lambda: None)

    def execution_of(self, mark: int) -> str | None:
        """What runs now, if the processes of this kernel bear that mark."""
        ours = self._process is not None and self._process.mark == mark
        return self._run.execution.id if ours and self._run is not None else None

    def become(self, session: str) -> None:
        """Serve another session from now on."""
        self._tell(self.name, {"event": "taken"})
        self.session = session
        self._tell(self.name, {"event": "ready" if self.state == IDLE else "starting"})

    def check_room(self, *, wait_kernel: bool) -> None:
        """Raise Problem if another execution would be refused."""
        if self._queue.full:
            raise Problem("rejected", f"{QUEUE} executions wait for kernel {self.name} already; try again later")
        if self.state not in (IDLE, BUSY) and not wait_kernel:
            raise Problem("rejected", f"kernel {self.name} is {self.state}; try again, or with wait_kernel true")

    def submit(self, execution: Execution, request: Execute) -> None:
        """Queue an execution; it runs at once if nothing is before it."""
        self.used = True
        self.label = request.label or self.label
        execution.position = self.position
        execution.waits_s = self.waits_s
        self._queue.add(execution, request)
        if self.state == DEAD:
            self._failed_starts = 0
            self._start()
        self._next()

    def position(self, execution: Execution) -> int:
        """How many executions are before this one; 0 for one that runs."""
        ahead = self._queue.ahead_of(execution)
        return 0 if ahead is None else ahead + (0 if self._run is None else 1)

    def waits_s(self, execution: Execution) -> float:
        """How long the executions before this one may still take at most."""
        running = 0.0 if self._run is None else max(0.0, self._run_until - self._place.loop.clock()) + INTERRUPT_GRACE_S
        return running + self._queue.seconds_before(execution)

    def interrupt(self) -> list[str]:
        """Interrupt what runs now; what waits behind it stays."""
        run = self._run
        return [run.execution.id] if run is not None and self._interrupt_run(run) else []

    def reset(self, done: Callable[[], None]) -> None:
        """End the process and start afresh; ``done`` is called when the new one answers, or cannot be started."""
        self._replaced.append(done)
        self._end("reset")

    def close(self, done: Callable[[], None]) -> None:
        """End the process for good; ``done`` is called when it is gone."""
        self._replaced.append(done)
        self._end("closed")

    def cut_off(self, refusal: str) -> None:
        """Close it at once, whatever runs or waits in it; the answer to those is the refusal."""
        self._queue.fail(outcome.not_begun(refusal))
        if self._run is not None:
            self._run.stop_asked = True
            self._run.verdict = lambda _: outcome.cut_off(refusal)
        self.close(lambda: None)

    def _end(self, how: str) -> None:
        self._on_purpose = how if self._on_purpose != "closed" else "closed"
        # What is asked from now on is for the fresh kernel.
        self._queue.fail(outcome.never_ran(f"the session was {self._on_purpose}"))
        if self._process is not None:
            self._process.kill(is_idle=self._run is None)
        else:
            self._begin_anew()

    # From the process.

    def kernel_ready(self) -> None:
        """The process answers."""
        if self._on_purpose is not None:
            return  # the last word of one that was killed meanwhile
        self.state = IDLE
        self._tell(self.name, {"event": "ready"})
        self._tell_replaced()
        self._next()

    def kernel_said(self, message: Message) -> None:
        """A message; what belongs to no run, or to one that is over, is kept for the next answer."""
        run = self._run
        if run is None or message.parent_id != run.msg_id:
            self._between.hear(message)
            return
        self._between.tell(run.execution.write)
        run.hear(message)
        if run is self._run and run.execution.congested and self._process is not None:
            self._process.hold()

    def kernel_lost_output(self) -> None:
        """Tell the run that is on; between two runs the loss is not reported."""
        if self._run is not None:
            self._run.lose_output()

    def kernel_ended(self, ending: Ending) -> None:
        """The process is gone: answer who waited, tell everybody, start afresh."""
        out_of_memory = ending.heap_full or (ending.signal == _SIGKILL and self._cgroup.oom_kills() > self._oom_kills)
        process, self._process = self._process, None
        self.state = DEAD
        if self._leaving is not None:
            self._leaving.cancel()
        about = {"event": "oom" if out_of_memory else "died", "signal": ending.signal, "exit_code": ending.exit_code}
        self._tell(self.name, about)
        memory = self._cgroup.memory() if out_of_memory else None
        # Before a fresh kernel needs it: when memory ended, this may be where it is.
        self._place.belongings.release(self)
        if self._on_purpose is not None:
            self._begin_anew()
            return
        if process is not None and self._run is not None:
            self._give_another_turn(self._run, process)
        if self._run is not None:
            self._between.tell(self._run.execution.write)
            self._run.bury(ending, memory)
            self._queue.fail(outcome.never_ran("the kernel ended"))
        elif self._executions:
            self.lost = outcome.lost_before(
                ending.signal, ending.exit_code, out_of_memory=out_of_memory, deaf=ending.deaf
            )
        else:
            self._failed_starts += 1
        if self._failed_starts < _START_ATTEMPTS:
            self._start()
        elif memory is not None:
            self._give_up(outcome.no_memory_to_start(memory))
        else:
            self._give_up(outcome.no_kernel(ending.reason))

    def _give_another_turn(self, run: Run, process: KernelProcess) -> None:
        """Have a run that had not begun wait for the fresh kernel, once: it may itself be what the kernel dies of."""
        if run.stop_asked or run.put_back is None or process.has_begun(run.msg_id):
            return
        self._forget_run(run)
        self._executions -= 1
        self.lost = run.lost_before
        self._put_back = run.execution.id
        run.put_back()

    def _leave(self, process: KernelProcess) -> None:
        """The code asked its kernel to end: it does so a little later, in order, and must take nothing more."""
        self.state = STARTING
        self._leaving = self._place.loop.call_in(INTERRUPT_GRACE_S, process.kill)

    def _begin_anew(self) -> None:
        """The process is gone because a caller wanted it."""
        how, self._on_purpose = self._on_purpose or "reset", None
        self._between = BetweenRuns()
        self.lost = None
        if self._run is not None:
            self._done(outcome.ended_on_purpose(how))
        if how == "closed":
            self._tell_replaced()
        else:
            self._failed_starts = 0
            self._start()

    def _tell_replaced(self) -> None:
        waiting, self._replaced = self._replaced, []
        for done in waiting:
            done()

    def _start(self) -> None:
        self.state = STARTING
        self._started_at = self._place.loop.clock()
        self._executions = 0
        self._trouble = None
        self._oom_kills = self._cgroup.oom_kills()
        self._tell(self.name, {"event": "starting"})
        try:
            self._process = self._make(self._place, self)
        except OSError as error:
            self.state = DEAD
            self._give_up(outcome.no_kernel(str(error)))

    def _give_up(self, ended: Outcome) -> None:
        self._trouble = ended.message
        self._tell(self.name, {"event": "given_up"})
        self._queue.fail(ended)
        self._tell_replaced()

    def _next(self) -> None:
        if self.state != IDLE or self._on_purpose is not None or self._process is None or not self._process.alive:
            return
        self._failed_starts = 0
        if not self._queue:
            return
        execution, request = self._queue.take()
        self._runs += 1
        self._executions += 1
        self.state = BUSY
        run = self._run = Run(f"run-{self._runs}", execution, self._place.loop, self._done)
        run.lost_before, self.lost = self.lost, None
        if execution.id != self._put_back:
            run.put_back = lambda: self._queue.put_back(execution, request)
        execution.interrupt = lambda: self._interrupt_run(run)
        execution.resume = self._process.release
        execution.start()
        # Before the code can make or use up anything.
        self._place.belongings.begin(self)
        self._oom_kills = self._cgroup.oom_kills()
        self._process.execute(run.msg_id, request)
        self._run_until = self._place.loop.clock() + request.timeout_s
        self._stop = Stop(run, self._process, self._place.loop)
        self._stop.ask_in(request.timeout_s, lambda ended: outcome.timed_out(request.timeout_s, ended))

    def _interrupt_run(self, run: Run) -> bool:
        if run is not self._run or self._stop is None:
            return False
        self._stop.ask(outcome.interrupted)
        return True

    def _forget_run(self, run: Run) -> None:
        self._run = None
        self._place.belongings.end(self)
        if self._stop is not None:
            self._stop.cancel()
        run.close()

    def _done(self, ended: Outcome) -> None:
        run = self._run
        if run is None:
            return
        self._forget_run(run)
        if self.state == BUSY:
            self.state = IDLE
        if self._process is not None:
            self._process.release()
            if run.exit_asked:
                self._leave(self._process)
            elif run.idle_lost:
                self.state = STARTING
                self._process.resubscribe()
        done = run.verdict(ended)
        memory = self._cgroup.shortage(self._oom_kills) if done.status != outcome.OOM_KILLED else None
        run.execution.warn(
            run.lost_before,
            None if memory is None else outcome.killed_beside(memory),
            belongings.full() if done.status in (outcome.ERROR, outcome.KERNEL_DIED) else None,
            None if run.execution.warning else outcome.crowded(done, self._place.children.most),
        )
        run.execution.finish(done._replace(kernel_restarted=True) if run.lost_before else done)
        self._next()
