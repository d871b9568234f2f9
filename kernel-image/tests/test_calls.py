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


def test_a_question_is_asked_again_when_its_gateway_is_gone(gateways: Gateways) -> None:
    question = PATIENT._replace(question=True)
    gateways.ask(question)
    asked = gateways.sent[-1][1]
    gateways.gone.add(ONE)
    gateways.calls.forget(ONE)
    assert gateways.answers == []
    gateways.calls.offer(TWO, frozenset({"tool"}))
    gateways.pass_time(0.0)
    assert gateways.sent[-1] == (TWO, asked)
    gateways.calls.returned(ONE, Returned(b"1", {"text": "late"}, b""))
    gateways.calls.returned(TWO, Returned(b"1", {"text": "hi"}, b""))
    assert gateways.answers == [({"text": "hi"}, b"")]
    assert gateways.calls.stray == 1


def test_a_question_whose_gateways_are_all_gone_is_not_asked_forever(gateways: Gateways) -> None:
    gateways.calls.offer(TWO, frozenset({"tool"}))
    gateways.ask(PATIENT._replace(question=True))
    for peer in (TWO, ONE):
        gateways.gone.add(peer)
        gateways.calls.forget(peer)
    gateways.pass_time(10.1)
    assert gateways.problems() == ["no_gateway"]
    assert len(gateways.calls) == 0


def test_a_question_that_ends_with_another_call_of_its_gateway_is_not_asked_again(gateways: Gateways) -> None:
    gateways.calls.offer(TWO, frozenset({"tool"}))
    gateways.calls.ask(PATIENT, (ONE,), lambda _value, _blob=b"": gateways.calls.end("e-1"))
    gateways.ask(PATIENT._replace(question=True), readers=(ONE,))
    gateways.gone.add(ONE)
    gateways.calls.forget(ONE)
    assert gateways.problems() == ["execution_ended"]
    assert [peer for peer, frames in gateways.sent if frames[0] == b"T"] == [ONE, ONE]
    assert len(gateways.calls) == 0


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


PATIENT = Call("tool", "e-1", {}, 100.0, patience_s=10.0)
DECLINED = Problem("unknown_kind", "this gateway answers no 'tool' calls now")


def test_a_call_that_a_gateway_declines_goes_to_another(gateways: Gateways) -> None:
    gateways.calls.offer(TWO, frozenset({"tool"}))
    gateways.ask(Call("tool", "e-1", {"name": "é"}, 10.0, b"\0blob"), readers=(ONE,))
    gateways.calls.returned(ONE, Returned(b"1", DECLINED, b""))
    assert [peer for peer, _ in gateways.sent] == [ONE, TWO]
    assert gateways.sent[0][1] == gateways.sent[1][1]
    gateways.calls.returned(ONE, Returned(b"1", {"text": "too late"}, b""))
    gateways.calls.returned(TWO, Returned(b"1", {"text": "hi"}, b""))
    assert gateways.answers == [({"text": "hi"}, b"")]
    gateways.ask(readers=(ONE,))
    assert gateways.sent[-1][0] == TWO
    gateways.calls.offer(ONE, frozenset({"tool"}))
    gateways.ask(readers=(ONE,))
    assert gateways.sent[-1][0] == ONE


def test_a_declined_call_keeps_what_a_gateway_has_under_way(gateways: Gateways) -> None:
    gateways.ask()
    gateways.ask()
    gateways.calls.returned(ONE, Returned(b"2", DECLINED, b""))
    assert gateways.problems() == ["no_gateway"]
    gateways.calls.returned(ONE, Returned(b"1", {"text": "hi"}, b""))
    assert gateways.answers[-1] == ({"text": "hi"}, b"")


def test_a_declined_call_waits_for_another_gateway_with_all_its_patience(gateways: Gateways) -> None:
    for _ in range(limits.CALLS_OF_EXECUTION + 1):
        gateways.ask(PATIENT)
    gateways.pass_time(8.0)  # the last one waits for room
    gateways.calls.returned(ONE, Returned(b"1", {}, b""))
    gateways.calls.returned(ONE, Returned(b"%x" % (limits.CALLS_OF_EXECUTION + 1), DECLINED, b""))
    gateways.pass_time(9.0)
    assert gateways.problems() == []
    gateways.pass_time(1.1)
    assert gateways.problems() == ["no_gateway"]


