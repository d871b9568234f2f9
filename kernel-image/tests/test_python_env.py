"""Another interpreter inside the sandbox: found, looked at, bound when a session begins; or a hint what to do."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import ipykernel
import pytest
from client import Client, Refused
from interpreters import WHERE, outcome, script, sessions, site_of, venv, with_ipykernel
from supervisors import Running

from sandglass_supervisor.kernels.python_env import _ACCEPTED, _PROBE, PythonEnv, _verdict, locate


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("data", "/home/u/envs/data"),
        ("~", "/home/u"),
        ("~/my env", "/home/u/my env"),
        ("/opt/py", "/opt/py"),
        ("./venv", "/w/venv"),
        ("a/b/", "/w/a/b"),
    ],
)
def test_names_and_paths(text: str, folder: str) -> None:
    env = locate(text, "/home/u", "/w")
    assert env == PythonEnv(text, folder)
    assert env.python == f"{folder}/bin/python"


def test_its_programs_come_first_and_pip_installs_into_it() -> None:
    given = {"PATH": "/usr/bin", "PIP_USER": "1", "PYTHONHOME": "/x", "VIRTUAL_ENV": "/y", "A": "b"}
    assert PythonEnv("x", "/e").variables(given) == {"PATH": "/e/bin:/usr/bin", "A": "b"}


@pytest.mark.parametrize(
    "text", ["", ".", "..", "-x", "~root", "~root/x", "a b", "x" * 64, "a/\n", "/" + 4096 * "x", "é"]
)
def test_bad_names_are_refused(client: Client, name: str, text: str) -> None:
    with pytest.raises(Refused, match="bad_request: python_env"):
        client.start(name, "1", python_env=text)


def test_it_is_for_python_alone(client: Client, name: str) -> None:
    with pytest.raises(Refused, match="python_env: is for language python alone"):
        client.start(name, "1", python_env="x", language="nodejs")


@pytest.mark.parametrize("session", ["default", "other"])
def test_a_session_runs_in_the_env_that_it_begins_with(own: Running, session: str) -> None:
    client = own.client()
    client.hello()
    folder = with_ipykernel(own.workspace / "envs" / "data")
    assert client.run("first", WHERE, session=session, python_env="data").text() == str(folder)
    assert client.run("again", WHERE, session=session).text() == str(folder)
    assert "warning" not in outcome(client.run("same", WHERE, session=session, python_env="~/envs/data"))
    assert client.ask("reset", session=session) == {"state": "idle"}
    assert client.run("reset", WHERE, session=session).text() == str(folder)
    assert sessions(client)[session] == "data"
    shell = client.run("shell", "import shutil; shutil.which('python')", session=session)
    assert shell.only("result").blob == repr(f"{folder}/bin/python").encode()


@pytest.mark.slow
def test_outputs_and_errors_are_as_in_any_kernel(spare: Running) -> None:
    client = spare.client()
    client.hello()
    with_ipykernel(spare.workspace / "envs" / "data")
    client.run("set", "x = 41", python_env="data")
    assert client.run("value", "x + 1", envs={"A": "b"}).only("result").blob == b"42"
    assert outcome(client.run("raise", "1/0"))["status"] == "error"
    assert outcome(client.run("stop", "while True: pass", timeout_s=0.5))["status"] == "timeout"
    assert client.run("kept", "x").only("result").blob == b"41"


@pytest.mark.slow
def test_nothing_of_the_supervisors_own_is_found_there(spare: Running) -> None:
    client = spare.client()
    client.hello()
    with_ipykernel(spare.workspace / "envs" / "data")
    checkout = str(Path(__file__).parents[1])
    path = client.run("path", "import sys; print(*sys.path, sep='\\n')", python_env="data").text().splitlines()
    assert checkout not in path
    assert sysconfig.get_path("purelib") not in path


@pytest.mark.slow
def test_another_env_later_is_a_warning(spare: Running) -> None:
    client = spare.ready()
    with_ipykernel(spare.workspace / "envs" / "data")
    output = client.run("default", WHERE, python_env="data")
    assert output.text() == sys.prefix
    assert outcome(output)["status"] == "ok"
    assert "runs in the sandbox's own Python and goes on in it; python_env 'data'" in str(outcome(output)["warning"])
    client.run("bound", "1", session="s", python_env="data")
    warned = outcome(client.run("missing", "1", session="s", python_env="missing"))
    assert (warned["status"], "runs in env 'data'" in str(warned["warning"])) == ("ok", True)


@pytest.mark.slow
def test_closing_frees_the_session_for_another_env(spare: Running) -> None:
    client = spare.ready()
    folder = with_ipykernel(spare.workspace / "envs" / "data")
    client.ask("close")
    assert client.run("anew", WHERE, python_env="data").text() == str(folder)


def test_a_missing_env_is_told_with_what_makes_it(spare: Running) -> None:
    client = spare.client()
    client.hello()
    ended = outcome(client.run("missing", "1", session="s", python_env="none"))
    folder = spare.workspace / "envs" / "none"
    assert ended["status"] == "env_error"
    assert ended["message"] == f"There is no interpreter in env 'none' (python: {folder}/bin/python)."
    assert ended["hint"] == {
        "kind": "make",
        "line": f"python3 -m venv {folder} && PIP_USER=0 {folder}/bin/python -m pip install ipykernel~=7.3",
    }
    assert sessions(client) == {"default": None}


@pytest.mark.slow
def test_an_env_without_ipykernel_is_told_with_what_installs_it(spare: Running) -> None:
    client = spare.client()
    client.hello()
    folder = venv(spare.workspace / "envs" / "bare")
    ended = outcome(client.run("bare", "1", python_env="bare"))
    assert ended["status"] == "env_error"
    assert ended["message"] == f"ipykernel not found in env 'bare' (python: {folder}/bin/python)."
    assert ended["hint"] == {"kind": "install", "line": f"PIP_USER=0 {folder}/bin/python -m pip install ipykernel~=7.3"}
    # The session is as it was, and takes the env once it is as it should be.
    assert outcome(client.run("without", "x = 1", session="s"))["status"] == "ok"
    (site_of(folder) / "packages.pth").write_text(f"{Path(ipykernel.__file__).parents[1]}\n")
    assert client.run("mended", WHERE, python_env="bare").text() == str(folder)


@pytest.mark.parametrize(
    ("version", "said", "kind"),
    [
        ((7, 2, 9), "is older than 7.3.", "upgrade"),
        ((7, 3), None, None),
        ((7, 99, 9), None, None),
        ((8, 0, 0), "is 8 or newer.", "install"),
        ((10, 0), "is 8 or newer.", "install"),
    ],
)
def test_versions_of_ipykernel_that_are_taken(
    tmp_path: Path, version: tuple[int, ...], said: str | None, kind: str | None
) -> None:
    (tmp_path / "ipykernel.py").write_text(f"version_info = {version}")
    env = PythonEnv("x", "/e")
    command = [sys.executable, "-c", _PROBE]
    answer = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, check=True).stdout
    verdict = _verdict(env, answer.split()[-1].decode(), 0)
    assert (verdict is None) == (said is None)
    if verdict is not None and said is not None:
        assert verdict.message.endswith(said)
        assert verdict.hint is not None
        assert verdict.hint.to_json() == {
            "kind": kind,
            "line": "PIP_USER=0 /e/bin/python -m pip install " + "--upgrade " * (version < (8,)) + "ipykernel~=7.3",
        }


def test_pip_is_asked_for_the_same_versions_as_by_the_wheel() -> None:
    project = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert '"ipykernel>=7.3,<8"' in project
    assert _ACCEPTED == "ipykernel~=7.3"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message", "kind"),
    [
        ("#!/bin/sh\nexit 3\n", "does not work: it ended with exit code 3", None),
        ("#!/bin/sh\nkill -9 $$\n", "does not work: it ended with signal 9", None),
        ("no program", "cannot be started: Exec format error", None),
        ("#!/bin/sh\necho old-python\n", "older than 3.10", None),
        ("#!/bin/sh\necho old-ipykernel\n", "is older than 7.3.", "upgrade"),
        ("#!/bin/sh\necho new-ipykernel\n", "is 8 or newer.", "install"),
    ],
)
def test_a_broken_interpreter(spare: Running, text: str, message: str, kind: str | None) -> None:
    client = spare.client()
    client.hello()
    script(spare.workspace / "broken", text)
    ended = outcome(client.run("broken", "1", python_env="./broken"))
    assert ended["status"] == "env_error"
    assert message in str(ended["message"])
    said = ended.get("hint")
    assert (said["kind"] if isinstance(said, dict) else None) == kind
    assert client.run("after", "1 + 1").only("result").blob == b"2"


def test_a_file_in_the_workspace_is_not_taken_for_ipykernel(spare: Running) -> None:
    client = spare.client()
    client.hello()
    venv(spare.workspace / "envs" / "bare")
    (spare.workspace / "ipykernel.py").write_text("version_info = (99, 0)")
    assert "ipykernel not found" in str(outcome(client.run("shadow", "1", python_env="bare"))["message"])
