"""What models become of a tool's schemas, in this process."""

import datetime
import sys
import types
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from mcp_generating import PACKAGES
from pydantic import BaseModel, ValidationError

from sandglass_supervisor.mcp_api import bounds, source_check
from sandglass_supervisor.mcp_api.models import models
from sandglass_supervisor.mcp_api.schemas import Unfit

pytestmark = pytest.mark.usefixtures("packages")


@pytest.fixture(scope="module")
def packages() -> Iterator[None]:
    sys.path.append(PACKAGES)
    yield
    sys.path.remove(PACKAGES)


def classes(**schemas: Any) -> Any:
    module = types.ModuleType("test_mcp_models")
    sys.modules[module.__name__] = module
    exec(f"from __future__ import annotations\n{models(schemas)}", module.__dict__)
    return module


def params(schema: Any) -> Any:
    return classes(Params=schema).Params


def sent(model: BaseModel) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def of(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def test_required_and_optional() -> None:
    model = params(of({"a": {"type": "string"}, "b": {"type": "integer", "default": 3}}, required=["a"]))
    assert model(a="x").b == 3
    assert sent(model(a="x")) == {"a": "x"}
    for wrong in ({}, {"a": 1}, {"a": "x", "b": None}, {"a": "x", "c": 1}):
        with pytest.raises(ValidationError):
            model(**wrong)


def test_an_unknown_keyword_is_refused_unless_the_schema_permits_it() -> None:
    assert sent(params(of({"a": {}}, additionalProperties=True))(b=1)) == {"b": 1}
    assert sent(params({"type": "object"})(b=1)) == {"b": 1}
    assert sent(params({})(b=1)) == {"b": 1}
    for schema in (of({"a": {}}), of({})):
        with pytest.raises(ValidationError):
            params(schema)(b=1)


def test_nested_objects_definitions_and_recursion() -> None:
    node = of({"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}})
    model = params(
        of({"tree": {"$ref": "#/$defs/Node"}, "at": of({"x": {"type": "number"}})}, **{"$defs": {"Node": node}})
    )
    made = model(tree={"value": 1, "children": [{"value": 2}]}, at={"x": 1.5})
    assert made.tree.children[0].value == 2
    assert made.at.x == 1.5
    with pytest.raises(ValidationError):
        model(tree={"children": [{"value": "no"}]})


def test_recursion_without_objects() -> None:
    tree = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Tree"}}]}
    model = params(of({"a": {"$ref": "#/$defs/Tree"}}, **{"$defs": {"Tree": tree}}))
    assert sent(model(a=["x", ["y"]])) == {"a": ["x", ["y"]]}
    with pytest.raises(ValidationError):
        model(a=["x", [1]])


def test_several_types_with_bounds() -> None:
    either = {"type": ["string", "integer", "array"], "minLength": 1, "minimum": 2, "items": {"type": "string"}}
    model = params(of({"a": either}))
    assert [model(a=value).a for value in ("x", 2, ["x"])] == ["x", 2, ["x"]]
    for wrong in ("", 1, [2]):
        with pytest.raises(ValidationError):
            model(a=wrong)


def test_values_with_bounds_that_are_alternatives() -> None:
    """As FastMCP writes an optional value with bounds."""
    short = {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}], "default": None}
    listed = {"type": "array", "items": {"type": "integer", "minimum": 1}}
    model = params(of({"a": short, "b": listed, "c": {"type": "object", "additionalProperties": short}}))
    made = model(a="xy", b=[1], c={"k": "xy"})
    assert (made.a, made.b, made.c) == ("xy", [1], {"k": "xy"})
    assert model(a=None).a is None
    for wrong in ({"a": "x"}, {"b": [0]}, {"c": {"k": "x"}}):
        with pytest.raises(ValidationError):
            model(**wrong)


def test_a_schema_that_is_a_part_of_itself() -> None:
    assert params(of({"inner": {"$ref": "#"}}))(inner={"inner": {}}).inner.inner.inner is None


def test_choices_are_plain_values() -> None:
    colors = {"$defs": {"Color": {"enum": ["red", "blue"]}}}
    model = params(of({"color": {"$ref": "#/$defs/Color"}, "kind": {"const": "x"}, "n": {"enum": [1, None]}}, **colors))
    assert model(color="red", kind="x", n=1).color == "red"
    for wrong in ({"color": "green"}, {"kind": "y"}, {"n": 2}):
        with pytest.raises(ValidationError):
            model(**wrong)


def test_alternatives() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}
    model = params(of({"a": either}, required=["a"]))
    assert [model(a=value).a for value in ("x", [1], None)] == ["x", [1], None]
    with pytest.raises(ValidationError):
        model(a=["x"])
    one_of = {"oneOf": [of({"a": {"type": "integer"}}, required=["a"]), of({"b": {"type": "string"}}, required=["b"])]}
    assert sent(params(one_of)(b="x")) == {"b": "x"}


