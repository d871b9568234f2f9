"""`sandglass start` where the start comes to nothing: what is deleted, and what stays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.commands import Run
from tests.endpoint import Endpoint, Json, in_turn, result
from tests.test_library import STARTING, STOPPED, absent

BOX: Json = {"namespace": "default", "name": "box", "detail": None, "sessions": None, "executions": None}
FAILED = result(text="Error: Sandbox start failed: the image has no Python.", is_error=True)


@pytest.fixture(autouse=True)
def _tools(endpoint: Endpoint) -> None:
    endpoint.tools["sandbox_stop"] = lambda _: STOPPED


def states(*found: str | None) -> Any:
    """The answers of the list to which state the sandbox has, one after the other; None: there is none."""
    return in_turn(
        *(absent("box") if state is None else result({"sandboxes": [{**BOX, "state": state}]}) for state in found)
    )


def test_a_start_that_fails_later_deletes_the_sandbox_that_it_made(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools |= {"sandbox_start": in_turn(STARTING, FAILED), "sandbox_list": states(None, "starting")}
    done = run("start", "box")
    assert (done.code, done.out) == (1, "")
    told = "the image has no Python. The sandbox that this start made was deleted again.\n"
    assert done.err == f"sandglass: Sandbox start failed: {told}"
    assert endpoint.calls("sandbox_stop") == [{"sandbox": "box", "delete": True}]


@pytest.mark.parametrize(
    "found",
    [
        # It was there before, whatever it did.
        ["stopped"],
        ["starting"],
        ["running"],
        # Nothing was made, or it ran meanwhile.
        [None, None],
        [None, "running"],
        [None, "stopped"],
    ],
)
def test_a_start_that_fails_deletes_nothing_else(endpoint: Endpoint, run: Run, found: list[str | None]) -> None:
    endpoint.tools |= {"sandbox_start": in_turn(STARTING, FAILED), "sandbox_list": states(*found)}
    assert run("start", "box").err == "sandglass: Sandbox start failed: the image has no Python.\n"
    assert endpoint.calls("sandbox_stop") == []


def test_a_start_deletes_nothing_where_it_is_not_known_what_was_there(endpoint: Endpoint, run: Run) -> None:
    refused = result(text="Error: the API server does not answer", is_error=True)
    endpoint.tools |= {"sandbox_start": lambda _: FAILED, "sandbox_list": lambda _: refused}
    assert run("start", "box").code == 1
    assert endpoint.calls("sandbox_stop") == []


def test_a_start_that_goes_on_deletes_nothing(endpoint: Endpoint, run: Run) -> None:
    endpoint.tools |= {"sandbox_start": lambda _: STARTING, "sandbox_list": states(None, "starting")}
    assert run("start", "box").err.startswith("sandglass: Sandbox box was started, but")
    assert endpoint.calls("sandbox_stop") == []
