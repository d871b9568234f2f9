"""What surrounds a claim: the start, what first runs are told, restarts of the container, the network, and ages."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Client, Output, Refused
from seats import SANDBOX, configure, seat
from supervisors import Running, children_of

RESTARTED = "Before this run, the sandbox's container was restarted."


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Starts a seat; one that is given the folder of another's sockets comes after a restart of its container."""
    started: list[Running] = []

    def make(languages: str = "python", **more: Any) -> Running:
        started.append(seat(tmp_path / str(len(started)), languages, **more))
        return started[-1]

    yield make
    for running in started:
        running.stop()


# The start.


def eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


@pytest.fixture
def port() -> int:
    """A port that is free now, and that nothing else asks for."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def held_back(tmp_path: Path, language: str) -> tuple[dict[str, Any], Path, Path]:
    """Settings that hold back the start of that language's kernel, the file that says so, and the one that ends it."""
    begun, go = tmp_path / "begun", tmp_path / "go"
    if language == "python":
        startup = tmp_path / "ipython" / "profile_default" / "startup" / "00.py"
        startup.parent.mkdir(parents=True)
        startup.write_text(
            f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\n"
            f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)"
        )
        return {"IPYTHONDIR": str(tmp_path / "ipython")}, begun, go
    startup = tmp_path / "wait.cjs"
    startup.write_text(
        f"const fs = require('fs'); fs.writeFileSync({json.dumps(str(begun))}, '');\n"
        f"while (!fs.existsSync({json.dumps(str(go))}))"
        " Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);"
    )
    return {"NODE_OPTIONS": f"--require {startup}"}, begun, go


@pytest.mark.parametrize("late", ["python", "javascript"])
def test_its_port_opens_when_all_its_kernels_have_started(
    start: Callable[..., Running], tmp_path: Path, port: int, late: str
) -> None:
    """So that a startup probe of the port tells when the seat is ready."""
    settings, begun, go = held_back(tmp_path, late)
    patient = {"SEAT_OPENS_S": 600.0}
    running = start("python,javascript", limits=patient, SANDGLASS_LINK_PORT=str(port), **settings)
    eventually(begun.exists, "the kernel to begin")
    other = "python/default" if late == "javascript" else None
    if other:
        eventually(lambda: f"name={other} event=ready" in running.log.read_text(), "the other kernel to be ready")
    assert not is_open(port)
    go.touch()
    assert [kernel["state"] for kernel in running.client().hello()["kernels"]] == ["idle"]


@pytest.mark.slow
def test_its_port_opens_though_a_kernel_takes_long(start: Callable[..., Running], tmp_path: Path) -> None:
    """Who claims it then is better off than without a link: commands and files need no kernel."""
    settings, begun, go = held_back(tmp_path, "python")
    running = start("python", limits={"SEAT_OPENS_S": 0.3}, **settings)
    assert [kernel["state"] for kernel in running.client().hello()["kernels"]] == ["starting"]
    eventually(begun.exists, "the kernel to begin")
    go.touch()


@pytest.mark.slow
def test_its_port_opens_when_its_kernel_cannot_start(start: Callable[..., Running], tmp_path: Path) -> None:
    """The sandbox then hears why, as that of any pod does."""
    startup = tmp_path / "ipython" / "profile_default" / "startup" / "00.py"
    startup.parent.mkdir(parents=True)
    startup.write_text("import os\nos._exit(3)")
    kernel = start("python", IPYTHONDIR=str(tmp_path / "ipython")).client().hello()["kernels"][0]
    assert kernel["state"] == "dead"
    assert kernel["trouble"]


# What first runs are told.


def told(output: Output) -> str:
    """What a run is told of those before it; empty if there is nothing to tell."""
    assert output.outcome is not None
    assert output.outcome["kernel_restarted"] == bool(output.outcome.get("warning"))
    return output.outcome.get("warning") or ""


