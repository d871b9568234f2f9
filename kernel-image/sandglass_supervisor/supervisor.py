"""The supervisor: parts put together, messages handed to verbs, signals to children."""

import gc
import os
import signal
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import zmq

from . import linux, runtime
from .commands.commands import Commands, Means
from .execution import outcome
from .execution.execution import Execution
from .files.confined import Confined
from .files.files import Files
from .kernels.kernel_process import Place
from .kernels.kernels import Kernels
from .limits import LEFT_PROCESSES, MCP_WAITING_BYTES, PEERS, SEAT_OPENS_S
from .link import wire
from .link.calls import Calls
from .link.link import Link
from .link.wire import Credit, Malformed, Problem, Reply, Request, Returned
from .loop import Loop
from .mcp_servers.answers import Answers
from .mcp_servers.budget import Budget
from .mcp_servers.door import Door
from .mcp_servers.loads import Loads
from .mcp_servers.process import Ahead
from .mcp_servers.process import Means as ServerMeans
from .mcp_servers.remote_functions import RemoteFunctions
from .mcp_servers.served_calls import ServedCalls
from .mcp_servers.servers import Servers
from .mcp_servers.shared_servers import SharedServers
from .metrics.metrics import Bounds, Disk, Metrics, scratch_folders
from .network_probe import Address, Network, NetworkProbe
from .processes import resource_shares
from .processes.belongings import Belongings, stores
from .processes.cgroup import Cgroup
from .processes.children import Children, log
from .processes.offspring import Offspring
from .seat import Configuration, Seat
from .settings import Settings
from .verbs import Sandbox, Verbs

_MCP_SOCKET = "mcp"  # in the folder of sockets
_MCP_SOCKET_VARIABLE = "SANDGLASS_MCP_SOCKET"
_TEMPORARY = "/tmp"  # noqa: S108 - nothing of ours is put there


