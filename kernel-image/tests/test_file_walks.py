"""Folders listed and deleted by the verb ``files``, step by step, so that others are served meanwhile."""

import json
import os
import time
from pathlib import Path

import pytest
from client import PATIENCE, Client, Refused
from supervisors import Running

from sandglass_supervisor.files.confined import Entry
from sandglass_supervisor.files.file_walks import deletion

MIB = 1024 * 1024


def crowd(folder: Path, count: int) -> None:
    folder.mkdir()
    for number in range(count):
        (folder / str(number)).touch()


def nest(folder: Path, depth: int) -> Path:
    for _ in range(depth):
        folder = folder / "d"
        folder.mkdir()
    return folder


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
    assert client.file("delete", home.name, recursive=True) == {"deleted": 2, "done": True}


def test_list_is_bounded(client: Client, home: Path) -> None:
    for number in range(12):
        (home / f"{number:02}").mkdir()
        (home / f"{number:02}" / "in").write_bytes(b"")
    assert client.file("list", home.name, limit=12) == {"entries": 12, "truncated": False}
    assert client.file("list", home.name, limit=11) == {"entries": 11, "truncated": True}
    assert client.file("list", home.name, recursive=True, limit=24) == {"entries": 24, "truncated": False}
    nearest = client.files(home.name, recursive=True, limit=12)
    assert all("/" not in about["path"] for about in nearest)


def test_the_most_that_a_list_tells(client: Client, home: Path) -> None:
    for number in range(10_001):
        (home / str(number)).touch()
    assert client.file("list", home.name) == {"entries": 1000, "truncated": True}
    assert client.file("list", home.name, limit=10_000) == {"entries": 10_000, "truncated": True}
    (home / "0").unlink()
    assert client.file("list", home.name, limit=10_000) == {"entries": 10_000, "truncated": False}


@pytest.mark.slow
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


def test_depth_is_bounded(client: Client, home: Path) -> None:
    nest(home, 64)
    assert client.file("list", home.name, recursive=True) == {"entries": 64, "truncated": True}
    assert client.file("delete", f"{home.name}/d", recursive=True) == {"deleted": 64, "done": True}
    nest(home, 66)
    with pytest.raises(Refused, match="more than 64 folders"):
        client.file("delete", f"{home.name}/d", recursive=True)
    long = "/".join(["d"] * 64)
    assert client.file("stat", long.replace("d", home.name, 1))["type"] == "folder"
    with pytest.raises(Refused, match=r"too_long: .* more than 64 folders"):
        client.file("stat", long.replace("d", home.name, 1) + "/d")


def test_delete(client: Client, home: Path) -> None:
    client.write(f"{home.name}/a/b/c", b"")
    client.write(f"{home.name}/a/d", b"")
    with pytest.raises(Refused, match=r"not_empty: .* 'recursive'"):
        client.file("delete", f"{home.name}/a")
    assert client.file("delete", f"{home.name}/a/d") == {"deleted": 1, "done": True}
    assert client.file("delete", f"{home.name}/a", recursive=True) == {"deleted": 3, "done": True}
    client.file("mkdir", f"{home.name}/e")
    assert client.file("delete", f"{home.name}/e") == {"deleted": 1, "done": True}
    assert list(home.iterdir()) == []
    with pytest.raises(Refused, match="not_found"):
        client.file("delete", f"{home.name}/a", recursive=True)


@pytest.mark.slow
def test_long_deeds_let_others_go_first(spare: Running) -> None:
    client, other = spare.ready(), spare.client()
    other.hello()
    crowd(spare.workspace / "crowd", 20_000)
    crowd(spare.workspace / "small", 3)
    deletion = client.send("files", operation="delete", path="crowd", recursive=True)
    with pytest.raises(Refused, match="rejected: another list or deletion goes on"):
        client.file("list", "small")
    assert client.write("written", b"meanwhile")["size"] == 9
    assert deletion not in client.replies
    assert other.files("small")
    assert client.reply_to(deletion) == {"deleted": 20_001, "done": True}
    assert client.files("small")


def left_in(folder: Path) -> int:
    """How many files; on a quick machine the folder may be gone before one looks."""
    try:
        return len(os.listdir(folder))
    except FileNotFoundError:
        return 0


@pytest.mark.slow
def test_a_gateway_that_went_away_leaves_no_deed_behind(spare: Running) -> None:
    client, other = spare.ready(), spare.client()
    other.hello()
    folder, files = spare.workspace / "crowd", 30_000
    crowd(folder, files)
    other.send("files", operation="delete", path="crowd", recursive=True)
    client.until(lambda: left_in(folder) < files, PATIENCE, "the deletion to begin")
    other.close()
    client.until(lambda: not folder.exists(), PATIENCE, "the deletion to end")
    assert client.file("stat", ".")["type"] == "folder"


def test_a_deletion_whose_time_is_over_goes_on_when_asked_again(tmp_path: Path) -> None:
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


@pytest.mark.alone
def test_listing_stays_quick_for_others(shared: Running, client: Client, home: Path) -> None:
    crowd(home / "crowd", 3000)
    other = shared.client()
    other.hello()
    listing = client.send("files", operation="list", path=home.name, recursive=True, limit=10_000)
    began = time.monotonic()
    other.ask("list")
    assert time.monotonic() - began < 1
    assert len(json.loads(client.both_to(listing)[1])) == 3001
