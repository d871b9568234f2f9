"""What the supervisor does at the socket of MCP servers, with tools that do as their names say."""

import base64
import json
import socketserver
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LENGTH = struct.Struct(">I")
TOOLS = [
    {"name": "search_issues", "description": "Finds open issues of a repository", "input_schema": {"type": "object"}},
    {"name": "post.message", "description": "Posts a message", "input_schema": {}, "output_schema": {"type": "object"}},
]
CONTENTS: dict[str, list[dict[str, Any]]] = {
    "text": [{"type": "text", "text": "plain"}],
    "json": [{"type": "text", "text": '{"a": [1]}'}],
    "nan": [{"type": "text", "text": "NaN"}],
    "deep": [{"type": "text", "text": "[" * 100_000}],
    "nothing": [],
    "several": [{"type": "text", "text": "one"}, {"type": "text", "text": "2"}],
    "picture": [{"type": "image", "data": base64.b64encode(b"PNG").decode(), "mimeType": "image/png"}],
    "broken_picture": [{"type": "image", "data": "%", "mimeType": "image/png"}],
    "resource": [{"type": "resource", "resource": {"uri": "a:b", "text": "[1]"}}],
    "file": [{"type": "resource", "resource": {"uri": "a:b", "blob": base64.b64encode(b"x").decode()}}],
    "link": [{"type": "resource_link", "uri": "a:b", "name": "n"}],
}


class Supervisor:
    """Remembers what it was asked, what was cancelled, and how many calls it had at once."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.cancelled = threading.Event()
        self.closed = threading.Event()
        self.arrived = threading.Event()
        self.now = self.most = 0
        self.lock = threading.Condition()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] == "servers":
            tools = [{"name": tool["name"], "description": tool["description"]} for tool in TOOLS]
            return {"result": {"servers": [{"name": "github", "state": "running", "tools": tools}]}}
        if request["op"] == "describe":
            wanted = [tool for tool in TOOLS if request.get("tool") in (None, tool["name"])]
            return {"result": {"server": request["server"], "tools": wanted}}
        if request["op"] == "load":
            return {"error": {"kind": "no_server", "message": "no functions can be written here"}}
        return self.call(request["tool"], request["arguments"])

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if tool.startswith("kind_"):
            return {"error": {"kind": tool[5:], "message": f"message of {tool[5:]}"}}
        if tool == "fails":
            return {"result": {"content": [{"type": "text", "text": "it broke"}], "isError": True}}
        if tool in CONTENTS:
            return {"result": {"content": CONTENTS[tool], "isError": False}}
        if tool == "wait":
            time.sleep(arguments.get("s", 0.05))
        if tool == "crowd":
            with self.lock:
                self.lock.wait_for(lambda: self.most >= arguments["of"], 60)
        if tool == "large":
            return {"result": {"content": [{"type": "text", "text": "x" * arguments["size"]}], "isError": False}}
        if tool == "silent":
            time.sleep(3)
        return {"result": {"content": [], "structuredContent": arguments, "isError": False}}


@contextmanager
def listening(path: Path) -> Iterator[Supervisor]:
    supervisor = Supervisor()

    class Connection(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while head := self.rfile.read(LENGTH.size):
                request = json.loads(self.rfile.read(*LENGTH.unpack(head)))
                supervisor.requests.append(request)
                if request["op"] == "cancel":
                    supervisor.cancelled.set()
                elif request.get("tool") == "hang":
                    supervisor.arrived.set()
                elif request.get("tool") == "close":
                    return
                elif request.get("tool") == "garbage":
                    self.wfile.write(LENGTH.pack(3) + b"{]}")
                elif request.get("tool") == "endless":
                    self.wfile.write(LENGTH.pack(2**31))
                else:
                    self.respond(request)
            supervisor.closed.set()

        def respond(self, request: dict[str, Any]) -> None:
            with supervisor.lock:
                supervisor.now += 1
                supervisor.most = max(supervisor.most, supervisor.now)
                supervisor.lock.notify_all()
            data = json.dumps({"id": request["id"], **supervisor.answer(request)}).encode()
            with supervisor.lock:
                supervisor.now -= 1
            # The caller may have given up.
            with suppress(BrokenPipeError):
                self.wfile.write(LENGTH.pack(len(data)) + data)

    class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 5

    with Server(str(path), Connection) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield supervisor
        server.shutdown()
        thread.join()
