"""What going through gateway, link and supervisor adds to `1+1` on a kernel's own sockets; blocks in turn, one run."""

from __future__ import annotations

import json
import pathlib
import re
import secrets
import socket
import time
from typing import Any

from agent import Agent

from .cold_start import Failed, start, stop
from .figures import summary

CODE = "1+1"
BLOCKS = 6
WARM_UP = 20
# A gateway serves for weeks; only after tens of thousands of calls has its virtual machine compiled for good what is
# used often, and until then compiling takes a good part of a processor.
FIRST_WARM_UP = 40_000
DIRECT = pathlib.Path(__file__).with_name("direct.py").read_text()


def measure(agent: Agent, calls: int) -> dict[str, Any]:
    sandbox = f"bench-{secrets.token_hex(3)}"
    per_block = -(-calls // BLOCKS)
    start(agent, sandbox)
    # One connection from the warm-up to the end: each new one may meet another replica, which is cold.
    connection = connect(agent)
    try:
        print(f"  warming up: {FIRST_WARM_UP} calls", flush=True)
        through_the_gateway(agent, connection, sandbox, FIRST_WARM_UP)
        agent = Agent.from_environment()  # the other's connection may have idled for too long
        through: list[float] = []
        direct: list[float] = []
        for block in range(BLOCKS):
            through += through_the_gateway(agent, connection, sandbox, per_block)
            direct += on_own_sockets(agent, sandbox, per_block)
            print(f"  block {block + 1} of {BLOCKS}: {len(through)} and {len(direct)} calls", flush=True)
    finally:
        connection.close()
        stop(agent, sandbox)
    mine, theirs = summary(through), summary(direct)
    return {
        "through_the_gateway_ms": mine,
        "on_own_sockets_ms": theirs,
        "overhead_p50_ms": round(mine["p50"] - theirs["p50"], 3),
        "overhead_p99_ms": round(mine["p99"] - theirs["p99"], 3),
        "ratio_p50": round(mine["p50"] / theirs["p50"], 3),
    }


def through_the_gateway(agent: Agent, connection: socket.socket, sandbox: str, calls: int) -> list[float]:
    """Keep-alive, JSON answers, and a client that does next to nothing itself."""
    request = raw_request(agent, sandbox)
    times: list[float] = []
    for number in range(WARM_UP + calls):
        begun = time.perf_counter()
        connection.sendall(request)
        answer = read_answer(connection)
        elapsed = time.perf_counter() - begun
        if json.loads(answer)["result"]["structuredContent"]["result"] != "2":
            raise Failed(f"{CODE} gave {answer.decode()}")
        if number >= WARM_UP:
            times.append(elapsed * 1000)
    return times


def raw_request(agent: Agent, sandbox: str) -> bytes:
    tool = "sandbox_run_code"
    body = agent.body("tools/call", {"name": tool, "arguments": {"sandbox": sandbox, "code": CODE}})
    headers = {**agent.headers("tools/call", tool), "Host": agent.place.netloc, "Content-Length": str(len(body))}
    lines = [f"POST {agent.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", body]
    return "\r\n".join(lines).encode()


def connect(agent: Agent) -> socket.socket:
    connection = socket.create_connection((agent.place.hostname, agent.place.port or 80), timeout=60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def read_answer(connection: socket.socket) -> bytes:
    data = b""
    while (body := body_of(data)) is None:
        data += receive(connection)
    return body


def body_of(answer: bytes) -> bytes | None:
    """The body of an answer, whose length is told in its head; None as long as it is not all there."""
    head, end, body = answer.partition(b"\r\n\r\n")
    if not end:
        return None
    length = re.search(rb"\r\ncontent-length: *(\d+)", head.lower())
    if not head.startswith(b"HTTP/1.1 200") or length is None:
        raise Failed(answer.decode(errors="replace"))
    return body if len(body) >= int(length[1]) else None


def receive(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise Failed("the gateway hung up")
    return data


def on_own_sockets(agent: Agent, sandbox: str, calls: int) -> list[float]:
    """The same kernel in the same pod, its client beside it; the client's own clock counts."""
    arguments = ["-I", "-c", DIRECT, CODE, str(WARM_UP), str(calls)]
    answer = agent.call("sandbox_run_command", sandbox=sandbox, command="python3", args=arguments)
    if answer["status"] != "ok":
        raise Failed(answer.text)
    return [seconds * 1000 for seconds in json.loads(answer["stdout"])]
