"""What code in the sandbox tries against its supervisor, without privileges, also with the supervisor as PID 1."""

import json
import os
import re
import signal
import time
from itertools import count
from pathlib import Path

import pytest
import zmq
from client import PATIENCE, Client
from supervisors import UNPRIVILEGED, Running, first_process_of, needs_root

from sandglass_supervisor.limits import IDLE_GRACE_S

pytestmark = needs_root


LOOK = """
import ctypes, json, os
tried = {}
for name in ('environ', 'mem', 'maps', 'smaps', 'auxv', 'fd/3', 'cwd', 'root', 'io', 'stack', 'syscall', 'map_files'):
    look = {'map_files': os.listdir, 'fd/3': os.readlink, 'cwd': os.readlink, 'root': os.readlink}
    try:
        tried[name] = repr(look.get(name, lambda path: open(path, 'rb').read(64))(f'/proc/{pid}/{name}'))
    except OSError as error:
        tried[name] = error.__class__.__name__
libc = ctypes.CDLL(None, use_errno=True)
tried['ptrace'] = libc.ptrace(16, pid, 0, 0)
local = ctypes.create_string_buffer(8)
class Part(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
here, there = Part(ctypes.addressof(local), 8), Part(0x400000, 8)
tried['vm_readv'] = libc.syscall(310, pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
try:
    tried['pidfd_open'] = os.pidfd_open(pid)
except OSError as error:
    tried['pidfd_open'] = error.__class__.__name__
folder = os.open(f'/proc/{pid}', os.O_RDONLY)
tried['pidfd_getfd'] = libc.syscall(438, folder, 3, 0)
limit = (ctypes.c_ulong * 2)(1, 1)
tried['prlimit'] = libc.prlimit(pid, 0, limit, None)
tried['affinity'] = libc.sched_setaffinity(pid, 8, (ctypes.c_ulong * 1)(1))
tried['nice'] = libc.setpriority(0, pid, 19)
for thread in map(int, os.listdir(f'/proc/{pid}/task')):
    tried[f'affinity of {thread}'] = libc.sched_setaffinity(thread, 8, (ctypes.c_ulong * 1)(1))
    tried[f'policy of {thread}'] = libc.sched_setscheduler(thread, 3, (ctypes.c_int * 1)(0))
    tried[f'nice of {thread}'] = libc.setpriority(0, thread, 19)
    tried[f'class of {thread}'] = libc.syscall(251, 1, thread, 3 << 13)
tried['nice of all'] = libc.setpriority(2, 0, 19)
tried['class of all'] = libc.syscall(251, 3, os.getuid(), 3 << 13)
print(json.dumps(tried))
"""


def test_supervisor_cannot_be_looked_into(plain: Running) -> None:
    client = plain.ready()
    tried = json.loads(client.run("look", f"pid = {plain.pid}\n{LOOK}").text())
    for name, found in tried.items():
        assert found in (-1, "PermissionError"), f"{name}: {found}"
    # ZeroMQ has threads of its own, and these are no less the supervisor.
    assert sum(name.startswith("class of ") for name in tried) > 3
    assert client.run("after", "1 + 1").only("result").blob == b"2"


def test_keys_are_nowhere(plain: Running) -> None:
    client = plain.ready()
    code = "import os; print(dict(os.environ)); print(open('/proc/self/environ').read())"
    environment = client.run("look", code).text()
    environment += client.command("env", "env").text()
    assert "GREETING" in environment
    assert set(re.findall(r"SANDGLASS\w*", environment)) == {"SANDGLASS_MCP_SOCKET"}
    assert plain.secret.decode() not in environment
    found = client.command(
        "files", "grep", "-r", "-l", "-F", plain.secret.decode(), str(plain.folder), str(plain.runtime)
    )
    assert found.text() == ""
    descriptors = client.command("fds", "ls", "-l", "/proc/self/fd").text()
    assert "socket" not in descriptors


