"""What processes print that code forks off from its kernel: whole lines, in order, each once."""

import re
from collections.abc import Iterator

import pytest
from client import Client, Output

WORKERS = """
import multiprocessing, os, sys, threading, time
fork = multiprocessing.get_context('fork')
"""
SESSION = "workers"


@pytest.fixture(autouse=True)
def session(client: Client) -> Iterator[None]:
    """Whatever a test leaves is gone with the session."""
    yield
    client.ask("close", session=SESSION)


def run(client: Client, name: str, code: str) -> Output:
    output = client.run(name, WORKERS + code, session=SESSION, timeout_s=60, timeout=70)
    assert output.outcome is not None
    assert output.outcome["status"] == "ok", output.records
    return output


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_lines_of_a_pool_are_whole(client: Client, name: str, stream: str) -> None:
    code = f"""
def work(number):
    for turn in range(300): print(number, turn, 'é' * 50, file=sys.{stream})
with fork.Pool(4) as pool: pool.map(work, range(4), chunksize=1)
"""
    lines = run(client, name, code).text(stream).splitlines()
    expected = [[f"{number} {turn} {'é' * 50}" for turn in range(300)] for number in range(4)]
    assert [[line for line in lines if line.startswith(f"{number} ")] for number in range(4)] == expected
    assert len(lines) == 1200


@pytest.mark.slow
def test_lines_of_threads_in_a_worker_are_whole(client: Client, name: str) -> None:
    code = """
def work():
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=say, args=(number,)) for number in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def say(number):
    for turn in range(300): print(number, turn)
workers = [fork.Process(target=work) for _ in range(2)]
for worker in workers: worker.start()
for worker in workers: worker.join()
"""
    lines = run(client, name, code).text().splitlines()
    assert sorted(lines) == sorted(2 * [f"{number} {turn}" for number in range(4) for turn in range(300)])


@pytest.mark.slow
def test_what_the_code_had_printed_is_printed_once(client: Client, name: str) -> None:
    code = """
print('before,', end=' ')
if (worker := os.fork()) == 0:
    print('line')
    print('rest', end=' ', flush=True)
    print('never', end='')
    os._exit(0)
os.waitpid(worker, 0)
print('after')
"""
    assert run(client, name, code).text() == "before, line\nrest after\n"


@pytest.mark.slow
def test_lines_before_a_worker_is_ended_are_there(client: Client, name: str) -> None:
    code = """
said = fork.Semaphore(0)
def work(number):
    print('worker', number)
    said.release()
    time.sleep(60)
pool = fork.Pool(3)
pool.map_async(work, range(3), chunksize=1)
for number in range(3): said.acquire()
pool.terminate()
pool.join()
print('ended')
"""
    lines = run(client, name, code).text().splitlines()
    assert sorted(lines[:3]) == ["worker 0", "worker 1", "worker 2"]
    assert lines[3:] == ["ended"]


@pytest.mark.slow
def test_much_text_is_whole_with_short_lines_in_it(client: Client, name: str) -> None:
    code = """
def work(number): print('\\n'.join(f'{number} {turn} ' + 'x' * 80 for turn in range(3000)))
with fork.Pool(2) as pool: pool.map(work, range(2), chunksize=1)
print('y' * 100_000)
def long(): print('z' * 100_000)
worker = fork.Process(target=long)
worker.start()
worker.join()
"""
    *lines, own, long = run(client, name, code).text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[01] \d+ x{80}", line)] == []
    assert sorted(lines) == sorted(f"{number} {turn} {'x' * 80}" for number in range(2) for turn in range(3000))
    assert (own, long) == ("y" * 100_000, "z" * 100_000)


@pytest.mark.slow
def test_workers_of_workers(client: Client, name: str) -> None:
    code = """
if (worker := os.fork()) == 0:
    print('held', end=' ')
    if (inner := os.fork()) == 0:
        print('inner')
        os._exit(0)
    os.waitpid(inner, 0)
    print('outer')
    os._exit(0)
os.waitpid(worker, 0)
"""
    assert run(client, name, code).text() == "inner\nheld outer\n"


@pytest.mark.slow
def test_a_worker_that_is_redirected_or_closes_its_streams(client: Client, name: str) -> None:
    code = """
if (worker := os.fork()) == 0:
    sys.stdout.close()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    print('to nowhere', file=sys.stderr)
    os._exit(0)
os.waitpid(worker, 0)
print('after')
"""
    output = run(client, name, code)
    assert (output.text(), output.text("stderr")) == ("after\n", "")


@pytest.mark.slow
def test_a_pool_that_outlives_its_run_prints_into_the_run_that_uses_it(client: Client, name: str) -> None:
    run(client, name + "1", "def work(number): print('worker', number)\npool = fork.Pool(1)")
    assert run(client, name + "2", "pool.map(work, [1])").text() == "worker 1\n"
    assert run(client, name + "3", "pool.map(work, [2])\npool.terminate()").text() == "worker 2\n"
