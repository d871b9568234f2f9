"""What all commands share: the endpoint, options, and output as text or JSON."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from sandglass.config import file as configuration
from sandglass.config.settings import Flags, Settings, checked_name
from sandglass.core.runs import Where
from sandglass.errors import ConfigurationError
from sandglass.terminal.text import TerminalText, line
from sandglass.terminal.words import in_commands
from sandglass.wire.client import Client

REFUSED = 1
USAGE = 2
UNREACHABLE = 3
FAILED_RUN = 125
TIMED_OUT = 124
INTERRUPTED = 130

MAX_ENV_FILE_BYTES = 1024 * 1024


class Form(str, Enum):
    """How a command answers."""

    TEXT = "text"
    JSON = "json"


Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", "-n", help="Namespace (tenant) of the sandbox; by default the context's, else the key's first."
    ),
]
Output = Annotated[Form, typer.Option("--output", "-o", help="text, or json for programs.")]
Box = Annotated[str, typer.Argument(metavar="SANDBOX", help="Name of the sandbox.")]
BoxOption = Annotated[
    str | None,
    typer.Option(
        "--sandbox", "-s", help="A sandbox that is kept, started if need be. Else a new one, deleted afterwards."
    ),
]
Session = Annotated[
    str | None,
    typer.Option("--session", help="Name of a set of variables of its own in the sandbox, made on first use."),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", help="Seconds until the run is interrupted; usually 120."),
]
Env = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        "-e",
        metavar="KEY[=VALUE]",
        help="Variable for the code; without a value, your own of that name. Repeat it.",
    ),
]
EnvFile = Annotated[
    Path | None, typer.Option("--env-file", help="File of variables for the code, KEY=VALUE on each line.")
]


class Options:
    """The options before the command."""

    flags = Flags()


def settings(namespace: str | None = None) -> Settings:
    """The endpoint that is meant."""
    flags = Options.flags
    return configuration.settings(Flags(flags.url, flags.token, namespace, flags.context))


@contextmanager
def client(namespace: str | None = None) -> Iterator[tuple[Client, Settings]]:
    """A client of the endpoint for the time of a command."""
    found = settings(namespace)
    connected = Client(found)
    try:
        yield connected, found
    finally:
        connected.close()


def where(found: Settings, sandbox: str) -> Where:
    """The sandbox of that name."""
    return Where(checked_name("sandbox", sandbox) or sandbox, found.namespace)


def variables(given: list[str] | None, env_file: Path | None = None) -> dict[str, str] | None:
    """The variables of --env and --env-file; None if there are none."""
    found: dict[str, str] = {}
    if env_file is not None:
        found.update(_variables_of(env_file))
    for each in given or []:
        name, has_value, value = each.partition("=")
        if not name:
            raise ConfigurationError("--env must be KEY=VALUE, or KEY for your own variable of that name")
        if not has_value and name not in os.environ:
            raise ConfigurationError(f"--env {name}: there is no such variable here; give KEY=VALUE")
        found[name] = value if has_value else os.environ[name]
    return found or None


def parse_env_file(text: str) -> dict[str, str]:
    """KEY=VALUE on each line; comments and empty lines are passed over, quotes around a value are taken off."""
    found: dict[str, str] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        setting = raw.strip().removeprefix("export ").lstrip()
        if not setting or setting.startswith("#"):
            continue
        name, has_value, value = setting.partition("=")
        if not has_value or not name.strip():
            # The line may hold a secret: its number must do.
            raise ConfigurationError(f"line {number} must be KEY=VALUE")
        value = value.strip()
        is_quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "'\""
        found[name.strip()] = value[1:-1] if is_quoted else value
    return found


def write(data: Any) -> None:
    """Data for programs, on standard output."""
    # A terminal would obey some characters beyond ASCII; no program needs them written otherwise.
    sys.stdout.write(json.dumps(plain(data), ensure_ascii=sys.stdout.isatty(), indent=2) + "\n")


def say(text: str) -> None:
    """A line for people, on standard output."""
    sys.stdout.write(TerminalText(colours=False).whole(text) + "\n")


def note(text: str) -> None:
    """A line besides the output, on standard error."""
    sys.stderr.write(f"sandglass: {line(in_commands(text))}\n")


def plain(data: Any) -> Any:
    """Dataclasses as objects; bytes are left out."""
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        fields = ((field.name, getattr(data, field.name)) for field in dataclasses.fields(data))
        return {name: plain(value) for name, value in fields if not isinstance(value, bytes)}
    if isinstance(data, list | tuple):
        return [plain(each) for each in data]
    return data


def _variables_of(place: Path) -> dict[str, str]:
    try:
        with place.open("rb") as file:
            content = file.read(MAX_ENV_FILE_BYTES + 1)
        if len(content) > MAX_ENV_FILE_BYTES:
            raise ConfigurationError(f"it must have at most {MAX_ENV_FILE_BYTES} bytes")
        return parse_env_file(content.decode())
    except OSError as error:
        raise ConfigurationError(f"{place}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{place}: it must be UTF-8") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{place}: {error}") from None
