"""Which files of a folder and of a sandbox's workspace have to be copied so that both have the same. Pure.

What both sides changed is a conflict: neither is written over. What one side deleted is deleted on the other, if it was
copied between them and did not change there since.
Code in a sandbox is not trusted: programs of this machine obey hidden files, so that none comes out unasked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from sandglass.core.local_names import folded, is_apart, is_hidden

MOST_FILES = 5_000
MOST_BYTES = 256 * 1024 * 1024
MOST_DELETED = 10
"""More than that, and more than half of what was copied, are not taken for deleted: rather, a side was emptied."""
NAMED = 5
MARKER = ".sandglass-sync"
"""In the folder of the sandbox: without it, the folder is a new one, and nothing in it was deleted."""
DOT_ENV = ".env"
TOLD = (
    ".git, .env*, .ssh, .aws, .npmrc, .netrc, .pypirc, *.pem, id_* and the like are not copied; hidden files of the "
    "sandbox "
)
NOT_HIDDEN = "neither, without --sync-hidden"
WITH_HIDDEN = "are, and your programs may obey them (--sync-hidden)"


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
class SyncRules:
    """What of a folder is copied beyond the usual, and whether deletions are."""

    with_hidden: bool = False
    with_deletions: bool = True


@dataclass(frozen=True)
class Changes:
    """What is to be done."""

    up: tuple[str, ...] = ()
    down: tuple[str, ...] = ()
    compare: tuple[str, ...] = ()
    """Changed on both sides, to the same size: perhaps to the same content."""
    conflicts: tuple[str, ...] = ()
    alike: tuple[tuple[str, ...], ...] = ()
    """Names that a file system may take for one: none of them is copied."""
    withheld: tuple[str, ...] = ()
    """Hidden files of the sandbox that stay there."""
    gone_here: tuple[str, ...] = ()
    """Deleted here, and to be deleted in the sandbox."""
    gone_there: tuple[str, ...] = ()
    """Deleted in the sandbox, and to be deleted here."""


@dataclass
class _Sorted:
    up: list[str] = field(default_factory=list)
    down: list[str] = field(default_factory=list)
    compare: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    gone_here: list[str] = field(default_factory=list)
    gone_there: list[str] = field(default_factory=list)


def changes(
    before: Mapping[str, Pair],
    here: Marks,
    there: Marks,
    with_hidden: bool = False,
    copied: AbstractSet[str] = frozenset(),
) -> Changes:
    """What changed since both sides were the same; only what is `copied` is deleted."""
    found = _Sorted()
    alike: dict[str, list[str]] = {}
    for path in sorted(here.keys() | there.keys()):
        if not is_apart(path):
            alike.setdefault(folded(path), []).append(path)
    for paths in alike.values():
        if len(paths) == 1:
            _sort(found, paths[0], before.get(paths[0]), here.get(paths[0]), there.get(paths[0]))
    # What code deletes of your hidden files stays here, as what it changes in them stays there.
    gone_there = [path for path in found.gone_there if with_hidden or not is_hidden(path)]
    return Changes(
        tuple(found.up),
        tuple(path for path in found.down if with_hidden or not is_hidden(path)),
        tuple(found.compare),
        tuple(found.conflicts),
        tuple(tuple(paths) for paths in alike.values() if len(paths) > 1),
        tuple(path for path in found.down if not with_hidden and is_hidden(path)),
        tuple(path for path in found.gone_here if path in copied),
        tuple(path for path in gone_there if path in copied),
    )


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
    elif was is not None and here is None:
        found.gone_here.append(path)
    elif was is not None and there is None:
        found.gone_there.append(path)


def is_emptied(gone: int, copied: int) -> bool:
    """Whether so many files are gone that a side was rather emptied, or lost."""
    return gone > MOST_DELETED and 2 * gone > copied


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
