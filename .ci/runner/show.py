"""What a run prints: a line for each step, a failing test with its own output, at the end the slowest and the count."""

import sys
from collections.abc import Sequence

from runner.reports import Case, Report
from runner.steps import ROOT, Step, alone

SLOWEST = 10
# Lines of a test's own output, and of a log that names no test.
OUTPUT_LINES, LOG_LINES = 60, 40
LINE_CHARACTERS = 400


def line(step: Step, seconds: float, report: Report, passed: bool) -> str:
    """Return the line of a step that ended."""
    tests = f"{report.total} tests" if report.total else ""
    return f"{'ok    ' if passed else 'FAILED'} {seconds:6.0f} s {tests:>12}  {step.title}"


def failure(step: Step, report: Report) -> str:
    """Return of a step that failed: its tests with their output, the log, the command that runs each alone."""
    parts = []
    for case in report.failures:
        parts += [f"  {case.group} {case.name}", *_indented(case.output.splitlines()[:OUTPUT_LINES])]
        parts.append(f"    alone: {alone(step, case)}")
    if not report.failures:
        text = step.log.read_text(encoding="utf-8", errors="replace").splitlines()
        parts += _indented(text[-LOG_LINES:])
        parts.append(f"    alone: {' '.join(step.command)}")
    return "\n".join([*parts, f"    log: {step.log.relative_to(ROOT)}"])


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {one[:LINE_CHARACTERS]}" for one in lines]


def slowest(cases: Sequence[Case]) -> list[str]:
    """Return the lines of the slowest tests."""
    ordered = sorted(cases, key=lambda case: case.seconds, reverse=True)[:SLOWEST]
    return [f"{case.seconds:8.1f} s  {case.group.rsplit('.', 1)[-1]} {case.name}" for case in ordered]


def count(report: Report) -> str:
    """Return the closing line, which has a form that CI reads."""
    return f"{report.count('passed')} passed, {report.count('failed')} failed, {report.count('skipped')} skipped"


def progress(text: str) -> None:
    """Show what runs, on a terminal alone."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{text[:120]}", end="", flush=True)
