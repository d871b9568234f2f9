"""A warm start beside a cold one: code finds the same in both, but for what is named here, with the reason."""

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client
from seats import command_env, configure, node_env, python_env, seat
from supervisors import FIRST_PROCESS, Running, first_process_of, needs_root

pytestmark = needs_root
# The sandbox's variables: some that running kernels take, and some that they must be started anew for.
LIVE = {
    "GREETING": "hi",
    "TOKEN": "a=b\n'\"",
    "TZ": "Europe/Berlin",
    "PAGER": "less",
    "PIP_X": "",
    "PATH_X": "/x",
    "SANDGLASS_MCP_SOCKET": "/nowhere",
    "SANDGLASS_OTHER": "1",
    "OMP_NUM_THREADS": "3",
}
ANEW = {
    "PYTHONPATH": "/more",
    "NODE_PATH": "/more",
    "LC_ALL": "C",
    "HOME": "/tmp/home",
    "https_proxy": "http://192.0.2.1",
}
# Amounts that were measured: they are of the same kind in both, and never equal.
MEASURED = {
    *("cpu_seconds", "cpu_usage_percent", "memory_bytes", "memory_peak_bytes", "disk_bytes", "uptime_s"),
    *("network_received_bytes", "network_sent_bytes"),
}
# The link's keys are the seat's, and so is the name by which hello proves whose they are.
OF_THE_LINK = {"boot_id", "sandbox_uid", "incarnation", "seat"}
PYTHON = """
import builtins, json, locale, os, sys, threading, time
print(json.dumps({
    "path": sys.path, "cwd": os.getcwd(), "argv": sys.argv, "flags": list(sys.flags), "modules": sorted(sys.modules),
    "zone": time.tzname, "hour": time.localtime(0).tm_hour, "locale": locale.setlocale(locale.LC_ALL),
    "encoding": locale.getencoding(), "names": sorted(globals()), "builtins": sorted(vars(builtins)),
    "inputs": len(In), "outputs": len(Out), "threads": threading.active_count(), "umask": os.umask(0o002),
}))
"""
NODE = """
const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
console.log(JSON.stringify({
    cwd: process.cwd(), argv: process.argv, options: process.execArgv, timeZone, locale, hour: new Date(0).getHours(),
    names: Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith('__sandglass')).sort(),
    paths: require('module').globalPaths, modules: Object.keys(require.cache),
}));
"""
# How programs were started, but for this one.
PROCESSES = """
import os, pathlib
others = set(map(int, filter(str.isdigit, os.listdir("/proc")))) - {os.getpid()}
print(sorted((pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode() for pid in others)))
"""
FILES = 'cd "$1" && find . -mindepth 1 -printf "%M %P -> %l\\n" | sort'


def shown(facts: dict[str, Any], running: Running) -> dict[str, Any]:
    """Facts without what differs between any two: folders of the test, and the random names of sockets."""
    text = json.dumps(facts).replace(str(running.folder), "FOLDER").replace(str(running.runtime), "RUN")
    return dict(json.loads(re.sub(r"\b[0-9a-f]{16}\b", "SOCKET", text)))


def found(running: Running, client: Client) -> dict[str, Any]:
    """All that code and callers can see."""
    hello = {name: value for name, value in client.hello().items() if name not in OF_THE_LINK}
    facts: dict[str, Any] = {
        "hello": hello,
        "python": json.loads(client.run("python", PYTHON).text()),
        "python env": python_env(client, "python-env"),
        "second session": python_env(client, "second", session="other"),
        "node": json.loads(client.run("node", NODE, language="nodejs").text()),
        "node env": node_env(client, "node-env"),
        "command env": command_env(client, "command-env"),
        "kernels": client.ask("list")["kernels"],
        "processes": client.command("processes", "/usr/bin/python3", "-I", "-c", PROCESSES).text(),
        "metrics": {n: n if n in MEASURED and v is not None else v for n, v in client.ask("metrics").items()},
    }
    for kernel in (*hello["kernels"], *facts["kernels"]):
        del kernel["uptime_s"]
        kernel["state"] = "idle" if kernel["state"] == "starting" else kernel["state"]
    for name in ("python", "node", "python-env", "node-env"):
        outcome = client.output(name).outcome
        assert outcome is not None
        facts[f"outcome of {name}"] = {key: outcome.get(key) for key in ("execution_count", "warning", "message")}
    for name, place in (("workspace", running.workspace), ("run", running.runtime), ("tmp", running.folder / "tmp")):
        facts[f"files in {name}"] = client.command(f"files-{name}", "sh", "-c", FILES, "sh", str(place)).text()
    return shown(facts, running)


