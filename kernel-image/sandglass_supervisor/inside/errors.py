"""How an exception of the code becomes an error: as IPython tells it, and groups of exceptions as Python does.

IPython prints groups to standard error and tells no error, so that the reply to such a run has no traceback at all.
An exception whose words cannot be had (its ``__str__`` fails) would be told by what failed then, or cost the kernel.
What fails in a script or a cell that a magic runs is shown by IPython and goes no further: here it is the run's error.
``sys.exit`` ends a run as it ends a program, and the kernel stays: with 0 or nothing the run ended well.
"""

import asyncio
import builtins
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from types import CodeType, TracebackType
from typing import Any, NoReturn

from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core import interactiveshell, magics
from IPython.core.autocall import ZMQExitAutocall
from traitlets import default

from .forked_streams import leave
from .own_streams import OWN_STREAMS, has_words, words

_KERNEL = os.getpid()
_GROUP = getattr(builtins, "BaseExceptionGroup", ())  # Python 3.10, which a python_env may be, has none
_SCRIPTS = frozenset(
    run.__code__
    for run in (interactiveshell.InteractiveShell.safe_execfile, interactiveshell.InteractiveShell.safe_run_module)
)
_RUN_CODE = interactiveshell.InteractiveShell.run_code.__code__
_PLACE = re.compile(r'File "([^"\n]+)", line (\d+)')


class Leave(ZMQExitAutocall):
    """``exit`` and ``quit`` as in a program: they end the run. IPython's own end the kernel, after the whole cell."""

    def __call__(self, code: object = None) -> NoReturn:
        """End the run, with the verdict that ``sys.exit`` would give."""
        raise SystemExit(code)


class _Left(BaseException):
    """Takes the way out of IPython's ``run_code``, which would print what to type at a terminal."""


