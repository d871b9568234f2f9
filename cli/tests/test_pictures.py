"""Pictures on terminals: what is written for each, and how a command finds out what its terminal shows."""

from __future__ import annotations

import base64
import io
import os
import pty
import re
import select
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sandglass.command_line import graphics
from sandglass.errors import ConfigurationError
from sandglass.terminal import pictures, sixel
from sandglass.terminal.bitmaps import CLEAR, Bitmap
from sandglass.terminal.pictures import Display
from tests.endpoint import Endpoint, Json, ran, streamed
from tests.test_library import BEGUN, STOPPED
from tests.test_terminals import Terminal

# Recorded: what Pillow wrote.
SMALL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAHCAYAAADAp4fuAAAAJklEQVR4nGNkYPj///9/BjhgZGRkZEQVggAmdAEqCD"
    "L+Z2DAsAgATvYKBrl1bjcAAAAASUVORK5CYII="
)
SMALL_SIXEL = '\x1bP0;1;0q"1;1;5;7#0;2;100;100;100#1;2;100;0;0#2;2;0;0;100#3;2;0;0;0#0}~~~}$#2@-#1!5@\x1b\\\n'
XTERM = "\x1b[?64;1;2;6;9;15;16;17;18;21;22;28c"
XTERM_WITH_SIXEL = "\x1b[?1;0;256S\x1b[?63;1;2;4;6;9;15;16;22;28c"
SIXEL = Display("sixel")


@pytest.mark.parametrize(
    ("environ", "known"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM": "xterm-256color"}, None),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, None),
        ({"TERM": "dumb", "TERM_PROGRAM": "iTerm.app"}, None),
        ({}, None),
    ],
)
def test_the_protocol_follows_from_the_terminal(environ: dict[str, str], known: str | None) -> None:
    assert pictures.protocol(environ) == known


def test_kittys_bytes() -> None:
    data = pictures.PNG + bytes(4000)
    drawn = pictures.shown(data, Display("kitty")) or ""
    assert drawn.startswith("\x1b_Ga=T,f=100,q=2,m=1;iVBORw0KGgoAAAAA")
    parts = drawn.rstrip("\n").removesuffix("\x1b\\").split("\x1b\\")
    assert [len(part.split(";", 1)[1]) for part in parts] == [4096, 1248]
    assert parts[1].startswith("\x1b_Gm=0;")
    assert base64.b64decode("".join(part.split(";", 1)[1] for part in parts)) == data
    assert pictures.shown(b"\xff\xd8jpeg", Display("kitty")) is None


def test_iterms_bytes() -> None:
    assert pictures.shown(b"GIF89a", Display("iterm")) == "\x1b]1337;File=inline=1;size=6:R0lGODlh\x07\n"
    assert pictures.shown(b"\xff\xd8\xff\xe0", Display("iterm"))
    assert pictures.shown(pictures.PNG, Display("iterm"))
    for other in (b"abc", b"<svg/>", b"%PDF-1.7", b"RIFF0000WEBP", b""):
        assert pictures.shown(other, Display("iterm")) is None
    assert [pictures.ending(kind) for kind in ("image/png", "image/jpeg", "text/../x")] == ["png", "jpg", "bin"]


def test_sixels_bytes() -> None:
    assert pictures.shown(base64.b64decode(SMALL), SIXEL) == SMALL_SIXEL
    jpeg = io.BytesIO()
    Image.new("RGB", (8, 6), "white").save(jpeg, "JPEG")
    assert pictures.shown(jpeg.getvalue(), SIXEL) == '\x1bP0;1;0q"1;1;8;6#0;2;100;100;100#0!8~\x1b\\\n'
    for other in (b"GIF89a", b"\xff\xd8\xff\xe0", b"<svg/>", b"", pictures.PNG, pictures.PNG + bytes(100)):
        assert pictures.shown(other, SIXEL) is None


