"""Which test runs when: the list `.ci/tiers`, its check against the tree, and the shards of the rest.

A line of the list is `TIER KIND SECONDS NAME`:

* TIER is `test` (every change), `all` (the rest, in shards), `by:SCRIPT` (that script runs it), or `tool` (no test).
* KIND is `e2e`, `it` or `junit` (a Java class), `pytest` (a module) or `script` (an executable of `e2e`).
* SECONDS is what it took when it was last recorded, on two cores.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

KINDS = ("e2e", "it", "junit", "pytest", "script")
JUNIT_SLOW = re.compile(r'^\s*@Tag\("slow"\)', re.MULTILINE)
PYTEST_SLOW = re.compile(r"^(?:@|pytestmark = |.*\bmarks=)pytest\.mark\.(?:slow|alone)\b", re.MULTILINE)


class TiersError(Exception):
    """The list is wrong; the message says which line or which test, and what to write."""


@dataclass(frozen=True)
class Entry:
    """One line of the list."""

    tier: str
    kind: str
    seconds: int
    name: str


@dataclass(frozen=True)
class Shard:
    """The part `number` of `count` of the rest, counted from 1."""

    number: int
    count: int

    @staticmethod
    def parse(text: str) -> "Shard":
        """Read `2/6`; a TiersError for anything else."""
        match = re.fullmatch(r"([1-9][0-9]?)/([1-9][0-9]?)", text)
        if not match or int(match[1]) > int(match[2]):
            raise TiersError(
                f"SHARD={text}: write SHARD=NUMBER/COUNT, for example SHARD=2/6, with NUMBER from 1 to COUNT"
            )
        return Shard(int(match[1]), int(match[2]))


def parse(text: str) -> list[Entry]:
    """Read the list; a TiersError names the first line that is wrong."""
    entries: list[Entry] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        if len(words) != 4 or not words[2].isdecimal():
            raise TiersError(f".ci/tiers:{number}: a line is TIER KIND SECONDS NAME, and this one is: {line}")
        tier, kind, seconds, name = words
        if kind not in KINDS:
            raise TiersError(f".ci/tiers:{number}: {kind} is no kind ({', '.join(KINDS)})")
        if tier not in ("test", "all", "tool") and not tier.startswith("by:"):
            raise TiersError(f".ci/tiers:{number}: {tier} is no tier (test, all, by:SCRIPT, tool)")
        if any((one.kind, one.name) == (kind, name) for one in entries):
            raise TiersError(f".ci/tiers:{number}: {kind} {name} stands there twice")
        entries.append(Entry(tier, kind, int(seconds), name))
    return entries


def recorded(text: str, seconds: Mapping[str, float]) -> str:
    """Return the list with the seconds of the entries that ran, by the short names that reports have."""

    def line(old: str) -> str:
        words = old.split()
        if old.startswith("#") or len(words) != 4:
            return old
        took = seconds.get(PurePosixPath(words[3]).name.removesuffix(".py") if words[1] == "pytest" else words[3])
        return old if took is None else " ".join((*words[:2], str(max(1, round(took))), words[3]))

    return "".join(f"{line(old)}\n" for old in text.splitlines())


def undeclared(entries: Iterable[Entry], found: Iterable[tuple[str, str]]) -> list[str]:
    """Return a sentence for each difference between the list and the tests that the tree has, as (kind, name)."""
    listed = {(one.kind, one.name) for one in entries}
    there = set(found)
    missing = [
        f"{kind} {name} is in no tier; add a line `all {kind} SECONDS {name}` to .ci/tiers (CONTRIBUTING.md, Tiers)"
        for kind, name in sorted(there - listed)
    ]
    gone = [f"{kind} {name} stands in .ci/tiers and not in the tree" for kind, name in sorted(listed - there)]
    return missing + gone


def shard(entries: Iterable[Entry], part: Shard) -> list[Entry]:
    """Return what a shard runs: the longest entries first, each into the part that has least to do.

    The same list gives the same parts on every machine.
    """
    loads = [0] * part.count
    chosen = []
    for one in sorted(
        (one for one in entries if one.tier == "all"), key=lambda one: (-one.seconds, one.kind, one.name)
    ):
        least = loads.index(min(loads))
        loads[least] += max(one.seconds, 1)
        if least == part.number - 1:
            chosen.append(one)
    return chosen


def find(root: Path, files: Iterable[str]) -> list[tuple[str, str]]:
    """Return the tests that need a tier, as (kind, name), of the files that Git lists below the root."""
    found: list[tuple[str, str]] = []
    for name in files:
        path = root / name
        if not path.is_file():
            continue
        if name.endswith("E2E.java"):
            found.append(("e2e", path.stem))
        elif name.endswith("IT.java"):
            found.append(("it", path.stem))
        elif (
            "/src/test/" in name and name.endswith("Test.java") and JUNIT_SLOW.search(path.read_text(encoding="utf-8"))
        ):
            found.append(("junit", path.stem))
        elif re.fullmatch(r"(?:kernel-image|cli)/tests/(?:\w+/)*test_\w+\.py", name):
            if PYTEST_SLOW.search(path.read_text(encoding="utf-8")):
                found.append(("pytest", name))
        elif name.startswith("e2e/") and is_program(path):
            found.append(("script", name))
    return found


def is_program(path: Path) -> bool:
    """Whether a file can be started: it is executable and begins with `#!`."""
    if not path.stat().st_mode & 0o111:
        return False
    with path.open("rb") as file:
        return file.read(2) == b"#!"