def started(folder: Path, env: dict[str, str], *, warm: bool) -> Running:
    for path in (folder, folder / "tmp"):
        path.mkdir()
        path.chmod(0o777)
    if warm:
        running = seat(folder, prefix=tuple(FIRST_PROCESS))
    else:
        running = Running(folder, FIRST_PROCESS, SANDGLASS_ENV=json.dumps(env))
    running.workspace.chmod(0o777)
    return running


def claimed(running: Running, env: dict[str, str]) -> Client:
    """Configured when its kernel answers, as a seat's does as a rule."""
    client = running.client()
    client.until(lambda: client.hello()["kernels"][0]["state"] == "idle", PATIENCE, "the kernel")
    assert configure(client, env) == {}
    return client


def end(running: Running) -> None:
    inner = first_process_of(running)
    with suppress(ProcessLookupError):
        os.kill(inner, signal.SIGKILL)
    running.stop()


@pytest.fixture(scope="module", params=[LIVE, {**LIVE, **ANEW}], ids=["live", "anew"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    """What is found after a cold start and after a warm one, with the same variables."""
    base = tmp_path_factory.mktemp("both")
    for above in (base, *base.parents):
        above.chmod(above.stat().st_mode | 0o055)
    running = []
    try:
        facts = []
        for kind in ("cold", "warm"):
            env = {**request.param, "TMPDIR": str(base / kind / "tmp")}
            one = started(base / kind, env, warm=kind == "warm")
            running.append(one)
            facts.append(found(one, claimed(one, env) if kind == "warm" else one.client()))
        yield facts
    finally:
        for one in running:
            end(one)


@pytest.mark.parametrize(
    "what",
    [
        *("hello", "kernels", "metrics", "python", "node", "python env", "node env", "command env", "second session"),
        *("processes", "files in workspace", "files in tmp", "files in run"),
        *(f"outcome of {name}" for name in ("python", "node", "python-env", "node-env")),
    ],
)
def test_it_is_the_same(both: list[dict[str, Any]], what: str) -> None:
    cold, warm = both
    assert warm[what] == cold[what]


def test_it_is_not_the_same_for_want_of_looking(both: list[dict[str, Any]]) -> None:
    for facts in both:
        assert facts["python env"]["TOKEN"] == facts["node env"]["TOKEN"] == facts["command env"]["TOKEN"] == "a=b\n'\""
        assert facts["outcome of python"]["execution_count"] == facts["outcome of node"]["execution_count"] == 1
        assert (facts["python"]["hour"], facts["node"]["hour"], facts["python"]["inputs"]) == (1, 1, 2)
        assert facts["processes"].count("python_kernel") == 2
        assert facts["processes"].count("kernel.cjs") == 1
        assert "used" in facts["files in run"]
        assert facts["python env"]["SANDGLASS_MCP_SOCKET"] == "RUN/mcp"


@pytest.mark.slow
def test_linux_remembers_how_a_kernel_was_started(tmp_path: Path) -> None:
    """The one exception: no process can change what /proc has of its own start; what it starts has all of it."""
    running = seat(tmp_path / "seat", "python")
    client = running.client()
    client.until(lambda: client.hello()["kernels"][0]["state"] == "idle", PATIENCE, "the kernel")
    configure(client, {"LATE": "1"})
    code = "import subprocess\nprint(b'LATE=1' in open('/proc/self/environ', 'rb').read())"
    code += "\nprint(subprocess.run(['grep', '-c', 'LATE=1', '/proc/self/environ'], capture_output=True).stdout)"
    assert client.run("x", code).text().split() == ["False", r"b'1\n'"]
    running.stop()


SEEDS = "import os, random, uuid\nprint(random.random(), random.getrandbits(64), hash('x'), uuid.uuid4())"
NODE_SEEDS = "console.log(Math.random(), crypto.randomUUID())"


@pytest.mark.slow
def test_seats_are_no_copies_of_one_another(tmp_path: Path) -> None:
    running = [seat(tmp_path / str(at)) for at in range(2)]
    values = []
    for one in running:
        client = one.client()
        configure(client)
        output = client.run("python", SEEDS).text() + client.run("node", NODE_SEEDS, language="nodejs").text()
        values.append([client.hello()["boot_id"], *output.split()])
    for one in running:
        one.stop()
    assert len(values[0]) == 7
    assert all(a != b for a, b in zip(*values, strict=True))
