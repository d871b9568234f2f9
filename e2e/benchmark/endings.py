"""How soon a call is answered whose code comes to a bad end, through the gateway."""

from __future__ import annotations

import secrets
import time
from typing import Any

from agent import Agent

from .cold_start import Failed, start, stop
from .figures import summary

ROUNDS = 10
TIMEOUT_S = 1
KILLED = """
import os, time
time.sleep(0.1)  # what was said last would else count from before it was heard
print(time.time(), flush=True)
os.kill(os.getpid(), 9)
"""
# Each step is small, so that the last time told is close to the end.
HOARD = "import time\nhoard = []\nwhile True:\n    hoard.append(bytearray(4 << 20))\n    print(time.time(), flush=True)"
STUCK = "sum(range(10 ** 12))"


def measure(agent: Agent) -> dict[str, Any]:
    sandbox = f"bench-{secrets.token_hex(3)}"
    start(agent, sandbox)
    try:
        killed = [since_last_word(agent, sandbox, KILLED, "kernel_died") for _ in range(ROUNDS)]
        print("  kernels were killed", flush=True)
        hoards = [since_last_word(agent, sandbox, HOARD, "oom_killed") for _ in range(ROUNDS)]
        print("  kernels ran out of memory", flush=True)
        stuck = [past_timeout(agent, sandbox) for _ in range(ROUNDS // 2)]
    finally:
        stop(agent, sandbox)
    return {"killed_ms": summary(killed), "oom_ms": summary(hoards), "stuck_past_timeout_ms": summary(stuck)}


def since_last_word(agent: Agent, sandbox: str, code: str, status: str) -> float:
    """Milliseconds from the last time that the code told; pods and we have one clock on the machine of the cluster."""
    words: list[str] = []
    answer = agent.call("sandbox_run_code", words.append, sandbox=sandbox, code=code)
    answered = time.time()
    if answer["status"] != status:
        raise Failed(f"expected {status}: {answer.text[-300:]}")
    return (answered - float("".join(words).split()[-1])) * 1000


def past_timeout(agent: Agent, sandbox: str) -> float:
    begun = time.perf_counter()
    answer = agent.call("sandbox_run_code", sandbox=sandbox, code=STUCK, timeout=TIMEOUT_S)
    elapsed = time.perf_counter() - begun
    if answer["status"] != "timeout":
        raise Failed(f"expected timeout: {answer.text[-300:]}")
    return (elapsed - TIMEOUT_S) * 1000
