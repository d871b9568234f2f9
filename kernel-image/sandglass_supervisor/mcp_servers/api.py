"""Has the API of a server written into the workspace, by a program with the rights of the code: schemas are hostile."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from ..commands.pipes import holding
from ..limits import (
    MCP_GENERATE_S,
    MCP_MADE_BYTES,
    MCP_NOTES,
    MCP_STDERR_BYTES,
    MCP_STOP_S,
    MCP_TEXT_CHARS,
    MCP_TOOLS,
    MCP_VALUES,
    MESSAGE_CHARS,
    SLICE_BYTES,
)
from ..processes import safe_argv
from ..processes.children import Child, Program
from ..shared.json_frames import BrokenFrames, from_json, to_json
from ..shared.text import one_line
from .process import Means
from .words import Tool

_MODULE = "sandglass_supervisor.mcp_api.generate"
FOLDER = "mcptools"

Done = Callable[[dict[str, Any] | str], None]


class Generation:
    """One run of the generator; ``done`` gets what it made, or why it made nothing."""

    def __init__(self, means: Means, server: str, tools: list[Tool], done: Done) -> None:
        self._means = means
        self._done = done
        self._said = {"out": b"", "errors": b""}
        self._late = self._over = False
        self._child: Child | None = None
        self._readers: dict[str, int] = {}
        theirs: list[int] = []
        try:
            for stream in self._said:
                reader, writer = os.pipe()
                self._readers[stream] = reader
                theirs.append(writer)
                os.set_blocking(reader, False)
            theirs.append(holding(_wanted(server, os.path.join(means.workspace, FOLDER), tools)))
            out, errors, stdin = theirs
            program = Program(safe_argv.module(_MODULE), means.own_env(), means.workspace, stdin, out, errors)
            self._child = means.children.start(program, self._ended)
        except OSError as error:
            for reader in self._readers.values():
                os.close(reader)
            words = f"the API cannot be written: {error}"
            means.loop.call_in(0, lambda: self._finish(words))
            return
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self._timer = means.loop.call_in(MCP_GENERATE_S, self._expire)
        for stream, reader in self._readers.items():
            means.loop.watch(reader, partial(self._readable, stream))

    def _readable(self, stream: str) -> None:
        self._read(stream)

    def _read(self, stream: str) -> bool:
        with suppress(BlockingIOError):
            data = os.read(self._readers[stream], SLICE_BYTES)
            self._said[stream] += data
            if not data or len(self._said[stream]) > MCP_MADE_BYTES:
                self._means.loop.unwatch(self._readers[stream])
            return bool(data) and len(self._said[stream]) <= MCP_MADE_BYTES
        return False

    def stop(self) -> None:
        """End it; ``done`` is called all the same."""
        if self._child is not None and not self._over:
            self._child.signal_group(signal.SIGKILL)

    def _expire(self) -> None:
        self._late = True
        self.stop()
        # Traced by code, it may never be seen to end.
        self._means.loop.call_in(MCP_STOP_S, lambda: self._finish("the API was not written in time"))

    def _ended(self, status: int) -> None:
        self._timer.cancel()
        for stream, reader in self._readers.items():
            while self._read(stream):
                pass
            self._means.loop.unwatch(reader)
            os.close(reader)
        if self._child is not None:
            self._means.offspring.end(self._child, lambda: self._finish(self._outcome(status)))

    def _finish(self, made: dict[str, Any] | str) -> None:
        if not self._over:
            self._over = True
            self._done(made)

    def _outcome(self, status: int) -> dict[str, Any] | str:
        if self._late:
            return f"the API was not written within {MCP_GENERATE_S:g} s"
        made = _parse(self._said["out"]) if status == 0 else None
        if made is None:
            words = one_line(self._said["errors"][-MCP_STDERR_BYTES:].decode("utf-8", "replace"), 4 * MCP_TEXT_CHARS)
            return f"the API could not be written: {words or 'the generator gave no answer'}"
        return made


def _wanted(server: str, folder: str, tools: list[Tool]) -> bytes:
    """What the generator is asked for, with the tools as they are."""
    listed = b",".join(tool.described for tool in tools)
    return b'{"server":%s,"folder":%s,"tools":[%s]}' % (to_json(server), to_json(folder), listed)


def _parse(out: bytes) -> dict[str, Any] | None:
    """What the generator said, checked: the code has its rights and could have said it."""
    try:
        made = from_json(out, MCP_VALUES)
        if not (isinstance(made["tools"], list) and isinstance(made["notes"], list)):
            return None
        tools = made["tools"][:MCP_TOOLS]
        modules = {str(tool["name"]): one_line(str(tool["module"]), MCP_TEXT_CHARS) for tool in tools}
        return {"modules": modules, "notes": [one_line(str(note), MESSAGE_CHARS) for note in made["notes"][:MCP_NOTES]]}
    except (BrokenFrames, KeyError, TypeError):
        return None
