"""Where MCP servers of this machine are looked for, and what the user is told of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sandglass.bridge import discovery, server_files
from sandglass.bridge.discovery import Place, discover, places
from sandglass.bridge.placeholders import Variables
from tests.commands import Run

KEY = "value-of-a-key-1234"
NPX = {"command": "npx", "args": ["-y", "x"]}


def put(place: Path, **servers: Any) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"mcpServers": servers}))
    return place


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Path(os.environ["HOME"])


def test_files_are_looked_for_in_the_order_of_the_original(home: Path, tmp_path: Path) -> None:
    found = places(home, tmp_path, {"APPDATA": str(tmp_path / "appdata")})
    assert [each.name.replace(str(home), "~").replace(str(tmp_path), ".") for each in found] == [
        "~/.claude.json",
        "~/Library/Application Support/Claude Code/claude_code_config.json",
        "~/Library/Application Support/Claude/claude_code_config.json",
        "~/Library/Application Support/Claude/claude_desktop_config.json",
        "~/.config/Claude/claude_desktop_config.json",
        "./appdata/Claude/claude_desktop_config.json",
        "./claude_code_config.json",
        "./claude_desktop_config.json",
        "~/.claude.json (for .)",
        "~/.config/mcp/servers",
        "~/Library/Application Support/Claude Code/mcp/servers",
        "~/Library/Application Support/Claude/mcp/servers",
        "./mcp-servers",
    ]
    assert [each.is_folder for each in found] == [False] * 9 + [True] * 4
    # What lies in the current folder may have come with a repository.
    assert [each.is_trusted for each in found] == [True] * 6 + [False] * 2 + [True] * 4 + [False]
    assert all(each.is_trusted for each in places(home, home, {}))
    assert [str(each.path) for each in places(None, Path("f"), {})] == [
        "f/claude_code_config.json", "f/claude_desktop_config.json", "f/mcp-servers"
    ]  # fmt: skip


def test_a_later_file_counts_more_and_a_folder_never(home: Path, tmp_path: Path) -> None:
    put(home / ".claude.json", a=NPX, b=NPX, c=NPX)
    put(tmp_path / "claude_desktop_config.json", b={"command": "uvx"})
    put(home / ".config/mcp/servers/z.json", c={"command": "uvx"}, d={"command": "uvx"})
    put(home / ".config/mcp/servers/y.json", d=NPX)
    put(home / ".config/mcp/servers/y.txt", e=NPX)
    put(tmp_path / "mcp-servers/x.json", d={"command": "uvx"}, f=NPX)
    found = discover(places(home, tmp_path, {}), Variables())
    shown = [(each.entry.name, each.fields["command"], Path(each.entry.file.place).name) for each in found.servers]
    assert shown == [
        ("a", "npx", ".claude.json"),
        ("b", "uvx", "claude_desktop_config.json"),
        ("c", "npx", ".claude.json"),
        ("d", "npx", "y.json"),
        ("f", "npx", "x.json"),
    ]
    assert found.notes == (
        f"MCP server 'b' of {tmp_path}/claude_desktop_config.json takes the place of that of {home}/.claude.json",
    )


def test_what_claude_code_keeps_for_this_folder_counts_more_than_what_lies_there(home: Path, tmp_path: Path) -> None:
    with_key = {"command": "npx", "env": {"K": "${API_KEY}"}}
    projects: Any = {
        str(tmp_path): {"mcpServers": {"a": with_key, "b": with_key}},
        str(home): {"mcpServers": {"d": NPX}},
    }
    place = home / ".claude.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({"mcpServers": {"a": NPX, "c": NPX}, "projects": projects}))
    put(tmp_path / "claude_desktop_config.json", b={"command": "uvx"})
    found = discover(places(home, tmp_path, {}), Variables({"API_KEY": KEY}))
    here = f"{place} (for {tmp_path})"
    assert [(each.entry.name, each.entry.file.place) for each in found.servers] == [
        ("a", here),
        ("c", str(place)),
        ("b", here),
    ]
    assert [each.fields.get("env") for each in found.servers] == [{"K": KEY}, None, {"K": KEY}]
    assert found.notes == ()
    assert discover(places(home, tmp_path / "below", {}), Variables()).servers[0].entry.file.place == str(place)


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ('{"projects": []}', "its 'projects' must be an object of objects by folder"),
        ('{"projects": {".": {"mcpServers": []}}}', "it must be a JSON object, and its 'projects...mcp"),
        ('{"projects": {".": []}}', "it must be a JSON object, and its 'projects...mcp"),
        ("[]", "it must be a JSON object, and its 'mcpServers' an object of servers by name"),
        ("{", "it is not JSON in UTF-8"),
        ('{"projects": {}}', None),
        ('{"projects": {".": {}}}', None),
    ],
)  # fmt: skip
def test_a_file_of_projects_that_cannot_be_read_has_one_note(
    home: Path, tmp_path: Path, content: str, note: str | None
) -> None:
    place = home / ".claude.json"
    place.parent.mkdir(parents=True)
    place.write_text(content.replace('"."', json.dumps(str(tmp_path))))
    found = discover(places(home, tmp_path, {}), Variables())
    assert found.servers == ()
    notes = [each.replace(str(tmp_path / "home"), "~").replace(str(tmp_path), ".") for each in found.notes]
    assert len(notes) == (note is not None)
    assert all(each.startswith(f"~/.claude.json: its MCP servers are left out: {note}") for each in notes)


def test_a_file_that_cannot_be_read_is_a_note_and_the_others_count(home: Path, tmp_path: Path) -> None:
    put(home / ".claude.json", a=NPX)
    (tmp_path / "claude_code_config.json").write_text("{")
    (tmp_path / "claude_desktop_config.json").mkdir()
    folder = tmp_path / "mcp-servers"
    put(folder / "c.json", c=NPX)
    os.mkfifo(folder / "a.json")
    (folder / "b.json").symlink_to(folder / "b.json")
    (folder / "d.json").symlink_to("/dev/zero")
    (folder / "e.json").symlink_to(folder / "absent")
    found = discover(places(home, tmp_path, {}), Variables())
    assert [each.entry.name for each in found.servers] == ["a", "c"]
    assert [note.replace(str(tmp_path), ".") for note in found.notes] == [
        "./claude_code_config.json: its MCP servers are left out: it is not JSON in UTF-8",
        "./claude_desktop_config.json: its MCP servers are left out: it is no file",
        "./mcp-servers/a.json: its MCP servers are left out: it is no file",
        "./mcp-servers/b.json: its MCP servers are left out: Too many levels of symbolic links",
        "./mcp-servers/d.json: its MCP servers are left out: it is no file",
    ]


def test_a_folder_has_up_to_so_many_files(tmp_path: Path) -> None:
    for number in range(discovery.MOST_FILES + 1):
        put(tmp_path / f"{number:04}.json", **({"last": NPX} if number == discovery.MOST_FILES else {}))
    found = discover([Place(tmp_path, is_folder=True)], Variables())
    assert found.servers == ()
    assert found.notes == (f"{tmp_path}: more than 256 files; those beyond are left out",)
    (tmp_path / "0000.json").unlink()
    assert [each.entry.name for each in discover([Place(tmp_path, is_folder=True)], Variables()).servers] == ["last"]


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(1 << 40)
    found = discover([Place(tmp_path / "large.json")], Variables())
    assert found.notes == (
        f"{tmp_path}/large.json: its MCP servers are left out: it has more than {server_files.MOST_FILE_BYTES} bytes",
    )


def test_variables_are_filled_in_for_the_users_own_files_alone(home: Path, tmp_path: Path) -> None:
    with_key = {"command": "npx", "env": {"K": "${API_KEY}", "L": "literal-key-99"}}
    put(home / ".claude.json", own=with_key, unset={"url": "https://example.com", "headers": {"A": "${GONE}"}})
    put(tmp_path / "mcp-servers/x.json", foreign=with_key, plain=NPX)
    own, unset, foreign, plain = discover(places(home, tmp_path, {}), Variables({"API_KEY": KEY})).servers
    assert (own.why_not, own.fields["env"]) == ("", {"K": KEY, "L": "literal-key-99"})
    assert own.hidden(f"bad {KEY}, literal-key-99") == "bad ${API_KEY}, ${L}"
    assert KEY not in repr(own)
    assert "there is no variable GONE in the environment of 'sandglass mcp'" in unset.why_not
    assert "variables are not filled in for files of the current folder" in foreign.why_not
    assert plain.why_not == ""


def test_the_list_says_what_is_loaded_and_why_not_without_values(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", KEY)
    put(
        home / ".claude.json",
        **{
            "brave-search": {"command": "/usr/local/bin/npx", "args": ["-y", KEY], "env": {"K": "${API_KEY}"}},
            "there": {"url": f"https://u:{KEY}@mcp.example.com/mcp?key={KEY}", "headers": {"A": KEY}},
            "files": {"command": "npx", "args": ["-y", "server-filesystem", str(tmp_path)]},
            "odd\x1b]0;title\x07\u202e": {"command": "docker", "args": ["run", "-e", "K", "${API_KEY}"]},
        },
    )
    done = run("mcp", "--contract", "code-mode", "--list-servers")
    assert (done.code, done.err) == (0, "")
    lines = [" ".join(each.split()) for each in done.out.splitlines()]
    assert lines[0] == "NAME IN CODE RUNS FILE LOADED"
    assert lines[1] == f"brave-search mcp_brave_search /usr/local/bin/npx {home}/.claude.json when named"
    assert lines[2] == f"there mcp_there mcp.example.com {home}/.claude.json when named"
    assert lines[3].startswith(f"files mcp_files npx {home}/.claude.json no: 'args[2]' is a file or folder of this")
    assert "no: it runs in a container of docker" in lines[4]
    assert "'image: ${API_KEY}'" in lines[4]
    for hidden in (KEY, "\x1b", "\u202e", "\x07"):
        assert hidden not in done.out


def test_options_and_the_variable_of_the_original_name_files(
    run: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(home / ".claude.json", a=NPX)
    listing = ("mcp", "--contract", "code-mode", "--list-servers")
    assert "(no MCP servers)" in run(*listing, "--no-discovery").out
    monkeypatch.setenv("MCP_SERVERS_CONFIG", str(put(tmp_path / "b.json", b=NPX)))
    third = put(tmp_path / "c.json", b={"command": "uvx"}, c={"command": "x", "env": {"A": "${HOME}"}})
    done = run(*listing, "--no-discovery", "--mcp-server-config", str(third))
    assert [each.split()[:3] for each in done.out.splitlines()[1:]] == [["b", "mcp_b", "uvx"], ["c", "mcp_c", "x"]]
    monkeypatch.setenv("MCP_SERVERS_CONFIG", str(tmp_path / "absent.json"))
    done = run(*listing)
    assert done.err == f"sandglass: {tmp_path}/absent.json: its MCP servers are left out: there is no such file\n"
    refused = run(*listing, "--mcp-server-config", str(tmp_path / "gone.json"))
    assert (refused.code, refused.out) == (2, "")
    assert f"--mcp-server-config {tmp_path}/gone.json: there is no such file" in refused.err
    for option in ("--no-discovery", "--list-servers", "--mcp-placement=own", "--mcp-server-config=x"):
        assert "go with --contract code-mode" in run("mcp", option).err