@pytest.mark.slow
def test_own_limits_still_work(plain: Running) -> None:
    client = plain.ready()
    code = """
import ctypes, os, resource, threading
resource.setrlimit(resource.RLIMIT_CPU, (100, 200)); os.sched_setaffinity(0, {0}); os.nice(1)
os.sched_setaffinity(threading.get_native_id(), {0}); os.setpriority(os.PRIO_PROCESS, os.getpid(), 19)
assert ctypes.CDLL(None).syscall(251, 1, 0, 3 << 13) == 0
'fine'
"""
    assert client.run("own", code).only("result").blob == b"'fine'"


SIGNALS = """
import os, signal
for number in range(1, 65):
    try: os.kill(pid, number)
    except OSError: pass
"""


@pytest.mark.slow
def test_first_process_survives_all_signals(first: Running) -> None:
    client = first.ready()
    assert first.pid == 1
    assert client.run("signals", f"pid = 1\n{SIGNALS}\n'sent'").only("result").blob == b"'sent'"
    tried = json.loads(client.run("look", f"pid = 1\n{LOOK}").text())
    for name, found in tried.items():
        assert found in (-1, "PermissionError"), f"{name}: {found}"
    # Everything but PID 1 and the one who asks dies of the first.
    client.run("all", "import os; os.kill(-1, 9)")
    assert client.run("me", "os.kill(os.getpid(), 9)").outcome["status"] == "kernel_died"  # type: ignore[index]
    assert client.run("after", "1 + 1").only("result").blob == b"2"


@pytest.mark.slow
def test_first_process_reaps_orphans(first: Running) -> None:
    client = first.ready()
    client.command("orphans", "sh", "-c", "for i in $(seq 50); do (sleep 0.1 &) ; done")
    look = (client.command(f"look{i}", "sh", "-c", "cat /proc/[0-9]*/stat | cut -d' ' -f2,3").text() for i in count())
    seen = next(states for states in look if "(sleep)" not in states)
    assert "Z" not in seen


@pytest.mark.slow
def test_first_process_ends_when_the_runtime_says_so(first: Running) -> None:
    first.ready()
    os.kill(first_process_of(first), signal.SIGTERM)
    assert first.process.wait(PATIENCE) == 128 + signal.SIGTERM


@pytest.mark.alone
def test_fork_bomb(folder: Path) -> None:
    running = Running(folder, UNPRIVILEGED, SANDGLASS_MAX_PROCESSES="300")
    running.workspace.chmod(0o777)
    try:
        client = running.ready()
        bomb = "import os, time\nwhile True:\n  try: os.fork()\n  except OSError: open('full', 'w'); time.sleep(0.1)"
        client.start("bomb", bomb, timeout_s=4)
        client.until((running.workspace / "full").exists, PATIENCE, "the bomb's effect")
        slowest = 0.0
        for _ in range(20):
            began = time.monotonic()
            client.ask("list")
            slowest = max(slowest, time.monotonic() - began)
        assert slowest < 3
        assert client.finish("bomb").outcome["status"] == "timeout"  # type: ignore[index]
        assert client.run("after", "1 + 1").only("result").blob == b"2"
    finally:
        running.stop()


def test_only_the_listed_key_may_connect(spare: Running) -> None:
    client = spare.ready()
    stranger = spare.client(keys=zmq.curve_keypair())
    # The sandbox's own key, which code could guess at best, is no key of a gateway either.
    itself = spare.client(keys=(spare.server, spare.secret))
    mine, other = itself.send("hello", protocol=[1], peer="test"), stranger.send("hello", protocol=[1], peer="test")
    with pytest.raises(TimeoutError):
        stranger.reply_to(other, 0.7)
    with pytest.raises(TimeoutError):
        itself.reply_to(mine, 0.1)
    assert client.ask("list")["kernels"]


def test_plain_connections_are_refused(spare: Running) -> None:
    client = spare.ready()
    plain: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
    plain.linger = 0
    plain.connect(spare.endpoint)
    plain.send_multipart([b"V", b"1", b'{"verb":"list"}'])
    assert not plain.poll(700)
    plain.close()
    assert client.ask("list")["kernels"]


@pytest.mark.slow
def test_a_wrong_server_key_is_noticed_by_the_client(spare: Running) -> None:
    client = Client(spare.endpoint, zmq.curve_keypair()[0], spare.gateway)
    with pytest.raises(TimeoutError):
        client.ask("hello", protocol=[1], timeout=0.7)
    client.close()


