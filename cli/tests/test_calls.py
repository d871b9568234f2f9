"""One call and its answer: what is sent, what is tried again, and which errors there are."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest

from sandglass.config.settings import Settings
from sandglass.errors import ConnectionLost, EndpointError, SandglassError, ToolError
from sandglass.wire import exchange
from sandglass.wire.client import AsyncClient, Client
from sandglass.wire.messages import ToolAnswer, ToolCall, header_value
from sandglass.wire.retries import Failure, delay, retry_after
from tests.endpoint import TOKEN, Endpoint, Json, Reply, in_turn, result, streamed

Call = Callable[[Endpoint, ToolCall], ToolAnswer]
ONCE = ToolCall("sandbox_run_code", {"code": "1"})
AGAIN = ToolCall("sandbox_list", {}, is_repeatable=True)


def settings(endpoint: Endpoint, token: str = TOKEN) -> Settings:
    return Settings(endpoint.url, token, None)


def sync_call(endpoint: Endpoint, call: ToolCall) -> ToolAnswer:
    client = Client(settings(endpoint))
    try:
        return client.call(call)
    finally:
        client.close()


def async_call(endpoint: Endpoint, call: ToolCall) -> ToolAnswer:
    async def main() -> ToolAnswer:
        client = AsyncClient(settings(endpoint))
        try:
            return await client.call(call)
        finally:
            await client.close()

    return asyncio.run(main())


both = pytest.mark.parametrize("made", [sync_call, async_call])
BROKEN = Reply(breaks=True)
BUSY = Reply(
    {"jsonrpc": "2.0", "error": {"code": -32603, "message": "Too much at once"}}, 503, headers={"Retry-After": "0"}
)


@both
def test_the_answer_has_text_data_and_pictures(endpoint: Endpoint, made: Call) -> None:
    picture: Json = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    endpoint.tools["sandbox_list"] = lambda _: result({"status": "ok"}, "said", images=[picture])
    assert made(endpoint, AGAIN) == ToolAnswer("said", {"status": "ok"}, (("image/png", b"hi"),), False)


@both
def test_progress_comes_before_the_answer(endpoint: Endpoint, made: Call) -> None:
    heard: list[tuple[int, str]] = []
    call = ToolCall("sandbox_run_code", {"code": "é\u2028😀"}, on_progress=lambda p: heard.append((p.position, p.text)))
    endpoint.tools["sandbox_run_code"] = lambda _: streamed([(2, "a\n"), (4, "b\n")], result(text="done"))
    assert made(endpoint, call).text == "done"
    assert heard == [(2, "a\n"), (4, "b\n")]
    assert endpoint.calls("sandbox_run_code") == [{"code": "é\u2028😀"}]


@both
def test_a_call_that_does_no_harm_is_made_again_when_its_connection_breaks(endpoint: Endpoint, made: Call) -> None:
    endpoint.tools["sandbox_list"] = in_turn(BROKEN, streamed([], None), Reply(status=502), result(text="at last"))
    assert made(endpoint, AGAIN).text == "at last"


@both
@pytest.mark.parametrize("breaking", [BROKEN, streamed([(1, "x")], None)])
def test_a_call_that_may_have_run_is_not_made_again(endpoint: Endpoint, made: Call, breaking: Reply) -> None:
    endpoint.tools["sandbox_run_code"] = in_turn(breaking)
    with pytest.raises(ConnectionLost):
        made(endpoint, ONCE)
    assert len(endpoint.received) == 1


@both
def test_what_was_refused_as_busy_did_not_run_and_is_made_again(endpoint: Endpoint, made: Call) -> None:
    endpoint.tools["sandbox_run_code"] = in_turn(BUSY, result(text="ran"))
    assert made(endpoint, ONCE).text == "ran"


@both
def test_trying_again_ends(endpoint: Endpoint, made: Call) -> None:
    endpoint.tools["sandbox_list"] = lambda _: BUSY
    with pytest.raises(EndpointError, match="HTTP 503: Too much at once"):
        made(endpoint, AGAIN)
    assert len(endpoint.received) == 8


@both
def test_an_endpoint_that_is_not_there_is_named(made: Call) -> None:
    absent = Endpoint.__new__(Endpoint)
    # Taken, so that it is nobody else's, and nothing listens there.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        absent.url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        with pytest.raises(EndpointError, match=f"{absent.url} cannot be reached"):
            made(absent, ONCE)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (result(text="Error: 'code' must be a text", is_error=True), ToolError, "^'code' must be a text$"),
        (Reply({"error": {"code": -32602, "message": "Tool 'x' not found"}}), ToolError, "Tool 'x' not found"),
        (Reply({"error": {"code": -32600, "message": "Invalid request: wait"}}, 400), ToolError, "Invalid request"),
        (Reply(None, 404), EndpointError, "no MCP endpoint at this URL .HTTP 404.: it usually ends with /mcp"),
        (Reply(None, 301), EndpointError, "HTTP 301"),
        (Reply({"odd": 1}), EndpointError, "neither a result nor an error"),
        (Reply(None), EndpointError, "is not JSON"),
        (result(images=[{"type": "image", "data": "?"}]), EndpointError, "not base64"),
    ],
)
def test_each_refusal_is_one_line_that_says_what_to_do(
    endpoint: Endpoint, reply: Reply | Json, kind: type[SandglassError], words: str
) -> None:
    endpoint.tools["sandbox_run_code"] = lambda _: reply
    with pytest.raises(kind, match=words):
        sync_call(endpoint, ONCE)


def test_a_key_that_is_refused_is_not_said(endpoint: Endpoint) -> None:
    client = Client(settings(endpoint, "sgk_wrong"))
    with pytest.raises(EndpointError, match=r"refused the key .HTTP 401, Unauthorized.*set SANDGLASS_TOKEN") as refused:
        client.call(ONCE)
    client.close()
    assert "sgk_wrong" not in str(refused.value)


def test_an_answer_that_is_too_large_is_refused(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MAX_ANSWER_BYTES", 1000)
    endpoint.tools["sandbox_run_code"] = lambda _: result(text="x" * 1000)
    with pytest.raises(EndpointError, match="more than 1000 bytes"):
        sync_call(endpoint, ONCE)


def test_a_name_that_no_header_can_hold_is_encoded() -> None:
    assert header_value("sandbox_run_code") == "sandbox_run_code"
    assert header_value("größe") == "=?base64?Z3LDtsOfZQ==?="
    assert header_value("=?base64?") == "=?base64?PT9iYXNlNjQ/?="


def test_pauses_grow_are_bounded_and_heed_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandglass.wire.retries._FIRST_DELAY_S", 0.25)
    assert [delay(AGAIN, Failure.BROKEN, attempt) for attempt in (1, 2, 3, 4, 5)] == [0.25, 0.5, None, None, None]
    assert [delay(AGAIN, Failure.BROKEN, attempt, None, 8) for attempt in (3, 7, 8)] == [1.0, 10.0, None]
    assert delay(ONCE, Failure.NOT_SENT, 1, asked=2.0) == 2.0
    assert delay(ONCE, Failure.BUSY, 1, asked=9999.0) == 10.0
    assert [retry_after(value) for value in ("3", "Wed, 21 Oct 2026", "-1", "²", "9" * 30, None)] == [3.0] + [None] * 5
