"""What code does to break what is around it: the supervisor lives, and says honestly what became of the run."""

from contextlib import suppress
from pathlib import Path

import pytest
from client import PATIENCE, Client, Output, Refused
from supervisors import UNPRIVILEGED, Running, needs_root

ENDS = ("ok", "error", "timeout", "kernel_died")
# Runs while its kernel starts: it tells the supervisor to ask whether the kernel answers, and keeps it from answering.
WELCOMES = """
import pathlib, threading, time
kernel = get_ipython().kernel
def welcome():
    for _ in range(6000):
        message = kernel.session.msg('iopub_welcome', {})
        kernel.iopub_thread.send_multipart(kernel.session.serialize(message, ident=b'x'))
    pathlib.Path('welcomed').touch()
threading.Thread(target=welcome, daemon=True).start()
time.sleep(60)
"""


def usable(client: Client) -> None:
    """The next run or, if that is how the harm is found out, the one after it finds a kernel."""
    assert client.ask("list")["kernels"]
    for turn in range(3):
        output = client.run(f"after{turn}", "1 + 1", timeout_s=10)
        if ended(output) == "ok":
            break
        assert output.outcome is not None
        assert output.outcome["kernel_restarted"] or "output is lost" in output.outcome["message"]
    assert output.only("result").blob == b"2"
    assert client.command("command", "echo", "works").text() == "works\n"


def ended(output: Output) -> str:
    assert output.outcome is not None
    return str(output.outcome["status"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import os; os.closerange(0, 65536)",
        "import os\nfor fd in range(3, 99):\n  try: os.dup2(os.open('/dev/null', 2), fd)\n  except OSError: pass",
        "import os; os.close(1); os.close(2); print('x')",
        "import sys; sys.stdout.close(); sys.stderr.close()",
        "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "import ctypes, os; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), 19)",
        "import gc, zmq\nfor thing in gc.get_objects():\n  if isinstance(thing, zmq.Context): thing.destroy(0)",
        "get_ipython().kernel.io_loop.stop()",
        "get_ipython().kernel.session.key = b'forged'",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); open('x', 'w')",
        "import threading; threading.Thread(target=lambda: get_ipython().kernel.iopub_thread.stop()).start()",
    ],
)
def test_code_that_breaks_its_own_kernel(hasty: Running, code: str) -> None:
    client = hasty.ready()
    assert ended(client.run("break", code, timeout_s=0.5)) in ENDS
    usable(client)


def test_a_kernel_that_has_itself_traced_by_the_supervisor_is_ended(spare: Running) -> None:
    client = spare.ready()
    code = "import ctypes, os; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), 19)"
    output = client.run("traced", code, timeout_s=20)
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["signal"]) == ("kernel_died", 9)
    usable(client)


@pytest.mark.parametrize(
    "how",
    [
        "for name in os.listdir(folder): os.unlink(os.path.join(folder, name))",
        "import shutil; shutil.rmtree(folder)",
        "import shutil; shutil.rmtree(folder); open(folder, 'w').close()",
        "import shutil; shutil.rmtree(folder); os.symlink('/nonexistent', folder)",
        "os.chmod(folder, 0)",
        "os.rename(folder, folder + '.gone')",
        "[os.mkdir(os.path.join(folder, name) + '-dir') for name in os.listdir(folder)]",
    ],
)
def test_sockets_folder_is_destroyed(spare: Running, how: str) -> None:
    client = spare.ready()
    folder = spare.runtime / "private"
    assert ended(client.run("destroy", f"import os; folder = {str(folder)!r}\n{how}", timeout_s=2)) in ENDS
    # The connections are made: what runs goes on. A fresh kernel needs the folder.
    assert client.run("still", "1 + 1").only("result").blob == b"2"
    assert ended(client.run("die", "import os; os.kill(os.getpid(), 9)")) == "kernel_died"
    usable(client)
    assert folder.is_dir()
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_sockets_are_gone_when_output_must_be_connected_anew(hasty: Running) -> None:
    client = hasty.ready()
    code = f"""
import os
for name in os.listdir({str(hasty.runtime / "private")!r}):
    os.unlink(os.path.join({str(hasty.runtime / "private")!r}, name))
t = get_ipython().kernel.iopub_thread
t.schedule(lambda: t.socket.send(bytes(20_000_000)))
"""
    lost = client.run("lose", code)
    assert lost.outcome is not None
    assert "output is lost" in lost.outcome["message"]
    waits = client.run("waits", "1")
    assert waits.outcome is not None
    assert (waits.outcome["status"], waits.outcome["kernel_restarted"]) == ("ok", True)
    assert "the kernel's process ended" in waits.outcome["warning"]
    usable(client)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["display_data", "execute_result", "error", "stream", "status", "execute_reply"])
def test_messages_nested_as_deep_as_can_be_read(spare: Running, kind: str) -> None:
    client = spare.ready()
    code = """
kernel = get_ipython().kernel
session, parent = kernel.session, kernel.get_parent()
fields = ('"data": {"application/json": %s}, "metadata": {"sandglass": %s}', '"evalue": %s, "ename": %s',
          '"payload": %s, "execution_count": %s', '"text": %s, "name": %s', '"traceback": %s, "execution_state": %s')
for depth in [*range(880, 1000), 1500, 2900, 5000, 9000, 9990, 30000, 200000]:
    deep = '[' * depth + ']' * depth
    for field in fields:
        said = ('{"status": "error", ' + field % (deep, deep) + '}').encode()
        kernel.iopub_thread.send_multipart(session.serialize(session.msg(kind, said, parent=parent), ident=b'x'))
'done'
"""
    assert ended(client.run("deep", f"kind = {kind!r}\n{code}", timeout_s=15, timeout=40)) in ENDS
    usable(client)


