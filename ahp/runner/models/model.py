"""What the runner needs of a language model."""

import sys
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field

from ahp.runner.run.conversation import Message
from ahp.system.errors import AhpError

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


class ModelError(AhpError):
    """The model gave no answer.

    `transient` says that the same request may succeed when it is made again, after `retry_after_s` seconds where the
    server named a time that is a number.
    """

    def __init__(self, problem: str, *, transient: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(problem)
        self.transient = transient
        is_number = isinstance(retry_after_s, int | float) and abs(retry_after_s) <= sys.float_info.max
        self.retry_after_s = retry_after_s if is_number else None


class ContextOverflow(ModelError):
    """The messages are longer than the model can read; the runner drops the oldest and asks again."""


@dataclass(frozen=True)
class ToolDefinition:
    """A tool as a model is told of it; `parameters` is the JSON schema of its arguments, an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Want:
    """What kind of reply is wanted. A model may ignore it: every reply is read and validated by the runner.

    `kind` is plan, action (a tool call, a control object or, without a `schema`, words) or words. `tools` may be
    called; the runner's own `control` and `final_answer` are among them. `schema` is the JSON schema of the whole reply
    as text, for models that can be held to one.
    """

    kind: Literal["plan", "action", "words"]
    tools: tuple[ToolDefinition, ...] = ()
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class NativeCall:
    """A tool call that the model's interface carries beside the text.

    `args` are the arguments as an object, or the text that should be one: they are not validated yet. `id` is the
    interface's own; with several calls in one reply the results are told by it.
    """

    tool: str
    args: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True)
class Answer:
    """One reply: its text, why it ended, the calls that came beside the text.

    `finish_reason` is `length` for a reply cut at `max_tokens`. Tokens read and written (None: not reported, the runner
    estimates) and the price in US dollars (None: not known, which ends a run with a budget of dollars) count against
    the budgets. `native` says that the model could call the tools that were wanted as such: then it ends the run by
    the tool `final_answer`, and words are asked for again once. `own` is a reply with calls as its interface has it,
    `{"api", "ids", "reply"}`, JSON: the message of the assistant holds it in the next request.
    """

    text: str
    finish_reason: FinishReason = "stop"
    calls: tuple[NativeCall, ...] = ()
    input_tokens: Annotated[int, Field(ge=0, strict=True)] | None = None
    output_tokens: Annotated[int, Field(ge=0, strict=True)] | None = None
    usd: Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)] | None = 0.0
    native: bool = False
    own: dict[str, Any] | None = field(default=None, compare=False)


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """How events call it."""
        ...

    def query(
        self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None
    ) -> Answer | Awaitable[Answer]:
        """The reply to `messages`: system first, then user and assistant in turn, a user last. It may be async.

        At most `max_tokens` tokens within `timeout_s` seconds. Raises ContextOverflow, ModelError.
        """
        ...
