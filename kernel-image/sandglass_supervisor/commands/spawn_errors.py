"""Why a command could not be started, in words that say what to do: its folder and its program are looked at apart.

The code may change both meanwhile, and what the supervisor sees below /proc is its own: of a file nothing is told but
the interpreter that it names.
"""

import errno
import os
import stat
from collections.abc import Mapping

from ..execution.outcome import ERROR, Outcome
from ..limits import PATH_BYTES
from ..link.arguments import Command
from ..shared.text import plain

_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
_PROMPTLY = os.O_NONBLOCK | os.O_NOCTTY
_SCRIPT, _BINARY = b"#!", b"\x7fELF"
_INTERPRETER_BYTES = 255


def unstarted(error: OSError, command: Command, env: Mapping[str, str]) -> Outcome:
    """The outcome of a command that met ``error`` when it was to begin, with ``env`` as its variables."""
    trouble = _folder_trouble(command.cwd)
    if trouble:
        return Outcome(ERROR, f"The working directory {command.cwd} {trouble}.")
    name = command.argv[0]
    file = _find(name, command.cwd, env)
    if file is None and error.errno in (errno.ENOENT, errno.ENOTDIR):
        message = f"There is no program {name} here: an absolute path, or a name found in PATH, is needed."
        return Outcome(ERROR, message, exit_code=_NOT_FOUND)
    return Outcome(ERROR, f"{name} {_program_trouble(error, name, file)}.", exit_code=_NOT_EXECUTABLE)


def _folder_trouble(path: str) -> str:
    """Why nothing can run in a folder; empty if something can."""
    try:
        about = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return "does not exist"
    except OSError as error:
        return f"cannot be entered: {error.strerror}"
    if not stat.S_ISDIR(about.st_mode):
        return "is a file, and no folder"
    return "" if os.access(path, os.X_OK) else "cannot be entered: its mode forbids it"


def _find(name: str, cwd: str, env: Mapping[str, str]) -> str | None:
    """The file that a name stands for, whether it can be executed or not."""
    folders = [cwd] if "/" in name else os.get_exec_path(env)
    paths = (os.path.join(cwd, folder, name) for folder in folders)
    return next(filter(os.path.exists, paths), None)


def _program_trouble(error: OSError, name: str, file: str | None) -> str:
    if file is not None and os.path.isdir(file):
        return "is a folder, and no program"
    begin = b"" if file is None else _beginning(file)
    match error.errno:
        case errno.ENOENT if begin.startswith(_SCRIPT):
            return _interpreter_trouble(begin, name)
        case errno.ENOENT if begin.startswith(_BINARY):
            return "cannot run here: it was built for a system with other libraries, and what would load it is missing"
        case errno.ENOEXEC if begin.startswith(_BINARY):
            return "cannot run here: it was built for another processor"
        case errno.ENOEXEC:
            rule = f"run it by its interpreter, as in 'sh {name}', or give it a first line such as '#!/bin/sh'"
            return f"is no program ({error.strerror}). If it is a script, {rule}"
    return f"could not be started: {error.strerror}"


def _interpreter_trouble(begin: bytes, name: str) -> str:
    # Where Linux ends the name as well; the author of the file chooses it, and it stands in a sentence of ours.
    interpreter = begin.partition(b"\n")[0][len(_SCRIPT) :].strip(b" \t").replace(b"\t", b" ").partition(b" ")[0]
    interpreter = interpreter[:_INTERPRETER_BYTES]
    shown = plain(interpreter.decode("utf-8", "replace")).rstrip("\r")
    if interpreter.endswith(b"\r"):
        mend = f"sed -i 's/\\r$//' {name}"
        return f"cannot run: its lines end as on Windows, so that its {shown} is not found. This mends it: {mend}"
    trouble = "cannot run here itself" if os.path.exists(shown) else "is not there"
    return f"cannot run: its first line names the interpreter {shown}, which {trouble}. Correct that line"


def _beginning(path: str) -> bytes:
    """The first bytes of a file; none of what is no file or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _PROMPTLY)
    except OSError:
        return b""
    try:
        return os.read(descriptor, PATH_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