class TellingShell(ZMQInteractiveShell):
    """Tells every exception as an error, whatever the code made of its standard streams."""

    failure: BaseException | None = None  # of a script or a cell that a magic ran
    raised: BaseException | None = None  # that was told last
    shown: Sequence[str] = ()  # the lines that it was told in

    @default("exiter")
    def _default_exiter(self) -> Leave:
        return Leave(self)

    def init_builtins(self) -> None:
        """Have modules and scripts find ``exit`` and ``quit`` as in any program; IPython hides them."""
        super().init_builtins()
        self.builtin_trap.auto_builtins.update(exit=self.exiter, quit=self.exiter)

    async def run_code(self, code_obj: Any, result: Any = None, **kwargs: Any) -> Any:
        """Run a statement of a cell; True if it was the last, because it failed or left."""
        try:
            return await super().run_code(code_obj, result, **kwargs)
        except _Left:
            if result is not None and ends_well(result.error_in_exec):
                result.error_in_exec = None
            return True

    def run_cell(self, *args: Any, **kwargs: Any) -> Any:
        """Run a cell. Code that asks for it gets the result; of the magics that do, none looks at it."""
        result = super().run_cell(*args, **kwargs)
        if str(sys._getframe(1).f_globals.get("__name__")).startswith(magics.__name__):
            for error in (result.error_before_exec, result.error_in_exec):
                self.failure = self.failure if error is None else error
            result.error_in_exec = None  # the frames of its traceback refer to the result in turn
        return result

    async def run_cell_async(self, *args: Any, **kwargs: Any) -> Any:
        """Run a cell. Whoever asks for what failed in it gets something that has words."""
        result = await super().run_cell_async(*args, **kwargs)
        error = result.error_in_exec
        if error is not None and not has_words(error):
            result.error_in_exec = _stand_in(error)
        return result

    def conclude(self, reply: dict[str, Any]) -> None:
        """Have the reply to a run say what failed in it, if it does not yet. What the code forked off ends here."""
        if os.getpid() != _KERNEL:
            leave(0 if reply["status"] == "ok" else 1)
        failure, self.failure = self.failure, None
        if failure is not None and reply["status"] == "ok":
            told = {"ename": type(failure).__name__, "evalue": words(failure), "traceback": list(self.shown)}
            reply.update(told, status="error")

    def showtraceback(self, exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        """Tell the exception that was raised; as IPython does, but for groups and what has no words."""
        error = sys.exc_info()[1] if exc_tuple is None else exc_tuple[1]
        caller = sys._getframe(1).f_code
        self.raised = error
        if isinstance(error, SystemExit):
            self._tell_exit(error, caller)
            return
        if caller in _SCRIPTS:
            self.failure = error
        lines = self._own_lines(error)
        if lines is None:
            super().showtraceback(exc_tuple, *args, **kwargs)
        else:
            self._showtraceback(type(error), error, lines)

    def _tell_exit(self, error: SystemExit, caller: CodeType) -> None:
        """Tell what ``sys.exit`` was given, as Python does when a program ends so."""
        if os.getpid() != _KERNEL:
            leave(error.code)
        if not ends_well(error):
            if caller in _SCRIPTS:
                self.failure = error
            if not isinstance(error.code, int):
                OWN_STREAMS.mend()
                sys.stderr.write(f"{words(error)}\n")
            self._showtraceback(type(error), error, [f"{type(error).__name__}: {words(error)}"])
        if caller is _RUN_CODE:
            raise _Left

    def _format_exception_for_storage(self, exception: BaseException, *args: Any, **kwargs: Any) -> Any:
        tells = exception if _have_words(exception) else _stand_in(exception)
        return super()._format_exception_for_storage(tells, *args, **kwargs)

    def _own_lines(self, error: BaseException | None) -> list[str] | None:
        """What is told of an exception that IPython cannot tell; None if it can, or nobody."""
        if error is None or (_have_words(error) and (isinstance(error, SyntaxError) or not has_group(error))):
            return None
        try:
            told = traceback.format_exception(type(error), error, _from_the_cell(error.__traceback__))
            return _PLACE.sub(self._place, "".join(told)).rstrip("\n").split("\n")
        except Exception:  # noqa: BLE001 - the code can have put anything into its exceptions
            return None

    def _place(self, found: re.Match[str]) -> str:
        """The file of a cell by the name that IPython's own tracebacks have for it."""
        name = self.compile.format_code_name(found[1])
        return found[0] if name is None else f"{name[0]} {name[1]}, line {found[2]}"

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        OWN_STREAMS.mend()
        if os.getpid() != _KERNEL:
            sys.stderr.write("\n".join([*stb, ""]))  # the run is not that process's
            return
        if not has_words(evalue):
            evalue = _stand_in(evalue)
            etype = type(evalue)
        self.shown = stb
        super()._showtraceback(etype, evalue, stb)
        # The code has done what it did; for ipykernel it, and all later code that awaits, failed with "NoneType: None".
        self._last_traceback_during_displayhook = False


def failed_reply(error: BaseException, namespace: dict[str, Any]) -> dict[str, Any]:
    """The reply to a run of which an exception left nothing else: an interrupt, an exit, or what comes out of the code.

    Anything else is raised again. In what the code forked off it is the end.
    """
    if os.getpid() != _KERNEL:
        leave(1)
    if ends_well(error):
        return {"status": "ok"}
    interrupted = isinstance(error, (KeyboardInterrupt, asyncio.CancelledError))
    if isinstance(error, Exception) and not interrupted and not _raised_by(error, namespace):
        raise error
    told = "" if interrupted else words(error)
    return {"status": "error", "ename": type(error).__name__, "evalue": told, "traceback": []}


def ends_well(error: BaseException | None) -> bool:
    """Whether an exception is what a program ends with that reports success: ``SystemExit`` of 0, False or nothing."""
    return isinstance(error, SystemExit) and (error.code is None or (isinstance(error.code, int) and error.code == 0))


def _raised_by(error: BaseException, namespace: dict[str, Any]) -> bool:
    """Whether it came by way of a function of the code, as its handler of a signal is."""
    return any(frame.f_globals is namespace for frame, _ in traceback.walk_tb(error.__traceback__))


def _stand_in(error: BaseException) -> BaseException:
    """An exception of the same name that can be told, and nothing else."""
    stands: BaseException = type(type(error).__name__, (Exception,), {})(words(error))
    return stands


def has_group(error: BaseException | None) -> bool:
    """Whether an exception is a group, or came while one was handled: IPython tells neither as an error."""
    return any(isinstance(one, _GROUP) for one in chain(error, causes=False))


def _have_words(error: BaseException) -> bool:
    """Whether that can be told, and what it came from as well."""
    return all(has_words(one) for one in chain(error, causes=True))


def chain(error: BaseException | None, causes: bool) -> Iterator[BaseException]:
    """An exception, and those before it."""
    seen: set[int] = set()
    before = [error]
    while before:
        one = before.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            before += [one.__context__, one.__cause__ if causes else None]


def _from_the_cell(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of IPython that lead to the code."""
    while trace is not None and trace.tb_frame.f_code.co_filename == interactiveshell.__file__:
        trace = trace.tb_next
    return trace
