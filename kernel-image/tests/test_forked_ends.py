"""Processes that code forks off by itself: they end as scripts do, show what they display, and are no second kernel."""

from collections.abc import Iterator

import pytest
from client import Client, Output

FORK = """
import os, sys
if (worker := os.fork()) == 0:
    {worker}
else:
    print(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]))
"""
SESSION = "forked"


@pytest.fixture(autouse=True)
def session(client: Client) -> Iterator[None]:
    """Whatever a test leaves is gone with the session."""
    yield
    client.ask("close", session=SESSION)


def run(client: Client, name: str, worker: str) -> Output:
    output = client.run(name, FORK.format(worker=worker), session=SESSION, timeout_s=30)
    assert output.outcome is not None
    assert output.outcome["status"] == "ok"
    assert client.run(name + "after", "worker > 0", session=SESSION).only("result").blob == b"True"
    return output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("worker", "code", "told"),
    [
        ("print('to the end of the code')", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(4)", 4, ""),
        ("print('rest', end=''); sys.exit(-1)", 255, ""),
        ("sys.exit('a reason')", 1, "a reason\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
    ],
)
def test_the_end_of_a_worker(client: Client, name: str, worker: str, code: int, told: str) -> None:
    output = run(client, name, worker)
    assert output.text().endswith(f"{code}\n")
    assert output.text("stderr").endswith(told)
    assert bool(output.text("stderr")) == bool(told)
    assert {record.kind for record in output.records} <= {"stdout", "stderr", "outcome"}


def test_a_worker_displays(client: Client, name: str) -> None:
    assert run(client, name, "display('of the worker'); os._exit(0)").only("display").blob == b"'of the worker'"
