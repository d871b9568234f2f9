"""What the Node kernel's code and the programs that it starts write: all of it, in its order, in its run."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from client import Client, Output
from supervisors import Running


def node(client: Client, execution_id: str, code: str, timeout: float = 60) -> Output:
    return client.run(execution_id, code, language="nodejs", timeout=timeout)


def test_streams_in_their_order(client: Client, name: str) -> None:
    code = "for (let i = 0; i < 20; i++) { console.log('o', i); console.error('e', i) }"
    text = b"".join(record.blob for record in node(client, name, code).records)
    assert text.decode().splitlines() == [f"{stream} {i}" for i in range(20) for stream in "oe"]


@contextmanager
def often_late(running: Running) -> Iterator[None]:
    """The supervisor stands still nine tenths of the time, as on a machine with too much to do."""
    over = threading.Event()

    def stop_and_go() -> None:
        while not over.wait(0.005):
            running.process.send_signal(signal.SIGSTOP)
            time.sleep(0.045)
            running.process.send_signal(signal.SIGCONT)

    thread = threading.Thread(target=stop_and_go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


STARTS = [
    "programs.execSync('echo program', { stdio: 'inherit' })",
    "programs.spawnSync('echo', ['program'], { stdio: 'inherit' })",
    "await new Promise(end => programs.spawn('echo', ['program'], { stdio: 'inherit' }).on('close', end))",
]


@pytest.mark.parametrize("start", STARTS)
def test_what_programs_write_is_in_its_place(client: Client, shared: Running, name: str, start: str) -> None:
    """Also if the supervisor looks at both of the kernel's pipes when something is in both."""
    code = f"""
import * as programs from 'child_process'
for (let i = 0; i < 5; i++) {{ console.log('before'); {start}; console.log('after') }}
"""
    client.run(name + "0", "1", language="nodejs")
    with often_late(shared):
        output = node(client, name, code)
    assert output.text().split() == ["before", "program", "after"] * 5


def test_everything_that_writes(client: Client, name: str) -> None:
    code = """
process.stdout.write('ä€');
process.stdout.write(Buffer.from('😀').subarray(0, 2));
process.stdout.write(Buffer.from('😀').subarray(2), () => {});
require('console').log('');
require('child_process').execSync('echo of a program; echo wrong >&2', { stdio: 'inherit' });
process.stderr.write('6f6b', 'hex');
process.stdout.end('end\\n');
console.table([{ a: 1 }]);
"""
    output = node(client, name, code)
    assert "ä€😀\n" in output.text()
    assert "of a program\n" in output.text()
    assert "end\n" in output.text()
    assert "│ a │" in output.text()
    assert set(output.text("stderr").split("\n")) >= {"wrong"}
    assert "ok" in output.text("stderr")


@pytest.mark.slow
def test_what_programs_write_is_never_late(client: Client, name: str) -> None:
    for i in range(20):
        command = "echo é; head -c 150000 /dev/zero"
        code = f"require('child_process').execSync('{command}', {{ stdio: 'inherit' }}); 0"
        assert node(client, f"{name}{i}", code).text() == "é\n" + "\0" * 150_000


def test_order_of_many_small_writes(client: Client, name: str) -> None:
    output = node(client, name, "for (let i = 0; i < 3000; i++) console.log(i)")
    assert output.text() == "".join(f"{i}\n" for i in range(3000))


def test_unpaired_surrogates(client: Client, name: str) -> None:
    assert node(client, name, "console.log('a\\ud800b')").text() == "a?b\n"


TOLD_AT_THE_END = [
    "await require('stream/promises').pipeline(require('stream').Readable.from(['a']), process.STREAM)",
    "await require('stream/promises').pipeline(async function* () { yield 'a' }, process.STREAM)",
    "await new Promise(end => process.STREAM.end('a', end))",
    "await new Promise(end => process.STREAM.once('finish', end).end('a'))",
    "{ const end = require('stream/promises').finished(process.STREAM); process.STREAM.end('a'); await end }",
    "await new Response('a').body.pipeTo(require('stream').Writable.toWeb(process.STREAM))",
]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("code", TOLD_AT_THE_END)
def test_who_ends_a_stream_is_told_and_others_go_on(client: Client, name: str, code: str, stream: str) -> None:
    written = f"{code.replace('STREAM', stream)}; new console.Console(process.{stream}).log('b'); 'piped'"
    for execution_id in (name + "1", name + "2"):
        output = client.run(execution_id, written, language="nodejs", timeout_s=20)
        assert output.text(stream) == "ab\n"
        assert output.only("result").blob == b"'piped'"


def test_what_a_failed_pipeline_wrote_to_stays_open(client: Client, name: str) -> None:
    code = """
const { Readable, Writable } = require('stream')
const { finished, pipeline } = require('stream/promises')
const failing = async function* () { yield 'a'; throw new Error('torn') }
const said = []
await pipeline(failing, process.stdout).catch(error => said.push(error.message))
const closed = finished(process.stdout).catch(error => said.push(error.code))
process.stdout.destroy()
await closed
await pipeline(Readable.from(['b']), process.stdout)
await Readable.toWeb(Readable.from(['c'])).pipeTo(Writable.toWeb(process.stdout))
console.log('d')
said
"""
    for execution_id in (name + "1", name + "2"):
        output = client.run(execution_id, code, language="nodejs", timeout_s=20)
        assert output.text() == "abcd\n"
        assert output.only("result").blob == b"[ 'torn', 'ERR_STREAM_PREMATURE_CLOSE' ]"


def test_many_pipelines_warn_of_nothing(client: Client, name: str) -> None:
    code = """
const { pipeline } = require('stream/promises')
for (let i = 0; i < 20; i++) await pipeline(require('stream').Readable.from(['a']), process.stdout)
"""
    output = client.run(name, code, language="nodejs", timeout_s=20)
    assert (output.text(), output.text("stderr")) == ("a" * 20, "")
