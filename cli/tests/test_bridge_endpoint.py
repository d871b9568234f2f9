"""The bridge at a real endpoint, for each contract, with the official client on its standard streams."""

from __future__ import annotations

import asyncio
import base64
import os
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandglass import Sandbox, ToolError
from sandglass.config import file as configuration
from sandglass.config.settings import Flags
from sandglass.core import sandboxes
from sandglass.sandbox import walk
from sandglass.terminal.pictures import PNG
from sandglass.wire.client import Client as Wire
from tests.endpoint import Json

SILENT_S = 17
"""Progress comes every 15 s."""

LINES = 3_000
PICTURE = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint('drawn')"
BEATING = """
import itertools, pathlib, time
for beat in itertools.count():
    pathlib.Path('beat').write_text(str(beat))
    time.sleep(0.05)
"""
Conversation = Callable[[Any], Awaitable[None]]


@dataclass(frozen=True)
class Contract:
    """How code is run by the tools of a contract, and what is special about its answers."""

    name: str
    tool: str
    tools: frozenset[str]
    errors_are_data: bool = False
    longest: tuple[str, int] | None = None
    """The argument for longer output."""

    @property
    def has_own_sandbox(self) -> bool:
        return self.name != "sandglass"

    def arguments(self, code: str, sandbox: str) -> Json:
        more: Json = {"sandbox": sandbox} if not self.has_own_sandbox else {}
        if self.name == "ipython":
            more["session"] = "one"
        return {"code": code, **more}


CONTRACTS = [
    Contract(
        "ipybox",
        "execute_ipython_cell",
        frozenset(
            {
                "execute_ipython_cell",
                "install_package",
                "reset",
                "register_mcp_server",
                "upload_file",
                "download_file",
            }
        ),
        longest=("max_output_chars", 300_000),
    ),
    Contract(
        "ipython",
        "execute",
        frozenset({"execute", "list_sessions", "reset", "shutdown", "interrupt"}),
        errors_are_data=True,
    ),
    Contract("code-mode", "run_python", frozenset({"run_python"})),
    Contract(
        "sandglass",
        "sandbox_run_code",
        frozenset({"sandbox_start", "sandbox_stop", "sandbox_run_code"}),
        longest=("max_output_chars", 300_000),
    ),
]


@pytest.fixture(params=CONTRACTS, ids=[each.name for each in CONTRACTS])
def contract(request: pytest.FixtureRequest) -> Contract:
    assert isinstance(request.param, Contract)
    return request.param


@pytest.fixture
def box(real_endpoint: str) -> Iterator[str]:
    """The name of a sandbox that is deleted at the end."""
    name = f"bridge-{secrets.token_hex(6)}"
    yield name
    with suppress(ToolError):
        Sandbox(name).delete()


def talk(contract: Contract, conversation: Conversation, *arguments: str, place: Path, mode: Any = "auto") -> str:
    """A conversation with a bridge of that contract; what it wrote to standard error."""
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["-m", "sandglass", "mcp", "--contract", contract.name, *arguments]
    server = StdioServerParameters(command=sys.executable, args=command, env=environ, cwd=place)
    errors = place / "errors"

    async def main() -> None:
        with errors.open("w") as log:
            client: Any = Client(stdio_client(server, errlog=log), mode=mode)
            async with client as connected:
                await conversation(connected)

    asyncio.run(main())
    return errors.read_text()


def named(contract: Contract, box: str) -> tuple[str, ...]:
    return ("--name", box) if contract.has_own_sandbox else ()


def text(answer: Any) -> str:
    return "\n".join(part.text for part in answer.content if part.type == "text")


def there() -> set[str]:
    """The names of all sandboxes."""
    client = Wire(configuration.settings(Flags()))
    try:
        return {each.name for each in walk(client, sandboxes.list_all(None))}
    finally:
        client.close()


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.2)


@pytest.mark.endpoint
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_initializes_lists_and_runs(contract: Contract, box: str, tmp_path: Path, mode: Any) -> None:
    async def conversation(client: Any) -> None:
        assert client.server_info.name
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == contract.tools if contract.has_own_sandbox else tools > contract.tools
        done = await client.call_tool(contract.tool, contract.arguments("print('é', 6 * 7)", box))
        assert not done.is_error
        assert "é 42" in text(done)

    errors = talk(contract, conversation, *named(contract, box), place=tmp_path, mode=mode)
    assert "Traceback" not in errors


