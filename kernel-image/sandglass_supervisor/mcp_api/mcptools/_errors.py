"""What a call can raise. All derive from ToolRunnerError; each message says what to do."""

_MESSAGE_CHARS = 20_000


class ToolRunnerError(Exception):
    """A call failed; the classes below say how. ``message``, ``server`` and ``tool`` are attributes."""

    advice = ""

    def __init__(self, message: str, server: str | None = None, tool: str | None = None) -> None:
        self.message = message
        self.server = server
        self.tool = tool
        super().__init__(message, server, tool)

    def __str__(self) -> str:
        """The message, and what to do."""
        text = self.message
        if len(text) > _MESSAGE_CHARS:
            text = f"{text[:_MESSAGE_CHARS]} [... {len(text) - _MESSAGE_CHARS} characters left out]"
        return f"{text}\n{self.advice}" if self.advice else text


class ToolError(ToolRunnerError):
    """The tool itself answered that it failed. The message is the tool's."""


class NoSuchServer(ToolRunnerError, LookupError):
    """No server of that name is registered in the sandbox, or shared with it."""

    advice = "mcptools.servers() lists the servers."


class NoSuchTool(ToolRunnerError, LookupError):
    """The server has no such tool."""

    advice = "mcptools.describe(server) lists its tools, mcptools.search(words) finds one."


class NotAllowed(ToolRunnerError, PermissionError):
    """The sandbox may not use this tool of a shared server."""

    advice = "The server's administrator decides that; mcptools.describe(server) lists the tools that may be called."


class ServerNotRunning(ToolRunnerError):
    """The server ended, or does not start."""

    advice = (
        "Repair what its last words name, and register the server again; if sandboxes share it, that is for its"
        " administrator to do."
    )


class Unreachable(ServerNotRunning):
    """There is no way from this process to the server, or it broke while the call ran."""

    advice = "mcptools.servers() tries the way again. A tool may have done its work all the same."


class ToolTimeout(ToolRunnerError, TimeoutError):
    """The tool did not answer in time. It may have done its work all the same."""

    advice = "Pass a longer timeout_s, or ask the tool for less."


class ResultTooLarge(ToolRunnerError):
    """The result is larger than 4 MiB."""

    advice = "Ask for less: a page, a filter, fewer fields."


class TooManyCalls(ToolRunnerError):
    """More calls than one execution or one server may have."""

    advice = "Run fewer at once, or continue in another execution."


class ToolCancelled(ToolRunnerError):
    """The call was cancelled, because its execution ended or its server was removed."""


KINDS: dict[str, type[ToolRunnerError]] = {
    "no_server": NoSuchServer,
    "no_tool": NoSuchTool,
    "not_allowed": NotAllowed,
    "not_running": ServerNotRunning,
    "unreachable": Unreachable,
    "timeout": ToolTimeout,
    "too_large": ResultTooLarge,
    "too_many": TooManyCalls,
    "cancelled": ToolCancelled,
    "failed": ToolError,
}


def of_kind(error: object, server: str | None, tool: str | None) -> ToolRunnerError:
    """The exception for the error of an answer."""
    said = error if isinstance(error, dict) else {}
    kind, message = said.get("kind"), said.get("message")
    text = message if isinstance(message, str) and message else f"the call failed: {kind}"
    return KINDS.get(str(kind), ToolRunnerError)(text, server, tool)
