"""A Python kernel's process as its kernel sees it: on a process that is none, and takes nothing."""

from pathlib import Path
from unittest import mock

import pytest
import zmq

from sandglass_supervisor import python_process
from sandglass_supervisor.kernel_process import Place
from sandglass_supervisor.loop import Loop
from sandglass_supervisor.python_process import PythonProcess

QUEUED_BY_ZMQ = 1000  # for a peer that takes nothing


def test_one_that_takes_no_more_requests_is_killed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_process, "DEATH_GRACE_S", 0.0)
    child, children, offspring, listener, loop = *(mock.Mock() for _ in range(4)), Loop()
    children.start.return_value = child
    offspring.end.side_effect = lambda _child, gone: gone()
    with zmq.Context() as context:
        place = Place(context, loop, children, offspring, str(folder), str(folder), {})
        process = PythonProcess(place, listener)
        for number in range(QUEUED_BY_ZMQ):
            process.execute(f"run-{number}", "1", {})
        child.signal_group.assert_not_called()
        process.execute("one-more", "1", {})
        child.signal_group.assert_called_once_with(9)
        children.start.call_args.args[1](9)
        loop.run_once()
    assert listener.kernel_ended.call_args.args[0].deaf
