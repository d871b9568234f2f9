"""Groups of exceptions, as those of asyncio.TaskGroup, are errors like others: with a traceback, and not as output."""

import pytest
from client import Client, Output

TASKS = """
import asyncio
async def fails(number):
    raise ValueError(f'task {number}')
async with asyncio.TaskGroup() as group:
    for number in range(2):
        group.create_task(fails(number))
"""


def told(output: Output) -> tuple[str, str]:
    """Name of the error and its traceback; nothing of it may be output."""
    assert output.outcome is not None
    assert (output.outcome["status"], output.text()) == ("error", "")
    error = output.only("error")
    return error.json["name"], error.blob.decode()


def test_tasks_that_fail(client: Client, name: str) -> None:
    kind, traceback = told(client.run(name, TASKS))
    assert kind == "ExceptionGroup"
    assert "ValueError: task 0" in traceback
    assert "ValueError: task 1" in traceback
    assert "Cell In[" in traceback
    assert "interactiveshell.py" not in traceback
    assert "ipykernel_" not in traceback


def test_the_error_before_is_not_told_again(client: Client, name: str) -> None:
    client.run(name + "1", "raise KeyError('the one before')")
    kind, traceback = told(client.run(name + "2", "raise ExceptionGroup('several', [OSError('a'), TypeError('b')])"))
    assert kind == "ExceptionGroup"
    assert "several (2 sub-exceptions)" in traceback
    assert "the one before" not in traceback


def test_an_exception_while_a_group_is_handled(client: Client, name: str) -> None:
    code = "try: raise ExceptionGroup('several', [OSError('a')])\nexcept* OSError: raise KeyError('then')"
    kind, traceback = told(client.run(name, code))
    assert kind == "ExceptionGroup"  # Python's own wrapping of what is raised in except*
    assert "KeyError: 'then'" in traceback
    code = "try: raise ExceptionGroup('several', [OSError('a')])\nexcept Exception: raise KeyError('then')"
    kind, traceback = told(client.run(name + "2", code))
    assert kind == "KeyError"
    assert "OSError: a" in traceback


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "class Silent(ExceptionGroup):\n  def __str__(self): raise SystemExit\nraise Silent('several', [OSError('a')])",
        "error = OSError('a')\nfor turn in range(3000): error = ExceptionGroup('g', [error])\nraise error",
        "error = ExceptionGroup('g', [OSError('a')])\nerror.__context__ = OSError('b')\n"
        "error.__context__.__context__ = error\nraise error",
        "raise ExceptionGroup('g', [OSError(str(i)) for i in range(100_000)])",
    ],
    ids=["no words", "very deep", "in a circle", "very many"],
)
def test_hostile_groups(client: Client, name: str, code: str) -> None:
    output = client.run(name, code, timeout_s=20, session="hostile")
    assert output.outcome is not None
    assert output.outcome["status"] == "error"
    assert client.run(name + "2", "6 * 7", session="hostile").only("result").blob == b"42"
    client.ask("close", session="hostile")
