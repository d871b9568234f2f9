#!/usr/bin/env python3
"""The smallest MCP client that can use Sandglass: Python's standard library, one keep-alive connection, no session.

As a module:   agent = Agent.from_environment(); agent.call("sandbox_start", sandbox="scratch")
As a program:  agent.py sandbox_run_code '{"sandbox": "scratch", "code": "1 + 1"}' [FIELD]
               prints the answer as JSON, or one field of it as plain text; the exit code is 1 if the tool failed.
"""

from __future__ import annotations

import dataclasses
import http.client
import itertools
import json
import os
import pathlib
import socket
import sys
import typing
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Any

PROTOCOL = "2026-07-28"
ENDPOINT_FILE = pathlib.Path(__file__).resolve().parent.parent / "build" / "endpoint.env"


class Refused(Exception):
    """The endpoint did not take the call: an HTTP status or a JSON-RPC error, in words."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What a tool said: the text for the model, the same as data, and whether it failed."""

    text: str
    data: dict[str, Any]
    failed: bool

    def __getitem__(self, key: str) -> Any:
        return self.data[key]


def endpoint() -> dict[str, str]:
    """SANDGLASS_URL, SANDGLASS_TOKEN and KUBECONFIG: from the environment, else from what `make up` wrote."""
    settings: dict[str, str] = {}
    if ENDPOINT_FILE.exists():
        for line in ENDPOINT_FILE.read_text().splitlines():
            name, equals, value = line.strip().removeprefix("export ").partition("=")
            if equals and not name.startswith("#"):
                settings[name] = value.strip("'\"")
    settings.update({name: os.environ[name] for name in ("SANDGLASS_URL", "SANDGLASS_TOKEN") if name in os.environ})
    if not settings.get("SANDGLASS_URL"):
        raise Refused(f"no endpoint: `make up` writes {ENDPOINT_FILE}; or set SANDGLASS_URL and SANDGLASS_TOKEN")
    return settings


class Agent:
    """One caller on one keep-alive connection. Not for several threads."""

    def __init__(self, url: str, token: str, patience: float = 200) -> None:
        place = urllib.parse.urlsplit(url)
        kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
        self.place = place
        self._connection = kind(place.netloc, timeout=patience)
        self.path = place.path + "?structured=true"
        self._token = token
        self._ids = itertools.count(1)

    @classmethod
    def from_environment(cls) -> Agent:
        settings = endpoint()
        return cls(settings["SANDGLASS_URL"], settings.get("SANDGLASS_TOKEN", ""))

    def call(self, tool: str, on_output: Callable[[str], None] | None = None, **arguments: Any) -> Answer:
        """Calls a tool. With on_output the answer is streamed, and each chunk of output is handed over as it comes."""
        number = next(self._ids)
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        if on_output is not None:
            params["_meta"] = {"progressToken": number}
        result = self.request("tools/call", params, on_output)
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        return Answer(text, result.get("structuredContent") or {}, bool(result.get("isError")))

    def request(
        self, method: str, params: dict[str, Any], on_output: Callable[[str], None] | None = None
    ) -> dict[str, Any]:
        """One JSON-RPC request; its result."""
        body = self.body(method, params)
        answer: dict[str, Any] = {}
        try:
            # Read to its end, also after the answer: only then is the connection free for the next request.
            for message in self._messages(method, str(params.get("name", "")), body):
                if message.get("method") == "notifications/progress" and on_output is not None:
                    on_output(message["params"].get("message", ""))
                elif "result" in message or "error" in message:
                    answer = message
        except http.client.HTTPException as problem:
            self._connection.close()
            raise Refused(f"{method}: {problem!r}") from problem
        if "error" in answer:
            raise Refused(f"{method}: {answer['error']['message']} ({answer['error']['code']})")
        if "result" not in answer:
            raise Refused(f"{method}: the answer ended without a result")
        result: dict[str, Any] = answer["result"]
        return result

    def body(self, method: str, params: dict[str, Any]) -> str:
        meta = params.get("_meta", {}) | {
            "io.modelcontextprotocol/protocolVersion": PROTOCOL,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "sandglass-agent", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": {**params, "_meta": meta}}
        return json.dumps(message)

    def headers(self, method: str, name: str) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
            "Mcp-Method": method,
        }
        return {**headers, "Mcp-Name": name} if name else headers

    def _messages(self, method: str, name: str, body: str) -> Iterator[dict[str, Any]]:
        self._connect()
        self._connection.request("POST", self.path, body, self.headers(method, name))
        response = self._connection.getresponse()
        if response.headers.get_content_type() == "text/event-stream":
            yield from self._events(response)
            return
        text = response.read().decode()
        if response.headers.get_content_type() != "application/json":
            raise Refused(f"{method}: HTTP {response.status} {text[:300]}")
        message = json.loads(text)
        if response.status != 200 and "error" not in message:
            raise Refused(f"{method}: HTTP {response.status} {text[:300]}")
        yield message

    def _connect(self) -> None:
        if self._connection.sock is None:
            self._connection.connect()
            connected = typing.cast(socket.socket, self._connection.sock)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @staticmethod
    def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
        data: list[str] = []
        for raw in response:
            line = raw.decode().rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line.removeprefix("data:").removeprefix(" "))
            elif not line and data:
                yield json.loads("\n".join(data))
                data.clear()


def main() -> None:
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    tool = sys.argv[1]
    arguments = sys.argv[2] if len(sys.argv) > 2 else "{}"
    field = sys.argv[3] if len(sys.argv) > 3 else ""
    try:
        answer = Agent.from_environment().call(tool, **json.loads(arguments))
    except (Refused, OSError) as problem:
        sys.exit(f"agent: {problem}")
    everything = {"text": answer.text, "failed": answer.failed, **answer.data}
    print(everything.get(field) if field else json.dumps(everything))
    if answer.failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
