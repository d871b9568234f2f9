"""A client that speaks the link from its written description: it imports nothing of the supervisor."""

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import zmq

WINDOW = 262_144
# Seconds until a test gives up what it waits for. Not how quick anything has to be: much else may run on the machine.
# What code of tests starts lasts longer, so that its end by itself is not taken for what was waited for.
PATIENCE = 30.0


@dataclass
class Record:
    offset: int
    kind: str
    json: dict[str, Any]
    blob: bytes


@dataclass
class Output:
    """What arrived of one execution."""

    records: list[Record] = field(default_factory=list)

    @property
    def outcome(self) -> dict[str, Any] | None:
        last = self.records[-1] if self.records else None
        return last.json if last is not None and last.kind == "outcome" else None

    def blob(self, kind: str) -> bytes:
        return b"".join(record.blob for record in self.records if record.kind == kind)

    def text(self, kind: str = "stdout") -> str:
        return self.blob(kind).decode()

    def only(self, kind: str) -> Record:
        found = [record for record in self.records if record.kind == kind]
        assert len(found) == 1, f"{len(found)} records of kind {kind}"
        return found[0]


@dataclass
class Asked:
    """A call of the pod."""

    call_id: bytes
    kind: str
    execution_id: str
    arguments: dict[str, Any]
    blob: bytes


# What a gateway answers to a call: JSON, or JSON and data; None if it answers later, or never.
Answering = Callable[[Asked], dict[str, Any] | tuple[dict[str, Any], bytes] | None]


class Refused(Exception):
    """The supervisor answered with an error."""

    def __init__(self, error: dict[str, str]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]


