"""Copies that were cut, and the same command started again."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sandglass.command_line import copy_journal
from sandglass.command_line.copy_journal import KEPT_S
from sandglass.wire import exchange
from tests.bridges import wait_until
from tests.commands import Run
from tests.endpoint import TOKEN, Endpoint, Json, Reply, ran
from tests.test_cp import Workspace

MIB = 1024 * 1024
LARGE = os.urandom(5 * MIB + 17)
SUM = "sandbox_run_command"


class Box(Workspace):
    """A sandbox that computes sums, dates files, and cuts or holds what it is told to."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.endpoint = endpoint
        self.modified: dict[str, str] = {}
        self.mended = 0
        endpoint.tools |= {SUM: self.sums, "sandbox_list_files": self.list, "sandbox_manage_files": self.manage}

    def sums(self, arguments: Json) -> Json:
        assert (arguments["command"], arguments["args"][0]) == ("sha256sum", "--")
        paths = [path for path in arguments["args"][1:] if path in self.files]
        lines = [f"{hashlib.sha256(self.files[path]).hexdigest()}  {path}\n" for path in paths]
        return ran("ok", stdout="".join(lines), exit_code=0)

    def list(self, arguments: Json) -> Json:
        listed = super().list(arguments)
        for entry in listed["structuredContent"]["entries"]:
            entry["modified"] = self.modified.get(f"{arguments['path']}/{entry['path']}", "")
        return listed

    def manage(self, arguments: Json) -> Json:
        found = super().manage(arguments)
        if "file" in found.get("structuredContent", {}):
            found["structuredContent"]["file"]["modified"] = self.modified.get(arguments["path"], "")
        return found

    def cut(self, tool: str, after: int) -> None:
        """The endpoint refuses its key after so many calls: a failure that is not tried again."""
        works, left = self.endpoint.tools[tool], after

        def answer(arguments: Json) -> Json | Reply:
            nonlocal left
            left -= 1
            return works(arguments) if left >= 0 else Reply({"error": {"code": -32600, "message": "no"}}, 401)

        self.endpoint.tools[tool] = answer

    def mend(self, tool: str, works: Callable[[Json], Json | Reply]) -> None:
        self.endpoint.tools[tool] = works
        # Requests of the command that was cut may still arrive.
        self.mended = next(exchange._numbers)

    def calls(self, tool: str) -> Sequence[Json]:
        """The arguments of the calls since then."""
        received = [each for each in self.endpoint.received if each.tool == tool]
        return [each.arguments for each in received if each.message["id"] > self.mended]

    def offsets(self, tool: str) -> Sequence[int]:
        return [arguments.get("offset") or 0 for arguments in self.calls(tool)]


@pytest.fixture
def box(endpoint: Endpoint) -> Box:
    return Box(endpoint)


@pytest.fixture
def cut_upload(box: Box, run: Run) -> Box:
    """Three of six pieces are in the sandbox."""
    Path("large").write_bytes(LARGE)
    box.cut("sandbox_write_file", 3)
    done = run("cp", "large", "box:large")
    assert done.code == 3
    assert "the copy was cut: the same command goes on where it ended\n" in done.err
    assert len(box.files["large"]) == 3 * MIB
    box.mend("sandbox_write_file", box.write)
    return box


@pytest.fixture
def cut_download(box: Box, run: Run) -> Box:
    """Some of six pieces are here."""
    box.files["large"], box.modified["large"] = LARGE, "then"
    box.cut("sandbox_read_file", 3)
    done = run("cp", "box:large", "back")
    assert (done.code, Path("back").exists()) == (3, False)
    assert "the same command goes on" in done.err
    assert len(parts()) == 1
    box.mend("sandbox_read_file", box.read)
    return box


def parts() -> list[Path]:
    return list(Path().rglob(".sandglass-*"))


def journals() -> list[Path]:
    return list(Path(os.environ["XDG_STATE_HOME"]).rglob("*.jsonl"))


def test_an_upload_goes_on_where_it_was_cut(cut_upload: Box, run: Run) -> None:
    done = run("cp", "large", "box:large")
    assert done.err == "sandglass: copied 1 file, 5.0 MiB; 3.0 MiB of it were there since the copy was cut\n"
    assert cut_upload.offsets("sandbox_write_file") == [3 * MIB, 4 * MIB, 5 * MIB]
    assert cut_upload.files["large"] == LARGE
    assert journals() == []


