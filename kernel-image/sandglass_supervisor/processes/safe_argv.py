"""How this Python is started so that a file in the working directory cannot stand in for a module."""

import sys

_HAS_OPTION = sys.version_info >= (3, 11)
_DROP = "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "
_MODULE = "sys.argv[0] = {name!r}; from runpy import run_module; run_module({name!r}, None, '__main__', True)"


def code(text: str, has_option: bool = _HAS_OPTION) -> list[str]:
    """The command line that runs a line of code."""
    return [sys.executable, "-P", "-c", text] if has_option else [sys.executable, "-c", _DROP + text]


def module(name: str, has_option: bool = _HAS_OPTION) -> list[str]:
    """The command line that runs a module, without its arguments."""
    return [sys.executable, "-P", "-m", name] if has_option else code(_MODULE.format(name=name), has_option)
