"""What servers are run with, and the processes that hold their sessions: each fits any server, until it has one."""

import os
from contextlib import suppress
from typing import NamedTuple

from ..loop import Loop
from ..processes import safe_argv
from ..processes.children import Children, Program
from ..processes.offspring import Offspring
from .budget import Budget

_MODULE = "sandglass_supervisor.mcp_client.session_process"


class Means(NamedTuple):
    """What servers are run with: shared by all of them.

    ``env`` is the code's, ``packages`` the folder with SDK and generator, ``secrets`` the one with files of Secrets,
    ``budget`` is for bytes that wait, ``ahead`` the process that waits for a server.
    """

    loop: Loop
    children: Children
    offspring: Offspring
    env: dict[str, str]
    workspace: str
    packages: str
    secrets: str
    budget: Budget
    ahead: "Ahead"

    def own_env(self) -> dict[str, str]:
        """The environment of programs of ours: what the code's says of Python is not for them."""
        kept = {name: value for name, value in self.env.items() if not name.startswith("PYTHON")}
        return {**kept, "PYTHONNOUSERSITE": "1", "SANDGLASS_MCP_PACKAGES": self.packages}


class SessionProcess:
    """A process and our ends of its pipes. Raises OSError if there can be none.

    Who takes it sets ``child.ended`` and closes the pipes; until then its end does.
    """

    def __init__(self, means: Means) -> None:
        self._means = means
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for written_here in (False, False, True):
                reader, writer = os.pipe()
                ours.append(writer if written_here else reader)
                theirs.append(reader if written_here else writer)
            null = os.open(os.devnull, os.O_RDWR)
            theirs.append(null)
            errors, answers, requests = theirs[:3]
            program = Program(safe_argv.module(_MODULE), means.own_env(), "/", null, null, errors, (requests, answers))
            self.child = means.children.start(program, self._unused)
        except OSError:
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self.errors, self.answers, self.requests = ours
        os.set_blocking(self.errors, False)

    def _unused(self, _status: int) -> None:
        for descriptor in (self.errors, self.answers, self.requests):
            os.close(descriptor)
        self._means.offspring.end(self.child, lambda: None)


class Ahead:
    """At most one session process that has no server yet, so that the next start need not wait for its imports."""

    def __init__(self) -> None:
        self._waiting: SessionProcess | None = None

    def start(self, means: Means) -> None:
        """Have one wait; without effect if there can be none."""
        with suppress(OSError):
            self._waiting = SessionProcess(means)

    def take(self, means: Means) -> SessionProcess:
        """The one that waits, or a new one; raises OSError if there can be none."""
        waiting, self._waiting = self._waiting, None
        return waiting if waiting is not None and waiting.child.alive else SessionProcess(means)
