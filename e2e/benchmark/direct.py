"""Runs in a sandbox: times executions on a kernel's own sockets, with nothing between. Prints seconds as JSON.

usage: direct.py CODE WARM_UP CALLS. The kernel is started the way the supervisor starts its kernels, so that both sides
of the comparison run the same kernel; the client is plain pyzmq.
"""

import hashlib
import hmac
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from typing import Any

import zmq
from sandglass_supervisor.shared import crash_buffer

SHELL, IOPUB = 1, 2
DELIMITER = b"<IDS|MSG>"


def command_of_a_kernel() -> list[str]:
    """The command line of the kernel that the supervisor, PID 1, has started."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with open(f"/proc/{name}/status") as status, open(f"/proc/{name}/cmdline") as command:
            words = command.read().split("\0")[:-1]
            if "PPid:\t1\n" in status.read() and any("python_kernel" in word for word in words):
                return words
    raise SystemExit("there is no kernel to do as")


class Kernel:
    """A kernel and the two sockets that an execution needs."""

    def __init__(self, folder: str) -> None:
        self.key = secrets.token_hex(32).encode()
        self.messages = 0
        address = os.path.join(folder, "direct")
        stdin = os.memfd_create("connection")
        notes = crash_buffer.memory()
        sockets = {"address": address, "key": self.key.decode(), "shell": SHELL, "iopub": IOPUB}
        about = {**sockets, "last_words": notes}
        os.write(stdin, json.dumps(about).encode())
        os.lseek(stdin, 0, os.SEEK_SET)
        self.process = subprocess.Popen(command_of_a_kernel(), stdin=stdin, stdout=subprocess.DEVNULL, pass_fds=[notes])
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context.instance()
        self.shell, self.iopub = context.socket(zmq.DEALER), context.socket(zmq.SUB)
        self.iopub.subscribe(b"")
        for socket, port in ((self.shell, SHELL), (self.iopub, IOPUB)):
            socket.linger = 0
            socket.reconnect_ivl = 2
            socket.connect(f"ipc://{address}-{port}")
        if not self.iopub.poll(30_000):
            raise SystemExit("the kernel does not answer")
        self.iopub.recv_multipart()
        self.poller = zmq.Poller()
        self.poller.register(self.shell, zmq.POLLIN)
        self.poller.register(self.iopub, zmq.POLLIN)

    def execute(self, code: str) -> None:
        """Sends a request; returns when both its reply and `idle` have come."""
        self.messages += 1
        msg_id = f"direct-{self.messages}"
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False}
        header = {"msg_id": msg_id, "msg_type": "execute_request", "username": "b", "session": "b", "date": ""}
        parts = [json.dumps(part).encode() for part in ({**header, "version": "5.4"}, {}, {}, content)]
        self.shell.send_multipart([DELIMITER, self.signature(parts), *parts])
        replied = idle = False
        while not (replied and idle):
            for socket, _ in self.poller.poll():
                kind, parent, body = self.receive(socket)
                if parent != msg_id:
                    continue
                replied |= kind == "execute_reply"
                idle |= kind == "status" and body["execution_state"] == "idle"

    def receive(self, socket: "zmq.Socket[bytes]") -> tuple[str, str | None, dict[str, Any]]:
        frames = socket.recv_multipart()
        frames = frames[frames.index(DELIMITER) + 1 :]
        if not hmac.compare_digest(frames[0], self.signature(frames[1:5])):
            raise SystemExit("a message of the kernel is not signed")
        header, parent, _, content = (json.loads(frame) for frame in frames[1:5])
        return header["msg_type"], parent.get("msg_id"), content

    def signature(self, parts: list[bytes]) -> bytes:
        return hmac.new(self.key, b"".join(parts), hashlib.sha256).hexdigest().encode()


def main() -> None:
    code, warm_up, calls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        kernel = Kernel(folder)
        try:
            seconds = []
            for number in range(warm_up + calls):
                begun = time.perf_counter()
                kernel.execute(code)
                if number >= warm_up:
                    seconds.append(time.perf_counter() - begun)
        finally:
            kernel.process.kill()
            kernel.process.wait()
    print(json.dumps(seconds))


main()
