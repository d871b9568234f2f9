"""Files of the node that are mounted into the container, such as its termination log: no limit counts them."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence

_MOUNTS = "/proc/self/mountinfo"
_MOUNT_POINT = 4  # the field's place in a line; what is no letter is written as three octal digits
_SHOWN_CHARS = 80


def writable(volumes: Sequence[str]) -> list[str]:
    """The mounted files that this user can write, but for those that are volumes of the sandbox or in one."""
    with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
        return list(_writable(file, volumes, _is_writable_file))


def words(path: str) -> str:
    """What is to be changed so that the code cannot write there."""
    shown = ascii(path)[1:-1][:_SHOWN_CHARS]
    return f"a folder /root that only root can enter (chmod 700 /root): code could write {shown}, a file of the node"


def _writable(lines: Iterator[str], volumes: Sequence[str], can: Callable[[str], bool]) -> Iterator[str]:
    for line in lines:
        fields = line.split(" ")
        path = _unescaped(fields[_MOUNT_POINT]) if len(fields) > _MOUNT_POINT else ""
        if path and not any(path == volume or path.startswith(volume + "/") for volume in volumes) and can(path):
            yield path


def _unescaped(text: str) -> str:
    first, *rest = text.split("\\")
    return first + "".join(chr(int(part[:3], 8)) + part[3:] for part in rest)


def _is_writable_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.W_OK)
    except OSError:
        return False
