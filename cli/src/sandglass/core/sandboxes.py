"""Starting, stopping, listing and measuring sandboxes. Pure: steps that yield calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandglass.core import reading
from sandglass.core.facts import SandboxState, Started, Usage
from sandglass.core.runs import Steps, Where
from sandglass.errors import SandglassError, ToolError
from sandglass.wire.messages import ToolCall

MOST_WAITS = 6
"""A start holds the line for 50 s: so many times it is asked again before it counts as failed."""


class StillStarting(ToolError):
    """A start that took longer than a command waits; it goes on."""


def start(where: Where, config: Mapping[str, Any] | None = None) -> Steps[Started]:
    """Starts it, or changes what `config` names; waits until it can run code."""
    call = ToolCall("sandbox_start", where.arguments(config=dict(config) if config else None), is_repeatable=True)
    for _ in range(MOST_WAITS):
        begun = reading.started((yield call))
        if begun.status != "starting":
            return begun
    raise StillStarting(begun.message)


def start_or_undo(where: Where, config: Mapping[str, Any] | None = None) -> Steps[Started]:
    """Starts it. A sandbox that this start made and that never ran is deleted again, never one that was there.

    The endpoint does so within one call. A start of more than one finds in the later ones what the first one made.
    """
    was_there = (yield from _state(where)) is not None
    try:
        return (yield from start(where, config))
    except StillStarting:
        raise
    except ToolError as failure:
        if was_there or (yield from _state(where)) != "starting":
            raise
        try:
            yield from stop(where, delete=True)
        except SandglassError:
            raise failure from None
        raise ToolError(f"{failure} The sandbox that this start made was deleted again.") from None


def _state(where: Where) -> Steps[str | None]:
    """The state of a sandbox; None if it is not there. One that cannot be asked for counts as running."""
    try:
        found = yield from list_all(where.namespace, where.sandbox)
    except ToolError as refused:
        return None if f"'{where.sandbox}' not found" in str(refused) else "running"
    except SandglassError:
        return "running"
    return found[0].state if len(found) == 1 else "running"


def stop(where: Where, delete: bool = False) -> Steps[str]:
    """Stops it, or deletes it with its files; what there is to say of it."""
    call = ToolCall("sandbox_stop", where.arguments(delete=True if delete else None), is_repeatable=True)
    return (yield call).text


def list_all(namespace: str | None = None, sandbox: str | None = None) -> Steps[tuple[SandboxState, ...]]:
    """All sandboxes of a namespace, or one with its newest executions."""
    return reading.sandboxes((yield ToolCall("sandbox_list", _chosen(namespace, sandbox), is_repeatable=True)))


def metrics(namespace: str | None = None, sandbox: str | None = None) -> Steps[tuple[Usage, ...]]:
    """What they use."""
    return reading.usages((yield ToolCall("sandbox_get_metrics", _chosen(namespace, sandbox), is_repeatable=True)))


def _chosen(namespace: str | None, sandbox: str | None) -> dict[str, Any]:
    chosen = {"namespace": namespace, "sandbox": sandbox}
    return {name: value for name, value in chosen.items() if value is not None}
