"""What a kernel flushed before it died is told, whether or not ZeroMQ had sent it."""

import os
from collections.abc import Iterator

import pytest
from conftest import Running
from hypothesis import given
from hypothesis import strategies as st

from sandglass_supervisor.limits import LAST_WORDS_BYTES
from sandglass_supervisor.shared import crash_buffer
from sandglass_supervisor.shared.crash_buffer import CrashBuffer


@pytest.fixture
def descriptor() -> Iterator[int]:
    memory = crash_buffer.memory()
    yield memory
    os.close(memory)


def message(number: int, size: int = 10) -> list[bytes]:
    return [b"<IDS|MSG>", b"%d" % number, b"header", b"", b"{}", bytes(size)]


def signatures(descriptor: int, known: bytes | None = None) -> list[int]:
    return [int(frames[1]) for frames in crash_buffer.after(descriptor, known)]


def test_only_what_came_after_the_last_that_arrived(descriptor: int) -> None:
    words = CrashBuffer(os.dup(descriptor))
    assert crash_buffer.after(descriptor, None) == []
    for number in range(5):
        words.note(message(number))
    assert crash_buffer.after(descriptor, b"3") == [message(4)]
    assert signatures(descriptor, b"4") == []
    assert signatures(descriptor) == signatures(descriptor, b"unknown") == [0, 1, 2, 3, 4]


@given(st.lists(st.integers(0, LAST_WORDS_BYTES // 3), max_size=30))
def test_the_newest_of_one_half_are_always_there(sizes: list[int]) -> None:
    descriptor = crash_buffer.memory()
    try:
        words = CrashBuffer(os.dup(descriptor))
        for number, size in enumerate(sizes):
            words.note(message(number, size))
        kept = signatures(descriptor)
        assert kept == list(range(len(sizes) - len(kept), len(sizes)))
        left_out = sizes[: len(sizes) - len(kept)]
        assert not left_out or sum(sizes[len(left_out) - 1 :]) + 100 * len(sizes) > LAST_WORDS_BYTES
    finally:
        os.close(descriptor)


def test_one_that_is_too_large_leaves_what_follows_it(descriptor: int) -> None:
    words = CrashBuffer(os.dup(descriptor))
    overhead = len(b"".join(message(1, 0))) + 24
    for number, size in enumerate([10, LAST_WORDS_BYTES - overhead, 10, LAST_WORDS_BYTES - overhead + 1]):
        words.note(message(number, size))
        assert signatures(descriptor) == [[0], [0, 1], [1, 2], []][number]
    words.note(message(4))
    assert signatures(descriptor, b"2") == [4]


@pytest.mark.slow
@given(st.binary(max_size=200), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_code_can_write_whatever_it_likes(noise: bytes, half: int, first: int, second: int) -> None:
    descriptor = crash_buffer.memory()
    try:
        os.pwrite(descriptor, b"".join(part.to_bytes(8, "little") for part in (half, first, second)) + noise, 0)
        os.pwrite(descriptor, noise, 24 + LAST_WORDS_BYTES)
        found = crash_buffer.after(descriptor, None)
        assert all(len(frames) == 6 for frames in found)
        assert sum(len(frame) for frames in found for frame in frames) <= 2 * LAST_WORDS_BYTES
        os.ftruncate(descriptor, 100)
        assert crash_buffer.after(descriptor, None) == []
    finally:
        os.close(descriptor)


def test_the_run_that_began_last(descriptor: int) -> None:
    words = CrashBuffer(os.dup(descriptor))
    assert not crash_buffer.has_begun(descriptor, "run-1")
    words.begin("run-12")
    words.note(message(1))
    assert crash_buffer.has_begun(descriptor, "run-12")
    assert not crash_buffer.has_begun(descriptor, "run-1")
    words.begin("run-3")
    assert crash_buffer.has_begun(descriptor, "run-3")
    os.ftruncate(descriptor, 0)
    assert not crash_buffer.has_begun(descriptor, "run-3")


@pytest.mark.slow
def test_last_words_behind_output_that_nobody_reads(own: Running) -> None:
    client = own.client(acknowledge=False)
    client.hello()
    # More than window, queues and sockets take: the end of it is still in the kernel's own queue when that dies.
    client.start("dies", "import os\nprint('x' * 2_000_000)\nprint('last words', flush=True)\nos.kill(os.getpid(), 9)")
    reader = own.client()
    reader.hello()
    reader.ask("attach", execution_id="dies", offset=0)
    text = reader.finish("dies").text()
    assert text.endswith("xx\nlast words\n")
    assert text.count("last words") == 1
