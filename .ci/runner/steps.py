"""The steps of each tier: which command, which log, where its runners report."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner import reports
from runner.tiers import Entry

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "logs"
# Those start from images that only e2e/own-images brings into the node.
OF_OWN_IMAGES = {"CausesE2E", "ExamplesE2E", "ForgedImageFaultE2E", "OwnImagesE2E", "TextFuzzE2E"}
ONLY_NAMED = ("-Dsurefire.failIfNoSpecifiedTests=false", "-Dfailsafe.failIfNoSpecifiedTests=false")


@dataclass(frozen=True)
class Step:
    """A command that one line of the output stands for.

    `junit` holds the patterns, from the root, of XML that its runners write. Without any, its log is read for counts.
    `on_cluster` steps get the variables of build/endpoint.env. `names` are the entries of the tiers that it runs.
    """

    name: str
    title: str
    command: tuple[str, ...]
    junit: tuple[str, ...] = ()
    on_cluster: bool = False
    env: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    @property
    def log(self) -> Path:
        """Where all that it prints goes."""
        return LOGS / f"{self.name}.log"

    def environment(self) -> dict[str, str]:
        """Return the variables of its process."""
        env = {**os.environ, **self.env}
        if self.on_cluster:
            lines = (ROOT / "build" / "endpoint.env").read_text(encoding="utf-8").splitlines()
            env.update((name, value) for name, _, value in (line.partition("=") for line in lines) if name)
        return env

    def report(self) -> reports.Report:
        """Read what its runners reported."""
        if self.junit:
            return reports.of_junit(path for pattern in self.junit for path in sorted(ROOT.glob(pattern)))
        return reports.of_log(self.log.read_text(encoding="utf-8", errors="replace"))

    def complete(self, report: reports.Report) -> reports.Report:
        """Return the report with a failure for each class or module that should have run and of which no test did."""
        absent = [name for name in self.names if self.junit and Path(name).stem not in report.seconds]
        failures = [reports.Case(reported_group(name), "", 0.0, "failed", "none of its tests ran") for name in absent]
        return reports.joined([report, reports.Report(failures)])

    def clear(self) -> None:
        """Remove what an earlier run reported."""
        for pattern in self.junit:
            for path in ROOT.glob(pattern):
                path.unlink()


# Those of .ci/check, and what each says of the tree.
CHECKS = {
    "shell": "shell scripts",
    "lengths": "files of at most 400 lines",
    "packages": "packages of at most 25 files",
    "documents": "documents: links, names of files, length of the README",
    "registries": "no registry names",
    "kubectl": "commands of kubectl name our resource",
    "tiers": "each test has a tier",
    "node": "the node: format, vet, tests",
    "scripts": "end-to-end and CI scripts: format, lint, types, tests",
}


def check() -> list[Step]:
    """Return the steps that need no cluster."""
    checks = [Step(name, title, (".ci/check", name)) for name, title in CHECKS.items()]
    return [
        *checks,
        pytest("kernel-image", "kernel image: format, lint, types, tests", ("kernel-image/check", "--beside")),
        pytest("cli", "command line and library: format, lint, types, tests", ("cli/check", "--beside")),
        Step(
            "java",
            "Java: format, lint, unit and golden tests",
            ("mvn", "-B", "-T", "2", "--fail-at-end", "verify", "-DexcludedGroups=slow"),
            ("*/target/surefire-reports/TEST-*.xml",),
        ),
        Step("jars", "jars that go into images hold nothing of tests and training", (".ci/check", "jars")),
        Step("reference", "API reference is generated", (".ci/check", "reference")),
        Step("chart", "chart: lint, schema, render", ("helm/check",)),
    ]


def pytest(name: str, title: str, command: tuple[str, ...]) -> Step:
    """Return a step that ends in one run of pytest."""
    xml = LOGS / f"{name}.xml"
    return Step(name, title, command, (str(xml.relative_to(ROOT)),), env={"PYTEST_ADDOPTS": f"--junitxml={xml}"})


def up() -> Step:
    """Return the step that leaves an endpoint, with a demonstration."""
    return Step("up", "a cluster, the images, the chart, a demonstration", ("e2e/up",))


def of_entries(entries: Sequence[Entry]) -> list[Step]:
    """Return the steps that run entries of the tiers, classes of a kind together; what ends the cluster comes last."""
    by_kind: dict[str, list[str]] = {}
    for one in sorted(entries, key=lambda one: one.name):
        by_kind.setdefault(one.kind, []).append(one.name)
    steps: list[Step] = []
    if names := by_kind.get("pytest"):
        steps += [slow_modules(folder, names) for folder in ("kernel-image", "cli")]
    if names := by_kind.get("junit"):
        steps.append(slow_classes(names))
    if names := by_kind.get("e2e"):
        if OF_OWN_IMAGES & set(names):
            steps.append(Step("own-images", "images of the examples", ("e2e/own-images/build",), on_cluster=True))
        steps.append(end_to_end(names))
    if names := by_kind.get("it"):
        steps.append(integration(names))
    scripts = sorted(by_kind.get("script", ()), key=lambda name: (name == "e2e/cluster/test", name))
    steps += [script(name) for name in scripts]
    return [step for step in steps if step.names or step.name == "own-images"]


def end_to_end(names: Sequence[str]) -> Step:
    """Return a step of `*E2E` classes."""
    command = ("e2e/without-pool", "mvn", "-B", "-Pe2e", "-pl", "e2e", "-am", "verify", "-Dtest=none", *ONLY_NAMED)
    return Step(
        "e2e",
        "end-to-end classes",
        (*command, f"-Dit.test={','.join(names)}"),
        ("e2e/target/failsafe-reports/TEST-*.xml",),
        on_cluster=True,
        names=tuple(names),
    )


def integration(names: Sequence[str]) -> Step:
    """Return a step of `*IT` classes, which run against the real API server."""
    modules = "crds,operator,egress-proxy"
    command = ("mvn", "-B", "-Pit", "-pl", modules, "-am", "verify", "-Dtest=none", *ONLY_NAMED)
    return Step(
        "integration",
        "classes against the real API server",
        (*command, f"-Dit.test={','.join(names)}"),
        tuple(f"{module}/target/failsafe-reports/TEST-*.xml" for module in modules.split(",")),
        on_cluster=True,
        names=tuple(names),
    )


def slow_classes(names: Sequence[str]) -> Step:
    """Return a step of the unit tests that are tagged slow."""
    command = ("mvn", "-B", "-T", "2", "test", "-Dgroups=slow", *ONLY_NAMED)
    return Step(
        "java-slow",
        "Java: slow unit tests",
        (*command, f"-Dtest={','.join(names)}"),
        ("*/target/surefire-reports/TEST-*.xml",),
        names=tuple(names),
    )


def slow_modules(folder: str, names: Sequence[str]) -> Step:
    """Return a step of a folder's pytest modules whose tests are marked slow or alone."""
    mine = tuple(name.removeprefix(f"{folder}/") for name in names if name.startswith(f"{folder}/"))
    step = pytest(
        f"{folder}-slow", f"{folder}: slow tests, and those that run alone", (f"{folder}/check", "--slow", *mine)
    )
    junit = (*step.junit, step.junit[0].replace(".xml", "-alone.xml"))
    return replace(step, junit=junit, names=tuple(name for name in names if name.startswith(f"{folder}/")))


