"""Pictures on terminals: what is written for each, and how a command finds out what its terminal shows."""

from __future__ import annotations

import base64
import os
import pty
import re
import select
import struct
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from sandglass.command_line import graphics
from sandglass.errors import ConfigurationError
from sandglass.terminal import pictures, pixels, png, sixel
from sandglass.terminal.pictures import Display
from sandglass.terminal.pixels import Picture
from tests.endpoint import Endpoint, Json, ran, streamed
from tests.test_commands import Terminal
from tests.test_library import BEGUN, STOPPED

# Recorded: what Pillow wrote, and the pixels that it read from there.
SMALL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAHCAYAAADAp4fuAAAAJklEQVR4nGNkYPj///9/BjhgZGRkZEQVggAmdAEqCD"
    "L+Z2DAsAgATvYKBrl1bjcAAAAASUVORK5CYII="
)
SMALL_SIXEL = '\x1bP0;1;0q"1;1;5;7#0;2;0;0;100#1;2;100;100;100#2;2;100;0;0#0@$#1}~~~}-#2!5@\x1b\\\n'
FORMS = {
    "1": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQAAAAC1D1u3AAAADElEQVR4nGNwYHIAAAEIAIMYhovOAAAAAElFTkSuQmCC",
        "000000ffffffffff000000ffffffffff000000ff000000ff",
    ),
    "L": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAAEElEQVR4nGNg+O/DNE2OGQAJhwIFlESaPQAAAABJRU5ErkJggg==",
        "000000ffffffffff4c4c4cff969696ff1d1d1dff4f4f4fff",
    ),
    "LA": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAQAAAA3fa6RAAAAFklEQVR4nGNk+P+fwZeBaRqDHCNzIwAeTgOIL/kVPwAAAABJRU5ErkJggg==",
        "000000ffffffffff4c4c4cff969696ff1d1d1d004f4f4f80",
    ),
    "RGB": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAG0lEQVR4nAXBAQEAAAiAIKY0pWk9N4AqCN3OA0fuBtvXGK1oAAAAAElFTkSuQmCC",
        "000000ffffffffffff0000ff00ff00ff0000ffff804020ff",
    ),
    "RGBA": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAHklEQVR4nGNkYGD4////fwYGRkYGJgYIzdjooNAIAGCpBmYztzWDAAAAAElFTkSuQmCC",
        "000000ffffffffffff0000ff00ff00ff0000ff0080402080",
    ),
    "P of 2 bits": (
        "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAgMAAADgGo6JAAAADFBMVEWA/4CAQCD/AAAAAIAgGREPAAAADElEQVR4nGM4wWACAAKQAP3wqvuyAAAAAElFTkSuQmCC",
        "000080ff80ff80ffff0000ff80ff80ff000080ff804020ff",
    ),
    "L of 16 bits": (
        "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABEAAAAACB2fwVAAAADUlEQVR4nGOY48DwHwAENAHcBQITgQAAAABJRU5ErkJggg==",
        "9c9c9cff000000ff",
    ),
}
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
    for other in (b"GIF89a", b"\xff\xd8\xff\xe0", b"<svg/>", b"", pictures.PNG, pictures.PNG + bytes(100)):
        assert pictures.shown(other, SIXEL) is None


@pytest.mark.parametrize("form", FORMS)
def test_a_png_of_each_form_is_read(form: str) -> None:
    data, expected = FORMS[form]
    assert png.decoded(base64.b64decode(data)).pixels.hex() == expected


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(name + content))


def made(raw: bytes, width: int, height: int, form: bytes = b"\x08\x06\0\0\0") -> bytes:
    """A PNG of rows that are filtered already."""
    header = chunk(b"IHDR", struct.pack(">II", width, height) + form)
    return pictures.PNG + header + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("kind", range(5))
