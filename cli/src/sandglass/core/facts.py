"""What the endpoint reports, as typed values. Pure; a field of the wrong kind is an error that names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sandglass.errors import EndpointError, ExecutionError

T = TypeVar("T")


class Fields:
    """The fields of one object of an answer."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """A text; empty if it is missing."""
        return self._of(name, str, "a text") or ""

    def text_or_none(self, name: str) -> str | None:
        """A text or null."""
        return self._of(name, str, "a text")

    def integer(self, name: str) -> int | None:
        """A whole number or null."""
        return self._of(name, int, "a whole number")

    def number(self, name: str) -> float | None:
        """A number or null."""
        value = self._values.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise EndpointError(f"the endpoint's answer has no number in '{name}'")
        return value

    def flag(self, name: str) -> bool:
        """True or false; false if it is missing."""
        return self._of(name, bool, "true or false") or False

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty if it is missing."""
        return tuple(str(each) for each in self._of(name, list, "a list") or ())

    def objects(self, name: str) -> tuple[Fields, ...] | None:
        """A list of objects or null."""
        values = self._of(name, list, "a list")
        return None if values is None else tuple(Fields(each) for each in values if isinstance(each, dict))

    def object(self, name: str) -> Fields | None:
        """An object or null."""
        value = self._of(name, dict, "an object")
        return None if value is None else Fields(value)

    def value(self, name: str) -> Any:
        """Whatever is there."""
        return self._values.get(name)

    def _of(self, name: str, kind: type[T], words: str) -> T | None:
        value = self._values.get(name)
        if value is None or (isinstance(value, kind) and (kind is bool or not isinstance(value, bool))):
            return value
        raise EndpointError(f"the endpoint's answer has not {words} in '{name}'")


@dataclass(frozen=True)
class Image:
    """A picture that code drew."""

    mime_type: str
    data: bytes = field(repr=False)
    path: str | None = None
    """The file in the sandbox with the full size, if `data` is scaled down."""


@dataclass(frozen=True)
class CodeError:
    """The exception that ended code."""

    name: str
    message: str
    traceback: str = field(repr=False)


@dataclass(frozen=True)
class Execution:
    """One run of code or of a command, and how it ended."""

    id: str
    status: str
    """`ok`, `running`, or how it failed: `error`, `timeout`, `interrupted`, `kernel_died`, `oom_killed`, `lost`, …"""
    stdout: str = ""
    stderr: str = ""
    result: str | None = None
    """The value of the last expression, as text."""
    data: Any = None
    """The same as data, where the code displayed it as JSON."""
    error: CodeError | None = None
    images: tuple[Image, ...] = ()
    exit_code: int | None = None
    signal: int | None = None
    duration_ms: int = 0
    lost_bytes: int = 0
    denied_hosts: tuple[str, ...] = ()
    is_restarted: bool = False
    """Variables of earlier calls are lost."""
    is_new_sandbox: bool = False
    message: str = ""
    warning: str | None = None
    next_offset: int | None = None
    is_cut: bool = False

    @property
    def text(self) -> str:
        """What a person would have seen: standard output, standard error, the last value, the traceback."""
        parts = [self.stdout, self.stderr, self.result or "", self.error.traceback if self.error else ""]
        joined = ""
        for part in parts:
            joined += "\n" + part if joined and part and not joined.endswith("\n") else part
        return joined

    @property
    def results(self) -> tuple[Any, ...]:
        """The value of the last expression: as data if there is data, else as text; empty if there is none."""
        if self.data is not None:
            return (self.data,)
        return () if self.result is None else (self.result,)

    @property
    def is_ok(self) -> bool:
        """Whether it ran to its end, without an exception, and with exit code 0 if it was a command."""
        return self.status == "ok" and self.exit_code in (None, 0)

    def check(self) -> Execution:
        """Itself if it went well, else `ExecutionError`."""
        if self.is_ok:
            return self
        if self.error is not None:
            raise ExecutionError(f"{self.error.name}: {self.error.message}")
        ended = f"exit code {self.exit_code}" if self.exit_code else self.status
        raise ExecutionError(f"{ended}: {self.message}" if self.message else ended)


@dataclass(frozen=True)
class Port:
    """Where a port of a sandbox is reached."""

    port: int
    url: str
    """For programs, which send their API key as bearer token."""
    link: str | None
    """For browsers; a permission in itself, so treat it like a key."""
    link_expires_at: str | None


@dataclass(frozen=True)
class Started:
    """What became of a start."""

    sandbox: str
    namespace: str
    status: str
    ports: tuple[Port, ...]
    message: str
    warning: str | None


@dataclass(frozen=True)
class Session:
    """A set of variables in a sandbox."""

    language: str
    name: str
    state: str
    executions: int


@dataclass(frozen=True)
class KnownExecution:
    """An execution that a sandbox remembers."""

    id: str
    state: str
    kind: str


@dataclass(frozen=True)
class SandboxState:
    """One sandbox of a list."""

    namespace: str
    name: str
    state: str
    detail: str | None
    sessions: tuple[Session, ...]
    executions: tuple[KnownExecution, ...]


@dataclass(frozen=True)
class Usage:
    """What a sandbox uses. None: it did not say, or does not run."""

    namespace: str
    name: str
    is_running: bool
    cpu_percent: float | None
    memory_mib: float | None
    memory_limit_mib: float | None
    disk_bytes: int | None
    disk_limit_bytes: int | None
    uptime_s: float | None
    pids: int | None


@dataclass(frozen=True)
class Entry:
    """A file, folder or link in a sandbox."""

    path: str
    type: str
    """`file`, `folder`, `link` or `other`."""
    size: int | None
    modified: str
