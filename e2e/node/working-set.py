#!/usr/bin/env python3
"""Prints the working set of a pod's cgroup in bytes: usage without the page cache that could go at once."""

import pathlib
import sys

ROOT = pathlib.Path("/sys/fs/cgroup")
V1 = ("memory.usage_in_bytes", "total_inactive_file")
V2 = ("memory.current", "inactive_file")


def cgroup_of(pod_uid: str) -> pathlib.Path:
    names = (f"pod{pod_uid}", f"pod{pod_uid.replace('-', '_')}.slice")
    for usage, _ in (V1, V2):
        for file in ROOT.glob(f"**/{usage}"):
            if file.parent.name.endswith(names):
                return file.parent
    sys.exit(f"no memory cgroup of pod {pod_uid} below {ROOT}")


def main() -> None:
    folder = cgroup_of(sys.argv[1])
    usage_file, inactive = V1 if (folder / V1[0]).exists() else V2
    usage = int((folder / usage_file).read_text())
    stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    print(usage - int(stat[inactive]))


if __name__ == "__main__":
    main()
