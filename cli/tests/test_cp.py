"""Copies between this machine and a sandbox."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from sandglass.core.copies import checked, joined, place, sides
from sandglass.errors import ConfigurationError, EndpointError
from sandglass.part_file import PartFile
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


@pytest.mark.slow
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


@pytest.mark.parametrize("evil", ["../out", "/etc/passwd", "a/../../out", "a//b", "", "a\0b", "./a"])
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


@pytest.mark.parametrize("odd", ["a\\..\\b", "a\nb", "a\x1b]0;t\x07b"])
def test_an_odd_name_is_left_out_and_the_others_come(workspace: Workspace, run: Run, odd: str) -> None:
    workspace.folders.add("d")
    workspace.files |= {f"d/{odd}": b"x", "d/fine": b"y", "d/10:30 log": b"z"}
    done = run("cp", "box:d", "down")
    assert done.code == 0
    assert "left out, since the other side takes such names for something else: a" in done.err
    assert sorted(path.name for path in Path("down").iterdir()) == ["10:30 log", "fine"]
    assert not set(done.err) & {"\x1b", "\x07"}


def test_a_file_with_an_odd_name_needs_a_name_here(workspace: Workspace, run: Run) -> None:
    workspace.files["a\\b"] = b"x"
    refused = run("cp", "box:a\\b", ".")
    assert (refused.code, "give TARGET a name of its own" in refused.err) == (2, True)
    assert list(Path().iterdir()) == []
    assert run("cp", "box:a\\b", "named").code == 0
    assert Path("named").read_bytes() == b"x"


def test_an_odd_name_of_this_machine_is_left_out_and_the_others_go(workspace: Workspace, run: Run) -> None:
    Path("up/a\\b").mkdir(parents=True)
    Path("up/a\\b/inner").touch()
    Path("up/c\nd").touch()
    Path(os.fsdecode(b"up/not-utf8-\xff")).touch()
    Path("up/fine").touch()
    done = run("cp", "up", "box:up")
    assert (done.code, workspace.files) == (0, {"up/fine": b""})
    assert "such names for something else" in done.err


@pytest.mark.parametrize("link", ["down/sub", "down/sub/file", "down"])
def test_a_link_of_this_machine_leads_no_file_out_of_the_target(
    workspace: Workspace, run: Run, tmp_path: Path, link: str
) -> None:
    workspace.folders |= {"down", "down/sub"}
    workspace.files |= {"down/sub/file": b"evil", "down/other": b"x"}
    (tmp_path / "outside/sub").mkdir(parents=True)
    (tmp_path / "outside/file").write_text("mine")
    Path("target", link).parent.mkdir(parents=True)
    Path("target", link).symlink_to(tmp_path / "outside" / ("file" if link.endswith("file") else ""))
    done = run("cp", "box:down", "target")
    assert (done.code, "leads out of target by a link" in done.err) == (2, True)
    assert {path.name for path in (tmp_path / "outside").rglob("*")} == {"sub", "file"}
    assert (tmp_path / "outside/file").read_text() == "mine"
    assert not Path("target/down/other").exists()


def test_a_link_that_is_the_target_itself_and_one_within_it_are_followed(workspace: Workspace, run: Run) -> None:
    workspace.folders |= {"down", "down/sub"}
    workspace.files["down/sub/file"] = b"x"
    Path("real/down/inner").mkdir(parents=True)
    Path("real/down/sub").symlink_to("inner")
    Path("target").symlink_to("real")
    assert run("cp", "box:down", "target").code == 0
    assert Path("real/down/inner/file").read_bytes() == b"x"


def test_much_more_than_the_listed_size_is_not_written(endpoint: Endpoint, workspace: Workspace, run: Run) -> None:
    workspace.folders.add("d")
    workspace.files["d/f"] = b"x" * 100
    works = endpoint.tools["sandbox_list_files"]

    def growing(asked: Json) -> Json | Reply:
        listed = works(asked)
        workspace.files["d/f"] = LARGE
        return listed

    endpoint.tools["sandbox_list_files"] = growing
    done = run("cp", "box:d", "down")
    assert done.code == 1
    assert f"d/f: it was listed with 100 bytes and has {len(LARGE)}" in done.err.replace("sandglass: f:", "d/f:")
    assert list(Path("down").iterdir()) == []


def test_a_piece_behind_the_listed_size_is_refused(tmp_path: Path) -> None:
    def write(*pieces: tuple[bytes, int]) -> None:
        with PartFile(tmp_path / "f", 10) as part:
            for data, offset in pieces:
                part.write(data, offset)

    with pytest.raises(EndpointError, match="more than the size that it listed"):
        write((b"x" * 5, 5), (b"x", 10))
    assert list(tmp_path.iterdir()) == []
    write((b"x" * 5, 5))
    assert (tmp_path / "f").read_bytes() == bytes(5) + b"x" * 5


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
