"""The package ``mcptools``: calls, values, errors, and calls that are given up."""

import asyncio
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import mcp_socket
import pytest
from mcp_socket import Supervisor

from sandglass_supervisor.mcp_api import mcptools
from sandglass_supervisor.mcp_api.mcptools import _gate, _wire

PATIENCE = 60


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    with tempfile.TemporaryDirectory(prefix="sg-") as folder, mcp_socket.listening(Path(folder) / "s") as supervisor:
        monkeypatch.setenv("SANDGLASS_MCP_SOCKET", f"{folder}/s")
        yield supervisor


@pytest.mark.parametrize(
    ("tool", "value"),
    [
        ("text", "plain"),
        ("json", {"a": [1]}),
        ("nan", "NaN"),
        ("deep", "[" * 100_000),
        ("nothing", None),
        ("several", ["one", 2]),
        ("picture", b"PNG"),
        ("broken_picture", mcp_socket.CONTENTS["broken_picture"][0]),
        ("resource", [1]),
        ("file", b"x"),
        ("link", mcp_socket.CONTENTS["link"][0]),
    ],
)
def test_values(supervisor: Supervisor, tool: str, value: object) -> None:
    assert mcptools.call("github", tool) == value
    assert asyncio.run(mcptools.call_async("github", tool)) == value


def test_structured_content_comes_first(supervisor: Supervisor) -> None:
    assert mcptools.call("github", "echo", {"a": 1}, timeout_s=5) == {"a": 1}
    assert supervisor.requests[-1]["arguments"] == {"a": 1}
    assert supervisor.requests[-1]["timeout_s"] == 5


def test_pictures_know_their_type(supervisor: Supervisor) -> None:
    picture = mcptools.call("github", "picture")
    assert picture.type == "image/png"
    assert pickle.loads(pickle.dumps(picture)).type == "image/png"
    assert picture._repr_mimebundle_() == {"image/png": "UE5H", "text/plain": "<image/png, 3 bytes>"}
    assert mcptools.call("github", "file").type == "application/octet-stream"


def test_arguments_that_are_no_json_of_their_own(supervisor: Supervisor) -> None:
    name = uuid.uuid4()
    arguments = {"day": date(2026, 1, 2), "path": Path("/a"), "set": {1}, "id": name, "lone": "\ud800"}
    plain = {"day": "2026-01-02", "path": "/a", "set": [1], "id": str(name), "lone": "\ud800"}
    assert mcptools.call("github", "echo", arguments) == plain


@pytest.mark.parametrize("wrong", [{"a": object()}, {"a": float("nan")}, {"a": "x" * (8 << 20)}])
def test_arguments_that_cannot_be_sent(supervisor: Supervisor, wrong: dict[str, Any]) -> None:
    with pytest.raises(mcptools.ToolRunnerError, match="the arguments"):
        mcptools.call("github", "echo", wrong)
    assert supervisor.requests == []


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("no_server", mcptools.NoSuchServer),
        ("no_tool", mcptools.NoSuchTool),
        ("not_allowed", mcptools.NotAllowed),
        ("not_running", mcptools.ServerNotRunning),
        ("unreachable", mcptools.Unreachable),
        ("timeout", mcptools.ToolTimeout),
        ("too_large", mcptools.ResultTooLarge),
        ("too_many", mcptools.TooManyCalls),
        ("cancelled", mcptools.ToolCancelled),
        ("failed", mcptools.ToolError),
        ("bad_request", mcptools.ToolRunnerError),
        ("of tomorrow", mcptools.ToolRunnerError),
    ],
)
def test_errors(supervisor: Supervisor, kind: str, error: type[mcptools.ToolRunnerError]) -> None:
    calls: tuple[Callable[[], Any], ...] = (
        lambda: mcptools.call("github", f"kind_{kind}"),
        lambda: asyncio.run(mcptools.call_async("github", f"kind_{kind}")),
    )
    for call in calls:
        with pytest.raises(mcptools.ToolRunnerError) as caught:
            call()
        assert type(caught.value) is error
        assert (caught.value.server, caught.value.tool) == ("github", f"kind_{kind}")
        assert str(caught.value).startswith(f"message of {kind}")
        again = pickle.loads(pickle.dumps(caught.value))
        assert (type(again), str(again), again.server) == (error, str(caught.value), "github")


