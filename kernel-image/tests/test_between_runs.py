"""What threads, tasks, timers and programs print while no run is on: it begins the next answer, marked."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from client import PATIENCE, Client, Output
from supervisors import Running

from sandglass_supervisor.kernels.between_runs import BEGIN, END, BetweenRuns
from sandglass_supervisor.kernels.jupyter import Message
from sandglass_supervisor.limits import BETWEEN_RUNS_BYTES, PICTURE_BYTES

pytestmark = pytest.mark.usefixtures("session")
MARKED = f"{BEGIN.decode()}{{}}{END.decode()}"
SESSION = "between"
# Each waits for the test's file, prints, and makes another one.
THREAD = """
import pathlib, subprocess, sys, threading, time
def late():
    while not pathlib.Path({go!r}).exists():
        time.sleep(0.005)
    {does}
    sys.stdout.flush(); sys.stderr.flush()
    pathlib.Path({done!r}).touch()
thread = threading.Thread(target=late)
thread.start()
"""
TASK = """
import asyncio, pathlib
async def late():
    while not pathlib.Path({go!r}).exists():
        await asyncio.sleep(0.005)
    {does}
    pathlib.Path({done!r}).touch()
task = asyncio.create_task(late())
"""
TIMER = """
var fs = require('node:fs');
var timer = setInterval(() => {{
  if (!fs.existsSync({go!r})) return;
  clearInterval(timer);
  {does};
  fs.writeFileSync({done!r}, '');
}}, 5);
0
"""


def between(client: Client, name: str, home: Path, code: str, does: str, language: str = "python") -> Output:
    """The next run's output when something printed between the two."""
    go, done = home / "go", home / "done"
    begin = code.format(go=str(go), done=str(done), does=does)
    assert client.run(name, begin, session=SESSION, language=language).text() == ""
    go.touch()
    client.until(done.exists, PATIENCE, "what prints between the runs")
    output = client.run(
        f"{name}-2",
        "print('own')" if language == "python" else "console.log('own')",
        session=SESSION,
        language=language,
    )
    third = client.run(f"{name}-3", "1", session=SESSION, language=language)
    assert third.text() == ""
    return output


@pytest.mark.parametrize("code", [THREAD, TASK])
def test_a_thread_and_a_task(client: Client, name: str, home: Path, code: str) -> None:
    output = between(client, name, home, code, "print('late')")
    assert output.text() == MARKED.format("late\n") + "own\n"
    assert output.text("stderr") == ""


def test_a_timer_of_node(client: Client, name: str, home: Path) -> None:
    output = between(client, name, home, TIMER, "console.log('late'); console.error('wrong')", "nodejs")
    assert output.text() == MARKED.format("late\n") + "own\n"
    assert output.text("stderr") == MARKED.format("wrong\n")


def test_an_error_of_a_timer_of_node(client: Client, name: str, home: Path) -> None:
    does = "setImmediate(() => fs.writeFileSync(DONE, '')); throw new Error('stray')"
    output = between(client, name, home, TIMER, does.replace("DONE", repr(str(home / "done"))), "nodejs")
    assert "Error: stray\n    at Timeout" in output.text("stderr")
    assert output.text("stderr").endswith(END.decode())
    assert output.outcome is not None
    assert output.outcome["status"] == "ok"


def test_a_line_without_an_end_and_both_streams(client: Client, name: str, home: Path) -> None:
    output = between(client, name, home, THREAD, "print('out', end=''); print('err', end='', file=sys.stderr)")
    assert output.text() == MARKED.format("out\n") + "own\n"
    assert output.text("stderr") == MARKED.format("err\n")


def test_what_a_program_prints(client: Client, name: str, home: Path) -> None:
    output = between(client, name, home, THREAD, "subprocess.run(['echo', 'from a program'])")
    assert output.text() == MARKED.format("from a program\n") + "own\n"


def test_what_is_displayed(client: Client, name: str, home: Path) -> None:
    output = between(client, name, home, THREAD, "print('1'); display('shown'); print('2')")
    assert output.only("display").blob == b"'shown'"
    assert output.text() == MARKED.format("1\n2\n") + "own\n"


