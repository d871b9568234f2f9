"""Files read, written and moved by the verb ``files``; for lists and deletions see ``test_deeds``."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from client import Client, Refused
from supervisors import Running

from sandglass_supervisor.files.confined import Confined
from sandglass_supervisor.link.wire import Problem

MIB = 1024 * 1024


def test_what_is_written_is_read(client: Client, home: Path) -> None:
    content = bytes(range(256)) * 16
    path = f"{home.name}/new/folder/data"
    assert client.write(path, content) == {"bytes": 4096, "size": 4096}
    assert (home / "new/folder/data").read_bytes() == content
    assert client.read(path) == content
    assert client.read(str(home / "new/folder/data")) == content
    assert client.file("read", path, offset=4000, length=7) == {"offset": 4000, "size": 4096}
    assert client.read(path, offset=4000, length=7) == content[4000:4007]
    assert client.read(path, offset=4096) == b""


def test_the_home_folder_is_the_workspace(client: Client, shared: Running, home: Path) -> None:
    client.write(f"~/{home.name}/f", b"mine")
    assert (home / "f").read_bytes() == b"mine"
    assert client.command(home.name, "sh", "-c", f"cat ~/{home.name}/f").text() == "mine"
    client.file("move", f"~/{home.name}/f", to=f"~/{home.name}/g")
    assert client.read(f"{home.name}/g") == b"mine"
    assert home.name in {about["path"] for about in client.files("~")}
    with pytest.raises(Refused, match="outside"):
        client.read("~/../f")
    # Any other tilde is a name.
    for path in (f"{home.name}/~", f"~{home.name}", f"./~/{home.name}"):
        client.write(path, b"odd")
        assert (shared.workspace / path).read_bytes() == b"odd"


def test_the_images_link_leads_to_the_workspace(tmp_path: Path) -> None:
    for folder in ("workspace", "other"):
        (tmp_path / folder).mkdir()
    link, elsewhere, absent = tmp_path / "app", tmp_path / "astray", tmp_path / "absent"
    link.symlink_to(tmp_path / "workspace")
    elsewhere.symlink_to(tmp_path / "other")
    confined = Confined(str(tmp_path / "workspace"), links=[str(link), str(elsewhere), str(absent)])
    try:
        assert confined.spot(f"{link}/a/b") == confined.spot("a/b")
        assert confined.spot(str(link)) == confined.spot("")
        for path in (f"{link}lication/a", f"{elsewhere}/a", f"{absent}/a"):
            with pytest.raises(Problem, match="leads out of"):
                confined.spot(path)
        with pytest.raises(Problem, match="leads out of"):
            confined.open(confined.spot(f"{link}/../other"), os.O_PATH)
    finally:
        confined.close()


def test_an_empty_file(client: Client, home: Path) -> None:
    assert client.write(f"{home.name}/empty", b"") == {"bytes": 0, "size": 0}
    assert client.read(f"{home.name}/empty") == b""


def test_pieces_go_to_their_place(client: Client, home: Path) -> None:
    path = f"{home.name}/f"
    with pytest.raises(Refused, match=r"not_found: there is no file .* without 'offset'"):
        client.write(path, b"x", offset=0)
    client.write(path, b"hello")
    assert client.write(path, b", world", offset=5) == {"bytes": 7, "size": 12}
    assert client.write(path, b"J", offset=0) == {"bytes": 1, "size": 12}
    assert client.read(path) == b"Jello, world"
    with pytest.raises(Refused, match="offset: 13 is behind the end; the file has 12 bytes"):
        client.write(path, b"x", offset=13)
    with pytest.raises(Refused, match="offset: 13 is behind the end; the file has 12 bytes"):
        client.read(path, offset=13)


def test_the_mode_of_a_replaced_file_is_kept(client: Client, home: Path) -> None:
    script = home / "run"
    script.write_text("old")
    script.chmod(0o750)
    before = script.stat().st_ino
    client.write(f"{home.name}/run", b"new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert script.stat().st_ino != before
    assert [path.name for path in home.iterdir()] == ["run"]


def test_readers_of_the_old_file_keep_it(client: Client, home: Path) -> None:
    (home / "f").write_bytes(b"old")
    with (home / "f").open("rb") as file:
        client.write(f"{home.name}/f", b"new")
        assert file.read() == b"old"


def test_links_that_stay_inside_work(client: Client, home: Path) -> None:
    (home / "real").mkdir()
    (home / "real/f").write_bytes(b"old")
    (home / "relative").symlink_to("real")
    (home / "absolute").symlink_to(home / "real")
    (home / "twice").symlink_to("absolute")
    (home / "real/up").symlink_to("../real/f")
    for way in ("relative/f", "absolute/f", "twice/f", "real/up", "twice/up", "real/../absolute/f"):
        assert client.read(f"{home.name}/{way}") == b"old", way
    client.write(f"{home.name}/twice/up", b"new")
    assert (home / "real/f").read_bytes() == b"new"
    assert (home / "real/up").is_symlink()
    client.write(f"{home.name}/absolute/made/g", b"g")
    assert (home / "real/made/g").read_bytes() == b"g"
    client.write(f"{home.name}/twice/f", b"!", offset=3)
    assert (home / "real/f").read_bytes() == b"new!"
    assert [about["path"] for about in client.files(f"{home.name}/twice")] == ["f", "made", "up"]
    client.file("delete", f"{home.name}/twice")
    assert (home / "real/f").exists()


def test_links_in_a_circle(client: Client, home: Path) -> None:
    (home / "a").symlink_to(home / "b")
    (home / "b").symlink_to(home / "a")
    for operation in ("read", "list", "mkdir"):
        with pytest.raises(Refused, match=r"outside: .* in a circle"):
            client.file(operation, f"{home.name}/a")
    with pytest.raises(Refused, match=r"outside: .* in a circle"):
        client.write(f"{home.name}/a", b"")


def test_mkdir_and_stat(client: Client, home: Path) -> None:
    assert client.file("mkdir", f"{home.name}/a/b/c") == {"created": True}
    assert client.file("mkdir", f"{home.name}/a/b/c") == {"created": False}
    assert (home / "a/b/c").is_dir()
    (home / "a/f").write_bytes(b"12")
    (home / "a/f").chmod(0o640)
    os.utime(home / "a/f", (0, 7))
    (home / "l").symlink_to("a/f")
    answer = {"type": "file", "size": 2, "modified": 7, "mode": "0640", "target": None}
    assert client.file("stat", f"{home.name}/a/f") == answer
    assert client.file("stat", f"{home.name}/l")["target"] == "a/f"
    assert client.file("stat", f"{home.name}/l")["type"] == "link"
    assert client.file("stat", ".")["type"] == "folder"


def test_move(client: Client, home: Path) -> None:
    client.write(f"{home.name}/a", b"a")
    client.write(f"{home.name}/taken", b"old")
    assert client.file("move", f"{home.name}/a", to=f"{home.name}/new/b") == {}
    assert (home / "new/b").read_bytes() == b"a"
    with pytest.raises(Refused, match=r"exists: there is a '.*taken' already; delete it first"):
        client.file("move", f"{home.name}/new/b", to=f"{home.name}/taken")
    assert (home / "taken").read_bytes() == b"old"
    with pytest.raises(Refused, match=r"bad_request: to: .* lies in what is to be moved"):
        client.file("move", f"{home.name}/new", to=f"{home.name}/new/in/itself")
    assert not (home / "new/in").exists()
    with pytest.raises(Refused, match=r"not_found: there is no file or folder '.*/none'"):
        client.file("move", f"{home.name}/none", to=f"{home.name}/made/for/nothing")
    assert not (home / "made").exists()


@pytest.mark.parametrize("path", [".", "/", "", "..", "x/..", "ROOT", "ROOT/", "ROOT/."])
def test_the_roots_stay(shared: Running, client: Client, path: str) -> None:
    given = path.replace("ROOT", str(shared.workspace))
    for more in ({"operation": "delete", "recursive": True}, {"operation": "move", "to": "y"}):
        with pytest.raises(Refused, match=r"denied: .* must name something below|bad_request: path|outside"):
            client.ask("files", path=given, **more)
    with pytest.raises(Refused, match=r"denied: .* must name something below|bad_request: path|outside"):
        client.write(given, b"")
    assert shared.workspace.is_dir()


def test_folders_and_files_are_told_apart(client: Client, home: Path) -> None:
    client.write(f"{home.name}/f", b"")
    for path, words in ((home.name, "not_a_file: Not a file: '.*' is a folder"), (f"{home.name}/f/x", "not_a_folder")):
        with pytest.raises(Refused, match=words):
            client.read(path)
        with pytest.raises(Refused, match=words):
            client.write(path, b"")
        with pytest.raises(Refused, match=words):
            client.write(path, b"", offset=0)
    with pytest.raises(Refused, match="not_a_folder"):
        client.files(f"{home.name}/f")
    with pytest.raises(Refused, match="exists"):
        client.file("mkdir", f"{home.name}/f")
    with pytest.raises(Refused, match="too_long: a name"):
        client.write(f"{home.name}/" + "x" * 256, b"")
    assert client.write(f"{home.name}/" + "x" * 255, b"")


BAD = [
    ({"operation": "copy"}, "operation"),
    ({"operation": None}, "operation"),
    ({"path": None}, "path"),
    ({"path": ""}, "path"),
    ({"path": 7}, "path"),
    ({"path": "a\0b"}, "path"),
    ({"path": "a\ud800"}, "path"),
    ({"path": "x" * 4097}, "path"),
    ({"operation": "move"}, "to"),
    ({"operation": "move", "to": ""}, "to"),
    ({"operation": "move", "to": "x" * 4097}, "to"),
    ({"offset": -1}, "offset"),
    ({"offset": True}, "offset"),
    ({"offset": 2**63}, "offset"),
    ({"length": 0}, "length"),
    ({"length": MIB + 1}, "length"),
    ({"length": 1.5}, "length"),
    ({"operation": "list", "limit": 0}, "limit"),
    ({"operation": "list", "limit": 10_001}, "limit"),
    ({"operation": "delete", "recursive": "yes"}, "recursive"),
]


@pytest.mark.parametrize(("arguments", "field"), BAD)
def test_bad_arguments_are_named(client: Client, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(Refused, match=f"bad_request: {field}: "):
        client.ask("files", **{"operation": "read", "path": "f", **arguments})


def test_pieces_at_their_bound(client: Client, home: Path) -> None:
    content = os.urandom(MIB)
    assert client.write(f"{home.name}/f", content)["size"] == MIB
    assert client.read(f"{home.name}/f") == content
    client.write(f"{home.name}/f", b"more", offset=MIB)
    assert len(client.read(f"{home.name}/f", length=MIB)) == MIB
    with pytest.raises(Refused, match="bad_request: blob: content of 1048577 bytes; at most 1048576"):
        client.write(f"{home.name}/f", content + b"x")


def test_a_large_file_is_never_held(spare: Running) -> None:
    client = spare.ready()
    piece = os.urandom(MIB)
    client.write("large", piece)
    before = spare.rss()
    for number in range(1, 48):
        client.write("large", piece, offset=number * MIB)
    for number in range(48):
        assert client.read("large", offset=number * MIB) == piece
    assert spare.rss() - before < 12 * MIB
    os.truncate(spare.workspace / "large", 2**30)
    assert client.write("large", b"end", offset=2**30) == {"bytes": 3, "size": 2**30 + 3}
    assert client.read("large", offset=2**30) == b"end"
