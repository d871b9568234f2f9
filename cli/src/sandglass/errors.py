"""What can go wrong, as callers catch it."""

from __future__ import annotations


class SandglassError(Exception):
    """Anything that this library raises. Its text is one line that says what to do."""


class ConfigurationError(SandglassError):
    """A setting is missing or breaks a rule; nothing was sent."""


class EndpointError(SandglassError):
    """The endpoint cannot be reached, refuses the key, or does not speak MCP."""


class ConnectionLost(EndpointError):
    """The connection broke after the call was sent: what it asked for may have happened."""


class ToolError(SandglassError):
    """The endpoint understood the call and refused it."""


class ExecutionError(SandglassError):
    """Code or a command did not end well; raised by `check()` alone."""
