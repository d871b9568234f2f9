"""The verbs of the link: each takes a request of a peer and gives its answer, at once or later."""

from collections.abc import Callable
from typing import Any

from . import __version__, limits, wire
from .arguments import parse_command, parse_execute, parse_execution_id, parse_kernel, parse_offset
from .commands import Commands
from .execution import DONE, Execution
from .executions import Executions
from .kernels import Kernels
from .metrics import Metrics
from .settings import Settings
from .wire import Problem, Request

Reply = dict[str, Any]
Answer = Callable[[Reply], None]
NewExecution = Callable[[str, str, bool], Execution]
_LATER = frozenset({"reset", "close", "kill", "files", "install"})


class Sandbox:
    """All that the verbs act on."""

    def __init__(
        self, settings: Settings, boot_id: str, kernels: Kernels, commands: Commands, metrics: Metrics
    ) -> None:
        self.settings = settings
        self.boot_id = boot_id
        self.kernels = kernels
        self.commands = commands
        self.metrics = metrics
        self.executions = Executions()


class Verbs:
    """The dispatch table. A new verb is one method and one entry."""

    def __init__(self, sandbox: Sandbox, new_execution: NewExecution, greet: Callable[[bytes], None]) -> None:
        self._sandbox = sandbox
        self._new_execution = new_execution
        self._greet = greet
        self._table: dict[str, Callable[[bytes, Request], Reply]] = {
            "hello": self._hello,
            "execute": self._execute,
            "command": self._command,
            "attach": self._attach,
            "detach": self._detach,
            "interrupt": self._interrupt,
            "list": self._list,
        }

    def serve(self, peer: bytes, request: Request, answer: Answer) -> None:
        """Serve one request; ``answer`` is called exactly once, unless Problem is raised."""
        if request.verb == "metrics":
            self._sandbox.metrics.ask(answer)
            return
        verb = self._table.get(request.verb)
        if verb is not None:
            answer(verb(peer, request))
        elif request.verb in _LATER:
            raise Problem("not_supported", f"verb '{request.verb}' comes with a later version of the supervisor")
        else:
            raise Problem("unknown_verb", f"there is no verb '{request.verb[:40]}'")

    def _hello(self, peer: bytes, request: Request) -> Reply:
        offered = request.arguments.get("protocol")
        if not isinstance(offered, list) or wire.PROTOCOL not in offered:
            raise Problem("unsupported_version", f"this supervisor speaks protocol {wire.PROTOCOL} only")
        self._greet(peer)
        return {
            "protocol": wire.PROTOCOL,
            "boot_id": self._sandbox.boot_id,
            "sandbox_uid": self._sandbox.settings.sandbox_uid,
            "incarnation": self._sandbox.settings.incarnation,
            "supervisor": __version__,
            "window": limits.WINDOW_BYTES,
            "limits": {
                "code_bytes": limits.CODE_BYTES,
                "json_bytes": limits.JSON_BYTES,
                "blob_bytes": limits.BLOB_BYTES,
                "queue": limits.QUEUE,
                "journal_bytes": limits.JOURNAL_BYTES,
                "journal_executions": limits.JOURNAL_EXECUTIONS,
            },
            "kernels": [kernel.describe() for kernel in self._sandbox.kernels],
        }

    def _execute(self, peer: bytes, request: Request) -> Reply:
        wanted = parse_execute(request)
        known = self._again(peer, wanted.execution_id, attach=wanted.attach)
        if known is not None:
            return known
        kernel = self._sandbox.kernels.get(wanted.language, wanted.session)
        kernel.check_room(wait_kernel=wanted.wait_kernel)
        execution = self._add(peer, wanted.execution_id, "code", block=wanted.block, attach=wanted.attach)
        execution.position = kernel.position
        kernel.submit(execution, wanted)
        return _state(execution)

    def _command(self, peer: bytes, request: Request) -> Reply:
        wanted = parse_command(request, self._sandbox.settings.workspace)
        known = self._again(peer, wanted.execution_id, attach=wanted.attach)
        if known is not None:
            return known
        self._sandbox.commands.check_room()
        execution = self._add(peer, wanted.execution_id, "command", block=wanted.block, attach=wanted.attach)
        self._sandbox.commands.run(execution, wanted)
        return _state(execution)

    def _attach(self, peer: bytes, request: Request) -> Reply:
        execution = self._find(request)
        execution.attach(peer, parse_offset(request.arguments))
        journal = {"from": execution.journal.start, "end": execution.journal.end}
        return {
            "state": execution.state,
            "execution_id": execution.id,
            "journal": journal,
            "outcome": execution.outcome,
        }

    def _detach(self, peer: bytes, request: Request) -> Reply:
        self._find(request).detach(peer)
        return {}

    def _interrupt(self, peer: bytes, request: Request) -> Reply:
        if "execution_id" not in request.arguments:
            kernel = self._sandbox.kernels.find(*parse_kernel(request.arguments))
            return {"interrupted": kernel.interrupt() if kernel is not None else []}
        execution = self._find(request)
        done = execution.outcome is None and execution.interrupt is not None and execution.interrupt()
        return {"interrupted": [execution.id] if done else []}

    def _list(self, peer: bytes, request: Request) -> Reply:
        executions = [{"execution_id": e.id, "state": e.state, "kind": e.kind} for e in self._sandbox.executions]
        return {"kernels": [kernel.describe() for kernel in self._sandbox.kernels], "executions": executions}

    def _again(self, peer: bytes, execution_id: str, *, attach: bool) -> Reply | None:
        """The answer for an execution that was asked for before: it never runs twice."""
        if self._sandbox.executions.was_forgotten(execution_id):
            return {"state": DONE, "position": 0, "execution_id": execution_id}
        execution = self._sandbox.executions.get(execution_id)
        if execution is None:
            return None
        if attach:
            execution.attach(peer, 0)
        return _state(execution)

    def _add(self, peer: bytes, execution_id: str, kind: str, *, block: bool, attach: bool) -> Execution:
        execution = self._new_execution(execution_id, kind, block)
        self._sandbox.executions.add(execution)
        if attach:
            execution.attach(peer, 0)
        return execution

    def _find(self, request: Request) -> Execution:
        execution_id = parse_execution_id(request.arguments)
        execution = self._sandbox.executions.get(execution_id)
        if execution is None:
            raise Problem("unknown_execution", f"execution {execution_id} is not known here, or its output is gone")
        return execution


def _state(execution: Execution) -> Reply:
    return {"state": execution.state, "position": execution.position(execution), "execution_id": execution.id}
