"""Who waits for whom, with a clock of our own: executions and their readers without sockets."""

import json

from sandglass_supervisor.execution.execution import Execution
from sandglass_supervisor.execution.outcome import Outcome
from sandglass_supervisor.limits import STALL_S, WINDOW_BYTES
from sandglass_supervisor.loop import Loop


class Bench:
    def __init__(self, *, block: bool = True) -> None:
        self.now = 0.0
        self.loop = Loop(lambda: self.now)
        self.sent: list[tuple[bytes, list[bytes]]] = []
        self.gone: set[bytes] = set()
        self.resumed = 0
        self.execution = Execution("e", "code", self.loop, self.send, block=block)
        self.execution.resume = self.count
        self.execution.start()

    def send(self, peer: bytes, frames: list[bytes]) -> bool:
        self.sent.append((peer, frames))
        return peer not in self.gone

    def count(self) -> None:
        self.resumed += 1

    def write(self, size: int) -> None:
        for _ in range(size // 32768):
            self.execution.write("stdout", b"{}", b"x" * 32768)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.loop._run_timers()


def test_source_waits_for_the_slowest_reader() -> None:
    bench = Bench()
    bench.execution.attach(b"fast", 0)
    bench.execution.attach(b"slow", 0)
    bench.write(WINDOW_BYTES)
    assert bench.execution.congested
    bench.execution.acknowledge(b"fast", WINDOW_BYTES)
    assert bench.execution.congested
    bench.execution.acknowledge(b"slow", WINDOW_BYTES // 2)
    assert not bench.execution.congested
    assert bench.resumed == 1


def test_a_reader_without_progress_is_given_up_and_comes_back() -> None:
    bench = Bench()
    bench.execution.attach(b"a", 0)
    bench.execution.attach(b"b", 0)
    bench.write(2 * WINDOW_BYTES)
    bench.execution.acknowledge(b"b", 10**9)
    bench.execution.acknowledge(b"b", 10**9)
    bench.pass_time(STALL_S - 0.1)
    assert bench.execution.congested
    bench.pass_time(0.2)
    assert not bench.execution.congested
    before = len(bench.sent)
    bench.execution.acknowledge(b"a", 10**9)
    assert len(bench.sent) > before
    bench.write(2 * WINDOW_BYTES)
    assert bench.execution.congested


def test_without_readers_it_waits_when_the_journal_is_full_and_not_for_long() -> None:
    bench = Bench()
    bench.write(7 * 1024 * 1024)
    assert not bench.execution.congested
    while not bench.execution.congested:
        bench.write(65536)
    assert bench.execution.journal.end > 7.5 * 1024 * 1024
    assert bench.execution.journal.dropped == 0
    bench.pass_time(STALL_S - 0.1)
    assert bench.execution.congested
    bench.pass_time(0.2)
    assert not bench.execution.congested
    bench.write(8 * 1024 * 1024)
    assert bench.execution.journal.dropped > 0
    assert not bench.execution.congested


def test_truncate_never_waits() -> None:
    bench = Bench(block=False)
    bench.execution.attach(b"a", 0)
    bench.write(20 * 1024 * 1024)
    assert not bench.execution.congested


def test_a_reader_that_is_gone_is_forgotten() -> None:
    bench = Bench()
    bench.execution.attach(b"a", 0)
    bench.gone.add(b"a")
    bench.write(WINDOW_BYTES * 2)
    assert not bench.execution.congested
    assert len(bench.sent) == 1


def test_outcome_is_last_and_once() -> None:
    bench = Bench()
    bench.execution.attach(b"a", 0)
    bench.now += 1.25
    bench.execution.finish(Outcome("ok"))
    bench.execution.finish(Outcome("error"))
    kinds = [frames[3] for _, frames in bench.sent]
    assert kinds == [b"outcome"]
    assert json.loads(bench.sent[0][1][4])["duration_ms"] == 1250


def test_cancelled_timers_do_not_pile_up() -> None:
    loop = Loop(lambda: 0.0)
    for _ in range(10_000):
        loop.call_in(3600, lambda: None).cancel()
    assert len(loop._timers) <= 128