def test_a_download_goes_on_where_it_was_cut(cut_download: Box, run: Run) -> None:
    done = run("cp", "box:large", "back")
    assert (done.code, "were there since the copy was cut" in done.err) == (0, True)
    assert 1 <= len(cut_download.offsets("sandbox_read_file")) < 6
    assert Path("back").read_bytes() == LARGE
    assert (parts(), journals()) == ([], [])


@pytest.mark.slow
def test_an_upload_of_a_file_that_changed_starts_over(cut_upload: Box, run: Run) -> None:
    Path("large").write_bytes(LARGE[::-1])
    assert "since the copy was cut" not in run("cp", "large", "box:large").err
    assert cut_upload.files["large"] == LARGE[::-1]
    assert cut_upload.calls(SUM) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "there", [b"x" * 3 * MIB, LARGE[:-1] + b"xx", b"", None], ids=["other", "longer", "empty", "gone"]
)
def test_an_upload_onto_what_changed_in_the_sandbox_starts_over(cut_upload: Box, run: Run, there: bytes | None) -> None:
    del cut_upload.files["large"]
    if there is not None:
        cut_upload.files["large"] = there
    assert run("cp", "large", "box:large").code == 0
    assert cut_upload.offsets("sandbox_write_file")[0] == 0
    assert cut_upload.files["large"] == LARGE


def test_an_upload_to_a_sandbox_that_computes_no_sums_starts_over(cut_upload: Box, run: Run) -> None:
    cut_upload.endpoint.tools[SUM] = lambda _: ran("error", exit_code=127)
    assert run("cp", "large", "box:large").code == 0
    assert cut_upload.offsets("sandbox_write_file")[0] == 0
    assert cut_upload.files["large"] == LARGE


@pytest.mark.parametrize("change", ["size", "time"])
def test_a_download_of_a_file_that_changed_starts_over(cut_download: Box, run: Run, change: str) -> None:
    other = LARGE[::-1] + (b"x" if change == "size" else b"")
    cut_download.files["large"] = other
    cut_download.modified["large"] = "then" if change == "size" else "now"
    assert "since the copy was cut" not in run("cp", "box:large", "back").err
    assert Path("back").read_bytes() == other
    assert parts() == []


def test_pieces_of_a_part_that_changed_are_fetched_again(cut_download: Box, run: Run) -> None:
    with parts()[0].open("r+b") as file:
        file.write(b"something else")
    assert run("cp", "box:large", "back").code == 0
    assert 0 in cut_download.offsets("sandbox_read_file")
    assert Path("back").read_bytes() == LARGE


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["link", "second name", "pipe", "nothing"])
def test_something_else_in_the_place_of_a_part_is_not_written(cut_download: Box, run: Run, planted: str) -> None:
    part, mine = parts()[0], Path("mine")
    part.rename(mine)
    before = mine.read_bytes()
    if planted == "link":
        part.symlink_to(mine)
    elif planted == "second name":
        part.hardlink_to(mine)
    elif planted == "pipe":
        os.mkfifo(part)
    assert run("cp", "box:large", "back").code == 0
    assert Path("back").read_bytes() == LARGE
    assert (mine.read_bytes(), Path("back").is_symlink()) == (before, False)
    assert parts() == []


@pytest.mark.slow
@pytest.mark.parametrize("damage", [b"", b"\0" * 40, b'{"is":"begun"}\n', b'{"target":1}\n', b"[" * 100_000 + b"\n"])
def test_a_journal_that_is_no_journal_starts_over(cut_download: Box, run: Run, damage: bytes) -> None:
    journals()[0].write_bytes(damage)
    assert run("cp", "box:large", "back").code == 0
    assert len(cut_download.offsets("sandbox_read_file")) == 6
    assert Path("back").read_bytes() == LARGE
    assert journals() == []


@pytest.mark.slow
def test_without_resume_all_is_copied_anew_and_nothing_is_left(cut_download: Box, run: Run) -> None:
    assert run("cp", "--no-resume", "box:large", "back").err == "sandglass: copied 1 file, 5.0 MiB\n"
    assert len(cut_download.offsets("sandbox_read_file")) == 6
    assert (parts(), journals()) == ([], [])
    cut_download.cut("sandbox_read_file", 3)
    done = run("cp", "--no-resume", "box:large", "again")
    assert (done.code, "goes on" in done.err) == (3, False)
    assert (parts(), journals()) == ([], [])


