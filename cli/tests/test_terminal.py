from __future__ import annotations

import pytest

from sandglass.terminal.table import bytes_of, seconds_of, table
from sandglass.terminal.text import TerminalText, line
from sandglass.terminal.words import in_commands

HOSTILE = [
    "\x1b]0;title\x07",
    "\x1b]52;c;Y2xpcGJvYXJk\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1b_Gi=1;AAAA\x1b\\",
    "\x1b[2J",
    "\x1b[1;1H",
    "\x1b[10A",
    "\x1b[6n",
    "\x1b[?1049h",
    "\x1bc",
    "\x1b(0",
    "\x9b2J",
    "\x07",
    "\x00",
    "\x0e",
    "\x7f",
    "\x1b[" + "1;" * 200 + "m",
]


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_a_terminal_would_obey_does_not_pass(hostile: str, size: int) -> None:
    text = f"a{hostile}b\n"
    screen = TerminalText(colours=True)
    shown = "".join(screen.feed(text[at : at + size]) for at in range(0, len(text), size))
    assert "\x1b" not in shown
    assert shown.startswith("a")
    assert shown.endswith("b\n")
    assert not set(shown) & {"\x07", "\x9b", "\x00", "\x0e", "\x7f"}


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_colours_and_progress_bars_pass(size: int) -> None:
    text = "\x1b[1;38;5;9mred\x1b[0m\r\x1b[K50%\t\b|\x1b[31m"
    screen = TerminalText(colours=True)
    assert "".join(screen.feed(text[at : at + size]) for at in range(0, len(text), size)) == text
    assert screen.end() == "\x1b[0m"
    assert TerminalText(colours=False).whole(text) == "red\r50%\t\b|"


def test_an_unfinished_sequence_holds_nothing_back_for_ever() -> None:
    screen = TerminalText(colours=True)
    screen.feed("\x1b]0;" + "x" * 10_000)
    assert screen.feed("\x1b\\after") == "after"
    assert len(screen.feed("\x1b[" + "1" * 10_000)) < 10_000


def test_text_in_a_line_of_ours_stays_in_it() -> None:
    assert line("one\ntwo\r\x1b[31mthree\x1b[0m\u2028four") == "one two three four"
    assert line("a\bb\tc\x85d") == "a b cd"


@pytest.mark.parametrize(
    "hidden",
    [
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
        "\u00ad",
        "\ue000",
        "\U0010ffff",
        "\ud800",
        "\U000e0041",
        "\ufe0f",
        "\u3164",
    ],
)
def test_no_letter_of_a_line_of_ours_hides_or_turns_others(hidden: str) -> None:
    assert line(f"safe{hidden}gpj.exe") == "safegpj.exe"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x1b[8m", ""),
        ("\x1b[08m", ""),
        ("\x1b[1;8m", "\x1b[1m"),
        ("\x1b[8;31m", "\x1b[31m"),
        ("\x1b[38;5;8m", "\x1b[38;5;8m"),
        ("\x1b[38;5;1;8m", "\x1b[38;5;1m"),
        ("\x1b[48;2;8;8;8;8m", "\x1b[48;2;8;8;8m"),
        ("\x1b[38:5:8m", "\x1b[38:5:8m"),
        ("\x1b[38;8m", "\x1b[38m"),
        ("\x1b[28m", "\x1b[28m"),
        ("\x1b[m", "\x1b[m"),
        ("\x1b[;m", "\x1b[;m"),
    ],
)
def test_concealed_text_is_shown_and_its_colours_stay(given: str, shown: str) -> None:
    assert TerminalText(colours=True).feed(given) == shown


def test_a_sequence_without_an_end_swallows_nothing_of_the_next_text() -> None:
    screen = TerminalText(colours=True)
    assert screen.whole("a\x1b]0;title") == "a"
    assert screen.whole("b\x1b[31") == "b"
    assert screen.feed("mc") == "mc"


def test_people_read_of_commands_rather_than_tools() -> None:
    told = "Call sandbox_start again; sandbox_list_files shows what there is, sandbox_reset and sandbox_listing stay."
    assert in_commands(told) == (
        "Call sandglass start again; sandglass exec -- ls shows what there is, sandbox_reset and sandbox_listing stay."
    )


def test_tables_and_units() -> None:
    assert table(["A", "LONG"], [["x\ny", ""], ["z", "w"]]) == "A     LONG\nx y   -\nz     w"
    assert [bytes_of(size) for size in (None, 0, 1023, 1536, 200 * 1024**2, 5 * 1024**4)] == [
        "-", "0 B", "1023 B", "1.5 KiB", "200 MiB", "5120 GiB"
    ]  # fmt: skip
    assert [seconds_of(seconds) for seconds in (None, 45.9, 720, 11_100)] == ["-", "45s", "12m", "3h5m"]
