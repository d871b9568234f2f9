"""Calls of shared servers, on their way to gateways: what bounds them, and what gives their places back."""

import json
from typing import Any

import pytest
from mcp_shared import KINDS

from sandglass_supervisor import limits
from sandglass_supervisor.link.calls import Calls
from sandglass_supervisor.link.wire import Problem, Returned
from sandglass_supervisor.loop import Loop
from sandglass_supervisor.mcp_servers.budget import Budget
from sandglass_supervisor.mcp_servers.requests import Call, CallProblem
from sandglass_supervisor.mcp_servers.shared_servers import SharedServers, Withdraw

GATEWAY = b"gateway"
RESULT = b'{"content":[]}'


class Asked:
    """Shared servers whose calls come to a list instead of a gateway."""

    def __init__(self, budget: int = limits.MCP_WAITING_BYTES) -> None:
        self.now = 100.0
        self.loop = Loop(lambda: self.now)
        self.sent: list[list[bytes]] = []
        self.calls = Calls(self.loop, self._send)
        self.calls.offer(GATEWAY, frozenset(KINDS))
        self.budget = Budget(budget)
        self.shared = SharedServers(self.calls, lambda _: (), self.budget)
        self.answers: list[Any] = []

    def _send(self, _: bytes, frames: list[bytes]) -> bool:
        self.sent.append(frames)
        return True

    def call(self, server: str = "github", timeout_s: float | None = None, **arguments: Any) -> Withdraw:
        call = Call(server, "add", arguments, timeout_s)
        return self.shared.call("e-1", call, self.answers.append)

    def refusal(self, **arguments: Any) -> tuple[str, str]:
        with pytest.raises(CallProblem) as refused:
            self.call(**arguments)
        return refused.value.kind, str(refused.value)

    def give(self, index: int, value: Any, blob: bytes = b"") -> None:
        self.calls.returned(GATEWAY, Returned(self.sent[index][1], value, blob))

    def kinds(self) -> list[str]:
        return [answer.kind for answer in self.answers if isinstance(answer, CallProblem)]

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.loop.call_in(0.0, self.loop.stop)
        self.loop.run_once()


def test_names_and_arguments_cross_and_nothing_else() -> None:
    asked = Asked()
    asked.call(timeout_s=5, word="é")
    asked.call()
    letter, _, said, blob = asked.sent[0]
    arguments = {"server": "github", "tool": "add", "timeout_s": 5}
    assert (letter, blob) == (b"T", '{"word":"é"}'.encode())
    assert json.loads(said) == {"kind": "tool_call", "execution_id": "e-1", "arguments": arguments}
    assert json.loads(asked.sent[1][2])["arguments"]["timeout_s"] == limits.TIMEOUT_MAX_S
    asked.give(0, {}, RESULT)
    assert asked.answers == [RESULT]


def test_32_calls_of_a_server_at_once_and_one_too_many() -> None:
    asked = Asked()
    cancels = [asked.call() for _ in range(limits.MCP_CALLS)]
    kind, words = asked.refusal()
    assert (kind, words) == ("too_many", "32 calls of server 'github' wait for answers; wait for one")
    asked.call("other")
    cancels[0]()
    assert asked.kinds() == ["cancelled"]
    asked.call()
    assert asked.refusal()[0] == "too_many"
    asked.give(1, {}, RESULT)
    asked.call()


def test_calls_of_several_servers_wait_for_each_other() -> None:
    asked = Asked()
    for index in range(3 * limits.MCP_CALLS):
        asked.call(f"s{index % 3}")
    assert len(asked.sent) == limits.CALLS_OF_EXECUTION
    for index in range(3 * limits.MCP_CALLS):
        asked.give(index, {}, RESULT)
    assert asked.answers == [RESULT] * 3 * limits.MCP_CALLS


def test_the_bytes_of_calls_that_wait_are_bounded() -> None:
    asked = Asked(budget=100)
    asked.call(word="x" * 89)
    assert asked.budget.taken == 100
    assert asked.refusal()[0] == "too_many"
    asked.give(0, Problem("failed", "no"))
    assert asked.budget.taken == 0
    asked.call(word="x" * 89)
    assert asked.kinds() == ["failed"]


def test_arguments_at_the_bound_and_one_byte_above() -> None:
    asked = Asked()
    asked.call(word="x" * (limits.BLOB_BYTES - 11))
    kind, words = asked.refusal(word="x" * (limits.BLOB_BYTES - 10))
    assert (kind, "8388609 bytes as JSON; at most 8388608" in words) == ("bad_request", True)
    assert asked.refusal(word=float("nan"))[0] == "bad_request"


def test_a_call_that_takes_too_long_is_withdrawn() -> None:
    asked = Asked()
    asked.call(timeout_s=5)
    asked.pass_time(5.1)
    assert [str(answer) for answer in asked.answers] == ["no answer within 5 s; give timeout_s for another limit"]
    assert asked.sent[-1] == [b"X", b"1"]
    asked.give(0, {}, RESULT)
    assert len(asked.answers) == 1


def test_without_a_gateway_the_call_says_so_after_its_patience() -> None:
    asked = Asked()
    asked.calls.forget(GATEWAY)
    asked.call()
    asked.shared.servers("e-1", asked.answers.append)
    asked.pass_time(limits.MCP_GATEWAY_S - 0.1)
    assert asked.answers == []
    asked.pass_time(0.2)
    assert asked.kinds() == ["no_gateway"] * 2
    words = "those that sandboxes share are reached by way of a gateway, and none was there for 10 s"
    assert [str(answer) for answer in asked.answers] == [words] * 2


def test_the_end_of_the_gateway_and_of_the_execution() -> None:
    asked = Asked()
    asked.call()
    asked.call()
    asked.calls.forget(GATEWAY)
    assert asked.kinds() == ["unreachable"] * 2
    assert "is gone; whether the call was carried out is not known" in str(asked.answers[0])
    asked.calls.offer(GATEWAY, frozenset(KINDS))
    asked.call()
    asked.calls.end("e-1")
    assert asked.kinds()[2:] == ["cancelled"]
    assert asked.sent[-1] == [b"X", b"3"]
    assert asked.budget.taken == 0


def test_tools_and_servers_are_asked_for() -> None:
    asked = Asked()
    asked.shared.tools("e-1", "github", asked.answers.append)
    asked.shared.servers("e-1", asked.answers.append)
    asked.give(0, {}, b'{"tools":[{"name":"a","inputSchema":{}}]}')
    asked.give(1, {"servers": [{"name": "github"}]})
    tools, notes = asked.answers[0]
    assert ([tool.name for tool in tools], notes) == (["a"], [])
    assert asked.answers[1] == [{"name": "github", "state": "", "shared": True, "tools": []}]
