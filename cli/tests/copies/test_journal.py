"""The journal of a copy: what its lines say, and what is missing between pieces."""

from __future__ import annotations

import pytest

from sandglass.core import journal
from sandglass.core.files import _batches
from sandglass.core.journal import Piece, Stamp, Unfinished, Whole, gaps, parse

THEN, NOW = Stamp(5, "then"), Stamp(5, "now")
PIECE = Piece(0, 3, "a" * 64)
LINES = [
    journal.base("to"),
    journal.begun("f", THEN, "/p/.sandglass-1"),
    journal.piece("f", PIECE),
    journal.begun("g", THEN, ""),
    journal.whole("g", THEN, NOW),
]


def test_lines_say_what_was_written() -> None:
    past, read = parse(b"".join(LINES))
    assert read == len(b"".join(LINES))
    assert past.base == "to"
    assert past.unfinished == {"f": Unfinished(THEN, "/p/.sandglass-1", [PIECE])}
    assert past.whole == {"g": Whole(THEN, NOW)}
    assert past.parts == {"/p/.sandglass-1"}


def test_a_file_that_is_begun_again_has_lost_its_pieces() -> None:
    past, _ = parse(b"".join([*LINES, journal.begun("f", NOW, "/p/.sandglass-2"), journal.begun("g", NOW, "")]))
    assert past.unfinished == {"f": Unfinished(NOW, "/p/.sandglass-2"), "g": Unfinished(NOW, "")}
    assert past.whole == {}
    assert past.parts == {"/p/.sandglass-1", "/p/.sandglass-2"}


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_line_that_was_cut_counts_for_nothing(cut: int) -> None:
    past, read = parse(b"".join(LINES)[: -min(cut, len(LINES[-1]))])
    assert read == sum(map(len, LINES[:-1]))
    assert past.unfinished.keys() == {"f", "g"}


@pytest.mark.parametrize(
    "wrong",
    [
        b"\n",
        b"null\n",
        b'{"is":"piece","target":"none","offset":0,"length":1,"sha256":""}\n',
        b'{"is":"piece","target":"f","offset":-1,"length":1,"sha256":"' + b"a" * 64 + b'"}\n',
        b'{"is":"piece","target":"f","offset":true,"length":1,"sha256":"' + b"a" * 64 + b'"}\n',
        b'{"is":"piece","target":"f","offset":0,"length":1,"sha256":"short"}\n',
        b'{"is":"begun","target":"f","source":[1],"part":""}\n',
        b'{"is":"begun","target":"f","source":[1,"m"],"part":1}\n',
        b'{"is":"whole","target":"f","source":[1,"m"]}\n',
        b'{"is":"other","target":"f"}\n',
        b"\xff\n",
    ],
)
def test_what_follows_a_line_that_is_none_counts_for_nothing(wrong: bytes) -> None:
    _, read = parse(b"".join([*LINES, wrong, *LINES]))
    assert read == sum(map(len, LINES))


@pytest.mark.parametrize(
    ("kept", "size", "wanted"),
    [
        ({}, 0, []),
        ({}, 7, [(0, 3), (3, 3), (6, 1)]),
        ({0: 3}, 7, [(3, 3), (6, 1)]),
        ({3: 3}, 7, [(0, 3), (6, 1)]),
        ({0: 2, 4: 1}, 7, [(2, 2), (5, 2)]),
        ({0: 7}, 7, []),
        ({0: 3, 1: 1}, 4, [(3, 1)]),
        ({9: 3}, 7, [(0, 3), (3, 3), (6, 1)]),
    ],
)
def test_what_is_missing_between_pieces(kept: dict[int, int], size: int, wanted: list[tuple[int, int]]) -> None:
    assert list(gaps(kept, size, 3)) == wanted


def test_paths_go_into_as_many_commands_as_they_need() -> None:
    assert [len(some) for some in _batches(str(number) for number in range(401))] == [200, 200, 1]
    assert [len(some) for some in _batches(["x" * 16 * 1024] * 3)] == [2, 1]
    assert [len(some) for some in _batches(["x" * 40 * 1024] * 2)] == [1, 1]
    assert list(_batches([])) == []
