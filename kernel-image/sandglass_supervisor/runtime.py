"""The folder for sockets and the like, which is the only place outside the workspace that we write to."""

import os
import pwd
import shutil

_PRIVATE = "private"
_USERS = "users"  # libnss-extrausers looks here by way of a link in the image
_NAME = "sandbox"


def prepare(runtime_dir: str, home: str) -> str:
    """Make the folder ready and give the path of its private part, empty, that only this user can enter."""
    os.makedirs(runtime_dir, mode=0o700, exist_ok=True)
    private = os.path.join(runtime_dir, _PRIVATE)
    # The folder outlives a restart of the container, what was in it does not.
    shutil.rmtree(private, ignore_errors=True)
    os.mkdir(private, mode=0o700)
    _name_user(os.path.join(runtime_dir, _USERS), os.getuid(), os.getgid(), home)
    return private


def _name_user(folder: str, uid: int, gid: int, home: str) -> None:
    """Give the uid a name, whatever it is: getpass, git and ssh want one."""
    try:
        pwd.getpwuid(uid)
        return
    except KeyError:
        pass
    os.makedirs(folder, mode=0o755, exist_ok=True)
    for name, line in (
        ("passwd", f"{_NAME}:x:{uid}:{gid}:Sandbox:{home}:/bin/bash\n"),
        ("group", f"{_NAME}:x:{gid}:\n"),
    ):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(line)
