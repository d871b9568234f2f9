"""Starting, watching and ending child processes."""

import contextlib
import errno
import fcntl
import os
import resource
import secrets
import select
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from .. import linux
from ..limits import EXEC_S, SLICE_BYTES
from .call_filter import MARK_LIMIT, filter_program

_SIGNALS_OF_OURS = (signal.SIGINT, signal.SIGPIPE)  # SIGXFSZ stays ignored: a program hears that its file is too large
_EXEC_FAILED = 127
_NICEST = 19
_MARK_BITS = 60


class Program(NamedTuple):
    """What to run; descriptors stay open in the caller, and those of ``more`` are 3, 4 and so on in the program."""

    argv: Sequence[str]
    env: dict[str, str]
    cwd: str
    stdin: int
    stdout: int
    stderr: int
    more: Sequence[int] = ()


class Child:
    """A process in a session and process group of its own; ``ended`` is called once, with the wait status.

    All that descends from it bears its mark, unless ``marked`` is false: not every kernel that passes for Linux can.
    """

    def __init__(self, pid: int, mark: int, ended: Callable[[int], None]) -> None:
        self.pid = pid
        self.mark = mark
        self.ended = ended
        self.alive = True
        try:
            self.marked = mark_of(pid) == mark
        except OSError:
            self.marked = False

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the whole process group, also after the first process ended, while others of the group live."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def has_group(self) -> bool:
        """True while anything is in the process group, be it only a process that was not collected yet."""
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True


class Children:
    """Starts programs with the limits every child gets, and reaps whatever ends, orphans included.

    ``most`` is how many processes and threads of this user there may be at a time, ``max_file_bytes`` what one file may
    hold that they write. When memory ends, they go before the process whose ``oom_score`` it is: this one.
    """

    def __init__(
        self, max_processes: int, max_file_bytes: int | None = None, oom_score: linux.OomScore | None = None
    ) -> None:
        self.most = max_processes
        self._max_file_bytes = max_file_bytes
        self._oom_score = linux.OomScore() if oom_score is None else oom_score
        self._known: dict[int, Child] = {}
        self._guarded: tuple[int, ...] = ()
        self._filter = b""
        self._first = os.getpid() == 1
        self.orphans = 0
        linux.adopt_orphans()

    def start(self, program: Program, ended: Callable[[int], None]) -> Child:
        """Start a program; raises OSError if it cannot be executed or no process is left."""
        self._guard()
        failure, report = os.pipe()
        mark = 1 << _MARK_BITS | secrets.randbits(_MARK_BITS)
        self._oom_score.raise_for_children()
        try:
            pid = os.fork()
            if pid == 0:
                self._become(program, report, mark)
        except OSError:
            os.close(failure)
            raise
        finally:
            self._oom_score.restore()
            os.close(report)
        problem = _report_of(pid, failure)
        if problem:
            os.waitpid(pid, 0)
            number = int(problem)
            raise OSError(number, os.strerror(number))
        child = Child(pid, mark, ended)
        self._known[pid] = child
        return child

    def ask(self, argv: Sequence[str], env: dict[str, str], answer: Callable[[int, bytes], None]) -> Child:
        """Start a program that says a few words; ``answer`` gets its wait status and them when it has ended.

        What is left of its process group ends with it. Raises OSError as ``start`` does.
        """

        def ended(status: int) -> None:
            child.signal_group(signal.SIGKILL)
            answer(status, _rest_of(reader))

        reader, writer = os.pipe()
        try:
            # Whoever else holds the other end, be it on purpose, must not keep us reading.
            os.set_blocking(reader, False)
            with open(os.devnull, "r+b", buffering=0) as null:
                child = self.start(Program(argv, env, "/", null.fileno(), writer, null.fileno()), ended)
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        return child

    def reap(self) -> None:
        """Collect every child that has ended; as PID 1 these may be processes that nobody here started."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if os.WIFSTOPPED(status):
                # It made itself traced by its parent, which is us: from there it would never end.
                os.kill(pid, signal.SIGKILL)
                continue
            child = self._known.pop(pid, None)
            if child is None:
                self.orphans += 1
                continue
            child.alive = False
            child.ended(status)

    def kill_all(self) -> None:
        """Kill every process group started here."""
        for child in self._known.values():
            child.signal_group(signal.SIGKILL)

    def _guard(self) -> None:
        """Have what is started from now on keep its hands off the threads that there are now."""
        threads = linux.threads()
        if threads != self._guarded:
            self._guarded, self._filter = threads, filter_program(os.uname().machine, threads)

    def _become(self, program: Program, report: int, mark: int) -> NoReturn:
        """In the forked process: turn into the program, or tell the error's number and end."""
        try:
            os.setsid()
            linux.die_with_parent()
            for number in _SIGNALS_OF_OURS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            report = _arrange(program, report)
            self._confine(mark)
            os.chdir(program.cwd)
            os.execvpe(program.argv[0], list(program.argv), program.env)  # noqa: S606 - no shell is the point
        except OSError as error:
            os.write(report, b"%d" % (error.errno or errno.EIO))
        except BaseException:  # noqa: BLE001 - nothing may return from here into the supervisor's code
            os.write(report, b"%d" % errno.EIO)
        os._exit(_EXEC_FAILED)

    def _confine(self, mark: int) -> None:
        if self._first:
            # A thousand processes must not keep the supervisor waiting. The price: where both run at once on two CPUs,
            # Linux gives the kernel's less of the container's share; p99 of twenty busy sandboxes is a fifth longer.
            os.nice(_NICEST)
        _lower(resource.RLIMIT_NPROC, self.most)
        _lower(resource.RLIMIT_CORE, 0)
        if self._max_file_bytes is not None:
            _lower(resource.RLIMIT_FSIZE, self._max_file_bytes)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(MARK_LIMIT, (mark, mark))
        linux.install_filter(self._filter)


