"""What is tried again, and when. Pure.

A call that was not sent, or that the endpoint refused because it was busy, ran nothing: it may be tried again. A call
whose connection broke may have run: it is tried again only if a second one does no harm.
"""

from __future__ import annotations

from enum import Enum

from sandglass.wire.messages import ToolCall

ATTEMPTS = 3
"""For the first contact: a wrong address is soon told."""

PATIENT_ATTEMPTS = 8
"""Once the endpoint was reached: half a minute, in which a gateway starts again."""

MOST_DELAY_S = 10.0
_FIRST_DELAY_S = 0.25


class Failure(Enum):
    """How an attempt failed."""

    NOT_SENT = "no connection came about"
    BUSY = "the endpoint refused it for the time being"
    BROKEN = "the connection broke after the call was sent"


def delay(
    call: ToolCall, failure: Failure, attempt: int, asked: float | None = None, attempts: int = ATTEMPTS
) -> float | None:
    """Seconds until the next attempt; None if there is none. `attempt` counts from 1; `asked` is Retry-After."""
    if attempt >= attempts or (failure is Failure.BROKEN and not call.is_repeatable):
        return None
    own: float = _FIRST_DELAY_S * 2.0 ** (attempt - 1)
    return min(max(own, asked or 0.0), MOST_DELAY_S)


def retry_after(value: str | None) -> float | None:
    """The header's seconds; None if it has none, or a date."""
    return float(value) if value is not None and value.isascii() and value.isdigit() and len(value) < 7 else None
