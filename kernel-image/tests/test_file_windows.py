"""What is read of files and not taken by a gateway is bounded in bytes."""

from pathlib import Path

import pytest
from client import Client, Refused
from supervisors import Running

from sandglass_supervisor.files.file_windows import FileWindows
from sandglass_supervisor.limits import FILES_WAITING, FILES_WINDOW_BYTES
from sandglass_supervisor.link.wire import FILES, Problem

MIB = 1024 * 1024
PEER = b"peer"


class Reader:
    """Asks of a window and notes what is served."""

    def __init__(self, *, acknowledges: bool = True) -> None:
        self.windows = FileWindows()
        self.windows.greet(PEER, acknowledges=acknowledges)
        self.served = 0

    def ask(self, length: int = MIB) -> None:
        def serve() -> None:
            self.served += 1
            self.windows.sent(PEER, length)

        self.windows.begin(PEER, length, serve, serve)


def test_a_window_is_filled_to_its_last_byte_and_no_further() -> None:
    reader = Reader()
    for _ in range(FILES_WINDOW_BYTES // MIB - 1):
        reader.ask()
    reader.ask(MIB - 1)
    reader.ask(1)
    assert reader.served == FILES_WINDOW_BYTES // MIB + 1
    reader.ask(1)
    assert reader.served == FILES_WINDOW_BYTES // MIB + 1

    reader.windows.acknowledge(PEER, 1)
    assert reader.served == FILES_WINDOW_BYTES // MIB + 2


def test_what_waits_is_served_in_its_order_and_never_overtaken() -> None:
    reader = Reader()
    reader.ask(FILES_WINDOW_BYTES)
    reader.ask(2)
    reader.ask(1)
    reader.windows.acknowledge(PEER, 1)
    assert reader.served == 1
    reader.windows.acknowledge(PEER, 2)
    assert reader.served == 2


def test_so_many_wait_and_one_more_is_refused() -> None:
    reader = Reader()
    reader.ask(FILES_WINDOW_BYTES)
    for _ in range(FILES_WAITING):
        reader.ask()
    with pytest.raises(Problem, match=f"{FILES_WAITING} readings of files wait"):
        reader.ask()


def test_what_is_larger_than_the_window_passes_alone() -> None:
    reader = Reader()
    reader.ask(FILES_WINDOW_BYTES + 1)
    assert reader.served == 1


def test_nobody_acknowledges_more_than_was_sent_or_takes_it_back() -> None:
    reader = Reader()
    reader.ask(FILES_WINDOW_BYTES)
    reader.windows.acknowledge(PEER, 2**62)
    reader.windows.acknowledge(PEER, 0)
    reader.ask(FILES_WINDOW_BYTES)
    assert reader.served == 2
    reader.ask(1)
    assert reader.served == 2


def test_another_hello_begins_with_an_empty_window() -> None:
    reader = Reader()
    reader.ask(FILES_WINDOW_BYTES)
    reader.ask(1)
    reader.windows.greet(PEER, acknowledges=True)
    reader.ask(FILES_WINDOW_BYTES)
    assert reader.served == 2


def test_who_does_not_acknowledge_is_served_as_before() -> None:
    reader = Reader(acknowledges=False)
    for _ in range(100):
        reader.ask()
    assert reader.served == 100


def read_much(client: Client, file: Path, times: int) -> list[bytes]:
    """Asks for a mebibyte so often, without taking one answer."""
    path = f"{file.parent.name}/{file.name}"
    return [client.send("files", operation="read", path=path, length=MIB) for _ in range(times)]


def test_a_gateway_that_takes_nothing_costs_the_sandbox_a_window(spare: Running) -> None:
    client = spare.ready()
    file = spare.workspace / "big" / "file"
    file.parent.mkdir()
    file.write_bytes(b"x" * MIB)
    client.ask("hello", protocol=[1], peer="test", file_credit=True)
    before = spare.rss()

    asked = read_much(client, file, 72)
    refused = read_much(client, file, 1)[0]
    with pytest.raises(Refused, match="rejected"):
        client.reply_to(refused)
    assert sum(request in client.replies for request in asked) == 8
    assert spare.rss() - before < 40 * MIB
    # Others do not wait for it.
    assert len(spare.client().read("big/file")) == MIB

    for number in range(1, 73):
        client.credit(FILES, number * MIB)
    for request in asked:
        assert len(client.both_to(request)[1]) == MIB


@pytest.mark.slow
def test_who_acknowledges_reads_on_and_on(client: Client, home: Path) -> None:
    (home / "file").write_bytes(b"x" * MIB)
    client.ask("hello", protocol=[1], peer="test", file_credit=True)
    for number in range(1, 33):
        assert len(client.read(f"{home.name}/file")) == MIB
        client.credit(FILES, number * MIB)


def test_what_waited_and_cannot_be_read_is_told(client: Client, home: Path) -> None:
    (home / "file").write_bytes(b"x" * MIB)
    client.ask("hello", protocol=[1], peer="test", file_credit=True)
    for request in read_much(client, home / "file", 8):
        client.both_to(request)
    missing = read_much(client, home / "missing", 1)[0]
    client.credit(FILES, MIB)
    with pytest.raises(Refused, match="not_found"):
        client.reply_to(missing)
