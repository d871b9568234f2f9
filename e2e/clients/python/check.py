"""What an agent relies on, seen through the MCP Python SDK, in each way in which the installed one can speak."""

import asyncio
import base64
import importlib.metadata
import os
import secrets
import sys
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

if importlib.metadata.version("mcp").startswith("1."):
    import sdk_1 as sdk
else:
    import sdk_2 as sdk

PATIENCE_S = 120.0
STARTS = 30
STREAMING = """
import os, time
print("first line", flush=True)
while not os.path.exists("/workspace/seen"):
    time.sleep(0.01)
print("last line")
"""

# Ends by itself long before anybody gives up on it, and tells how long it ran.
CANCELLED = """
import time
begun = time.monotonic()
lasted = None
print("begun", flush=True)
try:
    while time.monotonic() - begun < 20:
        time.sleep(0.05)
finally:
    lasted = time.monotonic() - begun
"""
PLOT = """
import matplotlib.pyplot as plt
plt.figure(figsize=(2, 1))
plt.plot([1, 2])
plt.show()
"""

OnOutput = Callable[[str], None]


class Agent:
    """Calls tools; answers are the structured content, with text, pictures and the error flag beside it."""

    def __init__(self, caller: sdk.Caller) -> None:
        self.caller = caller

    async def call(self, tool: str, on_output: OnOutput | None = None, **arguments: Any) -> dict[str, Any]:
        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            if on_output is not None:
                on_output(message or "")

        content, data, failed = await self.caller.call(tool, arguments, progressed if on_output is not None else None)
        text = "\n".join(part.text for part in content if isinstance(part, sdk.Text))
        pictures = [part for part in content if isinstance(part, sdk.Picture)]
        return {"text": text, "pictures": pictures, "failed": failed, **(data or {})}

    async def python(self, sandbox: str, code: str, on_output: OnOutput | None = None) -> dict[str, Any]:
        return await self.call("sandbox_run_code", on_output, sandbox=sandbox, code=code)


def equal(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


async def state_is_kept_between_calls(agent: Agent, one: str, _: str) -> None:
    await agent.python(one, "x = 40")
    equal((await agent.python(one, "x + 2"))["result"], "42")


async def state_is_not_shared_between_sandboxes(agent: Agent, one: str, other: str) -> None:
    await agent.python(one, "mine = 1")
    answer = await agent.python(other, "mine")
    equal(answer["status"], "error")
    equal(answer["error"]["name"], "NameError")


async def output_arrives_while_the_code_runs(agent: Agent, one: str, _: str) -> None:
    # The code ends only after this client has seen its first line and has said so: no clock is involved.
    seen: list[str] = []
    first_line = asyncio.Event()

    def arrived(chunk: str) -> None:
        seen.append(chunk)
        if "first line\n" in "".join(seen):
            first_line.set()

    running = asyncio.create_task(agent.python(one, STREAMING, arrived))
    waiting = asyncio.create_task(first_line.wait())
    await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE_S)
    waiting.cancel()
    equal((first_line.is_set(), running.done()), (True, False))
    await agent.call("sandbox_run_command", sandbox=one, command="touch", args=["/workspace/seen"])
    answer = await running
    equal(answer["stdout"], "first line\nlast line\n")
    equal("".join(seen), "first line\nlast line\n")


async def an_abandoned_call_ends_its_code(agent: Agent, one: str, _: str) -> None:
    begun = asyncio.Event()
    running = asyncio.create_task(agent.python(one, CANCELLED, lambda _: begun.set()))
    waiting = asyncio.create_task(begun.wait())
    await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE_S)
    waiting.cancel()
    equal((begun.is_set(), running.done()), (True, False))
    running.cancel()
    await asyncio.wait((running,))
    if not sdk.ENDS_WHAT_IS_ABANDONED:
        await agent.call("sandbox_interrupt", sandbox=one)
    # The kernel runs one thing at a time, so this answer comes only after the other's end.
    lasted = float((await agent.python(one, "lasted"))["result"])
    equal(lasted < 10, True)


async def a_picture_is_a_picture(agent: Agent, one: str, _: str) -> None:
    answer = await agent.python(one, PLOT)
    equal([sdk.kind(picture) for picture in answer["pictures"]], ["image/png"])
    equal(base64.b64decode(answer["pictures"][0].data)[:8], b"\x89PNG\r\n\x1a\n")


