"""One registered server: its state, its tools, the calls that it owes an answer, and its way back after its end."""

import itertools
from collections.abc import Callable
from typing import Any, Protocol

from ..limits import (
    MCP_CALLS,
    MCP_CALLS_WAITING,
    MCP_FRAME_SLACK_BYTES,
    MCP_REQUEST_BYTES,
    MCP_RESTART_MOST_S,
    MCP_RETIRE_S,
    MCP_SOUND_S,
)
from ..loop import Timer
from ..shared.json_frames import Unspeakable, encode
from . import secret_files
from .definition import Registration
from .process import Means
from .requests import Call, CallProblem
from .secrets import Hidden
from .session import Session, Start
from .turns import Turns
from .words import Answered, Changed, Said, Started, Tool, Unreadable

STARTING, RUNNING, ENDED = "starting", "running", "ended"
_NAMES_TOLD = 20
_GRACE_S = 5.0
_UNREADABLE = "; it sent what is no message of MCP, as a program does that prints elsewhere than to its standard error"

Outcome = dict[str, Any] | CallProblem


class Begun(Protocol):
    """Told once of a start: with None, or with the reason why there is none and whether its time was up."""

    def __call__(self, why: str | None, *, late: bool = False) -> None:
        """Take it."""


class _Pending:
    """A call without answer; ``frame`` is what is still to be sent for it."""

    def __init__(self, call: Call, frame: bytes, answer: Callable[[Outcome], None]) -> None:
        self.tool = call.tool
        self.timeout_s = call.timeout_s
        self.frame = frame
        self.answer = answer
        self.timer: Timer | None = None


