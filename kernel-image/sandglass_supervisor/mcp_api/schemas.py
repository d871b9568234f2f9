"""A tool's JSON Schema, reduced to what the generator of models may see (pure).

Only keywords that are known here are taken over: others can name modules to import and classes to derive from. No
reference leads out of the schema. Definitions get names of our own, and what is no object is put in their place.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote

from . import bounds
from .names import class_name
from .texts import cleaned

_TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
_SIZES = ("minLength", "maxLength", "minItems", "maxItems")
_RANGES = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
# The others are of no use to code (a URL would be changed by being parsed), or need more packages.
_FORMATS = ("date-time", "date", "uuid")
_OBJECT = ("properties", "additionalProperties", "patternProperties", "required", "allOf")
_BESIDE = ("anyOf", "oneOf", "allOf", "$ref", "additionalProperties", "patternProperties")
_OWN = {
    "array": ("items", "prefixItems", "minItems", "maxItems"),
    "integer": (*_RANGES, "multipleOf"),
    "number": _RANGES,
    "string": ("minLength", "maxLength", "pattern", "format"),
}
_MISSING = object()

Schema = dict[str, Any]


class Place(NamedTuple):
    """Where a part of a schema stands: under which name, how deep, and by which references that got no name."""

    name: str
    depth: int = 0
    inlined: tuple[str, ...] = ()
    is_whole: bool = True

    def below(self, name: str | None = None) -> "Place":
        """A part of this one, which gets a name of its own if it is an object."""
        return self._replace(name=name or self.name, depth=self.depth + 1, is_whole=False)


class Unfit(Exception):
    """No models can be made of a schema; the message says why."""


class Definitions:
    """The definitions of one module. ``accepts`` says whether a regular expression is one that pydantic takes."""

    def __init__(self, accepts: Callable[[str], bool], reserved: frozenset[str]) -> None:
        self._accepts = accepts
        self._used = set(reserved)
        self.schemas: dict[str, Schema] = {}

    def add_root(self, name: str, schema: Any, closed: bool) -> None:
        """Add a whole schema under that name; ``closed``: properties take no others beside them, if it is silent."""
        if not isinstance(schema, dict):
            raise Unfit("the schema is no object")
        self._used.add(name)
        try:
            size = len(json.dumps(schema))
        except (TypeError, ValueError, RecursionError):
            raise Unfit("the schema is no JSON") from None
        if size > bounds.SCHEMA_CHARS:
            raise Unfit(f"the schema has {size} characters, more than {bounds.SCHEMA_CHARS}")
        if closed and "properties" in schema and not any(key in schema for key in _BESIDE):
            schema = {**schema, "type": "object", "additionalProperties": False}
        elif closed and not any(key in schema for key in (*_BESIDE, "enum", "const")):
            schema = {**schema, "type": "object", "additionalProperties": True}
        reading = _Reading(schema, name, self._used, self._accepts, self.schemas)
        self.schemas[name] = reading.node(schema, Place(name))
        while reading.waiting:
            pointer, defined = reading.waiting.pop()
            self.schemas[defined] = reading.node(reading.target(pointer), Place(defined, inlined=(pointer,)))


class _Reading:
    """One schema while it is read."""

    def __init__(
        self, schema: Schema, name: str, used: set[str], accepts: Callable[[str], bool], schemas: dict[str, Schema]
    ) -> None:
        self._schema = schema
        self._schemas = schemas
        self._names = {"": name}
        self._used = used
        self._accepts = accepts
        self._parts = 0
        self.waiting: list[tuple[str, str]] = []

    def node(self, node: Any, place: Place) -> Schema:
        """One part of the schema and all below it."""
        self._parts += 1
        if self._parts > bounds.SCHEMA_PARTS:
            raise Unfit(f"the schema has more than {bounds.SCHEMA_PARTS} parts")
        if place.depth > bounds.SCHEMA_DEPTH:
            raise Unfit(f"the schema is deeper than {bounds.SCHEMA_DEPTH} levels")
        if isinstance(node, bool):
            return {}
        if not isinstance(node, dict):
            raise Unfit("a part of the schema is no object")
        found = self._shape(node, place)
        if not place.is_whole and ("properties" in found or "allOf" in found):
            # Each class has a name from here: names that the generator of models chose could be those of others.
            name = class_name(place.name, self._used)
            self._schemas[name] = found
            found = {"$ref": f"#/$defs/{name}"}
        self._describe(node, found)
        return found

    def target(self, pointer: str) -> Any:
        """What a JSON pointer names."""
        found: Any = self._schema
        for token in pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(found, list) and key.isascii() and key.isdigit() and int(key) < len(found):
                found = found[int(key)]
            elif isinstance(found, dict) and key in found:
                found = found[key]
            else:
                raise Unfit("a reference leads to what is not there")
        return found

    def _shape(self, node: Schema, place: Place) -> Schema:
        if "$ref" in node:
            return self._reference(node["$ref"], place)
        choices = _choices(node)
        if choices is not None:
            return {"enum": choices}
        whole = _list(node, "allOf")
        if len(whole) == 1 and not any(key in node for key in ("properties", "required")):
            return self.node(whole[0], place._replace(depth=place.depth + 1))
        alternatives = _by_type(node) or [*_list(node, "anyOf"), *_list(node, "oneOf")]
        if alternatives and not any(key in node for key in _OBJECT):
            return self._any_of(alternatives, node, place)
        found = self._simple(node)
        if any(key in node for key in ("properties", "additionalProperties", "patternProperties")):
            self._object(node, found, place)
        if isinstance(node.get("items"), dict) and "prefixItems" not in node:
            found["items"] = self.node(node["items"], place.below(_one_of(place.name)))
        if whole:
            found["allOf"] = [self.node(part, place.below()) for part in whole]
        return found

    def _any_of(self, alternatives: list[Any], node: Schema, place: Place) -> Schema:
        if len(alternatives) > bounds.ALTERNATIVES:
            raise Unfit(f"a choice of more than {bounds.ALTERNATIVES} schemas")
        found = [self.node(part, place.below()) for part in alternatives]
        return {"anyOf": [*found, {"type": "null"}] if node.get("nullable") is True else found}

    def _reference(self, reference: Any, place: Place) -> Schema:
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            raise Unfit("a reference leads out of the schema")
        pointer = unquote(reference[1:])
        if pointer not in self._names:
            target = self.target(pointer)
            if not _is_object(target) and pointer not in place.inlined:
                return self.node(target, place.below()._replace(inlined=(*place.inlined, pointer)))
            self._names[pointer] = class_name(pointer.rpartition("/")[2], self._used)
            self.waiting.append((pointer, self._names[pointer]))
        return {"$ref": f"#/$defs/{self._names[pointer]}"}

    def _simple(self, node: Schema) -> Schema:
        types = [name for name in _as_list(node.get("type")) if name in _TYPES]
        if types and node.get("nullable") is True and "null" not in types:
            types.append("null")
        found: Schema = {key: node[key] for key in _SIZES if _is_int(node.get(key)) and 0 <= node[key] < 2**31}
        found.update({key: node[key] for key in _RANGES if _is_number(node.get(key))})
        if types:
            found["type"] = types[0] if len(types) == 1 else types
        if "integer" in types and _is_int(node.get("multipleOf")) and node["multipleOf"] > 0:
            found["multipleOf"] = node["multipleOf"]
        if types[:1] == ["string"]:
            self._text(node, found)
        return found

    def _text(self, node: Schema, found: Schema) -> None:
        pattern = node.get("pattern")
        if node.get("format") in _FORMATS:
            found["format"] = node["format"]
        elif isinstance(pattern, str) and self._is_pattern(pattern):
            found["pattern"] = pattern

    def _is_pattern(self, pattern: str) -> bool:
        return len(pattern) <= bounds.PATTERN_CHARS and pattern.isprintable() and self._accepts(pattern)

    def _object(self, node: Schema, found: Schema, place: Place) -> None:
        found["type"] = found.get("type", "object")
        properties = node.get("properties")
        more, patterns = node.get("additionalProperties"), node.get("patternProperties")
        if isinstance(properties, dict) and properties:
            if any(len(name) > bounds.PROPERTY_NAME_CHARS for name in properties):
                raise Unfit(f"a name of a property has more than {bounds.PROPERTY_NAME_CHARS} characters")
            found["properties"] = {name: self.node(part, place.below(name)) for name, part in properties.items()}
            found["required"] = [
                name for name in _list(node, "required") if isinstance(name, str) and name in properties
            ]
            found["additionalProperties"] = more is not False or bool(patterns)
            return
        if isinstance(patterns, dict) and patterns and not isinstance(more, dict):
            more = {"anyOf": list(patterns.values())}
        if isinstance(more, dict) and more:
            found["additionalProperties"] = self.node(more, place.below(f"{place.name}_value"))
        elif isinstance(more, bool):
            found["additionalProperties"] = more

    def _describe(self, node: Schema, found: Schema) -> None:
        said = [cleaned(node.get("description"), bounds.FIELD_DESCRIPTION_CHARS)]
        form = node.get("format")
        if isinstance(form, str) and form not in _FORMATS:
            said.append(f"Format: {cleaned(form, 50)}.")
        default = node.get("default", _MISSING)
        if _is_scalar(default) and len(str(default)) <= bounds.VALUE_CHARS:
            found["default"] = default
        elif default is not _MISSING:
            said.append(f"Default: {cleaned(json.dumps(default), bounds.VALUE_CHARS)}.")
        if any(said):
            found["description"] = " ".join(part for part in said if part)


def _choices(node: Schema) -> list[Any] | None:
    values = [node["const"]] if "const" in node else node.get("enum")
    if not isinstance(values, list) or not values:
        return None
    if len(values) > bounds.CHOICES:
        raise Unfit(f"a choice of more than {bounds.CHOICES} values")
    # Literal takes these.
    if not all(value is None or isinstance(value, str | int) for value in values):
        return None
    return [*values, None] if node.get("nullable") is True and None not in values else values


def _by_type(node: Schema) -> list[Schema]:
    """A schema for each type, if there are several and some has more to it than its name."""
    types = [name for name in _as_list(node.get("type")) if name in _TYPES]
    if len([name for name in types if name != "null"]) < 2 or not any(
        key in node for keys in _OWN.values() for key in keys
    ):
        return []
    return [{"type": name, **{key: node[key] for key in _OWN.get(name, ()) if key in node}} for name in types]


def _one_of(name: str) -> str:
    """What one of the list with that name is called."""
    return name[:-1] if name.endswith("s") and not name.endswith("ss") and len(name) > 3 else f"{name}_item"


def _is_object(node: Any) -> bool:
    """True for what becomes a class of its own, and may refer to itself."""
    return isinstance(node, dict) and "$ref" not in node and any(key in node for key in ("properties", "allOf"))


def _list(node: Schema, key: str) -> list[Any]:
    value = node.get(key)
    return value if isinstance(value, list) else []


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)
