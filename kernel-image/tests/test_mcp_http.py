"""An MCP server that is reached over HTTP: a small one of the standard library, which comes and goes."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from client import PATIENCE, Client, Refused
from mcp_link import Link

ADD = {"name": "key", "inputSchema": {"type": "object"}}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        match asked.get("method"):
            case "initialize":
                about = {"name": "web", "version": "1"}
                version = asked["params"]["protocolVersion"]
                self.answer(asked, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about})
            case "tools/list":
                self.answer(asked, {"tools": [ADD]})
            case "tools/call":
                key = str(self.headers["X-Key"])
                self.answer(asked, {"content": [{"type": "text", "text": key}]})
            case _ if "id" in asked:
                self.say({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}})
            case _:
                self.send_response(202)
                self.send_header("Content-Length", "0")
                self.end_headers()

    def do_GET(self) -> None:
        self.send_error(405)

    def answer(self, asked: dict[str, Any], result: dict[str, Any]) -> None:
        self.say({"jsonrpc": "2.0", "id": asked["id"], "result": result})

    def say(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(port: int = 0, handler: type[BaseHTTPRequestHandler] = Handler) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield int(server.server_address[1])
    server.shutdown()
    server.server_close()


def test_its_headers_come_with_each_call_and_it_may_come_back(peer: Client, link: Link) -> None:
    with served() as port:
        url = f"http://127.0.0.1:{port}/mcp?key=s3cret"
        told = peer.ask("mcp_register", timeout=60, name="one", url=url, headers={"X-Key": "abc"}, api=False)
        assert told["server_info"]["name"] == "web"
        assert link.call("key")["result"]["content"][0]["text"] == "abc"
        (listed,) = peer.ask("mcp_list")["servers"]
        assert listed["url"] == f"http://127.0.0.1:{port}"
    gone = link.call("key")["error"]
    assert gone["kind"] == "not_running"
    assert "it cannot be reached any more" in gone["message"]
    with served(port):
        peer.until(lambda: "result" in link.call("key"), PATIENCE, "its return")


@pytest.mark.slow
def test_what_answers_but_is_no_mcp_server(peer: Client) -> None:
    with served() as port, pytest.raises(Refused) as refused:
        peer.ask("mcp_register", timeout=60, name="one", url=f"http://127.0.0.1:{port}/", transport="sse", timeout_s=50)
    assert refused.value.code == "mcp_start_failed"
