"""Files of a synced folder that one side deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandglass.bridge.workspace import MARKER, Changes, Mark, Pair, changes, is_emptied
from tests.bridges import Bridge, Gateway, call
from tests.endpoint import Endpoint, result
from tests.test_workspace import Times, names

A, B = Mark(1, "a"), Mark(1, "b")
COPIED = {"f": Pair(A, A)}
FEW = ("one", "two", "three")
MANY = tuple(f"{number:02}" for number in range(30))


@pytest.mark.parametrize(
    ("here", "there", "wanted"),
    [
        ({"f": A}, {"f": A}, Changes()),
        ({}, {"f": A}, Changes(gone_here=("f",))),
        ({"f": A}, {}, Changes(gone_there=("f",))),
        ({}, {}, Changes()),
        ({}, {"f": B}, Changes(down=("f",))),
        ({"f": B}, {}, Changes(up=("f",))),
        ({}, {"f": A, "F": B}, Changes(alike=(("F", "f"),))),
        ({"f": A, "F": B}, {}, Changes(alike=(("F", "f"),))),
    ],
)
def test_what_is_deleted(here: Any, there: Any, wanted: Changes) -> None:
    assert changes(COPIED, here, there, copied={"f"}) == wanted


def test_what_was_not_copied_is_not_deleted() -> None:
    assert changes(COPIED, {"f": A}, {}) == changes(COPIED, {}, {"f": A}) == Changes()
    assert changes({}, {"f": A}, {}, copied={"f"}) == Changes(up=("f",))


def test_hidden_files_and_secrets_are_deleted_by_you_alone() -> None:
    for path in (".x", "a/.x"):
        before = {path: Pair(A, A)}
        assert changes(before, {path: A}, {}, copied={path}) == Changes()
        assert changes(before, {path: A}, {}, True, {path}) == Changes(gone_there=(path,))
        assert changes(before, {}, {path: A}, copied={path}) == Changes(gone_here=(path,))
    for path in (".env", ".git/config", "id_rsa"):
        assert changes({path: Pair(A, A)}, {path: A}, {}, True, {path}) == Changes()


def test_a_side_is_emptied_if_more_than_ten_files_and_more_than_half_are_gone() -> None:
    assert [is_emptied(*counts) for counts in ((10, 10), (11, 22), (11, 21), (11, 1000), (600, 1000))] == [
        False, False, True, False, True
    ]  # fmt: skip


class Synced:
    """A bridge with a folder, and what happens in the sandbox while a call runs."""

    def __init__(self, endpoint: Endpoint, gateway: Gateway, bridges: Callable[..., Bridge], here: Path) -> None:
        self.there = Times(endpoint, gateway)
        self.here = here
        self.bridges = bridges
        self.endpoint = endpoint
        self.in_call: Callable[[], None] = lambda: None
        gateway.tools["execute"] = self._execute
        here.mkdir()

    def _execute(self, _: Any) -> Any:
        self.in_call()
        return result(text="ran")

    def start(self, *options: str) -> None:
        self.bridge = self.bridges("--contract", "ipython", "--workspace", str(self.here), *options)
        self.call()

    def call(self, in_call: Callable[[], None] = lambda: None) -> None:
        self.in_call = in_call
        self.bridge.ask(call(1, "execute", {}))

    def make_here(self, *paths: str) -> None:
        for path in paths:
            (self.here / path).parent.mkdir(parents=True, exist_ok=True)
            (self.here / path).write_text(path)

    def make_there(self, *paths: str) -> None:
        for path in paths:
            self.there.put(path, path.encode())

    def delete_there(self, *paths: str) -> None:
        for path in paths:
            del self.there.files[path]

    def files_there(self) -> set[str]:
        return set(self.there.files) - {MARKER}

    def end(self) -> str:
        return self.bridge.end()[2]


@pytest.fixture
def synced(endpoint: Endpoint, gateway: Gateway, bridges: Callable[..., Bridge], tmp_path: Path) -> Synced:
    return Synced(endpoint, gateway, bridges, tmp_path / "work")


def test_a_file_that_was_deleted_here_is_deleted_in_the_sandbox(synced: Synced) -> None:
    synced.make_here(*FEW, "sub/four", ".hidden")
    synced.start()
    assert synced.files_there() == {*FEW, "sub/four", ".hidden"}
    for path in ("one", "sub/four", ".hidden"):
        (synced.here / path).unlink()
    synced.call()
    assert synced.files_there() == {"two", "three"}
    synced.make_here("one")
    synced.call()
    assert synced.files_there() == set(FEW)
    told = synced.end()
    assert told.count("3 files that were deleted here, now in the sandbox too: .hidden, one, sub/four\n") == 1


@pytest.mark.slow
def test_a_file_that_code_deleted_is_deleted_here(synced: Synced) -> None:
    synced.make_here("mine", "kept")
    synced.start()
    synced.call(lambda: synced.make_there("sub/made"))
    assert names(synced.here) == {"mine", "kept", "sub/made"}
    synced.call(lambda: synced.delete_there("sub/made", "mine"))
    assert names(synced.here) == {"kept"}
    assert "2 files that were deleted in the sandbox, now here too: mine, sub/made\n" in synced.end()


@pytest.mark.slow
def test_files_that_were_on_both_sides_before_are_not_deleted(synced: Synced) -> None:
    synced.make_here("one", "two")
    synced.make_there("one", "two")
    synced.start()
    (synced.here / "one").unlink()
    synced.call(lambda: synced.delete_there("two"))
    assert (names(synced.here), synced.files_there()) == ({"two"}, {"one"})
    assert "deleted" not in synced.end()


@pytest.mark.slow
def test_a_file_that_changed_on_the_other_side_comes_back(synced: Synced) -> None:
    synced.make_here(*FEW)
    synced.start()
    (synced.here / "one").unlink()
    synced.make_there("one")
    synced.call(lambda: synced.delete_there("two"))
    assert synced.files_there() == {"one", "three"}
    assert names(synced.here) == {"one", "three"}
    (synced.here / "one").write_text("changed here")

    def both() -> None:
        (synced.here / "three").write_text("changed")
        synced.delete_there("three")

    synced.call(both)
    assert names(synced.here) == {"one", "three"}
    synced.call()
    assert synced.there.files["three"] == b"changed"


@pytest.mark.slow
def test_a_file_that_changes_while_it_is_looked_at_is_not_deleted(synced: Synced) -> None:
    synced.make_here(*FEW)
    synced.start()
    works = synced.there.manage

    def changing(arguments: Any) -> Any:
        if arguments["action"] == "stat":
            synced.make_there("one")
        return works(arguments)

    synced.endpoint.answer.__self__.tools["sandbox_manage_files"] = changing  # type: ignore[attr-defined]
    (synced.here / "one").unlink()
    synced.call()
    assert "one" in synced.files_there()
    assert names(synced.here) == set(FEW)


@pytest.mark.slow
def test_without_deletions_both_sides_keep_what_they_have(synced: Synced) -> None:
    synced.make_here(*FEW)
    synced.start("--no-sync-deletions")
    assert synced.there.files.keys() == set(FEW)
    (synced.here / "one").unlink()
    synced.call(lambda: synced.delete_there("two"))
    assert (names(synced.here), synced.files_there()) == ({"two", "three"}, {"one", "three"})


@pytest.mark.slow
def test_a_new_workspace_gets_the_files_again(synced: Synced) -> None:
    synced.make_here(*FEW)
    synced.start()

    def lost() -> None:
        synced.there.files.clear()
        synced.make_there("made")

    synced.call(lost)
    assert names(synced.here) == {*FEW, "made"}
    assert synced.files_there() == {*FEW, "made"}
    assert "deleted" not in synced.end()


@pytest.mark.slow
@pytest.mark.parametrize("side", ["here", "there"])
def test_a_side_that_was_emptied_empties_no_other(synced: Synced, side: str) -> None:
    synced.make_here(*MANY)
    synced.start()
    if side == "here":
        for path in MANY[:-1]:
            (synced.here / path).unlink()
    synced.call(lambda: synced.delete_there(*(MANY[:-1] if side == "there" else ())))
    synced.call()
    assert len(synced.files_there()) == (1 if side == "there" else 30)
    assert len(names(synced.here)) == (1 if side == "here" else 30)
    assert synced.end().count("29 files at once are gone") == 1


@pytest.mark.slow
def test_a_folder_that_is_no_longer_there_deletes_nothing(synced: Synced, tmp_path: Path) -> None:
    synced.make_here(*FEW)
    synced.start()
    synced.here.rename(tmp_path / "moved")
    synced.call()
    assert synced.files_there() == set(FEW)
    assert "it is no longer there" in synced.end()


@pytest.mark.slow
@pytest.mark.parametrize("form", ["link", "folder", "link above"])
def test_what_became_something_else_is_not_taken_for_deleted(synced: Synced, tmp_path: Path, form: str) -> None:
    synced.make_here("sub/one", "two")
    synced.start()
    path = synced.here / "sub/one"
    if form == "link above":
        (synced.here / "sub").rename(tmp_path / "elsewhere")
        (synced.here / "sub").symlink_to(tmp_path / "elsewhere")
    elif form == "link":
        path.unlink()
        path.symlink_to(tmp_path)
    else:
        path.unlink()
        path.mkdir()
    synced.call()
    assert "sub/one" in synced.files_there()


@pytest.mark.slow
@pytest.mark.parametrize("link", ["sub/one", "sub"])
def test_what_became_a_link_in_the_sandbox_is_not_taken_for_deleted(synced: Synced, link: str) -> None:
    synced.make_here("sub/one", "two")
    synced.start()

    def replace() -> None:
        synced.delete_there("sub/one")
        synced.there.links.add(link)

    synced.call(replace)
    assert names(synced.here) == {"sub/one", "two"}


@pytest.mark.slow
def test_no_deletion_follows_a_link_of_this_machine(synced: Synced, tmp_path: Path) -> None:
    synced.start()
    synced.call(lambda: synced.make_there("sub/one", "two"))
    outside = tmp_path / "outside"
    (synced.here / "sub").rename(outside)
    (synced.here / "sub").symlink_to(outside)
    synced.call(lambda: synced.delete_there("sub/one"))
    assert (outside / "one").exists()


@pytest.mark.slow
@pytest.mark.parametrize("evil", ["../out", "/etc/passwd", "a/../../out", "a//b", "a\0b"])
def test_a_hostile_listing_deletes_nothing(synced: Synced, tmp_path: Path, evil: str) -> None:
    (tmp_path / "out").write_text("mine")
    synced.make_here(*FEW)
    synced.start()

    def hostile() -> None:
        synced.delete_there("one")
        synced.there.put(evil, b"x")

    synced.call(hostile)
    assert names(synced.here) == set(FEW)
    assert (tmp_path / "out").read_text() == "mine"
    assert "is no file below its folder" in synced.end()
