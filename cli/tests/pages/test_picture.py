"""The picture of the README shows the commands of cli/picture, and asks no other site for anything."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "session.svg"


def shown() -> str:
    """Its text; the blanks that it has between words do not break."""
    texts = [element.text or "" for element in ElementTree.parse(PICTURE).iter() if element.tag.endswith("text")]
    return "\n".join(texts).replace("\xa0", " ")


def commands() -> list[str]:
    tree = ast.parse((ROOT / "picture").read_text())
    found = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMANDS"
    ]
    return list(ast.literal_eval(found[0]))


def test_it_shows_each_command_and_what_it_printed() -> None:
    text = shown()
    assert [command for command in commands() if command not in text] == []
    assert "sandglass: copied 1 file, 12 B" in text
    assert "sandglass: there was no sandbox demo: it was started with the installation's defaults" in text


def test_it_is_small_and_asks_no_other_site() -> None:
    content = PICTURE.read_text()
    assert len(content) < 60_000
    assert [place for place in re.findall(r"(?:url\(|href=)[\"']?([^\"')]*)", content) if place[0] != "#"] == []
    assert "<script" not in content
    assert "@font-face" not in content
    assert "(session.svg)" in (ROOT / "README.md").read_text()
