"""What a kernel's process is to the kernel, whatever language it runs: one interface, a maker for each language."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ..link.arguments import Execute
from ..loop import Loop
from ..processes.belongings import Belongings
from ..processes.children import Children
from ..processes.offspring import Offspring
from ..shared.text import plain
from .jupyter import Message

_REASON_CHARS = 400


class Place(NamedTuple):
    """Where kernels live: shared by all of them."""

    loop: Loop
    children: Children
    offspring: Offspring
    folder: str
    workspace: str
    env: dict[str, str]
    belongings: Belongings


class Ending(NamedTuple):
    """How the process ended, and the end of what it wrote to its own standard error, unless that was told before.

    ``heap_full``: it ended itself because its own memory, not the sandbox's, was full. ``broken``: it was killed
    because what came by the channel of its messages was none; ``deaf``: because it took no more requests.
    """

    exit_code: int | None
    signal: int | None
    stderr: str
    heap_full: bool = False
    broken: bool = False
    deaf: bool = False

    @property
    def reason(self) -> str:
        """Its last line in quotes, since code may have chosen the words, or how it ended if it wrote none."""
        lines = plain(self.stderr).splitlines()
        if not lines:
            return f"exit code {self.exit_code}, signal {self.signal}"
        words = lines[-1][:_REASON_CHARS].replace('"', "'")
        return f'its last words were "{words}"'


class Listener(Protocol):
    """Whom the process tells what happens to it."""

    def kernel_ready(self) -> None:
        """It answers: executions may be sent."""

    def kernel_said(self, message: Message) -> None:
        """A message about an execution, in Jupyter's words; what a run wrote comes before its reply."""

    def kernel_lost_output(self) -> None:
        """The way of the output broke, and what was on it is lost; what comes from now on is heard."""

    def kernel_ended(self, ending: Ending) -> None:
        """The process is gone with all that it started, and all it had said was told before."""


class KernelProcess(Protocol):
    """Lives from its construction to ``kernel_ended``; after that it is of no more use."""

    @property
    def alive(self) -> bool:
        """False once the process is known to have ended, some time before ``kernel_ended``."""

    @property
    def mark(self) -> int:
        """What all its processes bear (see ``children``)."""

    def put_variables(self, env: dict[str, str]) -> None:
        """Have the code find these in its environment from the first run on; nothing has run in it yet.

        They go with that run's request, so that nothing in the pod can see them before.
        """

    def execute(self, msg_id: str, request: Execute) -> None:
        """Ask the kernel to run the request's code with its variables in the environment."""

    def has_begun(self, msg_id: str) -> bool:
        """True once the code of that execution runs, or has run: then it can be interrupted.

        May be asked until ``kernel_ended`` returns.
        """

    def interrupt(self) -> None:
        """Stop what runs, as Control-C does in a terminal; without effect on code that does not react."""

    def kill(self, *, is_idle: bool = False) -> None:
        """End the kernel and what it started; ``kernel_ended`` follows, at once if nobody waits for its last words."""

    def hold(self) -> None:
        """Read no more output until ``release``: the kernel will block when the buffers between are full."""

    def release(self) -> None:
        """Read output again."""

    def resubscribe(self) -> None:
        """Open the way of the output anew; ``kernel_ready`` follows."""


Maker = Callable[[Place, Listener], KernelProcess]