def test_all_of() -> None:
    model = params({"allOf": [{"$ref": "#/$defs/A"}, of({"b": {"type": "integer"}})], "$defs": {"A": of({"a": {}})}})
    assert sent(model(a=1, b=2)) == {"a": 1, "b": 2}


def test_formats() -> None:
    forms = {name: {"type": "string", "format": name} for name in ("date-time", "date", "uuid", "uri", "email", "byte")}
    model = params(of({name.replace("-", "_"): form for name, form in forms.items()}))
    made = model(
        date_time="2026-01-02T03:04:05Z", date="2026-01-02", uuid=str(uuid.UUID(int=1)), uri="http://a.example"
    )
    assert made.date_time == datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    assert (made.date, made.uuid) == (datetime.date(2026, 1, 2), uuid.UUID(int=1))
    assert sent(made)["uri"] == "http://a.example"
    assert model.model_fields["uri"].description == "Format: uri."


def test_bounds_of_values() -> None:
    schema = of(
        {
            "n": {"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 2},
            "s": {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^a+$"},
            "l": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
        }
    )
    model = params(schema)
    assert sent(model(n=4, s="aa", l=["x"])) == {"n": 4, "s": "aa", "l": ["x"]}
    wrong: dict[str, Any]
    for wrong in ({"n": 0}, {"n": 6}, {"n": 3}, {"s": "a"}, {"s": "aaaa"}, {"s": "bb"}, {"l": []}, {"l": ["x"] * 3}):
        with pytest.raises(ValidationError):
            model(**wrong)


def test_patterns_that_pydantic_does_not_know_are_left_out() -> None:
    assert params(of({"s": {"type": "string", "pattern": "^(?!x)"}}))(s="x").s == "x"


def test_names_that_python_or_pydantic_keeps_to_itself() -> None:
    names = ["from", "class", "schema", "model_config", "copy", "self", "a-b", "1st", "größe"]
    names += ["_x", "__init__", "", "a b", "Params", "params", "run", "date", "float", "list", "str", "x" * 200]
    model = params(of({name: {"type": "integer"} for name in names}))
    assert sent(model(**dict.fromkeys(names, 1))) == dict.fromkeys(names, 1)
    assert sent(model(from_=1)) == {"from": 1}


def test_maps() -> None:
    model = params(
        of({"m": {"type": "object", "additionalProperties": {"type": "integer"}}, "free": {"type": "object"}})
    )
    assert sent(model(m={"a": 1}, free={"b": [None]})) == {"m": {"a": 1}, "free": {"b": [None]}}
    with pytest.raises(ValidationError):
        model(m={"a": "x"})
    by_pattern = {"type": "object", "patternProperties": {"^x": {"type": "integer"}}}
    assert sent(params(of({"m": by_pattern}))(m={"x1": 1})) == {"m": {"x1": 1}}


def test_definitions_cannot_take_the_names_of_the_roots() -> None:
    other = {
        name: of({f"other_{name}": {"type": "string"}}) for name in ("Params", "Result", "BaseModel", "run", "Any")
    }
    schema = of({name: {"$ref": f"#/$defs/{name}"} for name in other}, **{"$defs": other})
    made = classes(Params=schema, Result=schema)
    for root in (made.Params, made.Result):
        assert {field.alias or name for name, field in root.model_fields.items()} == set(other)
    assert sent(made.Params(Params={"other_Params": "x"}))["Params"] == {"other_Params": "x"}


def test_parts_cannot_take_the_names_of_the_roots() -> None:
    """A list of results is what most output schemas are."""
    parts = {name: {"type": "array", "items": of({"id": {"type": "integer"}})} for name in ("results", "params")}
    schema = of({**parts, "params_item": of({"x": {"type": "integer"}}), "result": of({"y": {"type": "integer"}})})
    made = classes(Params=schema, Result=schema)
    assert made.Result(results=[{"id": 1}], result={"y": 2}).results[0].id == 1
    assert made.Params(params=[{"id": 1}], params_item={"x": 1}).params_item.x == 1
    with pytest.raises(ValidationError):
        made.Result(results=[{"id": "x"}])


def test_a_reference_has_a_description_of_its_own() -> None:
    color = {"$ref": "#/$defs/Color", "description": "of the wall", "default": None}
    model = params(of({"color": color}, **{"$defs": {"Color": of({"r": {"type": "integer"}})}}))
    assert model.model_fields["color"].description == "of the wall"
    assert (model().color, model(color={"r": 1}).color.r) == (None, 1)


def test_default_values_that_are_no_scalars_are_described() -> None:
    model = params(of({"a": {"type": "array", "items": {}, "default": [1]}}))
    assert model().a is None
    assert model.model_fields["a"].description == "Default: [1]."


@pytest.mark.parametrize(
    "reference",
    ["https://127.0.0.1:1/x.json", "file:///etc/passwd", "x.json", "../x.json", "/etc/passwd", "#anchor", "#/none", 7],
)
def test_references_out_of_the_schema_are_refused(reference: Any) -> None:
    with pytest.raises(Unfit, match="a reference leads"):
        models({"Params": of({"a": {"$ref": reference}})})


def test_keywords_that_would_become_imports_are_not_seen() -> None:
    """With a control: the generator of models obeys them."""
    from datamodel_code_generator import InputFileType, generate
    from datamodel_code_generator.format import Formatter

    evil = {"customBasePath": "antigravity.Evil", "x-python-type": "os.system", "x-python-import": {"module": "os"}}
    schema = of({"a": {"type": "string", "customTypePath": "os.path.Evil", **evil}}, **evil)
    known = generate(schema, input_file_type=InputFileType.JsonSchema, formatters=[Formatter.BUILTIN])
    assert "from antigravity import Evil" in str(known)
    source = models({"Params": schema})
    assert "antigravity" not in source
    assert "os" not in source.split()


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "from os import system",
        "from pydantic import *",
        "from pydantic import BaseModel as Field",
        "print(1)",
        "class A(print(1)): pass",
        "class A(BaseModel, metaclass=type): pass",
        "@print\nclass A(BaseModel): pass",
        "class A(BaseModel):\n    a: print(1)",
        "class A(BaseModel):\n    a: 'print(1)'",
        "class A(BaseModel):\n    a: list['print(1)']",
        "class A(BaseModel):\n    a: list['os']",
        "class A(BaseModel):\n    a: list[b'A']",
        "class A(BaseModel):\n    a: constr(pattern=print(1))",
        "class A(BaseModel):\n    a: constr('print(1)')",
        "class A(BaseModel):\n    a: int = print(1)",
        "class A(BaseModel):\n    a: int = Field(default_factory=print)",
        "class A(BaseModel):\n    a: int = Field(description=f'{print(1)}')",
        "class A(BaseModel):\n    a: Annotated[int, print(1)]",
        "class A(BaseModel):\n    def f(self): pass",
        "class A(BaseModel):\n    __init__ = print",
        "class A(BaseModel):\n    __slots__: int = 1",
        "class run(BaseModel): pass",
        "class A(BaseModel): pass\nclass A(BaseModel): pass",
        "class A(BaseModel): pass\nA.model_rebuild(print(1))",
        "class A(BaseModel):\n    a: str = '\u202e'",
        "class A(BaseModel:",
        "(" * 10_000,
    ],
)
def test_only_declarations_are_run(source: str) -> None:
    good = "from pydantic import BaseModel, Field\nfrom typing import Annotated\n"
    source_check.check(f"{good}class B(BaseModel):\n    a: Annotated[int, Field(gt=1)] = 2\nB.model_rebuild()\n")
    with pytest.raises(Unfit):
        source_check.check(good + source)


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = of({"a": schema})
    return schema


