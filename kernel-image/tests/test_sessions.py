"""Sessions: each a kernel of its own, made on first use, reset and closed by verbs."""

import tempfile
from pathlib import Path

import pytest
from client import PATIENCE, Client, Output, Refused
from supervisors import Running


def result(output: Output) -> bytes:
    return output.only("result").blob


def sessions(client: Client) -> dict[str, str]:
    return {kernel["session"]: kernel["state"] for kernel in client.ask("list")["kernels"]}


def test_each_has_its_own_variables_and_shares_the_files(spare: Running) -> None:
    client = spare.ready()
    client.run("a1", "x = 1; _ = open('shared', 'w').write('seen')", session="a")
    client.run("b1", "x = 2", session="b")
    assert result(client.run("a2", "x", session="a")) == b"1"
    assert result(client.run("b2", "x, open('shared').read()", session="b")) == b"(2, 'seen')"
    assert client.run("d1", "x").outcome["status"] == "error"  # type: ignore[index] # it has ended
    assert sessions(client) == {"default": "idle", "a": "idle", "b": "idle"}


def test_they_run_side_by_side(spare: Running) -> None:
    client = spare.ready()
    client.start("slow", "import time; time.sleep(60)", session="a")
    assert result(client.run("quick", "1 + 1", session="b")) == b"2"
    assert client.output("slow").outcome is None


@pytest.mark.slow
def test_reset_keeps_files_and_loses_variables(spare: Running) -> None:
    client = spare.ready()
    client.run("before", "x = 1; _ = open('kept', 'w').write('kept')")
    assert client.ask("reset") == {"state": "idle"}
    assert client.run("gone", "x").outcome["status"] == "error"  # type: ignore[index]
    assert result(client.run("kept", "open('kept').read()")) == b"'kept'"


@pytest.mark.slow
def test_reset_ends_what_runs_and_what_waits(spare: Running) -> None:
    client = spare.ready()
    client.start("runs", "print('on', flush=True)\nwhile True: pass")
    client.start("waits", "print('never')")
    client.until(lambda: client.output("runs").text() == "on\n", PATIENCE, "output")
    assert client.ask("reset") == {"state": "idle"}
    runs, waits = client.finish("runs").outcome, client.finish("waits").outcome
    assert runs is not None
    assert waits is not None
    assert (runs["status"], runs["kernel_restarted"]) == ("interrupted", True)
    assert "reset by a caller" in runs["message"]
    assert (waits["status"], client.output("waits").text()) == ("kernel_died", "")
    assert "the session was reset" in waits["message"]
    assert result(client.run("after", "1 + 1")) == b"2"


@pytest.mark.slow
@pytest.mark.parametrize("code", ["pass", "print('on', flush=True)\nwhile True: pass"])
def test_what_is_asked_after_a_reset_is_for_the_fresh_kernel(spare: Running, code: str) -> None:
    client = spare.ready()
    client.start("before", f"x = 1\n{code}")
    client.until(
        lambda: client.output("before").text() == "on\n" or client.output("before").outcome, PATIENCE, "output"
    )
    client.start("waits", "2")
    client.until(lambda: code != "pass" or client.output("waits").outcome, PATIENCE, "its end")
    reset = client.send("reset")
    after = client.send("execute", b"'x' in globals()", execution_id="after", attach=True)
    assert (client.reply_to(after)["state"], client.reply_to(reset)) == ("queued", {"state": "idle"})
    assert result(client.finish("after")) == b"False"


@pytest.mark.slow
def test_two_resets_at_once_are_both_answered(spare: Running) -> None:
    client = spare.ready()
    other = spare.client()
    other.hello()
    other.socket.send_multipart([b"V", b"first", b'{"verb":"reset"}'])
    assert client.ask("reset") == {"state": "idle"}
    assert other.reply_to(b"first") == {"state": "idle"}


