"""The kernels of the sandbox, by language and session: made on first use, the default one at once."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..execution import hint, outcome
from ..execution.execution import Execution
from ..execution.outcome import Outcome
from ..limits import FRESH_GRACE_S, KERNELS, QUEUE, TOLD_SESSIONS
from ..link.arguments import Execute
from ..link.wire import Problem
from ..processes.cgroup import Cgroup
from .kernel import Kernel, Tell
from .kernel_process import Maker, Place
from .live_variables import starts_anew
from .node_process import NodeProcess
from .python_env import PythonEnv, locate, probe
from .python_process import PythonProcess

Name = tuple[str, str]

_FIRST = ("python", "default")
_FULL = "sessions_full"  # an error code of the wire
_UP = frozenset({"ready", "given_up"})  # after these a kernel has an answer to everything
_MAKERS: dict[str, Maker] = {"python": PythonProcess, "nodejs": NodeProcess}


class Kernels:
    """At most so many, eight if nothing else is said; one more session is refused.

    A session that nobody used yet begins with the interpreter that its first execution asks for, and keeps it. While
    that one is looked at, what is asked of the session waits. To start a kernel takes a second: as long as nobody used
    the default session, its kernel serves whoever wants a fresh one, and another takes its place when that has ended.
    """

    def __init__(
        self, place: Place, cgroup: Cgroup, tell: Tell, lost: str | None = None, most: int | None = None
    ) -> None:
        """``lost`` is what the first execution of each session is told of what went before; None for nothing."""
        self._place = place
        self._cgroup = cgroup
        self._tell = tell
        self._lost = lost
        self._most = KERNELS if most is None else most
        self._told: set[Name] = set()
        self._known: dict[Name, Kernel] = {}
        self._waiting: dict[Name, list[tuple[Execution, Execute]]] = {}
        self._is_lent = False  # the default session's, whose place is kept
        self._ahead: dict[str, Kernel] = {}  # by language: kernels that no session has yet, and nobody knows of
        self._starting: set[str] = set()  # names of those whose first start is waited for
        self._up: Callable[[], None] = lambda: None

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._known.values())

    def __len__(self) -> int:
        return len(self._known)

    def find(self, language: str, session: str) -> Kernel | None:
        """The kernel of a session that was used before."""
        return self._known.get((language, session))

    def execution_of(self, mark: int) -> str | None:
        """The execution that runs in the kernel whose processes bear that mark."""
        return next(filter(None, (kernel.execution_of(mark) for kernel in self)), None)

    def knows(self, language: str, session: str) -> bool:
        """True if the session was used before, or waits for its interpreter."""
        return (language, session) in self._known or (language, session) in self._waiting

    def start_default(self) -> None:
        """Start the kernel that every sandbox has, unless it is there."""
        self.get(*_FIRST)

    def start_ahead(self, languages: Sequence[str], up: Callable[[], None]) -> None:
        """Start kernels of these languages for a sandbox that is not known yet: each for the first session that comes.

        The default session's is listed like any sandbox's. Others take no session's place and are not listed: in a
        sandbox that was not started ahead they would not be there. ``up`` is called once, when none of them will still
        become ready.
        """
        self._up = up
        self._starting = {f"{language}/{_FIRST[1]}" for language in languages}
        if not languages:
            up()
        for language in languages:
            if language == _FIRST[0]:
                self.start_default()
            else:
                self._ahead[language] = self._make_ahead(language)

    def configure(self, changed: dict[str, str], lost: str | None) -> None:
        """Have what was started ahead be one sandbox's: its variables, and what its first runs are told.

        ``changed`` are those that are not as they were when the kernels started; new ones have them already. ``lost``
        is as for the constructor, which comes first.
        """
        self._lost = lost if self._lost is None else self._lost
        for name, kernel in list(self._known.items()):
            if starts_anew(name[0], changed):
                kernel.discard()
                del self._known[name]
                self._make(name, None).lost = self._lost
            else:
                kernel.configure(changed)
                self._tell_lost(name, kernel)
        for language, kernel in list(self._ahead.items()):
            if starts_anew(language, changed):
                kernel.discard()
                self._ahead[language] = self._make_ahead(language)
            else:
                kernel.configure(changed)

    def close(self, language: str, session: str, done: Callable[[], None]) -> None:
        """End a session's kernel and forget it; without effect on one that was never used."""
        self._end_waiting((language, session), "closed")
        kernel = self._known.pop((language, session), None)
        if kernel is None:
            done()
        else:
            kernel.close(partial(self._closed, done))

    def _closed(self, done: Callable[[], None]) -> None:
        done()
        if self._is_lent and len(self._known.keys() | self._waiting.keys()) < self._most:
            self.get(*_FIRST)

    def reset(self, language: str, session: str, done: Callable[[Kernel | None], None]) -> None:
        """End what a session runs and start afresh; ``done`` gets the kernel, None if there was none yet."""
        self._end_waiting((language, session), "reset")
        kernel = self.find(language, session)
        if kernel is None:
            done(None)
        else:
            kernel.reset(lambda: done(kernel))

    def cut_off(self, refusal: str) -> None:
        """End all sessions and what they run, for the reason given, and begin none: a kernel that starts runs code."""
        for waiting in self._waiting.values():
            while waiting:
                waiting.pop(0)[0].finish(outcome.not_begun(refusal))
        self._is_lent = False
        known, self._known = self._known, {}
        ahead, self._ahead = self._ahead, {}
        for kernel in (*known.values(), *ahead.values()):
            kernel.cut_off(refusal)
        # None of them will start any more.
        starting, self._starting = self._starting, set()
        if starting:
            self._up()

    def get(self, language: str, session: str) -> Kernel:
        """The kernel of a session, started if the session is new."""
        name = (language, session)
        kernel = self._known.get(name)
        return self._make(name, None) if kernel is None else kernel

    def check_room(self, request: Execute) -> None:
        """Raise Problem if an execution would be refused."""
        name = (request.language, request.session)
        if len(self._waiting.get(name, ())) >= QUEUE:
            words = f"{QUEUE} executions wait for session '{request.session}' already; try again later"
            raise Problem("rejected", words)
        lent = self._to_lend(request)
        if name in self._waiting or self._is_to_be_bound(request):
            self._check_sessions(name)
        elif lent is not None:
            self._check_lending(name)
            lent.check_room(wait_kernel=request.wait_kernel)
        else:
            self.get(*name).check_room(wait_kernel=request.wait_kernel)

    def submit(self, execution: Execution, request: Execute) -> None:
        """Have the session's kernel run it, when there is room."""
        name = (request.language, request.session)
        if name in self._waiting:
            self._wait(name, execution, request)
        elif request.python_env is not None and self._is_to_be_bound(request):
            self._waiting[name] = []
            self._wait(name, execution, request)
            env, place = self._locate(request.python_env), self._place
            probe(env, place.loop, place.children, place.env, lambda wrong: self._looked(name, env, wrong))
        else:
            kernel = self._kernel_for(request)
            execution.warn(self._warning(kernel, request))
            if request.fresh:
                self._close_after(execution, name)
            kernel.submit(execution, request)

    def _close_after(self, execution: Execution, name: Name) -> None:
        """Close the session if the caller, who may be gone, does not."""
        told = execution.ended

        def ended(execution_id: str) -> None:
            told(execution_id)
            self._place.loop.call_in(FRESH_GRACE_S, lambda: self.close(*name, lambda: None))

        execution.ended = ended

    def _kernel_for(self, request: Execute) -> Kernel:
        name = (request.language, request.session)
        is_new = request.fresh and not (name in self._known and self._known[name].used)
        lent = self._to_lend(request)
        if lent is not None:
            self._lend(lent, name)
        kernel = self.get(*name)
        if is_new and kernel.lost is not None:
            # That is for sessions to hear which stay: the default one hears it from its next kernel.
            kernel.lost = None
            self._told.discard(name if lent is None else _FIRST)
        return kernel

    def _to_lend(self, request: Execute) -> Kernel | None:
        """The kernel that waits for the first use of the default session, if that request may have it."""
        name, first = (request.language, request.session), self._known.get(_FIRST)
        if not request.fresh or name in self._known or name[0] != _FIRST[0] or first is None or not first.is_waiting:
            return None
        return first

    def _lend(self, first: Kernel, name: Name) -> None:
        self._check_lending(name)
        self._known[name] = self._known.pop(_FIRST)
        self._is_lent = True
        first.become(name[1])

    def _check_lending(self, name: Name) -> None:
        """The default session keeps its place meanwhile, except where there is only one."""
        if self._most > 1:
            self._check_sessions(name)

    def _is_to_be_bound(self, request: Execute) -> bool:
        kernel = self._known.get((request.language, request.session))
        return request.python_env is not None and (kernel is None or not kernel.used)

    def _wait(self, name: Name, execution: Execution, request: Execute) -> None:
        waiting = self._waiting[name]
        waiting.append((execution, request))
        execution.position = lambda one: next((at for at, entry in enumerate(waiting) if entry[0] is one), 0)
        execution.interrupt = lambda: self._withdraw(waiting, execution)

    def _end_waiting(self, name: Name, how: str) -> None:
        waiting = self._waiting.get(name, [])
        while waiting:
            waiting.pop(0)[0].finish(outcome.never_ran(f"the session was {how}"))

    def _withdraw(self, waiting: list[tuple[Execution, Execute]], execution: Execution) -> bool:
        for entry in waiting:
            if entry[0] is execution:
                waiting.remove(entry)
                execution.finish(Outcome(outcome.INTERRUPTED, "A caller interrupted it before it ran."))
                return True
        return False

    def _looked(self, name: Name, env: PythonEnv, wrong: Outcome | None) -> None:
        """It is known whether a kernel can run in that environment: go on with what waited for it."""
        waiting = self._waiting.pop(name)
        # Who asked for it may have gone meanwhile.
        if wrong is None and waiting and self._asks_for(env, waiting[0][1]):
            self._bind(name, env)
        for execution, request in waiting:
            if wrong is not None and self._asks_for(env, request):
                execution.finish(wrong)
                continue
            try:
                late = request._replace(wait_kernel=True)
                self.check_room(late)
                self.submit(execution, late)
            except Problem as problem:
                helps = hint.END_A_SESSION if problem.code == _FULL else None
                execution.finish(Outcome(outcome.REJECTED, str(problem), hint=helps))

    def _asks_for(self, env: PythonEnv, request: Execute) -> bool:
        return request.python_env is not None and self._locate(request.python_env).folder == env.folder

    def _bind(self, name: Name, env: PythonEnv) -> None:
        unused = self._known.pop(name, None)
        if unused is not None:
            unused.close(lambda: None)
        kernel = self._make(name, env)
        kernel.used = True
        if unused is not None:
            kernel.lost = unused.lost

    def _make(self, name: Name, env: PythonEnv | None) -> Kernel:
        self._check_sessions(name)
        self._is_lent = self._is_lent and name != _FIRST
        kernel = self._known[name] = (self._take_ahead(name) if env is None else None) or self._new(name, env)
        self._tell_lost(name, kernel)
        return kernel

    def _new(self, name: Name, env: PythonEnv | None) -> Kernel:
        make = _MAKERS[name[0]] if env is None else partial(PythonProcess, env=env)
        return Kernel(name, make, self._place, self._cgroup, self._tell_all, env)

    def _make_ahead(self, language: str) -> Kernel:
        # Nobody else knows of it.
        name = (language, _FIRST[1])
        return Kernel(name, _MAKERS[language], self._place, self._cgroup, self._note)

    def _note(self, name: str, event: dict[str, Any]) -> None:
        if name in self._starting and event["event"] in _UP:
            self._starting.remove(name)
            if not self._starting:
                self._up()

    def _tell_all(self, name: str, event: dict[str, Any]) -> None:
        self._tell(name, event)
        self._note(name, event)

    def _take_ahead(self, name: Name) -> Kernel | None:
        """The kernel of that language that was started ahead, if it is there and sound."""
        kernel = self._ahead.pop(name[0], None)
        if kernel is None:
            return None
        if not kernel.is_waiting:
            kernel.discard()
            return None
        kernel.serve(name[1], self._tell)
        return kernel

    def _tell_lost(self, name: Name, kernel: Kernel) -> None:
        if self._lost is not None and name not in self._told and len(self._told) < TOLD_SESSIONS:
            self._told.add(name)
            kernel.lost = self._lost

    def _check_sessions(self, name: Name) -> None:
        kept = {_FIRST} if self._is_lent else set()
        if len(self._known.keys() | self._waiting.keys() | kept | {name}) > self._most:
            raise Problem(_FULL, f"{self._most} sessions exist already, and there can be no more")

    def _locate(self, text: str) -> PythonEnv:
        workspace = self._place.workspace
        return locate(text, self._place.env.get("HOME", workspace), workspace)

    def _warning(self, kernel: Kernel, request: Execute) -> str | None:
        if request.python_env is None or (kernel.env is not None and self._asks_for(kernel.env, request)):
            return None
        own = "the sandbox's own Python" if kernel.env is None else f"env '{kernel.env.name}'"
        return (
            f"Session '{kernel.session}' runs in {own} and goes on in it; python_env '{request.python_env}' counts when"
            " a session begins: use another session, or close this one first."
        )
