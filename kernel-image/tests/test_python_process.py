"""A Python kernel's process as its kernel sees it: on a process that is none, and takes nothing."""

from pathlib import Path
from unittest import mock

import pytest

from sandglass_supervisor.kernels import python_process, zmtp
from sandglass_supervisor.kernels.kernel_process import Place
from sandglass_supervisor.kernels.python_process import PythonProcess
from sandglass_supervisor.link.arguments import Execute
from sandglass_supervisor.loop import Loop
from sandglass_supervisor.processes.belongings import Belongings


def asked(code: str) -> Execute:
    return Execute("one", "python", "default", code, {}, 1.0, block=True, attach=True, wait_kernel=True)


def test_one_that_takes_no_more_requests_is_killed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_process, "DEATH_GRACE_S", 0.0)
    monkeypatch.setattr(zmtp, "KERNEL_UNSENT_BYTES", 1000)
    child, children, offspring, listener, loop = *(mock.Mock() for _ in range(4)), Loop()
    children.start.return_value = child
    offspring.end.side_effect = lambda _child, gone: gone()
    process = PythonProcess(Place(loop, children, offspring, str(folder), str(folder), {}, Belongings()), listener)
    process.execute("run-1", asked("x" * 1000))
    child.signal_group.assert_not_called()
    process.execute("one-more", asked("1"))
    child.signal_group.assert_called_once_with(9)
    children.start.call_args.args[1](9)
    while not listener.kernel_ended.called:
        loop.run_once()
    assert listener.kernel_ended.call_args.args[0].deaf
