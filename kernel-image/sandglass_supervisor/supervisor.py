"""The supervisor: parts put together, messages handed to verbs, signals to children."""

import gc
import os
import secrets
import signal
from typing import Any

import zmq

from . import linux, outcome, portions, runtime, wire
from .cgroup import Cgroup
from .children import Children, log
from .commands import Commands, Means
from .confined import Confined
from .execution import Execution
from .files import Files
from .kernel_process import Place
from .kernels import Kernels
from .limits import LEFT_PROCESSES, PEERS
from .link import Link
from .loop import Loop
from .metrics import Bounds, Disk, Metrics, scratch_folders
from .offspring import Offspring
from .settings import Settings
from .verbs import Sandbox, Verbs
from .wire import Credit, Malformed, Problem, Reply, Request

_TEMPORARY = "/tmp"  # noqa: S108 - nothing of ours is put there


class Supervisor:
    """One per container. The link is bound before anything else, so that a gateway need not wait to be heard."""

    def __init__(self, settings: Settings, loop: Loop) -> None:
        self._loop = loop
        self._peers: dict[bytes, None] = {}
        self._event_seq = 0
        self.malformed = 0
        context = zmq.Context()
        self._link = Link(context, settings, loop)
        self._signals = linux.signal_descriptor({signal.SIGCHLD, signal.SIGTERM})
        cgroup = Cgroup(settings.cgroup_root)
        most = portions.processes(cgroup.memory().limit) if settings.max_processes is None else settings.max_processes
        self._children = Children(most)
        shared = portions.variables(cgroup.cpu().limit)
        settings = settings._replace(code_env={**shared, **settings.code_env})
        lost = _lost(settings)
        private = runtime.prepare(settings.runtime_dir, settings.workspace)
        # Before any code runs: from now on a folder of that name is the one that was there.
        files = Files(loop, Confined(settings.workspace, settings.volumes))
        offspring = Offspring(loop, min(LEFT_PROCESSES, most // 2))
        place = Place(context, loop, self._children, offspring, private, settings.workspace, settings.code_env)
        self._kernels = Kernels(place, cgroup, self._tell, lost)
        self._kernels.get("python", "default")
        commands = Commands(Means(loop, self._children, cgroup, offspring), settings.code_env)
        disk = Disk(loop, self._children, scratch_folders(settings.workspace, _TEMPORARY), settings.code_env)
        bounds = Bounds(settings.disk_limit_bytes, most)
        metrics = Metrics(loop, cgroup, disk, bounds, lambda: len(self._kernels))
        self._sandbox = Sandbox(settings, secrets.token_hex(8), self._kernels, commands, metrics, files)
        if lost == outcome.CONTAINER_RESTARTED:
            self._sandbox.executions.follow_others()
        self._verbs = Verbs(self._sandbox, self._new_execution, self._greet)
        loop.watch(self._signals, self._read_signals)
        self._link.watch(self._receive)

    def run(self) -> None:
        """Serve until told to end; then end everything that was started."""
        # What is here now stays: the collector need not look at it again each time.
        gc.freeze()
        log("serving", endpoint=self._link.endpoint, pid=os.getpid())
        try:
            self._loop.run()
        finally:
            self._children.kill_all()

    def _receive(self, peer: bytes, frames: list[bytes]) -> None:
        message = wire.decode(frames)
        match message:
            case Request():
                self._serve(peer, message)
            case Credit(wire.FILES, total):
                self._sandbox.files.acknowledge(peer, total)
            case Credit():
                execution = self._sandbox.executions.get(message.execution_id)
                if execution is not None:
                    execution.acknowledge(peer, message.offset)
            case Malformed():
                self.malformed += 1
                if message.request_id is not None:
                    self._link.send(peer, wire.failure(message.request_id, "bad_request", message.reason))

    def _serve(self, peer: bytes, request: Request) -> None:
        def answer(value: Reply | Problem, blob: bytes = b"") -> None:
            if isinstance(value, Problem):
                self._link.send(peer, wire.failure(request.request_id, value.code, str(value)))
            elif request.verb == "execute":
                self._link.send_soon(peer, wire.reply(request.request_id, value, blob))
            else:
                self._link.send(peer, wire.reply(request.request_id, value, blob))

        try:
            self._verbs.serve(peer, request, answer)
        except Problem as problem:
            answer(problem)
        except Exception as error:  # noqa: BLE001 - the room's door: one bad request must not end the sandbox
            log("internal", verb=request.verb[:40], error=type(error).__name__)
            self._link.send(
                peer, wire.failure(request.request_id, "internal", f"{type(error).__name__} in the supervisor")
            )

    def _new_execution(self, execution_id: str, kind: str, block: bool) -> Execution:
        return Execution(execution_id, kind, self._loop, self._link.send, block=block)

    def _greet(self, peer: bytes) -> None:
        """The peer said hello: from now on it hears events."""
        self._peers[peer] = None
        if len(self._peers) > PEERS:
            self._forget(next(iter(self._peers)))

    def _tell(self, kernel: str, event: dict[str, Any]) -> None:
        self._event_seq += 1
        log("kernel", name=kernel, **event)
        for peer in list(self._peers):
            if not self._link.send(peer, wire.event(kernel, self._event_seq, event)):
                self._forget(peer)

    def _forget(self, peer: bytes) -> None:
        self._peers.pop(peer, None)
        self._sandbox.executions.detach(peer)
        self._sandbox.files.forget(peer)

    def _read_signals(self) -> None:
        for number, sender in linux.read_signals(self._signals):
            # As PID 1 only the container runtime, outside our pid namespace, may end us; the code here may not.
            if number == signal.SIGTERM and (os.getpid() != 1 or sender == 0):
                log("ending", signal=number)
                self._loop.stop()
        self._children.reap()


def _lost(settings: Settings) -> str | None:
    """What is told of variables that were lost before this supervisor began."""
    if runtime.was_used(settings.runtime_dir):
        return outcome.CONTAINER_RESTARTED
    return None if settings.replaced is None else outcome.pod_replaced(settings.replaced)
