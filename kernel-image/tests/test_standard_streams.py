"""Standard streams as code expects them: programs can be given them, and they take bytes."""

import pytest
from client import Client


def test_programs_that_are_given_the_streams(client: Client, name: str) -> None:
    code = """
import subprocess, sys
print('before')
subprocess.run(['echo', 'out'], stdout=sys.stdout, check=True)
subprocess.run(['sh', '-c', 'echo err >&2'], stderr=sys.stderr, check=True)
subprocess.run(['echo', 'bytes'], stdout=sys.stdout.buffer, check=True)
subprocess.run(['sh', '-c', 'echo both >&2'], stdout=sys.stdout, stderr=subprocess.STDOUT, check=True)
print('after')
"""
    output = client.run(name, code)
    assert (output.text(), output.text("stderr")) == ("before\nout\nbytes\nboth\nafter\n", "err\n")


def test_output_of_programs_that_is_caught_by_the_stream_s_descriptor(client: Client, name: str) -> None:
    code = """
import os, sys, tempfile
with tempfile.TemporaryFile() as file:
    kept = os.dup(sys.stdout.fileno())
    os.dup2(file.fileno(), sys.stdout.fileno())
    os.system('echo caught')
    os.dup2(kept, sys.stdout.fileno())
    os.close(kept)
    file.seek(0)
    caught = file.read()
print(caught)
"""
    assert client.run(name, code).text() == "b'caught\\n'\n"


def test_bytes(client: Client, name: str) -> None:
    code = """
import io, sys
print('text', end=' ')
written = [sys.stdout.buffer.write(part) for part in ('é'.encode()[:1], 'é'.encode()[1:] + b'\\xff\\n')]
sys.stderr.buffer.write(memoryview(b'err\\n'))
wrapper = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')
print('wrapped', file=wrapper, flush=True)
wrapper.close()
sys.stdout.buffer.writelines([b'1', b'2\\n'])
print('after', written)
"""
    output = client.run(name, code)
    assert (output.text(), output.text("stderr")) == ("text é\ufffd\nwrapped\n12\nafter [1, 3]\n", "err\n")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_settings_are_accepted_and_change_nothing(client: Client, name: str, stream: str) -> None:
    code = f"import sys\nsys.{stream}.reconfigure(encoding='ascii', errors='strict', line_buffering=True)\n"
    assert client.run(name, f"{code}print('é', file=sys.{stream})").text(stream) == "é\n"


def test_what_python_itself_writes(client: Client, name: str) -> None:
    output = client.run(name, "import faulthandler\nfaulthandler.dump_traceback(all_threads=False)")
    assert "(most recent call first):" in output.text("stderr")


def test_bytes_of_forked_workers(client: Client, name: str) -> None:
    code = """
import os, sys
if (worker := os.fork()) == 0:
    sys.stdout.buffer.write(b'from the worker\\n')
    os._exit(0)
os.waitpid(worker, 0)
"""
    assert client.run(name, code).text() == "from the worker\n"
