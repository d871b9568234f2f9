"""The page for agents names tools and versions that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sandglass.version import VERSION

ROOT = Path(__file__).parents[3]
PLUGIN = ROOT / "cli/skills"


def test_the_plugin_has_the_packages_version_and_starts_the_bridge() -> None:
    assert json.loads((PLUGIN / ".claude-plugin/plugin.json").read_text())["version"] == VERSION
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["sandglass"]
    assert (server["command"], server["args"]) == ("sandglass", ["mcp", "--tools", "all"])


def test_the_skill_names_tools_that_there_are_and_is_one_page() -> None:
    skill = next(PLUGIN.rglob("SKILL.*")).read_text()
    tools = set(re.findall(r"`(sandbox_\w+)`", (ROOT / "README.md").read_text()))
    named = set(re.findall(r"sandbox_\w+", skill))
    assert len(tools) == 15
    assert named <= tools
    pages = (ROOT / "docs/mcp-servers.md").read_text()
    of_servers = set(re.findall(r"`(mcp_\w+)`", skill))
    assert len(of_servers) == 3
    assert of_servers <= set(re.findall(r"^\| `(mcp_\w+)` \|", pages, re.MULTILINE))
    assert len(skill) < 4000
    assert skill.startswith("---\nname: sandglass\ndescription: ")


def test_the_release_has_one_version() -> None:
    assert f"<version>{VERSION}" in (ROOT / "pom.xml").read_text()
