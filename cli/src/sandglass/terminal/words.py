"""The endpoint names its tools in what it says; people at a terminal have commands. Pure."""

from __future__ import annotations

import re

_COMMANDS = {
    "sandbox_start": "sandglass start",
    "sandbox_stop": "sandglass stop",
    "sandbox_list": "sandglass ls",
    "sandbox_get_metrics": "sandglass metrics",
    "sandbox_run_code": "sandglass run",
    "sandbox_run_command": "sandglass exec",
    "sandbox_get_execution": "sandglass attach",
    "sandbox_read_file": "sandglass cp",
    "sandbox_write_file": "sandglass cp",
    "sandbox_list_files": "sandglass exec -- ls",
    "sandbox_install_packages": "sandglass exec -- pip install",
}
_TOOL = re.compile(r"\bsandbox_[a-z_]+\b")


def in_commands(text: str) -> str:
    """The text with the commands in place of tools; a tool without a command stays."""
    return _TOOL.sub(lambda found: _COMMANDS.get(found[0], found[0]), text)
