"""The commands `sandglass` and `kubectl-sandglass`."""

from __future__ import annotations

import sys
from pathlib import Path

from sandglass.errors import ConfigurationError, EndpointError, SandglassError


def main() -> None:
    """Runs a command; errors are one line on standard error."""
    from sandglass.command_line.app import app
    from sandglass.command_line.common import INTERRUPTED, REFUSED, UNREACHABLE, USAGE, note

    name = "kubectl sandglass" if Path(sys.argv[0]).name == "kubectl-sandglass" else "sandglass"
    try:
        app(prog_name=name)
    except SandglassError as error:
        note(str(error))
        sys.exit(
            USAGE
            if isinstance(error, ConfigurationError)
            else UNREACHABLE
            if isinstance(error, EndpointError)
            else REFUSED
        )
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
