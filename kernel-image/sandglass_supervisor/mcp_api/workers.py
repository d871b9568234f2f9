"""Makes the modules in a process of its own, which may hang, end or want too much memory without harm."""

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

from . import bounds
from .modules import Module, Tool, typed, untyped

_READ_BYTES = 1 << 16


def made(server: str, tools: list[Tool]) -> list[Module]:
    """A module for each tool, in their order."""
    end = time.monotonic() + bounds.TOTAL_S
    modules: list[Module] = []
    ends = 0
    while len(modules) < len(tools):
        modules += _some(server, tools, len(modules), end)
        if len(modules) == len(tools):
            break
        ends += 1
        if time.monotonic() >= end or ends >= bounds.ENDS:
            why = "its server's schemas took too long" if time.monotonic() >= end else "other schemas broke too much"
            modules += [untyped(server, tool, why) for tool in tools[len(modules) :]]
        else:
            why = f"reading its schema took more than {bounds.TOOL_S:.0f} s, or too much memory"
            modules.append(untyped(server, tools[len(modules)], why))
    return modules


def _some(server: str, tools: list[Tool], first: int, end: float) -> Iterator[Module]:
    """The modules from the first on, until the process ends or takes too long for one."""
    source, target = os.pipe()
    process = os.fork()
    if not process:
        os.close(source)
        _work(server, tools[first:], target)
    os.close(target)
    try:
        for line in _lines(source, end):
            yield Module(*json.loads(line))
    finally:
        os.close(source)
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _lines(source: int, end: float) -> Iterator[bytes]:
    rest = b""
    until = min(end, time.monotonic() + bounds.TOOL_S)
    while select.select([source], [], [], max(until - time.monotonic(), 0))[0]:
        data = os.read(source, _READ_BYTES)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines
        if lines:
            until = min(end, time.monotonic() + bounds.TOOL_S)


def _limit(kind: int, most: int) -> None:
    """Lower a limit; one that is lower already stays, as it cannot be raised."""
    _, hard = resource.getrlimit(kind)
    if hard == resource.RLIM_INFINITY or hard > most:
        resource.setrlimit(kind, (most, most))


def _made(server: str, tool: Tool) -> Module:
    try:
        return typed(server, tool)
    except MemoryError:
        return untyped(server, tool, "reading its schema took too much memory")
    except Exception as error:  # noqa: BLE001 - a fault of ours harms this tool alone, too
        return untyped(server, tool, f"its schema could not be read ({type(error).__name__})")


def _work(server: str, tools: list[Tool], target: int) -> None:
    """In the new process, which ends here."""
    try:
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_DATA, bounds.MEMORY_BYTES)
        # What it prints is nobody's answer.
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, sys.stdout.fileno())
        os.dup2(nothing, sys.stderr.fileno())
        with open(target, "wb", buffering=0) as answers:
            for tool in tools:
                answers.write(json.dumps(_made(server, tool)).encode() + b"\n")
    finally:
        os._exit(0)
