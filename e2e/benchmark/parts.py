"""The parts of a run: what each measures and how long it takes, and a file with the figures of all finished parts."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agent import Refused

from . import report
from .cluster_api import ApiError
from .cold_start import Failed


class Part(NamedTuple):
    """One measurement.

    Attributes:
        title: `{rounds}` and `{calls}` stand for the options.
        minutes: an estimate for two processors with the default options, without what the first run installs.
        local: needs the cluster of `make up`, because it reads processes of the node or adds nodes.
    """

    name: str
    title: str
    minutes: int
    measure: Callable[[argparse.Namespace], Any]
    local: bool = False

    def headline(self, options: argparse.Namespace) -> str:
        return f"{self.title.format_map(vars(options))}; about {self.minutes} min"


def listing(parts: Sequence[Part], options: argparse.Namespace) -> str:
    lines = [f"  {part.name:14} {part.headline(options)}" for part in parts]
    return "\n".join([f"parts, about {sum(part.minutes for part in parts)} min in all:", *lines])


def run(
    parts: Iterable[Part], options: argparse.Namespace, file: Path, *, external: bool
) -> tuple[report.Result, list[str]]:
    """Measure the parts in turn, and write the file after each; a part that fails does not end the run.

    Returns:
        what was measured, and a sentence for each part that could not be.
    """
    result: report.Result = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cpus": os.cpu_count()}
    failures: list[str] = []
    for part in parts:
        if part.local and external:
            print(f"==> {part.name}: skipped, it needs the cluster of make up", flush=True)
            continue
        print(f"==> {part.name}: {part.headline(options)}", flush=True)
        begun = time.monotonic()
        try:
            result[part.name] = part.measure(options)
        except (Refused, ApiError, Failed, OSError, subprocess.SubprocessError) as problem:
            failures.append(f"{part.name} was not measured: {problem}")
            print(f"  {failures[-1]}", flush=True)
        write(result, file)
        if part.name in result:
            print(report.text({part.name: result[part.name]}))
        print(f"  took {(time.monotonic() - begun) / 60:.1f} min; the figures so far are in {file}", flush=True)
    return result, failures


def write(result: report.Result, file: Path) -> None:
    """Replace the file in one step: a run that ends meanwhile leaves a complete one."""
    file.parent.mkdir(exist_ok=True)
    beside = file.with_name(f"{file.name}.new")
    beside.write_text(json.dumps(result, indent=2) + "\n")
    beside.replace(file)
