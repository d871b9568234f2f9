"""Pipes of commands, and what becomes of those that somebody still has when the command has ended."""

import os
import time
from collections.abc import Callable
from unittest import mock

import pytest

from sandglass_supervisor.commands.pipes import Pipe
from sandglass_supervisor.limits import DRAINED_COMMANDS, SLICE_BYTES
from sandglass_supervisor.loop import Loop
from sandglass_supervisor.processes.drains import Drains


def pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    for descriptor in (reader, writer):
        os.set_blocking(descriptor, False)
    return reader, writer


def turns(loop: Loop, seconds: float, action: Callable[[], None] = lambda: None) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        loop.call_in(0.001, lambda: None)
        loop.run_once()
        action()


def until(loop: Loop, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        turns(loop, 0.01)
    return condition()


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def test_of_a_program_that_has_ended_no_more_is_taken_than_is_there() -> None:
    reader, writer = pipe()
    taken = mock.Mock()
    # Whenever something is taken, who was left running writes more.
    taken.write.side_effect = lambda *_: os.write(writer, b"more")
    stdout = Pipe("stdout", reader)
    os.write(writer, b"its own")
    stdout.take_no_more()
    os.write(writer, b"too late")
    stdout.take_no_more()
    assert [stdout.read(taken), stdout.read(taken)] == [True, False]
    assert (stdout.open, [call.args[2] for call in taken.write.call_args_list]) == (False, [b"its own"])
    assert stdout.has_writer()
    os.close(writer)
    assert not stdout.has_writer()
    os.close(reader)


def test_what_is_written_is_read_until_nobody_writes() -> None:
    loop = Loop()
    drains = Drains(loop)
    (reader, writer), (quiet, silent) = pipe(), pipe()
    drains.add([reader, quiet])
    for _ in range(3):
        os.write(writer, bytes(SLICE_BYTES))  # a pipe holds no more: what was written before has been read
        turns(loop, 0.05)
    os.close(writer)
    assert until(loop, lambda: not is_open(reader))
    assert is_open(quiet)
    os.close(silent)
    assert until(loop, lambda: not is_open(quiet))


def test_who_writes_without_end_waits() -> None:
    loop = Loop()
    drains = Drains(loop)
    reader, writer = pipe()
    drains.add([reader])
    written = 0

    def write() -> None:
        nonlocal written
        try:
            written += os.write(writer, bytes(SLICE_BYTES))
        except BlockingIOError:
            return

    turns(loop, 0.3, write)
    assert SLICE_BYTES < written <= 20 * SLICE_BYTES
    os.close(writer)
    assert until(loop, lambda: not is_open(reader))


def test_the_oldest_of_too_many_gives_its_pipes_up() -> None:
    loop = Loop()
    drains = Drains(loop)
    pipes = [pipe() for _ in range(DRAINED_COMMANDS + 1)]
    ended, first = pipes[1], pipes[0]
    for reader, _ in pipes[:-1]:
        drains.add([reader])
    os.write(first[1], b"read, so that it is not watched when it is given up")
    loop.run_once()
    # One that has ended leaves room.
    os.close(ended[1])
    turns(loop, 0.05)
    drains.add([pipes[-1][0]])
    assert is_open(first[0])
    more = pipe()
    os.write(first[1], b"again")
    loop.run_once()
    drains.add([more[0]])
    with pytest.raises(BrokenPipeError):
        os.write(first[1], b"too much")
    # Whoever gets the number next is left alone.
    turns(loop, 0.05)
    for _, writer in (first, *pipes[2:], more):
        os.close(writer)
    turns(loop, 0.05)
    assert not any(is_open(reader) for reader, _ in pipes)
