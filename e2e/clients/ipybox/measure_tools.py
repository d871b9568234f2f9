"""Runs in ipybox's own environment: registers an MCP server there and prints the output of a cell that calls its tool.

usage: measure_tools.py NAME SERVER.py CELL.py
"""

import asyncio
import os
import pathlib
import sys
import tempfile
from typing import TextIO

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def measure(quiet: TextIO, workspace: str, name: str, server: str, cell: str) -> str:
    program = pathlib.Path(sys.executable).with_name("ipybox")
    parameters = StdioServerParameters(command=str(program), args=["--workspace", workspace, "--log-level", "CRITICAL"])
    async with stdio_client(parameters, quiet) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        how = {"command": "python3", "args": [server]}
        registered = await session.call_tool("register_mcp_server", {"server_name": name, "server_params": how})
        if registered.isError:
            raise RuntimeError(str(registered.content))
        answer = await session.call_tool("execute_ipython_cell", {"code": cell, "max_output_chars": 1_000_000})
        return "".join(getattr(part, "text", "") for part in answer.content)


def main() -> None:
    name, server, cell = sys.argv[1:]
    with tempfile.TemporaryDirectory() as workspace, open(os.devnull, "w") as quiet:
        print(asyncio.run(measure(quiet, workspace, name, server, pathlib.Path(cell).read_text())))


main()
