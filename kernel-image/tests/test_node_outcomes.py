"""How runs of the Node kernel end: interrupts, time-outs, deaths; and what holds for every kernel holds for it."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client, Output, Refused
from supervisors import PATIENT, Running
from test_node import node, result

FOREVER = "await new Promise(() => {})"


def outcome(output: Output) -> dict[str, Any]:
    assert output.outcome is not None
    return output.outcome


def begin(client: Client, execution_id: str, code: str, **more: object) -> None:
    """Start code and wait until it says that it is on."""
    say = "console.log('on'); "
    client.start(execution_id, code if say in code else say + code, language="nodejs", **more)
    client.until(lambda: client.output(execution_id).text().startswith("on\n"), PATIENCE, "the first output")


@pytest.mark.parametrize(
    "code",
    [
        "while (true) {}",
        "await null; while (true) {}",
        "await new Promise(r => setTimeout(r, 1)); while (true) {}",
        "for (;;) await null",
        "for (;;) await new Promise(r => setImmediate(r))",
        "for (;;) try { for (;;); } catch {} finally {}",
        "for (;;) console.log('x')",
        "for (;;) require('fs').readFileSync('/etc/passwd')",
        "setImmediate(() => { console.log('on'); for (;;); }); " + FOREVER,
        "setTimeout(() => { console.log('on'); for (;;); }); " + FOREVER,
        "process.nextTick(() => { console.log('on'); for (;;); }); " + FOREVER,
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
        "'a'.repeat(40).match(/(a+)+b/)",
        "require('child_process').execSync('sleep 60')",
        "(async () => { for (;;) await new Promise(r => setTimeout(r, 1)) })()",
        "(async () => { for (;;) await new Promise(r => setImmediate(r)) })(); " + FOREVER,
        "for await (const tick of require('timers/promises').setInterval(5)) tick",
        FOREVER,
        "new Promise(() => {})",
    ],
)
def test_interrupt_keeps_the_variables(client: Client, name: str, code: str) -> None:
    node(client, name + "0", "var kept = 41")
    begin(client, name, code)
    assert client.ask("interrupt", language="nodejs") == {"interrupted": [name]}
    ended = outcome(client.finish(name))
    assert (ended["status"], ended["kernel_restarted"]) == ("interrupted", False)
    after = node(client, name + "1", "console.log('heard'); kept + 1")
    assert (after.text(), result(after)) == ("heard\n", "42")


@pytest.mark.slow
def test_what_a_run_left_behind_does_not_cost_the_next_its_variables(spare: Running) -> None:
    client = spare.ready()
    loop = "require('fs').writeFileSync('looping', ''); for (;;);"
    node(client, "leaves", f"var kept = 41; setTimeout(() => {{ {loop} }}, 50); 1")
    client.until((spare.workspace / "looping").exists, PATIENCE, "the loop")
    assert outcome(node(client, "behind", "await 1", timeout_s=0.5))["kernel_restarted"] is False
    assert result(node(client, "after", "kept + 1")) == "42"


def test_interrupt_can_be_cleaned_up_after(client: Client, name: str) -> None:
    wait = "await new Promise(r => setTimeout(r, 20))"
    begin(
        client,
        name,
        f"try {{ {FOREVER} }} catch (e) {{ {wait}; console.log(e.name) }} finally {{ console.log('end') }}",
    )
    client.ask("interrupt", execution_id=name)
    assert client.finish(name).text() == "on\nInterrupted\nend\n"


def test_one_interrupt_is_one_error(client: Client, name: str) -> None:
    """One that comes while the code is on its way to where it waits."""
    busy = "for (const began = Date.now(); Date.now() - began < 30;);"
    wait = "await new Promise(r => setTimeout(r, 20))"
    code = f"console.log('on'); {busy} try {{ {FOREVER} }} catch (e) {{ {wait}; console.log(e.name) }}"
    for turn in range(5):
        begin(client, f"{name}{turn}", code)
        client.ask("interrupt", execution_id=f"{name}{turn}")
        assert client.finish(f"{name}{turn}").text() == "on\nInterrupted\n"


@pytest.mark.slow
def test_interrupt_right_after_start(client: Client, name: str) -> None:
    for turn in range(10):
        client.start(f"{name}{turn}", "for (;;);" if turn % 2 else FOREVER, language="nodejs")
        assert client.ask("interrupt", execution_id=f"{name}{turn}")["interrupted"] == [f"{name}{turn}"]
        ended = outcome(client.finish(f"{name}{turn}"))
        assert (ended["status"], ended["kernel_restarted"]) == ("interrupted", False)


@pytest.mark.slow
def test_code_that_will_not_end_is_killed(hasty: Running) -> None:
    client = hasty.ready()
    stubborn = "for (;;) { try { await new Promise(r => setTimeout(r, 5)) } catch {} }"
    begin(client, "stubborn", stubborn, timeout_s=3.0)
    ended = outcome(client.finish("stubborn"))
    assert (ended["status"], ended["kernel_restarted"]) == ("timeout", True)
    assert "variables are lost" in ended["message"]
    assert result(node(client, "after", "1 + 1")) == "2"


@pytest.mark.slow
def test_time_out_keeps_the_kernel(client: Client, name: str) -> None:
    node(client, name + "1", "var kept = 1")
    output = node(client, name + "2", "console.log('partial'); for (;;);", timeout_s=3.0)
    ended = outcome(output)
    assert (ended["status"], ended["kernel_restarted"], output.text()) == ("timeout", False, "partial\n")
    assert 3000 <= ended["duration_ms"] < 3000 + 1000 * PATIENT["INTERRUPT_GRACE_S"]
    assert result(node(client, name + "3", "kept")) == "1"


@pytest.mark.alone
def test_death_is_told_at_once(spare: Running) -> None:
    client, took = spare.ready(), list[float]()
    # What else the machine does may delay one or two.
    while len(took) < 3 and min(took, default=1) >= 0.3:
        name = f"dies{len(took)}"
        begin(client, name, f"console.log(process.pid); {FOREVER}")
        client.until(lambda name=name: client.output(name).text().count("\n") == 2, PATIENCE, "the pid")
        began = time.monotonic()
        os.kill(int(client.output(name).text().split()[1]), signal.SIGKILL)
        ended = outcome(client.finish(name))
        took.append(time.monotonic() - began)
        assert (ended["status"], ended["signal"], ended["kernel_restarted"]) == ("kernel_died", 9, True)
    assert min(took) < 0.3
    assert result(node(client, "after", "'again'")) == "'again'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "exit_code", "number", "last"),
    [
        ("process.reallyExit(3)", 3, None, ""),
        ("process.reallyExit(0)", 0, None, ""),
        ("process.abort()", None, signal.SIGABRT, ""),
        ("require('fs').writeSync(4, 'not a frame' + '\\n'.repeat(100)); for (;;);", None, signal.SIGKILL, ""),
    ],
)
def test_ends_of_its_own(spare: Running, code: str, exit_code: int | None, number: int | None, last: str) -> None:
    client = spare.ready()
    output = node(client, "ends", f"console.log('words'); {code}")
    ended = outcome(output)
    assert (ended["status"], ended["exit_code"], ended["signal"]) == ("kernel_died", exit_code, number)
    assert output.text() == "words\n" + last
    assert result(node(client, "after", "typeof words")) == "'undefined'"


@pytest.mark.slow
def test_a_full_heap_is_told_as_such(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_ENV='{"NODE_OPTIONS":"--max-old-space-size=64"}')
    try:
        client = running.ready()
        ended = outcome(node(client, "eats", "const all = []; for (;;) all.push(new Array(1000).fill({}))", timeout=60))
        assert (ended["status"], ended["kernel_restarted"]) == ("oom_killed", True)
        assert "heap was full" in ended["message"]
        assert result(node(client, "after", "1 + 1")) == "2"
    finally:
        running.stop()


@pytest.mark.slow
def test_a_flood_arrives_whole(client: Client, name: str) -> None:
    # 20 MB, with characters of several bytes at every possible place of a cut.
    code = (
        "const line = 'aé€😀'.repeat(1000) + '\\n'; for (let i = 0; i < 2000; i++) console.log(i + line.slice(0, -1))"
    )
    text = node(client, name, code, timeout=120).text()
    assert text == "".join(f"{i}{'aé€😀' * 1000}\n" for i in range(2000))


@pytest.mark.slow
def test_one_large_write_arrives_whole(client: Client, name: str) -> None:
    assert node(client, name, "process.stdout.write('😀'.repeat(5e6))", timeout=120).text() == "😀" * 5_000_000


@pytest.mark.slow
def test_the_code_waits_for_its_reader(spare: Running) -> None:
    client = spare.ready()
    result(node(client, "warm", "var fs = require('fs'), written = 0, text = 'x'.repeat(1023); 0"))
    reader = spare.client(acknowledge=False)
    reader.hello()
    flood = "for (;; written++) { fs.writeFileSync('written', `${written}`); console.log(text) }"
    reader.start("floods", flood, language="nodejs")
    reader.until(lambda: len(reader.output("floods").blob("stdout")) >= 200_000, PATIENCE, "a full window")
    before = spare.rss()
    while reader.receive(0.5):
        pass
    assert len(reader.output("floods").blob("stdout")) <= 262_144
    assert spare.rss() - before < 4_000_000
    # Looked at while it waits: once it is interrupted, what it still writes is dropped.
    written = int((spare.workspace / "written").read_text())
    assert 200 < written < 4000
    assert reader.ask("interrupt", execution_id="floods") == {"interrupted": ["floods"]}
    client.until(
        lambda: client.ask("attach", execution_id="floods", offset=0)["outcome"] is not None, PATIENCE, "the end"
    )


@pytest.mark.slow
def test_sessions_and_reset(spare: Running) -> None:
    client = spare.ready()
    node(client, "a1", "var x = 1; require('fs').writeFileSync('shared', 'seen')", session="a")
    node(client, "b1", "var x = 2", session="b")
    assert result(node(client, "a2", "x", session="a")) == "1"
    assert (
        result(node(client, "b2", "[x, String(require('fs').readFileSync('shared'))]", session="b")) == "[ 2, 'seen' ]"
    )
    assert client.ask("reset", language="nodejs", session="a") == {"state": "idle"}
    assert (
        result(node(client, "a3", "[typeof x, require('fs').existsSync('shared')]", session="a"))
        == "[ 'undefined', true ]"
    )
    assert result(node(client, "b3", "x", session="b")) == "2"
    assert client.ask("close", language="nodejs", session="b") == {}
    known = {(kernel["language"], kernel["session"]) for kernel in client.ask("list")["kernels"]}
    assert known == {("python", "default"), ("nodejs", "a")}


@pytest.mark.slow
def test_it_starts_on_first_use_beside_python(spare: Running) -> None:
    client = spare.ready()
    assert [kernel["language"] for kernel in client.ask("list")["kernels"]] == ["python"]
    client.run("p", "x = 'of python'")
    assert result(node(client, "n", "typeof x")) == "'undefined'"
    assert client.run("p2", "x").only("result").blob == b"'of python'"


def test_the_next_run_waits_for_its_turn(client: Client, name: str) -> None:
    node(client, name + "0", "var order = []")
    for number in range(4):
        code = f"await new Promise(r => setTimeout(r, 20)); order.push({number})"
        client.start(f"{name}{number}x", code, language="nodejs")
    for number in range(4):
        assert outcome(client.finish(f"{name}{number}x"))["status"] == "ok"
    assert result(node(client, name + "9", "order")) == "[ 0, 1, 2, 3 ]"


@pytest.mark.slow
def test_a_kernel_that_cannot_start(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_ENV='{"NODE_OPTIONS":"--no-such-option"}')
    try:
        client = running.ready()
        ended = outcome(node(client, "none", "1"))
        assert ended["status"] == "env_error"
        assert "could not be started" in ended["message"]
        assert client.run("works", "1 + 1").only("result").blob == b"2"
    finally:
        running.stop()


def test_what_children_may_not_it_may_not_either(client: Client, name: str) -> None:
    look = "String(require('fs').readFileSync('/proc/self/status')).match(/(Seccomp|NoNewPrivs):\\s+\\d/g).join()"
    assert "Seccomp:\\t2" in result(node(client, name + "1", look))
    assert result(node(client, name + "2", "Number(require('fs').readFileSync('/proc/self/oom_score_adj'))")) == "1000"


def test_unknown_languages_are_refused(client: Client, name: str) -> None:
    with pytest.raises(Refused, match="language: must be one of python, nodejs"):
        client.start(name, "1", language="cobol")


# A process without the kernel's mark, in a session of its own, fills the pipe of messages with what the run might say.
HEIR = """
const body = Buffer.from('stream\\n1\\n{"name": "stdout", "text": "x"}');
const many = Buffer.concat(Array(20000).fill(Buffer.concat([Buffer.from([0, 0, 0, body.length]), body])));
for (;;) for (let at = 0; at < many.length;) at += require('fs').writeSync(1, many, at);
"""


@pytest.mark.slow
def test_an_heir_of_the_message_pipe_does_not_hold_the_end_up(spare: Running) -> None:
    client = spare.ready()
    code = f"""
    const unmarked = ['-c', 'ulimit -x 0; exec "$0" -e "$1"', process.execPath, {json.dumps(HEIR)}];
    require('child_process').spawn('bash', unmarked, {{ detached: true, stdio: ['ignore', 4, 'ignore'] }});
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    process.kill(process.pid, 'SIGKILL');
    """
    ended = outcome(node(client, "leaves", code))
    assert (ended["status"], ended["signal"]) == ("kernel_died", 9)
    assert ended["duration_ms"] < 15_000
    assert result(node(client, "after", "6 * 7")) == "42"