@pytest.mark.slow
def test_a_kernel_that_is_welcomed_without_end_and_does_not_answer(spare: Running) -> None:
    client = spare.ready()
    startup = spare.runtime / "ipython" / "profile_default" / "startup" / "00.py"
    startup.parent.mkdir(parents=True, exist_ok=True)
    startup.write_text(WELCOMES)
    first = client.send("reset", language="python", session="default")
    client.until((spare.workspace / "welcomed").exists, PATIENCE, "the welcomes")
    assert [kernel["state"] for kernel in client.ask("list")["kernels"]] == ["starting"]
    startup.unlink()
    assert client.ask("reset", language="python", session="default") == {"state": "idle"}
    assert client.reply_to(first) == {"state": "idle"}
    usable(client)


@pytest.mark.slow
def test_sibling_kernel_is_killed(spare: Running) -> None:
    client = spare.ready()
    client.run("kept", "kept = 1")
    pid = int(client.run("pid", "import os; os.getpid()", session="victim").only("result").blob)
    client.start("waits", "print('on', flush=True)\nimport time; time.sleep(60)", session="victim")
    client.until(lambda: client.output("waits").text() == "on\n", PATIENCE, "output")
    client.run("kill", f"import os; os.kill({pid}, 9)")
    died = client.finish("waits").outcome
    assert died is not None
    assert (died["status"], died["kernel_restarted"]) == ("kernel_died", True)
    assert client.run("still", "kept").only("result").blob == b"1"
    assert client.run("again", "'fresh'", session="victim").only("result").blob == b"'fresh'"


@pytest.mark.slow
def test_workspace_is_gone(spare: Running) -> None:
    client = spare.ready()
    client.run("destroy", f"import shutil; shutil.rmtree({str(spare.workspace)!r})")
    client.run("die", "import os; os.kill(os.getpid(), 9)")
    refused = client.run("none", "1").outcome
    assert refused is not None
    assert refused["status"] in ("env_error", "kernel_died")
    spare.workspace.mkdir()
    usable(client)


@pytest.mark.slow
@needs_root
def test_thread_bomb(folder: Path) -> None:
    running = Running(folder, UNPRIVILEGED, SANDGLASS_MAX_PROCESSES="300")
    running.workspace.chmod(0o777)
    try:
        client = running.ready()
        bomb = (
            "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(600,), daemon=True).start()"
        )
        output = client.run("bomb", bomb, timeout_s=5)
        assert ended(output) == "error"
        assert "can't start new thread" in str(output.only("error").json["message"])
        assert output.outcome is not None
        assert "the sandbox may have 300 at a time" in output.outcome["warning"]
        client.ask("reset", language="python", session="default")
        usable(client)
    finally:
        running.stop()


@pytest.mark.slow
@needs_root
def test_everything_that_can_be_stopped_is_stopped(first: Running) -> None:
    client = first.ready()
    client.start("waits", "print('on', flush=True)\nimport time; time.sleep(60)", session="victim", timeout_s=12)
    client.until(lambda: client.output("waits").text() == "on\n", PATIENCE, "output")
    client.run(
        "stop", "import os, signal; os.kill(-1, signal.SIGSTOP); os.kill(os.getppid(), signal.SIGSTOP)", timeout_s=1
    )
    stopped = client.finish("waits").outcome
    assert stopped is not None
    assert (stopped["status"], stopped["kernel_restarted"]) == ("timeout", True)
    usable(client)


@pytest.mark.slow
@needs_root
def test_new_processes_are_stopped_before_they_begin(first: Running) -> None:
    client = first.ready()
    stopper = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    end = time.monotonic() + 2
    while time.monotonic() < end:
        try: os.kill(-1, signal.SIGSTOP)
        except OSError: pass
    os._exit(0)
"""
    client.run("stopper", stopper, timeout_s=0.5)
    for turn in range(3):
        with suppress(Refused):
            client.command(f"try{turn}", "true", timeout_s=1)
        client.ask("list")
    usable(client)


@pytest.mark.slow
@pytest.mark.parametrize("needed", ["len", "isinstance", "getattr", "list", "__import__"])
def test_what_the_kernel_needs_to_answer(client: Client, name: str, needed: str) -> None:
    """Nobody waits for the time-out of a run whose kernel can say nothing any more."""
    session = needed.strip("_")
    output = client.run(name, f"import builtins; builtins.{needed} = None", session=session, timeout_s=30)
    assert output.outcome is not None
    assert (output.outcome["status"], output.outcome["kernel_restarted"]) == ("kernel_died", True)
    assert output.outcome["duration_ms"] < 15_000
    assert "took from the kernel what it needs to answer" in output.text("stderr")
    assert client.run(name + "2", "6 * 7", session=session).only("result").blob == b"42"
    client.ask("close", session=session)
