"""`@tool`: a tool from a typed function."""

import inspect
import re
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from ahp.facts.tool import Touched
from ahp.runner.tools.tool import FunctionTool, ToolContext

# Sphinx and Epydoc: `:param int count: how many`.
_FIELD = re.compile(r"[:@](?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")
_ANY_FIELD = re.compile(r"[:@]\w+[^:]*:")
_HEADING = re.compile(r"(?:Args|Arguments|Parameters|Params)\s*:?\s*")
# Google: `count (int): how many`; NumPy: `count : int`, and what it is stands below, further in.
_GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s+(.*)")
_NUMPY = re.compile(r"(\w+)\s*(?::.*)?")


class Documented(NamedTuple):
    """The first paragraph on one line, and what is said of each argument."""

    summary: str
    arguments: dict[str, str]


def documented(text: str) -> Documented:
    """What a docstring (as `inspect.getdoc` gives it) says; of any other form only the first paragraph is read."""
    lines = text.splitlines()
    end = next((at for at, line in enumerate(lines) if not line.strip() or _begins_part(lines, at)), len(lines))
    return Documented(" ".join(" ".join(lines[:end]).split()), {**_fields(lines), **_section(lines)})


def _begins_part(lines: list[str], at: int) -> bool:
    return bool(_ANY_FIELD.match(lines[at]) or (_HEADING.fullmatch(lines[at]) and at))


def _fields(lines: list[str]) -> dict[str, str]:
    """`:param name: what it is`, going on in the lines below that are further in."""
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        field = _FIELD.match(line)
        if field:
            name, found[field[1]] = field[1], field[2].strip()
        elif name and line[:1].isspace() and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = ""
    return {name: said for name, said in found.items() if said}


def _section(lines: list[str]) -> dict[str, str]:
    """The section of arguments in Google's form (`Args:`) or NumPy's (`Parameters`, underlined)."""
    at = next((at for at, line in enumerate(lines) if _HEADING.fullmatch(line)), None)
    if at is None:
        return {}
    underlined = at + 1 < len(lines) and bool(re.fullmatch(r"-{3,}\s*", lines[at + 1]))
    if not (underlined or lines[at].rstrip().endswith(":")):
        return {}
    body = lines[at + 1 + underlined :]
    found: dict[str, str] = {}
    name, margin = "", 0 if underlined else None
    for number, line in enumerate(body):
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        following = body[number + 1] if number + 1 < len(body) else ""
        if depth == 0 and (not underlined or re.fullmatch(r"-{3,}\s*", following)):
            break  # the next section
        margin = depth if margin is None else margin
        if depth > margin:
            found[name] = f"{found.get(name, '')} {line.strip()}".strip()
            continue
        entry = (_NUMPY if underlined else _GOOGLE).fullmatch(line.strip())
        name = entry[1] if entry else ""
        if entry and not underlined:
            found[name] = entry[2].strip()
    found.pop("", None)
    return {name: said for name, said in found.items() if said}


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

    The first paragraph of its documentation describes it, and what that says of a parameter (in Google's, NumPy's or
    Sphinx's form, or as a text in `Annotated`) the argument. A parameter annotated `ToolContext` gets the context and
    is no argument. What the function returns is told the model as text: values as JSON. `name` stands for the
    function's own, `description` for its documentation; the rest is FunctionTool's. Raises TypeError for a parameter
    without annotation, one that takes any number of values or whose name begins with `_`, and for a generator.
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
    said = documented(inspect.getdoc(function) or "")
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
        fields[parameter.name] = (_described(hints[parameter.name], parameter.name, default, said), default)
    with warnings.catch_warnings():  # a parameter may be called like something of pydantic's, such as `schema`
        warnings.filterwarnings("ignore", message=".*shadows an attribute in parent.*", category=UserWarning)
        config = ConfigDict(extra="forbid", protected_namespaces=())
        args: type[BaseModel] = create_model(function.__name__, __config__=config, **fields)

    def run(given: BaseModel, context: ToolContext) -> Any:
        values = {field: getattr(given, field) for field in fields}
        return function(**values, **dict.fromkeys(contexts, context))

    return FunctionTool(name or function.__name__, description or said.summary, args, run, **settings)


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


def _described(hint: Any, name: str, default: Any, said: Documented) -> Any:
    """The type with what is said of the argument, unless that is described already."""
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if any(isinstance(one, FieldInfo) and one.description for one in (*extras, default)):
        return hint
    text = next((one for one in extras if isinstance(one, str)), said.arguments.get(name))
    return Annotated[hint, Field(description=text)] if text else hint