@pytest.mark.slow
def test_what_was_lost_is_told_to_each_session_once(start: Callable[..., Running]) -> None:
    client = start("python,javascript").client()
    configure(client, lost="Evicted")
    places: list[dict[str, Any]] = [{}, {"session": "other"}, {"language": "nodejs"}]
    for at, where in enumerate(places):
        words = told(client.run(f"first-{at}", "1", **where))
        assert words.startswith("Before this run, the sandbox's pod was replaced (Evicted).")
        assert told(client.run(f"second-{at}", "1", **where)) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (None, ""),
        ("", "Before this run, the sandbox's pod was replaced. "),
        ("Idle", "Before this run, the sandbox was suspended because nobody used it"),
    ],
)
def test_in_the_words_of_a_cold_pod(start: Callable[..., Running], lost: str | None, words: str) -> None:
    client = start().client()
    # Python's kernel starts anew for it, which must not lose the news.
    configure(client, {"PYTHONPATH": "/x"}, **({} if lost is None else {"lost": lost}))
    heard = told(client.run("first", "1"))
    assert (heard.startswith(words), bool(heard)) == (True, bool(words))


@pytest.mark.slow
def test_a_seat_that_restarts_before_its_claim_has_nothing_to_tell(start: Callable[..., Running]) -> None:
    first = start()
    runtime = first.runtime
    client = first.client()
    client.until(lambda: client.hello()["kernels"][0]["state"] == "idle", PATIENCE, "the kernel")
    assert not (runtime / "used").exists()
    again = restarted(first, start).client()
    configure(again)
    assert told(again.run("first", "1")) == ""
    with pytest.raises(Refused, match="execution_never_came"):
        again.ask("attach", execution_id="never", offset=0)


def restarted(before: Running, start: Callable[..., Running], **more: Any) -> Running:
    """What comes after it in the same pod."""
    before.process.kill()
    before.process.wait()
    return start(SANDGLASS_RUNTIME_DIR=str(before.runtime), **more)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_after_a_claim_a_restart_is_told_by_a_seat_that_waits_again(start: Callable[..., Running], times: int) -> None:
    first = start()
    client = first.client()
    configure(client, {"A": "1"})
    assert told(client.run("first", "1")) == ""
    again = first
    for _ in range(times):
        again = restarted(again, start)
        again.runtime = first.runtime
        hello = again.client().hello()
        assert (hello["seat"], hello["kernels"]) == ({"configured_for": None}, [])
    assert (first.runtime / "used").exists()
    client = again.client()
    with pytest.raises(Refused, match="not_configured"):
        client.run("early", "1")
    # The gateway repeats what the pod before this one had lost: the restart is the news.
    configure(client, {"A": "1"}, lost="Evicted")
    assert told(client.run("second", "1")).startswith(RESTARTED)
    assert told(client.run("third", "1")) == ""
    with pytest.raises(Refused, match="unknown_execution"):
        client.ask("attach", execution_id="first", offset=0)


@pytest.mark.slow
def test_files_that_code_left_run_after_a_restart_with_the_variables(start: Callable[..., Running]) -> None:
    """A pod that was started for its sandbox has them when its kernel starts; so this one waits with its kernels."""
    first = start()
    client = first.client()
    ipython = str(first.workspace / "ipython")
    configure(client, {"A": "1"})
    code = "import builtins, os\nbuiltins.at_start = os.environ.get('A')\n"
    client.write("ipython/profile_default/startup/00.py", code.encode())
    client = restarted(first, start, IPYTHONDIR=ipython).client()
    configure(client, {"A": "1"})
    assert client.run("second", "print(at_start)").text() == "1\n"


@pytest.mark.slow
def test_it_is_marked_with_the_claim_and_not_with_the_first_run(start: Callable[..., Running]) -> None:
    first = start("")
    configure(first.client())
    client = restarted(first, start).client()
    configure(client, {"PYTHONPATH": "/x"})
    assert told(client.run("first", "1")).startswith(RESTARTED)


# The network.


