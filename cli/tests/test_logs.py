"""`sandglass logs`."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tests.commands import Run
from tests.endpoint import Endpoint, Json, Reply, ran, result
from tests.test_commands import BOX

KNOWN = [("default.u.3.c", "running", "code"), ("default.u.2.b", "done", "command"), ("default.u.1.a", "done", "code")]
PICTURE: Json = {"type": "image", "data": base64.b64encode(b"png").decode(), "mimeType": "image/png"}


@pytest.fixture(autouse=True)
def _box(endpoint: Endpoint) -> None:
    executions = [{"execution_id": name, "state": state, "kind": kind} for name, state, kind in KNOWN]
    box = {**BOX, "executions": executions}
    endpoint.tools["sandbox_list"] = lambda _: result({"sandboxes": [box], "truncated": False})
    endpoint.tools["sandbox_get_execution"] = execution


def execution(arguments: Json) -> Json | Reply:
    if arguments["execution_id"] == "default.u.3.c":
        if arguments["offset"]:
            return ran("ok", stdout="end\n", next_offset=9)
        return ran("running", stdout="so far\n", next_offset=7, message="It goes on.")
    if arguments["execution_id"] == "default.u.2.b":
        return ran("error", exit_code=7, stdout="\x1b]0;title\x07out\n", stderr="err\n", message="Exit code 7.")
    facts = ran("ok", stdout="printed\n", result="42", images=[{"mime_type": "image/png"}])
    return {**facts, "content": [PICTURE]}


def test_it_shows_what_the_newest_runs_printed_the_newest_last(endpoint: Endpoint, run: Run) -> None:
    done = run("logs", "box")
    assert done.code == 0
    assert done.out.splitlines() == [
        "==> default.u.1.a (code, done)",
        "printed",
        "42",
        "==> default.u.2.b (command, done)",
        "\x1b]0;title\x07out",
        "==> default.u.3.c (code, running)",
        "so far",
    ]
    assert "err\n" in done.err
    assert "1 picture: 'sandglass attach " in done.err
    assert list(Path().iterdir()) == []
    assert {call["wait"] for call in endpoint.calls("sandbox_get_execution")} == {0}
    assert endpoint.calls("sandbox_list") == [{"sandbox": "box"}]


def test_it_follows_what_runs_to_its_end(run: Run) -> None:
    done = run("logs", "box", "-f", "--last", "1")
    assert (done.code, done.out) == (0, "so far\nend\n")


def test_it_answers_with_json(run: Run) -> None:
    found = json.loads(run("logs", "box", "-o", "json", "--last", "2").out)
    assert [(each["status"], each["stdout"]) for each in found] == [
        ("error", "\x1b]0;title\x07out\n"),
        ("running", "so far\n"),
    ]


def test_a_run_that_was_forgotten_hides_no_other(endpoint: Endpoint, run: Run) -> None:
    gone = result(text="Error: execution 'default.u.2.b' is not known", is_error=True)
    endpoint.tools["sandbox_get_execution"] = lambda asked: (
        gone if asked["execution_id"] == "default.u.2.b" else execution(asked)
    )
    done = run("logs", "box")
    assert (done.code, "so far\n" in done.out) == (0, True)
    assert "execution 'default.u.2.b' is not known" in done.err


def test_output_of_many_pages_is_shown_whole(endpoint: Endpoint, run: Run) -> None:
    pages = {
        0: ran("running", stdout="one ", next_offset=4, truncated=True),
        4: ran("running", stdout="two ", next_offset=8, truncated=True),
        8: ran("running", stdout="three\n", next_offset=14),
    }
    endpoint.tools["sandbox_get_execution"] = lambda asked: pages[asked["offset"]]
    assert run("logs", "box", "--last", "1").out == "one two three\n"


def test_the_number_of_runs_has_bounds(endpoint: Endpoint, run: Run) -> None:
    assert [run("logs", "box", "--last", count).code for count in ("0", "65", "x")] == [2, 2, 2]
    assert run("logs", "box", "--last", "64").code == 0
    endpoint.tools["sandbox_list"] = lambda _: result({"sandboxes": [{**BOX, "executions": None}], "truncated": False})
    done = run("logs", "box")
    assert (done.code, done.out) == (0, "")
    assert "nothing ran in box, or it does not run" in done.err
