#!/usr/bin/env python3
"""Kills every process of a container with SIGKILL, found by the container's id: a crash without a goodbye."""

import os
import pathlib
import signal
import sys


def processes_of(container: str) -> list[int]:
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if container in (folder / "cgroup").read_text():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def main() -> None:
    victims = processes_of(sys.argv[1])
    if not victims:
        sys.exit(f"no process of container {sys.argv[1]}")
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