def test_a_tool_that_fails(supervisor: Supervisor) -> None:
    with pytest.raises(mcptools.ToolError) as caught:
        mcptools.call("github", "fails")
    assert (str(caught.value), caught.value.message, caught.value.tool) == ("it broke", "it broke", "fails")


@pytest.mark.parametrize("tool", ["close", "garbage", "endless"])
def test_a_supervisor_that_answers_nonsense(supervisor: Supervisor, tool: str) -> None:
    with pytest.raises(mcptools.ServerNotRunning, match="the way to the MCP servers broke"):
        mcptools.call("github", tool)
    with pytest.raises(mcptools.ServerNotRunning, match="the way to the MCP servers broke"):
        asyncio.run(mcptools.call_async("github", tool))


def test_no_socket(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SANDGLASS_MCP_SOCKET", raising=False)
    with pytest.raises(mcptools.ServerNotRunning, match="SANDGLASS_MCP_SOCKET is not set"):
        mcptools.servers()
    monkeypatch.setenv("SANDGLASS_MCP_SOCKET", str(tmp_path / "none"))
    with pytest.raises(mcptools.ServerNotRunning, match="No such file"):
        asyncio.run(mcptools.call_async("github", "echo"))


def test_a_supervisor_that_is_silent(supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_wire, "_GRACE_S", 0.1)
    with pytest.raises(mcptools.ToolTimeout, match=r"no answer within 0\.1 s"):
        mcptools.call("github", "silent", timeout_s=0.1)
    with pytest.raises(mcptools.ToolTimeout, match=r"no answer within 0\.1 s"):
        asyncio.run(mcptools.call_async("github", "silent", timeout_s=0.1))


@pytest.mark.parametrize("size", [0, 1, 300_000, 4 << 20])
def test_results_of_any_size(supervisor: Supervisor, size: int) -> None:
    assert len(mcptools.call("github", "large", {"size": size})) == size
    assert len(asyncio.run(mcptools.call_async("github", "large", {"size": size}))) == size


def test_a_hundred_at_once_in_tasks(supervisor: Supervisor) -> None:
    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(mcptools.call_async("github", "wait", {"n": n}) for n in range(100)))

    assert asyncio.run(all_of_them()) == [{"n": n} for n in range(100)]
    assert 1 < supervisor.most <= _gate.CALLS


def test_a_hundred_at_once_in_threads_and_tasks(supervisor: Supervisor) -> None:
    async def half() -> list[Any]:
        return await asyncio.gather(*(mcptools.call_async("github", "wait", {"n": n}) for n in range(50)))

    with ThreadPoolExecutor(50) as threads:
        sync = [threads.submit(mcptools.call, "github", "wait", {"n": n}) for n in range(50)]
        assert asyncio.run(half()) == [{"n": n} for n in range(50)]
        assert [future.result() for future in sync] == [{"n": n} for n in range(50)]
    assert 1 < supervisor.most <= _gate.CALLS


@pytest.mark.slow
def test_many_servers_at_once_keep_to_so_many_connections(supervisor: Supervisor) -> None:
    async def all_of_them() -> list[Any]:
        calls = (mcptools.call_async(f"s{n % 10}", "crowd", {"n": n, "of": _gate.CALLS + 1}) for n in range(300))
        return await asyncio.gather(*calls)

    assert [result["n"] for result in asyncio.run(all_of_them())] == [*range(300)]
    assert _gate.CALLS < supervisor.most <= _gate.CONNECTIONS


def is_in(function: Callable[..., Any], thread: int) -> bool:
    """Whether that thread is in the function, or in what it calls."""
    frame = sys._current_frames()[thread]
    while frame.f_code is not function.__code__ and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code is function.__code__


