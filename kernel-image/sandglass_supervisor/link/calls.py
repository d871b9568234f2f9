"""Calls from the pod to a gateway: the way for what only a gateway may do, such as reaching another pod.

A gateway says in its hello which kinds of calls it answers. A call goes to a gateway that reads the execution's output,
else to any other that answers the kind. It is answered once: by that gateway, or with a problem that says why not. It
ends with its execution.
"""

import itertools
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..limits import BLOB_BYTES, CALLS, CALLS_OF_EXECUTION, JSON_BYTES
from ..loop import Loop, Timer
from . import wire
from .wire import Answer, Problem, Returned

Send = Callable[[bytes, list[bytes]], bool]


class Call(NamedTuple):
    """What is asked of a gateway, in the name of an execution; ``timeout_s`` counts from now."""

    kind: str
    execution_id: str
    arguments: Mapping[str, Any]
    timeout_s: float
    blob: bytes = b""


class _Waiting(NamedTuple):
    call: Call
    peer: bytes
    answer: Answer
    deadline: Timer


class Calls:
    """All calls without answer, and which gateway answers which kinds."""

    def __init__(self, loop: Loop, send: Send) -> None:
        self._loop = loop
        self._send = send
        self._kinds: dict[bytes, frozenset[str]] = {}
        self._waiting: dict[bytes, _Waiting] = {}
        self._ids = itertools.count(1)
        self.stray = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def offer(self, peer: bytes, kinds: frozenset[str]) -> None:
        """The gateway answers these kinds from now on, and no others."""
        self._kinds.pop(peer, None)
        if kinds:
            self._kinds[peer] = kinds

    def ask(self, call: Call, readers: Collection[bytes], answer: Answer) -> None:
        """Send a call; ``answer`` is called exactly once, perhaps before this returns.

        ``readers`` are the gateways that read the execution's output.
        """
        try:
            peers = self._peers(call, readers)
            frames = self._frames(call)
        except Problem as problem:
            answer(problem)
            return
        for peer in peers:
            if self._send(peer, frames):
                call_id = frames[1]
                deadline = self._loop.call_in(call.timeout_s, partial(self._expire, call_id))
                self._waiting[call_id] = _Waiting(call, peer, answer, deadline)
                return
            self._kinds.pop(peer, None)
        answer(_nobody(call.kind))

    def returned(self, peer: bytes, said: Returned) -> None:
        """A gateway answered; what it was not asked is counted and dropped."""
        waiting = self._waiting.get(said.call_id)
        if waiting is None or waiting.peer != peer:
            self.stray += 1
            return
        self._settle(said.call_id, said.value, said.blob)

    def end(self, execution_id: str) -> None:
        """The execution is over: nothing waits for its calls any more."""
        self._withdraw(execution_id, Problem("execution_ended", "the execution that called is over"))

    def forget(self, peer: bytes) -> None:
        """The gateway is gone, and with it the answers that it owes."""
        self._kinds.pop(peer, None)
        why = "the gateway that had the call is gone; whether the call was carried out is not known"
        for call_id, waiting in list(self._waiting.items()):
            if waiting.peer == peer:
                self._settle(call_id, Problem("gateway_lost", why))

    def _peers(self, call: Call, readers: Collection[bytes]) -> list[bytes]:
        of_execution = sum(waiting.call.execution_id == call.execution_id for waiting in self._waiting.values())
        if of_execution >= CALLS_OF_EXECUTION or len(self._waiting) >= CALLS:
            bound = f"{CALLS_OF_EXECUTION} calls of one execution and {CALLS} of a sandbox wait at a time"
            raise Problem("too_many_calls", f"at most {bound}; wait for one to be answered")
        # The newest first: that an older one died may not be known yet.
        able = [peer for peer in reversed(self._kinds) if call.kind in self._kinds[peer]]
        return sorted(able, key=lambda peer: peer not in readers)

    def _frames(self, call: Call) -> list[bytes]:
        frames = wire.call(b"%x" % next(self._ids), call.kind, call.execution_id, call.arguments, call.blob)
        if len(frames[2]) > JSON_BYTES or len(call.blob) > BLOB_BYTES:
            raise Problem("too_large", f"a call has at most {JSON_BYTES} bytes of arguments and {BLOB_BYTES} besides")
        return frames

    def _expire(self, call_id: bytes) -> None:
        waiting = self._waiting.get(call_id)
        if waiting is not None:
            self._send(waiting.peer, wire.withdrawal(call_id))
            self._settle(call_id, Problem("timeout", f"no answer within {waiting.call.timeout_s:g} s"))

    def _withdraw(self, execution_id: str, why: Problem) -> None:
        for call_id, waiting in list(self._waiting.items()):
            if waiting.call.execution_id == execution_id:
                self._send(waiting.peer, wire.withdrawal(call_id))
                self._settle(call_id, why)

    def _settle(self, call_id: bytes, value: wire.Reply | Problem, blob: bytes = b"") -> None:
        waiting = self._waiting.pop(call_id, None)
        if waiting is not None:
            waiting.deadline.cancel()
            waiting.answer(value, blob)


def _nobody(kind: str) -> Problem:
    return Problem("no_gateway", f"no gateway that is connected answers '{kind}' calls")
