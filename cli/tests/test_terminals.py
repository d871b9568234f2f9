"""The commands on a terminal: live output, colours, the interrupt."""

from __future__ import annotations

import codecs
import os
import pty
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Run
from tests.endpoint import PATIENCE, TOKEN, Endpoint, Json, in_turn, ran, result, streamed

pytestmark = pytest.mark.usefixtures("run_tools")


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, endpoint: Endpoint, *arguments: str, out: Any = None, **given: str) -> None:
        master, slave = pty.openpty()
        environ = {**os.environ, "SANDGLASS_URL": endpoint.url, "SANDGLASS_TOKEN": TOKEN, "TERM": "xterm"}
        environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        for name in ("NO_COLOR", "TMUX", "TERM_PROGRAM", "KITTY_WINDOW_ID"):
            environ.pop(name, None)
        environ |= given
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sandglass", *arguments],
            stdin=slave, stdout=out or slave, stderr=slave, env=environ, start_new_session=True,
        )  # fmt: skip
        os.close(slave)
        self._master = master
        # A piece may end within a letter.
        self._text = codecs.getincrementaldecoder("utf-8")()
        self.seen = ""

    def until(self, words: str) -> None:
        while words not in self.seen:
            assert select.select([self._master], [], [], PATIENCE)[0], f"no {words!r} in {self.seen!r}"
            self.seen += self._text.decode(os.read(self._master, 4096))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def end(self) -> int:
        while True:
            try:
                piece = os.read(self._master, 4096)
            except OSError:
                break
            if not piece:
                break
            self.seen += self._text.decode(piece)
        os.close(self._master)
        return self.process.wait(PATIENCE)


@pytest.mark.slow
def test_a_terminal_shows_output_at_once_in_colours_and_nothing_else(endpoint: Endpoint, tmp_path: Path) -> None:
    hold = threading.Event()
    pieces = [(9, "\x1b[31mred\x1b"), (20, "]0;own\x07 live\n")]
    endpoint.tools["sandbox_get_execution"] = lambda _: streamed(pieces, ran("ok", result="7"), hold=hold)
    code = tmp_path / "a.py"
    code.write_text("1")
    terminal = Terminal(endpoint, "run", str(code))
    terminal.until("live")
    hold.set()
    assert terminal.end() == 0
    assert terminal.seen == "\x1b[31mred live\r\n\x1b[0m7\r\n"


@pytest.mark.slow
def test_standard_error_on_a_terminal_is_filtered_though_standard_output_is_a_pipe(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    hostile = "\x1b]0;own\x07bad\x9b2J\n"
    endpoint.tools["sandbox_get_execution"] = lambda _: ran("ok", stdout="\x1b[1mraw\n", stderr=hostile, result="v")
    code = tmp_path / "a.py"
    code.write_text("1")
    with (tmp_path / "out").open("wb") as out:
        terminal = Terminal(endpoint, "run", str(code), out=out)
        assert terminal.end() == 0
    assert terminal.seen == "bad2J\r\n"
    assert (tmp_path / "out").read_text() == "\x1b[1mraw\nv\n"


def test_a_run_that_breaks_leaves_no_colours_on_either_stream(endpoint: Endpoint, tmp_path: Path) -> None:
    cut = ran("running", stdout="\x1b[31mred", stderr="\x1b[32mgreen", next_offset=20)
    endpoint.tools["sandbox_get_execution"] = in_turn(cut, result(text="Error: it is gone", is_error=True))
    code = tmp_path / "a.py"
    code.write_text("1")
    with (tmp_path / "out").open("wb") as out:
        terminal = Terminal(endpoint, "run", str(code), out=out)
        assert terminal.end() == 125
    assert terminal.seen == "\x1b[32mgreen\x1b[0msandglass: it is gone\r\n"


@pytest.mark.slow
def test_a_live_run_that_breaks_leaves_no_colours_on(endpoint: Endpoint, tmp_path: Path) -> None:
    gone = result(text="Error: it is gone", is_error=True)
    endpoint.tools["sandbox_get_execution"] = lambda _: streamed([(9, "\x1b[31mred")], gone)
    code = tmp_path / "a.py"
    code.write_text("1")
    terminal = Terminal(endpoint, "run", str(code))
    assert terminal.end() == 125
    assert terminal.seen == "\x1b[31mred\x1b[0msandglass: it is gone\r\n"


def test_what_the_endpoint_says_cannot_command_a_terminal(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_list"] = lambda _: result(text="Error: \x1b]0;own\x07two\nlines", is_error=True)
    assert run("ls").err == "sandglass: two lines\n"


@pytest.mark.slow
def test_ctrl_c_interrupts_the_code_and_shows_its_end(endpoint: Endpoint, tmp_path: Path) -> None:
    hold = threading.Event()

    def interrupt(_: Json) -> Json:
        hold.set()
        return result({"status": "interrupted"})

    answer = ran("interrupted", message="Interrupted by a call.")
    endpoint.tools["sandbox_get_execution"] = lambda _: streamed([(5, "tick\n")], answer, hold=hold)
    endpoint.tools["sandbox_interrupt"] = interrupt
    code = tmp_path / "a.py"
    code.write_text("1")
    terminal = Terminal(endpoint, "run", "-s", "box", str(code))
    terminal.until("tick")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "[interrupted] Interrupted by a call." in terminal.seen
    assert len(endpoint.calls("sandbox_interrupt")) == 1
