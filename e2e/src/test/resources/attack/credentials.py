"""Looks for a text wherever a program of this pod can look: in every process, in files, in what its code is told."""

import glob
import os
import re

LARGEST = 4 * 1024 * 1024
OF_A_MAPPING = 64 * 1024 * 1024
FOLDERS = ("/workspace", "/tmp", "/run", "/var", "/etc", "/mnt", "/srv", "/home", "/root", "/dev/shm", "/dev/mqueue")


def others():
    """Processes but for this one, which has the text since it looks for it."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def in_file(path, wanted):
    try:
        with open(path, "rb", buffering=0) as file:
            return wanted in file.read(LARGEST)
    except OSError:
        return False


def in_mapping(memory, begin, end, wanted):
    """Piece by piece: this process has less memory than it reads."""
    try:
        memory.seek(begin)
        before = b""
        while begin < end and (piece := memory.read(min(end - begin, LARGEST))):
            if wanted in before + piece:
                return True
            before, begin = piece[-len(wanted) :], begin + len(piece)
    except (OSError, OverflowError, ValueError):
        pass
    return False


def in_memory(pid, wanted):
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            for found in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) rw", maps.read(), re.MULTILINE):
                begin, end = (int(address, 16) for address in found)
                if in_mapping(memory, begin, min(end, begin + OF_A_MAPPING), wanted):
                    return True
    except OSError:
        pass
    return False


def in_descriptors(pid, wanted):
    """What is left in files that a process has open; no pipe, from which reading would take."""
    for link in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            if os.path.isfile(link) and in_file(link, wanted):
                return True
        except OSError:
            continue
    return False


def in_folders(wanted):
    return any(
        in_file(os.path.join(folder, name), wanted)
        for top in FOLDERS
        for folder, _, names in os.walk(top)
        for name in names
        if os.path.isfile(os.path.join(folder, name))
    )


def cores(wanted):
    """Of programs that crashed, wherever the node puts them."""
    paths = [path for folder in ("/", "/workspace/", "/tmp/", "/var/crash/") for path in glob.glob(folder + "core*")]
    return any(in_file(path, wanted) for path in paths if os.path.isfile(path))


def attack(backwards):
    """Where the text is found; it is given backwards, so that the program itself does not have it in a file."""
    wanted = backwards[::-1].encode()
    pids = others()
    ways = {
        "environment": any(in_file(f"/proc/{pid}/environ", wanted) for pid in pids),
        "command line": any(in_file(f"/proc/{pid}/cmdline", wanted) for pid in pids),
        "memory": any(in_memory(pid, wanted) for pid in pids),
        "descriptors": any(in_descriptors(pid, wanted) for pid in pids),
        "files": in_folders(wanted),
        "cores": cores(wanted),
    }
    return sorted(way for way, found in ways.items() if found)
