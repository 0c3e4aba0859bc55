"""What the runner needs of a tool, the tools of a run, and the environment that they work in: marked as an agent's."""

import inspect
import json
import os
import re
import threading
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol, get_args, get_type_hints, overload, runtime_checkable

from pydantic import (
    BaseModel,
    ConfigDict,
    SecretBytes,
    SecretStr,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import to_json, to_jsonable_python

from ahp.facts.tool import NAMES, Touched
from ahp.protocol.text import failure, one_line
from ahp.runner.models.endpoint import key_variables
from ahp.runner.tools.project_files import LastSeen
from ahp.runner.validation import Lean, sentences
from ahp.system import environ
from ahp.system.deadline import awaited
from ahp.system.descendants import MARK
from ahp.system.errors import AhpError
from ahp.system.interrupt import Ended

AGENT = "ahp"  # the runner's own name among agents
MARKER = "AHP_AGENT"

_lock = threading.Lock()
_runs = 0
_former: dict[str, str | None] = {}


def tool_environment(agent: str) -> dict[str, str]:
    """This process's environment for a program that a run of `agent` starts, without the keys of its model."""
    env, keys = environ.scrubbed(environ.current()), key_variables()
    return {**{name: value for name, value in env.items() if name not in keys}, MARKER: agent}


@contextmanager
def marked(agent: str, run: str = "") -> Iterator[None]:
    """Marks this process as `agent`'s while a run goes on; `run` is the mark of that run's processes.

    A tool may start programs without handing on `ToolContext.env`; they inherit the marks all the same. What is
    marked cannot give a person's answer (`ahp respond ID proceed_with_risk`), and its commits are judged as an agent's.
    """
    global _runs
    with _lock:
        if not _runs:
            _former.update({name: os.environ.get(name) for name in (MARKER, MARK)})
        _runs += 1
        os.environ.update({MARKER: agent, MARK: run})
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            for name, value in _former.items() if not _runs else ():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


# Other names of ahp's tools that models were trained on; letters and blanks do not count.
TRAINED = {
    "read_file": "read cat open_file view_file view",
    "list_files": "ls list list_dir list_directory glob find_files",
    "search": "grep search_files search_code rg",
    "write_file": "write write_to_file create_file save_file create",
    "append_file": "append append_to_file",
    "edit": "edit_file multiedit str_replace search_replace replace replace_in_file str_replace_editor "
    "str_replace_based_edit_tool text_editor",
    "apply_patch": "patch apply_diff",
    "run_command": "run_cmd shell bash sh exec execute_command execute_bash terminal run_shell_command local_shell "
    "run_terminal_cmd",
    "display": "show notify message_user",
}
WRITING = frozenset(
    name for own in ("write_file", "append_file", "edit", "apply_patch") for name in (own, *TRAINED[own].split())
)
# Other names of arguments, by ahp's own; the first one that a call has counts.
_TRAINED_ARGS = {
    "path": "file_path filepath file filename dir directory folder",
    "start": "offset start_line",
    "lines": "limit",
    "glob": "include",
    "pattern": "query regex text",
    "content": "text contents body file_text",
    "search": "old_string old_str old_text old find",
    "replace": "new_string new_str new_text new replacement",
    "all": "replace_all",
    "patch": "diff input",
    "command": "cmd script",
    "workdir": "cwd directory",
    "text": "message content markdown",
}
# What editors with one name for several tools say in `command`.
_EDITOR_COMMANDS = {"view": "read_file", "create": "write_file", "str_replace": "edit"}
_WRAPPERS = frozenset({"args", "arguments", "input", "parameters"})
_COMMENTS = frozenset({"description", "explanation", "reason", "thought"})  # what clients ask for beside a call
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")

# Kinds whose calls count as writing unless the tool says that it does not.
_MAY_WRITE = ("shell", "write", "edit", "patch", "mcp", "other")


@dataclass(frozen=True)
class ToolContext:
    """What one call works with. Hand `timeout_s` and `env` to the process door, or to whatever starts programs."""

    root: str
    """The project's folder: paths in arguments are relative to it."""

    timeout_s: float
    """Seconds this call may take."""

    env: dict[str, str] = field(default_factory=lambda: tool_environment(AGENT))
    """The environment for programs: marked as an agent's, without the variables of a git hook."""

    seen: LastSeen = field(default_factory=LastSeen)
    """What the tools of the run last saw in files."""

    placed: Callable[[str], str] = str
    """Gives the text that a shell is to run for a command: in the box of this call, where it has one."""


@runtime_checkable
class Tool(Protocol):
    """One tool. It runs only behind the gates of `ahp.runner.gating.gated_tools`."""

    @property
    def name(self) -> str:
        """How the model calls it."""
        ...

    @property
    def description(self) -> str:
        """One line for the system prompt."""
        ...

    @property
    def kind(self) -> str:
        """What a policy calls it: one of `ahp.facts.tool.NAMES`, such as shell, write, edit, read, other."""
        ...

    @property
    def args(self) -> type[BaseModel]:
        """The model its arguments are validated by."""
        ...

    @property
    def writes(self) -> bool:
        """Whether it may write what it names."""
        ...

    @property
    def timeout_s(self) -> float | None:
        """Seconds one call may take; None is the run's `tool_timeout_s`, 0 lets it never run."""
        ...

    def touches(self, args: Any) -> Touched | None:
        """What a call with these arguments will touch, judged before it runs; None: as the arguments' names tell."""
        ...

    def run(self, args: Any, context: ToolContext) -> object:
        """What it did, for the model: a text, or values that it is told as JSON. It may be async.

        Raises AhpError with a sentence when it could not, Timeout past its limit.
        """
        ...


class FunctionTool:
    """A tool made of a function of its validated arguments and the context.

    Where `writes` is not said, tools of the kinds shell, write, edit, patch, mcp and other count as writing.
    `touched` tells what a call will touch where the names of its arguments do not. `boxes` says that it runs commands
    as `ToolContext.placed` gives them.
    """

    def __init__(
        self,
        name: str,
        description: str,
        args: type[BaseModel],
        function: Callable[[Any, ToolContext], Any],
        writes: bool | None = None,
        timeout_s: float | None = None,
        kind: str = "other",
        touched: Callable[[Any], Touched] | None = None,
        boxes: bool = False,
    ) -> None:
        self.boxes = boxes
        self.annotations: dict[str, bool] = {}  # what an MCP server says of it
        self.name, self.description, self.kind, self.args = name, description, kind, args
        self.writes = kind in _MAY_WRITE if writes is None else writes
        self.timeout_s = timeout_s
        self._function, self._touched = function, touched

    def touches(self, args: Any) -> Touched | None:
        """What `touched` says."""
        return None if self._touched is None else self._touched(args)

    def run(self, args: Any, context: ToolContext) -> str:
        """What the function returns, as text; one that is async is awaited."""
        return result_text(self._function(args, context), context.timeout_s, self.name)


def left_running(names: Iterable[str]) -> str:
    """What a model is told of programs that a call left running and that were ended: it may count on them."""
    counts = Counter(names)
    told = [one_line(name, 60) + (f" ({times})" if times > 1 else "") for name, times in sorted(counts.items())[:10]]
    more = f" and {len(counts) - 10} more" if len(counts) > 10 else ""
    return f"(ended with the call, which had left it running: {', '.join(told)}{more})"


class InvalidCall(AhpError):
    """A call that cannot be made; `code` is E_UNKNOWN_TOOL or E_INVALID_ARGS."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


class Toolbox:
    """The tools of a run by name. Raises ValueError for a name used twice or an unknown kind.

    `root` is the project's folder, which validation knows as `context["root"]`: arguments can resolve paths in it.
    """

    def __init__(self, tools: Iterable[Tool] = (), root: str = ".") -> None:
        self.tools: dict[str, Tool] = {}
        self._root = root
        for tool in tools:
            if tool.name in self.tools:
                raise ValueError(f"two tools are called {tool.name}")
            if tool.kind not in NAMES:
                raise ValueError(f"{tool.name} is of the unknown kind {tool.kind!r}; one of {', '.join(NAMES)}")
            self.tools[tool.name] = tool
        self._aliases: dict[str, str] = {}
        for tool in self.tools.values():
            for alias in TRAINED.get(tool.name, "").split():
                self._aliases.setdefault(alias, tool.name)

    def at(self, root: str) -> "Toolbox":
        """The same tools in another folder."""
        return Toolbox(self.tools.values(), root)

    @property
    def names(self) -> frozenset[str]:
        """Every name that a call may have, other names of the tools included."""
        return frozenset({*self.tools, *self._aliases})

    def own_name(self, name: str) -> str:
        """The name of the tool that is called so; an unknown one as it is."""
        plain = name.strip().lower().replace(" ", "_")
        return name if name in self.tools else self._aliases.get(name, self._aliases.get(plain, name))

    def own_call(self, name: str, args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Name and arguments of a call as ahp's tools have them: an editor says in `command` which one is meant."""
        own = self.own_name(name)
        meant = _EDITOR_COMMANDS.get(str(args.get("command")))
        if own != "edit" or name == own or meant not in self.tools:
            return own, args
        return meant, {key: value for key, value in args.items() if key != "command"}

    def find(self, name: str) -> Tool:
        """The tool of that name. Raises InvalidCall that names the others."""
        try:
            return self.tools[name]
        except KeyError:
            known = ", ".join(self.tools) or "none"
            raise InvalidCall("E_UNKNOWN_TOOL", f"there is no tool {one_line(name)!r}; there are: {known}") from None

    def change(self, tool: Tool, valid: BaseModel, wanted: Mapping[str, Any]) -> BaseModel:
        """`valid` with the arguments (by their own names, as `told` has them) that `wanted` has otherwise.

        Raises InvalidCall with every problem.
        """
        before = told(valid)
        values = {name: getattr(valid, name) for name in before if name in wanted}
        values.update({name: value for name, value in wanted.items() if name not in before or before[name] != value})
        return self.validate(tool, values, own_names=True)

    def validate(self, tool: Tool, values: Mapping[str, Any], own_names: bool | None = None) -> BaseModel:
        """The arguments as the tool takes them. Raises InvalidCall with every problem."""
        by_alias = None if own_names is None else not own_names
        try:
            valid = tool.args.model_validate(values, context={"root": self._root}, by_name=own_names, by_alias=by_alias)
            for name, value in valid:
                if isinstance(value, Iterator):  # the gate reads it, and then the tool; its items are validated by that
                    valid.__dict__[name] = list(value)
        except ValidationError as error:
            known = tool.args.model_json_schema().get("properties", ())
            problem = "; ".join(sentences(error, "args", known))
        except (KeyboardInterrupt, Ended):
            raise
        except BaseException as error:  # noqa: BLE001  # a validator of the tool's is outside code
            problem = failure(error)
        else:
            return valid
        raise InvalidCall("E_INVALID_ARGS", f"{tool.name}: {problem}")


class Arguments(Lean):
    """Arguments of a tool of ahp's: also out of a wrapper, with comments, as `filePath`, or by another trained name."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _as_trained(cls, given: Any) -> Any:
        return cls.own_names(given)

    @classmethod
    def own_names(cls, given: Any) -> Any:
        """What a model has given, under ahp's own names."""
        if not isinstance(given, dict):
            return given
        if len(given) == 1 and isinstance(inner := next(map(given.get, _WRAPPERS & given.keys()), None), dict):
            given = inner
        given = {_HUMP.sub("_", name).lower(): value for name, value in given.items() if name not in _COMMENTS}
        for own in cls.model_fields.keys() - given.keys():
            others = (name for name in _TRAINED_ARGS.get(own, "").split() if name not in cls.model_fields)
            if (other := next((name for name in others if name in given), None)) is not None:
                given[own] = given.pop(other)
        return given


def told(value: Any) -> Any:
    """Validated arguments in plain JSON values, for the gate: what runs, under the names that the tool has for it.

    Not pydantic's own dump: what a model keeps out of that, or hides in it, would run without being judged.
    """
    if isinstance(value, BaseModel):
        return {str(name): told(item) for name, item in value}
    if isinstance(value, SecretStr | SecretBytes):
        return told(value.get_secret_value())
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: told(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): told(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [told(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return to_jsonable_python(value, fallback=str)


def result_text(value: Any, seconds: float, name: str) -> str:
    """The text of what the tool `name` returned: a text as it is, values as JSON, what is awaitable within `seconds`.

    Raises TypeError for what gives its items one by one: nothing of it has happened yet, or may ever end. Timeout.
    """
    value = awaited(value, seconds, name)
    if isinstance(value, str):
        return str.__str__(value)
    if value is None:
        return "(done; it returned nothing)"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Iterator | AsyncIterator):
        raise TypeError(f"{name} returned a {type(value).__name__}; nothing of it has run, it has to return a list")
    try:
        text = to_json(value, fallback=str, inf_nan_mode="constants", bytes_mode="base64").decode()
    except ValueError:  # it holds itself
        return str(value)
    # What JSON has only a text for (a date, a path) is that text.
    return str(json.loads(text)) if text.startswith('"') else text


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
) -> Callable[[Callable[..., Any]], FunctionTool]: ...
def tool(function: Callable[..., Any] | None = None, /, **settings: Any) -> Any:
    """A FunctionTool of a function, async or not: its parameters are the arguments.

    Its documentation, whatever its form, describes it; pydantic's `Field` in `Annotated` describes an argument. A
    parameter annotated `ToolContext` gets the context and is no argument. What the function returns is told the model
    as text: values as JSON. `name` stands for the function's own, `description` for its documentation; the rest is
    FunctionTool's. Raises TypeError for a parameter without annotation, one that takes any number of values or whose
    name begins with `_`, and for a generator.
    """
    return _made(function) if function is not None else lambda decorated: _made(decorated, **settings)


def _made(function: Callable[..., Any], name: str = "", description: str = "", **settings: Any) -> FunctionTool:
    hints = get_type_hints(function, include_extras=True)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"a tool returns what it has for the model; {function.__name__} yields. Return a list")
    fields: dict[str, Any] = {}
    contexts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"a tool takes its arguments by name; {parameter} of {function.__name__} does not")
        if parameter.name not in hints:
            raise TypeError(f"what is {parameter.name} of {function.__name__}? Annotate it with its type")
        if ToolContext in (hints[parameter.name], *get_args(hints[parameter.name])):
            contexts.append(parameter.name)
            continue
        if parameter.name.startswith("_") or parameter.name == "model_config":
            raise TypeError(f"{parameter.name} of {function.__name__} can be no argument of a tool; name it otherwise")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    with warnings.catch_warnings():  # a parameter may be called like something of pydantic's, such as `schema`
        warnings.filterwarnings("ignore", message=".*shadows an attribute in parent.*", category=UserWarning)
        config = ConfigDict(extra="forbid", protected_namespaces=())
        args: type[BaseModel] = create_model(function.__name__, __config__=config, **fields)

    def run(given: BaseModel, context: ToolContext) -> Any:
        values = {field: getattr(given, field) for field in fields}
        return function(**values, **dict.fromkeys(contexts, context))

    return FunctionTool(name or function.__name__, description or inspect.getdoc(function) or "", args, run, **settings)
