"""Interrupts that meet what only looks as if it could not be interrupted: the kernel and its variables stay."""

import pytest
from client import Client, Output

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


@pytest.mark.parametrize("what", AWAITING)
def test_the_time_of_a_cell_that_awaits_is_up(client: Client, name: str, what: str) -> None:
    client.run(f"{name}-before", BEFORE, session="steady")
    output = client.run(name, AWAITING[what], timeout_s=0.5, session="steady")
    assert told(output) == ("timeout", False)
    still_works(client, name, b"2" if what == "holds on" else b"1")


def test_a_cell_that_awaits_is_interrupted(client: Client, name: str) -> None:
    client.run(f"{name}-before", BEFORE, session="steady")
    client.start(name, f"print('on', flush=True)\n{AWAITING['blocks']}", session="steady")
    client.until(lambda: client.output(name).text() == "on\n", 10, "output")
    assert client.ask("interrupt", execution_id=name) == {"interrupted": [name]}
    output = client.finish(name, 5)
    assert told(output) == ("interrupted", False)
    assert output.only("error").json["name"] == "KeyboardInterrupt"
    still_works(client, name, b"1")


def test_a_cell_that_awaits_is_interrupted_as_it_starts(client: Client, name: str) -> None:
    """Wherever the interrupt meets the kernel on its way to the code, and back."""
    client.run(f"{name}-before", BEFORE, session="steady")
    for turn in range(20):
        client.start(f"{name}{turn}", AWAITING["blocks" if turn % 2 else "awaits"], session="steady")
        assert client.ask("interrupt", execution_id=f"{name}{turn}")["interrupted"] == [f"{name}{turn}"]
        assert told(client.finish(f"{name}{turn}", 5)) == ("interrupted", False)
    still_works(client, name, b"1")


def test_a_cell_that_awaits_is_interrupted_as_it_ends(client: Client, name: str) -> None:
    client.run(f"{name}-before", BEFORE, session="steady")
    for turn in range(20):
        code = f"await asyncio.sleep({0.002 * turn})"
        client.start(f"{name}{turn}", code, timeout_s=0.001 + 0.002 * turn, session="steady")
        assert told(client.finish(f"{name}{turn}", 5))[1] is False
    still_works(client, name, b"1")
