"""The folder for sockets and the like, which is the only place outside the workspace that we write to."""

import contextlib
import os
import pwd
import secrets
import stat

_PRIVATE = "private"
_USED = "used"
_PRIVATE_MODE = 0o700
_USERS = "users"  # libnss-extrausers looks here by way of a link in the image
_NAME = "sandbox"


def was_used(runtime_dir: str) -> bool:
    """True if code may have run here before: the folder is the pod's and outlives a restart of the container."""
    return os.path.lexists(os.path.join(runtime_dir, _USED))


def mark_used(runtime_dir: str) -> None:
    """Note that code may run from now on, for whichever supervisor comes after this one."""
    with open(os.path.join(runtime_dir, _USED), "wb"):
        pass


def prepare(runtime_dir: str, home: str, *, used: bool = True) -> str:
    """Make the folder ready and give the path of its private part, empty, that only this user can enter.

    ``used`` is false where no code runs before ``mark_used``; what was used before stays marked so all the same.
    Nothing of what code left there before a restart of the container may keep the supervisor from its work.
    """
    os.makedirs(runtime_dir, mode=0o700, exist_ok=True)
    used = used or was_used(runtime_dir)
    _empty(runtime_dir)
    if used:
        mark_used(runtime_dir)
    private = os.path.join(runtime_dir, _PRIVATE)
    os.mkdir(private, mode=_PRIVATE_MODE)
    _name_user(os.path.join(runtime_dir, _USERS), os.getuid(), os.getgid(), home)
    return private


def make_private(folder: str) -> None:
    """Make the private folder if it is not there as it was: the code can do to it what we can."""
    try:
        about = os.lstat(folder)
        if stat.S_ISDIR(about.st_mode) and stat.S_IMODE(about.st_mode) == _PRIVATE_MODE:
            return
        if stat.S_ISDIR(about.st_mode):
            os.chmod(folder, _PRIVATE_MODE)
            return
        os.unlink(folder)
    except FileNotFoundError:
        pass
    os.makedirs(folder, mode=_PRIVATE_MODE)


def clear(folder: str, prefix: str) -> None:
    """Remove the files whose path begins with ``prefix``, as far as they can be removed."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):
                if entry.path.startswith(prefix):
                    os.unlink(entry.path)


def _empty(folder: str) -> None:
    """Remove all that is in a folder, at any depth and whatever its mode, while nothing else runs."""
    while names := os.listdir(folder):
        for name in names:
            path = os.path.join(folder, name)
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
                continue
            os.chmod(path, _PRIVATE_MODE)
            # Up instead of down: paths would become too long, and calls too deep.
            for inner in os.scandir(path):
                if inner.is_dir(follow_symlinks=False):
                    os.chmod(inner.path, _PRIVATE_MODE)  # who moves a folder must be able to write in it
                os.rename(inner.path, os.path.join(folder, secrets.token_hex(16)))
            os.rmdir(path)


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
