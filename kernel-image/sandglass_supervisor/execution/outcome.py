"""How an execution ended: the status words and their sentences (pure)."""

import re
from typing import Any, Final, NamedTuple

from ..processes.cgroup import Memory
from .hint import FREE_MEMORY, MORE_TIME, STOP_AND_START, Hint

OK: Final = "ok"
ERROR: Final = "error"
TIMEOUT: Final = "timeout"
INTERRUPTED: Final = "interrupted"
KERNEL_DIED: Final = "kernel_died"
OOM_KILLED: Final = "oom_killed"
ENV_ERROR: Final = "env_error"
REJECTED: Final = "rejected"

_SHARE_TOLD: Final = 8  # shared memory is named from an eighth of the limit on
_LOST = (
    "The kernel was restarted and its variables are lost; files are kept. "
    "Run the code that made the variables again before you use them."
)

OUTPUT_LOST: Final = "The end of its output is lost: a message was too large, or the code broke its own output channel."

LEFT_WRITING: Final = (
    "What it left running goes on, but its further output is dropped. To keep that, send it into a file:"
    " 'server >server.log 2>&1 &'."
)


# As Python says it of a thread and of a process, and Node of either.
_REFUSED = re.compile(r"can't start new thread|\[Errno 11\]|\bEAGAIN\b")


class Outcome(NamedTuple):
    """The end of an execution; ``message`` is empty or says what and why, ``hint`` what to do in a contract's words."""

    status: str
    message: str = ""
    exit_code: int | None = None
    signal: int | None = None
    execution_count: int | None = None
    kernel_restarted: bool = False
    hint: Hint | None = None

    def to_json(self, duration_ms: float, *, truncated: bool) -> dict[str, Any]:
        """The wire's outcome object; ``truncated`` tells that output was dropped."""
        said: dict[str, Any] = {
            "status": self.status,
            "duration_ms": round(duration_ms, 1),
            "exit_code": self.exit_code,
            "signal": self.signal,
            "execution_count": self.execution_count,
            "kernel_restarted": self.kernel_restarted,
            "message": self.message,
            "truncated": truncated,
        }
        return said if self.hint is None else {**said, "hint": self.hint.to_json()}


def timed_out(timeout_s: float, outcome: Outcome) -> Outcome:
    """The outcome of an execution whose time was up, however it ended afterwards."""
    message = f"The time-out of {timeout_s:g} s was reached and the run was interrupted."
    return outcome._replace(status=TIMEOUT, message=_with_loss(message, outcome), hint=MORE_TIME)


def interrupted(outcome: Outcome) -> Outcome:
    """The outcome of an execution that a caller interrupted, however it ended afterwards."""
    message = _with_loss("The run was interrupted by a caller.", outcome)
    return outcome._replace(status=INTERRUPTED, message=message, hint=None)


def _with_loss(message: str, outcome: Outcome) -> str:
    if outcome.message == OUTPUT_LOST:
        message = f"{message} {OUTPUT_LOST}"
    return f"{message} It did not react, so its process was killed. {_LOST}" if outcome.kernel_restarted else message


def kernel_died(signal: int | None, exit_code: int | None, *, broken: bool = False) -> Outcome:
    """The kernel's process ended under the execution; ``broken``: it was killed for what came by its own channel."""
    because = ", because something wrote into the kernel's own channel, descriptor 4" if broken else ""
    message = f"The kernel's process ended {_how(signal, exit_code)} while the code ran{because}. {_LOST}"
    return Outcome(KERNEL_DIED, message, exit_code, signal, kernel_restarted=True)


def lost_before(signal: int | None, exit_code: int | None, *, out_of_memory: bool, deaf: bool) -> str:
    """What the next execution is told when the kernel's process ended while none ran."""
    how = "because it took no more requests" if deaf else _how(signal, exit_code)
    how = "because the sandbox's memory was full" if out_of_memory else how
    return f"Before this run, while nothing ran, the kernel's process ended {how}. {_LOST}"


# Why a sandbox was suspended; the words are the operator's.
_SUSPENDED: Final = {
    "Idle": "because nobody used it",
    "MaxLifetime": "because it reached its maximum lifetime",
    "Requested": "on request",
}


def pod_replaced(reason: str) -> str:
    """What the first execution of a session is told in a pod that came after another; ``reason`` may be empty."""
    if reason in _SUSPENDED:
        return (
            f"Before this run, the sandbox was suspended {_SUSPENDED[reason]}, and was resumed: variables of earlier"
            " calls were lost, so were files outside a workspace that is kept. Run the code that made them again before"
            " you use them."
        )
    because = f" ({reason})" if reason else ""
    return (
        f"Before this run, the sandbox's pod was replaced{because}. Variables of earlier runs are lost, and files "
        "outside a persistent workspace. Run the code that made them again before you use them."
    )