def drawn(text: str) -> dict[tuple[int, int], int]:
    """The number of the colour of each place that sixels draw."""
    found: dict[tuple[int, int], int] = {}
    x = y = colour = 0
    for part in re.finditer(r"#(\d+)(?![;\d])|!(\d+)(.)|([?-~])|([$])|(-)", text[text.index("#") :]):
        if part[1]:
            colour = int(part[1])
        elif part[5]:
            x = 0
        elif part[6]:
            x, y = 0, y + 6
        else:
            bits, times = ord(part[3] or part[4]) - 63, int(part[2] or 1)
            found |= {(x + at, y + row): colour for row in range(6) if bits >> row & 1 for at in range(times)}
            x += times
    return found


def test_every_pixel_is_drawn_once_in_its_colour() -> None:
    wide, high = 40, 20
    indexes = [(x // 7 + y // 5) % 5 for y in range(high) for x in range(wide)]
    picture = Bitmap(wide, high, bytes((index or CLEAR + 1) - 1 for index in indexes), ((1, 2, 3),) * 4)
    text = re.sub(r"#\d+;2;\d+;\d+;\d+", "", sixel.encoded(picture)) + "#0"
    body = text[text.index("#") :].removesuffix("\x1b\\#0")
    places = drawn(body)
    assert places == {(at % wide, at // wide): index - 1 for at, index in enumerate(indexes) if index}


@pytest.mark.parametrize(
    ("answer", "most"),
    [
        (XTERM, 0),
        (XTERM_WITH_SIXEL, 255),
        ("\x1b[?62;4c", 255),
        ("\x1b[?1;0;16S\x1b[?62;4c", 16),
        ("\x1b[?1;3;0S\x1b[?62;4;22c", 255),
        ("\x1b[?1;0;1S\x1b[?62;4c", 0),
        # Of the terminals that cannot: a first number is the terminal's kind, and 14 and 42 are no 4.
        ("\x1b[?4;6c", 0),
        ("\x1b[?62;14;42c", 0),
        ("\x1b[?1;2c", 0),
        ("4", 0),
        ("", 0),
    ],
)
def test_a_terminal_has_sixel_if_it_says_so(answer: str, most: int) -> None:
    assert sixel.colours(answer) == most
    assert sixel.is_whole(answer) is answer.endswith("c")


def test_an_answer_has_its_bound() -> None:
    assert not sixel.is_whole("x" * (sixel.MOST_ANSWER_CHARS - 1))
    assert sixel.is_whole("x" * sixel.MOST_ANSWER_CHARS)


@pytest.fixture
def terminal_pair() -> Any:
    """A terminal, and the stream of a command that writes to it."""
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as stream:
        yield master, stream
    os.close(master)


def test_what_the_user_chose_counts_and_nothing_is_asked(terminal_pair: Any, tmp_path: Path) -> None:
    master, stream = terminal_pair
    for word in ("kitty", "iterm", "sixel", "SIXEL "):
        shown = graphics.display(stream, {"TERM": "dumb", "SANDGLASS_PICTURES": word})
        assert shown == Display(word.strip().lower())
    assert graphics.display(stream, {"TERM": "xterm-kitty", "SANDGLASS_PICTURES": "none"}) is None
    with pytest.raises(ConfigurationError, match="must be one of kitty, iterm, sixel, none, not 'png'"):
        graphics.display(stream, {"TERM": "xterm-kitty", "SANDGLASS_PICTURES": "png"})
    with (tmp_path / "out").open("w") as file:
        assert graphics.display(file, {"TERM": "xterm", "SANDGLASS_PICTURES": "sixel"}) is None
    assert select.select([master], [], [], 0)[0] == []


def test_a_command_in_the_background_asks_nothing(terminal_pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    master, stream = terminal_pair
    monkeypatch.setattr(os, "tcgetpgrp", lambda _: os.getpgrp() + 1)
    assert graphics.display(stream, {"TERM": "xterm"}) is None
    assert select.select([master], [], [], 0)[0] == []


def with_picture(endpoint: Endpoint, tmp_path: Path) -> str:
    """The file with code whose run ends with a picture."""
    image = {"mime_type": "image/png", "bytes": 3, "path": None, "full_bytes": None}
    answer = ran("ok", stdout="hi", images=[image])
    answer["content"].append({"type": "image", "data": SMALL, "mimeType": "image/png"})
    endpoint.tools |= {"sandbox_run_code": lambda _: BEGUN, "sandbox_stop": lambda _: STOPPED}
    endpoint.tools["sandbox_get_execution"] = lambda _: streamed([(2, "hi")], answer)
    code = tmp_path / "a.py"
    code.write_text("1")
    return str(code)


SAVED = "sandglass: picture saved: picture-1.png\r\n"


@pytest.mark.slow
@pytest.mark.parametrize("environ", [{}, {"TMUX": "/tmp/tmux-0/default,1,0", "TERM": "tmux-256color"}])
def test_a_terminal_that_says_it_has_sixel_gets_it(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environ: Json
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path), **environ)
    terminal.until(sixel.QUERY)
    terminal.type(XTERM_WITH_SIXEL)
    assert terminal.end() == 0
    assert terminal.seen == "hi" + sixel.QUERY + "\r\n" + SMALL_SIXEL.replace("\n", "\r\n")
    assert not Path("picture-1.png").exists()


NO_PILLOW = "sandglass: to see pictures in this terminal, install Pillow: pip install 'sandglass-cli[sixel]'\r\n"


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "advice"), [(XTERM_WITH_SIXEL, NO_PILLOW), (XTERM, "")], ids=["sixel", "none"])
def test_without_pillow_a_picture_is_saved_and_a_terminal_with_sixel_gets_advice(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, advice: str
) -> None:
    monkeypatch.chdir(tmp_path)
    blocked = tmp_path / "blocked"
    (blocked / "PIL").mkdir(parents=True)
    (blocked / "PIL/__init__.py").write_text("raise ImportError\n")
    path = os.pathsep.join([str(blocked), *sys.path])
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path), PYTHONPATH=path)
    terminal.until(sixel.QUERY)
    terminal.type(answer)
    assert terminal.end() == 0
    assert terminal.seen == "hi" + sixel.QUERY + SAVED + advice
    assert Path("picture-1.png").read_bytes() == base64.b64decode(SMALL)


