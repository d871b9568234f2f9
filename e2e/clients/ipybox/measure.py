"""Runs in ipybox's own environment: the same work as on our side, through its MCP server. Prints figures as JSON.

usage: measure.py CALLS PRINTED_BYTES KILL_TIMEOUT_S
"""

import asyncio
import json
import os
import pathlib
import sys
import tempfile
import time
from typing import Any, TextIO

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CELL = "execute_ipython_cell"
WARM_UP = 20


async def timed(session: ClientSession, tool: str, **arguments: Any) -> tuple[float, str]:
    """Milliseconds of a call, and its text."""
    begun = time.perf_counter()
    answer = await session.call_tool(tool, arguments)
    elapsed = (time.perf_counter() - begun) * 1000
    return elapsed, "".join(getattr(part, "text", "") for part in answer.content)


async def measure(quiet: TextIO, workspace: str, calls: int, printed: int, kill_timeout_s: float) -> dict[str, Any]:
    program = pathlib.Path(sys.executable).with_name("ipybox")
    server = StdioServerParameters(command=str(program), args=["--workspace", workspace, "--log-level", "CRITICAL"])
    async with stdio_client(server, quiet) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        taken = [await timed(session, CELL, code="1+1") for _ in range(WARM_UP + calls)][WARM_UP:]
        _, text = await timed(
            session, CELL, code=f"for _ in range({printed // 1000}): print('x' * 999)", max_output_chars=2 * printed
        )
        reset_ms, _ = await timed(session, "reset")
        killed_ms, _ = await timed(session, CELL, code="import os; os.kill(os.getpid(), 9)", timeout=kill_timeout_s)
        return {
            "calls_ms": [elapsed for elapsed, _ in taken],
            "lost_results": sum(text != "2" for _, text in taken),
            "returned_bytes": len(text),
            "reset_ms": reset_ms,
            "killed_kernel_noticed_ms": killed_ms,
        }


def main() -> None:
    calls, printed, kill_timeout_s = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    with tempfile.TemporaryDirectory() as workspace:
        with open(os.devnull, "w") as quiet:
            found = asyncio.run(measure(quiet, workspace, calls, printed, kill_timeout_s))
        print(json.dumps(found))


main()
