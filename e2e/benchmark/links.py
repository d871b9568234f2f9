"""One gateway with a link to each of very many sandboxes: what it holds, and what a call takes then. Needs no cluster.

The gateway is the program and the flags of its image; Kubernetes and the supervisors are stand-ins on loopback.
"""

from __future__ import annotations

import contextlib
import json
import pathlib
import secrets
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from agent import Agent

from . import gateway_process
from .cluster_api import ROOT
from .cold_start import Failed
from .crowd import all_at_once
from .figures import summary
from .overhead import connect, raw_request, read_answer

LINKS = 1000
CALLERS = 20
CALLS_EACH = 20
# As stand_ins calls them.
NAMES = [f"link-{number:04}" for number in range(LINKS)]
OPEN = "sandglass_links_open"


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        secret, keys = pathlib.Path(folder, "secret"), pathlib.Path(folder, "keys")
        secret.write_text(secrets.token_hex(32))
        keys.mkdir()
        with stand_ins(secret) as kubernetes, gateway_process.running(kubernetes, secret, keys) as gateway:
            agent = Agent(gateway.url, gateway.token)
            idle, _ = gateway.memory_mib()
            opening = one_call_each(agent)
            all_open(gateway)
            print(f"  {LINKS} links are open", flush=True)
            alone, at_once = one_call_each(agent), many_calls(agent)
            now, most = gateway.memory_mib()
            # None was closed meanwhile: the figures are those of so many.
            all_open(gateway)
            return {
                "links": LINKS,
                "opening_ms": summary(opening),
                "alone_ms": summary(alone),
                "callers": CALLERS,
                "at_once_ms": summary(at_once),
                "without_links_rss_mib": idle,
                "rss_mib": now,
                "most_rss_mib": most,
                "threads": gateway.count("task"),
                "open_files": gateway.count("fd"),
            }


@contextlib.contextmanager
def stand_ins(secret: pathlib.Path) -> Iterator[str]:
    """Address of an API that knows so many running sandboxes; they answer while this lasts."""
    python = subprocess.run([ROOT / "kernel-image/check", "--venv"], capture_output=True, text=True, check=True)
    words = [python.stdout.strip(), "-m", "benchmark.stand_ins", str(LINKS), str(secret)]
    with subprocess.Popen(words, cwd=ROOT / "e2e", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip() if process.stdout else ""
            if not address:
                raise Failed("the stand-ins for sandboxes did not start")
            yield address
        finally:
            process.kill()


def one_call_each(agent: Agent) -> list[float]:
    """Milliseconds of a call to each sandbox, one after the other."""
    taken: list[float] = []
    with connect(agent) as connection:
        for number in range(LINKS):
            request = raw_request(agent, NAMES[number])
            begun = time.perf_counter()
            connection.sendall(request)
            answer = read_answer(connection)
            taken.append((time.perf_counter() - begun) * 1000)
            if json.loads(answer)["result"].get("structuredContent", {}).get("result") != "2":
                raise Failed(f"the call to sandbox {number} gave {answer.decode()}")
    return taken


def many_calls(agent: Agent) -> list[float]:
    """Milliseconds of calls by several callers at once, until each sandbox had its number of them: links in use."""
    taken: list[float] = []
    for first in range(0, LINKS, CALLERS):
        names = NAMES[first : first + CALLERS]
        times, errors = all_at_once([agent] * len(names), names, CALLS_EACH)
        if errors:
            raise Failed(errors[0])
        taken += times
    return taken


def all_open(gateway: gateway_process.GatewayProcess) -> None:
    found = gateway.metric(OPEN)
    if found != LINKS:
        raise Failed(f"{found:.0f} links are open, not {LINKS}")
