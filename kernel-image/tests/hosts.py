"""Hosts that hang or refuse, on loopback: what a machine's network does with addresses of elsewhere, no test asks."""

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_AT_ONCE_S = 0.2


@contextmanager
def hanging() -> Iterator[str]:
    """``address:port`` where a connection is neither made nor refused: whoever listens there has no room for one."""
    with ExitStack() as held:
        listener = held.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        while _connects(held.enter_context(socket.socket()), listener.getsockname()):
            pass
        yield _text(listener)


@contextmanager
def refusing() -> Iterator[str]:
    """``address:port`` where each connection is refused: nothing listens there, and the port is taken."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield _text(holder)


class Proxy(http.server.BaseHTTPRequestHandler):
    """An egress proxy that opens no connection: it answers 407 for hosts below ``busy.invalid`` and 403 for others."""

    asked: list[str]

    def do_CONNECT(self) -> None:
        host = self.path.rpartition(":")[0]
        self.asked.append(host)
        code, reason = (407, "Proxy Authentication Required") if host.endswith("busy.invalid") else (403, "Forbidden")
        self.send_response(code, reason)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def forbidding() -> Iterator[tuple[str, list[str]]]:
    """``address:port`` of a proxy, and the hosts to which it was asked to connect, so far."""
    asked: list[str] = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Asked", (Proxy,), {"asked": asked}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def _connects(client: socket.socket, address: tuple[str, int]) -> bool:
    client.settimeout(_AT_ONCE_S)
    try:
        client.connect(address)
    except TimeoutError:
        return False
    return True


def _text(taken: socket.socket) -> str:
    address, port = taken.getsockname()
    return f"{address}:{port}"
