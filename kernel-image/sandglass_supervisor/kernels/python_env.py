"""Other Python interpreters inside the sandbox: where one is, and whether a kernel can run in it."""

import errno
import os
import shlex
import signal
from collections.abc import Callable
from typing import NamedTuple

import sandglass_supervisor

from ..execution import hint
from ..execution.hint import Hint
from ..execution.outcome import ENV_ERROR, Outcome
from ..limits import ENV_PROBE_S
from ..loop import Loop
from ..processes.children import Children, describe

# Understood by every Python that there is. A file in the working directory must not stand in for a module.
_PROBE = """\
import sys
sys.path[:] = [entry for entry in sys.path if entry]
said = "old-python"
if sys.version_info >= (3, 10):
    try:
        import ipykernel
        version = ipykernel.version_info
        said = "old-ipykernel" if version < (7, 3) else "good" if version < (8,) else "new-ipykernel"
    except ImportError:
        said = "no-ipykernel"
print("\\n" + said)
"""
# The same range, for pip. inside/overrides.py lists why there is an end to it.
_ACCEPTED = "ipykernel~=7.3"
# The modules of ours that run in a kernel come by their path: nothing else of our environment may be found there.
_KERNEL = """\
import sys
sys.path[:] = [entry for entry in sys.path if entry]
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location({name!r}, {file!r})
sys.modules[spec.name] = module_from_spec(spec)
spec.loader.exec_module(sys.modules[spec.name])
from {name}.inside.python_kernel import main
main()
"""


class PythonEnv(NamedTuple):
    """An environment: as a caller named it, and its folder."""

    name: str
    folder: str

    @property
    def python(self) -> str:
        """Its interpreter."""
        return os.path.join(self.folder, "bin", "python")

    def argv(self) -> list[str]:
        """What starts a kernel in it."""
        file = os.path.abspath(str(sandglass_supervisor.__file__))
        return [self.python, "-c", _KERNEL.format(name=sandglass_supervisor.__name__, file=file)]

    def variables(self, env: dict[str, str]) -> dict[str, str]:
        """The environment variables of code that runs in it: its programs come first, pip installs into it."""
        kept = {name: value for name, value in env.items() if name not in ("PIP_USER", "PYTHONHOME", "VIRTUAL_ENV")}
        return {**kept, "PATH": f"{os.path.join(self.folder, 'bin')}:{env.get('PATH', os.defpath)}"}


def locate(text: str, home: str, workspace: str) -> PythonEnv:
    """The environment that ``text`` names: a name is one below ``~/envs``, anything else a path."""
    if text == "~" or text.startswith("~/"):
        return PythonEnv(text, os.path.normpath(home + text[1:]))
    if "/" in text:
        return PythonEnv(text, os.path.normpath(os.path.join(workspace, text)))
    return PythonEnv(text, os.path.join(home, "envs", text))


def probe(
    env: PythonEnv, loop: Loop, children: Children, variables: dict[str, str], answer: Callable[[Outcome | None], None]
) -> None:
    """Call ``answer`` once, within 15 s: None if a kernel can run in it, else the outcome of what is to run there."""
    late = False

    def ended(status: int, said: bytes) -> None:
        timer.cancel()
        words = said.split()
        told = words[-1].decode("ascii", "replace") if words else ""
        answer(_verdict(env, told, status) if not late else _too_late(env))

    def give_up() -> None:
        nonlocal late
        late = True
        child.signal_group(signal.SIGKILL)

    try:
        child = children.ask([env.python, "-c", _PROBE], env.variables(variables), ended)
    except OSError as error:
        answer(_cannot_start(env, error))
        return
    timer = loop.call_in(ENV_PROBE_S, give_up)


def _verdict(env: PythonEnv, told: str, status: int) -> Outcome | None:
    """What is wrong with an interpreter that ran; None if nothing is."""
    match told:
        case "good":
            return None
        case "no-ipykernel":
            return _wrong(f"ipykernel not found in {_where(env)}.", hint.command("install", _install(env)))
        case "old-ipykernel":
            upgrade = hint.command("upgrade", _install(env, "--upgrade "))
            return _wrong(f"ipykernel in {_where(env)} is older than 7.3.", upgrade)
        case "new-ipykernel":
            return _wrong(f"ipykernel in {_where(env)} is 8 or newer.", hint.command("install", _install(env)))
        case "old-python":
            return _wrong(f"The Python of {_where(env)} is older than 3.10; make an env of a newer one.")
    exit_code, number = describe(status)
    how = f"signal {number}" if number is not None else f"exit code {exit_code}"
    return _wrong(
        f"The interpreter of {_where(env)} does not work: it ended with {how} when it was asked for ipykernel."
    )


def _wrong(message: str, what_helps: Hint | None = None) -> Outcome:
    return Outcome(ENV_ERROR, message, hint=what_helps)


def _too_late(env: PythonEnv) -> Outcome:
    return _wrong(f"The interpreter of {_where(env)} did not answer within {ENV_PROBE_S:g} s.")


def _cannot_start(env: PythonEnv, error: OSError) -> Outcome:
    if error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return _wrong(f"The interpreter of {_where(env)} cannot be started: {error.strerror}.")
    make = f"python3 -m venv {shlex.quote(env.folder)} && {_install(env)}"
    return _wrong(f"There is no interpreter in {_where(env)}.", hint.command("make", make))


def _where(env: PythonEnv) -> str:
    return f"env '{env.name}' (python: {env.python})"


def _install(env: PythonEnv, option: str = "") -> str:
    # An image may have pip install for the user, which an environment refuses.
    return f"PIP_USER=0 {shlex.quote(env.python)} -m pip install {option}{_ACCEPTED}"
