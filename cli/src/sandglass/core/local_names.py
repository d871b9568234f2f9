"""Names of files: which of them file systems take for the same, and which do not go in or out. Pure."""

from __future__ import annotations

import os
import re
import unicodedata

WINDOWS = os.name == "nt"

_APART = frozenset(
    {
        ".aws",
        ".docker",
        ".git",
        ".git-credentials",
        ".gnupg",
        ".kube",
        ".netrc",
        ".npmrc",
        ".pypirc",
        ".ssh",
        "_netrc",
    }
)
_SETTINGS = frozenset({"appdata", "library"})
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])[ ]*(\..*)?", re.IGNORECASE | re.DOTALL)
# Windows also finds `.vscode` by such a name.
_SHORT = re.compile(r"[^.]{1,6}~[0-9]+(\.[^.]{0,3})?")
_NOT_ON_WINDOWS = frozenset('<>:"|?*')


def folded(path: str) -> str:
    """The path as file systems read it that ignore case, forms of a letter, and letters that do not show."""
    return "/".join(_folded(part) for part in path.split("/"))


def is_hidden(path: str) -> bool:
    """Whether a part of it begins with a dot: settings, which programs obey without being asked."""
    return any(part.startswith(".") and part != "." for part in folded(path).split("/"))


def is_settings(path: str) -> bool:
    """Whether a path below a home folder is hidden, or in the folder where Windows or macOS keeps settings."""
    return is_hidden(path) or folded(path).split("/")[0] in _SETTINGS


def is_apart(path: str) -> bool:
    """Whether a path is `.git`, or named as secrets usually are: it is copied in neither direction."""
    parts = [part.rstrip(" .") for part in folded(path).split("/")]
    if any(part in _APART or part.startswith(".env") for part in parts):
        return True
    return parts[-1].endswith(".pem") or parts[-1].startswith("id_")


def is_odd(path: str, windows: bool = WINDOWS) -> bool:
    """Whether a name is legal in a sandbox and yet is something else on a terminal, or on Windows if that is here."""
    if "\\" in path or any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in path):
        return True
    return windows and any(_is_odd_on_windows(part) for part in path.split("/"))


def _folded(name: str) -> str:
    shown = (each for each in unicodedata.normalize("NFKC", name) if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", "".join(shown).casefold())


def _is_odd_on_windows(part: str) -> bool:
    if part != part.rstrip(" .") or not _NOT_ON_WINDOWS.isdisjoint(part):
        return True
    return bool(_DEVICES.fullmatch(part) or _SHORT.fullmatch(part))
