"""From the data of answers to facts. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sandglass.core.facts import (
    CodeError,
    Entry,
    Execution,
    Fields,
    Image,
    KnownExecution,
    Port,
    SandboxState,
    Session,
    Started,
    Usage,
)
from sandglass.wire.messages import ToolAnswer


def execution(answer: ToolAnswer) -> Execution:
    """One page of an execution."""
    fields = Fields(answer.data)
    error = fields.object("error")
    paths = [each.text_or_none("path") for each in fields.objects("images") or ()]
    paths += [None] * (len(answer.images) - len(paths))
    return Execution(
        id=fields.text("execution_id"),
        status=fields.text("status"),
        stdout=fields.text("stdout"),
        stderr=fields.text("stderr"),
        result=fields.text_or_none("result"),
        data=fields.value("result_json"),
        error=None if error is None else _error(error),
        images=tuple(Image(mime, data, path) for (mime, data), path in zip(answer.images, paths, strict=False)),
        exit_code=fields.integer("exit_code"),
        signal=fields.integer("signal"),
        duration_ms=fields.integer("duration_ms") or 0,
        lost_bytes=fields.integer("lost_bytes") or 0,
        denied_hosts=fields.texts("denied_hosts"),
        is_restarted=fields.flag("kernel_restarted"),
        is_new_sandbox=fields.flag("sandbox_created"),
        message=fields.text("message"),
        warning=fields.text_or_none("warning"),
        next_offset=fields.integer("next_offset"),
        is_cut=fields.flag("truncated"),
    )


def joined(before: Execution, page: Execution) -> Execution:
    """An execution of which another page was read: text goes on, the outcome is the newest."""
    return replace(
        page,
        id=before.id or page.id,
        stdout=before.stdout + page.stdout,
        stderr=before.stderr + page.stderr,
        result=_longer(before.result, page.result),
        data=page.data if before.result is None else None,
        error=_joined_error(before.error, page.error),
        images=before.images + page.images,
        lost_bytes=before.lost_bytes + page.lost_bytes,
        denied_hosts=tuple(dict.fromkeys(before.denied_hosts + page.denied_hosts)),
        is_restarted=before.is_restarted or page.is_restarted,
        is_new_sandbox=before.is_new_sandbox or page.is_new_sandbox,
        warning=page.warning or before.warning,
    )


def started(answer: ToolAnswer) -> Started:
    """The answer to a start."""
    fields = Fields(answer.data)
    return Started(
        fields.text("sandbox"),
        fields.text("namespace"),
        fields.text("status"),
        tuple(
            Port(
                port.integer("port") or 0,
                port.text("url"),
                port.text_or_none("link"),
                port.text_or_none("link_expires_at"),
            )
            for port in fields.objects("ports") or ()
        ),
        fields.text("message"),
        fields.text_or_none("warning"),
    )


def sandboxes(answer: ToolAnswer) -> tuple[SandboxState, ...]:
    """The answer to a list, ordered by namespace and name."""
    return _ordered(
        SandboxState(
            each.text("namespace"),
            each.text("name"),
            each.text("state"),
            each.text_or_none("detail"),
            tuple(
                Session(s.text("language"), s.text("session"), s.text("state"), s.integer("executions") or 0)
                for s in each.objects("sessions") or ()
            ),
            tuple(
                KnownExecution(run.text("execution_id"), run.text("state"), run.text("kind"))
                for run in each.objects("executions") or ()
            ),
        )
        for each in Fields(answer.data).objects("sandboxes") or ()
    )


def usages(answer: ToolAnswer) -> tuple[Usage, ...]:
    """The answer to a question for metrics."""
    return tuple(
        Usage(
            each.text("namespace"),
            each.text("name"),
            each.flag("running"),
            each.number("cpu_usage"),
            each.number("memory_usage"),
            each.number("memory_limit"),
            each.integer("disk_usage"),
            each.integer("disk_limit"),
            each.number("uptime"),
            each.integer("pids"),
        )
        for each in Fields(answer.data).objects("sandboxes") or ()
    )


def entries(answer: ToolAnswer) -> tuple[tuple[Entry, ...], bool]:
    """The answer to a listing of a folder, and whether there is more."""
    fields = Fields(answer.data)
    found = tuple(
        Entry(each.text("path"), each.text("type"), each.integer("size"), each.text("modified"))
        for each in fields.objects("entries") or ()
    )
    return found, fields.flag("truncated")


def _ordered(states: Iterable[SandboxState]) -> tuple[SandboxState, ...]:
    return tuple(sorted(states, key=lambda state: (state.namespace, state.name)))


def _error(fields: Fields) -> CodeError:
    return CodeError(fields.text("name"), fields.text("message"), fields.text("traceback"))


def _joined_error(before: CodeError | None, page: CodeError | None) -> CodeError | None:
    if before is None or page is None:
        return page or before
    return replace(page, traceback=before.traceback + page.traceback)


def _longer(before: str | None, page: str | None) -> str | None:
    return page if before is None else before + (page or "")
