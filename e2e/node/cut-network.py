#!/usr/bin/env python3
"""Takes a container's pod off the network for some seconds: the node's end of its cable is pulled and put back.

usage: cut-network.py CONTAINER SECONDS     (says "cut" as soon as it is)
"""

import pathlib
import re
import subprocess
import sys
import time


def process_of(container: str) -> str:
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if container in (folder / "cgroup").read_text():
                return folder.name
        except OSError:
            continue
    sys.exit(f"no process of container {container}")


def ip(*arguments: str) -> str:
    return subprocess.run(["/sbin/ip", *arguments], capture_output=True, text=True, check=True).stdout


def node_end(pid: str) -> str:
    """The name of the interface that the pod's eth0 is connected to."""
    inside = ["nsenter", f"--net=/proc/{pid}/ns/net", "ip", "-oneline", "link", "show", "eth0"]
    shown = subprocess.run(inside, capture_output=True, text=True, check=True).stdout
    peer = re.search(r"eth0@if(\d+):", shown)
    if peer is None:
        sys.exit(f"no peer in {shown}")
    name = re.search(rf"^{peer[1]}: ([^:@]+)", ip("-oneline", "link", "show"), re.MULTILINE)
    if name is None:
        sys.exit(f"the node has no interface {peer[1]}")
    return name[1]


def main() -> None:
    cable = node_end(process_of(sys.argv[1]))
    ip("link", "set", cable, "down")
    try:
        print("cut", flush=True)
        time.sleep(float(sys.argv[2]))
    finally:
        ip("link", "set", cable, "up")


if __name__ == "__main__":
    main()
