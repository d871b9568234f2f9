"""Functions of shared servers, written when code first imports them: in kernels and in programs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Asked, Client, Output
from interpreters import with_ipykernel
from mcp_link import register
from mcp_shared import TOOLS, problem, share
from supervisors import Running

from sandglass_supervisor import limits

ADD = "from mcptools.github.add import Params, run\nprint(run(Params(a=1, b=2)).sum)"
NODE_ADD = "console.log(JSON.stringify(await add({ a: 1, b: 2 })))"


@pytest.fixture
def fresh(spare: Running) -> Running:
    """A sandbox whose workspace is empty."""
    return spare


@pytest.fixture
def gateway(fresh: Running) -> Client:
    gateway = fresh.client()
    share(gateway, {"github": TOOLS})
    return gateway


def shown(output: Output) -> list[str]:
    assert output.outcome is not None
    assert output.outcome["status"] == "ok", output.text("error") or output.text("stderr") or output.outcome
    return output.text("stdout").splitlines()


def lists(peer: Client) -> int:
    return sum(asked.kind == "tool_list" for asked in peer.calls)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kernel", "script", "script elsewhere"])
def test_python(fresh: Running, gateway: Client, name: str) -> None:
    if name == "kernel":
        output = gateway.run("first", ADD, timeout=60)
    else:
        script = fresh.workspace / ("script.py" if name == "script" else "folder/script.py")
        script.parent.mkdir(exist_ok=True)
        script.write_text(ADD)
        output = gateway.command("first", sys.executable, str(script), timeout=60)
    assert shown(output) == ["3.0"]
    assert sorted(path.name for path in (fresh.workspace / "mcptools" / "github").glob("*.py")) == [
        *("__init__.py", "add.py", "big.py", "echo.py", "slow.py")
    ]
    assert shown(gateway.run("second", ADD, timeout=60)) == ["3.0"]
    assert {asked.execution_id for asked in gateway.calls} == {"first", "second"}


@pytest.mark.slow
def test_a_kernel_in_an_environment_of_the_user(fresh: Running, gateway: Client) -> None:
    with_ipykernel(fresh.workspace / "envs" / "data")
    code = f"{ADD}\nimport sys; print(sys.prefix)"
    output = gateway.run("env", code, session="data", python_env="data", timeout=60)
    assert shown(output) == ["3.0", str(fresh.workspace / "envs" / "data")]


@pytest.mark.slow
def test_ways_of_importing(gateway: Client) -> None:
    code = """
from mcptools import github
import mcptools.github.echo
from mcptools.github import add, slow
print(sorted(github.TOOLS), mcptools.github.echo.run({"word": "x"}), add.run(add.Params(a=2, b=2)).sum)
import mcptools
try:
    mcptools.call("github", "is_not_allowed")
except mcptools.NotAllowed as error:
    print(error.server, error.tool)
"""
    assert shown(gateway.run("ways", code, timeout=60)) == [
        "['add', 'big', 'echo', 'slow'] {\"word\": \"x\"} 4.0",
        "github is_not_allowed",
    ]
    assert lists(gateway) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("import", "import { add } from 'mcptools/github'"),
        ("later", "const { add } = await import('mcptools/github')"),
        ("require", "const { add } = require('mcptools/github')"),
    ],
)
def test_node(gateway: Client, name: str, start: str) -> None:
    code = f"""{start}
{NODE_ADD}
import {{ call, NotAllowed }} from 'mcptools'
try {{ await call('github', 'is_not_allowed') }} catch (error) {{
  console.log(error instanceof NotAllowed, error.name)
}}
"""
    output = gateway.run(name, code, language="nodejs", timeout=60)
    assert shown(output) == ['{"sum":3}', "true NotAllowed"]
    assert lists(gateway) == 1


@pytest.mark.slow
def test_node_has_one_package_whatever_is_imported_first(fresh: Running, gateway: Client) -> None:
    code = """
