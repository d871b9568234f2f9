"""What becomes of a request that the supervisor itself fails at: the door answers `internal`, and nothing stays."""

from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import pytest

from sandglass_supervisor.commands.installs import Installs
from sandglass_supervisor.execution.execution import Execution
from sandglass_supervisor.execution.executions import Executions
from sandglass_supervisor.link.wire import Request
from sandglass_supervisor.loop import Loop
from sandglass_supervisor.network_probe import Network
from sandglass_supervisor.verbs import Sandbox, Verbs


@pytest.mark.parametrize("verb", ["command", "install"])
def test_what_could_not_be_begun_waits_for_nothing(verb: str) -> None:
    commands, executions = mock.Mock(), Executions()
    commands.run.side_effect = RuntimeError
    installs, settings = Installs(commands, "/", {}), SimpleNamespace(workspace="/")
    network = Network(required=True)
    sandbox = SimpleNamespace(
        settings=settings, seat=None, network=network, commands=commands, installs=installs, executions=executions
    )

    def new_execution(execution_id: str, kind: str, block: bool) -> Execution:
        return Execution(execution_id, kind, Loop(), mock.Mock(), block=block)

    verbs = Verbs(cast(Sandbox, sandbox), new_execution, mock.Mock(), mock.Mock(), mock.Mock(), mock.Mock())
    wanted: dict[str, Any] = {"execution_id": "x", "command": "true", "language": "python", "packages": ["x"]}
    with pytest.raises(RuntimeError):
        verbs.serve(b"peer", Request(b"r1", verb, wanted, b""), mock.Mock())
    assert list(executions) == []
    installs.check_room()
