"""What is asked of a session while its interpreter is looked at: it waits, in a line like any other."""

import sys
from pathlib import Path

import pytest
from client import PATIENCE, Refused
from interpreters import WHERE, outcome, script, with_ipykernel
from supervisors import Running


def hanging(spare: Running) -> Path:
    started = spare.workspace / "started"
    script(spare.workspace / "hangs", f"#!/bin/sh\ntouch {started}\nexec sleep 600\n")
    return started


@pytest.mark.slow
def test_what_waits_for_a_slow_interpreter_can_be_interrupted(tmp_path: Path) -> None:
    running = Running(tmp_path, limits={"ENV_PROBE_S": 4.0})
    client = running.client()
    client.hello()
    started = hanging(running)
    client.start("hangs", "1", session="s", python_env="./hangs")
    second = client.start("second", "1", session="s")
    assert second["position"] == 1
    client.until(started.exists, PATIENCE, "the interpreter's start")
    assert client.ask("interrupt", execution_id="hangs") == {"interrupted": ["hangs"]}
    assert outcome(client.finish("hangs"))["status"] == "interrupted"
    # Other sessions do not wait for it.
    assert client.run("other", "1 + 1").only("result").blob == b"2"
    # When its time is over, what came without an env runs in the image's Python.
    assert outcome(client.finish("second"))["status"] == "ok"
    running.stop()


def slow(spare: Running) -> tuple[Path, Path, Path]:
    """An env whose interpreter waits: its true folder, the file that tells of its start, the one it awaits."""
    folder, begun, go = with_ipykernel(spare.workspace / "true"), spare.workspace / "begun", spare.workspace / "go"
    text = f'#!/bin/sh\ntouch {begun}\nuntil [ -e {go} ]; do sleep 0.02; done\nexec {folder}/bin/python "$@"\n'
    script(spare.workspace / "slow", text)
    return folder, begun, go


def test_what_is_asked_of_a_session_waits_until_its_interpreter_is_known(spare: Running) -> None:
    client = spare.client()
    client.hello()
    folder, begun, go = slow(spare)
    client.start("first", WHERE, python_env="./slow")
    client.start("second", WHERE)
    client.start("third", WHERE, python_env="./other")
    client.until(begun.exists, PATIENCE, "the interpreter's start")
    go.touch()
    assert (
        client.finish("first").text() == client.finish("second").text() == client.finish("third").text() == str(folder)
    )
    assert "warning" not in outcome(client.output("second"))
    assert "runs in env './slow'" in str(outcome(client.output("third"))["warning"])


@pytest.mark.slow
def test_a_session_is_not_bound_for_who_has_gone(spare: Running) -> None:
    client = spare.client()
    client.hello()
    _, begun, go = slow(spare)
    client.start("gone", WHERE, python_env="./slow")
    client.until(begun.exists, PATIENCE, "the interpreter's start")
    client.start("stays", WHERE)
    assert client.ask("interrupt", execution_id="gone") == {"interrupted": ["gone"]}
    go.touch()
    assert client.finish("stays").text() == sys.prefix


@pytest.mark.slow
def test_an_interpreter_that_does_not_answer_is_given_up(hasty: Running) -> None:
    client = hasty.client()
    client.hello()
    hanging(hasty)
    ended = outcome(client.run("hangs", "1", python_env="./hangs"))
    assert ended["status"] == "env_error"
    assert "did not answer within 1 s" in str(ended["message"])


def test_closing_ends_what_waits(spare: Running) -> None:
    client = spare.client()
    client.hello()
    hanging(spare)
    client.start("hangs", "1", session="s", python_env="./hangs")
    assert client.ask("interrupt", session="s") == {"interrupted": []}
    assert client.ask("close", session="s") == {}
    assert "the session was closed" in str(outcome(client.finish("hangs"))["message"])


@pytest.mark.slow
@pytest.mark.parametrize("session", ["default", "s"])
def test_a_reset_ends_what_waits_for_its_interpreter(spare: Running, session: str) -> None:
    client = spare.client()
    client.hello()
    hanging(spare)
    client.start("hangs", "1", session=session, python_env="./hangs")
    assert client.ask("reset", session=session)["state"] == ("idle" if session == "default" else "unused")
    assert "the session was reset" in str(outcome(client.finish("hangs"))["message"])


def test_the_line_of_those_that_wait_for_an_interpreter_moves_on(spare: Running) -> None:
    client = spare.client()
    client.hello()
    hanging(spare)
    for name in ("first", "second", "third"):
        client.start(name, "1", session="s", python_env="./hangs")
    client.ask("interrupt", execution_id="second")
    # Asked for again, an execution tells where it is.
    assert client.start("third", "1", session="s", python_env="./hangs")["position"] == 1


@pytest.mark.slow
def test_sessions_that_begin_count(spare: Running) -> None:
    client = spare.client()
    client.hello()
    hanging(spare)
    for number in range(7):
        client.start(f"e{number}", "1", session=f"s{number}", python_env="./hangs")
    with pytest.raises(Refused, match="8 sessions exist already"):
        client.start("ninth", "1", session="ninth", python_env="./hangs")
    places = [client.start(f"w{number}", "1", session="s0", python_env="./hangs") for number in range(7)]
    assert [place["position"] for place in places] == list(range(1, 8))
    with pytest.raises(Refused, match="8 executions wait for session 's0'"):
        client.start("too-many", "1", session="s0", python_env="./hangs")
