"""Requests to the endpoint and its answers, in revision 2026-07-28 of MCP: each request stands alone. Pure."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandglass.errors import EndpointError, SandglassError, ToolError
from sandglass.version import VERSION

REVISION = "2026-07-28"
MAX_SHOWN = 2000
JSON = "application/json"
EVENTS = "text/event-stream"

_PREFIX = "io.modelcontextprotocol/"
_PLAIN = re.compile(r"[\x21-\x7e]+")
_STILL = re.compile(r"Still [^\n]{1,200} after [0-9]+ s\.\n")

OnProgress = Callable[["Progress"], None]


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, and what may be done with it.

    `is_repeatable` says that a second call like it does no harm, so that a broken connection is tried again.
    """

    tool: str
    arguments: Mapping[str, Any]
    is_repeatable: bool = False
    on_progress: OnProgress | None = None


@dataclass(frozen=True)
class Progress:
    """What a call reports while it runs: output, or that it still runs."""

    position: int
    text: str

    def is_note(self, before: int) -> bool:
        """Whether the gateway itself speaks, as it does in silence: output gets on by its own length at least."""
        return self.position - before < len(self.text) and _STILL.fullmatch(self.text) is not None


@dataclass(frozen=True)
class ToolAnswer:
    """What a tool answered: the text for people, the data for programs, the pictures in order."""

    text: str
    data: Mapping[str, Any]
    images: tuple[tuple[str, bytes], ...]
    is_error: bool


def request(call: ToolCall, number: int) -> tuple[dict[str, str], bytes]:
    """Headers and body of the POST."""
    meta: dict[str, Any] = {
        f"{_PREFIX}protocolVersion": REVISION,
        f"{_PREFIX}clientCapabilities": {},
        f"{_PREFIX}clientInfo": {"name": "sandglass-cli", "version": VERSION},
    }
    if call.on_progress is not None:
        meta["progressToken"] = number
    params = {"name": call.tool, "arguments": dict(call.arguments), "_meta": meta}
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    headers = {
        "Content-Type": JSON,
        "Accept": f"{JSON}, {EVENTS}",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": "tools/call",
        "Mcp-Name": header_value(call.tool),
    }
    text = json.dumps(body)
    if "\\u" in text:
        # Escapes would make a text of other letters twice as long. Without them some builds of Python take five times
        # as long, which the pieces of a large file need not wait for.
        text = json.dumps(body, ensure_ascii=False)
    return headers, text.encode("utf-8", "surrogatepass")


def header_value(text: str) -> str:
    """A text as the value of a header: as it is, or in the base64 form of the specification."""
    if _PLAIN.fullmatch(text) and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def message(content: bytes) -> dict[str, Any]:
    """The one message of a body or an event."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        raise EndpointError(
            "the endpoint's answer is not JSON: is the URL that of a Sandglass endpoint (…/mcp)?"
        ) from None
    if not isinstance(parsed, dict):
        raise EndpointError("the endpoint's answer is no JSON-RPC message")
    return parsed


def progress_of(incoming: Mapping[str, Any]) -> Progress | None:
    """The progress that a message reports; None if it reports none."""
    params = incoming.get("params")
    if incoming.get("method") != "notifications/progress" or not isinstance(params, dict):
        return None
    position, text = params.get("progress"), params.get("message")
    if not isinstance(position, int) or not isinstance(text, str):
        return None
    return Progress(position, text)


def answer_of(incoming: Mapping[str, Any]) -> ToolAnswer:
    """The result of a call. `ToolError` if the call itself was wrong."""
    error = incoming.get("error")
    if isinstance(error, dict):
        raise ToolError(shown(error.get("message")))
    result = incoming.get("result")
    if not isinstance(result, dict):
        raise EndpointError("the endpoint's answer has neither a result nor an error")
    content = result.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    data = result.get("structuredContent")
    answer = ToolAnswer(
        "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text"),
        data if isinstance(data, dict) else {},
        tuple(_image(part) for part in parts if part.get("type") == "image"),
        result.get("isError") is True,
    )
    if answer.is_error and "status" not in answer.data:
        raise ToolError(answer.text.removeprefix("Error: ").strip() or "the endpoint refused the call without a reason")
    return answer


def refusal(status: int, content: bytes, challenge: str) -> SandglassError:
    """The error that an HTTP status other than 200 stands for."""
    said = _said(content)
    if status in (401, 403):
        hint = "set SANDGLASS_TOKEN to a valid API key, or store one with 'sandglass context set'"
        return EndpointError(f"the endpoint refused the key (HTTP {status}{_in_brackets(said or challenge)}): {hint}")
    if said:
        return ToolError(said) if status < 500 else EndpointError(f"HTTP {status}: {said}")
    if status in (404, 405):
        return EndpointError(f"there is no MCP endpoint at this URL (HTTP {status}): it usually ends with /mcp")
    return EndpointError(f"the endpoint answered HTTP {status} without a reason; try again, or see the gateway's log")


def shown(text: object) -> str:
    """Text from outside, short enough for an error."""
    words = text if isinstance(text, str) else "no reason given"
    return words if len(words) <= MAX_SHOWN else words[:MAX_SHOWN] + "…"


def _in_brackets(said: str) -> str:
    return f", {said}" if said else ""


def _said(content: bytes) -> str:
    try:
        error = message(content).get("error")
    except EndpointError:
        return ""
    return shown(error["message"]) if isinstance(error, dict) and isinstance(error.get("message"), str) else ""


def _image(part: Mapping[str, Any]) -> tuple[str, bytes]:
    try:
        return str(part.get("mimeType", "")), base64.b64decode(str(part.get("data", "")), validate=True)
    except ValueError:
        raise EndpointError("a picture of the endpoint's answer is not base64") from None
