"""What a caller is told to do: a hint, bounded, and no word of any contract's tools."""

import ast
import re
from pathlib import Path

import sandglass_supervisor
from sandglass_supervisor.execution import hint
from sandglass_supervisor.execution.outcome import ENV_ERROR, Outcome
from sandglass_supervisor.limits import MESSAGE_CHARS

SOURCE = Path(str(sandglass_supervisor.__file__)).parent
# The greeting has a field of the name that is left out here.
TOOL = re.compile(r"\bsandbox_(?!uid\b)[a-z]")


def strings(source: str) -> list[str]:
    """All of a program's texts, the parts of those with values in them too."""
    nodes = ast.walk(ast.parse(source))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_a_command_is_whole_or_none() -> None:
    assert hint.command("make", "x" * MESSAGE_CHARS) == hint.Hint("make", line="x" * MESSAGE_CHARS)
    assert hint.command("make", "x" * (MESSAGE_CHARS + 1)) is None


def test_an_outcome_without_a_hint_has_no_such_field() -> None:
    assert "hint" not in Outcome(ENV_ERROR, "No.").to_json(1, truncated=False)
    ended = Outcome(ENV_ERROR, "No.", hint=hint.allow_hosts(["a"])).to_json(1, truncated=False)
    assert ended["hint"] == {"kind": "allow_hosts", "hosts": ("a",)}


def test_no_text_names_a_tool() -> None:
    """The pod does not know in which contract's words its callers are told."""
    assert TOOL.search(strings("f'call sandbox_start for {1}'")[0]), "this test would see nothing"
    files = [file for kind in ("py", "js", "cjs", "mjs") for file in SOURCE.rglob(f"*.{kind}")]
    assert len(files) > 60
    naming = [
        (file.name, text)
        for file in files
        for text in (strings(file.read_text()) if file.suffix == ".py" else [file.read_text()])
        if TOOL.search(text)
    ]
    assert naming == []
