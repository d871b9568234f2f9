"""Has the functions of a server written when they are first imported: ``import mcptools.github.list_issues``."""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from . import _wire
from ._errors import ToolRunnerError, of_kind

_PACKAGE = __name__.rpartition(".")[0]
_OWN = frozenset({"code_mode"})


class _Finder(MetaPathFinder):
    """Finds the packages of servers, after the supervisor has seen to it that they are there and up to date."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, server = fullname.rpartition(".")
        if package != _PACKAGE or server.startswith("_") or server in _OWN:
            return None
        places, problem = list(path or ()), None
        try:
            places.insert(0, _load(server))
        except ToolRunnerError as error:
            problem = error
        importlib.invalidate_caches()
        found = PathFinder.find_spec(fullname, places, target)
        # Without the supervisor's help those that are there already are found all the same.
        if found is None and problem is not None:
            # Of its subclass for modules that are not there Python drops the reason in "from mcptools import github".
            raise ImportError(f"there are no functions of server {server!r}: {problem}", name=fullname) from None
        return found


def arrange() -> None:
    """Have imports of this package's modules come here first."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _load(server: str) -> str:
    """The folder in which the server's functions are now."""
    answer = _wire.ask({"op": "load", "server": server})
    result = answer.get("result")
    folder = result.get("folder") if isinstance(result, dict) else None
    if not isinstance(folder, str):
        raise of_kind(answer.get("error"), server, None)
    return folder
