"""Tries to reach the things around a sandbox that it must not reach.

Runs unchanged in a sandbox and in the control pod. attack() takes a list of targets, each with name, kind (tcp, udp,
icmp or resolve), host and port, and returns one finding per target: whether it was reached, and how that showed.
"""

import concurrent.futures
import os
import socket
import struct
import time

PATIENCE = 3.0
ICMP_ECHO = struct.pack("!BBHHH", 8, 0, 0xEFFD, 0x0801, 1)
ICMP_ECHO_REPLY = 0
DNS_QUERY = (
    struct.pack("!HHHHHH", 0x5A5A, 0x0100, 1, 0, 0, 0)
    + b"\x0akubernetes\x07default\x03svc\x07cluster\x05local\x00"
    + struct.pack("!HH", 1, 1)
)


def by_tcp(target):
    with socket.create_connection((target["host"], target["port"]), timeout=PATIENCE) as connection:
        return "connected from " + connection.getsockname()[0]


def by_udp(target):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.settimeout(PATIENCE / 3)
        connection.connect((target["host"], target["port"]))
        for attempt in range(3):
            connection.send(DNS_QUERY)
            try:
                return f"answered with {len(connection.recv(2048))} bytes"
            except TimeoutError:
                if attempt == 2:
                    raise


def by_icmp(target):
    refused = None
    for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
        try:
            connection = socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP)
        except OSError as error:
            refused = error
            continue
        with connection:
            return ask_for_echo(connection, target["host"])
    raise refused


def ask_for_echo(connection, host):
    # Nobody sends an ICMP packet again that got lost.
    for attempt in range(3):
        connection.sendto(ICMP_ECHO, (host, 0))
        try:
            return wait_for_echo(connection, host)
        except TimeoutError:
            if attempt == 2:
                raise


def wait_for_echo(connection, host):
    # A raw socket sees every ICMP packet of the pod, with its IP header; a datagram socket only its own, without.
    end = time.monotonic() + PATIENCE / 3
    while (left := end - time.monotonic()) > 0:
        connection.settimeout(left)
        packet, sender = connection.recvfrom(2048)
        header = (packet[0] & 0xF) * 4 if connection.type == socket.SOCK_RAW else 0
        if sender[0] == host and packet[header] == ICMP_ECHO_REPLY:
            return f"echo of {len(packet)} bytes"
    raise TimeoutError("no echo")


def by_resolving(target):
    answers = socket.getaddrinfo(target["host"], None, socket.AF_INET)
    return "resolved to " + answers[0][4][0]


KINDS = {"tcp": by_tcp, "udp": by_udp, "icmp": by_icmp, "resolve": by_resolving}


def attempt(target):
    try:
        return {"name": target["name"], "reached": True, "how": KINDS[target["kind"]](target)}
    except OSError as error:
        return {"name": target["name"], "reached": False, "how": repr(error)}


def attack(targets):
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(32, len(targets))) as pool:
        return list(pool.map(attempt, targets))


def listening_ports():
    """TCP ports of this pod that are open to more than loopback."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        if not os.path.exists(table):
            continue
        with open(table) as lines:
            for line in list(lines)[1:]:
                local, state = line.split()[1], line.split()[3]
                address, port = local.rsplit(":", 1)
                loopback = address == "0100007F" or (address.endswith("01000000") and len(address) == 32)
                if state == "0A" and not loopback:
                    found.add(int(port, 16))
    return sorted(found)
