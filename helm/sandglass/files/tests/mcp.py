"""Calls the installed gateway as an agent would: starts a sandbox, runs code in it, deletes it."""

import http.client
import itertools
import json
import os
import secrets
import sys
from collections.abc import Iterator
from typing import Any

JsonObject = dict[str, Any]

HOST = os.environ["GATEWAY_HOST"]
PORT = int(os.environ["GATEWAY_PORT"])
API_KEY = os.environ["API_KEY"]
TENANT = os.environ["TENANT"]
SANDBOX = "helm-test-" + secrets.token_hex(4)
CALL_TIMEOUT_S = 180

request_ids = itertools.count(1)


def post(message: JsonObject, api_key: str | None = API_KEY) -> tuple[int, str, bytes]:
    """Send one message; return the answer's status, content type and body."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    if api_key is not None:
        headers["Authorization"] = f"Bearer {api_key}"
    connection = http.client.HTTPConnection(HOST, PORT, timeout=CALL_TIMEOUT_S)
    try:
        connection.request("POST", "/mcp?structured=true", json.dumps(message), headers)
        response = connection.getresponse()
        return response.status, response.getheader("Content-Type", ""), response.read()
    finally:
        connection.close()


def messages(content_type: str, body: bytes) -> Iterator[JsonObject]:
    """Yield the JSON-RPC messages of an answer, which may be one JSON object or a stream of events."""
    text = body.decode()
    if content_type.startswith("application/json"):
        yield json.loads(text)
        return
    for event in text.replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:"))
        if data:
            yield json.loads(data)


def request(method: str, params: JsonObject) -> JsonObject:
    """Send a request and return its result; end the test if there is none."""
    request_id = next(request_ids)
    status, content_type, body = post({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    if status != http.client.OK:
        sys.exit(f"{method}: HTTP {status}: {body!r}")
    for message in messages(content_type, body):
        if message.get("id") == request_id:
            if "error" in message:
                sys.exit(f"{method}: {message['error']}")
            result: JsonObject = message["result"]
            return result
    sys.exit(f"{method}: no answer in {body!r}")


def call(tool: str, **arguments: object) -> JsonObject:
    """Call a tool on the test's sandbox and return its result; end the test if it is an error."""
    result = request("tools/call", {"name": tool, "arguments": {"sandbox": SANDBOX, "namespace": TENANT, **arguments}})
    if result.get("isError"):
        sys.exit(f"{tool}: {result}")
    print(f"{tool}: {result['content'][0]['text']}", flush=True)
    return result


def main() -> None:
    """Go the way of an agent, from the key to the result."""
    status, _, _ = post({"jsonrpc": "2.0", "id": 0, "method": "tools/list"}, api_key=None)
    if status != http.client.UNAUTHORIZED:
        sys.exit(f"a call without an API key was answered with HTTP {status}")

    client = {"name": "helm-test", "version": "1"}
    server = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    print(f"initialize: {server['serverInfo']}", flush=True)
    tools = [tool["name"] for tool in request("tools/list", {})["tools"]]
    print(f"tools/list: {', '.join(tools)}", flush=True)

    try:
        call("sandbox_start")
        outcome = call("sandbox_run_code", code="1+1", language="python")["structuredContent"]
        if outcome["status"] != "ok" or outcome["result"] != "2":
            sys.exit(f"1+1 came back as {outcome}")
    finally:
        call("sandbox_stop", delete=True)


main()
