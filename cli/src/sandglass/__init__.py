"""Sandglass: run code in sandboxes.

    from sandglass import Sandbox

    with Sandbox() as sandbox:
        print(sandbox.run_code("1 + 1").text)

Names are imported when they are used, so that the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandglass.version import VERSION

if TYPE_CHECKING:
    from sandglass.async_sandbox import AsyncCodeStream, AsyncSandbox
    from sandglass.core.facts import (
        CodeError,
        Entry,
        Execution,
        Image,
        Port,
        SandboxState,
        Usage,
    )
    from sandglass.errors import (
        ConfigurationError,
        ConnectionLost,
        EndpointError,
        ExecutionError,
        SandglassError,
        ToolError,
    )
    from sandglass.sandbox import CodeStream, Sandbox

__version__ = VERSION

_HOMES = {
    "sandglass.async_sandbox": ("AsyncCodeStream", "AsyncSandbox"),
    "sandglass.core.facts": ("CodeError", "Entry", "Execution", "Image", "Port", "SandboxState", "Usage"),
    "sandglass.errors": (
        "ConfigurationError",
        "ConnectionLost",
        "EndpointError",
        "ExecutionError",
        "SandglassError",
        "ToolError",
    ),
    "sandglass.sandbox": ("CodeStream", "Sandbox"),
}

__all__ = [
    "AsyncCodeStream",
    "AsyncSandbox",
    "CodeError",
    "CodeStream",
    "ConfigurationError",
    "ConnectionLost",
    "EndpointError",
    "Entry",
    "Execution",
    "ExecutionError",
    "Image",
    "Port",
    "Sandbox",
    "SandboxState",
    "SandglassError",
    "ToolError",
    "Usage",
    "__version__",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'sandglass' has no attribute {name!r}")