@pytest.mark.slow
def test_code_that_closes_its_own_descriptors(spare: Running) -> None:
    client = spare.ready()
    output = client.run("close", "import os; os.closerange(3, 1000)", timeout_s=1)
    assert output.outcome is not None
    assert output.outcome["status"] in ("timeout", "kernel_died", "ok", "error")
    client.run("maybe", "1", timeout_s=1)
    assert client.run("after", "1 + 1").only("result").blob == b"2"


@pytest.mark.slow
def test_connections_to_the_link_cost_no_kernel_and_no_command(folder: Path) -> None:
    running = Running(folder, ["prlimit", "--nofile=4096"])
    try:
        client = running.ready()
        port = running.endpoint.rsplit(":", 1)[1]
        connects = "import socket; held = [socket.create_connection(('127.0.0.1', {})) for _ in range(1100)]; len(held)"
        assert client.run("connects", connects.format(port)).only("result").blob == b"1100"
        client.until(lambda: len(os.listdir(f"/proc/{running.process.pid}/fd")) > 1100, PATIENCE, "its descriptors")
        assert client.command("command", "echo", "runs").text() == "runs\n"
        client.start("reset", "import os; os.kill(os.getpid(), 9)")
        assert client.finish("reset").outcome["status"] == "kernel_died"  # type: ignore[index]
        assert client.run("after", "1 + 1").only("result").blob == b"2"
    finally:
        running.stop()


@pytest.mark.slow
def test_a_forged_reply_ends_its_own_run_only(tmp_path: Path) -> None:
    grace_s = 0.5
    assert grace_s < IDLE_GRACE_S
    running = Running(tmp_path, limits={"IDLE_GRACE_S": grace_s})
    client = running.ready()
    forge = """
kernel = get_ipython().kernel
for _ in range(3):
    kernel.session.send(
        kernel.shell_stream, 'execute_reply', {'status': 'ok'}, kernel.get_parent(), ident=kernel._parent_ident['shell']
    )
"""
    assert client.run("forge", forge).outcome["status"] == "ok"  # type: ignore[index]
    output = client.run("next", f"import time; time.sleep({3 * grace_s}); 'whole'")
    running.stop()
    assert output.only("result").blob == b"'whole'"
    assert output.outcome is not None
    assert output.outcome["message"] == ""


def test_forged_messages_fool_only_their_author(spare: Running) -> None:
    client = spare.ready()
    code = """
kernel = get_ipython().kernel
parent = kernel.get_parent()
for forged in ({'name': 5, 'text': []}, {'data': 7}, {'ename': 1, 'traceback': 'x'}, {'execution_state': 'idle'}, [1]):
    for kind in ('stream', 'display_data', 'execute_result', 'error', 'status', 'execute_input', 'comm_open'):
        kernel.session.send(kernel.iopub_socket, kernel.session.msg(kind, forged, parent=parent))
kernel.iopub_socket.send_multipart([b'nonsense'])
kernel.iopub_socket.send_multipart([b'<IDS|MSG>', b'bad', b'{}', b'{}', b'{}', b'{}'])
print('done')
"""
    output = client.run("forge", code)
    assert output.outcome is not None
    assert client.run("after", "1 + 1").only("result").blob == b"2"


ADJUSTED = "/proc/self/oom_score_adj"


@pytest.mark.slow
def test_when_memory_ends_all_that_runs_goes_before_the_supervisor(plain: Running) -> None:
    client = plain.ready()
    assert int(Path(f"/proc/{plain.pid}/oom_score_adj").read_text()) < 1000
    assert client.command("command", "cat", ADJUSTED).text() == "1000\n"
    assert client.command("below", "sh", "-c", f"(setsid cat {ADJUSTED})").text() == "1000\n"
    assert client.run("kernel", f"print(open('{ADJUSTED}').read())").text() == "1000\n\n"
    node = f"console.log(require('fs').readFileSync('{ADJUSTED}', 'utf8'))"
    assert client.run("node", node, language="nodejs").text() == "1000\n\n"
