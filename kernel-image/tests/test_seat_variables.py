"""How a sandbox's variables reach a kernel that was started before them: set in it, or with a start of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client
from mcp_link import SERVER, Link
from seats import configure, node_env, python_env, seat
from supervisors import Running, children_of

from sandglass_supervisor.inside import run_variables
from sandglass_supervisor.kernels.live_variables import starts_anew
from sandglass_supervisor.shared import crash_buffer

BOTH = ["LANG", "LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "HOME", "OPENSSL_CONF", "MALLOC_ARENA_MAX", "GLIBC_TUNABLES"]
PYTHON = ["PYTHONPATH", "PYTHONHASHSEED", "PYTHONWARNINGS", "IPYTHONDIR", "MPLBACKEND", "XDG_CONFIG_HOME", "USER"]
NODE = ["NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "ICU_DATA", "HTTP_PROXY", "https_proxy", "NO_PROXY", "PATH"]
LIVE = [
    *("API_KEY", "TZ", "TMPDIR", "PAGER", "EDITOR", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "MPLCONFIGDIR", "ALL_PROXY"),
    *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_INDEX_URL", "npm_config_registry", "UV_CACHE_DIR", "VIRTUAL_ENV"),
    *("LANGCHAIN_API_KEY", "HOMEPAGE", "NODENAME", "python", "SANDGLASS_OTHER"),
]


@pytest.mark.parametrize(
    ("names", "python", "node"),
    [(BOTH, True, True), (PYTHON, True, False), (NODE, False, True), (LIVE, False, False)],
)
def test_which_kernels_start_anew(names: list[str], python: bool, node: bool) -> None:
    for name in names:
        assert (name, starts_anew("python", [name]), starts_anew("nodejs", [name])) == (name, python, node)


def test_one_name_of_many_is_enough() -> None:
    assert starts_anew("python", ["A", "PYTHONPATH", "B"])
    assert not starts_anew("python", [])
    assert not starts_anew("nodejs", [])


# What a kernel asks its environment for while it starts, in Python; what the interpreter and its libraries ask was
# recorded by hand, with a getenv of our own in front of the C library's.
RECORD = """
import os, pathlib
asked, ask = set(), type(os.environ).__getitem__
def noting(environ, name):
    asked.add(name)
    return ask(environ, name)
type(os.environ).__getitem__ = noting
from sandglass_supervisor.inside import python_kernel
def told(app):
    pathlib.Path({file!r}).write_text("\\n".join(asked))
    os._exit(0)
python_kernel.SandboxKernelApp.start = told
python_kernel.main()
"""


def test_what_a_python_kernel_reads_while_it_starts_makes_it_start_anew(folder: Path) -> None:
    memory = crash_buffer.memory()
    about = {"address": f"{folder}/k", "key": "x", "shell": 1, "iopub": 2, "last_words": memory}
    file = folder / "asked"
    subprocess.run(
        [sys.executable, "-P", "-c", RECORD.format(file=str(file))],
        env={"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", "IPYTHONDIR": str(folder / "ipython")},
        input=json.dumps(about),
        pass_fds=(memory,),
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    os.close(memory)
    asked = set(file.read_text().split())
    assert {"IPYTHONDIR", "HOME", "MPLBACKEND"} <= asked, "it was recorded"
    assert {name for name in asked if not starts_anew("python", [name])} == set()


def test_pagers_stay_what_they_are_in_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_variables, "_ENVIRON", {"PAGER": "cat", "GIT_PAGER": "cat", "A": "1"})
    run_variables.keep({"PAGER": "less", "A": "2"})
    assert run_variables._ENVIRON == {"PAGER": "cat", "GIT_PAGER": "cat", "A": "2"}


# In real kernels.


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts a seat whose kernels are there."""
    started: list[Running] = []

    def make(**more: Any) -> Running:
        running = seat(tmp_path / str(len(started)), **more)
        started.append(running)
        client = running.client()
        client.until(lambda: client.hello()["kernels"][0]["state"] == "idle", PATIENCE, "Python's kernel")
        return running

    yield make
    for running in started:
        running.stop()


