"""Pure parts alone: contents, signatures, settings, waiting rules."""

import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.session import Session

from sandglass_supervisor import runtime
from sandglass_supervisor.execution import outcome
from sandglass_supervisor.execution.outcome import Outcome
from sandglass_supervisor.kernels import content, jupyter
from sandglass_supervisor.limits import TRACEBACK_BYTES
from sandglass_supervisor.link import wire
from sandglass_supervisor.processes import resource_shares
from sandglass_supervisor.settings import BadSetting, take
from sandglass_supervisor.shared import text as texts

# Contents.


@given(st.text(), st.integers(4, 50))
def test_slices_join_to_the_whole(text: str, size: int) -> None:
    data = text.encode("utf-8", "replace")
    parts = list(texts.slices(data, size))
    assert b"".join(parts) == data
    for part in parts:
        part.decode()
        assert 0 < len(part) <= size


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
fields = st.sampled_from(
    ["name", "text", "data", "metadata", "ename", "evalue", "traceback", "payload", "source", "image/png", "text/html"]
)


@given(st.dictionaries(fields, json_values | st.dictionaries(fields, json_values)))
def test_any_content_gives_sound_records(said: dict[str, object]) -> None:
    entries = [*content.stream(said), content.error(said), *content.pages(said)]
    entries += [entry for entry in [content.shown("display", said)] if entry is not None]
    for entry in entries:
        assert isinstance(json.loads(entry.json), dict)
        entry.blob.decode("utf-8")


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("\x1b[0;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1b[38;5;12mx\x1b[", "x"),
        ("plain [31m", "plain [31m"),
        ("\x1b(Bsgr0\x1b7 saved\x1bc", "sgr0 saved"),
    ],
)
def test_terminal_codes(text: str, bare: str) -> None:
    assert texts.plain(text) == bare


def test_traceback_at_its_bound() -> None:
    exact = content.error({"ename": "E", "evalue": "", "traceback": ["x" * TRACEBACK_BYTES]})
    assert exact.blob == b"x" * TRACEBACK_BYTES
    over = content.error({"ename": "E", "evalue": "", "traceback": ["x" * (TRACEBACK_BYTES + 1)]})
    assert len(over.blob) <= TRACEBACK_BYTES
    assert b"left out" in over.blob


def test_picture_must_be_what_it_says() -> None:
    shown = content.shown("display", {"data": {"image/png": "PHN2Zz4=", "text/plain": "a figure"}})
    assert shown is not None
    assert shown.blob == b"a figure"


# Jupyter's signatures against Jupyter's own implementation.


def test_signatures_agree_with_jupyter_client() -> None:
    key = b"secret"
    session = Session(key=key)
    _, parts = session.feed_identities(jupyter.request(key, "m1", "execute_request", {"code": "é"}, {"x": 1}))
    message = session.deserialize(parts)
    assert message["header"]["msg_id"] == "m1"
    assert message["content"] == {"code": "é"}
    theirs = session.serialize(session.msg("stream", {"name": "stdout", "text": "hi"}, parent=message), ident=b"topic")
    found = jupyter.parse(key, theirs)
    assert found is not None
    assert (found.kind, found.parent_id, json.loads(found.content)["text"]) == ("stream", "m1", "hi")
    assert jupyter.parse(b"other", theirs) is None
    for cut in range(len(theirs)):
        assert jupyter.parse(key, theirs[:cut]) is None


@given(st.lists(st.binary(max_size=20) | st.just(b"<IDS|MSG>"), max_size=8))
def test_any_frames_of_a_kernel(frames: list[bytes]) -> None:
    assert jupyter.parse(b"key", frames) is None


@given(st.lists(st.binary(max_size=300) | st.sampled_from([b"V", b"C", b"1", b"{}", b'{"verb":"list"}']), max_size=6))
def test_any_frames_of_a_gateway(frames: list[bytes]) -> None:
    assert isinstance(wire.decode(frames), wire.Request | wire.Credit | wire.Malformed)


# Settings.

KEYS = {"SANDGLASS_LINK_SECRET_KEY": "s" * 40, "SANDGLASS_GATEWAY_PUBLIC_KEY": "g" * 40}


def test_settings_are_taken_and_gone() -> None:
    environ = {**KEYS, "HOME": "/h", "MY_TOKEN": "t", "LC_ALL": "C", "SANDGLASS_ENV": '{"A":"1","HOME":"/other"}'}
    found = take(environ)
    assert (found.port, found.runtime_dir, found.workspace, found.max_processes) == (5710, "/run/sandglass", "/h", None)
    assert (found.code_env["A"], found.code_env["HOME"], found.code_env["LC_ALL"]) == ("1", "/other", "C")
    assert "MY_TOKEN" not in found.code_env
    assert not [name for name in environ if name.startswith("SANDGLASS")]
    assert "s" * 40 not in repr(found)
    assert "s" * 40 not in str(found)


@pytest.mark.parametrize(
    "name",
    [
        *("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO"),
        *("npm_config_cafile", "NODE_EXTRA_CA_CERTS", "JAVA_TOOL_OPTIONS"),
    ],
)
def test_what_tells_clients_whom_to_trust_is_passed_on(name: str) -> None:
    assert take({**KEYS, name: "/etc/sandglass/ca/bundle.crt"}).code_env[name] == "/etc/sandglass/ca/bundle.crt"


