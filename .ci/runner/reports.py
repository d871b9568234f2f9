"""What a step's runners report: JUnit's XML (Surefire, Failsafe, pytest), Go's `-v`, the counts of scripts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

GO = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+) \(([0-9.]+)s\)", re.MULTILINE)
COUNTED = re.compile(r"^(?:\D*: )?(\d+) (?:checks )?passed, (\d+) failed(?:, (\d+) skipped)?", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """One test: its class or module, its name, `passed`, `failed` or `skipped`, and what it printed if it failed."""

    group: str
    name: str
    seconds: float
    outcome: str
    output: str = ""


@dataclass(frozen=True)
class Report:
    """The tests of a step; `passed`, `failed` and `skipped` count those of scripts, which have no names.

    `seconds` is what each class or module took, by its short name, preparation included where the runner says so.
    """

    cases: list[Case] = field(default_factory=list)
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def count(self, outcome: str) -> int:
        """Return how many tests passed, failed or were skipped."""
        counted: int = getattr(self, outcome)
        return counted + sum(case.outcome == outcome for case in self.cases)

    @property
    def total(self) -> int:
        """How many tests there were."""
        return self.count("passed") + self.count("failed") + self.count("skipped")

    @property
    def failures(self) -> list[Case]:
        """The tests that failed and have names."""
        return [case for case in self.cases if case.outcome == "failed"]


def joined(reports: Iterable[Report]) -> Report:
    """Return the tests of several steps as one report."""
    listed = list(reports)
    return Report(
        [case for one in listed for case in one.cases],
        sum(one.passed for one in listed),
        sum(one.failed for one in listed),
        sum(one.skipped for one in listed),
        {name: took for one in listed for name, took in one.seconds.items()},
    )


def of_junit(files: Iterable[Path]) -> Report:
    """Read XML files; one that a killed runner left half-written counts as one failure, which names it."""
    cases: list[Case] = []
    seconds: dict[str, float] = {}
    for path in files:
        try:
            root = ElementTree.parse(path).getroot()  # noqa: S314 - our own runners wrote it
        except ElementTree.ParseError as error:
            cases.append(Case(path.name, "report", 0.0, "failed", f"{path} is no XML: {error}"))
            continue
        listed = [_case(element) for element in root.iter("testcase")]
        cases += listed
        # Surefire and Failsafe write a file for each class, with its whole time; pytest writes one for all modules.
        if root.tag == "testsuite":
            seconds[short(root.get("name") or path.name)] = _number(root.get("time"))
            continue
        for case in listed:
            seconds[short(case.group)] = seconds.get(short(case.group), 0.0) + case.seconds
    return Report(cases, seconds=seconds)


def short(name: str) -> str:
    """Return the name of a class or module without its package."""
    return name.rsplit(".", 1)[-1]


def _number(text: str | None) -> float:
    return float((text or "0").replace(",", ""))


def _case(element: ElementTree.Element) -> Case:
    outcome, output = "passed", ""
    for kind in ("failure", "error"):
        for found in element.iter(kind):
            outcome = "failed"
            output = (found.text or found.get("message") or "").strip()
    if outcome == "passed" and element.find("skipped") is not None:
        outcome = "skipped"
    if outcome == "failed":
        printed = "\n".join((element.findtext(kind) or "").strip() for kind in ("system-out", "system-err")).strip()
        output = "\n".join(filter(None, (output, printed)))
    return Case(
        element.get("classname") or "", element.get("name") or "", _number(element.get("time")), outcome, output
    )


def of_log(text: str) -> Report:
    """Read what a script or `go test -v` printed."""
    outcomes = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
    cases = [Case("go", name, float(seconds), outcomes[word]) for word, name, seconds in GO.findall(text)]
    counts = [tuple(int(number or 0) for number in match) for match in COUNTED.findall(text)]
    return Report(cases, *(sum(column) for column in zip(*counts, strict=True))) if counts else Report(cases)