def kernels(running: Running) -> dict[str, int]:
    """Processes by language."""
    lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children_of(running.pid)}
    return {"nodejs" if b"kernel.cjs" in line else "python": pid for pid, line in lines.items() if line}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env", "anew"),
    [
        ({"A": "1", "TZ": "Asia/Tokyo"}, set()),
        ({"A": "1", "PYTHONPATH": "/x"}, {"python"}),
        ({"A": "1", "NODE_PATH": "/x"}, {"nodejs"}),
        ({"A": "1", "LC_ALL": "C"}, {"python", "nodejs"}),
        ({"LANG": "C.UTF-8"}, set()),  # as it is already
        ({}, set()),
    ],
)
def test_kernels_run_on_or_start_anew(start: Callable[..., Running], env: dict[str, str], anew: set[str]) -> None:
    running = start()
    client = running.client()
    before = kernels(running)
    assert set(before) == {"python", "nodejs"}
    configure(client, env)
    assert env.items() <= python_env(client, "python").items()
    assert env.items() <= node_env(client, "node").items()
    client.until(lambda: len(children_of(running.pid)) == 2, PATIENCE, "the former ones to end")
    after = kernels(running)
    assert {language for language in before if after[language] != before[language]} == anew
    assert [kernel["executions"] for kernel in client.ask("list")["kernels"]] == [1, 1]


@pytest.mark.slow
def test_variables_outlive_resets_and_belong_to_every_session(start: Callable[..., Running]) -> None:
    client = start().client()
    configure(client, {"A": "1", "B": "1"})
    assert python_env(client, "first", envs={"A": "2"})["A"] == "2"
    assert python_env(client, "second")["A"] == "1"
    client.run("change", "import os; os.environ['B'] = '2'")
    assert python_env(client, "third")["B"] == "2", "they are given once"
    client.ask("reset")
    assert python_env(client, "fourth")["B"] == "1"
    assert python_env(client, "fifth", session="other")["A"] == "1"
    assert python_env(client, "sixth", session="fresh", fresh=True)["A"] == "1"
    assert python_env(client, "seventh", session="bound", python_env=sys.prefix)["A"] == "1"
    for name in ("eighth", "ninth"):
        assert node_env(client, name, session=name)["A"] == "1"


@pytest.mark.slow
def test_a_fresh_session_gets_the_kernel_that_was_started_ahead(start: Callable[..., Running]) -> None:
    running = start()
    client = running.client()
    before = kernels(running)
    configure(client, {"A": "1"})
    for language, run in (("python", python_env), ("nodejs", node_env)):
        assert run(client, language, session=f"once-{language}", fresh=True)["A"] == "1"
        assert kernels(running)[language] == before[language]


@pytest.mark.slow
def test_a_kernel_that_dies_before_its_first_run_begins_with_the_variables(start: Callable[..., Running]) -> None:
    running = start()
    client = running.client()
    before = kernels(running)
    configure(client, {"A": "1"})
    for pid in before.values():
        os.kill(pid, 9)
    client.until(lambda: not set(before.values()) & set(children_of(running.pid)), PATIENCE, "both to be gone")
    assert python_env(client, "python")["A"] == "1"
    assert node_env(client, "node")["A"] == "1"


@pytest.mark.slow
@pytest.mark.parametrize("file", ["startup/00.py", "ipython_config.py", "PYTHONSTARTUP"])
def test_files_that_ran_before_the_first_cell_run_anew_with_the_variables(
    start: Callable[..., Running], tmp_path: Path, file: str
) -> None:
    """As an own image may bring them."""
    path = tmp_path / "profile_default" / file
    path.parent.mkdir(parents=True)
    configures = "get_config().Completer.use_jedi = False\n" if file == "ipython_config.py" else ""
    path.write_text(f"import builtins, os\nbuiltins.at_start = os.environ.get('A')\n{configures}")
    more: dict[str, Any] = {"PYTHONSTARTUP": str(path)} if file == "PYTHONSTARTUP" else {}
    client = start(IPYTHONDIR=str(tmp_path), **more).client()
    configure(client, {"A": "1"}, lost="Evicted")
    output = client.run("first", "print(at_start, __import__('os').environ['A'])")
    assert output.text() == "1 1\n"
    assert output.outcome is not None
    assert "(Evicted)" in output.outcome["warning"]
    assert output.outcome["execution_count"] == 1


@pytest.mark.slow
def test_without_variables_such_files_run_once(start: Callable[..., Running], tmp_path: Path) -> None:
    path = tmp_path / "profile_default" / "startup" / "00.py"
    path.parent.mkdir(parents=True)
    path.write_text("open('times', 'a').write('x')\n")
    client = start(IPYTHONDIR=str(tmp_path)).client()
    configure(client)
    assert client.run("first", "print(open('times').read())").text() == "x\n"


@pytest.mark.slow
def test_mcp_servers_get_the_variables(start: Callable[..., Running]) -> None:
    running = start(SANDGLASS_MCP_PACKAGES=os.environ["SANDGLASS_MCP_PACKAGES"])
    client: Client = running.client()
    configure(client, {"A": "sandbox"})
    client.ask("mcp_register", timeout=60, name="one", command=sys.executable, args=[SERVER, "well"])
    link = Link(running)
    assert link.call("env", name="A")["result"]["content"][0]["text"] == "sandbox"
    link.close()
