"""Servers that run in other pods and that sandboxes share: code reaches them by way of a gateway.

The gateway finds by the link which sandbox asks, and so which servers it may use. It gets names and arguments, no more.
"""

from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from ..limits import (
    BLOB_BYTES,
    MCP_CALLS,
    MCP_GATEWAY_S,
    MCP_SERVERS_ASKED_S,
    MCP_TEXT_CHARS,
    MCP_TOOLS_ASKED_S,
    TIMEOUT_MAX_S,
)
from ..link import calls as link_calls
from ..link.calls import Calls
from ..link.wire import Problem, Reply
from ..shared.json_frames import Unspeakable, to_json
from ..shared.text import one_line
from . import shared_server_words
from .budget import Budget
from .requests import Call, CallProblem
from .words import Tool

SERVERS, TOOLS, CALL = "tool_servers", "tool_list", "tool_call"

Withdraw = Callable[[], None]
Read = Callable[[Reply, bytes], Any]
Answered = Callable[[bytes | CallProblem], None]
Listed = tuple[list[Tool], list[str]]


class SharedServers:
    """Asks gateways in the name of executions; ``readers`` are the gateways that read an execution's output.

    Each method returns what cancels what it asked. Its answer comes once, perhaps before the method returns.
    """

    def __init__(self, calls: Calls, readers: Callable[[str], Collection[bytes]], budget: Budget) -> None:
        self._calls = calls
        self._readers = readers
        self._budget = budget
        self._pending: Counter[str] = Counter()

    def servers(self, execution_id: str, answer: Callable[[list[dict[str, Any]] | CallProblem], None]) -> Withdraw:
        """Ask which servers there are."""

        def read(value: Reply, blob: bytes) -> list[dict[str, Any]]:
            return shared_server_words.parse_servers(value, blob)

        return self._ask(link_calls.Call(SERVERS, execution_id, {}, MCP_SERVERS_ASKED_S, question=True), read, answer)

    def tools(self, execution_id: str, server: str, answer: Callable[[Listed | CallProblem], None]) -> Withdraw:
        """Ask for the tools of a server with their schemas; one that sleeps is started for it."""

        def read(_: Reply, blob: bytes) -> Listed:
            return shared_server_words.parse_listed(blob, server)

        call = link_calls.Call(TOOLS, execution_id, {"server": server}, MCP_TOOLS_ASKED_S, question=True)
        return self._ask(call, read, answer)

    def call(self, execution_id: str, call: Call, answer: Answered) -> Withdraw:
        """Call a tool; the result is JSON. Raises CallProblem for a call that cannot be sent."""
        blob = self._arguments(call)
        seconds = TIMEOUT_MAX_S if call.timeout_s is None else call.timeout_s
        asked = {"server": call.server, "tool": call.tool, "timeout_s": seconds}

        def read(_: Reply, result: bytes) -> bytes:
            return shared_server_words.parse_result(result, call.server)

        def settle(value: bytes | CallProblem) -> None:
            self._budget.give_back(len(blob))
            self._pending.subtract((call.server,))
            if not self._pending[call.server]:
                del self._pending[call.server]
            answer(value)

        self._pending[call.server] += 1
        return self._ask(link_calls.Call(CALL, execution_id, asked, seconds, blob), read, settle)

    def _arguments(self, call: Call) -> bytes:
        """What is sent of a call, taken from the budget."""
        if self._pending[call.server] >= MCP_CALLS:
            name = one_line(call.server, MCP_TEXT_CHARS)
            raise CallProblem("too_many", f"{MCP_CALLS} calls of server {name!r} wait for answers; wait for one")
        try:
            blob = to_json(call.arguments, strict=True)
        except Unspeakable as problem:
            raise CallProblem("bad_request", f"arguments: {problem}") from None
        if len(blob) > BLOB_BYTES:
            raise CallProblem("bad_request", f"arguments: {len(blob)} bytes as JSON; at most {BLOB_BYTES} are sent")
        if not self._budget.take(len(blob)):
            words = "what waits for answers of servers is too much; wait for an answer, or send less at a time"
            raise CallProblem("too_many", words)
        return blob

    def _ask(
        self, call: link_calls.Call, read: Callable[[Reply, bytes], Any], answer: Callable[[Any], None]
    ) -> Withdraw:
        def settle(value: Reply | Problem, blob: bytes = b"") -> None:
            if isinstance(value, Problem):
                answer(_explained(value, call))
                return
            try:
                found = read(value, blob)
            except CallProblem as problem:
                answer(problem)
                return
            answer(found)

        patient = call._replace(patience_s=MCP_GATEWAY_S)
        call_id = self._calls.ask(patient, self._readers(call.execution_id), settle)
        return partial(self._calls.withdraw, call_id, Problem("cancelled", "the call was cancelled"))


def _explained(problem: Problem, call: link_calls.Call) -> CallProblem:
    """The problem as code is told of it, with what the link does not know."""
    if problem.code == shared_server_words.NO_GATEWAY:
        words = (
            f"those that sandboxes share are reached by way of a gateway, and none was there for {MCP_GATEWAY_S:g} s"
        )
        return CallProblem(problem.code, words)
    found = shared_server_words.problem_of(problem)
    if found.kind == "timeout" and call.kind == CALL:
        return CallProblem("timeout", f"{found}; give timeout_s for another limit")
    return found
