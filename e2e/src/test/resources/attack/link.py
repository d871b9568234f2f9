"""Knocks at the supervisor's link port, and looks for its secret everywhere that code in a sandbox can look."""

import glob
import hashlib
import json
import os

PATIENCE_MS = 3000
CHUNK = 1 << 20


def knock(port, server_key, secret_key=None):
    """Says hello as a gateway would, with a key of its own making or the one given; whether there was an answer."""
    import zmq

    public, secret = zmq.curve_keypair()
    if secret_key is not None:
        public, secret = zmq.curve_public(secret_key.encode()), secret_key.encode()
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    socket.curve_serverkey = server_key.encode()
    socket.curve_publickey = public
    socket.curve_secretkey = secret
    try:
        socket.connect(f"tcp://127.0.0.1:{port}")
        socket.send_multipart([b"V", b"knock", json.dumps({"verb": "hello", "protocol": [1], "peer": "e2e"}).encode()])
        return bool(socket.poll(PATIENCE_MS)) and socket.recv_multipart()[0] == b"R"
    finally:
        socket.close()


def knock_plain(port):
    """The same without encryption."""
    import zmq

    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.linger = 0
    try:
        socket.connect(f"tcp://127.0.0.1:{port}")
        socket.send_multipart([b"V", b"knock", b'{"verb":"hello","protocol":[1],"peer":"e2e"}'])
        return bool(socket.poll(PATIENCE_MS))
    finally:
        socket.close()


def places():
    """All that can be read: environments, command lines and memory of every process, and every small file."""
    for process in glob.glob("/proc/[0-9]*"):
        yield process + "/environ"
        yield process + "/cmdline"
        yield from (f"{process}/fd/{number}" for number in descriptors(process))
    for root in ("/run", "/var/run", "/tmp", "/workspace", "/etc", "/dev/shm", "/home", "/opt/sandglass"):
        for folder, _, files in os.walk(root):
            yield from (os.path.join(folder, name) for name in files)


def descriptors(process):
    try:
        return os.listdir(process + "/fd")
    except OSError:
        return []


def contents(place):
    try:
        if not os.path.isfile(place):
            return b""
        with open(place, "rb") as file:
            return file.read(CHUNK)
    except OSError:
        return b""


def memory(process):
    """The writable memory of a process, piece by piece."""
    try:
        with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", buffering=0) as mem:
            for line in maps:
                span, mode = line.split()[:2]
                start, end = (int(part, 16) for part in span.split("-"))
                if mode.startswith("rw") and not line.rstrip().endswith("[vvar]"):
                    mem.seek(start)
                    yield mem.read(end - start)
    except OSError:
        return


def holds(data, prefix, length, digest):
    position = data.find(prefix)
    while position >= 0:
        if hashlib.sha256(data[position : position + length]).hexdigest() == digest:
            return True
        position = data.find(prefix, position + 1)
    return False


def find_secret(prefix, length, digest):
    """Where a secret is. Only its first characters and a hash are given, so that the search itself is not its place."""
    mark = prefix.encode("latin-1")
    found = [place for place in places() if holds(contents(place), mark, length, digest)]
    processes = (name for name in os.listdir("/proc") if name.isdigit())
    return found + [
        f"memory of {process}"
        for process in processes
        if any(holds(piece, mark, length, digest) for piece in memory(process))
    ]
