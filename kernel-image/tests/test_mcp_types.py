"""What the generator writes for JavaScript, with hostile tools: source code and types that Node can read."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sandglass_supervisor.kernels.node_process import find_node
from sandglass_supervisor.mcp_api import folders, names
from sandglass_supervisor.mcp_api.modules import Tool
from sandglass_supervisor.mcp_api.node_modules import export_names, node_files
from sandglass_supervisor.mcp_api.typescript import declarations

# Reads each text as TypeScript, and answers which do not parse.
READER = """
const { stripTypeScriptTypes } = require('node:module')
const vm = require('node:vm')
process.removeAllListeners('warning')
const wrong = []
for (const text of JSON.parse(require('node:fs').readFileSync(0, 'utf8'))) {
  try { stripTypeScriptTypes(text) } catch (error) { wrong.push([error.message, text]) }
}
console.log(JSON.stringify(wrong))
"""
HOSTILE = [
    "*/ export const stolen = 1; /*",
    "/* // `${1}` \\",
    "\u2028*/\u2029 x \r\n*/",
    "'\"; process.exit(1) //",
    "\u202e\x1b[31m\0",
    "\ud800",
    "</script>",
    "@deprecated\n@ts-nocheck",
    "**//",
    "new\nline",
]


def unreadable(*texts: str) -> Any:
    done = subprocess.run(
        [find_node(), "--no-warnings", "-e", READER],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def tools(*given: Tool) -> dict[str, Tool]:
    return dict(zip(names.module_names(tool.name for tool in given), given, strict=True))


def evaluated(folder: Path, server: str, code: str) -> Any:
    """What code of a module finds that imports the server's; the folder is a workspace."""
    (folder / "code.mjs").write_text(f"import * as server from 'mcptools/{server}'\n{code}")
    done = subprocess.run(
        [find_node(), "code.mjs"], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def typed(schema: Any, *, closed: bool = False) -> str:
    text, why = declarations("T", schema, closed)
    assert text is not None, why
    assert unreadable(text) == []
    return text.removeprefix("type T = ").removesuffix(";\n")


def test_the_reader_sees_what_is_wrong() -> None:
    """The control: what the tests below would say if a text broke out."""
    assert unreadable("declare function f(): void;", "type A = { a: string };") == []
    assert len(unreadable("declare function delete(): void;", "/** */ x */", 'type A = {"a: string};')) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({}, "unknown"),
        (True, None),
        ({"type": "string"}, "string"),
        ({"type": ["string", "null"]}, "(string | null)"),
        ({"type": "integer", "nullable": True}, "(number | null)"),
        ({"type": "array"}, "unknown[]"),
        ({"type": "array", "items": {"type": ["string", "number"]}}, "(string | number)[]"),
        ({"enum": ["a", 'b"*/', 1, None, True]}, '("a" | "b\\"*/" | 1 | null | true)'),
        ({"const": -1}, "-1"),
        ({"enum": [10**400]}, "number"),
        ({"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "(string | boolean)"),
        ({"oneOf": [{"type": "string"}, {}]}, "unknown"),
        (
            {"allOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object"}]},
            "type TT2 = {\n  a?: unknown;\n  [key: string]: unknown;\n};\ntype T = (TT2 & { [key: string]: unknown })",
        ),
        ({"type": "object"}, "{ [key: string]: unknown }"),
        ({"type": "object", "additionalProperties": False}, "{ [key: string]: never }"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "{ [key: string]: string }"),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string", "description": "what", "default": 1}, "b-c": {"type": "null"}},
                "required": ["a"],
                "additionalProperties": False,
            },
            '{\n  /**\n   * | what\n   * | Default: 1\n   */\n  a: string;\n  "b-c"?: null;\n}',
        ),
        ({"not": {"type": "string"}}, "unknown"),
        ({"type": "tuple"}, "unknown"),
    ],
)
def test_types(schema: Any, shown: str | None) -> None:
    if shown is None:
        assert declarations("T", schema, False)[0] is None
    else:
        assert typed(schema) == shown


def test_references() -> None:
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}
    text = typed({"$ref": "#/$defs/tree", "$defs": {"tree": tree}})
    assert text.startswith("TTree;\ntype TTree = {\n  kids?: TTree[];")
    for schema, why in (
        ({"$ref": "http://example.com/x"}, "a reference leads out of the schema"),
        ({"$ref": "#/$defs/no"}, "a reference leads to what is not there"),
        ({"anyOf": [{"$ref": "#"}, {"type": "string"}]}, "a part of its schema is defined by itself"),
    ):
        assert declarations("T", schema, False) == (None, why)


