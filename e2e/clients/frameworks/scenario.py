"""The scenario that every client goes through, for clients written in Python; its texts are in scenario.json.

A client's check.py says how that client connects, calls, and hands over pictures and errors, and calls main().
"""

import asyncio
import contextlib
import dataclasses
import importlib.metadata
import json
import os
import pathlib
import re
import secrets
import sys
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

WORDS: dict[str, Any] = json.loads(pathlib.Path(__file__).with_name("scenario.json").read_text())
PATIENCE_S = 90.0
READ_ON = re.compile(r"execution_id '([^']+)' and offset (\d+)")


@dataclasses.dataclass(frozen=True)
class Picture:
    """A picture as the client hands it over: its own type, the kind, and the data in base64."""

    type: str
    mime_type: str
    base64: str


@dataclasses.dataclass(frozen=True)
class Answer:
    """What reaches the model; `error_as` says what the client makes of a failed call."""

    text: str
    pictures: list[Picture] = dataclasses.field(default_factory=list)
    error_as: str = ""


Call = Callable[[str, dict[str, Any]], Awaitable[Answer]]


class Connected:
    """A client that is connected: the names of the tools that it lists, and how it calls one."""

    def __init__(self, tools: list[str], call: Call, progress: Callable[[], int] | None = None) -> None:
        self.tools = tools
        self.calls = call
        self.progress = progress

    async def call(self, tool: str, **arguments: Any) -> Answer:
        return await asyncio.wait_for(self.calls(tool, arguments), PATIENCE_S)


Connect = Callable[[str, dict[str, str]], contextlib.AbstractAsyncContextManager[Connected]]


@dataclasses.dataclass(frozen=True)
class Client:
    """What is known of a client beforehand, and is measured here.

    patience_s: its default time-out of a call; None if there is none, or none below 5 minutes (`patience` says which).
    cancels: whether a call that the program cancels ends its code.
    own_picture: how its users get a picture, if it does not hand over those of answers.
    """

    distribution: str
    connect: Connect
    patience_s: float | None
    patience: str
    cancels: bool
    own_picture: Callable[[Connected, str], Awaitable[Picture]] | None = None


