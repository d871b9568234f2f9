"""A bridge as an agent starts it, and an endpoint that answers it as the gateway does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from tests.endpoint import PATIENCE, TOKEN, Endpoint, Json, Received, Reply, with_id
from tests.test_library import STARTED, STOPPED, absent

TOOLS: Json = {
    "resultType": "complete",
    "ttlMs": 300000,
    "cacheScope": "public",
    "tools": [{"name": "execute_ipython_cell", "description": "d", "inputSchema": {"type": "object"}}],
}
INITIALIZED: Json = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "sandglass", "version": "1"},
}
DISCOVERED: Json = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
    "capabilities": {"tools": {}},
    "instructions": "i",
    "ttlMs": 300000,
    "cacheScope": "public",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "sandglass", "version": "1"}},
}
SESSION = "0f2c6a52-1f2a-4c7e-9d2b-0d7a3e5f1b11"


def initialize(version: str = "2025-11-25") -> Json:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def call(message_id: int | str, name: str, arguments: Json, **meta: Any) -> Json:
    params = {"name": name, "arguments": arguments} | ({"_meta": meta} if meta else {})
    return {"jsonrpc": "2.0", "id": message_id, "method": "tools/call", "params": params}


class Gateway:
    """Answers as the gateway does; `on_call` answers tools."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.tools: dict[str, Any] = {
            "sandbox_start": lambda _: STARTED,
            "sandbox_stop": lambda _: STOPPED,
            "sandbox_list": lambda arguments: absent(arguments["sandbox"]),
        }
        endpoint.answer = self._answer

    def _answer(self, received: Received) -> Reply:
        message = received.message
        method = message.get("method", "")
        if "id" not in message:
            return Reply(None, 202)
        if method == "initialize":
            return self._result(message, INITIALIZED, {"Mcp-Session-Id": SESSION})
        if method == "tools/list":
            return self._result(message, TOOLS)
        if method == "server/discover":
            return self._result(message, DISCOVERED)
        if method == "tools/call":
            found = self.tools[received.tool](received.arguments)
            if isinstance(found, Reply):
                return with_id(found, message)
            return self._result(message, found)
        error = {"code": -32601, "message": f"Method '{method}' not found"}
        return Reply({"jsonrpc": "2.0", "id": message["id"], "error": error})

    @staticmethod
    def _result(message: Json, found: Json, headers: dict[str, str] | None = None) -> Reply:
        body = {"jsonrpc": "2.0", "id": message["id"], "result": found}
        meta = message.get("params", {}).get("_meta", {})
        if "progressToken" in meta and "protocolVersion" in str(meta):
            return Reply(events=[body], headers=headers or {})
        return Reply(body, headers=headers or {})


class Bridge:
    """A bridge as an agent starts it."""

    def __init__(self, endpoint: Endpoint, *arguments: str, **environ: str) -> None:
        env = {**os.environ, "SANDGLASS_URL": endpoint.url, "SANDGLASS_TOKEN": TOKEN, **environ}
        env["PYTHONPATH"] = os.pathsep.join(sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sandglass", "mcp", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
        )  # fmt: skip
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def send(self, message: Json | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.stdin.write(line + b"\n")
        self.stdin.flush()

    def receive(self) -> Json:
        line = self.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read().decode()
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def ask(self, message: Json | bytes) -> Json:
        self.send(message)
        return self.receive()

    def end(self) -> tuple[int, bytes, str]:
        self.stdin.close()
        rest = self.stdout.read()
        assert self.process.stderr
        errors = self.process.stderr.read().decode()
        return self.process.wait(PATIENCE), rest, errors


def wait_until(condition: Any) -> None:
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.005)
