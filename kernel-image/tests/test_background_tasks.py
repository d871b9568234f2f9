"""Tasks that outlive the run that began them: what they say belongs to the run that is on."""

import pytest
from client import Client

TASK = """
import asyncio, sys
go = asyncio.Event()
async def work():
    print('begins')
    await go.wait()
    print('goes on')
    print('tells', file=sys.stderr)
    display('shown')
    return 'done'
task = asyncio.create_task(work())
await asyncio.sleep(0)
"""


def test_what_a_task_says_comes_with_the_run_that_waits_for_it(client: Client, name: str) -> None:
    assert client.run(name + "1", TASK, session="tasks").text() == "begins\n"
    output = client.run(name + "2", "print('second')\ngo.set()\nawait task", session="tasks")
    client.ask("close", session="tasks")
    assert (output.text(), output.text("stderr")) == ("second\ngoes on\n", "tells\n")
    assert output.only("display").blob == b"'shown'"
    assert output.only("result").blob == b"'done'"


@pytest.mark.slow
def test_callbacks_of_the_loop_too(client: Client, name: str) -> None:
    later = """
import asyncio, os
said, (receiver, sender) = asyncio.Event(), os.pipe()
loop = asyncio.get_running_loop()
def say():
    loop.remove_reader(receiver)
    print('called back')
    said.set()
loop.add_reader(receiver, say)
"""
    client.run(name + "1", later, session="tasks")
    output = client.run(name + "2", "os.write(sender, b'.')\nawait asyncio.wait_for(said.wait(), 20)", session="tasks")
    client.ask("close", session="tasks")
    assert output.text() == "called back\n"
