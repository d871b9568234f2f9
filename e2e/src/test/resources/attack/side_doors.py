"""Ways out that stand beside the walls: the moment before a pod's walls are up, and IPv6 on its link to the node.

Runs unchanged in a sandbox and in the control pod.
"""

import contextlib
import json
import os
import socket
import threading
import time

SPAN = 4.0
PATIENCE = 0.05
IPV6_PATIENCE = 3.0


def attempts(host, port):
    """Connects again and again; when it began, how often it tried, and how often it came through."""
    found = {"begun": time.time(), "tried": 0, "reached": 0}
    while time.time() < found["begun"] + SPAN:
        found["tried"] += 1
        with contextlib.suppress(OSError):
            socket.create_connection((host, port), timeout=PATIENCE).close()
            found["reached"] += 1
    return found


def begin(folder, host, port):
    """Attempts in the background of whichever process imports this, and leaves what it found in a file of its own."""

    def go():
        found = json.dumps(attempts(host, port))
        path = os.path.join(folder, f"{os.getpid()}.json")
        with open(path + ".part", "w") as file:
            file.write(found)
        os.rename(path + ".part", path)

    threading.Thread(target=go, daemon=True).start()


def found_by_all(folder):
    """What those wrote that are done."""
    found = []
    for name in os.listdir(folder):
        if name.endswith(".json"):
            with open(os.path.join(folder, name)) as file:
                found.append(json.load(file))
    return found


def hardware_of_node():
    """Address of the other end of the link, which the pod learns by speaking to its default gateway."""
    with open("/proc/net/route") as table:
        routes = [line.split() for line in table.read().splitlines()[1:]]
    gateway = socket.inet_ntoa(bytes.fromhex(next(route[2] for route in routes if route[1] == "00000000"))[::-1])
    end = time.monotonic() + IPV6_PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            socket.create_connection((gateway, 9), timeout=PATIENCE).close()
        with open("/proc/net/arp") as table:
            for line in table.read().splitlines()[1:]:
                address, _, flags, hardware = line.split()[:4]
                if address == gateway and int(flags, 16):
                    return bytes.fromhex(hardware.replace(":", ""))
    raise TimeoutError("the default gateway has no hardware address")


def node_by_ipv6(port):
    """Whether the node answers at the address that its hardware address gives it (RFC 4291, appendix A)."""
    hardware = hardware_of_node()
    identifier = bytes([hardware[0] ^ 2]) + hardware[1:3] + b"\xff\xfe" + hardware[3:]
    address = socket.inet_ntop(socket.AF_INET6, b"\xfe\x80" + bytes(6) + identifier)
    end = time.monotonic() + IPV6_PATIENCE
    while time.monotonic() < end:
        # The pod's own address, too, is of no use before it is known that no other has it.
        with contextlib.suppress(OSError):
            socket.create_connection((address + "%eth0", port), timeout=IPV6_PATIENCE).close()
            return True
        time.sleep(0.1)
    return False