def test_it_is_the_present_runs_while_one_is_on(client: Client, name: str, home: Path) -> None:
    go, done = str(home / "go"), str(home / "done")
    client.run(name, THREAD.format(go=go, done=done, does="print('late')"), session=SESSION)
    output = client.run(f"{name}-2", f"pathlib.Path({go!r}).touch()\nthread.join()", session=SESSION)
    assert output.text() == "late\n"


def test_the_same_in_node(client: Client, name: str) -> None:
    code = """
const { EventEmitter } = require('node:events');
var emitter = new EventEmitter();
emitter.on('late', () => { console.log('heard'); display('shown'); });
const later = (resolve) => setTimeout(() => { console.log('later'); resolve(); }, 1);
var said = new Promise((resolve) => emitter.on('later', () => later(resolve)));
0
"""
    client.run(name, code, session=SESSION, language="nodejs")
    output = client.run(
        f"{name}-2", "emitter.emit('late'); emitter.emit('later'); await said", session=SESSION, language="nodejs"
    )
    assert (output.text(), output.only("display").blob) == ("heard\nlater\n", b"'shown'")


@pytest.mark.slow
def test_a_reset_forgets_it(client: Client, name: str, home: Path) -> None:
    go, done = home / "go", home / "done"
    client.run(name, THREAD.format(go=str(go), done=str(done), does="print('late')"), session=SESSION)
    go.touch()
    client.until(done.exists, PATIENCE, "what prints between the runs")
    client.ask("reset", session=SESSION)
    assert client.run(f"{name}-2", "print('own')", session=SESSION).text() == "own\n"


@pytest.mark.slow
def test_a_kernel_that_dies_then_leaves_it(spare: Running) -> None:
    client = spare.ready()
    go, done = spare.workspace / "go", spare.workspace / "done"
    dies = "print('last words', flush=True); import os; os._exit(3)"
    client.run("begin", THREAD.format(go=str(go), done=str(done), does=dies))
    go.touch()
    client.until(lambda: "died" in [event["event"] for _, _, event in client.events], PATIENCE, "the event")
    output = client.run("next", "print('own')")
    assert output.text() == MARKED.format("last words\n") + "own\n"


def printed(text: str, name: str = "stdout") -> Message:
    return Message("stream", "", json.dumps({"name": name, "text": text}).encode())


def told(kept: BetweenRuns) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    kept.tell(lambda kind, _, blob: found.append((kind, blob)))
    return found


@pytest.mark.slow
def test_however_much_there_is_head_and_tail_are_kept() -> None:
    kept = BetweenRuns()
    for number in range(100_000):
        kept.hear(printed(f"line {number} é\n"))
    text = b"".join(blob for _, blob in told(kept)).decode()
    assert len(text.encode()) < BETWEEN_RUNS_BYTES + 1000
    assert text.startswith(BEGIN.decode() + "line 0 é\n")
    assert text.endswith("line 99999 é\n" + END.decode())
    assert "bytes left out ...]" in text
    assert told(kept) == []


@pytest.mark.slow
def test_of_pictures_the_newest_is_kept() -> None:
    kept = BetweenRuns()
    for number in range(10):
        size = bytes(3) + b"\1"
        header = b"\x89PNG\r\n\x1a\n" + size + b"IHDR" + size + size
        png = b64encode(header + bytes([number]) * (PICTURE_BYTES // 2)).decode()
        kept.hear(Message("display_data", "", json.dumps({"data": {"image/png": png}}).encode()))
    pictures = [blob for kind, blob in told(kept) if kind == "display"]
    assert [blob[-1] for blob in pictures] == [9]


@pytest.mark.parametrize("content", [b"", b"[]", b'{"name": 1, "text": 2}', b'{"data": 3}', b"[" * 100_000])
@pytest.mark.parametrize("kind", ["stream", "display_data", "error", "status", "x"])
def test_what_is_no_output_is_nothing(kind: str, content: bytes) -> None:
    kept = BetweenRuns()
    kept.hear(Message(kind, "", content))
    assert told(kept) == []
