"""What a newcomer reads: the help of all commands, and what is told of options that do nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from sandglass.command_line.app import app
from tests.bridges import Gateway
from tests.commands import Run
from tests.endpoint import Endpoint, ran
from tests.test_library import BEGUN, STARTED, STOPPED


def commands(found: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All commands below one, by what is typed for them."""
    for each in getattr(found, "commands", {}).values():
        yield f"{name} {each.name}".strip(), each
        yield from commands(each, f"{name} {each.name}".strip())


COMMANDS = dict(commands(get_command(app)))


@pytest.mark.parametrize("group", ["", "context", "keys"])
def test_no_summary_is_cut(run: Run, group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = run(*group.split(), "--help").out.partition("Commands:")[2]
    assert listed.strip()
    assert "..." not in listed


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_and_each_of_its_options_says_what_it_is_for(name: str) -> None:
    found = COMMANDS[name]
    assert found.help
    for option in found.params:
        assert getattr(option, "hidden", False) or getattr(option, "help", ""), option.name


def test_options_behind_the_program_are_its_own(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools |= {
        "sandbox_start": lambda _: STARTED,
        "sandbox_stop": lambda _: STOPPED,
        "sandbox_run_command": lambda _: BEGUN,
        "sandbox_get_execution": lambda _: ran("ok", exit_code=0),
    }
    for typed in (["ls", "-l", "-s", "x"], ["--", "ls", "-l", "-s", "x"]):
        assert run("exec", "-s", "box", *typed).code == 0
    sent = endpoint.calls("sandbox_run_command")
    assert [(each["sandbox"], each["command"], each["args"]) for each in sent] == [("box", "ls", ["-l", "-s", "x"])] * 2


def test_options_of_a_sandbox_of_its_own_are_told_where_the_bridge_has_none(gateway: Gateway, bridges: Any) -> None:
    _, _, errors = bridges("--name", "mine", "--memory", "1Gi", "--env-var", "A=1").end()
    assert errors == (
        "sandglass: --name, --memory, --env-var: without effect with the contract sandglass, whose agents start "
        "sandboxes themselves\n"
    )
    assert gateway.endpoint.received == []
