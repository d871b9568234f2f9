"""What the generated modules call: validated parameters in, a validated result or text out."""

from typing import Any

from . import _api, _values
from ._errors import ToolRunnerError


def run(server: str, tool: str, params: Any, model: Any, result_model: Any = None) -> Any:
    """Call a tool with the parameters of its module."""
    result = _api.result_of(server, tool, _arguments(params, model), None)
    return _returned(server, tool, result, result_model)


async def run_async(server: str, tool: str, params: Any, model: Any, result_model: Any = None) -> Any:
    """``run`` for coroutines."""
    result = await _api.result_of_async(server, tool, _arguments(params, model), None)
    return _returned(server, tool, result, result_model)


def _arguments(params: Any, model: Any) -> dict[str, Any]:
    """What the caller gave. A parameter that is absent stays so: the server knows its own default."""
    if not isinstance(params, model):
        # A dict, or what an older module of a server that was registered again has made.
        given = params.model_dump(by_alias=True, exclude_unset=True) if hasattr(params, "model_dump") else params
        params = model.model_validate(given)
    dumped = params.model_dump(mode="json", by_alias=True, exclude_unset=True)
    arguments = _without_absent(params, dumped)
    if not isinstance(arguments, dict):
        raise ToolRunnerError(f"the parameters are an object, not {type(arguments).__name__}")
    return arguments


def _without_absent(value: Any, dumped: Any) -> Any:
    """None for an optional field whose default is None says the same as no field, which every schema accepts."""
    if isinstance(value, list) and isinstance(dumped, list):
        return [_without_absent(*pair) for pair in zip(value, dumped, strict=False)]
    if isinstance(value, dict) and isinstance(dumped, dict):
        return {key: _without_absent(value.get(key), inner) for key, inner in dumped.items()}
    fields = getattr(type(value), "model_fields", None)
    if fields is None:
        return dumped
    if type(value).__pydantic_root_model__:
        return _without_absent(value.root, dumped)
    kept = dict(dumped)
    for name, field in fields.items():
        key = name if field.alias is None else field.alias
        if key not in kept:
            continue
        inner = getattr(value, name)
        if inner is None and not field.is_required() and field.default is None:
            del kept[key]
        else:
            kept[key] = _without_absent(inner, kept[key])
    return kept


def _returned(server: str, tool: str, result: dict[str, Any], result_model: Any) -> Any:
    if result_model is None:
        return _values.text_of(result)
    content = result.get("structuredContent")
    if content is None:
        # Servers that send their result as text alone.
        content = _values.parsed(_values.text_of(result))
    try:
        return result_model.model_validate(content)
    except ValueError as error:
        raise ToolRunnerError(
            f"{server}.{tool} answered what its own output schema forbids: {error}\n"
            f"mcptools.call({server!r}, {tool!r}, …) returns it as it is.",
            server,
            tool,
        ) from None