async def an_exception_is_an_error_with_its_traceback(agent: Agent, one: str, _: str) -> None:
    answer = await agent.python(one, "def half(n):\n    return n / 0\nhalf(1)")
    equal((answer["status"], answer["failed"]), ("error", True))
    equal(answer["error"]["name"], "ZeroDivisionError")
    equal("return n / 0" in answer["error"]["traceback"], True)


async def a_command_tells_its_exit_code(agent: Agent, one: str, _: str) -> None:
    answer = await agent.call("sandbox_run_command", sandbox=one, command="sh", args=["-c", "echo out; exit 7"])
    equal((answer["exit_code"], answer["stdout"], answer["failed"]), (7, "out\n", False))


async def metrics_are_told(agent: Agent, one: str, _: str) -> None:
    answer = await agent.call("sandbox_get_metrics", sandbox=one)
    equal([(entry["name"], entry["running"]) for entry in answer["sandboxes"]], [(one, True)])
    equal(answer["sandboxes"][0]["memory_usage"] > 10, True)


async def a_stopped_sandbox_does_not_run_code(agent: Agent, one: str, _: str) -> None:
    equal((await agent.call("sandbox_stop", sandbox=one))["text"], f"Sandbox {one} stopped successfully")
    # Another replica of the gateway hears of it a moment later.
    end = time.monotonic() + 30
    while not (failed := (await agent.python(one, "1"))["failed"]) and time.monotonic() < end:  # noqa: ASYNC110 - the replicas tell nobody
        await asyncio.sleep(0.1)
    equal(failed, True)


Check = Callable[[Agent, str, str], Awaitable[None]]
CHECKS: tuple[Check, ...] = (
    state_is_kept_between_calls,
    state_is_not_shared_between_sandboxes,
    output_arrives_while_the_code_runs,
    an_abandoned_call_ends_its_code,
    a_picture_is_a_picture,
    an_exception_is_an_error_with_its_traceback,
    a_command_tells_its_exit_code,
    metrics_are_told,
    a_stopped_sandbox_does_not_run_code,
)


class Tally:
    """Counts and tells."""

    passed = 0
    failed = 0

    async def judge(self, title: str, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception:  # noqa: BLE001 - whatever went wrong is this check's result
            self.failed += 1
            print(f"FAILED  {title}\n{traceback.format_exc()}", flush=True)
        else:
            self.passed += 1
            print(f"ok      {title}", flush=True)


async def brought_up(agent: Agent, sandbox: str) -> dict[str, Any]:
    # Made again, as the answer says, while the node is full of what others have left, or busy.
    for _ in range(STARTS):
        started = await agent.call("sandbox_start", sandbox=sandbox)
        if started.get("status") != "starting" and "No node has enough" not in started["text"]:
            break
    return started


async def check_mode(mode: str, tally: Tally) -> None:
    url = os.environ["SANDGLASS_URL"] + "?structured=true"
    async with sdk.connect(mode, url, os.environ["SANDGLASS_TOKEN"], PATIENCE_S) as caller:
        equal(caller.revision, sdk.REVISIONS[mode])
        agent = Agent(caller)
        one, other = (f"py-{which}-{secrets.token_hex(4)}" for which in ("one", "other"))
        try:
            for sandbox in (one, other):
                equal((await brought_up(agent, sandbox))["text"], f"Sandbox {sandbox} started successfully")
            for check in CHECKS:
                await tally.judge(f"{mode}: {check.__name__.replace('_', ' ')}", check(agent, one, other))
        finally:
            for sandbox in (one, other):
                await agent.call("sandbox_stop", sandbox=sandbox, delete=True)


async def main() -> int:
    tally = Tally()
    for mode in sdk.REVISIONS:
        try:
            await check_mode(mode, tally)
        except Exception:  # noqa: BLE001 - the other mode is still worth trying
            tally.failed += 1
            print(f"FAILED  {mode}: could not go on\n{traceback.format_exc()}", flush=True)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 0 if tally.failed == 0 else 1


if __name__ == "__main__":
    if not (os.environ.get("SANDGLASS_URL") and os.environ.get("SANDGLASS_TOKEN")):
        sys.exit("set SANDGLASS_URL and SANDGLASS_TOKEN (build/endpoint.env has them)")
    sys.exit(asyncio.run(main()))
