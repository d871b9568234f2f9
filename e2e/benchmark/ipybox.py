"""Side by side with ipybox from its package: the same four things through each one's MCP server, in one run."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import platform
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

from agent import Agent

from .cold_start import Failed, start, stop
from .figures import summary

CLIENT = pathlib.Path(__file__).parent.parent / "clients/ipybox"
REQUIREMENTS = CLIENT / "requirements.txt"
PRINTED_BYTES = 20_000_000
KILL_TIMEOUT_S = 5
CALLS = 100
WARM_UP = 20


def measure(agent: Agent) -> dict[str, Any]:
    python = environment() / "bin/python"
    theirs = run_theirs(python)
    print("  ipybox is measured", flush=True)
    return {"calls": CALLS, "printed_bytes": PRINTED_BYTES, "ipybox": theirs, "sandglass": run_ours(agent)}


def run_theirs(python: pathlib.Path) -> dict[str, Any]:
    client = [str(each) for each in (python, CLIENT / "measure.py", CALLS, PRINTED_BYTES, KILL_TIMEOUT_S)]
    with tempfile.TemporaryDirectory() as folder:
        env = variables(python, folder)
        answer = subprocess.run(client, capture_output=True, text=True, check=False, timeout=300, env=env)
    if answer.returncode != 0:
        raise Failed(f"ipybox: {answer.stderr[-500:]}")
    found = json.loads(answer.stdout.splitlines()[-1])
    return {**found, "calls_ms": summary(found["calls_ms"])}


def variables(python: pathlib.Path, folder: str) -> dict[str, str]:
    """The environment of ipybox's programs; ``folder`` is for the settings of IPython."""
    return {**os.environ, "IPYTHONDIR": folder, "PATH": f"{python.parent}:{os.environ['PATH']}"}


def run_ours(agent: Agent) -> dict[str, Any]:
    sandbox = f"bench-{secrets.token_hex(3)}"
    start(agent, sandbox)
    try:
        for _ in range(WARM_UP):
            timed(agent, sandbox, "1+1", "ok", result="2")
        calls_ms = [timed(agent, sandbox, "1+1", "ok", result="2") for _ in range(CALLS)]
        returned = 0

        def count(text: str) -> None:
            nonlocal returned
            returned += len(text.encode())

        agent.call(
            "sandbox_run_code",
            count,
            sandbox=sandbox,
            code=f"for _ in range({PRINTED_BYTES // 1000}): print('x' * 999)",
        )
        begun = time.perf_counter()
        agent.call("sandbox_reset", sandbox=sandbox)
        reset_ms = (time.perf_counter() - begun) * 1000
        killed_ms = timed(agent, sandbox, "import os; os.kill(os.getpid(), 9)", "kernel_died")
    finally:
        stop(agent, sandbox)
    return {
        "calls_ms": summary(calls_ms),
        "lost_results": 0,  # one would have ended the run
        "returned_bytes": returned,
        "reset_ms": reset_ms,
        "killed_kernel_noticed_ms": killed_ms,
    }


def timed(agent: Agent, sandbox: str, code: str, status: str, result: str | None = None) -> float:
    begun = time.perf_counter()
    answer = agent.call("sandbox_run_code", sandbox=sandbox, code=code)
    elapsed = (time.perf_counter() - begun) * 1000
    if answer["status"] != status or answer["result"] != result:
        raise Failed(f"{code}: {answer.text}")
    return elapsed


def environment() -> pathlib.Path:
    """The virtual environment of ipybox, made once for each list of requirements and each Python."""
    caches = os.environ.get("XDG_CACHE_HOME", f"{pathlib.Path.home()}/.cache")
    cache = pathlib.Path(os.environ.get("SANDGLASS_CACHE", f"{caches}/sandglass")) / "e2e-ipybox"
    digest = hashlib.sha256(REQUIREMENTS.read_bytes() + f"{sys.executable} {platform.python_version()}".encode())
    place = cache / digest.hexdigest()[:16]
    if not place.exists():
        print("  installing ipybox, once", flush=True)
        cache.mkdir(parents=True, exist_ok=True)
        # Made beside its place and then moved there, so that a half-made one is never used.
        making = pathlib.Path(tempfile.mkdtemp(dir=cache))
        try:
            subprocess.run([sys.executable, "-m", "venv", making], check=True)
            pip = f"{making}/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement"
            subprocess.run([*pip.split(), str(REQUIREMENTS)], check=True)
            relocated(making, place)
            making.rename(place)
        finally:
            shutil.rmtree(making, ignore_errors=True)
    return place


def relocated(making: pathlib.Path, place: pathlib.Path) -> None:
    """Programs of an environment name its place in their first line."""
    for program in (making / "bin").iterdir():
        if program.is_file() and not program.is_symlink():
            program.write_bytes(program.read_bytes().replace(str(making).encode(), str(place).encode()))
