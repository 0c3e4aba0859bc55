"""A model and tools that follow a script, with the real interfaces: for tests, demonstrations and replay."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ahp.facts.tool import NAMES
from ahp.runner.models.model import Answer, ContextOverflow, FinishReason, ModelError, NativeCall, Want
from ahp.runner.run import prompts
from ahp.runner.run.conversation import Message, check_roles
from ahp.runner.tools.tool import FunctionTool, Tool, ToolContext
from ahp.runner.validation import load_yaml, sentences
from ahp.system import files
from ahp.system.errors import AhpError

_SCRIPT_LIMIT = 16 << 20  # bytes


@dataclass(frozen=True)
class Sleep:
    """A scripted answer that comes `seconds` late."""

    seconds: float
    then: "Scripted" = ""


@dataclass(frozen=True)
class Hang:
    """A scripted answer that never comes."""


Scripted = str | Answer | BaseException | Sleep | Hang


@dataclass(frozen=True)
class Request:
    """One request a scripted model got."""

    messages: list[Message]
    max_tokens: int
    want: Want | None = None

    @property
    def said(self) -> str:
        """The user's turn it had to reply to."""
        return self.messages[-1]["content"]


class ScriptedModel:
    """A Model whose answers are given beforehand: a text, an Answer, an exception it raises, Sleep or Hang.

    `steps` are answers by plan step, each in turn: of steps side by side nobody knows which one asks first. All other
    requests take the next of `answers`. `requests` keeps what it was asked. As strict about the order of roles as
    llama.cpp: raises RoleOrder. Raises ModelError when the script is at its end.
    """

    name = "scripted"

    def __init__(self, answers: Iterable[Scripted], steps: Mapping[str, Iterable[Scripted]] | None = None) -> None:
        self._answers = list(answers)
        self._steps = {step: list(own) for step, own in (steps or {}).items()}
        self._asked: dict[str, int] = {}
        self._taking = threading.Lock()
        self.requests: list[Request] = []

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        """The next answer of the script."""
        with self._taking:
            self.requests.append(Request(messages, max_tokens, want))
            check_roles(messages)
            step = prompts.step_of(messages[1]["content"])
            step = step if step in self._steps else ""
            answers, at = self._steps.get(step, self._answers), self._asked.get(step, 0)
            self._asked[step] = at + 1
        if at >= len(answers):
            raise ModelError(f"the script has only {len(answers)} answers{f' for step {step}' if step else ''}")
        return _play(answers[at])


def _play(item: Scripted) -> Answer:
    if isinstance(item, BaseException):
        raise item
    if isinstance(item, Hang):
        threading.Event().wait()
    if isinstance(item, Sleep):
        time.sleep(item.seconds)
        return _play(item.then)
    return item if isinstance(item, Answer) else Answer(str(item))


class AnyArgs(BaseModel):
    """Whatever arguments a scripted tool is called with."""

    model_config = ConfigDict(extra="allow")


def scripted_tool(
    name: str,
    results: Sequence[str | BaseException],
    *,
    description: str = "",
    writes: bool | None = None,
    kind: str = "other",
) -> FunctionTool:
    """A tool that gives its results in turn, the last one again and again; an exception is raised."""
    left = list(results)

    def run(args: Any, context: ToolContext) -> str:
        result = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(result, BaseException):
            raise result
        return result

    return FunctionTool(name, description or f"the scripted tool {name}", AnyArgs, run, writes, kind=kind)


class _AnswerEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    text: str = ""
    finish_reason: FinishReason = "stop"
    calls: tuple[NativeCall, ...] = ()
    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)
    usd: float = Field(default=0.0, ge=0)
    sleep: float = Field(default=0.0, ge=0)
    hang: bool = False
    error: str | None = Field(default=None, alias="raise")
    overflow: bool = False
    transient: bool = False
    retry_after_s: float | None = Field(default=None, ge=0)

    def scripted(self) -> Scripted:
        if self.hang:
            return Hang()
        item: Scripted = Answer(
            self.text, self.finish_reason, self.calls, self.input_tokens, self.output_tokens, self.usd
        )
        if self.error is not None:
            kind = ContextOverflow if self.overflow else ModelError
            item = kind(self.error, transient=self.transient, retry_after_s=self.retry_after_s)
        return Sleep(self.sleep, item) if self.sleep else item


class _ToolEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=64)
    description: str = ""
    writes: bool | None = None
    kind: str = Field(default="other", pattern=rf"^({'|'.join(NAMES)})$")
    results: list[str] = Field(min_length=1)

    def scripted(self, ran: int) -> Tool:
        left = self.results[min(ran, len(self.results) - 1) :]
        return scripted_tool(self.name, left, description=self.description, writes=self.writes, kind=self.kind)


def _scripted(answers: Iterable["str | _AnswerEntry"]) -> list[Scripted]:
    return [item if isinstance(item, str) else item.scripted() for item in answers]


class Script(BaseModel):
    """A script file: `answers` in turn (a text, or a mapping with `text`, `sleep`, `hang`, `raise` …) and `tools`.

    `steps` has answers by the id of a plan step, for steps that run side by side.
    """

    model_config = ConfigDict(extra="forbid")

    task: str | None = None
    answers: list[str | _AnswerEntry] = Field(min_length=1)
    steps: dict[str, list[str | _AnswerEntry]] = {}
    tools: list[_ToolEntry] = []

    @model_validator(mode="after")
    def _names_differ(self) -> "Script":
        names = [tool.name for tool in self.tools]
        if len(set(names)) != len(names):
            raise ValueError("two tools have the same name")
        return self

    def model(self, consumed: Mapping[str, int] | None = None) -> ScriptedModel:
        """The model that follows this script, behind the answers that a run has `consumed`, by step, "" for no step."""
        had = consumed or {}
        common = sum(count for step, count in had.items() if step not in self.steps)
        own = {step: _scripted(answers[had.get(step, 0) :]) for step, answers in self.steps.items()}
        return ScriptedModel(_scripted(self.answers[common:]), own)

    def toolbox(self, ran: Mapping[str, int] | None = None) -> list[Tool]:
        """The tools of this script; `ran` says how often each gave a result before."""
        return [tool.scripted((ran or {}).get(tool.name, 0)) for tool in self.tools]


def load_script(path: str) -> Script:
    """The script at `path`, YAML or JSON. Raises AhpError that says where and what is wrong."""
    data = files.read(path, _SCRIPT_LIMIT)
    if data is None:
        raise AhpError(f"there is no script {path}")
    try:
        return Script.model_validate(load_yaml(data, path, _SCRIPT_LIMIT))
    except ValidationError as error:
        raise AhpError("\n".join(f"{path}: {problem}" for problem in sentences(error, "the file"))) from None