def _rest_of(reader: int) -> bytes:
    try:
        return os.read(reader, SLICE_BYTES)
    except BlockingIOError:
        return b""
    finally:
        os.close(reader)


def _report_of(pid: int, failure: int) -> bytes:
    """What the new process says before it becomes the program: nothing, or the number of an error.

    It says it at once, unless code here stops every process it can: then it is killed, and is no reason to wait.
    """
    with os.fdopen(failure, "rb") as pipe:
        said = select.poll()  # select() knows no descriptor above 1023, and code can have us hold that many
        said.register(failure, select.POLLIN)
        if not said.poll(EXEC_S * 1000):
            os.kill(pid, signal.SIGKILL)
            return b"%d" % errno.EAGAIN
        return pipe.read(8)


def _arrange(program: Program, report: int) -> int:
    """Put the program's descriptors in place and close all others but the report, which moves behind them."""
    wanted = (program.stdin, program.stdout, program.stderr, *program.more)
    above, free = fcntl.F_DUPFD_CLOEXEC, len(wanted)
    kept = [fcntl.fcntl(descriptor, above, free) for descriptor in wanted]
    safe = fcntl.fcntl(report, above, free)
    for target, descriptor in enumerate(kept):
        os.dup2(descriptor, target, inheritable=True)
    os.closerange(free, safe)
    os.closerange(safe + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return safe


def _lower(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (bound, bound))


def mark_of(pid: int) -> int:
    """The mark of a process, also of one that has ended and was not collected yet; raises OSError if it is gone."""
    return resource.prlimit(pid, MARK_LIMIT)[1]


def describe(status: int) -> tuple[int | None, int | None]:
    """A wait status as (exit code, signal), one of them None."""
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None


def log(event: str, /, **facts: object) -> None:
    """One line for the container's log; never code, output, keys or environments."""
    sys.stderr.write(" ".join([event, *(f"{name}={value}" for name, value in facts.items())]) + "\n")
