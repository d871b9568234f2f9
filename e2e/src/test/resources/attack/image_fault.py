"""Tries to say, where the node looks for the last words of a container, that the image cannot be run.

Runs unchanged in a sandbox and in the control pod, where every attack must succeed. attack() returns one finding per
place: whether it could be written to.
"""

import os

WORDS = "exec /usr/bin/python3: exec format error\n"
# The node's default, what the pod has instead and ways around its folder, and the container's log.
PLACES = (
    "/dev/termination-log",
    "/root/termination-log",
    "/proc/1/root/root/termination-log",
    "/proc/1/fd/1",
    "/proc/1/fd/2",
)


def write(place):
    with open(place, "w") as file:
        file.write(WORDS)
    return "written"


def open_the_folder():
    os.chmod("/root", os.stat("/root").st_mode)
    return "may be opened"


def attempt(name, function, *arguments):
    try:
        return {"name": name, "reached": True, "how": function(*arguments)}
    except OSError as wall:
        return {"name": name, "reached": False, "how": repr(wall)}


def attack(_=None):
    # The node's own file is the last, so that it has the words when it is read.
    return [
        attempt("open_the_folder", open_the_folder),
        *(attempt(place, write, place) for place in reversed(PLACES)),
    ]
