"""What both clients do with an answer, whichever way its bytes come. Pure but for the clock of the retries."""

from __future__ import annotations

import itertools
import ssl
from collections.abc import Iterator

import httpx

from sandglass.config.settings import Settings
from sandglass.errors import ConnectionLost, EndpointError, SandglassError
from sandglass.wire.events import MAX_EVENT_BYTES, EventReader
from sandglass.wire.messages import EVENTS, ToolAnswer, ToolCall, answer_of, message, progress_of, refusal, request
from sandglass.wire.retries import ATTEMPTS, Failure, delay, retry_after

# Longer than any silence: the gateway sends something at least every 15 s where it streams, and holds other calls for
# 50 s, the start of a sandbox included.
TIMEOUT = httpx.Timeout(connect=10.0, read=120.0, write=60.0, pool=60.0)
LIMITS = httpx.Limits(max_connections=32, max_keepalive_connections=32)
MAX_ANSWER_BYTES = MAX_EVENT_BYTES

_numbers = itertools.count(1)


class Retry(Exception):
    """This attempt failed, and another may be made."""

    def __init__(self, failure: Failure, error: SandglassError, asked: float | None = None) -> None:
        super().__init__(str(error))
        self.failure = failure
        self.error = error
        self.asked = asked

    def pause(self, call: ToolCall, attempt: int, attempts: int = ATTEMPTS) -> float:
        """Seconds until the next attempt; raises the error if there is none."""
        seconds = delay(call, self.failure, attempt, self.asked, attempts)
        if seconds is None:
            raise self.error from None
        return seconds


def client_options(settings: Settings) -> dict[str, object]:
    """What an httpx client is made with."""
    headers = {} if settings.token is None else {"Authorization": f"Bearer {settings.token}"}
    # Making a TLS context takes 30 ms, which a plain URL saves. The system's authorities count, and SSL_CERT_FILE.
    verify: object = ssl.create_default_context() if settings.url.startswith("https:") else False
    return {"headers": headers, "verify": verify, "timeout": TIMEOUT, "limits": LIMITS, "follow_redirects": False}


def posted(settings: Settings, call: ToolCall) -> tuple[str, dict[str, str], bytes]:
    """URL, headers and body of one attempt."""
    headers, body = request(call, next(_numbers))
    return f"{settings.url}?structured=true&tools=all", headers, body


class Answering:
    """Takes the bytes of one answer, reports progress, and ends with the result."""

    def __init__(self, call: ToolCall, response: httpx.Response) -> None:
        self._call = call
        self._response = response
        self._streams = response.status_code == 200 and response.headers.get("content-type", "").startswith(EVENTS)
        self._events = EventReader()
        self._body: list[bytes] = []
        self._size = 0
        self._answer: ToolAnswer | None = None

    def take(self, piece: bytes) -> None:
        """The next bytes."""
        for incoming in self._messages(piece):
            progress = progress_of(message(incoming))
            if progress is None:
                self._answer = answer_of(message(incoming))
            elif self._call.on_progress is not None:
                self._call.on_progress(progress)

    def end(self) -> ToolAnswer:
        """The result, once all bytes are there."""
        response = self._response
        if self._streams:
            if self._answer is None:
                raise Retry(Failure.BROKEN, ConnectionLost("the endpoint ended the answer before its end"))
            return self._answer
        content = b"".join(self._body)
        if response.status_code == 200:
            return answer_of(message(content))
        error = refusal(response.status_code, content, response.headers.get("www-authenticate", "")[:200])
        if response.status_code == 503:
            raise Retry(Failure.BUSY, error, retry_after(response.headers.get("retry-after")))
        if response.status_code in (502, 504):
            raise Retry(Failure.BROKEN, error)
        raise error

    def _messages(self, piece: bytes) -> Iterator[bytes]:
        if self._streams:
            yield from self._events.feed(piece)
            return
        self._size += len(piece)
        if self._size > MAX_ANSWER_BYTES:
            raise EndpointError(f"the endpoint's answer has more than {MAX_ANSWER_BYTES} bytes")
        self._body.append(piece)


def failed(error: httpx.HTTPError, settings: Settings) -> Retry:
    """What an error of the transport means for the call."""
    why = str(error) or type(error).__name__
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout):
        return Retry(Failure.NOT_SENT, EndpointError(f"{settings.url} cannot be reached: {why}"))
    return Retry(
        Failure.BROKEN,
        ConnectionLost(f"the connection to {settings.url} broke before the answer came ({why}); the call may have run"),
    )
