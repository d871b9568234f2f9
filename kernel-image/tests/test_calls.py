"""Calls from the pod to gateways: who is asked, what bounds them, and that each is answered exactly once."""

from typing import Any

import pytest

from sandglass_supervisor import limits
from sandglass_supervisor.link import arguments, wire
from sandglass_supervisor.link.calls import Call, Calls
from sandglass_supervisor.link.wire import Malformed, Problem, Returned
from sandglass_supervisor.loop import Loop

ONE, TWO = b"gateway-1", b"gateway-2"


class Gateways:
    """Takes what is sent, in the place of sockets; those that are gone take nothing."""

    def __init__(self) -> None:
        self.now = 100.0
        self.loop = Loop(lambda: self.now)
        self.sent: list[tuple[bytes, list[bytes]]] = []
        self.gone: set[bytes] = set()
        self.calls = Calls(self.loop, self._send)
        self.answers: list[tuple[Any, bytes]] = []

    def _send(self, peer: bytes, frames: list[bytes]) -> bool:
        if peer in self.gone:
            return False
        self.sent.append((peer, frames))
        return True

    def ask(self, call: Call | None = None, readers: tuple[bytes, ...] = ()) -> None:
        self.calls.ask(call or Call("tool", "e-1", {"name": "é"}, 10.0), readers, self._answer)

    def _answer(self, value: Any, blob: bytes = b"") -> None:
        self.answers.append((value, blob))

    def problems(self) -> list[str]:
        return [value.code for value, _ in self.answers if isinstance(value, Problem)]

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        # A round waits for what is due, and runs it.
        self.loop.call_in(0.0, self.loop.stop)
        self.loop.run_once()


@pytest.fixture
def gateways() -> Gateways:
    found = Gateways()
    found.calls.offer(ONE, frozenset({"tool"}))
    return found


def test_a_call_is_answered_by_the_gateway_that_was_asked(gateways: Gateways) -> None:
    gateways.ask(Call("tool", "e-1", {"name": "é"}, 10.0, b"\0blob"))
    [(peer, frames)] = gateways.sent
    assert peer == ONE
    said = b'{"kind":"tool","execution_id":"e-1","arguments":{"name":"\\u00e9"}}'
    assert frames == [b"T", b"1", said, b"\0blob"]
    gateways.calls.returned(ONE, Returned(b"1", {"text": "hi"}, b"more"))
    gateways.calls.returned(ONE, Returned(b"1", {"text": "again"}, b""))
    assert gateways.answers == [({"text": "hi"}, b"more")]
    assert gateways.calls.stray == 1
    assert len(gateways.calls) == 0


def test_another_gateway_cannot_answer_in_its_place(gateways: Gateways) -> None:
    gateways.ask()
    gateways.calls.returned(TWO, Returned(b"1", {"text": "forged"}, b""))
    gateways.calls.returned(ONE, Returned(b"7", {"text": "never asked"}, b""))
    assert gateways.answers == []
    assert gateways.calls.stray == 2


def test_a_problem_is_an_answer(gateways: Gateways) -> None:
    gateways.ask()
    said = wire.decode([b"U", b"1", b'{"error":{"code":"not_allowed","message":"no such server"}}'])
    assert isinstance(said, Returned)
    gateways.calls.returned(ONE, said)
    assert gateways.problems() == ["not_allowed"]


def test_who_reads_the_execution_is_asked_before_others(gateways: Gateways) -> None:
    gateways.calls.offer(TWO, frozenset({"tool", "other"}))
    gateways.ask(readers=(ONE,))
    gateways.ask()
    assert [peer for peer, _ in gateways.sent] == [ONE, TWO]


def test_a_gateway_that_is_gone_is_passed_over(gateways: Gateways) -> None:
    gateways.calls.offer(TWO, frozenset({"tool"}))
    gateways.gone = {TWO}
    gateways.ask(readers=(TWO,))
    assert [peer for peer, _ in gateways.sent] == [ONE]
    gateways.gone = {ONE, TWO}
    gateways.ask()
    assert gateways.problems() == ["no_gateway"]