def test_what_is_too_deep_or_too_large_has_no_types() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"type": "array", "items": deep}
    wide = {"type": "object", "properties": {f"p{n}": {} for n in range(2000)}}
    for schema in (deep, wide, {"enum": ["x" * 200_000]}):
        assert declarations("T", schema, False)[0] is None
    files = node_files("one", tools(Tool("a", "", {"Params": deep}), Tool("b", "", {"Params": {"type": "object"}})))
    assert "export declare function a(args?: { [key: string]: unknown }, options?" in files["index.d.ts"]
    assert "type Arguments" in files["index.d.ts"]
    assert unreadable(files["index.d.ts"]) == []


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    given = []
    for number, words in enumerate(HOSTILE):
        properties = {
            words: {"type": "string", "description": words, "default": words},
            f"p{number}": {"enum": [words]},
        }
        schema = {
            "type": "object",
            "description": words,
            "properties": {**properties, "r": {"$ref": f"#/$defs/{number}"}},
            "required": [words],
            "$defs": {str(number): {"type": "object", "properties": {"a": {"const": words}}}},
            "format": words,
        }
        given.append(Tool(words, words, {"Params": schema, "Result": {**schema, "title": words}}))
    files = node_files("one", tools(*given))
    assert unreadable(files["index.d.ts"]) == []
    # Nothing but what was made: a word that broke out would be left when the types are gone.
    bare = subprocess.run(
        [find_node(), "--no-warnings", "-e", STRIP],
        input=files["index.d.ts"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(bare.stdout) == ""
    assert files["index.js"].isascii()
    folders.write(tmp_path / "node_modules" / "mcptools", "one", files, folders.NODE)
    found = evaluated(tmp_path, "one", "console.log(JSON.stringify(Object.keys(server)))")
    assert {name for name in found if name not in ("default", "module.exports")} == set(tools(*given))


STRIP = """
const { stripTypeScriptTypes } = require('node:module')
const text = stripTypeScriptTypes(require('node:fs').readFileSync(0, 'utf8'))
console.log(JSON.stringify(text.replace(/\\/\\*[^]*?\\*\\/|export \\{ *\\};?|\\s|;/g, '')))
"""
WORDS = (
    "delete then default __proto__ constructor class new enum await string any let delete_ arguments undefined async of"
)


def test_words_of_the_language_as_names_of_tools(tmp_path: Path) -> None:
    given = tools(*(Tool(word, "", {"Params": {"type": "object"}, "Result": {}}) for word in WORDS.split()))
    files = node_files("one", given)
    assert unreadable(files["index.d.ts"]) == []
    folders.write(tmp_path / "node_modules" / "mcptools", "one", files, folders.NODE)
    # A module with an export `then` would never be imported this way.
    code = """
const { default: whole } = await import('mcptools/one')
console.log(JSON.stringify([Object.keys(server), Object.keys(whole)]))
"""
    imported, required = evaluated(tmp_path, "one", code)
    wanted = {name for export in export_names(list(given)) for name in export if name is not None}
    assert set(imported) - {"default", "module.exports"} == wanted == set(required)
    assert {"delete", "delete__", "delete_", "then_", "default_", "__proto___", "constructor", "class_", "of"} <= wanted
    assert not {"then", "default", "__proto__"} & wanted


def test_the_package_itself(tmp_path: Path) -> None:
    folders.write(tmp_path / "node_modules" / "mcptools", "one", node_files("one", {}), folders.NODE)
    package = tmp_path / "node_modules" / "mcptools"
    assert unreadable((package / "index.d.ts").read_text(), (package / "one" / "index.d.ts").read_text()) == []
    code = """
import * as mcptools from 'mcptools'
const why = async (work) => { try { await work() } catch (error) { return `${error.name}: ${error.message}` } }
console.log(JSON.stringify([Object.keys(mcptools).sort(), await why(() => mcptools.servers())]))
"""
    exported, why = evaluated(tmp_path, "one", code)
    declared = (package / "index.d.ts").read_text()
    for name in set(exported) - {"default", "module.exports"}:
        assert f"export declare function {name}(" in declared or f"export declare class {name} " in declared
    assert why.startswith("Unreachable: SANDGLASS_MCP_SOCKET is not set")


def test_parts_of_a_result(tmp_path: Path) -> None:
    folders.write(tmp_path / "node_modules" / "mcptools", "one", node_files("one", {}), folders.NODE)
    code = """
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
const { textOf, valueOf } = createRequire(import.meta.url)('./node_modules/mcptools/values.js')
const text = (words) => ({ type: 'text', text: words })
const picture = { type: 'image', data: 'AAEC', mimeType: 'image/png' }
const shown = (content, more) => inspect(valueOf({ content, ...more }), { breakLength: Infinity })
const media = valueOf({ content: [picture] })
console.log(JSON.stringify([
  shown([]), shown([text('')]), shown([text('{"a": 1}')]), shown([text('NaN')]), shown([text('1'), text('x')]),
  shown([text('x')], { structuredContent: { b: 2 } }), shown([picture]), shown([{ ...picture, data: 'no!' }]),
  shown([{ type: 'resource', resource: { blob: 'AA==' } }]), shown([{ type: 'resource', resource: { text: '[2]' } }]),
  shown([{ type: 'resource_link', uri: 'x:y' }]), shown('none'), shown([null, 5]),
  [media instanceof Uint8Array, media.type, [...media], media.slice(1).constructor.name],
  textOf({ content: [text('a'), picture, text('b')] }),
]))
"""
    assert evaluated(tmp_path, "one", code) == [
        *("null", "''", "{ a: 1 }", "'NaN'", "[ 1, 'x' ]", "{ b: 2 }", "<image/png, 3 bytes>"),
        "{ type: 'image', data: 'no!', mimeType: 'image/png' }",
        *("<application/octet-stream, 1 bytes>", "[ 2 ]", "{ type: 'resource_link', uri: 'x:y' }", "null", "null"),
        [True, "image/png", [0, 1, 2], "Uint8Array"],
        "a\nb",
    ]
