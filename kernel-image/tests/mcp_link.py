"""What tests of MCP servers share: a supervisor for them, its socket for code, and registrations."""

import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import Client, Refused
from mcp_shared import share
from supervisors import PATIENT, Running

SERVER = str(Path(__file__).with_name("mcp") / "server.py")
# As code would: a process of the execution asks, so the supervisor knows whose call it is.
ASK = f"""
import json, os, socket, struct
def ask(**asked):
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(os.environ["SANDGLASS_MCP_SOCKET"])
        body = json.dumps({{"id": 1, **asked}}).encode()
        link.sendall(struct.pack(">I", len(body)) + body)
        file = link.makefile("rb")
        return json.loads(file.read(struct.unpack(">I", file.read(4))[0]))
def call(tool, server="one", **arguments):
    return ask(op="call", server=server, tool=tool, arguments=arguments)
PYTHON, SERVER = {sys.executable!r}, {SERVER!r}
"""


class Link:
    """The socket of contract, as a process outside of every execution uses it."""

    def __init__(self, running: Running) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(running.runtime / "mcp"))
        self.socket.settimeout(60)
        self.file = self.socket.makefile("rb")

    def send(self, **asked: Any) -> None:
        body = json.dumps(asked).encode()
        self.socket.sendall(len(body).to_bytes(4, "big") + body)

    def receive(self) -> dict[str, Any]:
        head = self.file.read(4)
        assert head, "closed"
        return dict(json.loads(self.file.read(int.from_bytes(head, "big"))))

    def ask(self, **asked: Any) -> dict[str, Any]:
        self.send(**{"id": 1, **asked})
        return self.receive()

    def call(self, tool: str, timeout_s: float | None = None, server: str = "one", **arguments: Any) -> dict[str, Any]:
        more = {} if timeout_s is None else {"timeout_s": timeout_s}
        return self.ask(op="call", server=server, tool=tool, arguments=arguments, **more)

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("mcp")
    packages = os.environ["SANDGLASS_MCP_PACKAGES"]
    secrets = str(folder / "secrets")
    running = Running(folder, limits=PATIENT, SANDGLASS_MCP_PACKAGES=packages, SANDGLASS_MCP_SECRETS=secrets)
    yield running
    running.stop()


@pytest.fixture
def peer(running: Running, request: pytest.FixtureRequest) -> Iterator[Client]:
    """A connection to a supervisor without servers, of a gateway that knows no shared ones."""
    kept = ["one"] if {"server_one", "functions_one"} & set(request.fixturenames) else []
    peer = running.client()
    share(peer, {})
    remove(peer, kept)
    yield peer
    remove(peer, kept)
    peer.close()
    running.clients.remove(peer)


@pytest.fixture
def server_one(peer: Client) -> None:
    """A server 'one' that behaves well and has no functions, for tests that leave it as it was: one after another."""
    serve(peer, revision="shared by tests")


@pytest.fixture
def functions_one(peer: Client) -> None:
    """The same, with functions for code."""
    register(peer, revision="shared by tests, with functions")


@pytest.fixture
def link(running: Running) -> Iterator[Link]:
    link = Link(running)
    yield link
    link.close()


def register(peer: Client, name: str = "one", behaviour: str = "well", *more: str, **others: Any) -> dict[str, Any]:
    args = [SERVER, behaviour, *more]
    return peer.ask("mcp_register", timeout=60, name=name, command=sys.executable, args=args, **others)


def serve(peer: Client, name: str = "one", behaviour: str = "well", *more: str, **others: Any) -> dict[str, Any]:
    """Register a server without writing functions for code, which takes longer than to start it."""
    return register(peer, name, behaviour, *more, api=False, **others)


def remove(peer: Client, kept: list[str]) -> None:
    for server in peer.ask("mcp_list")["servers"]:
        if server["name"] not in kept:
            peer.ask("mcp_remove", name=server["name"])


def refusal(peer: Client, **arguments: Any) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        peer.ask("mcp_register", timeout=60, **arguments)
    return refused.value.code, str(refused.value)
