"""The verbs of the link: each takes a request of a peer and gives its answer, at once or later."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

from . import __version__, limits
from .commands.commands import Commands
from .commands.installs import Installs
from .execution.execution import DONE, QUEUED, Execution
from .execution.executions import Executions
from .files.files import Files
from .kernels.kernels import Kernels
from .link import wire
from .link.arguments import (
    parse_call_kinds,
    parse_command,
    parse_execute,
    parse_execution_id,
    parse_files,
    parse_install,
    parse_kernel,
    parse_offset,
)
from .link.wire import Answer, Problem, Reply, Request
from .mcp_servers.remote_functions import RemoteFunctions
from .mcp_servers.served_calls import ServedCalls
from .mcp_servers.servers import Servers
from .metrics.metrics import Metrics
from .network_probe import Network
from .seat import CONFIGURE, Seat, refuse
from .settings import Settings

NewExecution = Callable[[str, str, bool], Execution]
_LATER = frozenset({"kill"})
_UNUSED: Reply = {"state": "unused"}


class Attached(NamedTuple):
    """An answer after which the peer becomes a reader: first the answer is sent, then the output."""

    reply: Reply
    execution: Execution
    offset: int


class Sandbox:
    """All that the verbs act on."""

    def __init__(
        self,
        settings: Settings,
        network: Network,
        kernels: Kernels,
        commands: Commands,
        metrics: Metrics,
        files: Files,
        servers: Servers,
    ) -> None:
        self.settings = settings
        self.seat: Seat | None = None  # in a pod that was started for its sandbox
        self.boot_id = secrets.token_hex(8)
        self.network = network
        self.kernels = kernels
        self.commands = commands
        self.metrics = metrics
        self.files = files
        self.servers = servers
        self.installs = Installs(commands, settings.workspace, settings.code_env)
        self.executions = Executions()

    def execution_of(self, mark: int) -> str | None:
        """The execution whose processes bear that mark, if there is one."""
        return self.kernels.execution_of(mark) or self.commands.execution_of(mark)


class Verbs:
    """The dispatch table. A new verb is one method and one entry."""

    def __init__(
        self,
        sandbox: Sandbox,
        new_execution: NewExecution,
        greet: Callable[[bytes, frozenset[str]], None],
        mend_door: Callable[[], None],
        served_calls: ServedCalls,
        remote_functions: RemoteFunctions,
    ) -> None:
        self._sandbox = sandbox
        self._new_execution = new_execution
        self._greet = greet
        self._mend_door = mend_door
        self._served_calls = served_calls
        self._remote_functions = remote_functions
        self._table: dict[str, Callable[[bytes, Request], Reply | Attached]] = {
            "hello": self._hello,
            CONFIGURE: self._configure,
            "execute": self._execute,
            "command": self._command,
            "install": self._install,
            "attach": self._attach,
            "detach": self._detach,
            "interrupt": self._interrupt,
            "list": self._list,
            "mcp_list": lambda _peer, _request: self._sandbox.servers.list(),
            "mcp_remove": lambda _peer, request: self._sandbox.servers.remove(request.arguments),
            "mcp_cancel": lambda peer, request: self._served_calls.cancel(peer, request.arguments),
        }
        self._answer_later: dict[str, Callable[[bytes, Request, Answer], None]] = {
            "metrics": lambda _peer, _request, answer: self._sandbox.metrics.ask(answer),
            "files": lambda peer, request, answer: self._sandbox.files.serve(peer, parse_files(request), answer),
            "reset": lambda _peer, request, answer: self._replace(request, answer),
            "close": lambda _peer, request, answer: self._replace(request, answer),
            "mcp_register": lambda _peer, request, answer: self._register(request, answer),
            "mcp_tools": lambda _peer, request, answer: self._served_calls.tools(request, answer),
            "mcp_functions": lambda _peer, request, answer: self._functions(request, answer),
            "mcp_call": self._call,
        }

    def serve(self, peer: bytes, request: Request, answer: Answer) -> None:
        """Serve one request; ``answer`` is called exactly once, unless Problem is raised."""
        if self._sandbox.seat is not None:
            self._sandbox.seat.check(request.verb)
        later = self._answer_later.get(request.verb)
        if later is not None:
            later(peer, request, answer)
            return
        verb = self._table.get(request.verb)
        if verb is not None:
            reply = verb(peer, request)
            answer(reply.reply if isinstance(reply, Attached) else reply)
            if isinstance(reply, Attached):
                reply.execution.attach(peer, reply.offset)
        elif request.verb in _LATER:
            raise Problem("not_supported", f"verb '{request.verb}' comes with a later version of the supervisor")
        else:
            raise Problem("unknown_verb", f"there is no verb '{request.verb[:40]}'")

    def _hello(self, peer: bytes, request: Request) -> Reply:
        offered = request.arguments.get("protocol")
        if not isinstance(offered, list) or wire.PROTOCOL not in offered:
            raise Problem("unsupported_version", f"this supervisor speaks protocol {wire.PROTOCOL} only")
        self._greet(peer, parse_call_kinds(request.arguments))
        self._sandbox.files.greet(peer, acknowledges=request.arguments.get("file_credit") is True)
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
            "network": self._sandbox.network.describe(),
            **({} if self._sandbox.seat is None else {"seat": self._sandbox.seat.describe()}),
        }

    def _configure(self, _peer: bytes, request: Request) -> Reply:
        return refuse() if self._sandbox.seat is None else self._sandbox.seat.configure(request.arguments)

    def _execute(self, _peer: bytes, request: Request) -> Reply | Attached:
        wanted = parse_execute(request)
        known = self._again(wanted.execution_id, attach=wanted.attach)
        if known is not None:
            return known
        self._check_network()
        self._sandbox.kernels.check_room(wanted)
        execution = self._new(wanted.execution_id, "code", wanted.block)
        self._sandbox.executions.add(execution)
        self._sandbox.kernels.submit(execution, wanted)
        return _started(execution, attach=wanted.attach)

    def _command(self, _peer: bytes, request: Request) -> Reply | Attached:
        wanted = parse_command(request, self._sandbox.settings.workspace)
        known = self._again(wanted.execution_id, attach=wanted.attach)
        if known is not None:
            return known
        self._check_network()
        self._sandbox.commands.check_room()
        execution = self._new(wanted.execution_id, "command", wanted.block)
        # In this order: what could not be begun, for whatever reason, must not be listed for ever.
        self._sandbox.commands.run(execution, wanted)
        self._sandbox.executions.add(execution)
        return _started(execution, attach=wanted.attach)

    def _install(self, _peer: bytes, request: Request) -> Reply | Attached:
        wanted = parse_install(request)
        known = self._again(wanted.execution_id, attach=wanted.attach)
        if known is not None:
            return known
        self._check_network()
        self._sandbox.installs.check_room()
        execution = self._new(wanted.execution_id, "install", wanted.block)
        self._sandbox.installs.run(execution, wanted)
        self._sandbox.executions.add(execution)
        return _started(execution, attach=wanted.attach)

    def _attach(self, _peer: bytes, request: Request) -> Attached:
        execution, offset = self._find(request), parse_offset(request.arguments)
        journal = {"from": execution.journal.start, "end": execution.journal.end}
        reply = {
            "state": execution.state,
            "position": _position(execution),
            "execution_id": execution.id,
            "journal": journal,
            "outcome": execution.outcome,
        }
        return Attached(reply, execution, offset)

    def _detach(self, peer: bytes, request: Request) -> Reply:
        self._find(request).detach(peer)
        return {}

    def _interrupt(self, _peer: bytes, request: Request) -> Reply:
        if "execution_id" not in request.arguments:
            name = parse_kernel(request.arguments)
            kernel = self._sandbox.kernels.find(*name)
            ended = {"interrupted": kernel.interrupt() if kernel is not None else []}
            return ended if self._sandbox.kernels.knows(*name) else {**ended, **_UNUSED}
        execution = self._find(request)
        done = execution.outcome is None and execution.interrupt is not None and execution.interrupt()
        return {"interrupted": [execution.id] if done else []}

    def _replace(self, request: Request, answer: Answer) -> None:
        """End a session's kernel; the answer follows when the next one is there, or none is to be."""
        language, session = parse_kernel(request.arguments)
        if request.verb == "close":
            done: Reply = {} if self._sandbox.kernels.knows(language, session) else _UNUSED
            self._sandbox.kernels.close(language, session, lambda: answer(done))
            return
        self._sandbox.kernels.reset(
            language, session, lambda kernel: answer(_UNUSED if kernel is None else {"state": kernel.state})
        )

    def _register(self, request: Request, answer: Answer) -> None:
        self._check_network()
        self._mend_door()
        self._sandbox.servers.register(request.arguments, answer)

    def _functions(self, request: Request, answer: Answer) -> None:
        self._check_network()
        self._mend_door()
        self._remote_functions.write(request, answer)

    def _call(self, peer: bytes, request: Request, answer: Answer) -> None:
        self._check_network()
        self._served_calls.call(peer, request, answer)

    def _list(self, _peer: bytes, _request: Request) -> Reply:
        executions = [
            {"execution_id": e.id, "state": e.state, "position": _position(e), "kind": e.kind}
            for e in self._sandbox.executions
        ]
        return {
            "kernels": [kernel.describe() for kernel in self._sandbox.kernels],
            "executions": executions,
            "network": self._sandbox.network.describe(),
        }

    def _check_network(self) -> None:
        """Raise Problem if nothing may run here."""
        refusal = self._sandbox.network.refusal
        if refusal is not None:
            raise Problem("network_open", refusal)

    def _new(self, execution_id: str, kind: str, block: bool) -> Execution:
        execution = self._new_execution(execution_id, kind, block)
        execution.warn(self._sandbox.network.note())
        return execution

    def _again(self, execution_id: str, *, attach: bool) -> Reply | Attached | None:
        """The answer for an execution that was asked for before: it never runs twice."""
        if self._sandbox.executions.was_forgotten(execution_id):
            return {"state": DONE, "position": 0, "execution_id": execution_id}
        execution = self._sandbox.executions.get(execution_id)
        return None if execution is None else _started(execution, attach=attach)

    def _find(self, request: Request) -> Execution:
        execution_id = parse_execution_id(request.arguments)
        execution = self._sandbox.executions.get(execution_id)
        if execution is None and not self._sandbox.executions.came(execution_id):
            raise Problem("execution_never_came", f"execution {execution_id} never came here")
        if execution is None:
            raise Problem("unknown_execution", f"execution {execution_id} is not known here, or its output is gone")
        return execution


def _position(execution: Execution) -> int:
    """How many come before it now."""
    return execution.position(execution) if execution.state == QUEUED else 0


def _started(execution: Execution, *, attach: bool) -> Reply | Attached:
    position = _position(execution)
    reply: Reply = {"state": execution.state, "position": position, "execution_id": execution.id}
    if position:
        reply["waits_s"] = round(execution.waits_s(execution), 1)
    return Attached(reply, execution, 0) if attach else reply
