"""The source of functions that cells of the Node kernel define is what the code has, wherever it is sent."""

import json
import re

import pytest
from client import Client
from test_node import node, result

SOURCES = [
    "async function f(a) { return await a }",
    "async (a) => await (await a)",
    "async function f() { for await (const n of [1, 2]) await n; /* ) */ }",
    "async function* f() { yield await 1; yield* [await 2] }",
    "async () => { const { sep } = await import('node:path'); return sep }",
    "() => import('node:path')",
    "() => import.meta.dirname + import.meta['url']",
    "class C extends Object { #p = 1; static async s() { return await 1 } m = async () => await this.#p }",
    "async () => { const inner = async () => { await null }; await inner() // ends in a comment\n}",
    "async () => await `a ${await `b ${await 1}`} )) c`",
    "async () => await /\\)\\)/.exec('))')",
    "async () => {\n  await null;\n\n  return (await 1)\n}",
    "function f() { let a = 1; const b = 2; var c = 3; return a + b + c }",
    "async () => await {\u00e9: '\U0001f600 __sandglass.wait(( ))'}",
    "async () => await 1 + await 2",
    "async () => { await\n  null }",
    "async () => { try { await 0 } finally { await 1 } }",
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("top", ["", "await null\n"], ids=["plain", "awaiting"])
def test_a_function_is_told_as_it_was_written(client: Client, name: str, source: str, top: str) -> None:
    how = (
        "f.toString(), String(f), `${f}`, f + '', Function.prototype.toString.call(f), Reflect.apply(f.toString, f, [])"
    )
    code = f"{top}const f = {source}\nfor (const text of [{how}]) console.log(JSON.stringify(text))"
    output = node(client, name, code)
    told = [json.loads(line) for line in output.text().splitlines()]
    assert told == [source] * 6, output.text("error")


def test_declarations_and_methods_too(client: Client, name: str) -> None:
    code = """
async function declared() { await 1 }
class Named { async method() { await 2 } get g() { return async () => { await 3 } } }
const { method, g } = Named.prototype
;[declared, method, g, Object.getOwnPropertyDescriptor(Named.prototype, 'g').get, Named].join('|')
"""
    assert result(node(client, name, f"String(eval({json.dumps(code)}))")).count("await") == 6
    assert result(node(client, name + "2", code)).strip("'") == (
        "async function declared() { await 1 }|async method() { await 2 }|async () => { await 3 }|"
        "get g() { return async () => { await 3 } }|"
        "class Named { async method() { await 2 } get g() { return async () => { await 3 } } }"
    )


F = (
    "async (n) => { for await (const m of [n]) n += await m;"
    " const { sep } = await import('node:path'); return n + sep }"
)


@pytest.mark.parametrize(
    "elsewhere",
    [
        "new Promise((done, fail) => { const { Worker } = require('node:worker_threads');"
        " const w = new Worker(`const { parentPort } = require('worker_threads'); (${f})(1)"
        ".then(v => parentPort.postMessage(v))`, { eval: true }); w.on('message', done); w.on('error', fail) })",
        "require('node:vm').runInNewContext(`(${f})`, {}, { importModuleDynamically:"
        " require('node:vm').constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })(1)",
        "eval(`(${f})`)(1)",
        "new Function(`return ${f}`)()(1)",
        "require('node:child_process').execFileSync(process.execPath,"
        " ['-e', `(${f})(1).then(v => process.stdout.write(v))`]).toString()",
        "(fs => { fs.writeFileSync('sent.mjs', `export default ${f}`);"
        " return import('./sent.mjs').then(m => m.default(1)) })(require('node:fs'))",
    ],
    ids=["worker", "vm", "eval", "Function", "process", "module"],
)
def test_its_text_runs_elsewhere(client: Client, name: str, elsewhere: str) -> None:
    assert result(node(client, name, f"const f = {F}\nawait {elsewhere}")) == "'2/'"


def test_it_looks_like_nodes_own(client: Client, name: str) -> None:
    code = """
const text = Function.prototype.toString
;[text.name, text.length, String(text), Object.keys(Function.prototype).length, text.toString === text,
  (() => { try { text.call(1) } catch (e) { return e.name + ': ' + e.message } })(), String(Math.max)].join('|')
"""
    assert result(node(client, name, code)).strip("\"'") == (
        "toString|0|function toString() { [native code] }|0|true|"
        "TypeError: Function.prototype.toString requires that 'this' be a Function|function max() { [native code] }"
    )


@pytest.mark.parametrize(
    "code",
    [
        "for await (const x of 5);",
        "for await (const x of {});",
        "for await (const x of null);",
        "import.meta.nothing()",
        "await import.meta.nothing.there",
        "await null.x",
        "await (void 0)()",
        "(async () => { await undefined.x })()",
        "const f = async () => { (await 1)() }; await f()",
        "await (await 1)()",
        "throw new Error(async () => { await 1 })",
    ],
)
def test_errors_do_not_name_what_was_rewritten(client: Client, name: str, code: str) -> None:
    error = node(client, name, code).only("error")
    assert "sandglass" not in error.json["message"] + error.blob.decode()


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("async function f() {\n  await null; await 1; throw new Error('here')\n}\nawait f()", "2:30"),
        ("const f = async () => { await (await 1); for await (const n of [1]) null.x }\nawait f()", "1:74"),
        ("await null\nconst a = await 1, b = await 2; nope", "2:33"),
        ("await [await 1].map(async (x) => { throw new Error(await x) })[0]", "1:42"),
        ("const s = 'é\U0001f600'; await 1; import.meta.dirname; throw new Error(s)", "1:54"),
    ],
)
def test_places_are_those_of_the_source(client: Client, name: str, code: str, place: str) -> None:
    told = node(client, name, code).only("error").blob.decode()
    match = re.search(r"cell-\d+:(\d+:\d+)", told[told.index("    at ") :])
    assert match is not None
    assert match[1] == place


def test_what_awaits_in_functions_can_still_be_interrupted(client: Client, name: str) -> None:
    loop = (
        "async function turns() { for (;;) { await new Promise(r => setTimeout(r, 5)); globalThis.turn = Date.now() } }"
    )
    output = node(client, name, f"{loop}\nawait turns()", timeout_s=1)
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["kernel_restarted"]) == ("timeout", False)
    assert (
        result(node(client, name + "2", "const at = turn; await new Promise(r => setTimeout(r, 50)); turn - at")) == "0"
    )
