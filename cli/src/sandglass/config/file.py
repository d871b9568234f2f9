"""The configuration file on disk."""

from __future__ import annotations

import os
from pathlib import Path

from sandglass.config import contexts
from sandglass.config.settings import Contexts, Flags, Settings, resolve
from sandglass.errors import ConfigurationError

CONFIG = "SANDGLASS_CONFIG"


def path() -> Path:
    """Where the file is: SANDGLASS_CONFIG, else the user's folder for configuration."""
    named = os.environ.get(CONFIG)
    if named:
        return Path(named)
    # Only who asks for the place pays for the import.
    import platformdirs

    return platformdirs.user_config_path("sandglass") / "config.toml"


def state() -> Path:
    """The user's folder for what is kept between two commands."""
    import platformdirs

    return platformdirs.user_state_path("sandglass")


def read() -> Contexts:
    """The contexts; none if there is no file."""
    place = path()
    try:
        with place.open("rb") as file:
            content = file.read(contexts.MAX_BYTES + 1)
        if len(content) > contexts.MAX_BYTES:
            raise ConfigurationError(f"it must have at most {contexts.MAX_BYTES} bytes")
        return contexts.parse(content.decode())
    except FileNotFoundError:
        return Contexts()
    except UnicodeDecodeError:
        raise ConfigurationError(f"{place}: it must be UTF-8") from None
    except OSError as error:
        raise ConfigurationError(f"{place}: {error.strerror}") from None
    except ConfigurationError as error:
        raise ConfigurationError(f"{place}: {error}") from None


def write(new: Contexts) -> Path:
    """Replaces the file, readable by its owner alone since it holds keys; the place of it."""
    place = path()
    part = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(contexts.write(new))
            part.replace(place)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(f"{place}: it cannot be written: {error.strerror}") from None
    return place


def settings(flags: Flags) -> Settings:
    """The endpoint that this process is to use."""
    return resolve(flags, os.environ, read())
