"""What the egress proxy needs around it on loopback: an API with one sandbox, and a server that it may reach.

usage: python -m benchmark.egress_stand_ins UID. Prints the API's address and the server's port; ends with its input.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAMESPACE = "bench"
POD = "bench-1"
PIECE = bytes(1 << 20)


class Api(BaseHTTPRequestHandler):
    """Lists one sandbox whose pod is this machine; nothing ever changes."""

    protocol_version = "HTTP/1.1"
    answers: dict[str, dict[str, Any]]

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if "watch=true" in query:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            threading.Event().wait()
        known = self.answers.get(path.rsplit("/", 1)[-1])
        content = json.dumps(known or {"kind": "Status", "code": 404}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def answers(uid: str, allowed: str) -> dict[str, dict[str, Any]]:
    about = {"namespace": NAMESPACE, "resourceVersion": "1"}
    ours = {"apiVersion": "sandglass.dev/v1alpha1", "kind": "Sandbox"}
    owner = {**ours, "name": NAMESPACE, "uid": uid, "controller": True}
    labels = {"app.kubernetes.io/component": "sandbox"}
    sandbox = {**ours, "metadata": {**about, "name": NAMESPACE, "uid": uid}, "spec": {"allowedDomains": [allowed]}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**about, "name": POD, "uid": f"{uid}-pod", "labels": labels, "ownerReferences": [owner]},
        "status": {"phase": "Running", "podIPs": [{"ip": "127.0.0.1"}]},
    }
    version = {"metadata": {"resourceVersion": "1"}}
    return {
        "sandboxes": {"apiVersion": ours["apiVersion"], "kind": "SandboxList", **version, "items": [sandbox]},
        "pods": {"apiVersion": "v1", "kind": "PodList", **version, "items": [pod]},
        POD: pod,
    }


def serve(connection: socket.socket) -> None:
    """Echoes, unless the first letter is `d`: then it sends for as long as somebody listens."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        with connection:
            while heard := connection.recv(65536):
                if heard == b"d":
                    while True:
                        connection.sendall(PIECE)
                connection.sendall(heard)
    except OSError:
        pass


def accept(server: socket.socket) -> None:
    while True:
        connection, _ = server.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def main() -> None:
    server = socket.create_server(("127.0.0.1", 0), backlog=1024)
    port = server.getsockname()[1]
    threading.Thread(target=accept, args=(server,), daemon=True).start()
    Api.answers = answers(sys.argv[1], f"127.0.0.1:{port}")
    api = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    api.daemon_threads = True
    threading.Thread(target=api.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{api.server_port} {port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
