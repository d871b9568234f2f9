"""The generator as the supervisor starts it: folders, modules, hostile texts, and code that calls what it wrote."""

import ast
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_socket
import pytest
from mcp_generating import code, generated, tool
from mcp_socket import Supervisor
from test_mcp_schemas import of

from sandglass_supervisor.mcp_api import bounds, texts

ISSUES = of(
    {
        "issues": {"type": "array", "items": of({"id": {"type": "integer"}}, required=["id"])},
        "next": {"type": ["string", "null"]},
    },
    required=["issues"],
)
EVIL = "print('evil'); open('/tmp/evil', 'w')"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a server whose tools the fake supervisor has."""
    workspace = tmp_path_factory.mktemp("w")
    echo = of(
        {"a": {"type": "integer"}, "from": {"type": "string"}, "in": of({"x": {"type": ["string", "null"]}, "y": {}})},
        required=["a"],
    )
    generated(
        workspace,
        [
            tool("echo", echo, output_schema=echo, description="Gives back what it gets."),
            tool("several"),
            tool("picture"),
            tool("fails"),
            tool("kind_timeout"),
            tool("json", {}, output_schema=of({"a": {"type": "array"}}, required=["a"])),
            tool("text", {}, output_schema=ISSUES),
            tool("wait", {"type": "object"}),
        ],
    )
    return workspace


@pytest.fixture(scope="module")
def socket() -> Iterator[tuple[Path, Supervisor]]:
    with tempfile.TemporaryDirectory(prefix="sg-") as folder, mcp_socket.listening(Path(folder) / "s") as supervisor:
        yield Path(folder) / "s", supervisor


def test_run(workspace: Path, socket: tuple[Path, Supervisor]) -> None:
    text = """
from mcptools.demo.echo import Params, Result, run
result = run(Params(a=1, from_="x"))
assert isinstance(result, Result), result
print(result.a, result.from_, run({"a": 2, "from": "y"}).from_)
"""
    assert code(workspace, text, socket[0]) == "1 x y"
    assert [request["arguments"] for request in socket[1].requests[-2:]] == [
        {"a": 1, "from": "x"},
        {"a": 2, "from": "y"},
    ]


@pytest.mark.slow
def test_none_for_what_is_optional_is_not_sent(workspace: Path, socket: tuple[Path, Supervisor]) -> None:
    text = """
from mcptools.demo.echo import Params, run
run(Params(a=1, from_=None, **{"in": {"x": None, "y": [None], "z": None}}))
"""
    code(workspace, text, socket[0])
    assert socket[1].requests[-1]["arguments"] == {"a": 1, "in": {"y": [None], "z": None}}


@pytest.mark.slow
def test_run_async_a_hundred_at_once(workspace: Path, socket: tuple[Path, Supervisor]) -> None:
    text = """
import asyncio
from mcptools.demo import echo, wait
async def main():
    texts = wait.run_async(wait.Params(s=0.01))
    results = [echo.run_async(echo.Params(a=n)) for n in range(100)]
    return await asyncio.gather(texts, *results)
text, *results = asyncio.run(main())
print(repr(text), sum(result.a for result in results))
"""
    assert code(workspace, text, socket[0]) == "'' 4950"


@pytest.mark.slow
def test_text_is_never_parsed(workspace: Path, socket: tuple[Path, Supervisor]) -> None:
    text = """
from mcptools.demo import picture, several
print(repr(several.run(several.Params())), repr(picture.run(picture.Params())))
"""
    assert code(workspace, text, socket[0]) == r"'one\n2' ''"


@pytest.mark.slow
def test_a_result_as_text_alone_is_read_if_the_tool_has_an_output_schema(
    workspace: Path, socket: tuple[Path, Supervisor]
) -> None:
    assert code(workspace, "from mcptools.demo.json import *; print(run(Params()).a)", socket[0]) == "[1]"


@pytest.mark.slow
def test_failures(workspace: Path, socket: tuple[Path, Supervisor]) -> None:
    text = """
import mcptools
from mcptools.demo import fails, kind_timeout, text
for module in (fails, kind_timeout, text):
    try:
        module.run(module.Params())
    except mcptools.ToolRunnerError as error:
        print(type(error).__name__, error.tool, str(error).splitlines()[0])
"""
    assert code(workspace, text, socket[0]).splitlines() == [
        "ToolError fails it broke",
        "ToolTimeout kind_timeout message of timeout",
        "ToolRunnerError text demo.text answered what its own output schema forbids: 1 validation error for Result",
    ]


@pytest.mark.slow
def test_a_wrong_parameter_reaches_no_server(workspace: Path) -> None:
    text = """
from mcptools.demo.echo import Params
for wrong in ({"a": "x"}, {}, {"a": 1, "other": 1}):
    try:
        Params(**wrong)
    except ValueError as error:
        print(error.errors()[0]["type"])
"""
    assert code(workspace, text).split() == ["int_parsing", "missing", "extra_forbidden"]


def test_without_pydantic_the_message_says_what_to_do(workspace: Path) -> None:
    text = """
import sys
sys.modules["pydantic"] = None
try:
    import mcptools.demo
except ImportError as error:
    print(error)
import mcptools
print(mcptools.call)
"""
    assert code(workspace, text).startswith("this Python has no pydantic")


def test_the_package_needs_the_standard_library_alone(workspace: Path) -> None:
    text = """
