"""`context`: endpoints by name, as kubectl has them."""

from __future__ import annotations

import getpass
import sys
from typing import Annotated

import typer

from sandglass.command_line.common import Form, Output, say, write
from sandglass.config import file as configuration
from sandglass.config.settings import Context, Contexts, checked_name, checked_token, checked_url
from sandglass.errors import ConfigurationError
from sandglass.terminal.table import table

contexts = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Endpoints by name: stores, chooses and lists them."
)

_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the context.")]


@contexts.command("set")
def set_context(
    name: _Name,
    url: Annotated[str, typer.Option("--url", help="Address, such as https://sandglass.example.com/mcp.")],
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Namespace of commands that name none.")
    ] = None,
) -> None:
    """Stores an endpoint, and uses it from now on.

    The API key is asked for, or read from standard input. It is never an option, which other users of the machine see.
    """
    checked_name("context", name)
    given = getpass.getpass("API key (empty for none): ") if sys.stdin.isatty() else sys.stdin.readline(20_000)
    context = Context(checked_url(url), checked_token(given), checked_name("namespace", namespace))
    place = configuration.write(Contexts({**configuration.read().by_name, name: context}, name))
    say(f"context {name} is stored in {place}, and used from now on")


@contexts.command("use")
def use(name: _Name) -> None:
    """Chooses the context that is used from now on."""
    known = configuration.read().by_name
    if name not in known:
        raise ConfigurationError(f"there is no context {name[:80]!r}; there are: {', '.join(sorted(known)) or 'none'}")
    configuration.write(Contexts(known, name))
    say(f"context {name} is used from now on")


@contexts.command("list")
def list_contexts(output: Output = Form.TEXT) -> None:
    """Lists the contexts; keys are not shown."""
    found = configuration.read()
    rows = [
        (name, context.url, context.namespace, name == found.current) for name, context in sorted(found.by_name.items())
    ]
    if output is Form.JSON:
        keys = ("name", "url", "namespace", "current")
        write([dict(zip(keys, row, strict=True)) for row in rows])
    else:
        say(
            table(
                ["CURRENT", "NAME", "URL", "NAMESPACE"],
                [["*" if row[3] else "", row[0], row[1], row[2] or ""] for row in rows],
            )
        )
