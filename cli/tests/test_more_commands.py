"""`repl`, `open` and `keys`."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path

import pytest

from sandglass.command_line.repl import is_whole
from tests.commands import Run
from tests.endpoint import Endpoint, in_turn, ran, result
from tests.test_library import BEGUN, ERROR, STARTED, STOPPED
from tests.test_terminals import Terminal

PORT = {
    "port": 8000,
    "name": None,
    "url": "/sandboxes/d/box/ports/8000/",
    "link": "/sandboxes/d/box/links/8000/abc/",
    "link_expires_at": "2026-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        (["1 + 1"], True),
        (["def f():"], False),
        (["def f():", "  return 1"], False),
        (["def f():", "  return 1", ""], True),
        (["x = '''"], False),
        (["x = '''", "'''"], True),
        (["await f()"], True),
        (["1 +"], True),
        (["!ls"], True),
        (["%%bash", "ls"], False),
        (["%%bash", "ls", ""], True),
        ([""], True),
    ],
)
def test_a_statement_is_run_when_it_is_whole(lines: list[str], whole: bool) -> None:
    assert is_whole(lines) is whole


def test_repl_runs_statements_and_goes_on_after_errors(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools["sandbox_start"] = lambda _: STARTED
    endpoint.tools["sandbox_stop"] = lambda _: STOPPED
    endpoint.tools["sandbox_run_code"] = in_turn(
        BEGUN, result(text="Error: too busy", is_error=True), ran("error", error=ERROR), ran("ok", result="2")
    )
    endpoint.tools["sandbox_get_execution"] = lambda _: ran("ok", stdout="out\n")
    done = run("repl", stdin=b"for x in y:\n  x\n\na\nb\n\n1 + 1")
    assert done.code == 0
    assert [call["code"] for call in endpoint.calls("sandbox_run_code")] == ["for x in y:\n  x\n", "a", "b", "1 + 1"]
    assert done.out == "out\n2\n"
    assert done.err == "sandglass: sandbox box; Ctrl-D ends\nsandglass: too busy\nTraceback\nValueError: no\n"
    assert len(endpoint.calls("sandbox_stop")) == 1


def test_repl_on_a_terminal(endpoint: Endpoint) -> None:
    endpoint.tools["sandbox_start"] = lambda _: STARTED
    endpoint.tools["sandbox_run_code"] = lambda _: ran("ok", result="2")
    terminal = Terminal(endpoint, "repl", "-s", "box")
    terminal.until(">>> ")
    terminal.type("1 + 1\n")
    terminal.until("2\r\n>>> ")
    terminal.type("\x04")
    assert terminal.end() == 0
    assert endpoint.calls("sandbox_stop") == []


@pytest.mark.slow
def test_open_prints_the_link_for_browsers_or_the_address_for_programs(endpoint: Endpoint, run: Run) -> None:
    started = STARTED["structuredContent"]
    base = endpoint.url.removesuffix("/mcp")
    endpoint.tools["sandbox_start"] = in_turn(
        *(result({**started, "ports": [port]}) for port in (PORT, {**PORT, "link": None}, PORT)), STARTED,
        result({**started, "ports": [{**PORT, "link": "file:///etc/passwd"}]}),
    )  # fmt: skip
    assert run("open", "box", "8000").out == f"{base}/sandboxes/d/box/links/8000/abc/\n"
    assert run("open", "box", "8000").out == f"{base}/sandboxes/d/box/ports/8000/\n"
    assert json.loads(run("open", "box", "8000", "-o", "json").out)["link_expires_at"] == "2026-01-01T00:00:00Z"
    refused = run("open", "box", "9000")
    assert (refused.code, "port 9000 is not declared (none)" in refused.err) == (1, True)
    assert run("open", "box", "8000").code == 3
    assert run("open", "box", "70000").code == 2


KUBECTL = """#!/usr/bin/env python3
import json, os, sys
place = os.environ["FAKE_SECRET"]
words = sys.argv[1:]
assert words[:2] == ["--namespace", "sandglass-system"], words
secret = json.load(open(place))
if words[2:] == ["get", "secret", "sandglass-api-keys", "-o", "json"]:
    print(json.dumps(secret))
elif words[2:] == ["patch", "secret", "sandglass-api-keys", "--type", "merge", "--patch-file", "/dev/stdin"]:
    for name, value in json.load(sys.stdin)["data"].items():
        secret["data"].pop(name, None) if value is None else secret["data"].update({name: value})
    json.dump(secret, open(place, "w"))
else:
    sys.exit("Error from server (Forbidden): " + " ".join(words[2:]))
"""


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The Secret that a fake kubectl reads and writes."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "kubectl").write_text(KUBECTL)
    (tools / "kubectl").chmod(0o755)
    place = tmp_path / "secret.json"
    place.write_text('{"data": {"first": "eyJ0ZW5hbnRzIjogWyJkZWZhdWx0Il19", "odd": "!"}}')
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_SECRET", str(place))
    return place


@pytest.mark.slow
def test_keys_are_made_listed_and_revoked(secret: Path, run: Run) -> None:
    made = run("keys", "create", "planner", "-t", "team-a", "-t", "*")
    key = made.out.strip()
    assert key.startswith("sgk_")
    assert len(key) == 68
    grant = json.loads(base64.b64decode(json.loads(secret.read_text())["data"]["planner"]))
    assert grant == {"sha256": hashlib.sha256(key.encode()).hexdigest(), "tenants": ["team-a", "*"]}
    assert key not in secret.read_text()
    assert [line.split() for line in run("keys", "list").out.splitlines()[1:]] == [
        ["first", "default"], ["odd", "(unreadable)"], ["planner", "team-a,", "*"]
    ]  # fmt: skip
    assert run("keys", "create", "planner", "-t", "x").code == 1
    assert run("keys", "revoke", "planner").code == 0
    assert run("keys", "revoke", "planner").code == 1
    assert [each["caller"] for each in json.loads(run("keys", "list", "-o", "json").out)] == ["first", "odd"]


@pytest.mark.slow
def test_keys_refuse_what_is_wrong_and_tell_what_kubectl_says(
    secret: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("keys", "create", "a b", "-t", "x").code == 2
    assert run("keys", "create", "a", "-t", "a/b").code == 2
    assert run("keys", "create", "a").code == 2
    failed = run("keys", "list", "--release", "other")
    assert (failed.code, failed.err.startswith("sandglass: kubectl: Error from server (Forbidden)")) == (1, True)
    monkeypatch.setenv("PATH", "/nowhere")
    assert "kubectl is not on the PATH" in run("keys", "list").err
