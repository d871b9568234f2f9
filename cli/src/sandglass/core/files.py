"""Files of a sandbox, whole or piece by piece. Pure: steps that yield calls.

A piece is written at its place and read from its place, so that each of these calls may be made again.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sandglass.core import reading
from sandglass.core.facts import Entry, Fields
from sandglass.core.runs import Command, Listener, Steps, Where, run
from sandglass.errors import EndpointError, ToolError
from sandglass.wire.messages import ToolCall

PIECE_BYTES = 1024 * 1024
MOST_ENTRIES = 10_000
MOST_IN_MEMORY = 256 * 1024 * 1024
_SUM_CHARS = 64
_MOST_ARGUMENTS = 200
_MOST_ARGUMENT_CHARS = 32 * 1024


@dataclass(frozen=True)
class Piece:
    """Bytes of a file, and the size of all of it."""

    data: bytes
    size: int


def read_piece(where: Where, path: str, offset: int, length: int = PIECE_BYTES) -> Steps[Piece]:
    """A part of a file; empty at its end."""
    arguments = where.arguments(path=path, encoding="base64", offset=offset, length=length)
    answer = yield ToolCall("sandbox_read_file", arguments, is_repeatable=True)
    fields = Fields(answer.data)
    try:
        data = base64.b64decode(fields.text("content"), validate=True)
    except ValueError:
        raise EndpointError("the content of a file in the endpoint's answer is not base64") from None
    return Piece(data, fields.integer("size") or 0)


def write_piece(where: Where, path: str, data: bytes, offset: int | None) -> Steps[int]:
    """Writes bytes at an offset, or in place of the whole file; the size of the file then."""
    content = base64.b64encode(data).decode()
    arguments = where.arguments(path=path, content=content, encoding="base64", offset=offset)
    answer = yield ToolCall("sandbox_write_file", arguments, is_repeatable=True)
    return Fields(answer.data).integer("size") or 0


def read(where: Where, path: str) -> Steps[bytes]:
    """A whole file."""
    pieces: list[bytes] = []
    offset = 0
    while True:
        piece = yield from read_piece(where, path, offset)
        if piece.size > MOST_IN_MEMORY:
            raise ToolError(
                f"{path!r} has {piece.size} bytes, and at most {MOST_IN_MEMORY} are read at once: download it"
            )
        pieces.append(piece.data)
        offset += len(piece.data)
        if offset >= piece.size or not piece.data:
            return b"".join(pieces)


def write(where: Where, path: str, data: bytes) -> Steps[int]:
    """A whole file, in place of the one that is there."""
    size = yield from write_piece(where, path, data[:PIECE_BYTES], None)
    for offset in range(PIECE_BYTES, len(data), PIECE_BYTES):
        size = yield from write_piece(where, path, data[offset : offset + PIECE_BYTES], offset)
    return size


def list_folder(where: Where, path: str = "", recursive: bool = False) -> Steps[tuple[Entry, ...]]:
    """What is in a folder, in the order of the paths."""
    arguments = where.arguments(path=path or None, recursive=recursive or None, limit=MOST_ENTRIES)
    found, is_cut = reading.entries((yield ToolCall("sandbox_list_files", arguments, is_repeatable=True)))
    if is_cut:
        raise ToolError(f"the folder {path or '/workspace'!r} has more than {MOST_ENTRIES} entries: list one below it")
    return found


def make_folder(where: Where, path: str) -> Steps[bool]:
    """Makes a folder and those on the way; False if it was there."""
    return (yield from _manage(where, "mkdir", path)).text("status") == "created"


def move(where: Where, path: str, to: str) -> Steps[None]:
    """Moves or renames to a path that is free. Not tried again: a second move would not find the file."""
    yield ToolCall("sandbox_manage_files", where.arguments(action="move", path=path, to=to))


def delete(where: Where, path: str, recursive: bool = False) -> Steps[None]:
    """Deletes a file or a folder."""
    while True:
        arguments = where.arguments(action="delete", path=path, recursive=recursive or None)
        answer = yield ToolCall("sandbox_manage_files", arguments)
        if Fields(answer.data).text("status") != "unfinished":
            return


def stat(where: Where, path: str) -> Steps[Entry]:
    """What is at a path; `ToolError` if nothing is."""
    file = (yield from _manage(where, "stat", path)).object("file")
    if file is None:
        raise EndpointError("the endpoint's answer says nothing of the file")
    return Entry(path, file.text("type"), file.integer("size"), file.text("modified"))


def sums(where: Where, paths: Iterable[str]) -> Steps[dict[str, str]]:
    """The SHA-256 of files, computed in the sandbox; those that cannot be read are left out."""
    found: dict[str, str] = {}
    for some in _batches(paths):
        done = yield from run(Command(["sha256sum", "--", *some]), where, Listener())
        # sha256sum puts two characters between the sum and the path.
        lines = [line for line in done.stdout.split("\n") if line[_SUM_CHARS : _SUM_CHARS + 2] in ("  ", " *")]
        found |= {line[_SUM_CHARS + 2 :]: line[:_SUM_CHARS] for line in lines}
    return found


def _batches(paths: Iterable[str]) -> Iterator[list[str]]:
    """As many paths at a time as the arguments of one command may have."""
    some: list[str] = []
    for path in paths:
        if some and (len(some) == _MOST_ARGUMENTS or sum(map(len, some)) + len(path) > _MOST_ARGUMENT_CHARS):
            yield some
            some = []
        some.append(path)
    if some:
        yield some


def _manage(where: Where, action: str, path: str) -> Steps[Fields]:
    answer = yield ToolCall("sandbox_manage_files", where.arguments(action=action, path=path), is_repeatable=True)
    return Fields(answer.data)