def parts(count: int) -> dict[str, Any]:
    return of({f"p{n}": {} for n in range(count - 1)})


def described(size: int) -> dict[str, Any]:
    return of(
        {"a": {"description": "x" * (size - len('{"type": "object", "properties": {"a": {"description": ""}}}'))}}
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "bound"),
    [
        (deep, bounds.SCHEMA_DEPTH),
        (parts, bounds.SCHEMA_PARTS),
        (described, bounds.SCHEMA_CHARS),
        (lambda size: of({"x" * size: {}}), bounds.PROPERTY_NAME_CHARS),
        (lambda size: of({"a": {"enum": list(range(size))}}), bounds.CHOICES),
        (lambda size: of({"a": {"anyOf": [{"type": "string"}] * size}}), bounds.ALTERNATIVES),
    ],
)
def test_bounds_at_the_bound(schema: Any, bound: int) -> None:
    assert "class Params" in models({"Params": schema(bound)})
    with pytest.raises(Unfit, match=str(bound)):
        models({"Params": schema(bound + 1)})


def bomb(levels: int) -> dict[str, Any]:
    """Each definition holds the next one twice: a few hundred characters, and millions of parts."""
    definitions: dict[str, Any] = {"D0": {"type": "string"}}
    for level in range(levels):
        inner = {"$ref": f"#/$defs/D{level}"}
        definitions[f"D{level + 1}"] = {"anyOf": [inner, {"type": "array", "items": inner}]}
    return of({"a": {"$ref": f"#/$defs/D{levels}"}}, **{"$defs": definitions})


def test_bombs_of_references() -> None:
    assert "class Params" in models({"Params": bomb(3)})
    with pytest.raises(Unfit):
        models({"Params": bomb(25)})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        of({"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}),
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        of({"a": {"$ref": "#/properties/a"}}),
        of({"a": {"anyOf": [{"$ref": "#/properties/a"}, {"type": "array", "items": {"$ref": "#/properties/a"}}]}}),
        [],
        None,
        "text",
        of({"a": 7}),
        of({"a": {"properties": [], "required": 7, "items": [{}], "anyOf": {}, "type": [{}]}}),
        of({"a": {"default": {"x" * 100: "y" * 10_000}}}),
        {"type": "object", "properties": 7},
    ],
)
def test_schemas_that_make_no_sense_end_soon(schema: Any) -> None:
    with suppress(Unfit):
        source_check.check(models({"Params": schema}))
