"""The kernels of the sandbox, by language and session: made on first use, the default one at once."""

from collections.abc import Callable, Iterator

from .cgroup import Cgroup
from .kernel import Kernel, Tell
from .kernel_process import Maker, Place
from .limits import KERNELS
from .node_process import NodeProcess
from .python_process import PythonProcess
from .wire import Problem

_MAKERS: dict[str, Maker] = {"python": PythonProcess, "nodejs": NodeProcess}


class Kernels:
    """At most eight; the ninth session is refused."""

    def __init__(self, place: Place, cgroup: Cgroup, tell: Tell) -> None:
        self._place = place
        self._cgroup = cgroup
        self._tell = tell
        self._known: dict[tuple[str, str], Kernel] = {}

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._known.values())

    def find(self, language: str, session: str) -> Kernel | None:
        """The kernel of a session that was used before."""
        return self._known.get((language, session))

    def close(self, language: str, session: str, done: Callable[[], None]) -> None:
        """End a session's kernel and forget it; without effect on one that was never used."""
        kernel = self._known.pop((language, session), None)
        if kernel is None:
            done()
        else:
            kernel.close(done)

    def get(self, language: str, session: str) -> Kernel:
        """The kernel of a session, started if the session is new."""
        kernel = self._known.get((language, session))
        if kernel is None:
            if len(self._known) >= KERNELS:
                raise Problem("rejected", f"{KERNELS} sessions exist already; use one of them or close one")
            kernel = Kernel((language, session), _MAKERS[language], self._place, self._cgroup, self._tell)
            self._known[(language, session)] = kernel
        return kernel
