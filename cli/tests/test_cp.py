"""Copies between this machine and a sandbox."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from sandglass.core.copies import checked, joined, place, sides
from sandglass.errors import ConfigurationError, EndpointError
from tests.commands import Run
from tests.endpoint import Endpoint, Json, Reply, result

ABSENT = result(text="Error: there is no file or folder", is_error=True)


class Workspace:
    """The files of a fake sandbox; a piece behind the end of a file is refused, as the supervisor does."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.files: dict[str, bytes] = {}
        self.folders: set[str] = set()
        self.links: set[str] = set()
        endpoint.tools |= {
            "sandbox_write_file": self.write,
            "sandbox_read_file": self.read,
            "sandbox_list_files": self.list,
            "sandbox_manage_files": self.manage,
        }

    def write(self, arguments: Json) -> Json:
        path, offset = arguments["path"], arguments.get("offset")
        before = self.files.get(path, b"") if offset is not None else b""
        assert (offset or 0) <= len(before)
        data = base64.b64decode(arguments["content"])
        self.files[path] = before[: offset or 0] + data
        return result({"size": len(self.files[path])})

    def read(self, arguments: Json) -> Json:
        data = self.files[arguments["path"]]
        piece = data[arguments["offset"] :][: arguments["length"]]
        return result({"content": base64.b64encode(piece).decode(), "size": len(data)})

    def list(self, arguments: Json) -> Json:
        base = arguments["path"].rstrip("/") + "/"
        entries = [
            {"path": path.removeprefix(base), "type": kind, "size": size, "modified": ""}
            for paths, kind in ((self.files, "file"), (self.folders, "folder"), (self.links, "link"))
            for path in paths
            if path.startswith(base)
            for size in [len(self.files[path]) if kind == "file" else None]
        ]
        return result({"entries": entries, "truncated": False})

    def manage(self, arguments: Json) -> Json:
        path = arguments["path"]
        if arguments["action"] == "mkdir":
            self.folders.add(path)
            return result({"status": "created"})
        if path in self.folders or path in self.files:
            kind = "folder" if path in self.folders else "file"
            size = len(self.files[path]) if kind == "file" else None
            return result({"status": "found", "file": {"type": kind, "size": size, "modified": ""}})
        return ABSENT


@pytest.fixture
def workspace(endpoint: Endpoint) -> Workspace:
    return Workspace(endpoint)


LARGE = os.urandom(3 * 1024 * 1024 + 17)


def test_a_file_goes_up_and_down(workspace: Workspace, run: Run) -> None:
    Path("large").write_bytes(LARGE)
    Path("empty").touch()
    done = run("cp", "large", "box:deep/copy")
    assert (done.code, done.out, done.err) == (0, "", "sandglass: copied 1 file, 3.0 MiB\n")
    assert run("cp", "empty", "box:", "-q").err == ""
    assert workspace.files == {"deep/copy": LARGE, "empty": b""}
    assert run("cp", "box:deep/copy", "new/folder/name").code == 0
    assert Path("new/folder/name").read_bytes() == LARGE
    assert run("cp", "box:empty", ".").code == 0
    assert [path.name for path in Path("new/folder").iterdir()] == ["name"]


def test_a_folder_goes_up_and_down_without_links(workspace: Workspace, run: Run) -> None:
    Path("data/sub/none").mkdir(parents=True)
    for number in range(30):
        Path(f"data/sub/{number}").write_text(str(number))
    Path("data/link").symlink_to("/etc/passwd")
    done = run("cp", "data", "box:copy")
    assert (
        done.err
        == "sandglass: left out, since they are no files or folders: data/link\nsandglass: copied 30 files, 50 B\n"
    )
    assert workspace.files == {f"copy/sub/{number}": str(number).encode() for number in range(30)}
    workspace.links.add("copy/evil")
    assert "copy" in workspace.folders
    down = run("cp", "box:copy", "back")
    assert "left out, since they are no files or folders: evil" in down.err
    assert sorted(path.relative_to("back").as_posix() for path in Path("back").rglob("*")) == sorted(
        ["sub", "sub/none", *(f"sub/{number}" for number in range(30))]
    )
    assert run("cp", "data", "box:copy").code == 0
    assert "copy/data/sub/7" in workspace.files


def test_a_broken_connection_is_gone_on_with(endpoint: Endpoint, workspace: Workspace, run: Run) -> None:
    Path("large").write_bytes(LARGE)
    broken = {"sandbox_write_file": 2, "sandbox_read_file": 3}

    def breaking(tool: str) -> Any:
        works = endpoint.tools[tool]

        def answer(arguments: Json) -> Json | Reply:
            if broken[tool]:
                broken[tool] -= 1
                works(arguments)
                return Reply(breaks=True)
            return works(arguments)

        return answer

    endpoint.tools |= {tool: breaking(tool) for tool in broken}
    assert run("cp", "large", "box:large").code == 0
    assert run("cp", "box:large", "back").code == 0
    assert Path("back").read_bytes() == LARGE


@pytest.mark.parametrize(
    "evil", ["../out", "/etc/passwd", "a/../../out", "a//b", "", "C:/x", "a\\..\\b", "a\0b", "./a"]
)
def test_a_sandbox_leads_no_file_out_of_the_target(
    endpoint: Endpoint, workspace: Workspace, run: Run, tmp_path: Path, evil: str
) -> None:
    workspace.folders.add("d")
    entry = {"path": evil, "type": "file", "size": 1, "modified": ""}
    endpoint.tools["sandbox_list_files"] = lambda _: result({"entries": [entry], "truncated": False})
    done = run("cp", "box:d", "target")
    assert done.code == 3
    assert "is no file below its folder" in done.err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(EndpointError):
        checked(evil)


def test_a_file_that_shrinks_is_told_and_leaves_nothing(endpoint: Endpoint, workspace: Workspace, run: Run) -> None:
    workspace.files["f"] = LARGE
    short = {"content": "", "size": len(LARGE)}
    works = endpoint.tools["sandbox_read_file"]
    endpoint.tools["sandbox_read_file"] = lambda asked: works(asked) if asked["offset"] == 0 else result(short)
    done = run("cp", "box:f", "down")
    assert (done.code, done.err) == (1, "sandglass: f: it changed while it was copied; copy it again\n")
    assert list(Path().iterdir()) == []


def test_wrong_places_are_refused(workspace: Workspace, run: Run) -> None:
    assert "one of SOURCE and TARGET must be SANDBOX:PATH" in run("cp", "a", "b").err
    assert "there is no such file or folder" in run("cp", "absent", "box:").err
    assert run("cp", "box:absent", ".").code == 1
    with pytest.raises(ConfigurationError):
        sides("one:a", "two:b")


def test_places_and_paths() -> None:
    assert [place(text).sandbox for text in ("box:a:b", "./box:a", "/x:y", "a b:c", "-x:c", "box:")] == [
        "box", None, None, None, None, "box"
    ]  # fmt: skip
    assert [place(text).is_folder_by_name for text in ("box:", "box:a/", "box:a", ".", "box:.")] == [
        True,
        True,
        False,
        True,
        True,
    ]
    assert [joined("", "a"), joined("d/", "a"), joined("/", "a"), joined("/d", "", "a")] == ["a", "d/a", "/a", "/d/a"]
