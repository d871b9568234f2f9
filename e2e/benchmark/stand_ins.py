"""What one gateway sees of many sandboxes that are not there: the API that tells of them, and their supervisors.

usage: python -m benchmark.stand_ins COUNT SECRET_FILE, where the supervisor's package can be imported. Prints the API's
address once all is there, and ends with its standard input. Each supervisor has a loopback address of its own.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import pathlib
import resource
import select
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import zmq
import zmq.utils.z85
from sandglass_supervisor import limits
from sandglass_supervisor.link import messages, wire
from sandglass_supervisor.link.wire import Piece

NAMESPACE = "sandglass-default"
LINK_PORT = 5710
INCARNATION = 1
OUTCOME = {
    "status": "ok",
    "duration_ms": 1.5,
    "exit_code": None,
    "signal": None,
    "kernel_restarted": False,
    "message": "",
    "truncated": False,
}


def name(number: int) -> str:
    return f"link-{number:04}"


def uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


def address(number: int) -> str:
    return f"127.1.{number // 250}.{number % 250 + 1}"


def sandbox(number: int) -> dict[str, Any]:
    """A resource as the operator leaves it."""
    conditions = [
        {"type": kind, "status": status, "reason": kind, "message": f"{kind} is {status}"}
        for kind, status in (("Ready", "True"), ("NetworkReady", "True"), ("Suspended", "False"))
    ]
    moment = {"lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}
    return {
        "apiVersion": "sandglass.dev/v1alpha1",
        "kind": "Sandbox",
        "metadata": {
            "name": name(number),
            "namespace": NAMESPACE,
            "uid": uid(number),
            "resourceVersion": "1",
            "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {},
        "status": {
            "observedGeneration": 1,
            "conditions": [{**each, **moment} for each in conditions],
            "address": address(number),
            "podName": f"{name(number)}-1",
            "incarnation": INCARNATION,
            "startedAt": "2026-01-01T00:00:01Z",
        },
    }


class Api(BaseHTTPRequestHandler):
    """As much of a Kubernetes API as the gateway uses: list and watch the sandboxes, create their leases."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    count = 0

    def handle(self) -> None:
        # The gateway is killed in the end, with requests under way.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self._watch()
        elif self.path.partition("?")[0].endswith("/sandboxes"):
            items = [sandbox(number) for number in range(self.count)]
            kind = {"apiVersion": "sandglass.dev/v1alpha1", "kind": "SandboxList"}
            self._answer(200, {**kind, "metadata": {"resourceVersion": "1"}, "items": items})
        else:
            self._answer(404, {"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 404})

    def do_POST(self) -> None:
        self._answer(201, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _watch(self) -> None:
        """Nothing ever changes."""
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        digest = hashlib.sha1(key.encode(), usedforsecurity=False).digest()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(digest).decode())
        self.end_headers()
        self.rfile.read()
        self.close_connection = True

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class Supervisors:
    """A ROUTER socket with CURVE and a list of one allowed key for each sandbox; all that is run gives 2 at once."""

    def __init__(self, secret: bytes, count: int) -> None:
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        context.set(zmq.MAX_SOCKETS, 2 * count)
        self._events = select.epoll()
        self._zap = context.socket(zmq.REP)
        self._zap.bind("inproc://zeromq.zap.01")
        self._allowed: dict[bytes, bytes] = {}
        self._sockets: dict[int, tuple[zmq.Socket[bytes], str]] = {}
        self._events.register(self._zap, select.EPOLLIN)
        for number in range(count):
            self._listen(context, number, secret)

    def _listen(self, context: zmq.Context[zmq.Socket[bytes]], number: int, secret: bytes) -> None:
        domain = uid(number).encode()
        gateway = zmq.utils.z85.encode(_key(secret, "gateway", number))
        self._allowed[domain] = zmq.utils.z85.decode(zmq.curve_public(gateway))
        socket = context.socket(zmq.ROUTER)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.CURVE_SERVER, 1)
        socket.setsockopt(zmq.CURVE_SECRETKEY, _key(secret, "pod", number))
        socket.setsockopt(zmq.ZAP_DOMAIN, domain)
        socket.setsockopt(zmq.HANDSHAKE_IVL, 30_000)
        socket.setsockopt(zmq.HEARTBEAT_IVL, 10_000)
        socket.bind(f"tcp://{address(number)}:{LINK_PORT}")
        self._sockets[socket.fileno()] = socket, uid(number)
        self._events.register(socket, select.EPOLLIN)

    def serve(self) -> None:
        """For ever. A poller of ZeroMQ would look at every socket at each message."""
        while True:
            for descriptor, _ in self._events.poll():
                if descriptor == self._zap.fileno():
                    self._authenticate()
                else:
                    self._receive(*self._sockets[descriptor])

    def _authenticate(self) -> None:
        while request := messages.receive(self._zap):
            known = request[5] == b"CURVE" and request[6] == self._allowed.get(request[2])
            status = [b"200", b"OK", b"gateway", b""] if known else [b"400", b"not allowed", b"", b""]
            self._zap.send_multipart([b"1.0", request[1], *status])

    def _receive(self, socket: zmq.Socket[bytes], sandbox_uid: str) -> None:
        # Down to the last one: the descriptor tells of news, not of messages that are left.
        while message := messages.receive(socket):
            asked = wire.decode(message[1:])
            if isinstance(asked, wire.Request):
                for frames in _answers(asked, sandbox_uid):
                    messages.send(socket, [message[0], *frames])


def _answers(asked: wire.Request, sandbox_uid: str) -> list[list[bytes]]:
    if asked.verb == "hello":
        window = limits.WINDOW_BYTES
        hello = {"protocol": wire.PROTOCOL, "boot_id": "stub", "sandbox_uid": sandbox_uid, "window": window}
        return [wire.reply(asked.request_id, hello)]
    if asked.verb == "execute":
        execution = str(asked.arguments["execution_id"])
        pieces = [
            Piece(0, 1, "result", wire.to_json({"mime": "text/plain"}), b"2"),
            Piece(1, 1, "outcome", wire.to_json(OUTCOME), b""),
        ]
        started = {"state": "running", "position": 0, "execution_id": execution}
        return [wire.reply(asked.request_id, started), *(wire.output(execution, piece) for piece in pieces)]
    return [wire.reply(asked.request_id, {})]


def _key(secret: bytes, purpose: str, number: int) -> bytes:
    """As the gateway derives it: HKDF with SHA-256, whose first block is all of a key."""
    made_of = hmac.digest(b"sandglass-link-v1", secret, "sha256")
    return hmac.digest(made_of, f"{purpose}|{uid(number)}|{INCARNATION}\x01".encode(), "sha256")


def main() -> None:
    count, secret = int(sys.argv[1]), pathlib.Path(sys.argv[2]).read_bytes()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    Api.count = count
    api = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=api.serve_forever, daemon=True).start()
    threading.Thread(target=Supervisors(secret, count).serve, daemon=True).start()
    print(f"http://127.0.0.1:{api.server_port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
