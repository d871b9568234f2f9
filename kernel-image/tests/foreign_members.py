"""Compares inside/overrides.py with the code and with the packages that are installed.

Run as a program, it prints what differs; it needs ipykernel and nothing else that tests need.
"""

import ast
import functools
import importlib
import inspect
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from sandglass_supervisor import inside
from sandglass_supervisor.inside import overrides

FOLDER = Path(str(inside.__file__)).parent
THEIRS = ("ipykernel", "IPython", "jupyter_client")
Member = tuple[str, str]


def top(cls: type) -> str:
    return cls.__module__.split(".")[0]


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The modules of ``inside`` by name, but for the list itself."""
    files = [file for file in FOLDER.glob("*.py") if file.stem not in ("__init__", "overrides")]
    return {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in files}


def assigned(tree: ast.AST) -> set[str]:
    """What methods assign to ``self``."""
    targets = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return {node.attr for node in targets if isinstance(node.value, ast.Name) and node.value.id == "self"}


def defined(body: ast.ClassDef) -> set[str]:
    """What a class of ours has by its own source."""
    names = assigned(body)
    for node in body.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    return names


def ours() -> dict[type, ast.ClassDef]:
    """Our classes, with their source."""
    found = {}
    for name, tree in trees().items():
        module = importlib.import_module(f"{inside.__name__}.{name}")
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                found[getattr(module, node.name)] = node
    return found


@functools.cache
def members(cls: Any) -> frozenset[str]:
    """What instances of a class of theirs have: by the class, and by what its methods assign."""
    names = {name for name in dir(cls) if not hasattr(object, name)} | {"__init__"}
    for one in cls.__mro__:
        if top(one) in THEIRS:
            names |= assigned(ast.parse(textwrap.dedent(inspect.getsource(one))))
    return frozenset(names)


def base(cls: type) -> type | None:
    """The class of theirs that a class of ours derives from."""
    return next((one for one in cls.__mro__ if top(one) in THEIRS), None)


def name_of(cls: type) -> str:
    return f"{cls.__module__}:{cls.__name__}"


def _private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in ("_", "_exit")  # os._exit is public


def _taken(body: ast.ClassDef) -> set[str]:
    """What methods take from ``self`` and ``super()``."""
    names = set()
    for node in ast.walk(body):
        if isinstance(node, ast.Attribute):
            value = node.value.func if isinstance(node.value, ast.Call) else node.value
            if isinstance(value, ast.Name) and value.id in ("self", "super"):
                names.add(node.attr)
    return names


def in_the_code() -> tuple[set[Member], set[Member], set[str]]:
    """What is overridden or private, what is used as it is, and private names that no class of ours explains."""
    listed, used, own = set(), set(), set()
    classes = ours()
    for cls in classes:
        theirs = base(cls)
        for one in cls.__mro__:
            body = classes.get(one)
            if body is None:
                continue
            has, there = defined(body), members(theirs) if theirs else frozenset()
            own |= has - there
            if theirs is not None:
                mine = set().union(*(defined(classes[other]) for other in cls.__mro__ if other in classes))
                listed |= {(name_of(theirs), name) for name in has & there}
                taken = (_taken(body) & there) - mine
                listed |= {(name_of(theirs), name) for name in taken if _private(name)}
                used |= {(name_of(theirs), name) for name in taken if not name.startswith("_")}
    nodes = [node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    loose = {node.attr for node in nodes if _private(node.attr)} - own
    return listed, used, loose


def found(owner: str) -> Any:
    """The class or module that the list names; None if there is none."""
    module, _, name = owner.partition(":")
    try:
        there = importlib.import_module(module)
    except ImportError:
        return None
    return getattr(there, name, None) if name else there


def form(owner: str, member: str) -> str | None:
    """A method's parameters as the list has them, "value" for anything else; None if there is no such member."""
    there = found(owner)
    if not isinstance(there, type):
        return "value" if hasattr(there, member) else None
    if member not in members(there):
        return None
    value = inspect.getattr_static(there, member, None)
    value = getattr(value, "__func__", value)
    if not inspect.isfunction(value):
        return "value"
    marks: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    words: list[str] = []
    star = False
    for one in inspect.signature(value).parameters.values():
        star = star or one.kind is inspect.Parameter.VAR_POSITIONAL
        if one.kind is inspect.Parameter.KEYWORD_ONLY and not star:
            words, star = [*words, "*"], True
        words.append(marks.get(one.kind, "") + one.name + ("" if one.default is inspect.Parameter.empty else "="))
    return f"({', '.join(words)})"


def unlisted() -> list[str]:
    """Where the list is not what the code does."""
    listed, used, loose = in_the_code()
    names = {(entry.owner, entry.member) for entry in overrides.OVERRIDES}
    public = {(owner, member) for owner, words in overrides.USED.items() for member in words.split()}
    source = " ".join(ast.unparse(tree) for tree in trees().values())
    wrong = [f"{owner}.{member} is in the code and not in OVERRIDES" for owner, member in sorted(listed - names)]
    wrong += [f"{owner}.{member} is in the code and not in USED" for owner, member in sorted(used - public)]
    wrong += [
        f"{name}, of a package that is not ours, is not in OVERRIDES"
        for name in sorted(loose - {name for _, name in names})
    ]
    gone = [(owner, member) for owner, member in names | public if not re.search(rf"\b{re.escape(member)}\b", source)]
    return wrong + [f"{owner}.{member} is in the list and not in the code" for owner, member in sorted(gone)]


def missing() -> list[str]:
    """What of the list the installed packages do not have, or have with other parameters."""
    wrong = []
    for entry in overrides.OVERRIDES:
        there = form(entry.owner, entry.member)
        if there is None:
            wrong.append(f"{entry.owner} has no {entry.member} any more")
        elif there != entry.form:
            wrong.append(f"{entry.owner}.{entry.member} is {there} and was {entry.form}")
    for owner, words in overrides.USED.items():
        wrong += [f"{owner} has no {name} any more" for name in words.split() if form(owner, name) is None]
    return wrong


def main() -> int:
    """Print what the installed packages do not have; exit code 1 if that is anything."""
    wrong = missing()
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
