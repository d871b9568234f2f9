"""How long a reset takes: the old kernel ended, a fresh one that answers."""

from __future__ import annotations

import secrets
import time
from typing import Any

from agent import Agent

from .cold_start import Failed, start, stop
from .figures import summary

RESETS = 20


def measure(agent: Agent) -> dict[str, Any]:
    sandbox = f"bench-{secrets.token_hex(3)}"
    start(agent, sandbox)
    try:
        times = []
        for number in range(RESETS + 1):
            agent.call("sandbox_run_code", sandbox=sandbox, code="x = 1")
            begun = time.perf_counter()
            agent.call("sandbox_reset", sandbox=sandbox)
            answer = agent.call("sandbox_run_code", sandbox=sandbox, code="'x' in globals()")
            if answer["result"] != "False":
                raise Failed(f"after the reset: {answer.text}")
            if number:
                times.append((time.perf_counter() - begun) * 1000)
    finally:
        stop(agent, sandbox)
    return summary(times)