def script(name: str) -> Step:
    """Return a step of one script; the cluster's own tests end the cluster, so the endpoint is made again."""
    short = name.removeprefix("e2e/").replace("/", "-")
    if name == "e2e/cluster/test":
        return Step(short, name, ("bash", "-c", "e2e/cluster/test && e2e/up"), on_cluster=True, names=(name,))
    return Step(short, name, ("e2e/without-pool", name), on_cluster=True, names=(name,))


def again(step: Step, failures: Sequence[reports.Case]) -> list[Step]:
    """Return the steps that run again what failed, each class by itself; the whole step if no test has a name."""
    by_class = {"e2e": end_to_end, "integration": integration, "java-slow": slow_classes}
    once_more: dict[str, Step] = {"": step}
    if failures and step.name in by_class:
        once_more = {name: by_class[step.name]([name]) for name in (reports.short(case.group) for case in failures)}
    elif failures and step.name.endswith("-slow"):
        folder = step.name.removesuffix("-slow")
        modules = (module(folder, case) for case in failures)
        once_more = {Path(path).stem: slow_modules(folder, [path]) for path in modules}
    return [
        replace(one, name="-".join(filter(None, (step.name, "again", name))), title=f"{one.title}: again, alone")
        for name, one in once_more.items()
    ]


def reported_group(name: str) -> str:
    """Return the group that reports give the tests of an entry: `cli/tests/test_a.py` is `tests.test_a`."""
    return name.split("/", 1)[1].removesuffix(".py").replace("/", ".") if name.endswith(".py") else name


def module(folder: str, case: reports.Case) -> str:
    """Return the path of a case's module below a folder; one that could not be imported is a case without a group."""
    path = f"{(case.group or case.name).replace('.', '/')}.py"
    return f"{folder}/{path}" if folder else path


def alone(step: Step, case: reports.Case) -> str:
    """Return the command that runs one test that failed by itself."""
    group = reports.short(case.group)
    method = case.name.split("(")[0].split("[")[0]
    if case.group == "go":
        return "cd e2e/cluster/node && go test ./..."
    if step.name in ("kernel-image", "cli", "kernel-image-slow", "cli-slow"):
        folder = step.name.removesuffix("-slow")
        return f"{folder}/check {module('', case)}::{method}"
    if step.name.startswith("java"):
        return f"mvn -q -am -pl MODULE test -Dtest={group} {ONLY_NAMED[0]}"
    if step.name.startswith(("e2e", "integration")):
        return f".ci/tests only {group}"
    return " ".join(step.command)
