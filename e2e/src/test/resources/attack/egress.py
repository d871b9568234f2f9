"""Asks the egress proxy for what it must refuse, byte by byte as no decent client would.

Runs in a sandbox, whose proxy variables say where the proxy is and who asks. attack() takes a list of attempts, each
with a name, a kind and what the kind needs, and returns one finding per attempt: whether it got through, and how that
showed.
"""

import base64
import os
import socket
import ssl
import urllib.parse

PATIENCE = 15.0
TLS_HANDSHAKE = 0x16
ECH = 0xFE0D


def proxy():
    return urllib.parse.urlsplit(os.environ["https_proxy"])


def authorization(credential=None):
    """The header of whoever asks: the sandbox itself, or the `user:password` that is given; none if that is empty."""
    if credential is None:
        credential = f"{proxy().username}:{proxy().password}"
    if not credential:
        return ""
    return "Proxy-Authorization: Basic " + base64.b64encode(credential.encode()).decode() + "\r\n"


def dial():
    connection = socket.create_connection((proxy().hostname, proxy().port), timeout=PATIENCE)
    connection.settimeout(PATIENCE)
    return connection


def head_of_answer(connection):
    answer = b""
    while b"\r\n\r\n" not in answer:
        more = connection.recv(4096)
        if not more:
            break
        answer += more
    return answer


def tunnel(target, credential=None):
    """An open tunnel, or PermissionError with what the proxy said."""
    connection = dial()
    connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization(credential)}\r\n".encode())
    answer = head_of_answer(connection)
    if not answer.startswith(b"HTTP/1.1 200"):
        said = answer + (rest(connection) if answer else b"")
        connection.close()
        raise PermissionError(said.decode("latin-1") or "closed without an answer")
    return connection


def rest(connection):
    said = b""
    while more := connection.recv(4096):
        said += more
    return said


def by_connect(attempt):
    """CONNECT with the target as it is given, and nothing after it."""
    with tunnel(attempt["target"], attempt.get("credential")):
        return "a tunnel to " + attempt["target"]


def by_request(attempt):
    """A whole head as it is given; `AUTH` in it stands for the sandbox's own header."""
    with dial() as connection:
        connection.sendall(attempt["head"].replace("AUTH", authorization()).encode("latin-1"))
        answer = head_of_answer(connection)
        status = answer.split(b"\r\n", 1)[0].decode("latin-1")
        # Whatever the host itself says, it was reached.
        if not status or b"x-proxy-error:" in answer.lower():
            raise PermissionError(answer.decode("latin-1") or "closed without an answer")
        return status


def unverified():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def hello(server_name):
    """The first bytes of a TLS client; no name if it is empty."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        unverified().wrap_bio(incoming, outgoing, server_hostname=server_name or None).do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()


def with_extension(client_hello, kind, content):
    """The same with one more extension."""
    at = 5 + 4 + 2 + 32
    at += 1 + client_hello[at]
    at += 2 + int.from_bytes(client_hello[at : at + 2])
    at += 1 + client_hello[at]
    added = kind.to_bytes(2) + len(content).to_bytes(2) + content
    extensions = client_hello[at + 2 :] + added
    body = client_hello[9:at] + len(extensions).to_bytes(2) + extensions
    handshake = client_hello[5:6] + len(body).to_bytes(3) + body
    return client_hello[:3] + len(handshake).to_bytes(2) + handshake


def by_hello(attempt):
    """A tunnel whose first bytes are a ClientHello with another name, none, an encrypted one, or are no TLS at all."""
    form = attempt["form"]
    if form == "ech":
        encrypted = b"\0\0\1\0\1\7" + (32).to_bytes(2) + b"\x2a" * 32 + (144).to_bytes(2) + b"\x2b" * 144
        first = with_extension(hello(attempt["name_inside"]), ECH, encrypted)
    elif form == "plain":
        first = b"GET / HTTP/1.1\r\nHost: " + attempt["name_inside"].encode() + b"\r\nConnection: close\r\n\r\n"
    else:
        first = hello(attempt["name_inside"])
    with tunnel(attempt["target"]) as connection:
        connection.sendall(first)
        answer = connection.recv(5)
        if not answer:
            raise ConnectionError("closed after the first bytes")
        if answer == b"HTTP/" if form == "plain" else answer[0] == TLS_HANDSHAKE:
            return f"the other end answered {answer!r}"
        raise ConnectionError(f"answered {answer!r}")


KINDS = {"connect": by_connect, "request": by_request, "hello": by_hello}


def attempt(it):
    try:
        return {"name": it["name"], "reached": True, "how": KINDS[it["kind"]](it)}
    except OSError as error:
        return {"name": it["name"], "reached": False, "how": str(error)[:500]}


def attack(attempts):
    return [attempt(it) for it in attempts]