import { ToolError, ToolRunnerError, servers } from 'mcptools'
import { add, echo } from 'mcptools/github'
console.log((await servers()).map(({ name, shared }) => `${name} ${shared}`).join())
try { await add({ a: NaN }) } catch (error) { console.log(error instanceof ToolRunnerError) }
"""
    assert shown(gateway.run("package", code, language="nodejs", timeout=60)) == ["github true", "true"]
    file = fresh.workspace / "module.mjs"
    file.write_text("import { add } from 'mcptools/github'\nexport const value = await add({ a: 1, b: 2 })")
    code = "import { value } from './module.mjs'; console.log(JSON.stringify(value))"
    assert shown(gateway.run("file", code, language="nodejs", timeout=60)) == ['{"sum":3}']


@pytest.mark.slow
def test_a_module_of_node_that_is_imported_by_a_file_is_loaded_first(fresh: Running, gateway: Client) -> None:
    (fresh.workspace / "module.cjs").write_text("exports.add = require('mcptools/github').add")
    code = f"const {{ add }} = require('./module.cjs')\n{NODE_ADD}"
    assert shown(gateway.run("cjs", code, language="nodejs", timeout=60)) == ['{"sum":3}']


def why(peer: Client, name: str, code: str, language: str = "python") -> str:
    return peer.run(name, code, language=language, timeout=60).text("error")


@pytest.mark.slow
def test_a_server_that_is_not_there(gateway: Client) -> None:
    words = "there is no MCP server 'gone' in this sandbox; registered are: none; no server 'gone' is shared"
    for name, code in (("import", "import mcptools.gone"), ("from", "from mcptools import gone")):
        assert f"ImportError: there are no functions of server 'gone': {words}" in why(gateway, name, code)
    for name, code in (("es", "import { a } from 'mcptools/gone'"), ("cjs", "require('mcptools/gone')")):
        assert f"there are no functions of server 'gone': {words}" in why(gateway, name, code, "nodejs")
    # One of no such name is not asked for.
    assert "must be a Python identifier" in why(
        gateway, "name", "import importlib; importlib.import_module('mcptools.a-b')"
    )
    asked = len(gateway.calls)
    assert "No module named 'mcptools._no'" in why(gateway, "own", "import mcptools._no")
    assert len(gateway.calls) == asked


@pytest.mark.slow
def test_a_server_that_comes_later_is_found(fresh: Running, gateway: Client) -> None:
    share(gateway, {})
    assert "ImportError" in why(gateway, "before", ADD)
    assert why(gateway, "before-node", "import { add } from 'mcptools/github'", "nodejs")
    share(gateway, {"github": TOOLS})
    assert shown(gateway.run("after", ADD, timeout=60)) == ["3.0"]
    code = f"import {{ add }} from 'mcptools/github'\n{NODE_ADD}"
    assert shown(gateway.run("after-node", code, language="nodejs", timeout=60)) == ['{"sum":3}']


@pytest.mark.slow
def test_functions_are_written_anew_when_the_schemas_are_others(tmp_path: Path) -> None:
    running = Running(tmp_path, limits={"MCP_LOADED_S": 0.0})
    try:
        peer = running.client()
        share(peer, {"github": TOOLS})
        made = running.workspace / "mcptools" / "github" / "__init__.py"
        command = (sys.executable, "-c", "import mcptools.github as g; print(len(g.TOOLS))")
        assert shown(peer.command("one", *command, timeout=60)) == ["4"]
        before = made.stat()
        assert shown(peer.command("same", *command, timeout=60)) == ["4"]
        assert made.stat().st_ino == before.st_ino
        share(peer, {"github": TOOLS[:2]})
        assert shown(peer.command("other", *command, timeout=60)) == ["2"]
        made.unlink()
        assert shown(peer.command("removed", *command, timeout=60)) == ["2"]
        assert lists(peer) == 4
        # What is there is used when no gateway is asked any more.
        share(peer, {})
        assert shown(peer.command("gone", *command, timeout=60)) == ["2"]
    finally:
        running.stop()


@pytest.mark.slow
def test_a_folder_of_a_server_of_the_sandbox_is_replaced_when_that_is_gone(fresh: Running, gateway: Client) -> None:
    code = "import mcptools.github as g; print(len(g.TOOLS))"
    assert shown(gateway.command("shared", sys.executable, "-c", code, timeout=60)) == ["4"]
    register(gateway, "github")
    assert shown(gateway.command("own", sys.executable, "-c", code, timeout=60)) == ["11"]
    gateway.ask("mcp_remove", name="github")
    assert shown(gateway.command("shared-again", sys.executable, "-c", code, timeout=60)) == ["4"]


@pytest.mark.slow
def test_a_registration_while_functions_of_that_name_are_written(fresh: Running, gateway: Client) -> None:
    # Whichever is first: the folder is the registered server's in the end.
    gateway.ask("command", execution_id="import", command=sys.executable, args=["-c", "import mcptools.github"])
    gateway.until(lambda: lists(gateway), PATIENCE, "the question")
    register(gateway, "github")
    gateway.until(lambda: gateway.ask("list")["executions"][-1]["state"] == "done", 60, "the end of the import")
    assert len(list((fresh.workspace / "mcptools" / "github").glob("*.py"))) == 12
    assert sorted(path.name for path in (fresh.workspace / "mcptools").glob(".*")) == []


@pytest.mark.slow
def test_many_imports_at_once_ask_once(gateway: Client) -> None:
    held: list[bytes] = []
    answer = gateway.answering

    def hold(asked: Asked) -> Any:
        if asked.kind == "tool_list":
            held.append(asked.call_id)
            return None
        return answer(asked)

    gateway.answering = hold
    program = "import mcptools.github as g; print(len(g.TOOLS))"
    for index in range(4):
        gateway.ask(
            "command", execution_id=f"at-once-{index}", command=sys.executable, args=["-c", program], attach=True
        )
    gateway.until(lambda: held, PATIENCE, "the question")
    first = next(asked.execution_id for asked in gateway.calls if asked.kind == "tool_list")
    # The one that asked ends; the others go on, in the name of another.
    gateway.ask("interrupt", execution_id=first)
    gateway.until(lambda: len(held) == 2, PATIENCE, "another question")
    gateway.give(held[1], {}, json.dumps({"tools": TOOLS}).encode())
    rest = [f"at-once-{index}" for index in range(4) if f"at-once-{index}" != first]
    assert [shown(gateway.finish(name, 60)) for name in rest] == [["4"]] * 3
    assert gateway.withdrawn == held[:1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("import mcptools.github", "python"),
        ("import { add } from 'mcptools/github'", "nodejs"),
        ("require('mcptools/github')", "nodejs"),
    ],
)
def test_an_import_that_is_interrupted_asks_no_more(gateway: Client, code: str, language: str) -> None:
    gateway.answering = lambda _: None
    gateway.start("import", code, language=language)
    gateway.until(lambda: gateway.calls, PATIENCE, "the question")
    gateway.ask("interrupt", execution_id="import")
    outcome = gateway.finish("import").outcome
    assert outcome is not None
    assert (outcome["status"], outcome["kernel_restarted"]) == ("interrupted", False)
    gateway.until(lambda: gateway.withdrawn, PATIENCE, "the withdrawal")


def test_why_there_are_no_functions_is_told(gateway: Client) -> None:
    gateway.answering = lambda _: problem("not_running", "it ended")
    assert "no functions of server 'github': it ended" in why(gateway, "ended", "import mcptools.github")
    gateway.answering = lambda _: ({}, b'{"tools":7}')
    assert "is no list of tools" in why(gateway, "odd", "import mcptools.github")


@pytest.mark.slow
def test_an_image_without_the_generator_says_so(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_MCP_PACKAGES=str(tmp_path / "nothing"))
    try:
        peer = running.client()
        share(peer, {"github": TOOLS})
        assert "this image has no datamodel_code_generator" in why(peer, "none", "import mcptools.github")
        code = "import mcptools; print(mcptools.call('github', 'add', {'a': 1, 'b': 2}))"
        assert shown(peer.run("call", code)) == ["{'sum': 3}"]
    finally:
        running.stop()


@pytest.mark.slow
def test_hostile_tools_become_no_code(fresh: Running) -> None:
    peer = fresh.client()
    words = 'a\nb"""\nimport os\n*/ }'
    share(peer, {"github": [{"name": words, "description": words, "inputSchema": {"type": "object", "title": words}}]})
    code = f"import mcptools.github as g; print(len(g.TOOLS), [*g.TOOLS.values()] == [{words!r}])"
    assert shown(peer.run("hostile", code, timeout=60)) == ["1 True"]
    code = "console.log(Object.keys(require('mcptools/github')).length)"
    assert shown(peer.run("hostile-node", code, language="nodejs", timeout=60)) == ["1"]


def test_so_many_imports_wait_at_most(gateway: Client) -> None:
    gateway.answering = lambda _: None
    code = f"""
import json, os, socket
link = socket.socket(socket.AF_UNIX)
link.connect(os.environ["SANDGLASS_MCP_SOCKET"])
for number in range({limits.MCP_CONNECTIONS + 1}):
    body = json.dumps({{"id": number, "op": "load", "server": "github"}}).encode()
    link.sendall(len(body).to_bytes(4, "big") + body)
file = link.makefile("rb")
answer = json.loads(file.read(int.from_bytes(file.read(4), "big")))
print(answer["id"], answer["error"]["kind"])
link.shutdown(socket.SHUT_RDWR)
"""
    assert shown(gateway.run("imports", code)) == [f"{limits.MCP_CONNECTIONS} too_many"]
    gateway.until(lambda: gateway.withdrawn, PATIENCE, "the withdrawal")
    assert len(gateway.calls) == 1
