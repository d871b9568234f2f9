from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandglass.wire import retries
from tests.bridges import Bridge, Gateway
from tests.commands import Run, runner
from tests.endpoint import TOKEN, Endpoint
from tests.test_library import BEGUN, STARTED, STOPPED, absent

# A shell starts what runs in its background with the interrupt ignored, and all programs below inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
ENDPOINT_FILE = Path(__file__).parents[2] / "build/endpoint.env"


@pytest.fixture(autouse=True)
def _own_configuration(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No test reads or writes what the machine has."""
    if request.node.get_closest_marker("endpoint"):
        return
    for name in [name for name in os.environ if name.startswith(("SANDGLASS_", "MCP_", "KERNEL_ENV_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SANDGLASS_CONFIG", str(tmp_path / "config/config.toml"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setattr(retries, "_FIRST_DELAY_S", 0.001)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """A fake endpoint, and the environment that leads to it."""
    fake = Endpoint()
    monkeypatch.setenv("SANDGLASS_URL", fake.url)
    monkeypatch.setenv("SANDGLASS_TOKEN", TOKEN)
    yield fake
    fake.close()


@pytest.fixture
def run_tools(endpoint: Endpoint) -> None:
    """The tools of the fake endpoint that begin and end a run."""
    endpoint.tools["sandbox_start"] = lambda _: STARTED
    endpoint.tools["sandbox_stop"] = lambda _: STOPPED
    endpoint.tools["sandbox_run_code"] = lambda _: BEGUN
    endpoint.tools["sandbox_list"] = lambda _: absent("box")


@pytest.fixture
def real_endpoint(monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a real endpoint, with its key in the environment."""
    if "SANDGLASS_URL" not in os.environ and ENDPOINT_FILE.exists():
        for line in ENDPOINT_FILE.read_text().splitlines():
            name, _, value = line.partition("=")
            if name in ("SANDGLASS_URL", "SANDGLASS_TOKEN"):
                monkeypatch.setenv(name, value.strip("'\""))
    if "SANDGLASS_URL" not in os.environ:
        pytest.skip("no endpoint: set SANDGLASS_URL and SANDGLASS_TOKEN, or run make up")
    return os.environ["SANDGLASS_URL"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return runner(monkeypatch, capfd)


@pytest.fixture
def gateway(endpoint: Endpoint) -> Gateway:
    return Gateway(endpoint)


@pytest.fixture
def bridges(endpoint: Endpoint) -> Iterator[Any]:
    """Makes bridges, and ends those that a failed test left."""
    made: list[Bridge] = []

    def make(*arguments: str, **environ: str) -> Bridge:
        made.append(Bridge(endpoint, *arguments, **environ))
        return made[-1]

    yield make
    for bridge in made:
        if bridge.process.poll() is None:
            bridge.process.kill()
            bridge.process.wait()
