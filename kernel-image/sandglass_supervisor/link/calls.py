"""Calls from the pod to a gateway: the way for what only a gateway may do, such as reaching another pod.

A gateway says in its hello which kinds of calls it answers. A call goes to a gateway that reads the execution's output,
else to any other that answers the kind. It is answered once: by that gateway, or with a problem that says why not. It
ends with its execution.

A call with patience waits for a gateway that answers its kind, and for room if too many are under way. Gateways are not
asked for it: they say hello when they come. So does a call that a gateway declines because it is about to end, and a
question, which changes nothing, when the gateway that had it is gone.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..limits import BLOB_BYTES, CALLS, CALLS_OF_EXECUTION, CALLS_WAITING, JSON_BYTES
from ..loop import Loop, Timer
from . import wire
from .wire import Answer, Problem, Returned

Send = Callable[[bytes, list[bytes]], bool]

_DECLINED = "unknown_kind"  # what a gateway says of a kind that it answers no more, because it is about to end


class Call(NamedTuple):
    """What is asked of a gateway, in the name of an execution.

    ``timeout_s`` counts from now, and so does ``patience_s``: how long there may be no gateway that answers the kind. A
    ``question`` may be asked twice.
    """

    kind: str
    execution_id: str
    arguments: Mapping[str, Any]
    timeout_s: float
    blob: bytes = b""
    patience_s: float = 0.0
    question: bool = False


class _Waiting:
    """A call without answer; ``peer`` is the gateway that has it, ``frames`` are what is still to be sent."""

    def __init__(self, call: Call, readers: Collection[bytes], answer: Answer, frames: list[bytes]) -> None:
        self.call = call
        self.readers = readers
        self.answer = answer
        self.frames = frames
        self.peer: bytes | None = None
        self.timers: list[Timer] = []


class Calls:
    """All calls without answer, and which gateway answers which kinds."""

    def __init__(self, loop: Loop, send: Send) -> None:
        self._loop = loop
        self._send = send
        self._kinds: dict[bytes, frozenset[str]] = {}
        self._waiting: dict[bytes, _Waiting] = {}
        self._unsent: dict[bytes, _Waiting] = {}  # those of them that no gateway has
        self._sent: Counter[str] = Counter()  # how many each execution has under way
        self._ids = itertools.count(1)
        self.stray = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def offer(self, peer: bytes, kinds: frozenset[str]) -> None:
        """The gateway answers these kinds from now on, and no others.

        What waited is sent after the answer to its hello, before which it takes nothing.
        """
        self._kinds.pop(peer, None)
        if kinds:
            self._kinds[peer] = kinds
            self._loop.call_in(0.0, self._send_waiting)

    def ask(self, call: Call, readers: Collection[bytes], answer: Answer) -> bytes:
        """Send a call; ``answer`` is called exactly once, perhaps before this returns. The id is for ``withdraw``.

        ``readers`` are the gateways that read the execution's output.
        """
        call_id = b"%x" % next(self._ids)
        try:
            waiting = _Waiting(call, readers, answer, _frames(call_id, call))
            self._check_room(call)
        except Problem as problem:
            answer(problem)
            return call_id
        self._waiting[call_id] = self._unsent[call_id] = waiting
        waiting.timers.append(self._loop.call_in(call.timeout_s, partial(self._expire, call_id)))
        self._try_or_wait(call_id, waiting)
        return call_id

    def withdraw(self, call_id: bytes, why: Problem) -> None:
        """Give a call up, and tell the gateway that has it; without effect on one that was answered."""
        waiting = self._waiting.get(call_id)
        if waiting is not None:
            if waiting.peer is not None:
                self._send(waiting.peer, wire.withdrawal(call_id))
            self._settle(call_id, why)

    def returned(self, peer: bytes, said: Returned) -> None:
        """A gateway answered; what it was not asked is counted and dropped."""
        waiting = self._waiting.get(said.call_id)
        if waiting is None or waiting.peer != peer:
            self.stray += 1
        elif isinstance(said.value, Problem) and said.value.code == _DECLINED:
            self._ask_another(said.call_id, waiting)
        else:
            self._settle(said.call_id, said.value, said.blob)

    def end(self, execution_id: str) -> None:
        """The execution is over: nothing waits for its calls any more."""
        for call_id, waiting in list(self._waiting.items()):
            if waiting.call.execution_id == execution_id:
                self.withdraw(call_id, Problem("execution_ended", "the execution that called is over"))

    def forget(self, peer: bytes) -> None:
        """The gateway is gone, and with it the answers that it owes."""
        self._kinds.pop(peer, None)
        why = "the gateway that had the call is gone; whether the call was carried out is not known"
        for call_id, waiting in list(self._waiting.items()):
            # Whoever hears of the end of one call may withdraw others.
            if waiting.peer != peer or call_id not in self._waiting:
                continue
            if waiting.call.question:
                self._ask_another(call_id, waiting)
            else:
                self._settle(call_id, Problem("gateway_lost", why))

    def _check_room(self, call: Call) -> None:
        """Raise Problem if the call cannot be sent now, nor wait until it can."""
        if call.patience_s and len(self._unsent) < CALLS_WAITING:
            return
        if call.patience_s or not self._has_room(call.execution_id):
            bound = f"{CALLS_OF_EXECUTION} calls of one execution and {CALLS} of a sandbox wait at a time"
            raise Problem("too_many_calls", f"at most {bound}; wait for one to be answered")

    def _has_room(self, execution_id: str) -> bool:
        return self._sent[execution_id] < CALLS_OF_EXECUTION and self._sent.total() < CALLS

    def _able(self, kind: str, readers: Collection[bytes]) -> list[bytes]:
        """The gateways that answer the kind, first those to be asked first."""
        # The newest first: that an older one died may not be known yet.
        able = [peer for peer in reversed(self._kinds) if kind in self._kinds[peer]]
        return sorted(able, key=lambda peer: peer not in readers)

    def _give_back_room(self, execution_id: str) -> None:
        self._sent.subtract((execution_id,))
        if not self._sent[execution_id]:
            del self._sent[execution_id]

    def _try_or_wait(self, call_id: bytes, waiting: _Waiting) -> None:
        if self._try(call_id, waiting):
            return
        if waiting.call.patience_s:
            self._be_patient(call_id, waiting)
        else:
            self._settle(call_id, _nobody(waiting.call.kind))

    def _try(self, call_id: bytes, waiting: _Waiting) -> bool:
        """Send it if there are room and a gateway."""
        call = waiting.call
        if not self._has_room(call.execution_id):
            return False
        for peer in self._able(call.kind, waiting.readers):
            if self._send(peer, waiting.frames):
                waiting.peer, waiting.frames = peer, []
                self._sent[call.execution_id] += 1
                self._unsent.pop(call_id, None)
                return True
            self._kinds.pop(peer, None)
        return False

    def _ask_another(self, call_id: bytes, waiting: _Waiting) -> None:
        """The gateway declined or is gone, so it is asked for nothing more until it says hello again."""
        if waiting.peer is not None:
            self._kinds.pop(waiting.peer, None)
        self._give_back_room(waiting.call.execution_id)
        waiting.peer, waiting.frames = None, _frames(call_id, waiting.call)
        self._unsent[call_id] = waiting
        self._try_or_wait(call_id, waiting)

    def _send_waiting(self) -> None:
        for call_id, waiting in list(self._unsent.items()):
            if self._sent.total() >= CALLS:
                return
            self._try(call_id, waiting)

    def _be_patient(self, call_id: bytes, waiting: _Waiting) -> None:
        """Look again when the patience is over: there may be a gateway, but no room."""

        def look() -> None:
            if call_id in self._unsent:
                if self._able(waiting.call.kind, ()):
                    self._be_patient(call_id, waiting)
                else:
                    self._settle(call_id, _nobody(waiting.call.kind))

        for timer in waiting.timers[1:]:
            timer.cancel()
        waiting.timers[1:] = [self._loop.call_in(waiting.call.patience_s, look)]

    def _expire(self, call_id: bytes) -> None:
        waiting = self._waiting[call_id]
        self.withdraw(call_id, Problem("timeout", f"no answer within {waiting.call.timeout_s:g} s"))

    def _settle(self, call_id: bytes, value: wire.Reply | Problem, blob: bytes = b"") -> None:
        waiting = self._waiting.pop(call_id, None)
        if waiting is None:
            return
        for timer in waiting.timers:
            timer.cancel()
        if self._unsent.pop(call_id, None) is None:
            self._give_back_room(waiting.call.execution_id)
        waiting.answer(value, blob)
        if self._unsent:
            self._send_waiting()


def _frames(call_id: bytes, call: Call) -> list[bytes]:
    frames = wire.call(call_id, call.kind, call.execution_id, call.arguments, call.blob)
    if len(frames[2]) > JSON_BYTES or len(call.blob) > BLOB_BYTES:
        raise Problem("too_large", f"a call has at most {JSON_BYTES} bytes of arguments and {BLOB_BYTES} besides")
    return frames


def _nobody(kind: str) -> Problem:
    return Problem("no_gateway", f"no gateway that is connected answers '{kind}' calls")
