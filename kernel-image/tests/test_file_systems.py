"""What the system says no to under the verb ``files``: full disks, other volumes, permissions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from client import Refused
from supervisors import UNPRIVILEGED, Running, needs_root


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


@pytest.mark.slow
@needs_root
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
        client.file("delete", "kept")
        assert client.write("fits", bytes(600_000))["size"] == 600_000
    finally:
        running.stop()


@pytest.mark.slow
@needs_root
def test_volumes_are_roots_of_their_own(tmp_path: Path) -> None:
    volume, inner = tmp_path / "volume", tmp_path / "workspace/outer/inner"
    volume.mkdir()
    script = (
        f'mkdir -p "{inner}" && mount -t tmpfs tmpfs "{inner}" && mount -t tmpfs tmpfs "{volume}"'
        f' && echo old > "{volume}/kept" && mount -o remount,ro "{volume}" && exec "$@"'
    )
    roots = f"{volume}:{inner}:{tmp_path / 'absent'}"
    running = Running(tmp_path, ["unshare", "--mount", "sh", "-c", script, "sh"], SANDGLASS_VOLUMES=roots)
    try:
        client = running.ready()
        assert [about["path"] for about in client.files(str(volume))] == ["kept"]
        for name in ("new", "kept"):
            with pytest.raises(Refused, match=r"read_only: .* can only be read"):
                client.write(str(volume / name), b"")
        client.write("outer/inner/f", b"")
        client.write("f", b"")
        with pytest.raises(Refused, match=r"other_volume: .* is on another volume"):
            client.file("move", "f", to="outer/inner/g")
        for path in ("outer/inner", str(volume)):
            with pytest.raises(Refused, match="denied"):
                client.file("delete", path, recursive=True)
        with pytest.raises(Refused, match="busy: a volume is mounted in this folder"):
            client.file("delete", "outer", recursive=True)
        assert client.read("outer/inner/f") == b""
        with pytest.raises(Refused, match=r"outside: .*/absent/f"):
            client.read(str(tmp_path / "absent/f"))
    finally:
        running.stop()


@pytest.mark.slow
@needs_root
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
