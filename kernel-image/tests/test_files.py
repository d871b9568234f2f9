"""Files read, written, listed, moved and deleted by the verb ``files``."""

import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import Client, Refused
from conftest import Running
from test_attacks import UNPRIVILEGED, folder

MIB = 1024 * 1024
__all__ = ["folder"]  # a fixture
ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="needs root to become somebody else, or to mount")


@pytest.fixture
def home(shared: Running, name: str) -> Path:
    """A folder of this test in the shared workspace; callers name it by its last part."""
    folder = shared.workspace / name
    folder.mkdir()
    return folder


def do(client: Client, operation: str, path: str, **more: Any) -> dict[str, Any]:
    return client.ask("files", operation=operation, path=path, **more)


def test_what_is_written_is_read(client: Client, home: Path) -> None:
    content = bytes(range(256)) * 16
    path = f"{home.name}/new/folder/data"
    assert client.write(path, content) == {"bytes": 4096, "size": 4096}
    assert (home / "new/folder/data").read_bytes() == content
    assert client.read(path) == content
    assert client.read(str(home / "new/folder/data")) == content
    assert do(client, "read", path, offset=4000, length=7) == {"offset": 4000, "size": 4096}
    assert client.read(path, offset=4000, length=7) == content[4000:4007]
    assert client.read(path, offset=4096) == b""


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
    do(client, "delete", f"{home.name}/twice")
    assert (home / "real/f").exists()


def test_links_in_a_circle(client: Client, home: Path) -> None:
    (home / "a").symlink_to(home / "b")
    (home / "b").symlink_to(home / "a")
    for operation in ("read", "list", "mkdir"):
        with pytest.raises(Refused, match=r"outside: .* in a circle"):
            do(client, operation, f"{home.name}/a")
    with pytest.raises(Refused, match=r"outside: .* in a circle"):
        client.write(f"{home.name}/a", b"")


def test_list(client: Client, home: Path) -> None:
    (home / "b").mkdir()
    (home / "b/c").write_bytes(b"12345")
    (home / "a").write_bytes(b"1")
    (home / "l").symlink_to("b")
    os.utime(home / "a", (5, 1.5))
    flat = client.files(home.name)
    assert [(about["path"], about["type"], about["size"]) for about in flat] == [
        ("a", "file", 1),
        ("b", "folder", None),
        ("l", "link", None),
    ]
    assert flat[0]["modified"] == 1.5
    assert [about["path"] for about in client.files(home.name, recursive=True)] == ["a", "b", "b/c", "l"]
    assert home.name in [about["path"] for about in client.files("")]
    assert home.name in [about["path"] for about in client.files(str(home.parent))]


def test_a_name_that_is_no_text(client: Client, home: Path) -> None:
    (home / os.fsdecode(b"a\xff")).write_bytes(b"")
    assert client.files(home.name)[0]["path"] == "a\ufffd"
    assert do(client, "delete", home.name, recursive=True) == {"deleted": 2, "done": True}


def test_list_is_bounded(client: Client, home: Path) -> None:
    for number in range(12):
        (home / f"{number:02}").mkdir()
        (home / f"{number:02}" / "in").write_bytes(b"")
    assert do(client, "list", home.name, limit=12) == {"entries": 12, "truncated": False}
    assert do(client, "list", home.name, limit=11) == {"entries": 11, "truncated": True}
    assert do(client, "list", home.name, recursive=True, limit=24) == {"entries": 24, "truncated": False}
    nearest = client.files(home.name, recursive=True, limit=12)
    assert all("/" not in about["path"] for about in nearest)


def test_the_most_that_a_list_tells(client: Client, home: Path) -> None:
    for number in range(10_001):
        (home / str(number)).touch()
    assert do(client, "list", home.name) == {"entries": 1000, "truncated": True}
    assert do(client, "list", home.name, limit=10_000) == {"entries": 10_000, "truncated": True}
    (home / "0").unlink()
    assert do(client, "list", home.name, limit=10_000) == {"entries": 10_000, "truncated": False}


