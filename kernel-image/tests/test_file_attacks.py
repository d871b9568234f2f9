"""What programs in the sandbox arrange so that the verb ``files`` would touch what lies outside.

Each attack comes with a control: the plain way of doing the same really gets out.
"""

import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from client import Client, Refused
from conftest import Running

from sandglass_supervisor.confined import Entry
from sandglass_supervisor.deeds import deletion, listing
from sandglass_supervisor.wire import Problem

SECRET = b"what nobody in the sandbox wrote"


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside the workspace; whatever happens, it stays as it is."""
    folder = tmp_path / "outside"
    plant(folder)
    yield folder
    assert_untouched(folder)


def plant(folder: Path) -> None:
    (folder / "inner").mkdir(parents=True)
    (folder / "secret").write_bytes(SECRET)
    (folder / "inner/deep").write_bytes(SECRET)


def assert_untouched(folder: Path) -> None:
    assert sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) == ["inner", "inner/deep", "secret"]
    assert (folder / "secret").read_bytes() == (folder / "inner/deep").read_bytes() == SECRET


@pytest.fixture
def home(shared: Running, name: str) -> Path:
    folder = shared.workspace / name
    folder.mkdir()
    return folder


OPERATIONS: list[dict[str, Any]] = [
    {"operation": "read"},
    {"operation": "write"},
    {"operation": "write", "offset": 0},
    {"operation": "list"},
    {"operation": "mkdir"},
    {"operation": "delete"},
    {"operation": "delete", "recursive": True},
    {"operation": "stat"},
]


def ways(home: Path, outside: Path) -> list[str]:
    """Paths that lead to ``outside/inner/deep``, ``outside/inner`` or something new beside them."""
    (home / "out").symlink_to(outside)
    (home / "climb").symlink_to(os.path.relpath(outside, home))
    (home / "hop").symlink_to(home / "out")
    (home / "sub").mkdir()
    up = "../" * (len(home.parts) + 2)
    begins = (
        *("out", "climb", "hop", "sub/../out", str(home / "out"), str(outside)),
        *(f"../../{outside.parent.name}/{outside.name}", f"sub/{up}{outside}", f"{home}/{up}{outside}"),
    )
    return [f"{begin}/{end}" for begin in begins for end in ("inner/deep", "inner", "new", "new/new")]


def test_no_way_leads_out(client: Client, home: Path, outside: Path) -> None:
    for way in ways(home, outside):
        path = way if way.startswith("/") else f"{home.name}/{way}"
        for operation in OPERATIONS:
            with pytest.raises(Refused, match=r"^outside: .* (leads out of|goes along)"):
                client.ask("files", b"x" if operation["operation"] == "write" else None, path=path, **operation)
        for source, target in ((path, f"{home.name}/got"), (f"{home.name}/sub", path)):
            with pytest.raises(Refused, match=r"^outside: |^not_found: "):
                client.ask("files", operation="move", path=source, to=target)
    assert (home / "sub").is_dir()
    assert not (home / "got").exists()


def test_control_the_plain_way_leads_out(home: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    plant(victim)
    assert (home / ways(home, victim)[0]).read_bytes() == SECRET
    (home / "climb/new").write_bytes(b"x")
    (home / "hop/inner/deep").unlink()
    assert sorted(path.name for path in victim.rglob("*")) == ["inner", "new", "secret"]


def test_a_link_to_what_is_outside_can_be_looked_at_and_deleted(client: Client, home: Path, outside: Path) -> None:
    (home / "out").symlink_to(outside)
    assert client.ask("files", operation="stat", path=f"{home.name}/out")["target"] == str(outside)
    client.ask("files", operation="move", path=f"{home.name}/out", to=f"{home.name}/moved")
    answer = client.ask("files", operation="delete", path=f"{home.name}/moved", recursive=True)
    assert answer == {"deleted": 1, "done": True}


def test_a_dangling_link_makes_nothing_outside(client: Client, home: Path, outside: Path) -> None:
    (home / "dangling").symlink_to(outside / "new")
    with pytest.raises(Refused, match="outside"):
        client.write(f"{home.name}/dangling", b"x")


MAGIC = [
    "self/environ",
    "self/root/etc/passwd",
    "self/cwd",
    "self/fd/0",
    "self/exe",
    "1/environ",
    "thread-self/environ",
]


def test_the_systems_own_links(shared: Running, client: Client, home: Path) -> None:
    (home / "proc").symlink_to("/proc")
    (home / "environ").symlink_to("/proc/self/environ")
    (home / "root").symlink_to("/proc/self/root")
    for path in (*(f"proc/{magic}" for magic in MAGIC), "environ", f"root{home}", "root/etc/passwd"):
        for given in (f"{home.name}/{path}", f"{home}/{path}"):
            with pytest.raises(Refused, match="outside"):
                client.read(given)
    for magic in MAGIC:
        with pytest.raises(Refused, match="outside"):
            client.read(f"/proc/{magic}")
    # The control: who follows these links gives away his own environment, which is where the supervisor got its key.
    assert (home / "environ").read_bytes() == Path("/proc/self/environ").read_bytes() != b""
    assert (home / "root/etc/passwd").read_bytes() == Path("/etc/passwd").read_bytes()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to mount")
def test_magic_links_below_a_root(tmp_path: Path) -> None:
    """Even with /proc as a volume, only its plain files are read."""
    running = Running(tmp_path, SANDGLASS_VOLUMES="/proc")
    try:
        client = running.ready()
        assert client.files("/proc/self/fd") != []
        for magic in ("self/root/etc/passwd", "self/cwd", "self/exe", f"{running.pid}/root/etc/passwd"):
            with pytest.raises(Refused, match=r"outside: .* goes along links"):
                client.read(f"/proc/{magic}")
    finally:
        running.stop()


def test_nothing_but_regular_files(client: Client, home: Path) -> None:
    os.mkfifo(home / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    folder = os.open(home, os.O_PATH)
    listener.bind(f"/proc/self/fd/{folder}/socket")  # the path itself may be longer than an address can be
    os.close(folder)
    others = ["pipe", "socket"]
    if os.getuid() == 0:
        os.mknod(home / "device", 0o666 | 0o020000, os.makedev(1, 5))  # /dev/zero
        os.mknod(home / "terminal", 0o666 | 0o020000, os.makedev(5, 0))  # /dev/tty
        others += ["device", "terminal"]
    began = time.monotonic()
    for other in others:
        path = f"{home.name}/{other}"
        for ask in (
            lambda path=path: client.read(path),
            lambda path=path: client.write(path, b"x"),
            lambda path=path: client.write(path, b"x", offset=0),
        ):
            with pytest.raises(Refused, match="not_a_file: Not a file"):
                ask()
        assert client.ask("files", operation="stat", path=path)["type"] == "other"
    assert time.monotonic() - began < 5
    # A pipe with a reader could be opened, and must not be written to.
    reader = os.open(home / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(Refused, match="not_a_file"):
        client.write(f"{home.name}/pipe", b"x", offset=0)
    assert os.read(reader, 1) == b""
    os.close(reader)
    listener.close()
    assert client.ask("files", operation="delete", path=home.name, recursive=True)["done"]


def test_control_the_plain_way_waits_for_ever_at_a_pipe(home: Path) -> None:
    os.mkfifo(home / "pipe")
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", "open('pipe').read()"], check=False, cwd=home, timeout=1)


def test_a_leased_file_keeps_nobody_waiting(client: Client, home: Path) -> None:
    (home / "leased").write_bytes(b"x")
    before = signal.signal(signal.SIGIO, signal.SIG_IGN)
    with (home / "leased").open("rb+") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        began = time.monotonic()
        with pytest.raises(Refused, match=r"busy: .* locked by a program"):
            client.read(f"{home.name}/leased")
        assert time.monotonic() - began < 2
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    signal.signal(signal.SIGIO, before)
    assert client.read(f"{home.name}/leased") == b"x"


def test_a_system_without_openat2_says_so(tmp_path: Path) -> None:
    """A filter that answers ENOSYS to call 437, as an old system does."""
    lines = [(0x20, 0, 0, 0), (0x15, 0, 1, 437), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)]
    program = b"".join(struct.pack("=HBBI", *line) for line in lines)
    code = (
        "import os, sys; from sandglass_supervisor import linux; "
        f"linux.install_filter({program!r}); os.execv(sys.argv[1], sys.argv[1:])"
    )
    running = Running(tmp_path, [sys.executable, "-c", code])
    try:
        client = running.ready()
        for operation in OPERATIONS:
            with pytest.raises(Refused, match="not_supported: this system has no openat2"):
                client.ask("files", path="f", **operation)
    finally:
        running.stop()


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
