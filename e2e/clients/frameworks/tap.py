"""Stands between a client and the endpoint, passes every byte on, and tells afterwards what the client said."""

import contextlib
import re
import socket
import threading
import urllib.parse

REVISION = re.compile(rb"(?i)\r\nmcp-protocol-version: *([0-9-]{10})")


class Tap:
    """A relay on loopback for one client; `url` is the endpoint's through it."""

    def __init__(self, endpoint: str) -> None:
        place = urllib.parse.urlsplit(endpoint)
        if place.scheme != "http":
            raise SystemExit(f"{endpoint} is not http: what clients say to it cannot be listened to")
        self._upstream = (place.hostname or "", place.port or 80)
        self._said: list[bytearray] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}{place.path}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def facts(self) -> dict[str, str]:
        """The revisions that requests named, and the ways of progress and cancellation that the client used."""
        said = b"".join(bytes(part) for part in self._said)
        revisions = sorted({found.decode() for found in REVISION.findall(said)})
        return {
            "revision": ", ".join(revisions) or "none named",
            "asks for progress": "yes" if b'"progressToken"' in said else "no",
            "cancels by": "notifications/cancelled" if b'"notifications/cancelled"' in said else "closes the request",
        }

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client: socket.socket) -> None:
        said = bytearray()
        self._said.append(said)
        with client, socket.create_connection(self._upstream) as server:
            answers = threading.Thread(target=_pass_on, args=(server, client, None), daemon=True)
            answers.start()
            _pass_on(client, server, said)
            answers.join()


def _pass_on(source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
    # Either side may reset the connection, which is how some clients cancel.
    with contextlib.suppress(OSError):
        while chunk := source.recv(65536):
            if kept is not None:
                kept += chunk
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
