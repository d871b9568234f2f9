"""A copy that is killed, and started again, at a real endpoint."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from sandglass import Sandbox, ToolError
from tests.bridges import wait_until

SIZE = 32 * 1024 * 1024


class Copy:
    """`sandglass cp` in a process of its own."""

    def __init__(self, folder: Path, source: str, target: str) -> None:
        env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "sandglass", "cp", source, target]
        self.process = subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self) -> str:
        told = self.process.communicate(timeout=120)[1]
        assert self.process.returncode == 0, told
        return told


def pieces(folder: Path) -> int:
    return sum(place.read_text().count('"piece"') for place in (folder / "state").rglob("*.jsonl"))


@pytest.mark.endpoint
def test_a_copy_that_was_killed_goes_on(real_endpoint: str, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(os.urandom(SIZE))

    with Sandbox() as box:

        def size_there() -> int:
            with suppress(ToolError):
                return box.files.stat("large").size or 0
            return 0

        there = f"{box.name}:large"
        up = Copy(tmp_path, "large", there)
        wait_until(lambda: size_there() >= 2 * 1024 * 1024)
        up.kill()
        assert size_there() < SIZE
        assert "were there since the copy was cut" in Copy(tmp_path, "large", there).end()
        assert size_there() == SIZE
        down = Copy(tmp_path, there, "back")
        wait_until(lambda: pieces(tmp_path) >= 2)
        down.kill()
        assert not (tmp_path / "back").exists()
        assert "were there since the copy was cut" in Copy(tmp_path, there, "back").end()
    assert (tmp_path / "back").read_bytes() == (tmp_path / "large").read_bytes()
    assert list(tmp_path.rglob(".sandglass-*")) == []
