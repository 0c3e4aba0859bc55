"""`@tool`: a tool from a typed function."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, create_model

from ahp.facts.tool_call import Touched
from ahp.runner.tools.tool import FunctionTool, ToolContext


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    kind: str = "other",
    writes: bool | None = None,
    timeout_s: float | None = None,
    touched: Callable[[Any], Touched] | None = None,
    aliases: Iterable[str] = (),
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(function: Callable[..., Any] | None = None, /, **settings: Any) -> Any:
    """A FunctionTool of a function: its parameters are the arguments, its first line of documentation describes it.

    A parameter annotated `ToolContext` gets the context and is no argument. What the function returns is told the model
    as text. `name` stands for the function's own, `description` for its documentation; the rest is FunctionTool's.
    Raises TypeError for a parameter without annotation, or one that takes any number of values.
    """
    if function is None:
        return lambda decorated: _made(decorated, **settings)
    return _made(function)


def _made(function: Callable[..., Any], name: str = "", description: str = "", **settings: Any) -> FunctionTool:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    contexts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"a tool takes its arguments by name; {parameter} of {function.__name__} does not")
        if parameter.name not in hints:
            raise TypeError(f"what is {parameter.name} of {function.__name__}? Annotate it with its type")
        if hints[parameter.name] is ToolContext:
            contexts.append(parameter.name)
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    args: type[BaseModel] = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)

    def run(given: BaseModel, context: ToolContext) -> str:
        values = {field: getattr(given, field) for field in fields}
        return str(function(**values, **dict.fromkeys(contexts, context)))

    told = description or (inspect.getdoc(function) or "").partition("\n")[0]
    return FunctionTool(name or function.__name__, told, args, run, **settings)
