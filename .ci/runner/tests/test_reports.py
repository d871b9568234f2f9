"""What runners report is read and counted."""

from pathlib import Path

from runner import reports, show, steps
from runner.reports import Case, Report
from runner.steps import Step

XML = """<testsuite name="a.ATest" time="1,234.5"><testcase classname="a.ATest" name="passes" time="1,001.5"/>
<testcase classname="a.ATest" name="fails" time="0.1"><failure message="m">expected 1</failure>
<system-out>own é</system-out></testcase>
<testcase classname="a.ATest" name="breaks" time="0"><error message="boom"/></testcase>
<testcase classname="a.ATest" name="waits" time="0"><skipped/></testcase></testsuite>"""


def test_junit_xml_gives_outcomes_seconds_and_output(tmp_path: Path) -> None:
    (tmp_path / "TEST-a.xml").write_text(XML)
    report = reports.of_junit([tmp_path / "TEST-a.xml"])
    assert [case.outcome for case in report.cases] == ["passed", "failed", "failed", "skipped"]
    assert report.cases[0].seconds == 1001.5
    assert [case.output for case in report.failures] == ["expected 1\nown é", "boom"]
    assert report.seconds == {"ATest": 1234.5}


def test_seconds_of_modules_that_share_a_file_are_added_up(tmp_path: Path) -> None:
    (tmp_path / "all.xml").write_text(
        "<testsuites><testsuite name='pytest' time='9'><testcase classname='tests.test_a' name='x' time='1'/>"
        "<testcase classname='tests.test_a' name='y' time='2'/></testsuite></testsuites>"
    )
    assert reports.of_junit([tmp_path / "all.xml"]).seconds == {"test_a": 3.0}


def test_xml_that_was_cut_counts_as_a_failure(tmp_path: Path) -> None:
    (tmp_path / "TEST-a.xml").write_text(XML[:60])
    assert reports.of_junit([tmp_path / "TEST-a.xml"]).count("failed") == 1


def test_logs_of_go_and_of_scripts_are_counted() -> None:
    go = reports.of_log("=== RUN TestA\n--- PASS: TestA (0.50s)\n    --- FAIL: TestA/b (0.00s)\nok  x 1s\n")
    assert (go.count("passed"), go.count("failed")) == (1, 1)
    script = reports.of_log(
        "ok x\n38 checks passed, 0 failed, in 185 s\n3 passed, 1 failed\n7 passed, 0 failed: README commands\n"
    )
    assert (script.passed, script.failed) == (48, 1)
    assert reports.of_log("Rule 0 passed\n").total == 0


def test_the_closing_line_counts_over_all_runners() -> None:
    whole = reports.joined(
        [Report([Case("a", "b", 1, "passed"), Case("a", "c", 1, "skipped")]), Report(passed=3, failed=1)]
    )
    assert show.count(whole) == "4 passed, 1 failed, 1 skipped"


def test_what_failed_runs_again_by_its_class() -> None:
    step = steps.end_to_end(["AE2E", "BE2E"])
    (again,) = steps.again(step, [Case("x.BE2E", "m", 1, "failed"), Case("x.BE2E", "n", 1, "failed")])
    assert again.command[-1] == "-Dit.test=BE2E"
    assert again.name == "e2e-again-BE2E"
    script = Step("chart", "chart", ("e2e/chart",))
    assert steps.again(script, [])[0].command == script.command
