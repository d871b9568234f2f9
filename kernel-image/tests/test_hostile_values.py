"""Values of the code that no reader of its outcome may stumble over, with a real kernel."""

from pathlib import Path

import pytest
from client import Client


def test_a_huge_execution_count_does_not_cost_the_outcome(client: Client, name: str) -> None:
    try:
        huge = client.run(name, "get_ipython().execution_count = 10 ** 2000")
        after = client.run(name + "-2", "1 + 1")
        assert huge.outcome is not None
        assert after.outcome is not None
        assert (huge.outcome["status"], after.outcome["status"]) == ("ok", "ok")
        # The gateway reads no number of a thousand digits: it would drop the outcome and wait.
        assert after.outcome["execution_count"] is None
    finally:
        client.run(name + "-3", "get_ipython().execution_count = 1")


def test_half_a_character_in_an_exception(client: Client, name: str) -> None:
    found = client.run(name, "raise ValueError('a\\ud800b')")
    assert found.outcome is not None
    assert found.outcome["status"] == "error"
    assert found.only("error").json["name"] == "ValueError"
    assert found.only("error").json["message"] == "a\ud800b"  # the gateway mends it, as it must for any supervisor


def test_half_a_character_in_what_is_displayed(client: Client, name: str) -> None:
    found = client.run(name, "display({'text/plain': 'a\\ud800b'}, raw=True)")
    assert found.outcome is not None
    assert found.outcome["status"] == "ok"
    assert found.only("display").blob == b"a?b"


UNSHOWN = {
    "a number": "    def __str__(self): return self.code",
    "fails": "    def __str__(self): return 1 / 0",
    "leaves": "    def __str__(self): raise SystemExit",
    "in two ways": "    def __str__(self): return self.code\n    __repr__ = __str__",
}
CODED = """
kept = 1
class E(Exception):
    def __init__(self, code): self.code = code
"""
RAISED = {
    "plain": "raise E(7)",
    "awaiting": "import asyncio; await asyncio.sleep(0); raise E(7)",
    "chained": "try: 1 / 0\nexcept ZeroDivisionError as error: raise E(7) from error",
    "behind another": "try: raise E(7)\nexcept E as error: raise KeyError from error",
    "magic": "%%capture\nraise E(7)",
    "script": "%run {script}",
}


@pytest.mark.parametrize("how", UNSHOWN)
@pytest.mark.parametrize("where", RAISED)
def test_an_exception_that_cannot_be_shown(client: Client, name: str, home: Path, where: str, how: str) -> None:
    (home / "script.py").write_text(f"{CODED}{UNSHOWN[how]}\nraise E(7)")
    client.run(f"{name}-1", CODED + UNSHOWN[how], session="unshown")
    output = client.run(name, RAISED[where].format(script=f"{home.name}/script.py"), session="unshown")
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["kernel_restarted"]) == ("error", False)
    error = output.only("error")
    expected = ("KeyError", "") if where == "behind another" else ("E", "it cannot be shown")
    assert (error.json["name"], error.json["message"]) == expected
    assert "raise E(7)" in error.blob.decode()
    assert output.outcome["message"] == ": ".join(expected)
    assert client.run(f"{name}-kept", "kept", session="unshown").only("result").blob == b"1"


@pytest.mark.parametrize("base", ["BaseException", "SystemExit", "SyntaxError", "KeyboardInterrupt", "UnicodeError"])
def test_other_exceptions_that_cannot_be_shown(client: Client, name: str, base: str) -> None:
    client.run(f"{name}-1", f"import asyncio; kept = 1\nclass E({base}):\n{UNSHOWN['fails']}", session="unshown")
    for turn, code in enumerate(("raise E(7)", "await asyncio.sleep(0); raise E(7)", "%%capture\nraise E(7)")):
        output = client.run(f"{name}-{turn}-raises", code, session="unshown")
        assert output.outcome is not None
        assert output.outcome["status"] == "error"
        assert output.only("error").json["name"] == "E"
        assert output.outcome["message"] == "E: it cannot be shown"
    assert client.run(f"{name}-kept", "kept", session="unshown").only("result").blob == b"1"
