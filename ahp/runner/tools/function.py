"""`@tool`: a tool from a typed function."""

import inspect
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from ahp.facts.tool import Touched
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
    """A FunctionTool of a function, async or not: its parameters are the arguments.

    Its documentation, whatever its form, describes it; a text in `Annotated` describes an argument. A parameter
    annotated `ToolContext` gets the context and is no argument. What the function returns is told the model as text:
    values as JSON. `name` stands for the function's own, `description` for its documentation; the rest is
    FunctionTool's. Raises TypeError for a parameter without annotation, one that takes any number of values or whose
    name begins with `_`, and for a generator.
    """
    here = inspect.currentframe()
    around = here.f_back.f_locals if here and here.f_back else {}
    if function is None:
        return lambda decorated: _made(decorated, around, **settings)
    return _made(function, around)


def _made(
    function: Callable[..., Any], around: Mapping[str, Any], name: str = "", description: str = "", **settings: Any
) -> FunctionTool:
    hints = _hints(function, around)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"a tool returns what it has for the model; {function.__name__} yields. Return a list")
    fields: dict[str, Any] = {}
    contexts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"a tool takes its arguments by name; {parameter} of {function.__name__} does not")
        if parameter.name not in hints:
            raise TypeError(f"what is {parameter.name} of {function.__name__}? Annotate it with its type")
        if _is_context(hints[parameter.name]):
            contexts.append(parameter.name)
            continue
        if parameter.name.startswith("_") or parameter.name == "model_config":
            raise TypeError(f"{parameter.name} of {function.__name__} can be no argument of a tool; name it otherwise")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (_described(hints[parameter.name], default), default)
    with warnings.catch_warnings():  # a parameter may be called like something of pydantic's, such as `schema`
        warnings.filterwarnings("ignore", message=".*shadows an attribute in parent.*", category=UserWarning)
        config = ConfigDict(extra="forbid", protected_namespaces=())
        args: type[BaseModel] = create_model(function.__name__, __config__=config, **fields)

    def run(given: BaseModel, context: ToolContext) -> Any:
        values = {field: getattr(given, field) for field in fields}
        return function(**values, **dict.fromkeys(contexts, context))

    return FunctionTool(name or function.__name__, description or inspect.getdoc(function) or "", args, run, **settings)


def _hints(function: Callable[..., Any], around: Mapping[str, Any]) -> dict[str, Any]:
    """The types of its parameters; names that its module does not know are those where it is made a tool."""
    try:
        return get_type_hints(function, include_extras=True)
    except NameError:
        return get_type_hints(function, localns=dict(around), include_extras=True)


def _is_context(hint: Any) -> bool:
    """Whether a parameter of this type gets the context, also as `ToolContext | None`."""
    if get_origin(hint) in (Union, types.UnionType, Annotated):
        return any(_is_context(one) for one in get_args(hint))
    return hint is ToolContext


def _described(hint: Any, default: Any) -> Any:
    """The type, with a text in its `Annotated` as its description, unless it is described already."""
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if any(isinstance(one, FieldInfo) and one.description for one in (*extras, default)):
        return hint
    text = next((one for one in extras if isinstance(one, str)), None)
    return Annotated[hint, Field(description=text)] if text else hint
