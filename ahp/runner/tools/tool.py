"""What the runner needs of a tool, and the tools of a run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from ahp.facts.tool import NAMES
from ahp.protocol.text import one_line
from ahp.runner.tools.environment import AGENT, tool_environment
from ahp.runner.validation import sentences
from ahp.system.errors import AhpError


@dataclass(frozen=True)
class ToolContext:
    """What one call works with. Hand `timeout_s` and `env` to the process door, or to whatever starts programs."""

    root: str
    """The project's folder: paths in arguments are relative to it."""

    timeout_s: float
    """Seconds this call may take."""

    env: dict[str, str] = field(default_factory=lambda: tool_environment(AGENT))
    """The environment for programs: marked as an agent's, without the variables of a git hook."""


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
        """Whether it may change the project, so that `auto` verifies."""
        ...

    @property
    def timeout_s(self) -> float | None:
        """Seconds one call may take; None is the run's `tool_timeout_s`, 0 lets it never run."""
        ...

    def run(self, args: Any, context: ToolContext) -> str:
        """What it did, for the model. Raises AhpError with a sentence when it could not, Timeout past its limit."""
        ...


@dataclass(frozen=True)
class FunctionTool:
    """A tool made of a function of its validated arguments and the context."""

    name: str
    description: str
    args: type[BaseModel]
    function: Callable[[Any, ToolContext], str]
    writes: bool = False
    timeout_s: float | None = None
    kind: str = "other"

    def run(self, args: Any, context: ToolContext) -> str:
        """What the function returns."""
        return self.function(args, context)


class InvalidCall(AhpError):
    """A call that cannot be made; `code` is E_UNKNOWN_TOOL or E_INVALID_ARGS."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(problem)
        self.code = code


class Toolbox:
    """The tools of a run by name. Raises ValueError for a name used twice or an unknown kind."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self.tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self.tools:
                raise ValueError(f"two tools are called {tool.name}")
            if tool.kind not in NAMES:
                raise ValueError(f"{tool.name} is of the unknown kind {tool.kind!r}; one of {', '.join(NAMES)}")
            self.tools[tool.name] = tool

    def find(self, name: str) -> Tool:
        """The tool of that name. Raises InvalidCall that names the others."""
        try:
            return self.tools[name]
        except KeyError:
            known = ", ".join(self.tools) or "none"
            raise InvalidCall("E_UNKNOWN_TOOL", f"there is no tool {one_line(name)!r}; there are: {known}") from None

    def validate(self, tool: Tool, args: dict[str, Any]) -> BaseModel:
        """The arguments as the tool takes them. Raises InvalidCall with every problem."""
        try:
            return tool.args.model_validate(args)
        except ValidationError as error:
            raise InvalidCall("E_INVALID_ARGS", f"{tool.name}: {'; '.join(sentences(error, 'args'))}") from None
