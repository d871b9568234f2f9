"""A folder that is kept the same as a sandbox's workspace."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from sandglass.bridge.workspace import MARKER, Changes, Mark, Pair, bind, changes, too_large
from tests.bridges import Gateway, call
from tests.endpoint import Endpoint, Json, result
from tests.test_cp import Workspace

A, B, C = Mark(1, "a"), Mark(1, "b"), Mark(2, "c")
SAME = {"f": Pair(A, A)}


@pytest.mark.parametrize(
    ("before", "here", "there", "wanted"),
    [
        ({}, {"f": A}, {}, Changes(up=("f",))),
        ({}, {}, {"f": A}, Changes(down=("f",))),
        ({}, {"f": A}, {"f": B}, Changes(compare=("f",))),
        ({}, {"f": A}, {"f": C}, Changes(conflicts=("f",))),
        (SAME, {"f": A}, {"f": A}, Changes()),
        (SAME, {"f": B}, {"f": A}, Changes(up=("f",))),
        (SAME, {"f": A}, {"f": C}, Changes(down=("f",))),
        (SAME, {"f": B}, {"f": C}, Changes(conflicts=("f",))),
        (SAME, {}, {"f": A}, Changes()),
        (SAME, {"f": A}, {}, Changes()),
        (SAME, {}, {"f": C}, Changes(down=("f",))),
        ({"f": Pair(A, A)}, {"f": C}, {}, Changes(up=("f",))),
        ({}, {".env": A, "a/.env": A}, {"b/.env": A}, Changes()),
        ({}, {".git/config": A}, {"a/.git/config": A, ".GIT/x": A}, Changes()),
        ({}, {".ENV": A}, {".env": B, ".Env": C}, Changes()),
        ({}, {}, {".vscode/tasks.json": A}, Changes(withheld=(".vscode/tasks.json",))),
        ({}, {".gitignore": A}, {}, Changes(up=(".gitignore",))),
        ({".x": Pair(A, A)}, {".x": A}, {".x": C}, Changes(withheld=(".x",))),
        ({}, {"f": A}, {"F": B}, Changes(alike=(("F", "f"),))),
        ({}, {}, {"d/F": A, "D/f": B}, Changes(alike=(("D/f", "d/F"),))),
        ({}, {"caf\u00e9": A}, {"cafe\u0301": A}, Changes(alike=(("cafe\u0301", "caf\u00e9"),))),
    ],
)
def test_what_is_copied(before: Any, here: Any, there: Any, wanted: Changes) -> None:
    assert changes(before, here, there) == wanted


def test_bounds_and_binds() -> None:
    assert too_large([Mark(1, "")] * 5000) == ""
    assert "more than 5000 files" in too_large([Mark(1, "")] * 5001)
    assert "more than 268435456 bytes" in too_large([Mark(256 * 1024 * 1024, ""), A])
    assert bind("/data:in/./put/") == ("/data", "in/put")
    assert bind("C:/data:x") == ("C:/data", "x")
    for wrong in ("data", "data:/abs", "data:../up", ":x", "data:"):
        with pytest.raises(ValueError, match="must be FOLDER:PATH"):
            bind(wrong)


class Times(Workspace):
    """A workspace that says when its files were written."""

    def __init__(self, endpoint: Endpoint, gateway: Gateway) -> None:
        super().__init__(endpoint)
        gateway.tools |= endpoint.tools
        self.writes = 0
        self.times: dict[str, int] = {}

    def put(self, path: str, data: bytes) -> None:
        self.write({"path": path, "content": base64.b64encode(data).decode()})

    def write(self, arguments: Json) -> Json:
        self.writes += 1
        self.times[arguments["path"]] = self.writes
        return super().write(arguments)

    def list(self, arguments: Json) -> Json:
        entries = [
            {"path": path, "type": "file", "size": len(data), "modified": str(self.times[path])}
            for path, data in self.files.items()
        ]
        entries += [{"path": path, "type": "link", "size": None, "modified": ""} for path in self.links]
        return result({"entries": entries, "truncated": False})

    def manage(self, arguments: Json) -> Json:
        path = arguments["path"]
        if arguments["action"] == "delete":
            del self.files[path]
            return result({"status": "deleted"})
        found = super().manage(arguments)
        if "file" in found.get("structuredContent", {}):
            found["structuredContent"]["file"]["modified"] = str(self.times[path])
        return found


def test_a_workspace_is_the_same_before_and_after_each_call(
    endpoint: Endpoint,
    gateway: Gateway,
    bridges: Any,
    tmp_path: Path,
) -> None:
    there = Times(endpoint, gateway)
    here = tmp_path / "work"
    (here / "sub").mkdir(parents=True)
    (here / "sub/in").write_text("from here")
    (here / ".env").write_text("KERNEL_ENV_MODE=test\nSECRET=s\n")
    (here / "link").symlink_to(tmp_path)
    seen: list[dict[str, bytes]] = []

    def execute(_: Json) -> Json:
        seen.append(dict(there.files))
        there.put("out/made", b"from there %d" % len(seen))
        return result(text="ran")

    gateway.tools["execute_ipython_cell"] = execute
    bridge = bridges("--contract", "ipybox", "--workspace", str(here))
    bridge.ask(call(1, "execute_ipython_cell", {}))
    assert seen[0] == {MARKER: b"", "sub/in": b"from here"}
    assert (here / "out/made").read_text() == "from there 1"
    (here / "sub/in").write_text("changed here")
    bridge.ask(call(2, "execute_ipython_cell", {}))
    assert seen[1]["sub/in"] == b"changed here"
    assert (here / "out/made").read_text() == "from there 2"
    assert there.writes == 5
    (here / "both").write_text("mine, longer")
    there.put("both", b"theirs")
    there.put("link/evil", b"x")
    bridge.ask(call(3, "execute_ipython_cell", {}))
    code, _, errors = bridge.end()
    assert code == 0
    assert "link/evil leads out of the folder by a link, and is not written" in errors
    assert not (tmp_path / "evil").exists()
    assert ((here / "both").read_text(), there.files["both"]) == ("mine, longer", b"theirs")
    assert endpoint.calls("sandbox_start")[0]["config"]["envs"] == {"MODE": "test"}


@pytest.mark.slow
def test_a_conflict_is_told_once_and_both_sides_stay(
    endpoint: Endpoint,
    gateway: Gateway,
    bridges: Any,
    tmp_path: Path,
) -> None:
    there = Times(endpoint, gateway)
    there.put("both", b"theirs")
    there.put("same", b"equal")
    (tmp_path / "both").write_text("mine, longer")
    (tmp_path / "same").write_text("equal")
    gateway.tools["execute"] = lambda _: result(text="ran")
    bridge = bridges("--contract", "ipython", "--workspace", str(tmp_path))
    bridge.ask(call(1, "execute", {}))
    bridge.ask(call(2, "execute", {}))
    errors = bridge.end()[2]
    assert errors.count("both was changed here and in the sandbox: both are left as they are\n") == 1
    assert errors.count("hidden files of the sandbox neither, without --sync-hidden") == 1
    assert ((tmp_path / "both").read_text(), there.files["both"]) == ("mine, longer", b"theirs")


@pytest.mark.slow
def test_a_folder_is_bound_to_a_path_in_the_workspace_and_made_if_it_is_missing(
    endpoint: Endpoint, gateway: Gateway, bridges: Any, tmp_path: Path
) -> None:
    there = Times(endpoint, gateway)

    def entries(arguments: Json) -> Json:
        assert arguments["path"] == "put"
        found = there.list(arguments)
        for entry in found["structuredContent"]["entries"]:
            entry["path"] = entry["path"].removeprefix("put/")
        return found

    def execute(_: Json) -> Json:
        there.put("put/made", b"there")
        return result(text="ran")

    gateway.tools |= {"sandbox_list_files": entries, "execute_ipython_cell": execute}
    bridge = bridges("--contract", "ipybox", "--container-bind", f"{tmp_path}/new:put")
    bridge.ask(call(1, "execute_ipython_cell", {}))
    assert (tmp_path / "new/made").read_text() == "there"
    assert " is not the same " not in bridge.end()[2]


HIDDEN = (
    ".git/config",
    ".claude/settings.json",
    ".mcp.json",
    ".vscode/tasks.json",
    ".envrc",
    ".pre-commit-config.yaml",
)


def sync_what_code_wrote(endpoint: Endpoint, gateway: Gateway, bridges: Any, here: Path, *options: str) -> Any:
    there = Times(endpoint, gateway)
    here.mkdir()

    def execute(_: Json) -> Json:
        for path in (*HIDDEN, "sub/.git/hooks/post-checkout", "odd\\name", "result"):
            there.put(path, b"[core] fsmonitor = evil")
        return result(text="ran")

    gateway.tools["execute"] = execute
    bridge = bridges("--contract", "ipython", "--workspace", str(here), *options)
    bridge.ask(call(1, "execute", {}))
    return there, bridge.end()[2]


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_no_hidden_file_of_a_sandbox_reaches_this_machine(
    endpoint: Endpoint, gateway: Gateway, bridges: Any, tmp_path: Path
) -> None:
    _, errors = sync_what_code_wrote(endpoint, gateway, bridges, tmp_path / "work")
    assert names(tmp_path / "work") == {"result"}
    assert errors.count("stay in the sandbox, since they are hidden or named as secrets: .git/config, ") == 1
    assert "left in the sandbox, since this machine takes such names for something else: odd\\name" in errors


@pytest.mark.slow
def test_hidden_files_that_are_asked_for_come_without_git_and_secrets(
    endpoint: Endpoint, gateway: Gateway, bridges: Any, tmp_path: Path
) -> None:
    _, errors = sync_what_code_wrote(endpoint, gateway, bridges, tmp_path / "work", "--sync-hidden")
    assert names(tmp_path / "work") == {"result", *HIDDEN} - {".git/config", ".envrc"}
    assert "your programs may obey them (--sync-hidden)" in errors


@pytest.mark.slow
def test_git_and_secrets_do_not_go_up_and_are_told_once(
    endpoint: Endpoint, gateway: Gateway, bridges: Any, tmp_path: Path
) -> None:
    there = Times(endpoint, gateway)
    kept = (".git/config", ".ssh/config", ".env.local", ".npmrc", "a/.netrc", "tls/key.pem", "id_rsa", "odd\\name")
    for path in (*kept, "code.py", ".gitignore"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("secret")
    gateway.tools["execute"] = lambda _: result(text="ran")
    bridge = bridges("--contract", "ipython", "--workspace", str(tmp_path))
    bridge.ask(call(1, "execute", {}))
    bridge.ask(call(2, "execute", {}))
    errors = bridge.end()[2]
    assert there.files.keys() == {MARKER, "code.py", ".gitignore"}
    assert errors.count("not copied to the sandbox: ") == 1
    assert "takes such names for something else: odd\\name" in errors


@pytest.mark.slow
def test_a_name_that_differs_in_case_alone_writes_over_nothing(
    endpoint: Endpoint, gateway: Gateway, bridges: Any, tmp_path: Path
) -> None:
    there = Times(endpoint, gateway)
    there.put("NOTES", b"theirs")
    there.put("new", b"made")
    (tmp_path / "notes").write_text("mine")
    gateway.tools["execute"] = lambda _: result(text="ran")
    bridge = bridges("--contract", "ipython", "--workspace", str(tmp_path))
    bridge.ask(call(1, "execute", {}))
    errors = bridge.end()[2]
    assert "NOTES and notes are one name where case does not count: none of them is copied" in errors
    assert names(tmp_path) == {"notes", "new"}
    assert there.files.keys() == {MARKER, "NOTES", "new"}


@pytest.mark.slow
def test_a_file_that_cannot_be_written_ends_no_other(
    endpoint: Endpoint, gateway: Gateway, bridges: Any, tmp_path: Path
) -> None:
    there = Times(endpoint, gateway)
    (tmp_path / "a").mkdir()
    there.put("a", b"a folder here")
    there.put("b", b"made")
    gateway.tools["execute"] = lambda _: result(text="ran")
    bridge = bridges("--contract", "ipython", "--workspace", str(tmp_path))
    bridge.ask(call(1, "execute", {}))
    assert f"{tmp_path}/a: Is a directory" in bridge.end()[2]
    assert names(tmp_path) == {"b"}


@pytest.mark.slow
def test_a_workspace_needs_a_sandbox_of_its_own_and_a_folder(endpoint: Endpoint, tmp_path: Path, run: Any) -> None:
    assert "go with a contract" in run("mcp", "--workspace", str(tmp_path)).err
    assert run("mcp", "--contract", "ipybox", "--workspace", str(tmp_path / "absent")).code == 2
    assert run("mcp", "--contract", "ipybox", "--container-bind", "x").code == 2
