"""Running code and commands, and reading what they print until they end. Pure: steps that yield calls.

A run is started in the background and then read. So its answer cannot get lost: a connection that breaks, or a gateway
that dies, breaks a reading alone, and readings are tried again from where they were.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from sandglass.core import reading
from sandglass.core.facts import Execution
from sandglass.errors import ConfigurationError
from sandglass.wire.messages import Progress, ToolAnswer, ToolCall

T = TypeVar("T")
Steps = Generator[ToolCall, ToolAnswer, T]
"""Work without I/O: yields calls, is sent their answers, returns what came of it."""


class Walk(Protocol):
    """Makes the calls of steps and returns what came of them."""

    def __call__(self, steps: Steps[T]) -> T:
        """Walks them."""


class AsyncWalk(Protocol):
    """The same in a coroutine."""

    def __call__(self, steps: Steps[T]) -> Awaitable[T]:
        """Walks them."""


OnOutput = Callable[[str], None]
OnPage = Callable[[Execution], None]

WAIT_S = 45
PAGE_CHARS = 500_000
MOST_CHARS = 64 * 1024 * 1024
TOO_LONG = f"the output has more than {MOST_CHARS} characters: let the code write a file, and copy it"


@dataclass(frozen=True)
class Listener:
    """Who watches a run.

    `on_started` gets the id once there is one. `on_output` gets the text as it is printed, both streams mixed; with
    `on_page` instead, pages of both streams apart come every `wait_s` seconds.
    """

    on_started: Callable[[str], None] | None = None
    on_output: OnOutput | None = None
    on_page: OnPage | None = None
    wait_s: float = WAIT_S


LISTENER = Listener()
AT_ONCE = Listener(wait_s=0)
"""For what was printed until now."""


@dataclass(frozen=True)
class Where:
    """Which sandbox."""

    sandbox: str
    namespace: str | None = None

    def arguments(self, **more: Any) -> dict[str, Any]:
        """Its arguments for a tool, with others; those that are None are left out."""
        all_of_them = {"sandbox": self.sandbox, "namespace": self.namespace, **more}
        return {name: value for name, value in all_of_them.items() if value is not None}


@dataclass(frozen=True)
class Code:
    """Code to be run."""

    text: str
    language: str = "python"
    session: str | None = None
    timeout: float | None = None
    envs: Mapping[str, str] | None = None

    def call(self, where: Where) -> ToolCall:
        """The call that starts it."""
        session = self.session if self.language != "bash" else None
        envs = dict(self.envs) if self.envs else None
        return ToolCall(
            "sandbox_run_code",
            where.arguments(
                code=self.text,
                language=self.language,
                session=session,
                timeout=self.timeout,
                envs=envs,
                background=True,
            ),
        )


@dataclass(frozen=True)
class Command:
    """A program with its arguments; a text alone is a command line for bash."""

    command: str | Sequence[str]
    cwd: str | None = None
    stdin: str | None = None
    timeout: float | None = None
    envs: Mapping[str, str] | None = None

    def call(self, where: Where) -> ToolCall:
        """The call that starts it."""
        if isinstance(self.command, str):
            program, args = self.command, None
        elif not self.command:
            raise ConfigurationError("the command is empty: give a program and its arguments")
        else:
            # Without arguments the endpoint may take the program for a command line: 'env' runs it as it is.
            words = list(self.command) if len(self.command) > 1 else ["env", "--", self.command[0]]
            program, args = words[0], words[1:]
        envs = dict(self.envs) if self.envs else None
        return ToolCall(
            "sandbox_run_command",
            where.arguments(
                command=program,
                args=args,
                cwd=self.cwd,
                stdin=self.stdin,
                timeout=self.timeout,
                envs=envs,
                background=True,
            ),
        )


def run(work: Code | Command, where: Where, listener: Listener) -> Steps[Execution]:
    """Runs to the end."""
    begun = reading.execution((yield work.call(where)))
    if begun.status != "running" or not begun.id:
        return begun
    if listener.on_started is not None:
        listener.on_started(begun.id)
    rest = yield from read(begun.id, listener)
    return replace(
        rest,
        is_new_sandbox=begun.is_new_sandbox,
        is_restarted=begun.is_restarted or rest.is_restarted,
        warning=rest.warning or begun.warning,
    )


def read(execution_id: str, listener: Listener, offset: int = 0, follows: bool = True) -> Steps[Execution]:
    """Reads an execution from its beginning, or from an offset, to its end, or to what there is of one that runs."""
    live = _Live(listener.on_output, offset) if listener.on_output is not None else None
    whole: Execution | None = None
    while True:
        answer = yield ToolCall(
            "sandbox_get_execution",
            {
                "execution_id": execution_id,
                "offset": offset,
                "wait": listener.wait_s,
                "max_output_chars": PAGE_CHARS,
            },
            is_repeatable=True,
            on_progress=live.heard if live is not None else _ignored,
        )
        page = reading.execution(answer)
        if listener.on_page is not None:
            listener.on_page(page)
        whole = page if whole is None else reading.joined(whole, page)
        if len(whole.stdout) + len(whole.stderr) > MOST_CHARS:
            raise ConfigurationError(TOO_LONG)
        is_over = (page.status != "running" or not follows) and not page.is_cut
        if is_over or page.next_offset is None:
            return whole
        offset = page.next_offset
        if live is not None:
            # Notes count as progress too: where the output really is, the page alone says.
            live.position = offset


def interrupt(where: Where, execution_id: str) -> Steps[None]:
    """Interrupts one execution, as Ctrl-C does."""
    yield ToolCall("sandbox_interrupt", where.arguments(execution_id=execution_id), is_repeatable=True)


def _ignored(_: Progress) -> None:
    """Progress is asked for all the same: with it the endpoint is never silent for longer than 15 s."""


@dataclass
class _Live:
    """Passes on each piece of output once, also where a reading is made again, and no note of the gateway."""

    on_output: OnOutput
    position: int

    def heard(self, progress: Progress) -> None:
        if not progress.is_note(self.position) and progress.position > self.position:
            self.position = progress.position
            self.on_output(progress.text)