def test_each_filter_is_undone(kind: int) -> None:
    step, width, height = 4, 5, 4
    pixels_of = bytes(number * number * 7 % 256 for number in range(step * width * height))
    rows = [pixels_of[at : at + step * width] for at in range(0, len(pixels_of), step * width)]

    def guess(left: int, up: int, corner: int) -> int:
        nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
        return (0, left, up, (left + up) // 2, nearest)[kind]

    raw = b""
    for number, row in enumerate(rows):
        above = rows[number - 1] if number else bytes(len(row))
        near = [
            (row[at - step] if at >= step else 0, above[at], above[at - step] if at >= step else 0)
            for at in range(len(row))
        ]
        filtered = ((value - guess(*each)) % 256 for value, each in zip(row, near, strict=True))
        raw += bytes([kind]) + bytes(filtered)
    assert png.decoded(made(raw, width, height)).pixels == pixels_of


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (made(b"\0\0\0\0\0", 1, 2), "too few pixels"),
        (made(b"\5\0\0\0\0", 1, 1), "unknown filter"),
        (made(b"\0" * 5, 1, 1, b"\x08\x06\0\0\1"), "interlaced, or of no known form"),
        (made(b"\0" * 5, 1, 1, b"\x08\x05\0\0\0"), "interlaced, or of no known form"),
        (made(b"\0" * 5, 1, 1, b"\x04\x02\0\0\0"), "interlaced, or of no known form"),
        (made(b"\0" * 2, 1, 1, b"\x08\x03\0\0\0"), "it is broken"),
        (made(b"", 0, 1), "must have 1 to 2097152 pixels"),
        (made(b"", png.MOST_PIXELS + 1, 1), "must have 1 to 2097152 pixels"),
        (made(b"", 0xFFFFFFFF, 0xFFFFFFFF), "must have 1 to 2097152 pixels"),
        (base64.b64decode(SMALL)[:60], "too few pixels"),
        (base64.b64decode(SMALL)[:40], "it is broken"),
        (base64.b64decode(SMALL)[:20], "it is broken"),
        (pictures.PNG + b"\xff\xff\xff\xffIDAT", "it is broken"),
    ],
)
def test_a_png_that_cannot_be_read_is_saved_instead(data: bytes, words: str) -> None:
    with pytest.raises(png.Unreadable, match=words):
        png.decoded(data)
    assert pictures.shown(data, SIXEL) is None


def test_the_largest_picture_is_read_and_what_lies_behind_its_pixels_is_not() -> None:
    raw = (b"\0" + bytes(4 * 2048)) * 1024 + bytes(50_000_000)
    assert len(png.decoded(made(raw, 2048, 1024)).pixels) == 4 * png.MOST_PIXELS


def test_many_colours_become_few_and_clear_pixels_stay_clear() -> None:
    noise = b"".join(bytes([x * 8, y * 8, (x * y) % 256, 255]) for y in range(32) for x in range(32))
    indexes, palette = pixels.reduced(noise + b"\x09\x09\x09\x7f" + b"\0\0\0\x80", 16)
    assert len(palette) == 16
    assert (indexes[-2], indexes[-1] < 16) == (pixels.CLEAR, True)
    away = [abs(part - noise[4 * at + lane]) for at in range(1024) for lane, part in enumerate(palette[indexes[at]])]
    assert sum(away) / len(away) < 32
    many = b"".join(bytes([x * 2, y * 2, 0, 255]) for y in range(100) for x in range(100))
    assert len(pixels.reduced(many, 255)[1]) == 255
    exact, palette = pixels.reduced(b"\1\2\3\xff" * 2 + b"\1\2\4\xff", 2)
    assert (exact, palette) == (b"\0\0\1", [(1, 2, 3), (1, 2, 4)])
    assert pixels.reduced(bytes(8), 255) == (b"\xff\xff", [])
    every = b"".join(bytes([number, 0, 0, 255]) for number in range(256))
    assert len(pixels.reduced(every, 999)[1]) == pixels.MOST_COLOURS


def test_a_picture_that_is_too_wide_is_drawn_smaller() -> None:
    squares = Picture(4, 2, bytes([0, 0, 0, 255, 100, 0, 0, 255] * 2 + [100, 40, 0, 255, 200, 0, 0, 255] * 2))
    assert pixels.shrunk(squares, 3, 9) == Picture(2, 1, bytes([100, 10, 0, 255] * 2))
    assert pixels.shrunk(squares, 4, 2) is squares
    assert pixels.shrunk(Picture(9, 1, bytes(36)), 2, 2) == Picture(1, 1, bytes(4))


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
    rows = b"".join(bytes([index * 50, 0, 0, 255 if index else 0]) for index in indexes)
    text = re.sub(r"#\d+;2;\d+;\d+;\d+", "", sixel.encoded(Picture(wide, high, rows), 255)) + "#0"
    body = text[text.index("#") :].removesuffix("\x1b\\#0")
    places = drawn(body)
    numbers = {index: places[at % wide, at // wide] for at, index in enumerate(indexes) if index}
    assert sorted(numbers.values()) == [0, 1, 2, 3]
    assert places == {(at % wide, at // wide): numbers[index] for at, index in enumerate(indexes) if index}


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


def test_a_terminal_that_does_not_answer_is_waited_for_briefly(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path))
    assert terminal.end() == 0
    assert terminal.seen == "hi" + sixel.QUERY + SAVED


def test_a_dumb_terminal_is_asked_nothing_and_has_the_picture_saved(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path), TERM="dumb")
    assert terminal.end() == 0
    assert terminal.seen == "hi" + SAVED
    assert Path("picture-1.png").read_bytes() == base64.b64decode(SMALL)


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


def test_a_wrong_choice_is_told_before_anything_runs(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(endpoint, "run", with_picture(endpoint, tmp_path), SANDGLASS_PICTURES="png")
    assert terminal.end() == 125
    assert "SANDGLASS_PICTURES must be one of kitty, iterm, sixel, none, not 'png'" in terminal.seen
    assert endpoint.received == []
