"""The journal and the window alone: bounds, offsets, gaps (properties)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandglass_supervisor.execution.credit import Window
from sandglass_supervisor.execution.journal import Cursor, Journal
from sandglass_supervisor.limits import RECORD_COST_BYTES, SLICE_BYTES, WINDOW_BYTES
from sandglass_supervisor.link.wire import Piece

KINDS = ("stdout", "stderr", "display", "result", "error")
LIMIT = 64 * 1024

pieces = st.tuples(st.sampled_from(KINDS), st.integers(1, 12_000), st.sampled_from("aé€𐍈"))
writes = st.lists(pieces, max_size=60)


def blob(size: int, letter: str) -> bytes:
    return (letter * (size // len(letter.encode()) + 1)).encode()


def fill(journal: Journal, entries: list[tuple[str, int, str]]) -> bytes:
    whole = b""
    for kind, size, letter in entries:
        data = blob(size, letter)
        journal.append(kind, b"{}", data)
        whole += data
    return whole


def read_all(journal: Journal, cursor: Cursor) -> list[Piece]:
    found = []
    while (piece := journal.read(cursor)) is not None:
        journal.advance(cursor, piece)
        found.append(piece)
    return found


@given(writes)
def test_reading_from_the_start_gives_everything_or_names_the_gap(entries: list[tuple[str, int, str]]) -> None:
    journal = Journal(LIMIT)
    whole = fill(journal, entries)
    position = 0
    for piece in read_all(journal, journal.locate(0)):
        assert piece.offset == position
        if piece.kind == "gap":
            assert json.loads(piece.json) == {"from": piece.offset, "to": piece.end, "bytes": piece.end - piece.offset}
        else:
            assert whole[piece.offset : piece.end] == piece.blob
            assert piece.kind not in ("stdout", "stderr") or len(piece.blob) <= SLICE_BYTES
        position = piece.end
    assert position == journal.end == len(whole)


@given(writes)
def test_memory_keeps_its_bound(entries: list[tuple[str, int, str]]) -> None:
    journal = Journal(LIMIT)
    for entry in entries:
        fill(journal, [entry])
        # The newest record and the newest error stay whatever they cost.
        assert journal.cost <= LIMIT + 2 * 13_000
    assert journal.cost == sum(record.cost for record in journal._records.values())


@given(writes, st.integers(0, 400_000))
def test_reading_from_any_offset(entries: list[tuple[str, int, str]], offset: int) -> None:
    journal = Journal(10**9)
    whole = fill(journal, entries)
    found = read_all(journal, journal.locate(offset))
    assert b"".join(piece.blob for piece in found) == whole[found[0].offset if found else len(whole) :]
    for piece in found:
        if piece.kind in ("stdout", "stderr"):
            piece.blob.decode()
    if found and found[0].kind in ("stdout", "stderr"):
        assert offset - 3 <= found[0].offset <= max(offset, 0)


@given(writes, writes)
def test_a_reader_that_keeps_up_misses_nothing(
    first: list[tuple[str, int, str]], second: list[tuple[str, int, str]]
) -> None:
    journal = Journal(LIMIT)
    cursor, seen = journal.locate(0), b""
    whole = b""
    for entry in first + second:
        whole += fill(journal, [entry])
        seen += b"".join(piece.blob for piece in read_all(journal, cursor))
        assert journal.at_end(cursor)
    assert seen == whole


@given(writes, st.integers(0, LIMIT))
def test_shrinking_keeps_error_and_outcome(entries: list[tuple[str, int, str]], cost: int) -> None:
    journal = Journal(LIMIT)
    fill(journal, entries)
    journal.append("error", b'{"name":"E"}', b"trace")
    journal.append("outcome", b'{"status":"error"}', b"")
    journal.shrink(cost)
    kinds = [piece.kind for piece in read_all(journal, journal.locate(0))]
    assert kinds[-2:] == ["error", "outcome"]
    assert journal.cost <= max(cost, 1024)


def test_head_and_tail_stay() -> None:
    journal = Journal(LIMIT)
    for i in range(100_000):
        journal.append("stdout", b"{}", b"%06d\n" % i)
    found = read_all(journal, journal.locate(0))
    assert [piece.kind for piece in found].count("gap") == 1
    assert found[0].blob.startswith(b"000000\n")
    assert found[-1].blob.endswith(b"099999\n")
    assert journal.dropped == journal.end - sum(len(piece.blob) for piece in found)


def test_an_early_error_stays_in_its_place() -> None:
    journal = Journal(LIMIT)
    fill(journal, [("stdout", 10_000, "a")] * 4)
    journal.append("error", b"{}", b"why")
    fill(journal, [("stdout", 10_000, "b")] * 40)
    kinds = [piece.kind for piece in read_all(journal, journal.locate(0))]
    assert kinds.count("error") == 1
    assert kinds.index("gap") < kinds.index("error") < len(kinds) - 1


def test_many_errors_are_not_all_kept() -> None:
    journal = Journal(LIMIT)
    for _ in range(1000):
        journal.append("error", b"{}", b"x" * 1000)
    assert journal.cost <= LIMIT + 2000


def test_tiny_records_cost_what_they_cost() -> None:
    journal = Journal(LIMIT)
    for _ in range(10_000):
        journal.append("stdout", b"{}", b"a")
        journal.append("stderr", b"{}", b"b")
    assert journal.cost <= LIMIT
    assert len(journal._records) <= LIMIT // 256


def test_slices_never_cut_a_code_point() -> None:
    journal = Journal(10**9)
    data = ("x" + "€" * 100_000).encode()
    journal.append("stdout", b"{}", data)
    found = read_all(journal, journal.locate(0))
    assert b"".join(piece.blob for piece in found) == data
    for piece in found:
        piece.blob.decode()


def test_a_picture_is_read_from_its_start() -> None:
    journal = Journal(10**9)
    journal.append("stdout", b"{}", b"0123456789")
    journal.append("display", b"{}", b"picture")
    assert [piece.blob for piece in read_all(journal, journal.locate(13))] == [b"picture"]
    assert read_all(journal, journal.locate(17)) == []
    assert read_all(journal, journal.locate(10**6)) == []


@pytest.mark.parametrize("offset", [6, 10**6])
def test_a_reader_from_the_end_gets_what_a_stream_grows_by(offset: int) -> None:
    journal = Journal(LIMIT)
    journal.append("stdout", b"", b"first\n")
    cursor = journal.locate(offset)
    journal.append("stdout", b"", b"second\n")
    journal.append("result", b"{}", b"'done'")
    assert [(piece.kind, piece.offset, piece.blob) for piece in read_all(journal, cursor)] == [
        ("stdout", 6, b"second\n"),
        ("result", 13, b"'done'"),
    ]


def test_outcome_is_found_at_the_end() -> None:
    journal = Journal(LIMIT)
    journal.append("stdout", b"{}", b"abc")
    journal.append("outcome", b"{}", b"")
    for offset in (0, 2, 3):
        assert read_all(journal, journal.locate(offset))[-1].kind == "outcome"


# The window.


def test_window_at_its_bound() -> None:
    window = Window()
    room = WINDOW_BYTES - 2 * RECORD_COST_BYTES
    window.sent(100, 100)
    assert window.admits(room - 100)
    assert not window.admits(room - 99)


def test_larger_than_the_window_passes_alone() -> None:
    window = Window()
    assert window.admits(10 * WINDOW_BYTES)
    window.sent(10 * WINDOW_BYTES, 10 * WINDOW_BYTES)
    assert not window.admits(0)
    assert window.acknowledge(10 * WINDOW_BYTES)
    assert window.outstanding == 0


@pytest.mark.parametrize("offset", [0, 49])
def test_acknowledging_nothing_new(offset: int) -> None:
    window = Window()
    window.sent(50, 50)
    assert not window.acknowledge(offset)
    assert window.outstanding == 50 + RECORD_COST_BYTES


@given(st.lists(st.integers(0, 100_000), max_size=50), st.lists(st.integers(0, 2**62), max_size=20))
def test_window_never_goes_below_zero(sizes: list[int], offsets: list[int]) -> None:
    window, end = Window(), 0
    for size in sizes:
        if window.admits(size):
            end += size
            window.sent(end, size)
    for offset in offsets:
        window.acknowledge(offset)
        assert window.outstanding >= 0
    window.acknowledge(end)
    assert window.outstanding == 0