@pytest.mark.endpoint
def test_an_error_of_the_code_is_an_answer(contract: Contract, box: str, tmp_path: Path) -> None:
    async def conversation(client: Any) -> None:
        failed = await client.call_tool(contract.tool, contract.arguments("print('before')\n1 / 0", box))
        assert failed.is_error is not contract.errors_are_data
        assert "ZeroDivisionError" in text(failed)
        assert "before" in text(failed)
        after = await client.call_tool(contract.tool, contract.arguments("print('after')", box))
        assert "after" in text(after)

    talk(contract, conversation, *named(contract, box), place=tmp_path)


@pytest.mark.endpoint
def test_a_call_that_is_cancelled_ends_the_code(contract: Contract, box: str, tmp_path: Path) -> None:
    async def conversation(client: Any) -> None:
        await client.call_tool(contract.tool, contract.arguments("print('warm')", box))
        with Sandbox(box) as watched:

            def beat() -> str | None:
                try:
                    return watched.files.read_text("beat")
                except ToolError:
                    return None

            def has_stopped() -> bool:
                before = beat()
                time.sleep(1)
                return before == beat()

            running = asyncio.create_task(client.call_tool(contract.tool, contract.arguments(BEATING, box)))
            await asyncio.to_thread(wait_for, lambda: beat() is not None)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            # Sooner than any contract's own time-out.
            await asyncio.to_thread(wait_for, has_stopped, 15)
            after = await client.call_tool(contract.tool, contract.arguments("print('after')", box))
            assert "after" in text(after)

    talk(contract, conversation, *named(contract, box), place=tmp_path)


@pytest.mark.endpoint
def test_a_run_that_is_silent_has_progress(contract: Contract, box: str, tmp_path: Path) -> None:
    heard: list[tuple[float, float]] = []

    async def conversation(client: Any) -> None:
        await client.call_tool(contract.tool, contract.arguments("print('warm')", box))
        began = time.monotonic()

        async def progress(position: float, total: float | None, message: str | None) -> None:
            heard.append((time.monotonic() - began, position))

        code = f"import time\ntime.sleep({SILENT_S})\nprint('awake')"
        done = await client.call_tool(contract.tool, contract.arguments(code, box), progress_callback=progress)
        assert "awake" in text(done)
        # The end of the output may have progress too; what comes before it is the silence's.
        assert any(10 < at < SILENT_S for at, _ in heard), heard
        positions = [position for _, position in heard]
        assert positions == sorted(set(positions))

    talk(contract, conversation, *named(contract, box), place=tmp_path)


@pytest.mark.endpoint
def test_a_large_result_arrives_with_its_beginning_and_its_end(contract: Contract, box: str, tmp_path: Path) -> None:
    code = f"for number in range({LINES}):\n    print(f'<{{number}}>', 'x' * 50)"

    async def conversation(client: Any) -> None:
        arguments = contract.arguments(code, box)
        cut = text(await client.call_tool(contract.tool, arguments))
        assert "<0>" in cut
        assert f"<{LINES - 1}>" in cut
        if contract.longest is not None:
            name, most = contract.longest
            whole = text(await client.call_tool(contract.tool, {**arguments, name: most}))
            assert all(f"<{number}>" in whole for number in range(LINES))

    talk(contract, conversation, *named(contract, box), place=tmp_path)


@pytest.mark.endpoint
def test_a_picture_arrives_beside_the_text(contract: Contract, box: str, tmp_path: Path) -> None:
    async def conversation(client: Any) -> None:
        done = await client.call_tool(contract.tool, contract.arguments(PICTURE, box))
        assert "drawn" in text(done)
        (picture,) = (part for part in done.content if part.type == "image")
        assert picture.mime_type == "image/png"
        assert base64.b64decode(picture.data).startswith(PNG)

    talk(contract, conversation, *named(contract, box), place=tmp_path)


@pytest.mark.endpoint
def test_the_end_of_standard_input_ends_what_the_bridge_made(contract: Contract, box: str, tmp_path: Path) -> None:
    before = there()
    made: set[str] = set()

    async def conversation(client: Any) -> None:
        await client.call_tool(contract.tool, contract.arguments("print('here')", box))
        made.update(await asyncio.to_thread(there) - before)

    talk(contract, conversation, place=tmp_path)
    if not contract.has_own_sandbox:
        # The agent named it, and it stays.
        assert box in made & there()
        return
    made = {name for name in made if name.startswith("mcp-")}
    assert made
    wait_for(lambda: not made & there())