class Server:
    """Starts on ``start``; one that ended starts again with the next call, with nothing of what it knew.

    One that ends at once again and again rests in between, for up to a minute.
    """

    def __init__(self, means: Means, registration: Registration) -> None:
        self.registration = registration
        self.state = ENDED
        self.tools: list[Tool] = []
        self.notes: list[str] = []
        self.info: dict[str, str] = {}
        self.changed: Callable[[], None] = lambda: None  # its tools are others
        self._means = means
        self._session: Session | None = None
        self._hidden = Hidden(registration)
        self._pending: dict[int, _Pending] = {}
        self._turns = Turns(self._take_turn)
        self._retired = False
        self._numbers = itertools.count(1)
        self._begun: Begun | None = None
        self._deadline: Timer | None = None
        self._began_at = self._rest_until = 0.0
        self._failures = 0  # starts in a row that soon ended
        self._ended_why = ""
        self._silence = ""  # what may be the cause of it

    @property
    def name(self) -> str:
        """Under which code knows it."""
        return self.registration.name

    def start(self, begun: Begun) -> None:
        """Start it; ``begun`` is called once."""
        self._begun = begun
        self._begin()

    def stop(self) -> None:
        """End it; calls that wait hear so."""
        if self._session is not None:
            self._session.stop()

    def retire(self) -> None:
        """End it when its calls are answered, or after a while: another one has its name, and it gets no more."""
        self._retired = True
        if self._pending:
            self._means.loop.call_in(MCP_RETIRE_S, self.stop)
        else:
            self.stop()

    def hide(self, text: str) -> str:
        """The text without values that were given to the server, those of its last start included."""
        return self._hidden.hide(text)

    def call(self, call: Call, answer: Callable[[Outcome], None]) -> int:
        """Ask a tool; ``answer`` is called once, perhaps before this returns. The number is for ``cancel``."""
        number = next(self._numbers)
        try:
            frame = encode({"op": "call", "id": number, "tool": call.tool, "arguments": call.arguments})
            self._check(len(frame), MCP_CALLS if call.at_once is None else MCP_CALLS_WAITING)
        except Unspeakable as problem:
            answer(CallProblem("bad_request", f"arguments: {problem}"))
            return number
        except CallProblem as problem:
            answer(problem)
            return number
        self._pending[number] = _Pending(call, frame, answer)
        self._turns.enter(number, MCP_CALLS if call.at_once is None else call.at_once)
        return number

    def _take_turn(self, number: int) -> None:
        """Its time counts from here: how long it waits in line is between the callers."""
        pending = self._pending[number]
        if pending.timeout_s is not None:
            seconds = pending.timeout_s
            pending.timer = self._means.loop.call_in(seconds, lambda: self._late(number, seconds))
        if self.state == ENDED:
            self._begin()
        elif self.state == RUNNING:
            self._send(number, pending)

    def _check(self, size: int, most: int) -> None:
        """Take so many bytes of the budget, or raise CallProblem."""
        if size > MCP_REQUEST_BYTES + MCP_FRAME_SLACK_BYTES:
            words = f"arguments: {size} bytes as JSON; at most {MCP_REQUEST_BYTES} are sent"
            raise CallProblem("bad_request", words)
        if len(self._pending) >= most:
            raise CallProblem("too_many", f"{most} calls of server '{self.name}' wait for answers; wait for one")
        rests_s = self._rest_until - self._means.loop.clock()
        if self.state == ENDED and rests_s > 0:
            words = f"server '{self.name}' is not running: {self._ended_why}. It ended {self._failures} times in a row;"
            raise CallProblem("not_running", f"{words} a call starts it again in {rests_s:.0f} s or later")
        if not self._means.budget.take(size):
            words = "what waits to be sent to servers is too much; wait for an answer, or send less at a time"
            raise CallProblem("too_many", words)

    def cancel(self, number: int, why: CallProblem | None = None) -> None:
        """Give a call up and tell the server; without effect on one that was answered."""
        pending = self._pending.get(number)
        if pending is None:
            return
        if not pending.frame and self._session is not None:
            frame = encode({"op": "cancel", "id": number})
            if self._session.has_room(len(frame)):
                self._session.send(frame)
        self._settle(number, why or CallProblem("cancelled", "the call was cancelled"))

    # From the session.

    def session_said(self, said: Said) -> None:
        """What the session process says of the server."""
        match said:
            case Started() if self.state == STARTING:
                before, self.tools, self.notes, self.info = self.tools, said.tools, said.notes, said.info
                self._run()
                if not self._tell(None) and self.tools != before:
                    self.changed()
                for number in self._turns.running:
                    if number in self._pending:  # the answer to another one may have ended it
                        self._send(number, self._pending[number])
            case Changed() if self.state == RUNNING:
                self.tools, self.notes = said.tools, said.notes
                self.changed()
            case Unreadable():
                self._silence = _UNREADABLE
            case Answered():
                self._settle(said.number, self._clean(said.outcome))

    def session_ended(self, why: str) -> None:
        """The server is gone: calls that wait get an error."""
        late = self._session is not None and self._session.late
        self._over(why + self._silence if late else why, late=late)

    def _begin(self) -> None:
        self.state = STARTING
        self._silence = ""
        self._began_at = self._means.loop.clock()
        try:
            values = secret_files.read(self.registration.target, self._means.secrets)
            self._hidden = Hidden(self.registration, values.values())
            self._session = Session(self._means, Start(self.registration, values, self._hidden), self)
        except secret_files.SecretUnusable as problem:
            self._over(str(problem))
            return
        except OSError as error:
            self._over(f"no process for it: {error.strerror}")
            return
        # The session keeps the time itself, unless code has stopped it.
        seconds = self.registration.timeout_s
        self._deadline = self._means.loop.call_in(seconds + _GRACE_S, lambda: self._give_up(seconds))

    def _run(self) -> None:
        self.state = RUNNING
        if self._deadline is not None:
            self._deadline.cancel()

    def _give_up(self, seconds: float) -> None:
        if self._session is not None:
            self._session.abandon()
        self._over(f"it did not answer within {seconds:g} s", late=True)

    def _over(self, why: str, *, late: bool = False) -> None:
        self._session = None
        self.state = ENDED
        if self._deadline is not None:
            self._deadline.cancel()
        now = self._means.loop.clock()
        self._failures = 0 if now - self._began_at > MCP_SOUND_S else self._failures + 1
        rest_s = min(2.0 ** (self._failures - 2), MCP_RESTART_MOST_S) if self._failures > 1 else 0.0
        self._rest_until, self._ended_why = now + rest_s, why
        self._fail(f"server '{self.name}' is not running: {why}. The next call starts it anew.")
        self._tell(why, late=late)

    def _clean(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, CallProblem):
            return CallProblem(outcome.kind, self.hide(str(outcome)))
        return outcome

    def _tell(self, why: str | None, *, late: bool = False) -> bool:
        begun, self._begun = self._begun, None
        if begun is not None:
            begun(why, late=late)
        return begun is not None

    def _fail(self, why: str) -> None:
        self._turns.clear()
        for number in list(self._pending):
            self._settle(number, CallProblem("not_running", why))

    def _send(self, number: int, pending: _Pending) -> None:
        if all(known.name != pending.tool for known in self.tools):
            self._settle(number, self.no_tool(pending.tool))
        elif self._session is not None:
            frame, pending.frame = pending.frame, b""
            self._means.budget.give_back(len(frame))
            if self._session.has_room(len(frame)):
                self._session.send(frame)
            else:
                self._settle(number, CallProblem("too_many", "too much waits to be sent to this server"))

    def no_tool(self, name: str) -> CallProblem:
        """That there is no such tool, and which there are."""
        return no_tool(self.name, self.tools, name)

    def _late(self, number: int, seconds: float) -> None:
        words = f"no answer within {seconds:g} s{self._silence}; give timeout_s for another limit"
        self.cancel(number, CallProblem("timeout", words))

    def _settle(self, number: int, value: Outcome) -> None:
        pending = self._pending.pop(number, None)
        if pending is not None:
            self._means.budget.give_back(len(pending.frame))
            pending.frame = b""
            if pending.timer is not None:
                pending.timer.cancel()
            pending.answer(value)
            self._turns.leave(number)
            if self._retired and not self._pending:
                self.stop()


def no_tool(server: str, tools: list[Tool], name: str) -> CallProblem:
    """That a server has no such tool, and which it has."""
    names = [known.shown for known in tools[:_NAMES_TOLD]]
    more = f" and {len(tools) - _NAMES_TOLD} more" if len(tools) > _NAMES_TOLD else ""
    there = ", ".join(names) or "none"
    return CallProblem("no_tool", f"server '{server}' has no tool {name!r}; it has {there}{more}")