class Client:
    def __init__(
        self, endpoint: str, server_key: bytes, keys: tuple[bytes, bytes], *, acknowledge: bool = True
    ) -> None:
        self.socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        self.socket.setsockopt(zmq.RCVHWM, 0)
        for option, value in zip(
            (zmq.CURVE_SERVERKEY, zmq.CURVE_PUBLICKEY, zmq.CURVE_SECRETKEY), (server_key, *keys), strict=True
        ):
            self.socket.setsockopt(option, value)
        self.socket.connect(endpoint)
        self.acknowledge = acknowledge
        self.outputs: dict[str, Output] = {}
        self.events: list[tuple[str, int, dict[str, Any]]] = []
        self.replies: dict[bytes, tuple[dict[str, Any], bytes]] = {}
        self.calls: list[Asked] = []
        self.withdrawn: list[bytes] = []
        self.answering: Answering = lambda _: None
        self._ids = itertools.count()
        self._unacknowledged: dict[str, int] = {}

    def close(self) -> None:
        self.socket.close()

    def ask(self, verb: str, blob: bytes | None = None, timeout: float = PATIENCE, **arguments: Any) -> dict[str, Any]:
        return self.reply_to(self.send(verb, blob, **arguments), timeout)

    def send(self, verb: str, blob: bytes | None = None, **arguments: Any) -> bytes:
        """Ask without waiting; the id under which the answer will come."""
        request_id = b"q%d" % next(self._ids)
        frames = [b"V", request_id, json.dumps({"verb": verb, **arguments}).encode()]
        self.socket.send_multipart(frames if blob is None else [*frames, blob])
        return request_id

    def file(self, operation: str, path: str, **more: Any) -> dict[str, Any]:
        return self.ask("files", operation=operation, path=path, **more)

    def read(self, path: str, **more: Any) -> bytes:
        return self.both_to(self.send("files", operation="read", path=path, **more))[1]

    def write(self, path: str, content: bytes, **more: Any) -> dict[str, Any]:
        return self.ask("files", content, operation="write", path=path, **more)

    def files(self, path: str, **more: Any) -> list[dict[str, Any]]:
        _, blob = self.both_to(self.send("files", operation="list", path=path, **more))
        return list(json.loads(blob))

    def reply_to(self, request_id: bytes, timeout: float = PATIENCE) -> dict[str, Any]:
        return self.both_to(request_id, timeout)[0]

    def both_to(self, request_id: bytes, timeout: float = PATIENCE) -> tuple[dict[str, Any], bytes]:
        self.until(lambda: request_id in self.replies, timeout, f"a reply to {request_id!r}")
        value, blob = self.replies.pop(request_id)
        if "error" in value:
            raise Refused(value["error"])
        return value, blob

    def hello(self, *calls: str) -> dict[str, Any]:
        return self.ask("hello", protocol=[1], peer="test", calls=calls)

    def give(self, call_id: bytes, value: dict[str, Any], blob: bytes | None = None) -> None:
        """Answer a call."""
        frames = [b"U", call_id, json.dumps(value).encode()]
        self.socket.send_multipart(frames if blob is None else [*frames, blob])

    def start(self, execution_id: str, code: str, **more: Any) -> dict[str, Any]:
        return self.ask("execute", code.encode(), **{"execution_id": execution_id, "attach": True, **more})

    def run(self, execution_id: str, code: str, timeout: float = PATIENCE, **more: Any) -> Output:
        self.start(execution_id, code, **more)
        return self.finish(execution_id, timeout)

    def command(
        self, execution_id: str, *argv: str, stdin: bytes | None = None, timeout: float = PATIENCE, **more: Any
    ) -> Output:
        self.ask("command", stdin, execution_id=execution_id, command=argv[0], args=argv[1:], attach=True, **more)
        return self.finish(execution_id, timeout)

    def finish(self, execution_id: str, timeout: float = PATIENCE) -> Output:
        self.until(lambda: self.output(execution_id).outcome is not None, timeout, f"the outcome of {execution_id}")
        return self.output(execution_id)

    def output(self, execution_id: str) -> Output:
        return self.outputs.setdefault(execution_id, Output())

    def until(self, condition: Any, timeout: float, what: str) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(what)
            self.receive(min(left, 0.02))  # the condition may be about something else than messages

    def receive(self, timeout: float) -> bool:
        if not self.socket.poll(max(0, int(timeout * 1000))):
            self._settle()
            return False
        frames = self.socket.recv_multipart()
        match frames[0]:
            case b"R":
                self.replies[frames[1]] = (json.loads(frames[2]), frames[3] if len(frames) > 3 else b"")
            case b"E":
                self.events.append((frames[1].decode(), int(frames[2]), json.loads(frames[3])))
            case b"O":
                self._take(*frames[1:])
            case b"T":
                self._answer(frames[1], json.loads(frames[2]), frames[3] if len(frames) > 3 else b"")
            case b"X":
                self.withdrawn.append(frames[1])
        return True

    def _answer(self, call_id: bytes, said: dict[str, Any], blob: bytes) -> None:
        asked = Asked(call_id, blob=blob, **said)
        self.calls.append(asked)
        answer = self.answering(asked)
        if answer is not None:
            self.give(call_id, *(answer if isinstance(answer, tuple) else (answer,)))

    def _take(self, execution: bytes, offset: bytes, kind: bytes, about: bytes, blob: bytes) -> None:
        execution_id = execution.decode()
        record = Record(int(offset), kind.decode(), json.loads(about), blob)
        self.output(execution_id).records.append(record)
        waiting = self._unacknowledged.get(execution_id, 0) + len(blob) + 64
        if self.acknowledge and waiting >= WINDOW // 4:
            self.credit(execution_id, record.offset + len(blob))
            waiting = 0
        self._unacknowledged[execution_id] = waiting

    def _settle(self) -> None:
        """Acknowledge the rest: a record larger than the window is sent only when nothing else is under way."""
        for execution_id, waiting in self._unacknowledged.items():
            if self.acknowledge and waiting:
                last = self.output(execution_id).records[-1]
                self.credit(execution_id, last.offset + len(last.blob))
                self._unacknowledged[execution_id] = 0

    def credit(self, execution_id: str, offset: int) -> None:
        self.socket.send_multipart([b"C", execution_id.encode(), b"%d" % offset])
