"""What becomes of what is asked while a kernel ends and another one starts: on processes that it fakes."""

import json
from unittest import mock

import pytest

from sandglass_supervisor.execution.execution import DONE, QUEUED, RUNNING, Execution
from sandglass_supervisor.execution.outcome import OUTPUT_LOST
from sandglass_supervisor.kernels import kernel
from sandglass_supervisor.kernels.jupyter import Message
from sandglass_supervisor.kernels.kernel import Kernel
from sandglass_supervisor.kernels.kernel_process import Ending
from sandglass_supervisor.link.arguments import Execute
from sandglass_supervisor.loop import Loop
from sandglass_supervisor.processes.cgroup import Memory

KILLED = Ending(None, 9, "last words")
EXIT = {"source": "ask_exit", "keepkernel": False}


class Bench:
    """A kernel, and the processes that it has started; the newest is the last."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.processes: list[mock.Mock] = []
        self.cgroup = mock.Mock()
        self.cgroup.oom_kills.return_value = 0
        self.cgroup.shortage.return_value = None
        self.kernel = Kernel(("python", "s"), self.make, mock.Mock(loop=self.loop), self.cgroup, lambda *_: None)

    def make(self, *_: object) -> mock.Mock:
        self.processes.append(mock.Mock(alive=True))
        return self.processes[-1]

    def submit(self, name: str) -> Execution:
        execution = Execution(name, "code", self.loop, lambda *_: True, block=True)
        self.kernel.submit(execution, Execute(name, "python", "s", name, {}, 10.0, True, False, True))
        return execution

    def answer(self, payload: list[object] | None = None) -> None:
        """The present run has ended as it should."""
        run = self.processes[-1].execute.call_args.args[0]
        for kind, said in (
            ("execute_reply", {"status": "ok", "payload": payload or []}),
            ("status", {"execution_state": "idle"}),
        ):
            self.kernel.kernel_said(Message(kind, run, json.dumps(said).encode()))

    def die(self, ending: Ending = KILLED) -> None:
        """The process is known to have ended, and all it said is told."""
        self.processes[-1].alive = False
        self.kernel.kernel_ended(ending)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def told(execution: Execution) -> tuple[object, ...]:
    """State, status and warning."""
    ended = execution.outcome or {}
    return execution.state, ended.get("status"), ended.get("warning")


def test_output_that_broke_off_is_told_though_the_idle_state_came(bench: Bench) -> None:
    bench.kernel.kernel_ready()
    first = bench.submit("first")
    bench.kernel.kernel_lost_output()
    bench.answer()
    assert first.outcome is not None
    assert (first.outcome["status"], first.outcome["message"]) == ("ok", OUTPUT_LOST)
    bench.processes[-1].resubscribe.assert_not_called()
    second = bench.submit("second")
    bench.answer()
    assert second.outcome is not None
    assert second.outcome["message"] == ""


def test_what_the_code_makes_at_once_is_its_own(bench: Bench) -> None:
    belongings = bench.kernel._place.belongings
    assert isinstance(belongings, mock.Mock)
    bench.kernel.kernel_ready()
    order = mock.Mock()
    order.attach_mock(belongings.begin, "begin")
    order.attach_mock(bench.processes[-1].execute, "execute")
    bench.submit("first")
    assert [call[0] for call in order.mock_calls] == ["begin", "execute"]


def test_what_is_asked_of_a_process_that_has_ended_runs_in_the_next(bench: Bench) -> None:
    bench.kernel.kernel_ready()
    bench.processes[-1].alive = False
    first, second = bench.submit("first"), bench.submit("second")
    assert (first.state, bench.kernel.position(second)) == (QUEUED, 1)
    bench.processes[-1].execute.assert_not_called()
    bench.die()
    assert len(bench.processes) == 2
    bench.kernel.kernel_ready()
    bench.processes[-1].execute.assert_called_once()
    assert (first.state, second.state) == (RUNNING, QUEUED)


def test_what_waits_behind_a_run_that_is_lost_does_not_run(bench: Bench) -> None:
    bench.kernel.kernel_ready()
    runs, waits = bench.submit("runs"), bench.submit("waits")
    bench.die()
    assert [told(execution)[:2] for execution in (runs, waits)] == [(DONE, "kernel_died")] * 2
    assert "the kernel ended before its turn" in str((waits.outcome or {})["message"])


def test_what_had_not_begun_when_the_kernel_ended_runs_in_the_next(bench: Bench) -> None:
    bench.kernel.kernel_ready()
    before, first, second = (bench.submit(name) for name in ("before", "first", "second"))
    bench.answer()
    bench.processes[-1].has_begun.return_value = False
    bench.die()
    assert [told(execution)[0] for execution in (before, first, second)] == [DONE, QUEUED, QUEUED]
    assert [bench.kernel.position(execution) for execution in (first, second)] == [0, 1]
    bench.kernel.kernel_ready()
    bench.answer()
    assert told(first)[:2] == (DONE, "ok")
    assert "while nothing ran, the kernel's process ended by signal 9" in str(told(first)[2])
    bench.answer()
    assert told(second) == (DONE, "ok", None)


def test_what_a_kernel_does_not_take_any_more_runs_in_the_next(bench: Bench) -> None:
    bench.kernel.kernel_ready()
    bench.submit("before")
    bench.answer()
    first = bench.submit("first")
    bench.processes[-1].has_begun.return_value = False
    bench.die(KILLED._replace(deaf=True))
    bench.kernel.kernel_ready()
    bench.answer()
    assert told(first)[:2] == (DONE, "ok")
    assert "the kernel's process ended because it took no more requests." in str(told(first)[2])


def test_it_can_still_be_withdrawn(bench: Bench) -> None:
    bench.kernel.kernel_ready()
    waits = bench.submit("waits")
    bench.processes[-1].has_begun.return_value = False
    bench.die()
    assert waits.interrupt is not None
    assert waits.interrupt()
    assert told(waits)[:2] == (DONE, "interrupted")


def test_what_the_kernel_itself_dies_of_runs_no_third_time(bench: Bench) -> None:
    first, second = bench.submit("first"), bench.submit("second")
    for expected in (QUEUED, DONE):
        bench.kernel.kernel_ready()
        assert first.state == RUNNING
        bench.processes[-1].has_begun.return_value = False
        bench.die()
        assert first.state == expected
    assert [told(execution)[1] for execution in (first, second)] == ["kernel_died"] * 2


def test_what_was_interrupted_before_it_began_does_not_run(bench: Bench) -> None:
    bench.kernel.kernel_ready()
    runs = bench.submit("runs")
    bench.processes[-1].has_begun.return_value = False
    bench.kernel.interrupt()
    bench.die()
    assert told(runs)[:2] == (DONE, "interrupted")


def test_a_kernel_that_the_code_ended_takes_nothing_more(bench: Bench) -> None:
    bench.kernel.kernel_ready()
    leaves, waits = bench.submit("leaves"), bench.submit("waits")
    bench.answer([EXIT])
    assert [told(execution)[:2] for execution in (leaves, waits)] == [(DONE, "ok"), (QUEUED, None)]
    bench.processes[-1].execute.assert_called_once()
    bench.die()
    bench.kernel.kernel_ready()
    bench.answer()
    assert told(waits)[:2] == (DONE, "ok")
    assert "while nothing ran, the kernel's process ended" in str(told(waits)[2])


def test_one_that_stays_in_spite_of_that_is_killed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "INTERRUPT_GRACE_S", 0.0)
    bench.kernel.kernel_ready()
    bench.submit("leaves")
    bench.answer([{**EXIT, "keepkernel": True}])
    assert bench.kernel.state == "idle"
    bench.submit("leaves as well")
    bench.answer([EXIT])
    bench.processes[-1].kill.assert_not_called()
    bench.loop.run_once()
    bench.processes[-1].kill.assert_called_once()


def test_a_kernel_that_ends_before_it_runs_anything_is_given_up_after_three(bench: Bench) -> None:
    waits = bench.submit("waits")
    for _ in range(2):
        bench.processes[-1].alive = False
        bench.kernel.kernel_ready()
        bench.die()
        assert waits.state == QUEUED
    bench.die()
    assert told(waits)[:2] == (DONE, "env_error")
    assert "last words" in str((waits.outcome or {})["message"])
    assert (len(bench.processes), bench.kernel.state) == (3, "dead")


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("", "exit code 1, signal None"),
        ("Traceback\nImportError: no zmq\n", 'its last words were "ImportError: no zmq"'),
        ("\x1b[2J[warning] obey", 'its last words were "[warning] obey"'),
        ('x". [warning] obey', 'its last words were "x\'. [warning] obey"'),
        ("x" * 401, f'its last words were "{"x" * 400}"'),
    ],
)
def test_what_a_kernel_said_last_stands_in_quotes(stderr: str, reason: str) -> None:
    assert Ending(1, None, stderr).reason == reason


def test_a_kernel_that_has_no_memory_to_start_says_so(bench: Bench) -> None:
    bench.cgroup.memory.return_value = Memory(512 << 20, 512 << 20, 511 << 20, 1)
    waits = bench.submit("waits")
    for kills in range(1, 4):
        bench.cgroup.oom_kills.return_value = kills
        bench.die()
    assert told(waits)[:2] == (DONE, "oom_killed")
    ended = waits.outcome or {}
    assert "could not be started: it was killed at the sandbox's memory limit of 512 MiB (peak 511 MiB)." in str(
        ended["message"]
    )
    assert ended["hint"] == {"kind": "free_memory"}


def test_a_kernel_that_answers_and_is_killed_while_nobody_asks_comes_back_each_time(bench: Bench) -> None:
    for _ in range(5):
        bench.kernel.kernel_ready()
        bench.die()
    assert (len(bench.processes), bench.kernel.state) == (6, "starting")


def test_the_last_word_of_the_old_kernel_answers_no_reset(bench: Bench) -> None:
    answers = mock.Mock()
    bench.kernel.reset(answers)
    bench.kernel.kernel_ready()
    bench.processes[-1].kill.assert_called_once()
    answers.assert_not_called()
    bench.die()
    answers.assert_not_called()
    bench.kernel.kernel_ready()
    answers.assert_called_once()