CONTAINER_RESTARTED: Final = (
    "Before this run, the sandbox's container was restarted. Variables of earlier runs are lost; files are kept. "
    "Run the code that made the variables again before you use them."
)


def _how(signal: int | None, exit_code: int | None) -> str:
    return f"by signal {signal}" if signal is not None else f"with exit code {exit_code}"


_OPEN: Final = (
    "The sandbox got a connection to {}, which its NetworkPolicies must close: this cluster does not enforce them, or"
    " not from a pod's start, so code here could reach everything."
)


def network_open(reached: object) -> str:
    """Why no code runs in a sandbox whose network is open, in sentences without the last full stop."""
    return (
        f"{_OPEN.format(reached)} This is for the cluster's administrator to mend: docs/operations.md, 'NetworkPolicies"
        " that are not enforced', says how"
    )


def network_open_but_allowed(reached: object) -> str:
    """The warning to a run in such a sandbox, where the installation lets it run."""
    return f"{_OPEN.format(reached)} It runs because the installation's networkPolicy.requireEnforcement is false."


def cut_off(refusal: str) -> Outcome:
    """The network turned out to be open while the execution ran."""
    return Outcome(INTERRUPTED, f"The run was ended. {refusal}.", hint=STOP_AND_START)


def not_begun(refusal: str) -> Outcome:
    """The network turned out to be open before the execution ran."""
    return Outcome(REJECTED, f"Not started: {refusal}.", hint=STOP_AND_START)


def ended_on_purpose(what: str) -> Outcome:
    """A caller reset or closed the session under the execution; ``what`` is the participle."""
    message = f"The session was {what} by a caller while the code ran. Its variables are lost; files are kept."
    return Outcome(INTERRUPTED, message, kernel_restarted=True)


def oom_killed(memory: Memory, *, kernel: bool, exit_code: int | None = None) -> Outcome:
    """The process was killed because the sandbox reached its memory limit.

    ``exit_code`` is that of a shell, if it was a process below one.
    """
    message = f"Killed at {_full(memory)}: use less memory, or start a sandbox with more."
    signal = 9 if exit_code is None else None
    return Outcome(OOM_KILLED, f"{message} {_LOST}" if kernel else message, exit_code, signal, kernel_restarted=kernel)


def killed_beside(memory: Memory) -> str:
    """The warning to an execution during which a process was killed at the memory limit: Linux does not say whose."""
    return (
        f"While this ran, a process in the sandbox was killed at {_full(memory)}; what that one was to do may be"
        " missing. Use less memory, or start a sandbox with more."
    )


def _full(memory: Memory) -> str:
    bound = f"the sandbox's memory limit of {_mib(memory.limit)}" if memory.limit else "the memory limit"
    shared = memory.shared or 0
    # Ending a process frees none of it, so it must be named where it is what fills the memory.
    is_told = memory.limit and shared * _SHARE_TOLD >= memory.limit
    facts = [f"peak {_mib(memory.peak)}"] if memory.peak else []
    facts += [f"shared memory, such as files in /dev/shm, has {_mib(shared)} of it"] if is_told else []
    return f"{bound} ({'; '.join(facts)})" if facts else bound


def heap_full(exit_code: int | None, signal: int | None) -> Outcome:
    """The kernel's process ended itself because the interpreter's own memory was full."""
    message = (
        "The kernel ended because its heap was full; its size follows the sandbox's memory limit: use less memory, or"
        f" start a sandbox with more. {_LOST}"
    )
    return Outcome(OOM_KILLED, message, exit_code, signal, kernel_restarted=True)


def crowded(outcome: Outcome, most: int) -> str | None:
    """What to do if the code ended because it was refused a process or thread; its own error does not say by what."""
    if outcome.status != ERROR or not _REFUSED.search(outcome.message):
        return None
    return (
        f"If it could not start a process or thread: the sandbox may have {most} at a time. Use fewer, or start a"
        " sandbox with more memory."
    )


def never_ran(cause: str) -> Outcome:
    """The execution was still queued when its kernel was lost."""
    message = f"This did not run: {cause} before its turn. Variables are lost; run it again if it does not need them."
    return Outcome(KERNEL_DIED, message, kernel_restarted=True)


def no_kernel(reason: str) -> Outcome:
    """No kernel could be started for the execution."""
    return Outcome(ENV_ERROR, f"The kernel could not be started: {reason}")


def no_memory_to_start(memory: Memory) -> Outcome:
    """No kernel could be started for the execution, since each was killed for lack of memory."""
    message = f"The kernel could not be started: it was killed at {_full(memory)}."
    return Outcome(OOM_KILLED, message, signal=9, kernel_restarted=True, hint=FREE_MEMORY)


def _mib(size: int) -> str:
    return f"{size / 1048576:.0f} MiB"