@pytest.mark.slow
def test_close_forgets(spare: Running) -> None:
    client = spare.ready()
    client.start("runs", "import time; print('on', flush=True); time.sleep(60)", session="a")
    client.until(lambda: client.output("runs").text() == "on\n", PATIENCE, "output")
    assert client.ask("close", session="a") == {}
    assert sessions(client) == {"default": "idle"}
    ended = client.finish("runs").outcome
    assert ended is not None
    assert ended["status"] == "interrupted"
    assert "closed by a caller" in ended["message"]
    assert client.run("anew", "x", session="a").outcome["status"] == "error"  # type: ignore[index]


@pytest.mark.slow
def test_a_name_may_be_as_long_as_it_may_wherever_the_sockets_are(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="sg-run-") as folder:
        longest = f"{folder}/".ljust(80, "x")
        running = Running(tmp_path, SANDGLASS_RUNTIME_DIR=longest)
        try:
            client = running.ready()
            assert result(client.run("long", "1 + 1", session="s" * 63)) == b"2"
        finally:
            running.stop()


@pytest.mark.slow
def test_closing_makes_room(tmp_path: Path) -> None:
    # That there may be 8 is tested in test_python_env, with interpreters that cost less than kernels.
    running = Running(tmp_path, limits={"KERNELS": 3})
    try:
        client = running.ready()
        for number in range(2):
            client.run(f"e{number}", "1", session=f"s{number}")
        with pytest.raises(Refused, match="3 sessions exist already"):
            client.start("fourth", "1", session="one-too-many")
        client.ask("close", session="s1")
        assert result(client.run("fits", "1 + 1", session="one-too-many")) == b"2"
    finally:
        running.stop()


@pytest.mark.slow
def test_the_limit_is_a_setting(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_MAX_SESSIONS="1")
    try:
        client = running.ready()
        with pytest.raises(Refused, match=r"sessions_full: 1 sessions exist already"):
            client.start("second", "1", session="second")
        client.ask("close")
        assert result(client.run("fits", "1 + 1", session="second")) == b"2"
    finally:
        running.stop()


def fresh(client: Client, name: str, code: str = "import os; os.getpid()") -> str:
    return result(client.run(name, code, session=name, fresh=True)).decode()


@pytest.mark.slow
def test_who_wants_a_fresh_kernel_gets_the_one_that_waits(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_MAX_SESSIONS="3")
    try:
        client = running.client()
        # As soon as there is one: it may still be starting.
        assert [kernel["session"] for kernel in client.hello()["kernels"]] == ["default"]
        one = fresh(client, "one")
        assert sessions(client) == {"one": "idle"}
        two = fresh(client, "two")
        with pytest.raises(Refused, match="sessions_full"):
            fresh(client, "three")
        client.ask("close", session="one")
        # Another waits in its place, for the next one or for the default session.
        client.until(lambda: sessions(client) == {"two": "idle", "default": "idle"}, PATIENCE, "the next kernel")
        three = fresh(client, "three", "x = 1; import os; os.getpid()")
        assert sessions(client) == {"two": "idle", "three": "idle"}
        assert len({one, two, three}) == 3
        client.ask("close", session="two")
        assert result(client.run("default", "'x' in globals()")) == b"False"
        # It is used from now on.
        client.ask("close", session="three")
        assert fresh(client, "four", "'x' in globals()") == "False"
        assert sessions(client) == {"default": "idle", "four": "idle"}
        names = [event[0] for event in client.events if event[2]["event"] == "taken"]
        assert names == ["python/default"] * 2
    finally:
        running.stop()


@pytest.mark.slow
def test_the_default_session_keeps_its_place_while_its_kernel_is_lent(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_MAX_SESSIONS="2")
    try:
        client = running.client()
        client.hello()
        fresh(client, "one")
        for name, session in (("two", {"fresh": True}), ("three", {})):
            with pytest.raises(Refused, match="sessions_full"):
                client.start(name, "1", session=name, **session)
        assert result(client.run("default", "1 + 1")) == b"2"
        assert sessions(client) == {"one": "idle", "default": "idle"}
        # It has a kernel by now, and gets no second one.
        client.ask("close")
        client.ask("close", session="one")
        assert sessions(client) == {}
    finally:
        running.stop()


