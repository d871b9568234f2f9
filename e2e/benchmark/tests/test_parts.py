"""A run of stand-in parts: what it prints, and what its file has when a part fails or the run ends early."""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmark import parts, report
from benchmark.cold_start import Failed
from benchmark.parts import Part

OPTIONS = argparse.Namespace(rounds=20, calls=300)
TIMES = {"p50": 110.0, "p90": 120.0, "p99": 130.0}
PROCESS = {"gateway": {"rss_mib": 200, "pss_mib": 190}}

RESETS = Part("resets", "reset: {rounds} in a row", 1, lambda _: TIMES)
MEMORY = Part("memory", "memory of idle processes", 2, lambda _: PROCESS, local=True)


def failing(problem: BaseException) -> Part:
    def measure(_: argparse.Namespace) -> Any:
        raise problem

    return Part("scale", "many sandboxes", 12, measure)


def figures(file: Path) -> dict[str, Any]:
    found = json.loads(file.read_text())
    assert found.pop("at")
    assert found.pop("cpus")
    return dict(found)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "build" / "bench.json"


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(143)])
def test_a_run_that_ends_in_a_part_leaves_the_figures_of_all_parts_before(file: Path, end: BaseException) -> None:
    with pytest.raises(type(end)):
        parts.run([RESETS, MEMORY, failing(end), RESETS], OPTIONS, file, external=False)
    assert figures(file) == {"resets": TIMES, "memory": PROCESS}
    assert [path.name for path in file.parent.iterdir()] == ["bench.json"]


def test_the_file_has_a_part_before_the_next_begins(file: Path) -> None:
    seen: list[dict[str, Any]] = []
    next_part = Part("endings", "bad ends", 1, lambda _: seen.append(figures(file)))
    parts.run([RESETS, next_part], OPTIONS, file, external=False)
    assert seen == [{"resets": TIMES}]


def test_a_part_that_fails_is_reported_and_the_others_are_measured(file: Path) -> None:
    result, failures = parts.run([failing(Failed("no node")), MEMORY], OPTIONS, file, external=False)
    assert failures == ["scale was not measured: no node"]
    assert result["memory"] == PROCESS
    assert figures(file) == {"memory": PROCESS}


def test_a_run_without_figures_replaces_the_file_of_an_earlier_run(file: Path) -> None:
    parts.run([RESETS], OPTIONS, file, external=False)
    parts.run([failing(Failed("no node"))], OPTIONS, file, external=False)
    assert figures(file) == {}


def test_another_cluster_skips_local_parts_and_says_so(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts.run([MEMORY, RESETS], OPTIONS, file, external=True)
    assert "==> memory: skipped, it needs the cluster of make up" in capsys.readouterr().out
    assert figures(file) == {"resets": TIMES}


def test_a_part_prints_its_minutes_before_and_its_figures_after(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before: list[str] = []

    def measure(_: argparse.Namespace) -> dict[str, float]:
        before.append(capsys.readouterr().out)
        return TIMES

    parts.run([RESETS._replace(measure=measure)], OPTIONS, file, external=False)
    assert before == ["==> resets: reset: 20 in a row; about 1 min\n"]
    after = capsys.readouterr().out
    assert "110.0     120.0     130.0 ms" in after
    assert f"took 0.0 min; the figures so far are in {file}" in after


def test_the_list_of_parts_has_their_minutes_and_the_sum() -> None:
    assert parts.listing([RESETS, MEMORY], OPTIONS).splitlines() == [
        "parts, about 3 min in all:",
        "  resets         reset: 20 in a row; about 1 min",
        "  memory         memory of idle processes; about 2 min",
    ]


def test_the_help_of_bench_has_the_minutes_of_each_part() -> None:
    bench = Path(__file__).parents[2] / "bench"
    printed = subprocess.run([sys.executable, bench, "--help"], capture_output=True, text=True, check=True).stdout
    listed = printed.split("min in all:\n")[1].splitlines()
    assert any(line.startswith("  links ") for line in listed)
    assert all(line.endswith(" min") for line in listed)


def test_figures_without_times_have_no_table() -> None:
    assert "p50" in report.text({"resets": TIMES})
    assert "p50" not in report.text({"memory": PROCESS})
