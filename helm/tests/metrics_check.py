"""Holds alerts and dashboard of the chart against the meters in the code: whatever they ask for must be measured.

And whatever is measured must be explained in the documentation.

usage: metrics_check.py CHART DOCUMENTATION SOURCES...
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

# What Prometheus' names add to those of meters.
SUFFIXES = ("", "_total", "_seconds", "_seconds_count", "_seconds_sum", "_seconds_bucket", "_seconds_max")
# Those that Micrometer's own binders bring.
BOUND = {"jvm_memory_used_bytes", "process_cpu_usage"}


def meters(sources: list[Path]) -> set[str]:
    """The meters of our code, as Prometheus' names of them begin."""
    texts = (file.read_text() for folder in sources for file in folder.rglob("*.java"))
    return {name.replace(".", "_") for text in texts for name in re.findall(r'"(sandglass(?:\.[a-z]+)+)"', text)}


def measured(sources: list[Path]) -> set[str]:
    """The names under which Prometheus sees the meters of our code."""
    return {meter + suffix for meter in meters(sources) for suffix in SUFFIXES} | BOUND


def explained(documentation: Path) -> set[str]:
    """The meters that have a row of their own, or share one."""
    rows = (row.split(" | ")[0] for row in documentation.read_text().splitlines() if row.startswith("| `sandglass_"))
    names = (name for row in rows for name in re.findall(r"`(sandglass_[a-z_]+)`", row))
    return {re.sub(r"(_seconds|_total)+$", "", name) for name in names}


def asked_for(chart: Path) -> Iterator[tuple[str, str]]:
    """File and name of each metric in an expression."""
    folder = chart / "files" / "metrics"
    expressions = {
        file.name: re.findall(r"expr: (?:\|-\n)?(.*?)\n  for:", file.read_text(), re.DOTALL)
        for file in folder.glob("*alerts.yaml")
    }
    panels = json.loads((folder / "dashboard.json").read_text())["panels"]
    expressions["dashboard.json"] = [target["expr"] for panel in panels for target in panel["targets"]]
    for file, found in expressions.items():
        if not found:
            sys.exit(f"{file} has no expressions")
        for expression in found:
            metrics = re.findall(r"\b([a-z]+(?:_[a-z]+)+)\{", expression)
            if not metrics:
                sys.exit(f"{file}: no metric is found in: {expression}")
            yield from ((file, metric) for metric in metrics)


def main() -> None:
    chart, documentation, *sources = map(Path, sys.argv[1:])
    known = measured(sources)
    if unexplained := sorted(meters(sources) - explained(documentation)):
        sys.exit(f"{documentation} does not explain {', '.join(unexplained)}")
    missing = sorted({f"{file}: {metric} is not measured" for file, metric in asked_for(chart) if metric not in known})
    if missing:
        sys.exit("\n".join(missing))


main()