def test_a_folder_goes_on_with_the_files_that_are_missing(box: Box, run: Run) -> None:
    box.folders.add("d")
    box.files |= {f"d/{number:02}": bytes([number]) * 100 for number in range(30)}
    box.modified |= dict.fromkeys(box.files, "then")
    box.cut("sandbox_read_file", 12)
    assert run("cp", "box:d", "down").code == 3
    box.mend("sandbox_read_file", box.read)
    assert len(parts()) > 0
    changed = min(path.name for path in Path("down").iterdir() if path not in parts())
    Path("down", changed).write_bytes(b"changed here")
    there = {path.name for path in Path("down").iterdir()}
    assert run("cp", "box:d", "down").code == 0
    fetched = {arguments["path"].removeprefix("d/") for arguments in box.calls("sandbox_read_file")}
    assert changed in fetched
    assert not fetched & (there - {changed})
    assert {path.name: path.read_bytes() for path in Path("down").iterdir()} == {
        f"{number:02}": bytes([number]) * 100 for number in range(30)
    }


def test_a_folder_goes_up_with_the_files_that_are_missing(box: Box, run: Run) -> None:
    Path("up").mkdir()
    for number in range(30):
        Path(f"up/{number:02}").write_bytes(bytes([number]) * 100)
    box.cut("sandbox_write_file", 12)
    assert run("cp", "up", "box:up/").code == 3
    box.mend("sandbox_write_file", box.write)
    there = set(box.files)
    changed = min(there)
    box.files[changed] = b"changed there"
    assert run("cp", "up", "box:up/").code == 0
    written = {arguments["path"] for arguments in box.calls("sandbox_write_file")}
    assert changed in written
    assert not written & (there - {changed})
    assert box.files == {f"up/up/{number:02}": bytes([number]) * 100 for number in range(30)}


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_what_the_next_one_goes_on_with(endpoint: Endpoint, box: Box, run: Run) -> None:
    box.files["large"], box.modified["large"] = LARGE, "then"
    works, is_killed = endpoint.tools["sandbox_read_file"], False

    def holding(arguments: Json) -> Json | Reply:
        if arguments["offset"] < 3 * MIB or is_killed:
            return works(arguments)
        wait_until(lambda: is_killed)
        return Reply(breaks=True)

    endpoint.tools["sandbox_read_file"] = holding
    env = {
        **os.environ,
        "SANDGLASS_URL": endpoint.url,
        "SANDGLASS_TOKEN": TOKEN,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    process = subprocess.Popen([sys.executable, "-m", "sandglass", "cp", "box:large", "back"], env=env)
    wait_until(lambda: sum(place.read_text().count('"piece"') for place in journals()) == 3)
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    is_killed = True
    endpoint.received.clear()
    assert "3.0 MiB of it were there" in run("cp", "box:large", "back").err
    assert set(box.offsets("sandbox_read_file")) == {3 * MIB, 4 * MIB, 5 * MIB}
    assert Path("back").read_bytes() == LARGE


def test_two_copies_at_once_disturb_each_other_in_nothing(cut_download: Box, run: Run) -> None:
    import fcntl

    with journals()[0].open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run("cp", "box:large", "back").code == 0
    assert len(cut_download.offsets("sandbox_read_file")) == 6
    assert Path("back").read_bytes() == LARGE
    assert (len(parts()), len(journals())) == (1, 1)


def test_what_nobody_came_back_to_is_removed_after_a_week(cut_download: Box, run: Run) -> None:
    cut_download.files["small"] = b"x"
    run("cp", "box:small", "small")
    assert (len(parts()), len(journals())) == (1, 1)
    week_ago = time.time() - KEPT_S - 60
    os.utime(journals()[0], (week_ago, week_ago))
    run("cp", "box:small", "small")
    assert (parts(), journals()) == ([], [])


def test_a_folder_for_state_that_cannot_be_written_hinders_nothing(
    box: Box, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(Path("file").resolve()))
    box.files["large"] = LARGE
    assert run("cp", "box:large", "back").code == 0
    assert Path("back").read_bytes() == LARGE


@pytest.mark.slow
def test_a_journal_has_no_more_than_its_bound(cut_download: Box, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    most = journals()[0].stat().st_size
    monkeypatch.setattr(copy_journal, "MAX_BYTES", most)
    cut_download.cut("sandbox_read_file", 1)
    assert run("cp", "box:large", "back").code == 3
    assert journals()[0].stat().st_size <= most
    monkeypatch.setattr(copy_journal, "MAX_BYTES", journals()[0].stat().st_size - 1)
    cut_download.mend("sandbox_read_file", cut_download.read)
    assert run("cp", "box:large", "back").err == "sandglass: copied 1 file, 5.0 MiB\n"
    assert Path("back").read_bytes() == LARGE
