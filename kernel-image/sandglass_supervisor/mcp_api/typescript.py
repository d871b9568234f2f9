"""Types of TypeScript for a JSON Schema (pure).

Whatever names and descriptions hold, the text is valid: names are identifiers of ours or literals, descriptions stand
in comments that they cannot end. ``schemas.py`` reduces the schema before; what it leaves out is ``unknown``.
"""

import json
import re
from typing import Any

from . import bounds
from .schemas import Definitions, Schema, Unfit
from .texts import quote

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
_SIMPLE = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_ANY_OBJECT = "{ [key: string]: unknown }"
_INDENT = "  "
# Words that no function or type may have as its name, those of older and of strict code included, and names of types.
FORBIDDEN = frozenset(
    "abstract any arguments as asserts async await bigint boolean break byte case catch char class const constructor"
    " continue debugger declare default delete do double else enum eval exports export extends false final finally"
    " float for from function get global globalthis goto if implements import in infer instanceof int interface is"
    " keyof let long module namespace native never new null number object of out override package private protected"
    " public readonly require return satisfies set short static string super switch symbol synchronized this throw"
    " throws transient true try type typeof undefined unique unknown using var void volatile while with yield".split()
)


def declarations(name: str, schema: Any, closed: bool) -> tuple[str | None, str]:
    """Declarations of the type and of those it refers to; or nothing, and why.

    ``closed``: properties take no others beside them, if the schema is silent.
    """
    definitions = Definitions(lambda _: False, FORBIDDEN | {"Arguments", "Result"})
    try:
        definitions.add_root(name, schema, closed)
        _refuse_circles(definitions.schemas)
        # Those of the arguments and of the result stand in one namespace.
        others = {key: key if key == name else f"{name}{key}" for key in definitions.schemas}
        return "".join(_declaration(others[key], node, others) for key, node in definitions.schemas.items()), ""
    except Unfit as unfit:
        return None, str(unfit)
    except (MemoryError, RecursionError):
        return None, "its schema is too deep"


def comment(text: str, indent: str) -> str:
    """A comment of documentation with this text, which cannot end it."""
    lines = text.replace("*/", "*\\/").split("\n")
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"


def _refuse_circles(schemas: dict[str, Schema]) -> None:
    """A type may hold itself in an object or a list, but not be itself."""
    direct = {name: _references(node) for name, node in schemas.items()}
    for name in schemas:
        reached, new = set[str](), direct[name]
        while new:
            reached |= new
            new = set[str]().union(*(direct[other] for other in new)) - reached
        if name in reached:
            raise Unfit("a part of its schema is defined by itself")


def _references(node: Schema) -> set[str]:
    if "$ref" in node:
        return {node["$ref"].removeprefix("#/$defs/")}
    return set[str]().union(*(_references(part) for key in ("anyOf", "allOf") for part in node.get(key, ())))


def _declaration(name: str, node: Schema, names: dict[str, str]) -> str:
    return f"{_described(node, '')}type {name} = {_type(node, names, '')};\n"


def _described(node: Schema, indent: str) -> str:
    said = [node["description"]] if node.get("description") else []
    if "default" in node:
        said.append(f"Default: {json.dumps(node['default'])}")
    return comment(quote("\n".join(said)).replace("    | ", "| "), indent) if said else ""


def _type(node: Schema, names: dict[str, str], indent: str) -> str:
    """The type as it may stand anywhere, so in brackets where it has several parts."""
    if "$ref" in node:
        return names[node["$ref"].removeprefix("#/$defs/")]
    if "enum" in node:
        return _union([_literal(value) for value in node["enum"]])
    if "anyOf" in node:
        return _union([_type(part, names, indent) for part in node["anyOf"]])
    given = node.get("type")
    types = given if isinstance(given, list) else [] if given is None else [given]
    found = _union([_of_type(name, node, names, indent) for name in types]) if types else "unknown"
    parts = [_type(part, names, indent) for part in node.get("allOf", ())]
    if not parts:
        return found
    if "properties" in node or "object" not in types:
        parts.insert(0, found)
    parts = [part for part in dict.fromkeys(parts) if part != "unknown"]
    return parts[0] if len(parts) == 1 else f"({' & '.join(parts)})" if parts else "unknown"


def _of_type(name: str, node: Schema, names: dict[str, str], indent: str) -> str:
    if name == "array":
        return f"{_type(node['items'], names, indent)}[]" if "items" in node else "unknown[]"
    if name == "object":
        return _object(node, names, indent)
    return _SIMPLE[name]


def _object(node: Schema, names: dict[str, str], indent: str) -> str:
    more = node.get("additionalProperties", True)
    properties = node.get("properties")
    if not properties:
        if isinstance(more, dict):
            return f"{{ [key: string]: {_type(more, names, indent)} }}"
        return _ANY_OBJECT if more else "{ [key: string]: never }"
    inner = indent + _INDENT
    lines = []
    for key, part in properties.items():
        mark = "" if key in node.get("required", ()) else "?"
        lines.append(f"{_described(part, inner)}{inner}{_key(key)}{mark}: {_type(part, names, inner)};\n")
    if more:
        lines.append(f"{inner}[key: string]: unknown;\n")
    return f"{{\n{''.join(lines)}{indent}}}"


def _key(name: str) -> str:
    return name if _IDENTIFIER.fullmatch(name) and name not in FORBIDDEN else json.dumps(name)


def _literal(value: Any) -> str:
    # Larger whole numbers are others in JavaScript.
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return "number"
    return json.dumps(value) if len(json.dumps(value)) <= bounds.VALUE_CHARS else "string"


def _union(parts: list[str]) -> str:
    different = list(dict.fromkeys(parts))
    if "unknown" in different:
        return "unknown"
    return different[0] if len(different) == 1 else f"({' | '.join(different)})"
