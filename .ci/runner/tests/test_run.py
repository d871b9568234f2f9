"""A run of steps: what is red, what is shaky, what ends it."""

import importlib.machinery
import importlib.util
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from runner import steps
from runner.reports import Case, Report
from runner.steps import Step


def load() -> ModuleType:
    """Load `.ci/tests`, a script without an ending."""
    path = Path(__file__).resolve().parents[2] / "tests"
    loader = importlib.machinery.SourceFileLoader("ci_tests", str(path))
    spec = importlib.util.spec_from_loader("ci_tests", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules["ci_tests"] = module
    loader.exec_module(module)
    return module


TESTS = load()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a run whose logs stand in a folder of this test."""
    monkeypatch.setattr(steps, "LOGS", tmp_path)
    monkeypatch.setattr("runner.show.ROOT", tmp_path)
    return TESTS.Run()


def step(command: str) -> Step:
    """Return a step of a shell command."""
    return Step("one", "one step", ("/bin/sh", "-c", command))


def test_what_fails_and_then_passes_is_shaky_and_the_run_green(run: Any, tmp_path: Path, capfd: Any) -> None:
    run.step(step(f"echo 3 passed, 0 failed; mkdir {tmp_path}/made && exit 1 || exit 0"), second_try=True)
    assert run.end() == 0
    last = capfd.readouterr().out.splitlines()[-2:]
    assert last == [
        "SHAKY: one step failed, and passed when it ran alone; mend it next",
        "3 passed, 0 failed, 0 skipped",
    ]


def test_what_fails_twice_is_red(run: Any, capfd: Any) -> None:
    run.step(step("echo 2 passed, 1 failed; exit 1"), second_try=True)
    assert run.end() == 1
    assert capfd.readouterr().out.splitlines()[-1] == "2 passed, 1 failed, 0 skipped"


def test_what_every_change_must_pass_has_no_second_try(run: Any, tmp_path: Path) -> None:
    run.step(step(f"mkdir {tmp_path}/made && exit 1 || exit 0"))
    assert run.end() == 1


def test_a_step_that_is_not_done_at_the_deadline_is_ended_with_all_it_started(run: Any, tmp_path: Path) -> None:
    run.deadline = time.monotonic() + 0.3
    run.run([step(f"sleep 600 & echo $! >{tmp_path}/pid; wait"), step(f"touch {tmp_path}/begun")])
    child = int((tmp_path / "pid").read_text())
    ended = time.monotonic() + 10
    while Path(f"/proc/{child}/stat").exists() and " Z " not in Path(f"/proc/{child}/stat").read_text():
        assert time.monotonic() < ended
        time.sleep(0.01)
    assert not (tmp_path / "begun").exists()
    assert run.failed == ["one step", "one step"]


def test_a_failed_test_is_named_again_by_its_class() -> None:
    made = steps.integration(["AIT"])
    assert [one.name for one in steps.again(made, [Case("x.AIT", "m", 1, "failed")])] == ["integration-again-AIT"]


def test_a_class_of_which_no_test_ran_is_red_also_the_second_time(run: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    empty = Step("integration", "one", ("/bin/true",), ("*.xml",), names=("AIT",))
    monkeypatch.setattr(steps, "integration", lambda names: empty)
    run.step(empty, second_try=True)
    assert run.end() == 1


def test_a_step_whose_classes_all_ran_is_complete() -> None:
    made = steps.slow_modules("cli", ["cli/tests/copies/test_a.py"])
    assert made.complete(Report(seconds={"test_a": 0.1})).failures == []
    assert [case.group for case in made.complete(Report()).failures] == ["tests.copies.test_a"]