def test_declined_calls_have_no_place_of_those_under_way(gateways: Gateways) -> None:
    for _ in range(limits.CALLS_OF_EXECUTION):
        gateways.ask(PATIENT)
    for index in range(limits.CALLS_OF_EXECUTION):
        gateways.calls.returned(ONE, Returned(b"%x" % (index + 1), DECLINED, b""))
    gateways.calls.offer(TWO, frozenset({"tool"}))
    gateways.pass_time(0.0)
    assert [peer for peer, _ in gateways.sent].count(TWO) == limits.CALLS_OF_EXECUTION
    gateways.calls.end("e-1")
    assert len(gateways.calls) == 0
    gateways.ask()
    assert gateways.sent[-1][0] == TWO


def test_a_call_that_every_gateway_declines_ends(gateways: Gateways) -> None:
    gateways.calls.offer(TWO, frozenset({"tool"}))
    gateways.ask()
    gateways.calls.returned(TWO, Returned(b"1", DECLINED, b""))
    gateways.calls.returned(ONE, Returned(b"1", DECLINED, b""))
    assert gateways.problems() == ["no_gateway"]
    assert len(gateways.sent) == 2


def test_a_patient_call_waits_for_a_gateway_that_answers_its_kind(gateways: Gateways) -> None:
    gateways.calls.offer(ONE, frozenset({"other"}))
    gateways.ask(PATIENT)
    gateways.pass_time(9.9)
    assert gateways.answers == []
    assert gateways.sent == []
    gateways.calls.offer(TWO, frozenset({"tool"}))
    # Its hello is answered first: a gateway takes nothing before.
    assert gateways.sent == []
    gateways.pass_time(0.0)
    assert [(peer, frames[0]) for peer, frames in gateways.sent] == [(TWO, b"T")]
    gateways.pass_time(20.0)
    gateways.calls.returned(TWO, Returned(b"1", {}, b""))
    assert gateways.answers == [({}, b"")]


def test_patience_has_an_end(gateways: Gateways) -> None:
    gateways.calls.forget(ONE)
    gateways.ask(PATIENT)
    gateways.ask(PATIENT._replace(timeout_s=5.0))
    gateways.pass_time(5.1)
    assert gateways.problems() == ["timeout"]
    gateways.pass_time(5.0)
    assert gateways.problems() == ["timeout", "no_gateway"]
    gateways.calls.offer(ONE, frozenset({"tool"}))
    gateways.pass_time(0.0)
    assert gateways.sent == []
    assert len(gateways.calls) == 0


def test_patient_calls_wait_for_room_as_long_as_there_is_a_gateway(gateways: Gateways) -> None:
    for _ in range(limits.CALLS_OF_EXECUTION + 1):
        gateways.ask(PATIENT)
    assert len(gateways.sent) == limits.CALLS_OF_EXECUTION
    gateways.ask(PATIENT._replace(execution_id="e-2"))
    assert len(gateways.sent) == limits.CALLS_OF_EXECUTION + 1
    gateways.pass_time(30.0)
    assert gateways.answers == []
    gateways.calls.returned(ONE, Returned(b"3", {}, b""))
    assert gateways.sent[-1][1][1] == b"%x" % (limits.CALLS_OF_EXECUTION + 1)
    for index in range(limits.CALLS):
        gateways.ask(PATIENT._replace(execution_id=f"e-{3 + index % 4}"))
    assert len(gateways.sent) == limits.CALLS + 1
    gateways.calls.end("e-1")
    # Of 98 calls 33 are answered, 64 under way, and one waits.
    assert len([frames for _, frames in gateways.sent if frames[0] == b"T"]) == 97
    gateways.calls.forget(ONE)
    gateways.pass_time(10.1)
    assert gateways.problems().count("gateway_lost") == limits.CALLS
    assert gateways.problems().count("no_gateway") == 1


def test_so_many_calls_wait_at_most(gateways: Gateways) -> None:
    for _ in range(limits.CALLS_OF_EXECUTION + limits.CALLS_WAITING):
        gateways.ask(PATIENT)
    assert gateways.answers == []
    gateways.ask(PATIENT)
    gateways.ask(Call("tool", "e-1", {}, 10.0))
    assert gateways.problems() == ["too_many_calls"] * 2


def test_a_call_that_is_given_up_is_withdrawn_once(gateways: Gateways) -> None:
    gateways.ask(PATIENT)
    gateways.calls.withdraw(b"1", Problem("cancelled", "no more"))
    gateways.calls.withdraw(b"1", Problem("cancelled", "no more"))
    gateways.calls.returned(ONE, Returned(b"1", {}, b""))
    assert gateways.problems() == ["cancelled"]
    assert [frames[0] for _, frames in gateways.sent] == [b"T", b"X"]
    gateways.calls.forget(ONE)
    gateways.ask(PATIENT)
    gateways.calls.withdraw(b"2", Problem("cancelled", "no more"))
    assert gateways.problems() == ["cancelled"] * 2
    assert len(gateways.sent) == 2  # the gateway never had it
