"""Names of servers, modules and classes (pure)."""

import keyword
import re
from collections.abc import Iterable

from .bounds import MODULE_NAME_CHARS

_OTHER = re.compile(r"[^a-z0-9_]")
_NO_MODULES = frozenset({"__init__", "__main__", "__pycache__"})
_CLASS_CHARS = 60


def module_names(tools: Iterable[str]) -> list[str]:
    """A module's name for each tool, each another."""
    used: set[str] = set(_NO_MODULES)
    names = []
    for tool in tools:
        plain = module_name(tool)
        name, count = plain, 1
        while name in used:
            count += 1
            name = f"{plain}_{count}"
        used.add(name)
        names.append(name)
    return names


def module_name(tool: str) -> str:
    """The tool's name in lower case, with ``_`` for all but ASCII letters and digits."""
    name = _OTHER.sub("_", tool.lower())[:MODULE_NAME_CHARS] or "tool"
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def class_name(words: str, used: set[str]) -> str:
    """A class's name of ASCII letters and digits that is not used yet; it is then."""
    plain = "".join(part[:1].upper() + part[1:] for part in re.findall(r"[A-Za-z0-9]+", words))
    plain = plain.lstrip("0123456789")[:_CLASS_CHARS] or "Model"
    name, count = plain, 1
    while name in used:
        count += 1
        name = f"{plain}{count}"
    used.add(name)
    return name
