"""Runs a command in this process, as a shell would."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from sandglass.__main__ import main
from sandglass.command_line.common import Options
from sandglass.config.settings import Flags


@dataclass
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Done]


def runner(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str, stdin: bytes = b"", program: str = "sandglass") -> Done:
        monkeypatch.setattr(Options, "flags", Flags())
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        captured = capfd.readouterr()
        return Done(int(ended.value.code or 0), captured.out, captured.err)

    return run
