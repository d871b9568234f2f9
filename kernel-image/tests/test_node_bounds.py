"""What the Node kernel shows fits its channel and says what is missing; what is in the channel else is told."""

import re
import signal

import pytest
from client import Client
from test_node import node, result


@pytest.mark.slow
def test_large_results_are_cut(client: Client, name: str) -> None:
    for number, code in enumerate(
        ["'x'.repeat(5e6)", "Object.fromEntries(Array(3e5).fill(0).map((_, i) => ['k' + i, i]))"]
    ):
        shown = node(client, f"{name}{number}", code).only("result")
        assert len(shown.blob) <= 1024 * 1024 + 100
        assert b"left out" in shown.blob or b"more characters" in shown.blob
    error = node(client, name + "e", "throw new Error('y'.repeat(3e6))").only("error")
    assert len(error.blob) <= 128 * 1024
    assert result(node(client, name + "a", "'alive'")) == "'alive'"


@pytest.mark.parametrize(
    "code",
    [
        "display('application/json', { a: '語'.repeat(3500000) })",
        "display('application/json', '\\u0001'.repeat(4e6))",
        "display('application/json', Array(3e6).fill('語'))",
        "display('image/svg+xml', '\"'.repeat(4194304) + '語')",
        "display('image/svg+xml', '\"'.repeat(4194304))",
    ],
)
def test_what_is_shown_is_never_too_large(client: Client, name: str, code: str) -> None:
    assert node(client, name + "0", "var kept = 'kept'").outcome["status"] == "ok"  # type: ignore[index]
    output = node(client, name, code)
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["message"]) == ("ok", "")
    assert b"was left out: too large; save it to a file" in output.only("display").blob
    assert result(node(client, name + "1", "kept")) == "'kept'"


@pytest.mark.parametrize("letter", ["x", "é", "語", "😀"])
def test_a_cut_text_says_what_is_missing(client: Client, name: str, letter: str) -> None:
    shown = node(client, name, f"display('text/plain', '{letter}'.repeat(2e6))").only("display").blob
    head, left_out, tail = re.split(rb"\n\[\.\.\. (\d+) bytes left out \.\.\.\]\n", shown)
    assert len(shown) <= 1024 * 1024
    assert len(head) + int(left_out) + len(tail) == 2_000_000 * len(letter.encode())
    assert {*head.decode(), *tail.decode()} == {letter}


@pytest.mark.slow
def test_what_writes_into_the_kernels_channel_is_told(client: Client, name: str) -> None:
    code = "require('fs').writeSync(4, 'what is no message'); await new Promise(() => {})"
    ended = node(client, name, code).outcome
    assert ended is not None
    assert (ended["status"], ended["signal"]) == ("kernel_died", signal.SIGKILL)
    assert "wrote into the kernel's own channel, descriptor 4" in ended["message"]
    assert result(node(client, name + "after", "1")) == "1"
