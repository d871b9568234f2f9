"""Callers live on machines of their own: what they wait for is the sandbox, and never a processor of its node."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def caller() -> Iterator[None]:
    """Let this thread run before all that it measures, as if it had a processor to itself.

    More than a third of what slow calls took beside a bomb was the bench's own client waiting for the bomb, by the
    scheduler's trace of the slowest 30 of 1,000 calls. Needs CAP_SYS_NICE; without it the figures hold the
    client's waiting, too.
    """
    policy, former = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        # Programs that it starts are no callers.
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except PermissionError:
        print("  the caller shares the processors with the sandboxes (no CAP_SYS_NICE)", flush=True)
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, former)
