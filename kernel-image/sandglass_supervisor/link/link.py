"""The supervisor's end of the link: one ROUTER socket with CURVE, and the list of who may connect."""

import struct
from collections.abc import Callable, Sequence

import zmq
import zmq.utils.z85

from ..limits import ANSWER_WAIT_S, FRAME_BYTES, LINK_RECEIVE_MESSAGES, LINK_SEND_MESSAGES
from ..loop import Loop, Timer
from ..settings import Settings
from . import messages

MessageHandler = Callable[[bytes, list[bytes]], None]
_ZAP_ENDPOINT = "inproc://zeromq.zap.01"
_ZAP_DOMAIN = b"sandglass"
_HEARTBEAT_MS = 10_000
_HANDSHAKE_MS = 30_000
_EVENT = struct.Struct("=Hi")  # of ZeroMQ's monitor: what happened, and to which descriptor


class Link:
    """Receives frames from and sends frames to gateways, each known by ZeroMQ's identity frame."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], settings: Settings, loop: Loop) -> None:
        # CURVE alone admits every client key, and the code in the sandbox can reach this port: only the listed key
        # may in. The list must be there before the first handshake, else libzmq refuses (ZAP_ENFORCE_DOMAIN).
        self._allowed = zmq.utils.z85.decode(settings.gateway_key)
        self._zap = context.socket(zmq.REP)
        self._zap.bind(_ZAP_ENDPOINT)
        self._socket = context.socket(zmq.ROUTER)
        for option, value in (
            (zmq.IPV6, 1),
            (zmq.CURVE_SERVER, 1),
            (zmq.ZAP_ENFORCE_DOMAIN, 1),
            (zmq.ROUTER_MANDATORY, 1),
            (zmq.ROUTER_HANDOVER, 1),
            (zmq.MAXMSGSIZE, FRAME_BYTES),
            (zmq.SNDHWM, LINK_SEND_MESSAGES),
            (zmq.RCVHWM, LINK_RECEIVE_MESSAGES),
            (zmq.HEARTBEAT_IVL, _HEARTBEAT_MS),
            (zmq.HANDSHAKE_IVL, _HANDSHAKE_MS),
            (zmq.LINGER, 0),
        ):
            self._socket.setsockopt(option, value)
        self._socket.setsockopt(zmq.ZAP_DOMAIN, _ZAP_DOMAIN)
        self._socket.setsockopt(zmq.CURVE_SECRETKEY, settings.secret_key.encode("ascii"))
        self._place = f"tcp://{settings.address}:{settings.port}"
        self._monitor = self._socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._connections: dict[bytes, int] = {}  # the descriptors of the peers that are known
        self._origin: zmq.Frame | None = None
        self._loop = loop
        self._waiting: list[tuple[bytes, Sequence[bytes]]] = []
        self._soon: Timer | None = None
        self._gone: Callable[[bytes], None] = lambda _peer: None
        self.refused = 0

    def bind(self) -> str:
        """Accept connections from now on; the endpoint at which they are accepted."""
        self._socket.bind(self._place)
        return self._socket.get_string(zmq.LAST_ENDPOINT)

    def watch(self, handler: MessageHandler, gone: Callable[[bytes], None]) -> None:
        """Serve handshakes, call ``handler(peer, frames)`` for every message and ``gone`` for known peers that end."""
        self._gone = gone
        self._loop.watch(self._zap, self._authenticate)
        self._loop.watch(self._socket, lambda: self._receive(handler))
        self._loop.watch(self._monitor, self._read_ends)

    def know(self, peer: bytes) -> None:
        """Know the peer whose message is being handled: from now on the end of its connection is told."""
        # First those that have ended: a new connection may have the descriptor of an old one.
        self._read_ends()
        descriptor = -1 if self._origin is None else int(self._origin.get(zmq.SRCFD))
        if descriptor >= 0:
            self._connections[peer] = descriptor

    def forget(self, peer: bytes) -> None:
        """Tell nothing of this peer any more."""
        self._connections.pop(peer, None)

    def send_soon(self, peer: bytes, frames: Sequence[bytes]) -> None:
        """Send in front of what is sent next, or after ``ANSWER_WAIT_S``.

        A short run ends at once: then its peer is woken once for the first and the last word about it.
        """
        self._waiting.append((peer, frames))
        if self._soon is None:
            self._soon = self._loop.call_in(ANSWER_WAIT_S, self._send_waiting)

    def send(self, peer: bytes, frames: Sequence[bytes]) -> bool:
        """Send to a peer; False if it is gone or reads nothing at all."""
        if self._waiting:
            self._send_waiting()
        return self._send(peer, frames)

    def _send_waiting(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
        waiting, self._waiting, self._soon = self._waiting, [], None
        for peer, frames in waiting:
            self._send(peer, frames)

    def _send(self, peer: bytes, frames: Sequence[bytes]) -> bool:
        try:
            messages.send(self._socket, [peer, *frames])
        except zmq.ZMQError:
            return False
        return True

    def _receive(self, handler: MessageHandler) -> None:
        for _ in range(LINK_RECEIVE_MESSAGES):
            received = messages.receive_from(self._socket)
            if received is None:
                return
            self._origin, message = received
            handler(message[0], message[1:])

    def _read_ends(self) -> None:
        while (event := messages.receive(self._monitor)) is not None:
            what, descriptor = _EVENT.unpack(event[0])
            if what == zmq.EVENT_DISCONNECTED:
                for peer in [peer for peer, known in self._connections.items() if known == descriptor]:
                    del self._connections[peer]
                    self._gone(peer)

    def _authenticate(self) -> None:
        """Answer one ZAP request (RFC 27): version, request id, domain, address, identity, mechanism, credentials."""
        try:
            request = self._zap.recv_multipart(zmq.DONTWAIT)
        except zmq.Again:
            return
        known = len(request) == 7 and request[5] == b"CURVE" and request[6] == self._allowed
        if not known:
            self.refused += 1
        status = [b"200", b"OK", b"gateway", b""] if known else [b"400", b"not allowed", b"", b""]
        self._zap.send_multipart([b"1.0", request[1] if len(request) > 1 else b"", *status])