class Supervisor:
    """One per container. The link is bound before anything else, so that a gateway need not wait to be heard.

    In a seat it is bound when its kernels are up, or have taken long: the kubelet's startup probe asks for the port.
    """

    def __init__(self, settings: Settings, loop: Loop, oom_score: linux.OomScore) -> None:
        self._loop = loop
        self._peers: dict[bytes, None] = {}
        self._event_seq = 0
        self.malformed = 0
        self._link = Link(zmq.Context(), settings, loop)
        self._endpoint = "" if settings.is_seat else self._link.bind()
        self._calls = Calls(loop, self._link.send)
        self._signals = linux.signal_descriptor({signal.SIGCHLD, signal.SIGTERM})
        cgroup = Cgroup(settings.cgroup_root)
        memory_bytes = cgroup.memory().limit
        most = resource_shares.processes(memory_bytes) if settings.max_processes is None else settings.max_processes
        sizes = [linux.writable_bytes(volume) for volume in settings.volumes]
        largest = resource_shares.file_bytes(settings.disk_limit_bytes, memory_bytes, sizes)
        self._children = Children(most, largest, oom_score)
        shared = resource_shares.variables(cgroup.cpu().limit)
        socket = os.path.join(settings.runtime_dir, _MCP_SOCKET)
        # One map, which all share that start programs: in a seat ``_configure`` adds the sandbox's variables to it.
        self._code_env = {**shared, **settings.code_env, _MCP_SOCKET_VARIABLE: socket}
        self._settings = settings = settings._replace(code_env=self._code_env)
        lost = _lost(settings)
        private = runtime.prepare(settings.runtime_dir, settings.workspace, used=not settings.is_seat)
        # Before any code runs: from now on a folder of that name is the one that was there.
        files = Files(loop, Confined(settings.workspace, settings.volumes))
        offspring = self._offspring = Offspring(loop, min(LEFT_PROCESSES, most // 2))
        own = self._belongings(offspring, settings.code_env)
        own.clear()
        place = Place(loop, self._children, offspring, private, settings.workspace, settings.code_env, own)
        # Before any code runs, which could put something in its place.
        means = self._server_means(settings)
        servers = Servers(means)
        remote = SharedServers(self._calls, self._readers, Budget(MCP_WAITING_BYTES))
        loads = Loads(means, remote, servers.is_own)
        servers.comes = loads.give_way
        self._door = Door(loop, socket, Answers(servers, remote, loads), self._execution_of)
        self._kernels = Kernels(place, cgroup, self._tell, lost, settings.max_sessions)
        self._start_first(means, was_used=lost is not None)
        network = Network(required=settings.require_closed)
        commands = Commands(Means(loop, self._children, cgroup, offspring, own), settings.code_env)
        disk = Disk(loop, self._children, scratch_folders(settings.workspace, _TEMPORARY), settings.code_env)
        bounds = Bounds(settings.disk_limit_bytes, most)
        metrics = Metrics(loop, cgroup, disk, bounds, lambda: len(self._kernels))
        self._sandbox = Sandbox(settings, network, self._kernels, commands, metrics, files, servers)
        self._sandbox.seat = Seat(self._configure) if settings.is_seat else None
        if lost == outcome.CONTAINER_RESTARTED:
            self._sandbox.executions.follow_others()
        self._served_calls = ServedCalls(servers)
        of_servers = self._served_calls, RemoteFunctions(servers, loads)
        self._verbs = Verbs(self._sandbox, self._new_execution, self._greet, self._door.mend, *of_servers)
        loop.watch(self._signals, self._read_signals)
        self._link.watch(self._receive, self._forget)
        # Here and not first of all: the kernel's process starts meanwhile, and no caller's code runs yet.
        self._probe()

    def run(self) -> None:
        """Serve until told to end; then end everything that was started."""
        # What is here now stays: the collector need not look at it again each time.
        gc.freeze()
        if not self._settings.is_seat:
            self._log_serving()
        try:
            self._loop.run()
        finally:
            self._children.kill_all()

    def _start_first(self, means: ServerMeans, *, was_used: bool) -> None:
        """Start what takes long and will be asked for first."""
        if self._settings.serves_tools:
            # No code runs here: its first caller waits for a server.
            means.ahead.start(means)
        elif self._settings.is_seat:
            # Files that code left before a restart, and that a kernel runs when it starts, are to find the variables.
            self._loop.call_in(SEAT_OPENS_S, self._bind)
            self._kernels.start_ahead(() if was_used else self._settings.seat_languages, self._bind)
        else:
            self._kernels.start_default()

    def _bind(self) -> None:
        if not self._endpoint:
            self._endpoint = self._link.bind()
            self._log_serving()

    def _log_serving(self) -> None:
        log("serving", endpoint=self._endpoint, pid=os.getpid())

    def _belongings(self, offspring: Offspring, env: dict[str, str]) -> Belongings:
        def remove_tree(path: str) -> None:
            with suppress(OSError):
                self._children.ask(["rm", "-rf", "--one-file-system", "--", path], env, lambda _status, _said: None)

        # Without namespaces of our own, what is there may be of others.
        found = stores(remove_tree) if os.getpid() == 1 else ()
        return Belongings(found, offspring.goes_on)

    def _server_means(self, settings: Settings) -> ServerMeans:
        folders = settings.workspace, settings.mcp_packages, settings.mcp_secrets
        budget = Budget(MCP_WAITING_BYTES)
        return ServerMeans(self._loop, self._children, self._offspring, settings.code_env, *folders, budget, Ahead())

    def _readers(self, execution_id: str) -> Collection[bytes]:
        execution = self._sandbox.executions.get(execution_id)
        return () if execution is None else execution.readers

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
            case Returned():
                self._calls.returned(peer, message)
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
        execution = Execution(execution_id, kind, self._loop, self._link.send, block=block)
        execution.ended = self._ended
        execution.tools_called = self._door.called
        return execution

    def _execution_of(self, mark: int) -> str | None:
        return self._sandbox.execution_of(mark)

    def _ended(self, execution_id: str) -> None:
        """What the execution asked of others goes with it."""
        self._calls.end(execution_id)
        self._door.end(execution_id)

    def _greet(self, peer: bytes, call_kinds: frozenset[str]) -> None:
        """The peer said hello: from now on it hears events, and answers calls of these kinds."""
        self._link.know(peer)
        self._peers[peer] = None
        self._calls.offer(peer, call_kinds)
        if len(self._peers) > PEERS:
            self._forget(next(iter(self._peers)))

    def _tell(self, kernel: str, event: dict[str, Any]) -> None:
        self._event_seq += 1
        log("network" if kernel == wire.NETWORK else "kernel", name=kernel, **event)
        for peer in list(self._peers):
            if not self._link.send(peer, wire.event(kernel, self._event_seq, event)):
                self._forget(peer)

    def _configure(self, wanted: Configuration) -> None:
        """This seat is that sandbox's pod from now on: what follows is what a pod does that starts for it."""
        runtime.mark_used(self._settings.runtime_dir)
        # Ours comes last, as where the variables come with the container.
        given = {name: value for name, value in wanted.env.items() if name != _MCP_SOCKET_VARIABLE}
        changed = {name: value for name, value in given.items() if self._code_env.get(name) != value}
        self._code_env.update(changed)
        self._kernels.configure(changed, None if wanted.lost is None else outcome.pod_replaced(wanted.lost))
        self._sandbox.metrics.begin()
        if self._sandbox.network.refusal is None:
            self._kernels.start_default()
        # Policies that held for a seat need not hold for the sandbox: its labels are others since it was claimed.
        self._probe()
        log("configured", sandbox_uid=wanted.sandbox_uid, incarnation=wanted.incarnation)

    def _probe(self) -> None:
        NetworkProbe(self._loop, self._settings.closed_addresses, self._network_is_open)

    def _network_is_open(self, reached: Address) -> None:
        network = self._sandbox.network
        if network.reached:
            return  # a second probe, since the claim, found what the first had found
        network.is_open(reached)
        self._tell(wire.NETWORK, {"event": "open", "reached": str(reached)})
        if network.refusal is not None:
            self._kernels.cut_off(network.refusal)
            self._sandbox.commands.cut_off(network.refusal)
            self._offspring.end_left()
            # Such as an interpreter that is asked whether it can run a kernel.
            self._children.kill_all()

    def _forget(self, peer: bytes) -> None:
        self._link.forget(peer)
        self._peers.pop(peer, None)
        self._sandbox.executions.detach(peer)
        self._sandbox.files.forget(peer)
        self._calls.forget(peer)
        self._served_calls.forget(peer)

    def _read_signals(self) -> None:
        for told in linux.read_signals(self._signals):
            # As PID 1 only the container runtime, outside our pid namespace, may end us; the code here may not.
            if told.number == signal.SIGTERM and (os.getpid() != 1 or told.is_from_outside):
                log("ending", signal=told.number)
                self._loop.stop()
        self._children.reap()


def _lost(settings: Settings) -> str | None:
    """What is told of variables that were lost before this supervisor began."""
    if runtime.was_used(settings.runtime_dir):
        return outcome.CONTAINER_RESTARTED
    return None if settings.replaced is None else outcome.pod_replaced(settings.replaced)
