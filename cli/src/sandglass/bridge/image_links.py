"""The links to pictures in answers of the ipybox contract, as paths of this machine where its folders are synced."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from sandglass.bridge import messages

HEADING = "Generated images:\n"
_LINK = re.compile(r"(?<=^- \[Generated image\]\()/workspace/([^\n]+)(?=\)$)", re.MULTILINE)


class ImageLinks:
    """Knows the synced folders: each with its path below the workspace."""

    def __init__(self, folders: Sequence[tuple[Path, str]]) -> None:
        # The folder that is bound deepest has the file.
        self._folders = sorted(folders, key=lambda folder: len(folder[1]), reverse=True)

    def writing(self, write: Callable[[bytes], None]) -> Callable[[bytes], None]:
        """Writes lines with local paths in place of those in the sandbox."""
        return (lambda line: write(self.local(line))) if self._folders else write

    def local(self, line: bytes) -> bytes:
        """The same message; only links of answers change, and only to files that are here."""
        if HEADING.rstrip().encode() not in line:
            return line
        try:
            content = json.loads(line)
            parts = [part for part in content["result"]["content"] if part.get("type") == "text"]
            texts = [self._text(part["text"]) for part in parts]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return line
        if texts == [part["text"] for part in parts]:
            return line
        for part, text in zip(parts, texts, strict=True):
            part["text"] = text
        return messages.encoded(content)

    def _text(self, text: str) -> str:
        # Code may print the heading too: the links of the gateway come last.
        before, heading, links = text.rpartition(HEADING)
        return before + heading + _LINK.sub(self._path, links) if heading else text

    def _path(self, link: re.Match[str]) -> str:
        inside = link[1]
        for here, there in self._folders:
            if not there or inside.startswith(there + "/"):
                place = here / inside[len(there) :].lstrip("/")
                return str(place) if _is_below(place, here) else link[0]
        return link[0]


def _is_below(place: Path, folder: Path) -> bool:
    try:
        return place.is_file() and place.resolve().is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):
        return False