def test_image_may_pass_variables_on() -> None:
    found = take({**KEYS, "MINE": "1", "SANDGLASS_PASS_ENV": "MINE, OTHER"})
    assert found.code_env["MINE"] == "1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SANDGLASS_LINK_SECRET_KEY", "short"),
        ("SANDGLASS_GATEWAY_PUBLIC_KEY", ""),
        ("SANDGLASS_LINK_PORT", "65536"),
        ("SANDGLASS_LINK_PORT", "-1"),
        ("SANDGLASS_MAX_PROCESSES", "many"),
        ("SANDGLASS_SERVES_TOOLS", "yes"),
        ("SANDGLASS_MAX_SESSIONS", "0"),
        ("SANDGLASS_MAX_SESSIONS", "65"),
        ("SANDGLASS_REPLACED", "Evicted by force"),
        ("SANDGLASS_RUNTIME_DIR", "/" + os.fsdecode("é".encode()) * 40),
        ("SANDGLASS_REPLACED", "E" * 64),
        ("SANDGLASS_ENV", "[1]"),
        ("SANDGLASS_ENV", '{"1A":"x"}'),
    ],
)
def test_bad_settings_are_named(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=name):
        take({**KEYS, name: value})


MIB = 2**20


@pytest.mark.parametrize(
    ("memory", "processes"),
    [(None, 4096), (0, 128), (256 * MIB, 128), (258 * MIB, 129), (512 * MIB, 256), (8192 * MIB, 4096), (2**60, 4096)],
)
def test_processes_are_no_more_than_memory_has_room_for(memory: int | None, processes: int) -> None:
    assert resource_shares.processes(memory) == processes


@pytest.mark.parametrize(("cpus", "threads"), [(0.05, "1"), (1.0, "1"), (1.001, "2"), (1.5, "2"), (64.0, "64")])
def test_libraries_are_told_of_their_cpus(cpus: float, threads: str) -> None:
    assert resource_shares.variables(cpus) == {"OMP_NUM_THREADS": threads, "PYTHON_CPU_COUNT": threads}
    assert resource_shares.variables(None) == {}


@pytest.mark.parametrize(
    ("disk", "memory", "volumes", "most"),
    [(5, 3, (), 5), (3, 5, (), 5), (3, 5, (7, 0), 7), (None, 5, (7,), None), (3, None, (), None)],
)
def test_one_file_fits_into_the_largest_place(
    disk: int | None, memory: int | None, volumes: tuple[int, ...], most: int | None
) -> None:
    assert resource_shares.file_bytes(disk, memory, volumes) == most


@pytest.mark.parametrize(
    ("status", "message", "told"),
    [
        ("error", "RuntimeError: can't start new thread", True),
        ("error", "BlockingIOError: [Errno 11] Resource temporarily unavailable", True),
        ("error", "Error: spawn sh EAGAIN", True),
        ("error", "FileNotFoundError: [Errno 2] No such file or directory: '/EAGAINST'", False),
        ("timeout", "can't start new thread", False),
    ],
)
def test_who_is_refused_a_process_hears_how_many_there_may_be(status: str, message: str, told: bool) -> None:
    advice = outcome.crowded(Outcome(status, message), 256)
    assert (advice is not None and "256 at a time" in advice) == told


def test_user_gets_a_name(tmp_path: Path) -> None:
    runtime._name_user(str(tmp_path), 1234567, 7654321, "/workspace")
    assert (tmp_path / "passwd").read_text() == "sandbox:x:1234567:7654321:Sandbox:/workspace:/bin/bash\n"
    assert (tmp_path / "group").read_text() == "sandbox:x:7654321:\n"


def test_private_folder_is_fresh(tmp_path: Path) -> None:
    first = runtime.prepare(str(tmp_path / "run"), "/workspace")
    (Path(first) / "left-over").touch()
    second = runtime.prepare(str(tmp_path / "run"), "/workspace")
    assert os.listdir(second) == []
    assert os.stat(second).st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_nothing_that_code_left_in_the_folder_stops_the_next_supervisor(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    run = tmp_path / "run"
    deep = run / "users"
    deep.mkdir(parents=True)
    os.mkfifo(deep / "passwd")
    (run / "private").symlink_to(outside)
    (run / "closed" / "inner").mkdir(parents=True)
    (run / "closed" / "inner").chmod(0)
    (run / "closed").chmod(0)
    below = os.open(run / "users", os.O_RDONLY)
    for _ in range(2 * sys.getrecursionlimit()):
        os.mkdir("deeper", dir_fd=below)
        above, below = below, os.open("deeper", os.O_RDONLY, dir_fd=below)
        os.close(above)
    os.close(below)
    private = runtime.prepare(str(run), "/workspace")
    assert (private, os.listdir(private), os.listdir(outside)) == (str(run / "private"), [], ["kept"])
    assert set(os.listdir(run)) <= {"private", "used", "users"}
    assert all((run / "users" / name).is_file() for name in ("passwd", "group") if (run / "users").exists())


def test_outcomes_say_what_and_why() -> None:
    assert outcome.kernel_died(11, None).kernel_restarted
    assert "by signal 11" in outcome.kernel_died(11, None).message
    late = outcome.timed_out(1.5, outcome.kernel_died(9, None))
    assert (late.status, late.signal) == ("timeout", 9)
    assert "time-out of 1.5 s" in late.message
    assert outcome.timed_out(1, Outcome("ok", execution_count=4)).execution_count == 4
    assert outcome.interrupted(outcome.timed_out(1, Outcome("ok"))).hint is None
    for verdict in (lambda ended: outcome.timed_out(1, ended), outcome.interrupted):
        assert outcome.OUTPUT_LOST in verdict(Outcome("ok", outcome.OUTPUT_LOST)).message
        assert "KeyboardInterrupt" not in verdict(Outcome("error", "KeyboardInterrupt: ")).message