def test_an_interrupt_cancels_the_call(supervisor: Supervisor) -> None:
    def interrupt() -> None:
        assert supervisor.arrived.wait(PATIENCE)
        # An interrupt right after the last byte closes the connection alone, which cancels the call as well.
        while not is_in(_wire._receive, caller):
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    caller = threading.get_ident()
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        mcptools.call("github", "hang")
    assert supervisor.cancelled.wait(PATIENCE)
    assert supervisor.closed.wait(PATIENCE)
    assert [(request["id"], request["op"]) for request in supervisor.requests] == [(1, "call"), (1, "cancel")]


def test_a_cancelled_task_cancels_the_call(supervisor: Supervisor) -> None:
    async def give_up() -> None:
        task = asyncio.create_task(mcptools.call_async("github", "hang"))
        await asyncio.to_thread(supervisor.arrived.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The loop goes on.
        assert await mcptools.call_async("github", "text") == "plain"

    asyncio.run(give_up())
    assert supervisor.cancelled.wait(PATIENCE)
    assert supervisor.closed.wait(PATIENCE)


def test_a_task_that_waits_for_its_turn_can_be_cancelled(supervisor: Supervisor) -> None:
    async def many() -> list[Any]:
        tasks = [asyncio.create_task(mcptools.call_async("turns", "wait", {"n": n, "s": 0.2})) for n in range(100)]
        await asyncio.sleep(0.1)
        for task in tasks[10:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return await asyncio.gather(*(mcptools.call_async("turns", "wait", {"n": n}) for n in range(64)))

    assert len(asyncio.run(many())) == 64
    assert len(_gate.of("turns")._inside) == 0


def test_places_that_an_interrupt_loses_are_free_again() -> None:
    gate = _gate.Gate(2)
    for _ in range(10):
        gate._ticket()
    held = [gate._ticket(), gate._ticket()]
    assert all(ticket.done() for ticket in held)
    # Two wait, and one of them is lost.
    gate._ticket()
    last = gate._ticket()
    assert not last.done()
    gate._leave(held.pop())
    assert last.done()


@pytest.mark.slow
def test_a_forked_process_calls_too(supervisor: Supervisor) -> None:
    running = threading.Thread(target=mcptools.call, args=("github", "wait", {"s": 0.5}))
    running.start()
    held = _gate._lock
    with held:
        process = os.fork()
        if not process:
            # In the child the lock is held for ever by nobody.
            os._exit(0 if mcptools.call("github", "text") == "plain" else 1)
    end = time.monotonic() + PATIENCE
    while (done := os.waitpid(process, os.WNOHANG)) == (0, 0):
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    assert done == (process, 0)
    running.join()


def test_what_there_is(supervisor: Supervisor) -> None:
    (server,) = mcptools.servers()
    assert (server["name"], server["state"], len(server["tools"])) == ("github", "running", 2)
    assert mcptools.describe("github.post.message")["output_schema"] == {"type": "object"}
    assert supervisor.requests[-1] == {"id": 1, "op": "describe", "server": "github", "tool": "post.message"}
    assert [tool["name"] for tool in mcptools.describe("github")["tools"]] == ["search_issues", "post.message"]


@pytest.mark.parametrize(
    ("words", "tools"),
    [
        ("open issue", ["search_issues"]),
        ("messages, please", ["post.message"]),
        ("github", ["search_issues", "post.message"]),
        ("weather", []),
        ("", []),
    ],
)
def test_search(supervisor: Supervisor, words: str, tools: list[str]) -> None:
    assert [found["tool"] for found in mcptools.search(words)] == tools
    assert mcptools.search(words, limit=0) == []


def test_wrong_types_are_named() -> None:
    wrong: Any
    for wrong in ([1], "text"):
        with pytest.raises(TypeError, match="arguments are a dict"):
            mcptools.call("github", "echo", wrong)
    with pytest.raises(ValueError, match="timeout_s"):
        mcptools.call("github", "echo", timeout_s=0)
