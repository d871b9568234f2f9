"""Whether source code declares models and does nothing else (pure).

The generator of models makes it from hostile schemas. Whatever a schema talks it into, only this is ever run: imports
of names that are listed here, classes with annotated fields, literal values.
"""

import ast

from .schemas import Unfit

_BUILTINS = frozenset({"bool", "dict", "float", "int", "list", "str"})
_BOUNDED = frozenset({"confloat", "conint", "conlist", "constr"})
_SIGNS = frozenset(
    f"{sign}{kind}" for sign in ("Positive", "NonPositive", "Negative", "NonNegative") for kind in ("Float", "Int")
)
_IMPORTS: dict[str, frozenset[str] | set[str]] = {
    "builtins": _BUILTINS,
    "__future__": {"annotations"},
    "datetime": {"date", "datetime"},
    "pydantic": {"BaseModel", "ConfigDict", "Field", "RootModel"} | _BOUNDED | _SIGNS,
    "typing": {"Annotated", "Any", "Literal", "Union"},
    "uuid": {"UUID"},
}
_CALLED = frozenset({"ConfigDict", "Field"})
_KEYWORDS = frozenset(
    "alias default description extra ge gt le lt max_length min_length multiple_of pattern populate_by_name".split()
)
# Names of the module that the classes must leave alone.
KEPT = frozenset({"run", "run_async"}) | _BUILTINS | frozenset().union(*_IMPORTS.values())


def check(source: str) -> None:
    """Raise Unfit for source code that is more than declarations of models."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unfit("its models are no Python") from None
    if not all(c.isprintable() or c == "\n" for c in source):
        raise Unfit("its models hold characters that are not seen")
    classes = [node.name for node in module.body if isinstance(node, ast.ClassDef)]
    if len(set(classes)) < len(classes) or any(name in KEPT or name.startswith("_") for name in classes):
        raise Unfit("its models share a name with something else")
    imported = {alias.asname or alias.name for node in module.body for alias in _imported(node)}
    names = set(_BUILTINS) | set(classes) | imported
    if not imported.isdisjoint(classes):
        raise Unfit("its models share a name with something else")
    for node in module.body:
        if not (_is_import(node) or _is_rebuild(node, classes) or _is_class(node, names)):
            raise Unfit("its models are more than declarations")


def _imported(node: ast.stmt) -> list[ast.alias]:
    return node.names if isinstance(node, ast.ImportFrom) else []


def _is_import(node: ast.stmt) -> bool:
    """True for names of the list. Where a field has the name of its type, that is imported as ``date_aliased``."""
    return (
        isinstance(node, ast.ImportFrom)
        and node.level == 0
        and all(
            alias.name in _IMPORTS.get(node.module or "", set()) and alias.asname in (None, f"{alias.name}_aliased")
            for alias in node.names
        )
    )


def _is_rebuild(node: ast.stmt, classes: list[str]) -> bool:
    """True for ``Name.model_rebuild()``."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(call := node.value, ast.Call)
        and not (call.args or call.keywords)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "model_rebuild"
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in classes
    )


def _is_class(node: ast.stmt, names: set[str]) -> bool:
    return (
        isinstance(node, ast.ClassDef)
        and not (node.decorator_list or node.keywords)
        and all(_is_type(base, names) for base in node.bases)
        and all(_is_declaration(inner, names) for inner in node.body)
    )


def _is_declaration(node: ast.stmt, names: set[str]) -> bool:
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.Assign):
        return (
            len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "model_config"
            and _is_call(node.value)
        )
    return (
        isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and not node.target.id.startswith("_")
        and _is_type(node.annotation, names)
        and (node.value is None or _is_value(node.value) or _is_call(node.value))
    )


def _is_type(node: ast.expr, names: set[str]) -> bool:
    """True for a type. Texts in it are evaluated, but for those of Literal: they may be names of types alone."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Constant):
        return node.value is None or node.value in names
    if isinstance(node, ast.Call):
        return _is_bounded(node, names)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and _is_type(node.left, names) and _is_type(node.right, names)
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if node.value.id == "Literal":
        return all(_is_value(part) for part in inner)
    if node.value.id == "Annotated":
        return _is_type(inner[0], names) and all(_is_call(part) for part in inner[1:])
    return node.value.id in names and all(_is_type(part, names) for part in inner)


def _is_bounded(node: ast.Call, names: set[str]) -> bool:
    """True for the likes of ``constr(min_length=1)``."""
    return (
        isinstance(node.func, ast.Name)
        and node.func.id in _BOUNDED
        and all(_is_type(part, names) for part in node.args)
        and all(word.arg in _KEYWORDS and _is_value(word.value) for word in node.keywords)
    )


def _is_call(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _CALLED
        and all(_is_value(part) for part in node.args)
        and all(word.arg in _KEYWORDS and _is_value(word.value) for word in node.keywords)
    )


def _is_value(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    return isinstance(node, ast.Constant) and (node.value in (None, ...) or isinstance(node.value, str | int | float))
