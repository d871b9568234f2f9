#!/usr/bin/env python3
"""Prints RSS and PSS of every process of a container, found by the container's id, as JSON."""

import json
import pathlib
import sys
from typing import Any


def memory_of(folder: pathlib.Path) -> dict[str, Any]:
    rollup = dict(line.split(":", 1) for line in (folder / "smaps_rollup").read_text().splitlines()[1:])
    mib = {name: round(int(rollup[name].split()[0]) / 1024, 1) for name in ("Rss", "Pss")}
    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return {"command": command[:100], "rss_mib": mib["Rss"], "pss_mib": mib["Pss"]}


def main() -> None:
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if sys.argv[1] in (folder / "cgroup").read_text():
                found.append(memory_of(folder))
        except (OSError, KeyError):
            continue
    print(json.dumps(found))


if __name__ == "__main__":
    main()
