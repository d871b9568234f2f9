"""Matplotlib in a kernel: its figures are shown, whichever backend draws them.

The kernel's own backend is chosen when matplotlib is imported, and not by a variable, which programs would inherit:
an environment without IPython does not have it. Other backends have no window here, and would show nothing.
"""

import contextlib
import io
import os
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any
from weakref import WeakSet

from IPython.display import publish_display_data

_VARIABLE = "MPLBACKEND"
_BACKEND = "module://matplotlib_inline.backend_inline"

Action = Callable[[Any], None]


class AfterImport(MetaPathFinder):
    """Does something with modules as soon as they have been imported."""

    def __init__(self, actions: dict[str, Action]) -> None:
        self._actions = actions

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module as it would be found without this one, if something is to be done with it."""
        action = self._actions.get(name)
        spec = None if action is None else PathFinder.find_spec(name, path, target)
        if action is None or spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def execute_and_act(module: ModuleType) -> None:
            execute(module)
            with contextlib.suppress(Exception):  # it may be another module of that name
                action(module)

        vars(spec.loader)["exec_module"] = execute_and_act
        return spec


def arrange(shell: Any) -> None:
    """Have figures shown in this kernel; matplotlib is not imported before the code does that."""
    formatter = shell.display_formatter.formatters["image/png"]
    formatter.for_type_by_name("matplotlib.figure", "Figure", _drawn)
    sys.meta_path.insert(0, AfterImport({"matplotlib": _choose_backend, "matplotlib.backend_bases": _have_shown}))


def _choose_backend(matplotlib: Any) -> None:
    if not os.environ.get(_VARIABLE):
        matplotlib.rcParams["backend"] = _BACKEND


def _have_shown(bases: Any) -> None:
    """Give managers of figures without a window a ``show``, which ``plt.show()`` and ``figure.show()`` call."""
    known: WeakSet[Any] = WeakSet()

    def show(manager: Any) -> None:
        """Display the figure, unless it was and is as it was."""
        figure = manager.canvas.figure
        # Figures of the kernel's own backend are displayed by that.
        if sys.modules["matplotlib"].get_backend() in ("inline", _BACKEND) or (figure in known and not figure.stale):
            return
        publish: Any = publish_display_data
        publish({"image/png": _drawn(figure), "text/plain": repr(figure)})
        known.add(figure)
        figure.stale = False

    bases.FigureManagerBase.show = show


def _drawn(figure: Any) -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", bbox_inches="tight")
    return picture.getvalue()
