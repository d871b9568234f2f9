"""Finds the package ``mcptools`` where the workspace has none yet: this installation's own.

It is written into the workspace together with the functions of a first server.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

_NAME = "mcptools"
_FOLDER = Path(__file__).parent.parent / "mcp_api" / _NAME


class _Finder(MetaPathFinder):
    """Comes last: a package of that name that is found anywhere else is the code's own."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return package() if fullname == _NAME else None


def arrange() -> None:
    """Have ``import mcptools`` end here if it succeeds nowhere else."""
    sys.meta_path.append(_Finder())


def package() -> ModuleSpec | None:
    """How the package is loaded."""
    return spec_from_file_location(_NAME, _FOLDER / "__init__.py", submodule_search_locations=[str(_FOLDER)])