@pytest.mark.slow
def test_the_only_place_is_lent(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_MAX_SESSIONS="1")
    try:
        client = running.client()
        client.hello()
        fresh(client, "one")
        assert sessions(client) == {"one": "idle"}
        client.ask("close", session="one")
        client.until(lambda: sessions(client) == {"default": "idle"}, PATIENCE, "the next kernel")
    finally:
        running.stop()


@pytest.mark.slow
def test_what_is_refused_takes_no_kernel(tmp_path: Path) -> None:
    running = Running(tmp_path)
    try:
        client = running.client()
        client.hello()
        # It is still starting, and this one does not wait.
        with pytest.raises(Refused, match="is starting"):
            client.start("one", "1", session="one", fresh=True, wait_kernel=False)
        assert list(sessions(client)) == ["default"]
    finally:
        running.stop()


@pytest.mark.slow
def test_what_was_lost_is_told_to_sessions_that_stay(tmp_path: Path) -> None:
    running = Running(tmp_path, SANDGLASS_REPLACED="Evicted")
    try:
        client = running.client()
        client.hello()
        for name in ("one", "two"):  # the first is lent the default session's kernel, the second starts its own
            outcome = client.run(name, "1", session=name, fresh=True).outcome or {}
            assert (outcome["kernel_restarted"], outcome.get("warning")) == (False, None)
        for name in ("one", "two"):
            client.ask("close", session=name)
        for name in ("default", "two"):
            outcome = client.run(f"kept-{name}", "1", session=name).outcome or {}
            assert outcome["kernel_restarted"]
            assert "Evicted" in outcome["warning"]
    finally:
        running.stop()


@pytest.mark.slow
def test_a_fresh_kernel_that_its_caller_forgot_is_closed(tmp_path: Path) -> None:
    running = Running(tmp_path, limits={"FRESH_GRACE_S": 0.2})
    try:
        client = running.client()
        client.hello()
        fresh(client, "one")
        client.until(lambda: sessions(client) == {"default": "idle"}, PATIENCE, "the next kernel")
    finally:
        running.stop()


@pytest.mark.slow
def test_a_default_session_that_was_closed_stays_closed(spare: Running) -> None:
    client = spare.ready()
    client.ask("close")
    fresh(client, "one")
    client.ask("close", session="one")
    assert sessions(client) == {}


@pytest.mark.slow
def test_a_label_is_kept_and_told(spare: Running) -> None:
    client = spare.ready()
    client.run("named", "1", session="u-x", label="any text: \u00e9, \U0001f642")
    client.run("again", "1", session="u-x")
    client.ask("reset", session="u-x")
    told = {kernel["session"]: kernel.get("label") for kernel in client.ask("list")["kernels"]}
    assert told == {"default": None, "u-x": "any text: \u00e9, \U0001f642"}
    for wrong in ("", "x" * 1001, 7):
        with pytest.raises(Refused, match=r"label: must"):
            client.start("wrong", "1", session="u-x", label=wrong)


def test_a_session_that_was_never_used(spare: Running) -> None:
    client = spare.ready()
    assert client.ask("reset", session="nobody") == {"state": "unused"}
    assert client.ask("interrupt", session="nobody") == {"interrupted": [], "state": "unused"}
    assert client.ask("close", session="nobody") == {"state": "unused"}
    assert client.ask("interrupt") == {"interrupted": []}
    assert sessions(client) == {"default": "idle"}


@pytest.mark.parametrize("verb", ["reset", "close"])
def test_bad_names_are_refused(client: Client, verb: str) -> None:
    with pytest.raises(Refused, match="session: must be"):
        client.ask(verb, session="no/path")
    with pytest.raises(Refused, match="language: must be"):
        client.ask(verb, language="cobol")