class Scenario:
    """Goes through it, and keeps what was seen."""

    def __init__(self, client: Client, url: str, token: str) -> None:
        self.client = client
        self.url = url
        self.headers = {"Authorization": f"Bearer {token}"}
        self.sandbox = f"try-{secrets.token_hex(4)}"
        self.seen: dict[str, str] = {}

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[Connected]:
        wait = f"?wait={WORDS['long']['short_wait_s']}" if self.is_impatient() else ""
        async with self.client.connect(self.url + wait, self.headers) as connected:
            yield connected

    def is_impatient(self) -> bool:
        return self.client.patience_s is not None and self.client.patience_s < WORDS["long"]["needs_s"]

    async def run(self) -> None:
        async with self.connected() as agent:
            self.seen["tools"] = str(len(agent.tools))
            equal(len(agent.tools), WORDS["tools"])
            equal([name for name in WORDS["core_tools"] if name not in agent.tools], [])
            started = await agent.call("sandbox_start", sandbox=self.sandbox)
            contains(started.text, f"Sandbox {self.sandbox} ")
            await self.state(agent)
            await self.picture(agent)
            await self.error(agent)
            await self.long(agent)
            await self.cancel(agent)
        await self.patience()
        async with self.connected() as agent:
            contains((await agent.call("sandbox_stop", sandbox=self.sandbox, delete=True)).text, "stopped successfully")
            self.seen["stop"] = "ok"

    async def python(self, agent: Connected, code: str, **arguments: Any) -> Answer:
        return await agent.call("sandbox_run_code", sandbox=self.sandbox, code=code, **arguments)

    async def state(self, agent: Connected) -> None:
        await self.python(agent, WORDS["state"]["first"])
        equal((await self.python(agent, WORDS["state"]["then"])).text.strip(), WORDS["state"]["text"])
        self.seen["state"] = "ok"

    async def picture(self, agent: Connected) -> None:
        answer = await self.whole(agent, WORDS["picture"]["code"])
        contains(answer.text, WORDS["picture"]["note"])
        pictures = answer.pictures
        if self.client.own_picture is not None:
            equal(pictures, [])
            pictures = [await self.client.own_picture(agent, self.sandbox)]
        equal([picture.mime_type for picture in pictures], [WORDS["picture"]["mime_type"]])
        equal(pictures[0].base64.startswith(WORDS["picture"]["begins_with_base64"]), True)
        self.seen["picture"] = pictures[0].type

    async def error(self, agent: Connected) -> None:
        answer = await self.python(agent, WORDS["error"]["code"])
        for text in WORDS["error"]["texts"]:
            contains(answer.text, text)
        equal(bool(answer.error_as), True)
        self.seen["error"] = answer.error_as

    async def long(self, agent: Connected) -> None:
        answer = await self.whole(agent, WORDS["long"]["code"])
        for text in (WORDS["long"]["first"], WORDS["long"]["last"]):
            contains(answer.text, text)
        told = agent.progress() if agent.progress is not None else 0
        if agent.progress is not None:
            equal(told > 0, True)
        self.seen["long"] = f"read on with ?wait={WORDS['long']['short_wait_s']}" if self.is_impatient() else "one call"
        self.seen["progress"] = f"{told} notifications" if agent.progress is not None else "no way to see it"

    async def whole(self, agent: Connected, code: str) -> Answer:
        """All of a run, whatever number of calls it takes."""
        answer = await self.python(agent, code)
        texts, pictures = [answer.text], list(answer.pictures)
        while answer.text.startswith("[running") and (found := READ_ON.findall(answer.text)):
            identity, offset = found[-1]
            answer = await agent.call("sandbox_get_execution", execution_id=identity, offset=int(offset))
            texts.append(answer.text)
            pictures += answer.pictures
        return Answer("\n".join(texts), pictures, answer.error_as)

    async def is_there(self, agent: Connected, path: str) -> bool:
        answer = await agent.call("sandbox_run_command", sandbox=self.sandbox, command="test", args=["-e", path])
        return "[exit code 1]" not in answer.text

    async def appears(self, agent: Connected, path: str, within_s: float) -> bool:
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            if await self.is_there(agent, path):
                return True
            await asyncio.sleep(0.3)
        return False

    async def cancel(self, agent: Connected) -> None:
        words = WORDS["cancel"]
        running = asyncio.create_task(self.python(agent, words["code"], wait=60))
        equal(await self.appears(agent, words["begun"], 30), True)
        running.cancel()
        await asyncio.wait((running,), timeout=words["within_s"])
        reached = await self.appears(agent, words["ended"], words["within_s"])
        if not reached:
            await agent.call("sandbox_interrupt", sandbox=self.sandbox)
            equal(await self.appears(agent, words["ended"], words["within_s"]), True)
        equal(reached, self.client.cancels)
        self.seen["cancel"] = "ends the code" if reached else "sandbox_interrupt ends the code"

    async def patience(self) -> None:
        words, limit = WORDS["too_long"], self.client.patience_s
        self.seen["time-out"] = self.client.patience
        if limit is None or limit > words["most_measured_s"]:
            return
        seconds = int(limit + words["beyond_s"])
        begun, told = time.monotonic(), ""
        with contextlib.suppress(Exception):
            async with self.client.connect(self.url, self.headers) as agent:
                # What it raises differs from client to client; when it does is what counts.
                with contextlib.suppress(Exception):
                    code = words["code"].replace("{seconds}", str(seconds))
                    told = (await self.python(agent, code, wait=seconds + 20)).text
                taken = time.monotonic() - begun
        equal(words["last"] in told, False)
        if not limit - words["early_s"] <= taken <= limit + words["late_s"]:
            raise AssertionError(f"the call ended after {taken:.1f} s")
        async with self.connected() as agent:
            went_on = await self.appears(agent, words["file"], 1.5 * words["beyond_s"])
        self.seen["time-out"] += f"; measured {taken:.0f} s, then the code {'runs on' if went_on else 'is interrupted'}"


def equal(actual: object, expected: object) -> None:
    if actual != expected:
        raise AssertionError(f"expected {expected!r}, got {actual!r}")


def contains(text: str, part: str) -> None:
    if part not in text:
        raise AssertionError(f"expected {part!r} in {text[:500]!r}")


async def measure(client: Client) -> dict[str, str]:
    scenario = Scenario(client, os.environ["SANDGLASS_URL"], os.environ["SANDGLASS_TOKEN"])
    problem = ""
    try:
        await scenario.run()
    except BaseException:  # noqa: BLE001 - whatever went wrong is the result
        problem = traceback.format_exc()
        print(problem, flush=True)
        with contextlib.suppress(Exception):
            async with scenario.connected() as agent:
                await agent.call("sandbox_stop", sandbox=scenario.sandbox, delete=True)
    return {"version": importlib.metadata.version(client.distribution), **scenario.seen, "failed": problem}


def main(client: Client) -> None:
    seen = asyncio.run(measure(client))
    print(json.dumps(seen, indent=2), flush=True)
    if result := os.environ.get("SANDGLASS_RESULT"):
        pathlib.Path(result).write_text(json.dumps(seen))
    sys.exit(1 if seen["failed"] else 0)
