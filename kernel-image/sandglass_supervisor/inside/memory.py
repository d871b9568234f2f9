"""What a kernel keeps of runs that are over: as little as the next run may ask for.

IPython keeps each value that was shown, all that was printed and displayed, and the newest exception with the variables
of all its functions, for a user at a terminal: here a few large arrays would fill the sandbox's memory.
"""

import builtins
import contextlib
import inspect
import linecache
import re
import sys
import traceback
import warnings
from typing import Any, NoReturn

from ipykernel.displayhook import ZMQShellDisplayHook
from IPython.core.history import HistoryManager

from ..limits import KEPT_CODE_CHARS
from .errors import TellingShell, chain

# What such a function awaits or yields may be yet to come: it caught the exception, and has it raised elsewhere too.
_GOES_ON = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_NAMES_VALUE = re.compile(r"(?<![\w.])_(?!\w)")
_NAMES_ERROR = re.compile(r"\blast_(?:exc|type|value|traceback)\b|%(?:tb|debug)\b|\bprint_last\b|\bpm\s*\(")


class Forgotten(dict[int, Any]):
    """Stands for ``Out``."""

    def __missing__(self, number: int) -> NoReturn:
        raise KeyError(f"Out[{number}] is not kept: only the last value is, as _, for the next run. Give it a name.")


class BriefHistory(HistoryManager):
    """The code of earlier runs, ``In``, of which long ones are cut."""

    def store_inputs(self, line_num: int, source: str, source_raw: str | None = None) -> None:
        """Keep the code of a run, up to a length: it may hold megabytes of data."""
        raw = source if source_raw is None else source_raw
        super().store_inputs(line_num, source[:KEPT_CODE_CHARS], raw[:KEPT_CODE_CHARS])


class LastValueHook(ZMQShellDisplayHook):
    """Keeps the value that was shown last as ``_``, unless the code uses that name itself, and no other."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call] # ipykernel's
        for name in ("__", "___"):
            self._names.pop(name, None)

    @property
    def _names(self) -> dict[str, Any]:
        names: dict[str, Any] = self.shell.user_ns  # type: ignore[union-attr] # it has one
        return names

    def update_user_ns(self, result: Any) -> None:
        """Note the value that is shown, also if the code has removed all names, with those that IPython makes."""
        if self.shell is not None and "_oh" not in self._names:
            self.shell.init_user_ns()
        names = self._names
        if not hasattr(builtins, "_") and names.get("_", self._) is self._:
            self._ = names["_"] = result

    def log_output(self, format_dict: dict[str, Any]) -> None:
        """Keep nothing of what was shown."""

    def forget(self) -> None:
        """Let go of the value."""
        names = self._names
        if names.get("_") is self._:
            names.pop("_", None)
        self._ = ""


class ForgettingShell(TellingShell):
    """Lets go of what the run before left, when the next one begins."""

    _ran_long_code = False

    def init_history(self) -> None:
        """Keep code alone."""
        self.history_manager = BriefHistory(shell=self, parent=self)
        self.history_manager.output_hist = Forgotten()  # type: ignore[assignment] # IPython's keys are numbers too
        self.configurables.append(self.history_manager)  # type: ignore[arg-type] # as IPython does

    def _tee(self, channel: str) -> Any:
        """Keep nothing of what is printed."""
        return contextlib.nullcontext()

    def forget(self, code: str) -> None:
        """Let go of the last value and of the last exception, unless the code to be run names them."""
        if isinstance(self.displayhook, LastValueHook) and not _NAMES_VALUE.search(code):
            self.displayhook.forget()
        if not _NAMES_ERROR.search(code):
            self._forget_error()
        if self.last_execution_result is not None:
            # The frames of the traceback refer to it in turn.
            self.last_execution_result.error_in_exec = self.last_execution_result.result = None
            self.last_execution_result = None
        getattr(self.history_manager, "exceptions", {}).clear()  # not before IPython 9
        if self._ran_long_code:
            _forget_long_sources()
        self._ran_long_code = len(code) > KEPT_CODE_CHARS

    def _forget_error(self) -> None:
        """Let go of the variables of the functions that it came through: one of them may be the exception itself."""
        error, self.raised = self.raised, None
        for name in ("last_type", "last_value", "last_traceback", "last_exc"):
            vars(sys).pop(name, None)
        vars(self.InteractiveTB).pop("tb", None)
        self.SyntaxTB.clear_err_state()
        if error is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of coroutines that the code did not get to await
                _clear_frames(error)


def _clear_frames(error: BaseException) -> None:
    for one in chain(error, causes=True):
        for frame, _ in traceback.walk_tb(one.__traceback__):
            if frame.f_code.co_flags & _GOES_ON:
                continue
            with contextlib.suppress(RuntimeError):  # it has not ended
                frame.clear()
                _ = frame.f_locals  # up to Python 3.12 a copy, which only this makes follow


def _forget_long_sources() -> None:
    """Let go of the lines of long cells: tracebacks name their functions without them from now on."""
    for name, entry in list(linecache.cache.items()):
        if len(entry) > 1 and entry[1] is None and entry[0] > KEPT_CODE_CHARS:
            del linecache.cache[name]
