"""Programs that swap a folder for a link out, at the worst moment, while the verb ``files`` works on it.

Each attack comes with a control: who looks first and acts then really gets out.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from client import Client, Refused
from outside import assert_untouched, plant

from sandglass_supervisor.files.confined import Entry
from sandglass_supervisor.files.file_walks import deletion, listing
from sandglass_supervisor.link.wire import Problem

# A program that swaps at exactly the worst moment: the deeds go entry by entry, so that every moment can be tried.
Steps = Generator[None, None, object]


def plain_deletion(folder: Path) -> Steps:
    """Looks at paths, as one would without thinking of it; a step between each look and each deed."""
    for name in sorted(os.listdir(folder)):
        path = folder / name
        yield
        if path.is_symlink() or not path.is_dir():
            yield
            path.unlink(missing_ok=True)
        else:
            yield
            yield from plain_deletion(path)
    yield
    folder.rmdir()
    return None


def plain_listing(folder: Path, seen: list[bytes]) -> Steps:
    for name in sorted(os.listdir(folder)):
        path = folder / name
        yield
        if path.is_dir() and not path.is_symlink():
            yield
            yield from plain_listing(path, seen)
        else:
            yield
            seen.append(name.encode())
    return None


def tree(folder: Path) -> None:
    for name in ("a", "inner", "z"):
        (folder / "top" / name / "inner").mkdir(parents=True)
        (folder / "top" / name / "deep").touch()
        (folder / "top" / name / "inner/deep").touch()


def swap(folder: Path, place: str, victim: Path) -> None:
    with suppress(OSError):
        (folder / place).rename(folder / "held")
        (folder / place).symlink_to(victim)


def each_moment(base: Path, make: Callable[[Path, Path], Steps]) -> Iterator[Path]:
    """Runs to each of its steps, swaps a folder for a link out, runs to the end; yields what lies outside."""
    for place in ("top", "top/a", "top/inner", "top/a/inner", "top/z/inner", "top/z"):
        for moment in range(40):
            folder, victim = base / "work", base / "victim"
            tree(folder)
            plant(victim)
            steps = make(folder, victim)
            with suppress(StopIteration, OSError, Problem):
                for _ in range(moment):
                    next(steps)
                swap(folder, place, victim)
                while True:
                    next(steps)
            steps.close()
            yield victim
            shutil.rmtree(folder)
            shutil.rmtree(victim)


def is_untouched(victim: Path) -> bool:
    return sorted(path.name for path in victim.rglob("*")) == ["deep", "inner", "secret"]


def test_a_swap_at_any_moment_of_a_deletion(tmp_path: Path) -> None:
    def ours(folder: Path, _: Path) -> Steps:
        return deletion("top", Entry(os.open(folder, os.O_RDONLY), "top"), lambda: False)

    assert all(is_untouched(victim) for victim in each_moment(tmp_path, ours))
    control = each_moment(tmp_path / "control", lambda folder, _: plain_deletion(folder / "top"))
    assert not all(is_untouched(victim) for victim in control)


@pytest.mark.slow
def test_a_swap_at_any_moment_of_a_listing(tmp_path: Path) -> None:
    answers: list[bytes] = []
    plainly: list[bytes] = []

    def ours(folder: Path, _: Path) -> Steps:
        return told(os.open(folder / "top", os.O_RDONLY))

    def told(base: int) -> Steps:
        _, blob = yield from listing(base, 1000, lambda: False, recursive=True)
        answers.append(blob)
        return None

    for _ in each_moment(tmp_path, ours):
        pass
    assert len(answers) > 100
    assert not any(b"secret" in answer for answer in answers)
    for _ in each_moment(tmp_path / "control", lambda folder, _: plain_listing(folder / "top", plainly)):
        pass
    assert b"secret" in plainly


EXCHANGE = """
import ctypes, sys
libc = ctypes.CDLL(None)
one, other = (path.encode() for path in sys.argv[1:])
print(flush=True)
while True:
    libc.renameat2(-100, one, -100, other, 2)
"""


@contextmanager
def exchanging(one: Path, other: Path) -> Iterator[None]:
    """A program that swaps the two names as fast as it can."""
    command = [sys.executable, "-c", EXCHANGE, str(one), str(other)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        try:
            yield
        finally:
            program.kill()


@pytest.mark.slow
def test_a_program_that_swaps_all_the_time(client: Client, home: Path, outside: Path) -> None:
    real, link = home / "inner", home / "link"
    real.mkdir()
    (real / "deep").write_bytes(b"inside")
    link.symlink_to(outside / "inner")
    told: dict[str, int] = {}
    ends = time.monotonic() + 30
    with exchanging(real, link):
        while time.monotonic() < ends and (sum(told.values()) < 3000 or len(told) < 2):
            for path in ("inner/deep", "link/deep"):
                try:
                    client.write(f"{home.name}/{path}", b"inside")
                    client.write(f"{home.name}/{path}", b"I", offset=0)
                    assert client.read(f"{home.name}/{path}") in (b"inside", b"Inside")
                    word = "done"
                except Refused as refused:
                    word = refused.code
                told[word] = told.get(word, 0) + 1
    # It is no test unless both happened: the folder was met, and the link.
    assert {"done", "outside"} <= set(told), told
    assert set(told) <= {"done", "outside", "not_found", "busy"}, told


def test_control_a_look_before_the_deed_is_not_enough(home: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    plant(victim)
    real, link = home / "inner", home / "link"
    real.mkdir()
    link.symlink_to(victim / "inner")
    ends = time.monotonic() + 30
    with exchanging(real, link):
        while time.monotonic() < ends and not (victim / "inner/got-out").exists():
            with suppress(OSError):
                if os.path.realpath(real).startswith(str(home)):
                    (real / "got-out").write_bytes(b"x")
    assert (victim / "inner/got-out").exists()


@pytest.mark.slow
def test_lists_and_deletions_while_a_program_swaps(client: Client, home: Path, outside: Path) -> None:
    rounds = 40
    for number in range(rounds):
        real, link = home / "top/inner", home / "link"
        for inner in ("deep", "f1", "f2", "d1/deep", "d2/d3/deep"):
            (real / inner).parent.mkdir(parents=True, exist_ok=True)
            (real / inner).touch()
        link.symlink_to(outside)
        with exchanging(real, link) if number % 8 == 0 else exchanging(real / "d2", link):
            for _ in range(20):
                listed = client.files(home.name, recursive=True)
                assert not any(about["path"].endswith("secret") for about in listed)
            with suppress(Refused):
                client.ask("files", operation="delete", path=f"{home.name}/top", recursive=True)
        assert_untouched(outside)
        client.ask("files", operation="delete", path=home.name, recursive=True)
        home.mkdir()
