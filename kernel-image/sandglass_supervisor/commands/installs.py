"""Installing packages: a command that the supervisor words itself, one at a time."""

import time
from collections.abc import Callable, Mapping

from ..execution import outcome
from ..execution.execution import Execution
from ..execution.outcome import ERROR, OK, TIMEOUT, Outcome
from ..limits import QUESTION_S
from ..link.arguments import Command, Install
from ..link.wire import Problem
from . import packages
from .commands import Commands
from .packages import Installer

_READ = "The installer's last lines say why. Correct the name, the version or the path, and install again."
_NO_GIT = (
    "This image has no git, which a URL of git's needs. Name the archive of the same sources instead (a URL that ends"
    " in .zip or .tar.gz), or use an image that has git."
)
_WIDE = {"COLUMNS": "4096"}  # or a long address is broken over two lines


class Installs:
    """One at a time: two installers would write to the same folders."""

    def __init__(
        self,
        commands: Commands,
        workspace: str,
        env: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._commands = commands
        self._clock = clock
        self._workspace = workspace
        self._env = env
        self._busy = False

    def check_room(self) -> None:
        """Raise Problem if another installation would be refused."""
        if self._busy:
            raise Problem("rejected", "packages are being installed already, and only one installation runs at a time")
        self._commands.check_room()

    def run(self, execution: Execution, wanted: Install) -> None:
        """Start the installer; whatever happens to it, the execution gets its outcome."""
        try:
            program = packages.installer(wanted.language, wanted.packages, self._workspace, self._env)
        except OSError as error:
            execution.finish(Outcome(ERROR, f"The installer could not be started: {error.strerror}."))
            return
        command = Command(
            execution.id,
            program.argv,
            self._workspace,
            program.once,
            b"",
            wanted.timeout_s,
            wanted.block,
            wanted.attach,
        )
        until = self._clock() + wanted.timeout_s

        def tried(ended: Outcome) -> None:
            left = until - self._clock()
            failed = ended.status == OK and ended.exit_code != 0
            if failed and left > 0 and program.once and packages.may_pass(execution.journal.tail()):
                again = command._replace(envs=program.again, timeout_s=left)
                self._commands.run(execution, again, concluded)
            else:
                concluded(ended)

        def concluded(ended: Outcome) -> None:
            late = ended.status == TIMEOUT
            self._conclude(execution, program, outcome.timed_out(wanted.timeout_s, ended) if late else ended)

        self._busy = True
        try:
            self._commands.run(execution, command, tried)
        except Exception:
            self._busy = False
            raise

    def _conclude(self, execution: Execution, program: Installer, ended: Outcome) -> None:
        output = execution.journal.tail()
        if ended.status == OK and ended.exit_code != 0:
            ended = ended._replace(status=ERROR)  # a command may end with any code, an installation failed
        if ended.status not in (ERROR, TIMEOUT) or not packages.is_unreached(output):
            failed = ended.status == ERROR and not ended.message
            why = _NO_GIT if packages.lacks_git(output) else _READ
            self._finish(execution, ended._replace(message=why) if failed else ended)
            return

        def finish(hosts: list[str]) -> None:
            why, what_helps = packages.no_network(hosts, output)
            message = f"{ended.message} {why}".strip()
            self._finish(execution, ended._replace(message=message, hint=what_helps or ended.hint))

        hosts = packages.hosts_in(output)
        if hosts:
            finish(hosts)
        else:
            execution.interrupt = lambda: False  # it has ended; what is asked now takes no long time
            question = Command(execution.id, program.question, self._workspace, _WIDE, b"", QUESTION_S, False, False)
            self._commands.ask(question, lambda answer: finish(packages.index_in(answer)))

    def _finish(self, execution: Execution, ended: Outcome) -> None:
        self._busy = False
        execution.finish(ended)
