"""What was shown, raised or printed costs no memory once the next run begins, unless that run names it."""

from pathlib import Path

import pytest
from client import Client
from supervisors import Running

SESSION = "kept"
BEGIN = """
import asyncio, gc, sys, weakref
gc.disable()
class Big: pass
def big():
    global seen
    made = Big()
    seen = weakref.ref(made)
    return made
def fail(error=None):
    held = big()
    raise error or ValueError('failed')
def chained():
    try: fail()
    except ValueError as error: raise RuntimeError from error
async def later(): fail()
"""


@pytest.fixture
def kept(client: Client, name: str) -> Client:
    client.run(f"{name}-begin", BEGIN, session=SESSION)
    return client


def value(client: Client, name: str, code: str) -> bytes:
    return client.run(name, code, session=SESSION).only("result").blob


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        "big()",
        "made = big(); display(made); del made; 5",
        "fail()",
        "chained()",
        "await later()",
        "await asyncio.gather(later(), later())",
        "fail(SystemExit(1))",
        "fail(SystemExit(0))",
        "fail(SyntaxError('wrong'))",
        "fail(ExceptionGroup('both', [OSError(1)]))",
        "%time fail()",
        "%%capture\nfail()",
        "1\nbig()\n2",
        "held = big(); _ = 3; held; del held",
    ],
)
def test_it_is_gone_when_the_next_run_begins(kept: Client, name: str, run: str) -> None:
    kept.run(name, run, session=SESSION)
    assert value(kept, f"{name}-2", "seen() is None") == b"True"
    kept.ask("close", session=SESSION)


def test_a_script_that_failed(kept: Client, name: str, home: Path) -> None:
    (home / "script.py").write_text(BEGIN + "fail()")
    kept.run(name, f"%run -i {home.name}/script.py", session=SESSION)
    assert value(kept, f"{name}-2", "seen() is None") == b"True"
    kept.ask("close", session=SESSION)


@pytest.mark.slow
def test_the_next_run_may_name_it(kept: Client, name: str) -> None:
    kept.run(f"{name}-0", "big()", session=SESSION)
    assert value(kept, f"{name}-1", "_ is seen()") == b"True"
    assert value(kept, f"{name}-2", "6 * 7") == b"42"
    assert value(kept, f"{name}-3", "_ + 1") == b"43"
    kept.run(f"{name}-4", "fail()", session=SESSION)
    assert value(kept, f"{name}-5", "sys.last_value") == b"ValueError('failed')"
    kept.run(f"{name}-6", "fail()", session=SESSION)
    assert kept.run(f"{name}-7", "%tb", session=SESSION).only("error").json["message"] == "failed"
    kept.ask("close", session=SESSION)


@pytest.mark.slow
def test_what_is_not_kept_says_so(kept: Client, name: str) -> None:
    value(kept, f"{name}-1", "5")
    error = kept.run(f"{name}-2", "Out[2]", session=SESSION).only("error")
    assert "Out[2] is not kept: only the last value is, as _" in error.json["message"]
    assert kept.run(f"{name}-3", "__", session=SESSION).only("error").json["name"] == "NameError"
    kept.ask("close", session=SESSION)


@pytest.mark.slow
def test_a_name_that_the_code_uses_itself_is_left_alone(kept: Client, name: str) -> None:
    kept.run(f"{name}-1", "_ = str.upper", session=SESSION)
    assert value(kept, f"{name}-2", "7") == b"7"
    assert value(kept, f"{name}-3", "_('text')") == b"'TEXT'"
    kept.run(f"{name}-4", "import gettext; gettext.install('none'); del _", session=SESSION)
    assert value(kept, f"{name}-5", "_('text')") == b"'text'"
    assert value(kept, f"{name}-6", "_('text')") == b"'text'"
    kept.ask("close", session=SESSION)


@pytest.mark.slow
def test_names_that_were_removed_come_back(kept: Client, name: str) -> None:
    kept.run(f"{name}-1", "5\nglobals().clear()", session=SESSION)
    assert value(kept, f"{name}-2", "6") == b"6"
    assert value(kept, f"{name}-3", "_") == b"6"
    kept.run(f"{name}-4", "%reset -f", session=SESSION)
    assert value(kept, f"{name}-5", "7") == b"7"
    kept.ask("close", session=SESSION)


MEMORY = "int(open('/proc/self/statm').read().split()[1]) * 4096 // 2**20"


@pytest.mark.slow
@pytest.mark.parametrize(
    "run",
    [
        # More than 32 MiB each: what glibc maps by itself, and gives back at once.
        "bytearray(40 * 2**20).hex()[:0] or memoryview(bytearray(40 * 2**20))",
        "display({'text/plain': 'x' * (1 << 19)}, raw=True)\nfor _ in range(300): print('x' * 100_000)",
        "data = '" + "x" * 900_000 + "'",
    ],
    ids=["shown", "printed", "code"],
)
def test_many_runs_take_no_more_memory_than_one(client: Client, name: str, run: str) -> None:
    client.run(f"{name}-0", run, session=SESSION)
    before = int(value(client, f"{name}-before", MEMORY))
    for turn in range(1, 8):
        client.run(f"{name}-{turn}", run, session=SESSION)
    after = int(value(client, f"{name}-after", MEMORY))
    client.ask("close", session=SESSION)
    assert after - before < 20


@pytest.mark.slow
def test_many_long_cells_of_node_fit_a_small_heap(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_ENV='{"NODE_OPTIONS":"--max-old-space-size=64"}')
    try:
        client = running.client()
        client.hello()
        for turn in range(80):
            output = client.run(f"cell-{turn}", f"// {'x' * 1_000_000}\n{turn}", language="nodejs")
            assert output.only("result").blob == str(turn).encode()
    finally:
        running.stop()