@pytest.fixture
def closed() -> Iterator[socket.socket]:
    """An address that refuses connections until the test has it listen."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        yield server


def until_open(client: Client) -> dict[str, Any]:
    said: dict[str, Any] = {}

    def reached() -> bool:
        said.update(client.hello())
        return said["network"]["reached"] is not None

    client.until(reached, PATIENCE, "the probe to get through")
    return said


def probing(server: socket.socket) -> dict[str, Any]:
    return {"SANDGLASS_CLOSED_ADDRESSES": f"127.0.0.1:{server.getsockname()[1]}"}


def test_a_seat_whose_network_is_open_refuses_as_any_sandbox_does(
    start: Callable[..., Running], closed: socket.socket
) -> None:
    closed.listen()
    running = start("python,javascript", **probing(closed))
    client = running.client()
    said = until_open(client)
    assert (said["kernels"], said["seat"]) == ([], {"configured_for": None})
    client.until(lambda: not children_of(running.pid), PATIENCE, "all kernels to end")
    configure(client, {"A": "1"})
    with pytest.raises(Refused, match="network_open"):
        client.run("x", "1")
    with pytest.raises(Refused, match="network_open"):
        client.command("y", "true")
    assert client.hello()["kernels"] == []
    assert children_of(running.pid) == []


@pytest.mark.slow
def test_it_probes_anew_when_it_is_claimed(start: Callable[..., Running], closed: socket.socket) -> None:
    """Its first probe is over by then, and so is the time in which its first policies came to hold."""
    running = start(limits={"PROBE_S": 0.2, "PROBE_PAUSE_S": 0.05}, **probing(closed))
    client = running.client()
    before = time.monotonic()
    client.until(lambda: time.monotonic() - before > 0.5, PATIENCE, "the first probe to be over")
    closed.listen()
    before = time.monotonic()
    client.until(lambda: time.monotonic() - before > 0.3, PATIENCE, "what would be an attempt")
    assert client.hello()["network"]["reached"] is None
    configure(client)
    assert until_open(client)["network"]["refusal"]
    with pytest.raises(Refused, match="network_open"):
        client.ask("execute", b"1", execution_id="x")


# Ages and lists.


@pytest.mark.slow
def test_ages_count_from_the_claim(start: Callable[..., Running]) -> None:
    client = start("python,javascript").client()
    client.until(lambda: client.hello()["kernels"][0]["uptime_s"] > 0.4, PATIENCE, "some age")
    claimed = time.monotonic()
    configure(client)
    client.run("first", "1", language="nodejs")
    uptimes = [client.ask("metrics")["uptime_s"], *(kernel["uptime_s"] for kernel in client.ask("list")["kernels"])]
    assert len(uptimes) == 3
    assert max(uptimes) <= time.monotonic() - claimed


@pytest.mark.slow
def test_a_kernel_that_a_cold_pod_would_not_have_takes_no_sessions_place(start: Callable[..., Running]) -> None:
    client = start("python,javascript", SANDGLASS_MAX_SESSIONS="1").client()
    client.hello()
    configure(client)
    assert [kernel["language"] for kernel in client.ask("list")["kernels"]] == ["python"]
    assert client.ask("metrics")["kernels"] == 1
    with pytest.raises(Refused, match="sessions_full"):
        client.run("node", "1", language="nodejs")
    assert client.run("python", "1").text("result") == "1"
    client.ask("close", session="default")
    assert client.run("node-now", "1", language="nodejs").text("result") == "1"
    assert [(name, event["event"]) for name, _, event in client.events if "nodejs" in name] == [
        ("nodejs/default", "starting"),
        ("nodejs/default", "ready"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("languages", ["", "javascript"])
def test_without_python_ahead_its_kernel_starts_with_the_claim(start: Callable[..., Running], languages: str) -> None:
    client = start(languages).client()
    assert client.hello()["kernels"] == []
    configure(client)
    assert [kernel["language"] for kernel in client.hello()["kernels"]] == ["python"]
    assert client.run("first", "1 + 1").text("result") == "2"
    assert client.hello()["seat"] == {"configured_for": SANDBOX}
