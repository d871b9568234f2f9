"""Source code of pydantic models for the schemas of a tool, by datamodel-code-generator.

Its folder is put in front of the path by ``generate.py``, so it is imported where it is used.
"""

import ast
import sys
import types
import warnings
from typing import Any

from . import source_check
from .schemas import Definitions, Schema, Unfit

PARAMS, RESULT = "Params", "Result"
_MODULE = "sandglass_generated_models"
_WARM_UP = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": "object", "properties": {"b": {"enum": ["c"]}}}}},
}


def warm_up() -> None:
    """Import what making models needs, and make some: the first ones take a second or two."""
    models({PARAMS: _WARM_UP})


def models(schemas: dict[str, Any]) -> str:
    """Source code with a class for each schema under its name, without imports from the future; or raises Unfit."""
    definitions = Definitions(_accepts, source_check.KEPT | schemas.keys())
    for name, schema in schemas.items():
        definitions.add_root(name, schema, closed=name == PARAMS)
    try:
        source = _declarations(_generated(definitions.schemas))
    except (MemoryError, RecursionError):
        raise Unfit("its models take too much memory") from None
    source_check.check(source)
    _try(source, {name: definitions.schemas[name] for name in schemas})
    return source


def _generated(definitions: dict[str, Schema]) -> str:
    from datamodel_code_generator import DataModelType, InputFileType, LiteralType, generate
    from datamodel_code_generator.format import DatetimeClassType, Formatter, PythonVersion

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = generate(
                {"$defs": definitions},
                input_file_type=InputFileType.JsonSchema,
                output_model_type=DataModelType.PydanticV2BaseModel,
                target_python_version=PythonVersion.PY_310,
                # The cheapest: the others start a program, or import for a second.
                formatters=[Formatter.BUILTIN],
                custom_file_header="#",
                disable_timestamp=True,
                allow_remote_refs=False,
                strict_refs=True,
                allow_population_by_field_name=True,
                enum_field_as_literal=LiteralType.All,
                # Bounds of values stand with their types. As constraints of fields they would make a class of each
                # value in a list or a choice, whose attribute root is the value.
                field_constraints=False,
                output_datetime_class=DatetimeClassType.Datetime,
                skip_root_model=True,
                strict_nullable=True,
                use_double_quotes=True,
                use_standard_collections=True,
                use_union_operator=True,
            )
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever a schema provokes in it concerns this tool alone
        raise Unfit(f"no models can be made of its schema ({type(error).__name__})") from None
    if not isinstance(source, str):
        raise Unfit("its models would be several modules")
    return source


def _declarations(source: str) -> str:
    """All but the header and the import from the future, which must stand before our own code."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        raise Unfit("its models are no Python") from None
    kept = [node for node in body if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    if not kept:
        raise Unfit("there are no models")
    return "\n".join(source.splitlines()[kept[0].lineno - 1 :]) + "\n"


def _try(source: str, roots: dict[str, Schema]) -> None:
    """Run the declarations, which are nothing else by now: pydantic may still refuse them."""
    module = types.ModuleType(_MODULE)
    sys.modules[_MODULE] = module
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(f"from __future__ import annotations\n{source}", _MODULE, "exec"), module.__dict__)  # noqa: S102
            for name, schema in roots.items():
                model = getattr(module, name)
                model.model_rebuild()
                _compare(model, schema)
    except Unfit:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        raise Unfit(f"pydantic takes no models of its schema ({type(error).__name__})") from None
    finally:
        del sys.modules[_MODULE]


def _compare(model: Any, schema: Schema) -> None:
    """Whether the class has the properties of the schema, and not those of another one that took its name."""
    properties = schema.get("properties")
    if properties and "allOf" not in schema:
        names = {name if field.alias is None else field.alias for name, field in model.model_fields.items()}
        if names != set(properties):
            raise Unfit("its models have other fields than its schema")


def _accepts(pattern: str) -> bool:
    from pydantic_core import SchemaValidator, core_schema

    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern))
    except Exception:  # noqa: BLE001 - a pattern that it takes or does not take
        return False
    return True
