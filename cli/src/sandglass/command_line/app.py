"""The commands under one name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sandglass.command_line import bridge, contexts, copying, keys, logs, ports, repl, running, sandboxes
from sandglass.command_line.common import Options, say
from sandglass.config.settings import MAX_TOKEN_CHARS, Flags
from sandglass.errors import ConfigurationError
from sandglass.version import VERSION

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"sandglass {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    url: Annotated[
        str | None, typer.Option("--url", help="Address of the endpoint, which usually ends with /mcp.")
    ] = None,
    token_file: Annotated[Path | None, typer.Option("--token-file", help="File with the API key.")] = None,
    context: Annotated[
        str | None, typer.Option("--context", help="A context by its name; else the one in use.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Runs code in Sandglass sandboxes.

    To begin: sandglass context set NAME --url ADDRESS, then sandglass run FILE.

    The endpoint comes from these options, else from SANDGLASS_URL and SANDGLASS_TOKEN, else from the context that
    'sandglass context set' stored. Exit codes: 0 done, 1 refused, 2 wrong use or settings, 3 endpoint not reached.
    'run', 'exec' and 'attach' have the program's own, and 125 for failures of Sandglass.
    """
    Options.flags = Flags(url, _token(token_file), None, context)


def _token(place: Path | None) -> str | None:
    if place is None:
        return None
    try:
        with place.open(encoding="utf-8") as file:
            return file.read(MAX_TOKEN_CHARS + 2)
    except OSError as error:
        raise ConfigurationError(f"--token-file {place}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"--token-file {place}: it must be text") from None


app.command("run")(running.run)
# Options behind the program are the program's.
app.command("exec", context_settings={"allow_interspersed_args": False})(running.execute)
app.command("attach")(running.attach)
app.command("start")(sandboxes.start)
app.command("stop")(sandboxes.stop)
app.command("ls")(sandboxes.ls)
app.command("metrics")(sandboxes.metrics)
app.command("logs")(logs.logs)
app.command("cp")(copying.cp)
app.command("open")(ports.open_port)
app.command("repl")(repl.repl)
app.command("mcp")(bridge.mcp)
app.add_typer(contexts.contexts, name="context")
app.add_typer(keys.keys, name="keys")
