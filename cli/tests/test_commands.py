"""The commands as a shell sees them: output, errors in one line, exit codes."""

from __future__ import annotations

import base64
import json
import socket
from pathlib import Path

import pytest

from tests.commands import Run
from tests.endpoint import TOKEN, Endpoint, Json, in_turn, ran, result
from tests.test_library import ERROR, STARTED

pytestmark = pytest.mark.usefixtures("run_tools")
PORT = {
    "port": 8000,
    "name": None,
    "url": "http://h/sandboxes/d/box/ports/8000/",
    "link": None,
    "link_expires_at": None,
}
BOX: Json = {
    "namespace": "default",
    "name": "box",
    "state": "running",
    "detail": None,
    "sessions": [{"language": "python", "session": "default", "state": "idle", "uptime_s": 3.5, "executions": 2}],
    "executions": [{"execution_id": "default.u.1.a", "state": "done", "kind": "code"}],
}
USAGE: Json = {
    "namespace": "default",
    "name": "box",
    "running": True,
    "cpu_usage": 12.4,
    "memory_usage": 100,
    "memory_limit": 512.0,
    "disk_usage": 2048,
    "disk_limit": None,
    "uptime": 3700.0,
    "pids": 5,
}


def test_run_writes_each_stream_where_it_belongs_and_deletes_its_sandbox(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_get_execution"] = in_turn(
        ran("running", stdout="one\n", next_offset=4), ran("ok", stdout="two\n", stderr="oops\n", result="3")
    )
    Path("a.py").write_text("code é")
    done = run("run", "a.py")
    assert (done.code, done.out, done.err) == (0, "one\ntwo\n3\n", "oops\n")
    assert endpoint.calls("sandbox_run_code")[0]["code"] == "code é"
    assert endpoint.calls("sandbox_stop")[0]["sandbox"] == endpoint.calls("sandbox_run_code")[0]["sandbox"]


