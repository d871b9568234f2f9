"""`logs`: what ran in a sandbox, and what it printed."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from sandglass.command_line.common import Box, Form, Namespace, Output, client, note, plain, say, where, write
from sandglass.command_line.screen import Screen
from sandglass.core import runs, sandboxes
from sandglass.core.facts import Execution, KnownExecution
from sandglass.core.runs import Listener
from sandglass.errors import ToolError
from sandglass.sandbox import walk
from sandglass.terminal.text import line
from sandglass.wire.client import Client

MOST = 64
"""So many are listed."""


def logs(
    sandbox: Box,
    last: Annotated[int, typer.Option("--last", min=1, max=MOST, help="How many runs, the newest ones.")] = 10,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow those that run to their end.")] = False,
    namespace: Namespace = None,
    output: Output = Form.TEXT,
) -> None:
    """Shows the output of what ran in a sandbox, the newest run last.

    A sandbox remembers its newest runs; 'sandglass ls SANDBOX' lists them, and 'sandglass attach EXECUTION' shows one
    with its pictures.
    """
    with client(namespace) as (connected, found):
        place = where(found, sandbox)
        states = walk(connected, sandboxes.list_all(place.namespace, place.sandbox))
        known = [each for state in states for each in state.executions][:last]
        if output is Form.JSON:
            read = (_read(connected, each, runs.LISTENER if follow else runs.AT_ONCE, follow) for each in known[::-1])
            write([plain(execution) for execution in read if execution is not None])
            return
        if not known:
            note(f"nothing ran in {sandbox}, or it does not run: it remembers no runs")
        for each in known[::-1]:
            if len(known) > 1:
                say(f"==> {line(each.id)} ({line(each.kind)}, {line(each.state)})")
            _show(connected, each, follow)


def _show(connected: Client, known: KnownExecution, follow: bool) -> None:
    with Screen(Form.TEXT, None) as screen:
        execution = _read(connected, known, screen.listener(None) if follow else runs.AT_ONCE, follow)
        if execution is None:
            return
        if execution.images:
            count = "1 picture" if len(execution.images) == 1 else f"{len(execution.images)} pictures"
            note(f"{count}: 'sandglass attach {execution.id}' has them")
        screen.finish(replace(execution, images=()), shown_already=follow)


def _read(connected: Client, known: KnownExecution, listener: Listener, follow: bool) -> Execution | None:
    try:
        return walk(connected, runs.read(known.id, listener, follows=follow))
    except ToolError as error:
        # It was forgotten meanwhile; the others are there.
        note(str(error))
        return None
