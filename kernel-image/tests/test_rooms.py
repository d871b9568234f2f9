"""Which package of the supervisor may import which: above all, nothing trusted imports what runs beside user code."""

import ast
from pathlib import Path

import sandglass_supervisor

ROOT = Path(sandglass_supervisor.__file__).parent
MOST_FILES = 25
# From the bottom to the top. A package may import those that it names, and the modules of BASE.
MAY_IMPORT = {
    "shared": set(),
    "inside": {"shared"},
    "processes": set(),
    "link": set(),
    "execution": {"link", "processes"},
    "mcp_client": {"shared"},
    "mcp_servers": {"commands", "link", "processes", "shared"},
    "files": {"link", "processes"},
    "metrics": {"processes"},
    "mcp_api": {"shared"},
    "kernels": {"execution", "link", "processes", "shared"},
    "commands": {"execution", "kernels", "link", "processes", "shared"},
}
BASE = {"__init__", "limits", "linux", "loop", "runtime"}
# The socket's keys and address are settings of the container.
SETTINGS = {"link/link.py"}
# Run by a build of the image, in no sandbox.
AT_BUILD = {"fallback_font.py", "user_packages.py"}


def imports(file: Path) -> set[tuple[str, str]]:
    """Packages and modules of ours that a file imports; the package of a module of the root is empty."""
    here = list(file.relative_to(ROOT).parts[:-1])
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert all(not alias.name.startswith("sandglass_supervisor.") for alias in node.names), file
        if not isinstance(node, ast.ImportFrom):
            continue
        assert not (node.module or "").startswith("sandglass_supervisor"), f"{file}: import our own modules relatively"
        if node.level:
            base = here[: len(here) - (node.level - 1)] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                first, *rest = [*base, alias.name]
                found.add((first, rest[0] if rest else "") if (ROOT / first).is_dir() else ("", first))
    return found


def test_directions_between_packages() -> None:
    packages = {file.parent.name for file in ROOT.glob("*/__init__.py")}
    assert packages == set(MAY_IMPORT)
    wrong = []
    for file in ROOT.glob("*/*.py"):
        name, package = file.relative_to(ROOT).as_posix(), file.parent.name
        for other, module in imports(file):
            base = other == "" and (module in BASE or (module == "settings" and name in SETTINGS))
            if not base and other != package and other not in MAY_IMPORT[package]:
                wrong.append(f"{name} imports {other or module}")
    assert wrong == []


def test_the_root_imports_nothing_that_runs_beside_user_code() -> None:
    for file in ROOT.glob("*.py"):
        if file.name not in AT_BUILD:
            assert not {other for other, _ in imports(file)} & {"inside", "mcp_client", "mcp_api"}, file
        if file.stem in BASE:
            assert all(other == "" and module in BASE for other, module in imports(file)), file


def test_packages_are_of_a_size_that_one_can_see() -> None:
    for folder in (ROOT, *(file.parent for file in ROOT.glob("*/__init__.py"))):
        assert len(list(folder.glob("*.py"))) <= MOST_FILES, folder
