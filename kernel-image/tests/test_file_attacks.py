"""What programs in the sandbox arrange so that the verb ``files`` would touch what lies outside.

Each attack comes with a control: the plain way of doing the same really gets out. ``test_file_races`` has those that
swap what is there meanwhile.
"""

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from client import Client, Refused
from outside import SECRET, plant
from supervisors import Running, needs_root

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


@needs_root
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
    assert time.monotonic() - began < 20
    # A pipe with a reader could be opened, and must not be written to.
    reader = os.open(home / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(Refused, match="not_a_file"):
        client.write(f"{home.name}/pipe", b"x", offset=0)
    assert os.read(reader, 1) == b""
    os.close(reader)
    listener.close()
    assert client.ask("files", operation="delete", path=home.name, recursive=True)["done"]


@pytest.mark.slow
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
        assert time.monotonic() - began < 20  # Linux would have waited for 45 s
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    signal.signal(signal.SIGIO, before)
    assert client.read(f"{home.name}/leased") == b"x"


@pytest.mark.slow
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