import mcptools, sys
print([name for name in sys.modules if name.split(".")[0] in ("pydantic", "anyio", "mcp", "typing_extensions")])
"""
    assert code(workspace, text) == "[]"


# What a server may send as the name, description or schema of a tool, and would be code if it were put in as it is.
HOSTILE = [
    f'"""\n{EVIL}\n"""',
    f"'''\n{EVIL}\n'''",
    f'\\"""\n{EVIL}\n"""',
    f'\\\\"""\n{EVIL}\n"""',
    f'"\n{EVIL}\n"',
    f"'\n{EVIL}\n'",
    f"\\\n{EVIL}",
    f"x\r{EVIL}",
    f"x\u2028{EVIL}",
    f"x\x0c{EVIL}",
    f"{{{EVIL}}}",
    f"\N{RIGHT-TO-LEFT OVERRIDE}\x00\x1b[2J\ud800\N{ZERO WIDTH SPACE}\U000e0041{EVIL}",
    '"' * 100,
    "\\" * 101,
    '""',
    "\\",
]


def hostile_tools() -> list[dict[str, Any]]:
    tools = []
    for number, text in enumerate(HOSTILE):
        inner = {
            "type": "string",
            "description": text,
            "title": text,
            "default": text,
            "pattern": text,
            "format": text,
            "$comment": text,
            "examples": [text],
        }
        schema = of(
            {text: inner, f"e{number}": {"enum": [text], "description": text}, "o": of({text: {"const": text}})},
            required=[text],
            title=text,
            description=text,
            **{"$defs": {text: of({"a": inner})}, "$id": text},
        )
        schema["properties"]["r"] = {"$ref": f"#/$defs/{text.replace('~', '~0').replace('/', '~1')}"}
        tools.append(tool(f"{number}{text}"[:256], schema, description=text, output_schema=schema, title=text))
    return tools


@pytest.mark.slow
def test_texts_of_a_server_are_never_code(tmp_path: Path) -> None:
    tools = hostile_tools()
    answer = generated(tmp_path, tools)
    assert [made["name"] for made in answer["tools"]] == [made["name"] for made in tools]
    folder = tmp_path / "mcptools" / "demo"
    sources = {made["module"]: (folder / f"{made['module']}.py").read_text() for made in answer["tools"]}
    sources["__init__"] = (folder / "__init__.py").read_text()
    for source in sources.values():
        assert all(c.isprintable() or c == "\n" for c in source)
        called = {ast.unparse(node.func) for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)}
        assert called <= {"Field", "ConfigDict", "constr", "_typed.run", "_typed.run_async", "ImportError"} | {
            name for name in called if name.endswith(".model_rebuild")
        }
        for line in (ast.get_docstring(ast.parse(source), clean=False) or "").splitlines():
            assert "evil'" not in line or line.startswith(("    | ", "Tool '"))
    text = "import importlib, mcptools.demo as d\nfor name in d.TOOLS: importlib.import_module(f'mcptools.demo.{name}')"
    assert code(tmp_path, text) == ""
    # The tools are called by their own names all the same.
    listed = code(tmp_path, "import json, mcptools.demo as d; print(json.dumps(list(d.TOOLS.values())))")
    assert json.loads(listed) == [made["name"] for made in tools]
    # Most are typed all the same.
    untyped = [source for source in sources.values() if 'model_config = ConfigDict(extra="allow")' in source]
    assert len(untyped) < len(HOSTILE) / 2


def test_the_same_texts_put_in_as_they_are_would_be_code() -> None:
    """The control of the test above."""
    obeyed = 0
    for text in HOSTILE:
        for template in ('"""{}"""', "'''{}'''", "name = '{}'", 'name = "{}"', "# {}", "f'{}'"):
            try:
                tree = ast.parse(template.format(text))
            except (SyntaxError, ValueError):
                continue
            obeyed += any(isinstance(node, ast.Call) for node in ast.walk(tree))
    assert obeyed >= 8


@pytest.mark.parametrize("text", HOSTILE)
def test_docstrings_and_literals_mean_their_texts(text: str) -> None:
    assert ast.literal_eval(texts.literal(text)) == text
    cleaned = texts.cleaned(text, 1000)
    assert ast.literal_eval(texts.docstring(cleaned)).removesuffix("\n") == cleaned
    assert all(c.isprintable() or c == "\n" for c in cleaned)


@pytest.mark.slow
def test_long_descriptions_are_cut(tmp_path: Path) -> None:
    schema = of({"a": {"type": "string", "description": "y" * 100_000}})
    generated(tmp_path, [tool("long", schema, description="x" * 1_000_000)])
    source = (tmp_path / "mcptools/demo/long.py").read_text()
    assert "x" * bounds.DESCRIPTION_CHARS + " [... cut]" in source
    assert len(source) < 2 * bounds.DESCRIPTION_CHARS


@pytest.mark.slow
def test_settings_in_the_workspace_are_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.datamodel-codegen]\nbase-class = "antigravity.Evil"\n[tool.black\n')
    (tmp_path / "sandglass_supervisor").mkdir()
    (tmp_path / "pydantic.py").write_text(EVIL)
    generated(tmp_path, [tool("a", of({"a": {"type": "integer"}}))])
    assert "antigravity" not in (tmp_path / "mcptools/demo/a.py").read_text()
