"""The socket by which code calls tools: any process of the sandbox may come, and is served for its execution."""

import os
import socket
import struct
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from ..limits import (
    MCP_CALLS_OF_EXECUTION,
    MCP_CONNECTIONS,
    MCP_REQUEST_BYTES,
    MCP_TOOLS_CALLED,
    MCP_UNSENT_BYTES,
    MCP_WAITING_BYTES,
)
from ..loop import Loop
from ..processes.children import mark_of
from ..shared.json_frames import Frame, Unspeakable, encode, framed
from .answers import Answers, Give
from .budget import Budget
from .channel import Bounds, Channel
from .requests import Call, CallProblem, Cancel, Describe, Load, ServersAsked, parse_number, parse_request
from .server import Outcome
from .shared_servers import Withdraw

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid of unix(7)
_BACKLOG = 128
_CALLS, _QUESTIONS = "calls of tools", "questions about servers"

ExecutionOf = Callable[[int], str | None]


class Door:
    """Listens at ``path``; ``execution_of`` tells by the mark of a process which execution it belongs to, if to any."""

    def __init__(self, loop: Loop, path: str, answers: Answers, execution_of: ExecutionOf) -> None:
        self._loop = loop
        self._path = path
        self._answers = answers
        self._execution_of = execution_of
        self._budget = Budget(MCP_WAITING_BYTES)
        self._connections: dict[_Connection, None] = {}
        self._counts: dict[str, Counter[str]] = {}
        self._called: dict[str, Counter[tuple[str, str]]] = {}
        self._listener, self._inode = self._listen()

    def mend(self) -> None:
        """Listen anew if code has removed the socket, or put something in its place."""
        with suppress(OSError):
            if os.lstat(self._path).st_ino == self._inode:
                return
        try:
            listener, inode = self._listen()
        except OSError:
            return  # there is a folder now, which code must remove itself
        self._loop.unwatch(self._listener.fileno())
        self._listener.close()
        self._listener, self._inode = listener, inode

    def _listen(self) -> tuple[socket.socket, int]:
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.setblocking(False)
            listener.bind(self._path)
            listener.listen(_BACKLOG)
            inode = os.lstat(self._path).st_ino
        except OSError:
            listener.close()
            raise
        self._loop.watch(listener.fileno(), self._accept)
        return listener, inode

    def end(self, execution_id: str) -> None:
        """The execution is over: its calls are cancelled."""
        self._counts.pop(execution_id, None)
        self._called.pop(execution_id, None)
        for connection in list(self._connections):
            connection.end(execution_id)

    def called(self, execution_id: str) -> list[dict[str, object]]:
        """Which tools an execution called so far, and how many of its calls servers answered, the first one first."""
        counts = self._called.get(execution_id, Counter())
        return [{"server": server, "tool": tool, "calls": calls} for (server, tool), calls in counts.items()]

    def answered(self, execution_id: str | None, call: Call) -> None:
        """A server answered a call."""
        if execution_id is None:
            return
        counts = self._called.setdefault(execution_id, Counter())
        name = (call.server, call.tool)
        if name in counts or len(counts) < MCP_TOOLS_CALLED:
            counts[name] += 1

    def count(self, execution_id: str | None, what: str) -> None:
        """One more of what an execution asks; raises CallProblem if it had its share."""
        if execution_id is None:
            return
        counts = self._counts.setdefault(execution_id, Counter())
        if counts[what] >= MCP_CALLS_OF_EXECUTION:
            raise CallProblem("too_many", f"an execution has at most {MCP_CALLS_OF_EXECUTION} {what}")
        counts[what] += 1

    def _accept(self) -> None:
        try:
            accepted, _ = self._listener.accept()
        except OSError:
            return
        if len(self._connections) >= MCP_CONNECTIONS:
            idle = next((connection for connection in self._connections if connection.idle), None)
            if idle is None:
                accepted.close()
                return
            idle.close()
        pid, _, _ = _CREDENTIALS.unpack(accepted.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
        try:
            mark = mark_of(pid)
        except OSError:
            mark = 0
        connection = _Connection(self, self._answers, lambda: self._execution_of(mark))
        self._connections[connection] = None
        bounds = Bounds(MCP_REQUEST_BYTES, MCP_UNSENT_BYTES, self._budget)
        connection.open(self._loop, accepted.detach(), bounds, lambda _: self._connections.pop(connection, None))


class _Connection:
    def __init__(self, door: Door, answers: Answers, execution: Callable[[], str | None]) -> None:
        self._door = door
        self._answers = answers
        self._execution = execution
        self._calls: dict[int, tuple[str | None, Withdraw]] = {}

    @property
    def idle(self) -> bool:
        """True if it waits for nothing, and nothing for it."""
        return not self._calls and self._channel.idle

    def close(self) -> None:
        self._channel.close()

    def open(self, loop: Loop, descriptor: int, bounds: Bounds, closed: Callable[[str], object]) -> None:
        def gone(why: str) -> None:
            for _, cancel in list(self._calls.values()):
                cancel()
            closed(why)

        self._channel = Channel(loop, (descriptor, descriptor), bounds, self._hear, gone)

    def end(self, execution_id: str) -> None:
        for execution, cancel in list(self._calls.values()):
            if execution == execution_id:
                cancel()

    def _hear(self, frame: Frame) -> None:
        asked = frame.value
        number = parse_number(asked)
        if number is None:
            self._channel.close("a request without a number")
            return
        try:
            match parse_request(asked):
                case Call() as call:
                    self._begin(number, _CALLS, lambda execution, give: self._call(execution, call, give))
                case Cancel():
                    if number in self._calls:
                        self._calls[number][1]()
                case ServersAsked():
                    self._begin(number, _QUESTIONS, self._answers.servers)
                case Describe() as wanted:
                    describe = self._answers.describe
                    self._begin(number, _QUESTIONS, lambda execution, give: describe(execution, wanted, give))
                case Load() as load:
                    self._begin(number, _QUESTIONS, lambda execution, give: self._answers.load(execution, load, give))
        except CallProblem as problem:
            self._answer(number, problem)

    def _call(self, execution: str | None, call: Call, give: Give) -> Withdraw:
        def answered(value: Outcome | bytes) -> None:
            if not isinstance(value, CallProblem):
                self._door.answered(execution, call)
            give(value)

        return self._answers.call(execution, call, answered)

    def _begin(self, number: int, what: str, ask: Callable[[str | None, Give], Withdraw]) -> None:
        """Ask something that is answered now or later, and can be cancelled until then."""
        if number in self._calls:
            raise CallProblem("bad_request", "id: a call of that number waits already")
        execution = self._execution()
        self._door.count(execution, what)
        answered = False

        def give(value: Outcome | bytes) -> None:
            nonlocal answered
            answered = True
            self._calls.pop(number, None)
            self._answer(number, value)

        cancel = ask(execution, give)
        if not answered:
            self._calls[number] = (execution, cancel)

    def _answer(self, number: int, value: Outcome | bytes) -> None:
        if isinstance(value, CallProblem):
            self._channel.send(encode({"id": number, "error": {"kind": value.kind, "message": str(value)}}))
            return
        if isinstance(value, bytes):
            self._channel.send(framed(b'{"id":%d,"result":%s}' % (number, value)))
            return
        try:
            self._channel.send(encode({"id": number, "result": value}))
        except Unspeakable as problem:
            self._answer(number, CallProblem("failed", f"the result cannot be passed on: {problem}"))
