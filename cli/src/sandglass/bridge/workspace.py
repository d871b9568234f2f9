"""Which files of a folder and of a sandbox's workspace have to be copied so that both have the same. Pure.

What both sides changed is a conflict: neither is written over. What one side deleted stays on the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MOST_FILES = 5_000
MOST_BYTES = 256 * 1024 * 1024
NEVER = ".env"


@dataclass(frozen=True)
class Mark:
    """By which a change of a file is seen."""

    size: int
    modified: str


Marks = Mapping[str, Mark]


@dataclass(frozen=True)
class Pair:
    """A file on both sides when they were last the same."""

    here: Mark
    there: Mark


@dataclass(frozen=True)
class Changes:
    """What is to be done."""

    up: tuple[str, ...] = ()
    down: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()
    """Changed on both sides, to the same size: perhaps to the same content."""
    conflicts: tuple[str, ...] = ()


@dataclass
class _Sorted:
    up: list[str] = field(default_factory=list)
    down: list[str] = field(default_factory=list)
    compare: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)


def changes(before: Mapping[str, Pair], here: Marks, there: Marks) -> Changes:
    """What changed since both sides were the same."""
    found = _Sorted()
    for path in sorted(here.keys() | there.keys()):
        if path.rpartition("/")[2] != NEVER:
            _sort(found, path, before.get(path), here.get(path), there.get(path))
    return Changes(tuple(found.up), tuple(found.down), tuple(found.compare), tuple(found.conflicts))


def _sort(found: _Sorted, path: str, was: Pair | None, here: Mark | None, there: Mark | None) -> None:
    is_new_here = here is not None and (was is None or here != was.here)
    is_new_there = there is not None and (was is None or there != was.there)
    if is_new_here and is_new_there:
        same_size = here is not None and there is not None and here.size == there.size
        (found.compare if same_size else found.conflicts).append(path)
    elif is_new_here:
        found.up.append(path)
    elif is_new_there:
        found.down.append(path)


def too_large(marks: Iterable[Mark]) -> str:
    """Why a folder is not kept the same; empty if it may be."""
    sizes = [mark.size for mark in marks]
    if len(sizes) > MOST_FILES:
        return f"it has more than {MOST_FILES} files"
    return f"it has more than {MOST_BYTES} bytes" if sum(sizes) > MOST_BYTES else ""


def bind(text: str) -> tuple[str, str]:
    """HOST:PATH of --container-bind: the folder here, and the one below the workspace."""
    here, _, there = text.rpartition(":")
    parts = there.split("/")
    if not here or not there or there.startswith("/") or ".." in parts or "\0" in text:
        raise ValueError(
            f"--container-bind must be FOLDER:PATH with a PATH relative to the workspace, not {text[:200]!r}"
        )
    return here, "/".join(part for part in parts if part not in ("", "."))