def test_without_a_gateway_that_answers_the_kind_nothing_waits(gateways: Gateways) -> None:
    gateways.ask(Call("unheard_of", "e-1", {}, 10.0))
    gateways.calls.offer(ONE, frozenset())
    gateways.ask()
    assert gateways.problems() == ["no_gateway", "no_gateway"]
    assert "'unheard_of'" in str(gateways.answers[0][0])
    assert gateways.sent == []


def test_a_call_ends_with_its_execution_and_is_withdrawn(gateways: Gateways) -> None:
    gateways.ask()
    gateways.ask(Call("tool", "e-2", {}, 10.0))
    gateways.calls.end("e-1")
    gateways.calls.end("e-1")
    assert gateways.problems() == ["execution_ended"]
    assert gateways.sent[-1] == (ONE, [b"X", b"1"])
    assert len(gateways.calls) == 1


def test_a_call_ends_with_its_gateway(gateways: Gateways) -> None:
    gateways.calls.offer(TWO, frozenset({"tool"}))
    gateways.ask(readers=(ONE,))
    gateways.ask(readers=(TWO,))
    gateways.calls.forget(ONE)
    assert gateways.problems() == ["gateway_lost"]
    gateways.ask(readers=(ONE,))
    assert gateways.sent[-1][0] == TWO


def test_a_call_ends_with_its_time(gateways: Gateways) -> None:
    gateways.ask()
    gateways.pass_time(9.0)
    assert gateways.answers == []
    gateways.pass_time(1.1)
    assert gateways.problems() == ["timeout"]
    assert gateways.sent[-1] == (ONE, [b"X", b"1"])
    gateways.calls.returned(ONE, Returned(b"1", {}, b""))
    assert len(gateways.answers) == 1


def test_calls_of_an_execution_and_of_all_are_bounded(gateways: Gateways) -> None:
    for _ in range(limits.CALLS_OF_EXECUTION + 1):
        gateways.ask()
    assert gateways.problems() == ["too_many_calls"]
    for index in range(limits.CALLS - limits.CALLS_OF_EXECUTION + 1):
        gateways.ask(Call("tool", f"e-{2 + index % 2}", {}, 10.0))
    assert gateways.problems() == ["too_many_calls"] * 2
    assert len(gateways.calls) == limits.CALLS


def test_the_size_of_a_call_is_bounded(gateways: Gateways) -> None:
    room = limits.JSON_BYTES - len(wire.call(b"1", "tool", "e-1", {"text": ""})[2])
    gateways.ask(Call("tool", "e-1", {"text": "x" * room}, 10.0, b"x" * limits.BLOB_BYTES))
    assert gateways.problems() == []
    gateways.ask(Call("tool", "e-1", {"text": "x" * (room + 1)}, 10.0))
    gateways.ask(Call("tool", "e-1", {}, 10.0, b"x" * (limits.BLOB_BYTES + 1)))
    assert gateways.problems() == ["too_large"] * 2
    assert len(gateways.sent) == 1


@pytest.mark.parametrize(
    "frames",
    [
        [b"U"],
        [b"U", b"1"],
        [b"U", b"1", b"{}", b"", b""],
        [b"U", b"", b"{}"],
        [b"U", b"a b", b"{}"],
        [b"U", b"x" * (limits.REQUEST_ID_BYTES + 1), b"{}"],
        [b"U", b"1", b"[]"],
        [b"U", b"1", b'{"n":NaN}'],
        [b"U", b"1", b'{"error":{"code":7,"message":"x"}}'],
        [b"U", b"1", b'{"error":{"code":"x"}}'],
        [b"U", b"1", b"{}", b"x" * (limits.BLOB_BYTES + 1)],
        [b"U", b"1", b'{"x":"' + b"x" * limits.JSON_BYTES + b'"}'],
    ],
)
def test_answers_that_are_none_are_dropped(frames: list[bytes]) -> None:
    assert isinstance(wire.decode(frames), Malformed)


def test_kinds_of_a_hello_are_checked() -> None:
    most = [f"k{index}" for index in range(limits.CALL_KINDS)]
    assert arguments.parse_call_kinds({}) == frozenset()
    assert arguments.parse_call_kinds({"calls": most}) == frozenset(most)
    for odd in ("tool", [*most, "more"], [7], [""], ["Tool"], ["a" * (limits.NAME_BYTES + 1)], ["a\n"]):
        with pytest.raises(Problem, match=r"^calls: "):
            arguments.parse_call_kinds({"calls": odd})