def test_run_keeps_a_sandbox_that_has_a_name(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_get_execution"] = lambda _: ran("ok")
    done = run("run", "-", "-s", "box", "--session", "two", "--timeout", "9", stdin=b"1")
    assert (done.code, done.err) == (
        0,
        "sandglass: there was no sandbox box: it was started with the installation's defaults\n",
    )
    sent = endpoint.calls("sandbox_run_code")[0]
    assert (sent["sandbox"], sent["session"], sent["timeout"], sent["code"]) == ("box", "two", 9, "1")
    assert endpoint.calls("sandbox_stop") == []


@pytest.mark.parametrize(("name", "language"), [("a.js", "nodejs"), ("a.sh", "bash"), ("a.txt", "python")])
def test_the_language_follows_from_the_ending(endpoint: Endpoint, run: Run, name: str, language: str) -> None:
    endpoint.tools["sandbox_get_execution"] = lambda _: ran("ok")
    Path(name).write_text("1")
    assert run("run", name).code == 0
    assert endpoint.calls("sandbox_run_code")[0]["language"] == language


@pytest.mark.parametrize(
    ("answer", "code", "err"),
    [
        (ran("error", error=ERROR, message="ValueError: no"), 1, "Traceback\nValueError: no\n"),
        (ran("timeout", message="It took longer than 5 s."), 124, "sandglass: [timeout] It took longer than 5 s.\n"),
        (ran("interrupted", message="Interrupted."), 130, "sandglass: [interrupted] Interrupted.\n"),
        (ran("oom_killed", signal=9, message="Too much memory."), 137, "sandglass: [oom_killed] Too much memory.\n"),
        (ran("lost", message="Its pod is gone."), 125, "sandglass: [lost] Its pod is gone.\n"),
        (ran("ok", warning="a \x1b]0;title\x07warning"), 0, "sandglass: a warning\n"),
    ],
)
def test_the_exit_code_says_how_it_ended(endpoint: Endpoint, run: Run, answer: Json, code: int, err: str) -> None:
    endpoint.tools["sandbox_get_execution"] = lambda _: answer
    done = run("run", "-", stdin=b"1")
    assert (done.code, done.err) == (code, err)


def test_exec_has_the_programs_exit_code_and_standard_input(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_run_command"] = lambda _: ran("error", exit_code=7, stdout="out\n", message="Exit code 7.")
    done = run("exec", "-i", "-s", "box", "--cwd", "d", "--", "grep", "-c", "x", stdin=b"text")
    assert (done.code, done.out, done.err) == (7, "out\n", "")
    sent = endpoint.calls("sandbox_run_command")[0]
    assert (sent["command"], sent["args"], sent["stdin"], sent["cwd"]) == ("grep", ["-c", "x"], "text", "d")


def test_failures_of_ours_are_125_for_run_and_exec(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_run_code"] = lambda _: result(text="Error: no room", is_error=True)
    assert run("run", "-", stdin=b"1").code == 125
    done = run("run", "absent.py")
    assert (done.code, done.err) == (125, "sandglass: absent.py: No such file or directory\n")
    assert run("run", "-", stdin=b"\xff").err == "sandglass: standard input must be text in UTF-8\n"
    assert "more than 1048576 bytes" in run("run", "-", stdin=b"#" * (1024 * 1024 + 1)).err
    assert "--language must be one of" in run("run", "-", "-l", "ruby").err


def test_json_has_everything_and_pictures_are_files(endpoint: Endpoint, run: Run) -> None:
    answer = ran("ok", stdout="hi", images=[{"mime_type": "image/png", "bytes": 3, "path": None, "full_bytes": None}])
    answer["content"].append({"type": "image", "data": base64.b64encode(b"png").decode(), "mimeType": "image/png"})
    endpoint.tools["sandbox_get_execution"] = lambda _: answer
    done = run("run", "-", "-o", "json", stdin=b"1")
    told = json.loads(done.out)
    assert (told["status"], told["stdout"], told["images"][0]["file"]) == ("ok", "hi", "picture-1.png")
    assert Path("picture-1.png").read_bytes() == b"png"
    assert run("run", "-", "--pictures", "p", stdin=b"1").err == "sandglass: picture saved: p/picture-1.png\n"
    assert run("run", "-", stdin=b"1").err == "sandglass: picture saved: picture-2.png\n"


def test_variables_come_from_options_files_and_the_environment(
    endpoint: Endpoint, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.tools["sandbox_get_execution"] = lambda _: ran("ok")
    monkeypatch.setenv("MINE", "secret")
    Path("env").write_text("# all\nexport A=1\n\nB='two words'\nC=x=y\n")
    assert run("run", "-", "-e", "MINE", "-e", "D=4", "--env-file", "env", stdin=b"1").code == 0
    assert endpoint.calls("sandbox_run_code")[0]["envs"] == {
        "A": "1", "B": "two words", "C": "x=y", "MINE": "secret", "D": "4"
    }  # fmt: skip
    assert "no such variable here" in run("run", "-", "-e", "ABSENT", stdin=b"1").err
    Path("env").write_text("A=1\npassword hunter2\n")
    assert run("run", "-", "--env-file", "env").err == "sandglass: env: line 2 must be KEY=VALUE\n"


def test_attach_reads_from_the_beginning(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_get_execution"] = lambda _: ran("ok", stdout="old\n")
    assert run("attach", "default.u.1.a").out == "old\n"
    assert endpoint.calls("sandbox_get_execution")[0]["execution_id"] == "default.u.1.a"


def test_start_sends_what_the_options_say(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_start"] = lambda _: result(
        {**STARTED["structuredContent"], "ports": [PORT], "warning": "not all"}
    )
    done = run(
        "start", "box", "--memory", "1Gi", "--port", "8000", "--allowed-domain", "example.com", "--workspace", "1Gi"
    )
    assert done.out == "box running\nport 8000: http://h/sandboxes/d/box/ports/8000/\n"
    assert done.err == "sandglass: not all\n"
    assert endpoint.calls("sandbox_start")[0]["config"] == {
        "memory": "1Gi",
        "workspace": {"size": "1Gi"},
        "ports": [8000],
        "allowed_domains": ["example.com"],
    }
    run("start", "box", "-n", "team-a")
    assert endpoint.calls("sandbox_start")[1] == {"sandbox": "box", "namespace": "team-a"}


def test_stop_and_its_words(endpoint: Endpoint, run: Run) -> None:
    assert run("stop", "box").out == "Sandbox box stopped successfully\n"
    assert json.loads(run("stop", "box", "--delete", "-o", "json").out)["status"] == "deleted"
    assert [call.get("delete") for call in endpoint.calls("sandbox_stop")] == [None, True]


def test_ls_shows_sandboxes_and_executions_of_one(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_list"] = lambda _: result({"sandboxes": [BOX], "truncated": False})
    lines = run("ls", "box").out.splitlines()
    assert lines[0].split() == ["NAMESPACE", "NAME", "STATE", "SESSIONS", "DETAIL"]
    assert lines[1].split() == ["default", "box", "running", "default", "-"]
    assert lines[4].split() == ["default.u.1.a", "code", "done"]
    assert json.loads(run("ls", "-A", "-o", "json").out)[0]["name"] == "box"
    assert endpoint.calls("sandbox_list") == [{"sandbox": "box"}, {"namespace": "*"}]
    endpoint.tools["sandbox_list"] = lambda _: result({"sandboxes": [], "truncated": False})
    assert run("ls").out == "no sandboxes\n"


def test_metrics_are_for_people_or_programs(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_get_metrics"] = lambda _: result({"sandboxes": [USAGE], "truncated": False})
    row = run("metrics").out.splitlines()[1]
    assert row.split() == [
        "default",
        "box",
        "yes",
        "12",
        "%",
        "100",
        "MiB",
        "of",
        "512",
        "MiB",
        "2.0",
        "KiB",
        "5",
        "1h1m",
    ]
    assert json.loads(run("metrics", "-o", "json").out)[0]["memory_mib"] == 100


def test_exit_codes_tell_refusals_wrong_use_and_absence_apart(
    endpoint: Endpoint, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.tools["sandbox_list"] = lambda _: result(text="Error: no such namespace", is_error=True)
    refused = run("ls")
    assert (refused.code, refused.err) == (1, "sandglass: no such namespace\n")
    assert run("ls", "--nonsense").code == 2
    assert run("start", "bad name").err.startswith("sandglass: the sandbox must be 1 to 63 letters")
    assert run("--url", "ftp://x", "ls").code == 2
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        assert run("--url", f"http://127.0.0.1:{free.getsockname()[1]}", "ls").code == 3
    monkeypatch.setenv("SANDGLASS_TOKEN", "sgk_wrong")
    wrong = run("ls")
    assert (wrong.code, wrong.err.count("\n"), "sgk_wrong" in wrong.err) == (3, 1, False)


def test_the_key_may_come_from_a_file(endpoint: Endpoint, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint.tools["sandbox_list"] = lambda _: result({"sandboxes": []})
    monkeypatch.setenv("SANDGLASS_TOKEN", "sgk_wrong")
    Path("key").write_text(TOKEN + "\n")
    assert run("--token-file", "key", "ls").code == 0
    assert run("--token-file", "absent", "ls").code == 2


def test_contexts_are_stored_used_and_listed_without_keys(
    endpoint: Endpoint, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.tools["sandbox_list"] = lambda _: result({"sandboxes": []})
    monkeypatch.delenv("SANDGLASS_URL")
    monkeypatch.delenv("SANDGLASS_TOKEN")
    assert run("context", "set", "one", "--url", "https://one.example.com/mcp", stdin=b"sgk_one\n").code == 0
    assert run("context", "set", "fake", "--url", endpoint.url, "-n", "team-a", stdin=f"{TOKEN}\n".encode()).code == 0
    assert run("ls").code == 0
    assert endpoint.calls("sandbox_list") == [{"namespace": "team-a"}]
    listed = run("context", "list")
    assert "sgk_" not in listed.out
    assert TOKEN not in listed.out
    assert run("context", "use", "one").code == 0
    assert [each["current"] for each in json.loads(run("context", "list", "-o", "json").out)] == [False, True]
    assert run("context", "use", "absent").code == 2


def test_help_of_each_command_is_there(run: Run) -> None:
    commands = [
        "run",
        "exec",
        "attach",
        "start",
        "stop",
        "ls",
        "metrics",
        "context",
        "mcp",
        "cp",
        "repl",
        "open",
        "keys",
    ]
    for command in commands:
        assert run(command, "--help").code == 0
    listed = run("--help", program="/usr/bin/kubectl-sandglass").out
    assert all(command in listed for command in commands)
    assert "kubectl sandglass" in listed
    assert run("--version").out.startswith("sandglass 0.")
