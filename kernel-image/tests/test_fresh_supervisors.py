"""A supervisor that comes after another one: the first execution of each session hears what was lost before it."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from client import PATIENCE, Output, Refused
from supervisors import Running


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start one with settings of its own."""
    started: list[Running] = []

    def make(**more: Any) -> Running:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(Running(folder, **more))
        return started[-1]

    yield make
    for running in started:
        running.stop()


def heard(output: Output) -> tuple[bool, str]:
    """Whether it is said that variables were lost, and in which words."""
    assert output.outcome is not None
    return output.outcome["kernel_restarted"], output.outcome.get("warning") or ""


@pytest.mark.slow
def test_a_restart_of_the_container_is_told_to_each_session_once(start: Callable[..., Running]) -> None:
    with tempfile.TemporaryDirectory(prefix="sg-run-") as folder:
        before = start(SANDGLASS_RUNTIME_DIR=folder)
        assert heard(before.ready().run("first", "x = 1")) == (False, "")
        before.stop()

        client = start(SANDGLASS_RUNTIME_DIR=folder).client()
        restarted, words = heard(client.run("default", "1"))
        assert restarted
        assert words.startswith("Before this run, the sandbox's container was restarted.")
        assert heard(client.run("again", "1")) == (False, "")
        assert heard(client.run("other", "1", session="other"))[0]
        client.ask("close", session="other")
        assert heard(client.run("anew", "1", session="other")) == (False, "")


def test_who_comes_after_a_restart_does_not_say_that_something_never_came(start: Callable[..., Running]) -> None:
    with tempfile.TemporaryDirectory(prefix="sg-run-") as folder:
        before = start(SANDGLASS_RUNTIME_DIR=folder)
        with pytest.raises(Refused, match="execution_never_came"):
            before.client().ask("attach", execution_id="first", offset=0)
        before.ready().run("first", "x = 1")
        before.stop()

        with pytest.raises(Refused, match="unknown_execution"):
            start(SANDGLASS_RUNTIME_DIR=folder).client().ask("attach", execution_id="first", offset=0)


@pytest.mark.slow
def test_a_pod_that_replaced_another_says_why(start: Callable[..., Running]) -> None:
    client = start(SANDGLASS_REPLACED="Evicted").client()
    restarted, words = heard(client.run("first", "1"))
    assert restarted
    assert words.startswith("Before this run, the sandbox's pod was replaced (Evicted).")
    assert "outside a persistent workspace" in words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("Idle", "because nobody used it"),
        ("MaxLifetime", "because it reached its maximum lifetime"),
        ("Requested", "on request"),
    ],
)
def test_a_pod_that_resumes_a_sandbox_tells_each_session_once(
    start: Callable[..., Running], reason: str, why: str
) -> None:
    client = start(SANDGLASS_REPLACED=reason).client()
    for session in ("default", "other"):
        restarted, words = heard(client.run(f"first-{session}", "1", session=session))
        assert restarted
        assert words.startswith(f"Before this run, the sandbox was suspended {why}, and was resumed: variables")
        assert heard(client.run(f"next-{session}", "1", session=session)) == (False, "")


@pytest.mark.slow
def test_a_pod_that_replaced_another_for_no_known_reason(start: Callable[..., Running]) -> None:
    words = heard(start(SANDGLASS_REPLACED="").client().run("first", "1"))[1]
    assert words.startswith("Before this run, the sandbox's pod was replaced. ")


@pytest.mark.slow
def test_a_reset_before_the_first_execution_leaves_nothing_to_tell(start: Callable[..., Running]) -> None:
    client = start(SANDGLASS_REPLACED="Evicted").client()
    client.ask("reset")
    assert heard(client.run("first", "1")) == (False, "")


@pytest.mark.slow
def test_no_more_sessions_hear_of_it_than_are_counted(start: Callable[..., Running]) -> None:
    client = start(SANDGLASS_REPLACED="Evicted", limits={"TOLD_SESSIONS": 2}).client()
    assert [heard(client.run(name, "1", session=name))[0] for name in ("default", "a", "b")] == [True, True, False]


@pytest.mark.slow
def test_a_session_that_is_bound_to_another_python_hears_of_it_too(start: Callable[..., Running]) -> None:
    client = start(SANDGLASS_REPLACED="Evicted").client()
    client.hello()
    client.until(
        lambda: any(event["event"] == "ready" for _, _, event in client.events), PATIENCE, "the default kernel"
    )
    output = client.run("first", "1", python_env=sys.prefix)
    assert output.text("result") == "1"
    assert heard(output)[0]
