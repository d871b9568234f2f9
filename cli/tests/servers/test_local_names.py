"""Which names go in or out of a sandbox, and which are one for a file system."""

from __future__ import annotations

import pytest

from sandglass.core.copies import downloads
from sandglass.core.facts import Entry
from sandglass.core.local_names import folded, is_apart, is_hidden, is_odd, is_settings

APART = [
    ".git/config", ".git", "sub/.git/hooks/x", ".GIT/config", ".Git", ".g\u200cit/config", "\uff0egit/x",
    ".git./x", ".git /x",
    ".env", "a/.env", ".ENV", ".env.local", ".envrc", ".npmrc", ".netrc", "_netrc", ".pypirc", ".ssh/config", ".SSH/x",
    ".aws/credentials", ".kube/config", ".git-credentials", "key.pem", "a/KEY.PEM", "id_rsa", "keys/id_ed25519.pub",
]  # fmt: skip
HIDDEN = [".claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".pre-commit-config.yaml", "a/.x/b", "\u200b.x"]


@pytest.mark.parametrize("path", APART)
def test_git_and_secrets_are_kept_apart(path: str) -> None:
    assert is_apart(path)


@pytest.mark.parametrize("path", HIDDEN)
def test_settings_of_programs_are_hidden(path: str) -> None:
    assert is_hidden(path)
    assert not is_apart(path)


@pytest.mark.parametrize("path", ["git/config", "a.env", "env", "pem", "id_maps/a", "grid_x", "a/b", "."])
def test_usual_names_are_neither(path: str) -> None:
    assert not is_apart(path)
    assert not is_hidden(path)
    assert not is_odd(path, windows=False)


def test_one_name_where_case_forms_and_invisible_letters_do_not_count() -> None:
    assert len({folded(name) for name in ("README", "readme", "Re\u200badme", "\uff32EADME")}) == 1
    assert folded("caf\u00e9") == folded("CAFE\u0301")
    assert folded("straße") == folded("STRASSE")
    assert folded("a") != folded("b")


def test_settings_of_windows_and_macos_count_below_a_home_folder_alone() -> None:
    assert is_settings("AppData/Roaming/x")
    assert is_settings("Library/LaunchAgents/x")
    assert is_settings(".bashrc")
    assert not is_settings("books/library/x")


@pytest.mark.parametrize(
    "name",
    ["con", "NUL.txt", "a/aux", "com1", "LPT9.log", "COM¹", "CONIN$", "a:b", "f:stream", "C:/x", "end.", "end ", "x /y",
     "VSCODE~1/tasks.json", "GIT~1", "a?b", "a|b"],
)  # fmt: skip
def test_windows_takes_names_for_something_else(name: str) -> None:
    assert is_odd(name, windows=True)
    assert not is_odd(name, windows=False)


@pytest.mark.parametrize("name", ["a\\b", "a\nb", "a\x1b[2Jb", "a\x7f", "a\x9bb", "a\udcffb", "a\u2028b"])
@pytest.mark.parametrize("windows", [True, False])
def test_names_that_are_odd_everywhere(name: str, windows: bool) -> None:
    assert is_odd(name, windows)


def test_an_odd_name_leaves_out_that_entry_alone() -> None:
    entries = [Entry(path, kind, 1, "") for path, kind in (("a\\b", "file"), ("c\nd", "folder"), ("ok", "file"))]
    found = downloads("d", entries)
    assert [one.target for one in found.files] == ["ok"]
    assert (found.folders, found.odd) == ((), ("a\\b", "c\nd"))
    assert downloads("", [Entry("aux", "file", 1, "")], windows=True).odd == ("aux",)
