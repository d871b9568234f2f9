"""An endpoint on loopback whose answers have the shape of the gateway's, and which checks requests as it does."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
TOKEN = "sgk_test"
# Seconds until a test gives up what it waits for. Not how quick anything has to be: much else may run on the machine.
PATIENCE = 60
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


@dataclass
class Reply:
    """What is answered: a JSON body, or events; `breaks` cuts the connection where the answer's end would be."""

    body: Json | None = None
    status: int = 200
    events: list[Json | bytes] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    breaks: bool = False
    hold: threading.Event | None = None


@dataclass
class Received:
    message: Json
    headers: dict[str, str]
    path: str
    method: str = "POST"

    @property
    def tool(self) -> str:
        return str(self.message.get("params", {}).get("name", ""))

    @property
    def arguments(self) -> Json:
        arguments = self.message["params"]["arguments"]
        assert isinstance(arguments, dict)
        return arguments


Answerer = Callable[[Received], Reply]


def result(data: Json | None = None, text: str = "", is_error: bool = False, images: list[Json] | None = None) -> Json:
    """The result of a tool, as Results.ToolAnswer writes it."""
    parts: list[Json] = [{"type": "text", "text": text}] if text else []
    answer: Json = {"resultType": "complete", "content": parts + (images or []), "isError": is_error}
    if data is not None:
        answer["structuredContent"] = data
    return answer


def execution(status: str, **fields: Any) -> Json:
    """The facts of an execution, as ExecutionAnswer.Facts writes them: every field is there."""
    facts: Json = {
        "status": status,
        "execution_id": "default.0f1e.1.abcdefghijklmnop",
        "stdout": "",
        "stderr": "",
        "result": None,
        "result_json": None,
        "error": None,
        "images": [],
        "exit_code": None,
        "signal": None,
        "duration_ms": 3,
        "truncated": False,
        "lost_bytes": 0,
        "next_offset": 0,
        "denied_hosts": [],
        "kernel_restarted": False,
        "message": "",
        "warning": None,
        "queue_position": 0,
        "sandbox_created": False,
    }
    unknown = set(fields) - set(facts)
    assert not unknown, unknown
    return facts | fields


def ran(status: str, **fields: Any) -> Json:
    return result(execution(status, **fields), "text", is_error=status not in ("ok", "running"))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: Endpoint

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is no news."""


class Handler(BaseHTTPRequestHandler):
    """Serves one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        assert isinstance(self.server, Server)
        endpoint = self.server.endpoint
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:
            # The client hung up within its request.
            self.close_connection = True
            return
        message = json.loads(body) if body else {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(message, headers, self.path, method)
        endpoint.received.append(received)
        if headers.get("authorization") != f"Bearer {TOKEN}":
            refused = {"code": -32600, "message": "Unauthorized: the API key is not valid"}
            self._write(Reply({"jsonrpc": "2.0", "error": refused}, 401), message)
            return
        self._write(endpoint.answer(received), message)

    def _write(self, reply: Reply, message: Json) -> None:
        if reply.events is not None:
            self._stream(reply.events, reply)
            return
        if reply.breaks:
            self.close_connection = True
            return
        content = b"" if reply.body is None else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, events: list[Json | bytes], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for number, event in enumerate(events):
            if reply.hold is not None and number == len(events) - 1:
                self.wfile.flush()
                reply.hold.wait(PATIENCE)
            raw = event if isinstance(event, bytes) else b"event: message\ndata: " + json.dumps(event).encode()
            piece = raw + b"\n\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.flush()
        if reply.breaks:
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        pass


class Endpoint:
    """`tools` maps a tool to what answers it; `answer` may be replaced to see every message."""

    def __init__(self) -> None:
        self.tools: dict[str, Callable[[Json], Json | Reply]] = {}
        self.received: list[Received] = []
        self.answer: Answerer = self._answer_tool
        self.problems: list[str] = []
        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        assert not self.problems, self.problems

    def calls(self, tool: str) -> list[Json]:
        """The arguments of all calls of a tool."""
        return [each.arguments for each in self.received if each.tool == tool]

    def _answer_tool(self, received: Received) -> Reply:
        message = received.message
        problem = check(received)
        if problem:
            self.problems.append(problem)
        answerer = self.tools.get(received.tool)
        if answerer is None:
            self.problems.append(f"unexpected call of {received.tool}")
            error = {"code": -32602, "message": f"Tool '{received.tool}' not found"}
            return Reply({"jsonrpc": "2.0", "id": message["id"], "error": error})
        found = answerer(received.arguments)
        if isinstance(found, Reply):
            return with_id(found, message)
        body = {"jsonrpc": "2.0", "id": message["id"], "result": found}
        if "progressToken" in message["params"].get("_meta", {}):
            return Reply(events=[body])
        return Reply(body)


def check(received: Received) -> str:
    """What the gateway would object to: ProtocolRevision and the contract of structured answers."""
    headers, params = received.headers, received.message.get("params", {})
    meta = params.get("_meta", {})
    if meta.get(META_VERSION) != "2026-07-28" or headers.get("mcp-protocol-version") != "2026-07-28":
        return "revision"
    if not isinstance(meta.get(META_CAPABILITIES), dict):
        return "capabilities"
    if headers.get("mcp-method") != received.message["method"] or headers.get("mcp-name") != params.get("name"):
        return "method or name in the headers"
    if "application/json" not in headers["accept"] or "text/event-stream" not in headers["accept"]:
        return "accept"
    if not received.path.endswith("?structured=true&tools=all"):
        return "path"
    return ""


def with_id(reply: Reply, message: Json) -> Reply:
    """The reply with the request's id where it has the placeholder."""
    for each in [reply.body, *(reply.events or [])]:
        if isinstance(each, dict) and each.get("id") == "?":
            each["id"] = message["id"]
    return reply


def streamed(pieces: list[tuple[int, str]], answer: Json | None, **more: Any) -> Reply:
    """Progress, then the answer; none: the connection breaks."""
    events: list[Json | bytes] = [b": keep-alive"]
    for position, text in pieces:
        params = {"progressToken": 1, "progress": position, "message": text}
        events.append({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
    if answer is None:
        return Reply(events=events, breaks=True, **more)
    return Reply(events=[*events, {"jsonrpc": "2.0", "id": "?", "result": answer}], **more)


def in_turn(*answers: Json | Reply) -> Callable[[Json], Json | Reply]:
    """Answers one after the other."""
    rest: Iterator[Json | Reply] = iter(answers)
    return lambda _: next(rest)
