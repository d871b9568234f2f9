"""``asyncio.run`` in a cell works as in a program, and the kernel's own loop is as it was afterwards."""

import pytest
from client import PATIENCE, Client

SESSION = "asyncio"
BEGIN = """
import asyncio, signal
loop = asyncio.get_running_loop()
async def add(a, b):
    await asyncio.sleep(0.001)
    return a + b
async def many():
    async with asyncio.timeout(10):
        return await asyncio.gather(*(add(n, n) for n in range(3)))
async def program():
    process = await asyncio.create_subprocess_exec('echo', 'said', stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0]
async def fails():
    await add(1, 1)
    raise ValueError('failed')
async def nested():
    return asyncio.run(add(1, 1))
async def forever():
    print('waits', flush=True)
    while True:
        await asyncio.sleep(0.01)
"""


@pytest.fixture
def prepared(client: Client, name: str, session: str) -> Client:
    client.run(f"{name}-begin", BEGIN, session=session)
    return client


def is_as_it_was(client: Client, name: str) -> None:
    code = "asyncio.get_running_loop() is loop, asyncio.current_task().get_loop() is loop, await add(1, 2)"
    assert client.run(f"{name}-after", code, session=SESSION).only("result").blob == b"(True, True, 3)"
    code = "task = asyncio.create_task(add(2, 2))\nasyncio.get_event_loop() is loop"
    assert client.run(f"{name}-task", code, session=SESSION).only("result").blob == b"True"
    assert client.run(f"{name}-wait", "await task", session=SESSION).only("result").blob == b"4"


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("asyncio.run(add(1, 2))", b"3"),
        ("asyncio.run(many())", b"[0, 2, 4]"),
        ("asyncio.run(program())", b"b'said\\n'"),
        ("await add(1, asyncio.run(add(1, 1)))", b"3"),
        ("asyncio.run(add(1, 1)), asyncio.run(add(2, 2))", b"(2, 4)"),
        ("loop.run_until_complete(add(1, 1))", b"2"),
        ("asyncio.get_event_loop().run_until_complete(many())", b"[0, 2, 4]"),
        ("other = asyncio.new_event_loop(); kept = other.run_until_complete(add(1, 1)); other.close(); kept", b"2"),
        ("with asyncio.Runner() as runner: kept = runner.run(add(1, 1)), runner.run(add(2, 2))\nkept", b"(2, 4)"),
        ("from asyncio import run\ndef main(): return run(add(1, 1))\nmain()", b"2"),
        (
            "import threading, queue\nheard = queue.Queue()\nthreading.Thread(target=lambda: "
            "heard.put(asyncio.run(add(1, 1)))).start()\nheard.get()",
            b"2",
        ),
    ],
)
def test_it_returns_what_the_coroutine_does(prepared: Client, name: str, code: str, result: bytes) -> None:
    output = prepared.run(name, code, session=SESSION)
    assert (output.only("result").blob, output.text("stderr")) == (result, "")
    is_as_it_was(prepared, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("asyncio.run(fails())", "ValueError: failed"),
        ("asyncio.run(nested())", "RuntimeError: asyncio.run() cannot be called from a running event loop"),
        (
            "task = asyncio.create_task(add(1, 1)); loop.run_until_complete(task)",
            "RuntimeError: the cell runs in this "
            "event loop already: write 'await task' instead of run_until_complete(task).",
        ),
        ("loop.run_forever()", "RuntimeError: This event loop is already running"),
    ],
)
def test_what_fails_says_so(prepared: Client, name: str, code: str, message: str) -> None:
    output = prepared.run(name, code, session=SESSION)
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["message"]) == ("error", message)
    is_as_it_was(prepared, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "code", ["asyncio.run(forever())", "await add(1, 1); asyncio.run(forever())", "loop.run_until_complete(forever())"]
)
@pytest.mark.parametrize("by", ["a caller", "time"])
def test_it_can_be_interrupted(prepared: Client, name: str, code: str, by: str) -> None:
    prepared.start(name, code, session=SESSION, timeout_s=60 if by == "a caller" else 0.5)
    if by == "a caller":
        prepared.until(lambda: prepared.output(name).text() == "waits\n", PATIENCE, "output")
        prepared.ask("interrupt", execution_id=name)
    ended = prepared.finish(name).outcome
    assert ended is not None
    assert (ended["status"], ended["kernel_restarted"]) == ("interrupted" if by == "a caller" else "timeout", False)
    is_as_it_was(prepared, name)
