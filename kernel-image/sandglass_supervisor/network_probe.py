"""Whether the pod's NetworkPolicies hold: for some seconds it tries to connect to what they must close.

Only a connection that stands counts as reached. A reset or an ICMP message is no proof: plugins that reject send them
too. UDP is not tried, since silence says nothing there. ADR 0019 says what the gateway and the operator do about it.
"""

import _socket  # not the module around it, whose import costs what the whole probe does
import errno
import select
from collections.abc import Callable
from typing import NamedTuple

from .execution import outcome
from .limits import PROBE_LONGEST_PAUSE_S, PROBE_PAUSE_GROWTH, PROBE_PAUSE_S, PROBE_S
from .loop import Loop, Timer


class Address(NamedTuple):
    """An IP address and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        """As URLs have it, with brackets around IPv6."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class NetworkProbe:
    """Begins with the supervisor, ends by itself; ``reached`` is called at most once, with what it got through to."""

    def __init__(self, loop: Loop, addresses: tuple[Address, ...], reached: Callable[[Address], None]) -> None:
        self._loop = loop
        self._addresses = addresses
        self._reached = reached
        self._trying: dict[int, tuple[_socket.socket, Address]] = {}
        if not addresses:
            return
        # One descriptor that becomes readable when any connection stands or fails: the loop waits for nothing else.
        self._ready = select.epoll()
        loop.watch(self._ready.fileno(), self._look)
        self._last: Timer = loop.call_in(PROBE_S, self._end)
        self._try_all(PROBE_PAUSE_S)

    def _try_all(self, pause: float) -> None:
        """Begin anew: what was refused may be let through by now, and what is silent is asked more often so."""
        longer = min(PROBE_PAUSE_GROWTH * pause, PROBE_LONGEST_PAUSE_S)
        self._next = self._loop.call_in(pause, lambda: self._try_all(longer))
        self._give_up()
        for address in self._addresses:
            try:
                self._try(address)
            except OSError:
                continue  # no descriptor is free, or there is no way to that address: the next turn tries again

    def _try(self, address: Address) -> None:
        family = _socket.AF_INET6 if ":" in address.host else _socket.AF_INET
        attempt = _socket.socket(family, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC | _socket.SOCK_NONBLOCK)
        if attempt.connect_ex((address.host, address.port)) in (0, errno.EINPROGRESS):
            self._trying[attempt.fileno()] = attempt, address
            self._ready.register(attempt.fileno(), select.EPOLLOUT)
        else:
            attempt.close()

    def _look(self) -> None:
        for descriptor, _ in self._ready.poll(0):
            attempt, address = self._trying.pop(descriptor)
            failed = attempt.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR)
            self._close(attempt)
            if not failed:
                self._end()
                self._reached(address)
                return

    def _end(self) -> None:
        self._last.cancel()
        self._next.cancel()
        self._give_up()
        self._loop.unwatch(self._ready.fileno())
        self._ready.close()

    def _give_up(self) -> None:
        for attempt, _ in self._trying.values():
            self._close(attempt)
        self._trying.clear()

    def _close(self, attempt: _socket.socket) -> None:
        # Said to the poller too: a child that is being started may hold the socket for a moment longer.
        self._ready.unregister(attempt.fileno())
        attempt.close()


class Network:
    """What is known of the pod's network, and what follows from it; ``required``: code runs only while it is closed."""

    def __init__(self, *, required: bool) -> None:
        self._required = required
        self._reached: Address | None = None
        self._told = False

    def is_open(self, reached: Address) -> None:
        """The probe got through."""
        self._reached = reached

    @property
    def reached(self) -> bool:
        """Whether a probe got through."""
        return self._reached is not None

    @property
    def refusal(self) -> str | None:
        """Why nothing runs here; None if it may."""
        return outcome.network_open(self._reached) if self._reached is not None and self._required else None

    def note(self) -> str | None:
        """What the first run since then is told; None if there is nothing to tell."""
        if self._reached is None or self._required or self._told:
            return None
        self._told = True
        return outcome.network_open_but_allowed(self._reached)

    def describe(self) -> dict[str, str | None]:
        """As ``hello`` and ``list`` tell it."""
        return {"reached": None if self._reached is None else str(self._reached), "refusal": self.refusal}
