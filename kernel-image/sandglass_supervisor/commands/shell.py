"""Which shell runs a command line: bash, which SHELL and IPython's ``!`` are too, or sh where the image has no bash."""

import os
import re
from collections.abc import Mapping

from ..link.arguments import Command

_SH = ["sh", "-c"]
# What bash understands and other shells take for something else, often without a word.
_BASH_ALONE = re.compile(
    r"\[\[ |&>|>&\s|\|&|<<<|[<>]\(|(?<![^\s=])\$'|\{[\w-]+\.\.[\w-]+|\w\+?=\(|\$\{\w+\[|\bpipefail\b"
    r"|(?:^|[;&|\n({])\s*(?:source|declare|shopt|mapfile|readarray|let|select|function|pushd|popd)\s"
)


def path(env: Mapping[str, str]) -> str:
    """The shell that ``SHELL`` names unless the image says otherwise."""
    return _bash(env) or "/bin/sh"


def arrange(command: Command, env: Mapping[str, str]) -> tuple[Command, str]:
    """The command with the shell that its line is given to, if it is a line, and a warning or nothing."""
    if not command.shell_line or command.argv[:2] != _SH:
        return command, ""
    if _bash(env):
        return command._replace(argv=["bash", *command.argv[1:]]), ""
    return command, warning(command.argv[-1])


def _bash(env: Mapping[str, str]) -> str | None:
    """Where bash is. Without shutil, as that loads bz2 and lzma: when memory ends, the largest process goes first."""
    for folder in os.get_exec_path(env):
        path = os.path.join(folder, "bash")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def warning(line: str) -> str:
    """What to say of a line that sh ran for want of bash; nothing if it has nothing that only bash understands."""
    found = _BASH_ALONE.search(line)
    if found is None:
        return ""
    return (
        f"This image has no bash, so sh ran the command line, and sh does not understand '{found[0].strip()}' as bash"
        " does. Write the line for sh, or install bash in the image."
    )