def test_long_names_are_bounded_together(client: Client, home: Path) -> None:
    deep = home
    for _ in range(3):
        deep = deep / ("x" * 250)
        deep.mkdir()
    for number in range(9000):
        (deep / f"{number:0250}").touch()
    answer, blob = client.both_to(
        client.send("files", operation="list", path=home.name, recursive=True, limit=10_000), 30
    )
    assert answer["truncated"]
    assert 3 * MIB < len(blob) < 5 * MIB


def nest(folder: Path, depth: int) -> Path:
    for _ in range(depth):
        folder = folder / "d"
        folder.mkdir()
    return folder


def test_depth_is_bounded(client: Client, home: Path) -> None:
    nest(home, 64)
    assert do(client, "list", home.name, recursive=True) == {"entries": 64, "truncated": True}
    assert do(client, "delete", f"{home.name}/d", recursive=True) == {"deleted": 64, "done": True}
    nest(home, 66)
    with pytest.raises(Refused, match="more than 64 folders"):
        do(client, "delete", f"{home.name}/d", recursive=True)
    long = "/".join(["d"] * 64)
    assert do(client, "stat", long.replace("d", home.name, 1))["type"] == "folder"
    with pytest.raises(Refused, match=r"too_long: .* more than 64 folders"):
        do(client, "stat", long.replace("d", home.name, 1) + "/d")


def test_mkdir_and_stat(client: Client, home: Path) -> None:
    assert do(client, "mkdir", f"{home.name}/a/b/c") == {"created": True}
    assert do(client, "mkdir", f"{home.name}/a/b/c") == {"created": False}
    assert (home / "a/b/c").is_dir()
    (home / "a/f").write_bytes(b"12")
    (home / "a/f").chmod(0o640)
    os.utime(home / "a/f", (0, 7))
    (home / "l").symlink_to("a/f")
    answer = {"type": "file", "size": 2, "modified": 7, "mode": "0640", "target": None}
    assert do(client, "stat", f"{home.name}/a/f") == answer
    assert do(client, "stat", f"{home.name}/l")["target"] == "a/f"
    assert do(client, "stat", f"{home.name}/l")["type"] == "link"
    assert do(client, "stat", ".")["type"] == "folder"


def test_move(client: Client, home: Path) -> None:
    client.write(f"{home.name}/a", b"a")
    client.write(f"{home.name}/taken", b"old")
    assert do(client, "move", f"{home.name}/a", to=f"{home.name}/new/b") == {}
    assert (home / "new/b").read_bytes() == b"a"
    with pytest.raises(Refused, match=r"exists: there is a '.*taken' already; delete it first"):
        do(client, "move", f"{home.name}/new/b", to=f"{home.name}/taken")
    assert (home / "taken").read_bytes() == b"old"
    with pytest.raises(Refused, match=r"bad_request: to: .* lies in what is to be moved"):
        do(client, "move", f"{home.name}/new", to=f"{home.name}/new/in/itself")
    assert not (home / "new/in").exists()
    with pytest.raises(Refused, match=r"not_found: there is no file or folder '.*/none'"):
        do(client, "move", f"{home.name}/none", to=f"{home.name}/made/for/nothing")
    assert not (home / "made").exists()


def test_delete(client: Client, home: Path) -> None:
    client.write(f"{home.name}/a/b/c", b"")
    client.write(f"{home.name}/a/d", b"")
    with pytest.raises(Refused, match=r"not_empty: .* 'recursive'"):
        do(client, "delete", f"{home.name}/a")
    assert do(client, "delete", f"{home.name}/a/d") == {"deleted": 1, "done": True}
    assert do(client, "delete", f"{home.name}/a", recursive=True) == {"deleted": 3, "done": True}
    do(client, "mkdir", f"{home.name}/e")
    assert do(client, "delete", f"{home.name}/e") == {"deleted": 1, "done": True}
    assert list(home.iterdir()) == []
    with pytest.raises(Refused, match="not_found"):
        do(client, "delete", f"{home.name}/a", recursive=True)


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
        do(client, "mkdir", f"{home.name}/f")
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