def test_pillow_is_imported_for_sixel_alone(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "PIL.py").write_text("raise SystemExit('imported')\n")
    path = os.pathsep.join([str(blocked), *sys.path])
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path), SANDGLASS_PICTURES="kitty", PYTHONPATH=path)
    assert terminal.end() == 0
    assert "\x1b_G" in terminal.seen


@pytest.mark.slow
def test_xterm_without_sixel_has_the_picture_saved(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path))
    terminal.until(sixel.QUERY)
    terminal.type(XTERM)
    assert terminal.end() == 0
    assert terminal.seen == "hi" + sixel.QUERY + SAVED
    assert Path("picture-1.png").read_bytes() == base64.b64decode(SMALL)


@pytest.mark.slow
def test_a_terminal_that_does_not_answer_is_waited_for_briefly(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path))
    assert terminal.end() == 0
    assert terminal.seen == "hi" + sixel.QUERY + SAVED


@pytest.mark.slow
def test_a_dumb_terminal_is_asked_nothing_and_has_the_picture_saved(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path), TERM="dumb")
    assert terminal.end() == 0
    assert terminal.seen == "hi" + SAVED
    assert Path("picture-1.png").read_bytes() == base64.b64decode(SMALL)


@pytest.mark.slow
def test_what_was_typed_meanwhile_is_not_taken_for_an_answer(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = with_picture(endpoint, tmp_path)
    answer, hold = endpoint.tools["sandbox_get_execution"], threading.Event()

    def held(arguments: Json) -> Any:
        reply = answer(arguments)
        reply.hold = hold  # type: ignore[union-attr]
        return reply

    endpoint.tools["sandbox_get_execution"] = held
    terminal = Terminal(endpoint, "run", code)
    terminal.until("hi")
    terminal.type("y")
    terminal.until("y")
    hold.set()
    assert terminal.end() == 0
    assert terminal.seen == "hiy" + SAVED


@pytest.mark.slow
def test_a_wrong_choice_is_told_before_anything_runs(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path), SANDGLASS_PICTURES="png")
    assert terminal.end() == 125
    assert "SANDGLASS_PICTURES must be one of kitty, iterm, sixel, none, not 'png'" in terminal.seen
    assert endpoint.received == []
