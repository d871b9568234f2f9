"""The messages of a client on standard input, and what goes to the endpoint and back. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandglass.wire.messages import EVENTS, JSON, header_value

MAX_LINE_BYTES = 16 * 1024 * 1024
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603
LEGACY = "2025-11-25"
MODERN = "2026-07-28"

_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_NOTIFICATION = b'{"jsonrpc":"2.0","method":'
_ANSWER = b'{"jsonrpc":"2.0","id":'
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_MAX_SHOWN = 1000

# Reading twice or writing the same bytes to the same place twice does no harm.
_REPEATABLE_TOOLS = frozenset(
    {
        "list_sessions",
        "sandbox_get_execution",
        "sandbox_get_metrics",
        "sandbox_list",
        "sandbox_list_files",
        "sandbox_read_file",
        "sandbox_start",
        "sandbox_write_file",
    }
)


@dataclass(frozen=True)
class Incoming:
    """One message of the client."""

    body: bytes
    content: Mapping[str, Any]

    @property
    def method(self) -> str:
        """Its method; empty for an answer, which nothing waits for."""
        method = self.content.get("method")
        return method if isinstance(method, str) else ""

    @property
    def id(self) -> str | int | None:
        """Its id; None for a notification."""
        given = self.content.get("id")
        return given if isinstance(given, str | int) and not isinstance(given, bool) else None

    @property
    def params(self) -> Mapping[str, Any]:
        """Its parameters."""
        params = self.content.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def tool(self) -> str:
        """The tool that it calls; empty if it calls none."""
        name = self.params.get("name")
        return name if self.method == "tools/call" and isinstance(name, str) else ""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments for the tool."""
        arguments = self.params.get("arguments")
        return arguments if isinstance(arguments, dict) else {}

    @property
    def revision(self) -> str | None:
        """The revision that it names itself, as those of 2026-07-28 do."""
        meta = self.params.get("_meta")
        version = meta.get(_META_VERSION) if isinstance(meta, dict) else None
        return version if isinstance(version, str) else None

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent again although it may have arrived."""
        return self.method != "tools/call" or self.tool in _REPEATABLE_TOOLS

    def with_arguments(self, arguments: Mapping[str, Any]) -> Incoming:
        """The same with other arguments for its tool."""
        content = {**self.content, "params": {**self.params, "arguments": dict(arguments)}}
        return Incoming(encoded(content), content)


def parse(line: bytes) -> Incoming | bytes:
    """The message of a line, or the error that answers it."""
    if len(line) > MAX_LINE_BYTES:
        return error(
            None, INVALID_REQUEST, f"a message must have at most {MAX_LINE_BYTES} bytes: write large files in pieces"
        )
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return error(None, PARSE_ERROR, "Parse error: a line must be one message of JSON in UTF-8")
    if not isinstance(content, dict) or content.get("jsonrpc") != "2.0":
        return error(
            None, INVALID_REQUEST, "Invalid request: a message must be an object of JSON-RPC 2.0, and no batch"
        )
    incoming = Incoming(line.strip(), content)
    return _unanswerable(incoming) or incoming


def _unanswerable(incoming: Incoming) -> bytes | None:
    """The error for a request without a method or an id of the right kind, which would have no answer otherwise."""
    content = incoming.content
    if "method" not in content and ("result" in content or "error" in content):
        return None
    if not incoming.method:
        return error(incoming.id, INVALID_REQUEST, "Invalid request: 'method' must be a text that is not empty")
    if "id" in content and incoming.id is None:
        return error(None, INVALID_REQUEST, "Invalid request: 'id' must be a text or a whole number")
    return None


def headers(incoming: Incoming, revision: str | None, session: str | None) -> dict[str, str]:
    """The headers of its POST; `revision` and `session` are those of the client's `initialize`."""
    found = {"Content-Type": JSON, "Accept": f"{JSON}, {EVENTS}"}
    version = incoming.revision or revision
    if version is not None and incoming.method != "initialize":
        found["MCP-Protocol-Version"] = header_value(version)
    if incoming.revision is not None:
        found["Mcp-Method"] = header_value(incoming.method)
        name = incoming.params.get(_NAMES.get(incoming.method, ""))
        if isinstance(name, str):
            found["Mcp-Name"] = header_value(name)
    if session is not None:
        found["Mcp-Session-Id"] = session
    return found


def is_notification(data: bytes) -> bool:
    """Whether an event is a notification; without reading a large answer twice."""
    if data.startswith((_NOTIFICATION, _ANSWER)):
        return data.startswith(_NOTIFICATION)
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "method" in content


def answer(status: int, body: bytes, incoming: Incoming) -> bytes:
    """The line that answers a request whose answer was no stream: the body, unless it has no id of ours."""
    if status == 200 and body.startswith(_ANSWER + json.dumps(incoming.id).encode() + b","):
        return line(body)
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict) and content.get("id") == incoming.id and ("result" in content or "error" in content):
        return line(body)
    told = content.get("error") if isinstance(content, dict) else None
    if isinstance(told, dict) and isinstance(told.get("code"), int) and isinstance(told.get("message"), str):
        return error(incoming.id, told["code"], told["message"], told.get("data"))
    return error(incoming.id, INTERNAL_ERROR, f"the endpoint answered HTTP {status} without a message of MCP")


def failure(incoming: Incoming, why: str) -> bytes:
    """The line that answers a request which did not reach its end: for a tool, a result that the model sees."""
    if not incoming.tool:
        return error(incoming.id, INTERNAL_ERROR, why)
    return result(incoming, f"Error: {why}", is_error=True)


def rewritten(answer: bytes, rewrite: Callable[[str], str]) -> bytes:
    """The line of a tool's answer with other words, if it says that the call failed; else the same line."""
    try:
        content = json.loads(answer)
        parts = content["result"]["content"] if content["result"].get("isError") is True else ()
        for part in parts:
            if isinstance(part.get("text"), str):
                part["text"] = rewrite(part["text"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return answer
    return encoded(content) if parts else answer


def result(incoming: Incoming, text: str, is_error: bool = False) -> bytes:
    """The line with a tool's result of our own."""
    content: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    if incoming.revision is not None:
        content["resultType"] = "complete"
    return encoded({"jsonrpc": "2.0", "id": incoming.id, "result": content})


def progress(incoming: Incoming, done: float, total: int | None, words: str) -> bytes | None:
    """The line that reports progress; None if the client wants none."""
    meta = incoming.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    if token is None:
        return None
    params = {"progressToken": token, "progress": done, "message": words}
    if total is not None:
        params["total"] = total
    return encoded({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def error(message_id: str | int | None, code: int, words: str, data: Any = None) -> bytes:
    """The line with an error."""
    told: dict[str, Any] = {"code": code, "message": words[:_MAX_SHOWN]}
    if data is not None:
        told["data"] = data
    return encoded({"jsonrpc": "2.0", "id": message_id, "error": told})


def line(body: bytes) -> bytes:
    """A message on one line: between the tokens of JSON a line end is a space."""
    return body.replace(b"\r", b" ").replace(b"\n", b" ") if b"\n" in body or b"\r" in body else body


def encoded(content: Mapping[str, Any]) -> bytes:
    """A message as JSON on one line."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=True).encode()
