"""What outlives processes: a session gives back what it made when its kernel ends, and nothing that others made."""

import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from client import Client
from supervisors import Running, needs_root

from sandglass_supervisor.processes import belongings
from sandglass_supervisor.processes.belongings import OF_COMMANDS, Belongings, Folder, SystemV

MAKES = """
import ctypes, os, sys
from multiprocessing.shared_memory import SharedMemory
libc = ctypes.CDLL(None, use_errno=True)
def made(number):
    assert number >= 0, os.strerror(ctypes.get_errno())
def make(name, size):
    with open('/dev/shm/' + name, 'wb') as file: file.write(bytes(size))
    os.makedirs('/dev/shm/' + name + '-folder/inner')
    # Of a command this would leave a process that looks after it for a while.
    held = SharedMemory(name + '-held', create=True, size=4096) if name != 'command' else None
    made(libc.shmget(0, ctypes.c_size_t(1 << 20), 0o1600))
    made(libc.msgget(0, 0o1600))
    made(libc.semget(0, 1, 0o1600))
    made(ctypes.CDLL('librt.so.1', use_errno=True).mq_open(f'/{name}'.encode(), 0o102, 0o600, None))
    return held
"""
THERE = """
import os
print(sorted(os.listdir('/dev/shm')), sorted(os.listdir('/dev/mqueue')))
print([len(open('/proc/sysvipc/' + kind).readlines()) - 1 for kind in ('shm', 'msg', 'sem')])
"""


def there(client: Client, name: str) -> list[str]:
    return client.command(name, "python3", "-I", "-c", THERE).text().splitlines()


def everything_of(*names: str) -> list[str]:
    files = [entry for name in names for entry in (name, f"{name}-folder")] + ["theirs-held"] * ("theirs" in names)
    return [f"{sorted(files)} {sorted(names)}", str([len(names)] * 3)]


@pytest.mark.slow
@needs_root
@pytest.mark.parametrize("end", ["reset", "death"])
def test_a_kernels_end_gives_back_what_its_session_made(first: Running, end: str) -> None:
    client = first.ready()
    client.run("theirs", f"{MAKES}kept = make('theirs', 1 << 20)", session="other")
    client.command("command", "python3", "-I", "-c", f"{MAKES}make('command', 1)\nos._exit(0)")
    for turn in range(3):
        filled = client.run(f"fills{turn}", f"{MAKES}kept = make('mine', 30 << 20)")
        assert filled.outcome is not None
        assert filled.outcome["status"] == "ok", filled.outcome["message"]
        if end == "reset":
            client.ask("reset", language="python", session="default")
        else:
            client.run(f"dies{turn}", "os.kill(os.getpid(), 9)")
            client.run(f"lives{turn}", "1")
    assert there(client, "look") == everything_of("command", "theirs")
    lock = "import multiprocessing; multiprocessing.Lock(); 'locks'"
    assert client.run("lock", lock).only("result").blob == b"'locks'"
    assert client.run("still", "bytes(kept.buf[:1])", session="other").only("result").blob == b"b'\\x00'"
    client.ask("close", language="python", session="other")
    assert there(client, "after") == everything_of("command")


@needs_root
def test_full_shared_memory_is_named(first: Running) -> None:
    client = first.ready()
    fill = (
        "import multiprocessing\nwith open('/dev/shm/full', 'wb', 0) as file:\n  while True: file.write(bytes(1 << 20))"
    )
    for filled, status, exit_code in (
        (client.run("fill", fill), "error", None),
        (client.run("lock", "multiprocessing.Lock()"), "error", None),
        (client.command("shell", "dd", "if=/dev/zero", "of=/dev/shm/more"), "ok", 1),
    ):
        assert filled.outcome is not None
        assert (filled.outcome["status"], filled.outcome.get("exit_code")) == (status, exit_code)
        assert "Shared memory (/dev/shm, 64 MiB) is full" in filled.outcome["warning"]
    client.ask("reset", language="python", session="default")
    after = client.run("after", "import multiprocessing; multiprocessing.Lock(); 1").outcome
    assert after is not None
    assert (after["status"], after.get("warning")) == ("ok", None)


class Names:
    """A store for tests."""

    def __init__(self) -> None:
        self.there: set[str] = set()

    def names(self) -> Iterable[str] | None:
        return set(self.there)

    def remove(self, name: str) -> None:
        self.there.remove(name)


def test_what_two_can_have_made_goes_with_the_last_of_them() -> None:
    store = Names()
    own = Belongings([store])
    own.begin("a")
    store.there.add("a's")
    own.begin("b")
    store.there.add("of a or b")
    own.end("a")
    store.there.add("b's")
    own.end("b")
    store.there.add("of a or b, between runs")
    own.release("a")
    assert store.there == {"of a or b", "b's", "of a or b, between runs"}
    own.release("b")
    assert store.there == set()


def test_what_a_command_can_have_made_stays() -> None:
    store, left = Names(), [False]
    own = Belongings([store], lambda: left[0])
    own.begin("a")
    own.begin(OF_COMMANDS)
    store.there.add("of a or a command")
    own.end(OF_COMMANDS)
    own.end("a")
    left[0] = True
    own.begin("a")
    store.there.add("of a or what a command left")
    own.end("a")
    own.release("a")
    assert len(store.there) == 2


def test_what_was_removed_and_made_again_is_of_who_made_it_last() -> None:
    store = Names()
    own = Belongings([store])
    own.begin("a")
    store.there.add("x")
    own.end("a")
    store.there.clear()
    own.begin("b")
    store.there.add("x")
    own.end("b")
    own.release("a")
    assert store.there == {"x"}


def test_a_folder_is_listed_anew_when_it_has_changed(tmp_path: Path) -> None:
    trees: list[str] = []
    store = Folder(str(tmp_path), trees.append)
    (tmp_path / "one").touch()
    os.utime(tmp_path, ns=(1, 1))
    assert store.names() == ["one"]
    assert store.names() is None
    (tmp_path / "two").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    assert set(store.names() or ()) == {"one", "two", "link"}
    # Just changed: what comes within the same tick of the clock would not show.
    assert set(store.names() or ()) == {"one", "two", "link"}
    for name in ("one", "two", "link", "gone"):
        store.remove(name)
    assert [str(path) for path in tmp_path.iterdir()] == trees
    assert trees[0].startswith(str(tmp_path / ".removed-"))
    assert Folder(str(tmp_path / "none"), trees.append).names() == ()


@pytest.mark.parametrize("kind", ["shm", "msg", "sem"])
def test_what_is_gone_is_no_trouble(kind: str) -> None:
    SystemV(kind).remove(str(2**31 - 1))


def test_a_supervisor_begins_with_empty_stores() -> None:
    store = Names()
    store.there = {"a", "b"}
    Belongings([store]).clear()
    assert store.there == set()


def test_no_place_of_its_own_is_not_called_full(tmp_path: Path) -> None:
    assert belongings.full(str(tmp_path)) is None
    assert belongings.full(str(tmp_path / "none")) is None
