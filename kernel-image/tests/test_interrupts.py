"""Interrupts that meet what only looks as if it could not be interrupted: the kernel and its variables stay."""

from pathlib import Path

import hosts
import pytest
from client import PATIENCE, Client, Output

STEPS = "for _ in range(300): time.sleep(0.1)"
AWAITING = {
    "blocks": f"await asyncio.sleep(0)\n{STEPS}",
    "computes": "await asyncio.sleep(0)\nwhile True: pass",
    "holds on": f"try:\n  await asyncio.sleep(0)\n  {STEPS}\nfinally: kept = 2",
    "in a task": f"async def work():\n  {STEPS}\nawait asyncio.create_task(work())",
    "in a group": f"async def work():\n  {STEPS}\nasync with asyncio.TaskGroup() as group: group.create_task(work())",
    "awaits": "await asyncio.sleep(30)",
}
BEFORE = "import asyncio, time\nkept = 1"


def told(output: Output) -> tuple[str, bool]:
    assert output.outcome is not None
    return output.outcome["status"], output.outcome["kernel_restarted"]


def still_works(client: Client, name: str, kept: bytes) -> None:
    assert client.run(f"{name}-kept", "kept", session="steady").only("result").blob == kept
    assert client.run(f"{name}-next", "await asyncio.sleep(0, 7)", session="steady").only("result").blob == b"7"


@pytest.mark.slow
@pytest.mark.parametrize("what", AWAITING)
def test_the_time_of_a_cell_that_awaits_is_up(client: Client, name: str, what: str) -> None:
    client.run(f"{name}-before", BEFORE, session="steady")
    # By then it is where it holds on.
    output = client.run(name, AWAITING[what], timeout_s=3.0 if what == "holds on" else 0.5, session="steady")
    assert told(output) == ("timeout", False)
    still_works(client, name, b"2" if what == "holds on" else b"1")


def test_a_cell_that_awaits_is_interrupted(client: Client, name: str) -> None:
    client.run(f"{name}-before", BEFORE, session="steady")
    client.start(name, f"print('on', flush=True)\n{AWAITING['blocks']}", session="steady")
    client.until(lambda: client.output(name).text() == "on\n", PATIENCE, "output")
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    output = client.finish(name)
    assert told(output) == ("interrupted", False)
    assert output.only("error").json["name"] == "KeyboardInterrupt"
    still_works(client, name, b"1")


@pytest.mark.slow
def test_a_cell_that_awaits_is_interrupted_as_it_starts(client: Client, name: str) -> None:
    """Wherever the interrupt meets the kernel on its way to the code, and back."""
    client.run(f"{name}-before", BEFORE, session="steady")
    for turn in range(20):
        client.start(f"{name}{turn}", AWAITING["blocks" if turn % 2 else "awaits"], session="steady")
        assert client.ask("interrupt", execution_id=f"{name}{turn}")["interrupted"] == [f"{name}{turn}"]
        assert told(client.finish(f"{name}{turn}")) == ("interrupted", False)
    still_works(client, name, b"1")


@pytest.mark.slow
def test_a_cell_that_awaits_is_interrupted_as_it_ends(client: Client, name: str) -> None:
    client.run(f"{name}-before", BEFORE, session="steady")
    for turn in range(100):
        pause = 0.002 * (turn % 20)
        client.start(f"{name}{turn}", f"await asyncio.sleep({pause})", timeout_s=0.001 + pause, session="steady")
        assert told(client.finish(f"{name}{turn}"))[1] is False
    still_works(client, name, b"1")


COMMANDS = {
    "a line": "!sleep 30",
    "its output": "told = !sleep 30",
    "another way": "get_ipython().system('sleep 30')",
    "after an await": "import asyncio; await asyncio.sleep(0)\n!sleep 30",
    "deaf": "!trap '' INT HUP TERM; sleep 30",
    "a magic": "%sx sleep 30",
    "pip": "%pip download --no-deps --retries 9 --index-url http://{hanging}/ nothing",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", COMMANDS)
def test_no_command_runs_after_one_that_was_interrupted(client: Client, name: str, home: Path, what: str) -> None:
    client.run(f"{name}-before", BEFORE, session="steady")
    with hosts.hanging() as hanging:
        code = COMMANDS[what].replace("{hanging}", hanging)
        output = client.run(name, f"{code}\n!touch {home.name}/ran", timeout_s=0.5, session="steady")
    assert told(output) == ("timeout", False)
    assert output.only("error").json["name"] == "KeyboardInterrupt"
    assert not (home / "ran").exists()
    still_works(client, name, b"1")


def test_three_commands_are_interrupted_at_once(client: Client, name: str) -> None:
    client.run(f"{name}-before", BEFORE, session="steady")
    client.start(name, "!echo on; sleep 30; echo one\n!sleep 30; echo two\n!sleep 30; echo three", session="steady")
    client.until(lambda: client.output(name).text().strip() == "on", PATIENCE, "output")
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    output = client.finish(name)
    assert told(output) == ("interrupted", False)
    assert not {"one", "two", "three"} & set(output.text().split())
    still_works(client, name, b"1")


def test_code_that_takes_the_interrupt_itself_goes_on(client: Client, name: str) -> None:
    taken = "signal.signal(signal.SIGINT, lambda *_: print('taken'))"
    code = f"import os, signal\n{taken}\n!kill -INT {{os.getpid()}}; sleep 0.2; echo on\n'end'"
    output = client.run(name, code, session="steady")
    assert told(output) == ("ok", False)
    assert output.text().split() == ["taken", "on"]
    assert output.only("result").blob == b"'end'"


def test_commands_see_the_variables_of_where_they_stand(client: Client, name: str) -> None:
    code = """
cmd, split = 'outer', 'apart'
def inside(here):
    !echo $here {here * 2} $cmd {split} $$HOME_IS_NOT_SET.
    found = !echo $here {cmd} $split
    return found
got = inside('inner')
%system echo $cmd
!exit 3
list(got), _exit_code
"""
    output = client.run(name, code, session="steady")
    assert told(output) == ("ok", False)
    assert output.text().split() == ["inner", "innerinner", "outer", "apart", "."]
    assert output.only("result").blob == b"(['inner outer apart'], 3)"