def test_a_large_file_is_never_held(own: Running) -> None:
    client = own.ready()
    piece = os.urandom(MIB)
    client.write("large", piece)
    before = own.rss()
    for number in range(1, 48):
        client.write("large", piece, offset=number * MIB)
    for number in range(48):
        assert client.read("large", offset=number * MIB) == piece
    assert own.rss() - before < 12 * MIB
    os.truncate(own.workspace / "large", 2**30)
    assert client.write("large", b"end", offset=2**30) == {"bytes": 3, "size": 2**30 + 3}
    assert client.read("large", offset=2**30) == b"end"


def crowd(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        (folder / str(number)).touch()


def test_long_deeds_let_others_go_first(own: Running) -> None:
    client, other = own.ready(), own.client()
    other.hello()
    crowd(own.workspace / "crowd", 20_000)
    crowd(own.workspace / "small", 3)
    deletion = client.send("files", operation="delete", path="crowd", recursive=True)
    with pytest.raises(Refused, match="rejected: another list or deletion goes on"):
        do(client, "list", "small")
    assert client.write("written", b"meanwhile")["size"] == 9
    assert deletion not in client.replies
    assert other.files("small")
    assert client.reply_to(deletion, 30) == {"deleted": 20_001, "done": True}
    assert client.files("small")


def test_a_gateway_that_went_away_leaves_no_deed_behind(own: Running) -> None:
    client, other = own.ready(), own.client()
    other.hello()
    crowd(own.workspace / "crowd", 5000)
    other.send("files", operation="delete", path="crowd", recursive=True)
    client.until(lambda: len(os.listdir(own.workspace / "crowd")) < 5000, 10, "the deletion to begin")
    other.close()
    client.until(lambda: not (own.workspace / "crowd").exists(), 20, "the deletion to end")
    assert do(client, "stat", ".")["type"] == "folder"


@pytest.fixture
def cramped(tmp_path: Path) -> Iterator[Running]:
    """A supervisor whose files may have 100,000 bytes: a write fails in the middle, as on a full disk."""
    running = Running(tmp_path, ["prlimit", "--fsize=100000"])
    yield running
    running.stop()


def test_a_write_that_fails_leaves_nothing_behind(cramped: Running) -> None:
    client = cramped.ready()
    client.write("kept", b"old")
    for path in ("kept", "fresh", "in/new/folders"):
        with pytest.raises(Refused, match="full"):
            client.write(path, bytes(100_001))
    with pytest.raises(Refused, match="full"):
        client.write("kept", bytes(100_001), offset=3)
    assert {path.name for path in cramped.workspace.iterdir()} == {"kept"}
    assert (cramped.workspace / "kept").read_bytes() == b"old"
    assert client.write("kept", bytes(100_000))["size"] == 100_000


@ROOT_ONLY
def test_a_full_disk(tmp_path: Path) -> None:
    mount = 'mount -t tmpfs -o size=1m tmpfs "$SANDGLASS_WORKSPACE" && exec "$@"'
    running = Running(tmp_path, ["unshare", "--mount", "sh", "-c", mount, "sh"])
    try:
        client = running.ready()
        client.write("kept", bytes(600_000))
        for path, more in (("kept", {}), ("in/new/folder", {}), ("kept", {"offset": 600_000})):
            with pytest.raises(Refused, match=r"full: no space left to write '.*': delete files"):
                client.write(path, bytes(600_000), **more)
        assert [(about["path"], about["size"]) for about in client.files("", recursive=True)] == [("kept", 600_000)]
        do(client, "delete", "kept")
        assert client.write("fits", bytes(600_000))["size"] == 600_000
    finally:
        running.stop()


@ROOT_ONLY
def test_volumes_are_roots_of_their_own(tmp_path: Path) -> None:
    volume, inner = tmp_path / "volume", tmp_path / "workspace/outer/inner"
    volume.mkdir()
    script = (
        f'mkdir -p "{inner}" && mount -t tmpfs tmpfs "{inner}" && mount -t tmpfs -o ro tmpfs "{volume}" && exec "$@"'
    )
    roots = {"SANDGLASS_VOLUMES": f"{volume}:{inner}:{tmp_path / 'absent'}"}
    running = Running(tmp_path, ["unshare", "--mount", "sh", "-c", script, "sh"], **roots)
    try:
        client = running.ready()
        assert client.files(str(volume)) == []
        with pytest.raises(Refused, match=r"read_only: .* can only be read"):
            client.write(str(volume / "f"), b"")
        client.write("outer/inner/f", b"")
        client.write("f", b"")
        with pytest.raises(Refused, match=r"other_volume: .* is on another volume"):
            do(client, "move", "f", to="outer/inner/g")
        for path in ("outer/inner", str(volume)):
            with pytest.raises(Refused, match="denied"):
                do(client, "delete", path, recursive=True)
        with pytest.raises(Refused, match="busy: a volume is mounted in this folder"):
            do(client, "delete", "outer", recursive=True)
        assert client.read("outer/inner/f") == b""
        with pytest.raises(Refused, match=r"outside: .*/absent/f"):
            client.read(str(tmp_path / "absent/f"))
    finally:
        running.stop()


@ROOT_ONLY
def test_permissions_are_told(folder: Path) -> None:
    running = Running(folder, UNPRIVILEGED)
    try:
        running.workspace.chmod(0o777)
        client = running.ready()
        secret = running.workspace / "secret"
        secret.mkdir(mode=0o755)
        (secret / "f").write_bytes(b"x")
        (secret / "f").chmod(0o444)
        asked: list[tuple[str, dict[str, Any]]] = [
            ("write", {"path": "secret/f"}),
            ("write", {"path": "secret/g"}),
            ("write", {"path": "secret/f", "offset": 0}),
            ("delete", {"path": "secret/f"}),
            ("delete", {"path": "secret", "recursive": True}),
            ("mkdir", {"path": "secret/new"}),
        ]
        for operation, more in asked:
            with pytest.raises(Refused, match=r"denied: no permission for 'secret"):
                client.ask("files", operation=operation, **more)
        assert client.read("secret/f") == b"x"
        client.write("mine", b"")
        (running.workspace / "mine").chmod(0o400)
        with pytest.raises(Refused, match="denied: no permission for 'mine'"):
            client.write("mine", b"new")
    finally:
        running.stop()


def test_a_deletion_whose_time_is_over_goes_on_when_asked_again(tmp_path: Path) -> None:
    from sandglass_supervisor.confined import Entry
    from sandglass_supervisor.deeds import deletion

    crowd(tmp_path / "crowd", 10)
    looks = iter([False] * 4 + [True])
    answers = []
    for over in (lambda: next(looks), lambda: False):
        deed = deletion("crowd", Entry(os.open(tmp_path, os.O_RDONLY), "crowd"), over)
        try:
            while True:
                next(deed)
        except StopIteration as end:
            answers.append(end.value[0])
    assert answers == [{"deleted": 4, "done": False}, {"deleted": 7, "done": True}]


def test_listing_stays_quick_for_others(shared: Running, client: Client, home: Path) -> None:
    crowd(home / "crowd", 3000)
    other = shared.client()
    other.hello()
    listing = client.send("files", operation="list", path=home.name, recursive=True, limit=10_000)
    began = time.monotonic()
    other.ask("list")
    assert time.monotonic() - began < 1
    assert len(json.loads(client.both_to(listing)[1])) == 3001
