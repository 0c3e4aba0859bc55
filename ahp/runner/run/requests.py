"""The requests of a run to its model: in the form that a scene wants, within time and budgets, counted."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

from pydantic import BaseModel

from ahp.facts.policy import AGENT_FILE
from ahp.protocol.text import failure, one_line
from ahp.runner.config import AgentConfig
from ahp.runner.models.model import (
    Answer,
    ContextOverflow,
    FinishReason,
    Model,
    ModelError,
    NativeCall,
    ToolDefinition,
    Want,
)
from ahp.runner.run.conversation import Conversation, Message, RoleOrder, Trimmed, estimate
from ahp.runner.run.events import AnyLog
from ahp.runner.run.limits import Breaker, Budget, Usage
from ahp.runner.run.state_machine import Stop
from ahp.runner.tools.tool import Tool
from ahp.runner.words.control_protocol import CONTROL_TOOL, FINAL_TOOL, ControlEnvelope, FinalAnswer
from ahp.runner.words.plan import ID_LENGTH
from ahp.system import interrupt
from ahp.system.deadline import Worker, awaited
from ahp.system.errors import AhpError, Timeout
from ahp.system.interrupt import Ended

_FIRST_WAIT = 1.0  # seconds
_OVER_BUDGET = {
    "BUDGET_TOKENS": "its tokens (budget_tokens) are used up",
    "BUDGET_USD": "its money (budget_usd) is used up",
    "BUDGET_TIME": "its time (budget_seconds) is used up",
}
_NO_PRICE = f"budget_usd cannot be kept: take it out of {AGENT_FILE}, and set budget_tokens there"


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model without what its documentation says to a reader of ahp."""
    return {name: value for name, value in model.model_json_schema().items() if name not in ("title", "description")}


_TEXT = {"type": "string"}
_CONTROL = ToolDefinition(
    CONTROL_TOOL,
    "Ends this step of the plan, or asks for another plan. Nothing else ends a step.",
    _schema(ControlEnvelope),
)
_ENDS = "Ends the run with its answer, once all is done. Call it alone."


class Wants:
    """The wants of one run by scene: planning, step, react, answer; every other scene wants words.

    `answer` is what a final answer has to be.
    """

    def __init__(self, tools: Iterable[Tool], answer: type[BaseModel] = FinalAnswer) -> None:
        definitions = tuple(definition(tool) for tool in tools)
        final = ToolDefinition(FINAL_TOOL, _ENDS, _schema(answer))
        typed = None if answer is FinalAnswer else _object(tool={"const": FINAL_TOOL}, args=_inlined(final.parameters))
        self._by_scene = {
            "planning": Want("plan", schema=_PLAN),
            "step": Want("action", (*definitions, _CONTROL), _step(definitions)),
            # Without a schema: a model that has no tools of its own may answer a task without plan in words.
            "react": Want("action", (*definitions, final)),
            "answer": Want("words", (final,), typed),
        }

    def of(self, scene: str) -> Want:
        """What is wanted in a scene."""
        return self._by_scene.get(scene, Want("words"))


def definition(tool: Tool) -> ToolDefinition:
    """A tool as a model is told of it."""
    return ToolDefinition(tool.name, " ".join(tool.description.split()), tool.args.model_json_schema())


def _step(tools: tuple[ToolDefinition, ...]) -> dict[str, Any]:
    """One call, one control object, or one answer to the gate."""
    forms = [_object(tool={"const": tool.name}, args=_inlined(tool.parameters)) for tool in tools]
    forms.append(_object(control={"const": "step_done"}))
    forms.append(_object(control={"const": "step_done"}, reason=_TEXT))
    forms.append(_object(control={"const": "replan"}, reason=_TEXT))
    forms.append(_object(respond=_TEXT, action=_TEXT, reason=_TEXT))
    return {"anyOf": forms}


def _inlined(schema: Mapping[str, Any]) -> Any:
    """A schema whose references to its own definitions are written out: they would point elsewhere in a larger one.

    What refers to itself becomes any value; the tool's own validation still holds.
    """
    known = schema.get("$defs", {})

    def plain(value: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [plain(item, inside) for item in value]
        if not isinstance(value, Mapping):
            return value
        name = str(value.get("$ref", "")).removeprefix("#/$defs/")
        if "$ref" in value:
            return {} if name in inside or name not in known else plain(known[name], (*inside, name))
        return {key: plain(item, inside) for key, item in value.items() if key != "$defs"}

    return plain(schema, ())


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_NAMES = {"type": "array", "items": _TEXT}
_PLAN_STEP = _object(
    id={"type": "string", "minLength": 1, "maxLength": ID_LENGTH},
    description={"type": "string", "minLength": 1},
    dependencies=_NAMES,
    tools_expected=_NAMES,
)
_PLAN = _object(title=_TEXT, steps={"type": "array", "items": _PLAN_STEP, "minItems": 1}, verification_policy=_TEXT)


class Requests:
    """Those of one conversation at a time. `usage` is what the whole run uses, however many of these it has."""

    def __init__(self, model: Model, config: AgentConfig, events: AnyLog, wants: Wants, usage: Usage) -> None:
        self.usage = usage
        self._model = model
        self._config = config
        self._events = events
        self._wants = wants
        self._worker = Worker()

    def beside(self, events: AnyLog) -> "Requests":
        """Requests of a step that works beside others, counted together with all others'."""
        return Requests(self._model, self._config, events, self._wants, self.usage)

    @property
    def model_name(self) -> str:
        """How events call the model."""
        return self._model.name

    @property
    def _budget(self) -> Budget:
        return self.usage.budget

    def answer(self, scene: str, talk: Conversation) -> Answer:
        """The model's answer to a conversation, which is made to fit. Raises Stop when there is none."""
        over = self._budget.exhausted()
        if over:
            raise Stop(over, f"the run ends here: {_OVER_BUDGET[over]}. Raise it in {AGENT_FILE} to go on.")
        room = self.usage.room.needs(estimate(talk.messages))
        limit = self.usage.room.limit
        self._trimmed(talk.fit(room), "context_tokens" if room == limit else "what the model took before")
        answer = self._answer(scene, talk)
        self._count(answer, talk)
        return answer

    def close(self) -> None:
        """Leaves a request that may still go on."""
        self._worker.leave()

    def _answer(self, scene: str, talk: Conversation) -> Answer:
        """The model's answer; a request that is too long or fails for a time is made again. Raises Stop."""
        retries = Breaker(self._config.max_model_retries)
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = self._query(scene, attempt, talk)
                self.usage.room.took(estimate(talk.messages))
                return answer
            except ContextOverflow as error:
                self.usage.room.refused(estimate(talk.messages))
                trimmed = talk.shorten()
                if trimmed == Trimmed():
                    raise Stop("CONTEXT_OVERFLOW", f"system prompt and task alone are too long: {error}") from error
                self._trimmed(trimmed, "the model's context is full")
            except ModelError as error:
                if not error.transient or not retries.spend():
                    raise Stop("MODEL_ERROR", str(error)) from error
                self._wait(error, retries.spent)

    def _wait(self, error: ModelError, retry: int) -> None:
        """Waits before a request is made again. Raises Stop when there is not that much time."""
        seconds = _FIRST_WAIT * 2 ** (retry - 1) if error.retry_after_s is None else max(error.retry_after_s, 0.0)
        left = self._budget.seconds_left()
        if seconds > self._config.model_timeout_s or (left is not None and seconds >= left):
            raise Stop("MODEL_ERROR", f"{error} (to be asked again in {seconds:g} s, for which there is no time)")
        self._events("model_retry", problem=str(error), retry=retry, seconds=seconds)
        interrupt.sleep(seconds)

    def _query(self, scene: str, attempt: int, talk: Conversation) -> Answer:
        messages: list[Message] = [message.copy() for message in talk.messages]
        seconds = self._config.model_timeout_s
        left = self._budget.seconds_left()
        seconds = seconds if left is None else min(seconds, left)
        want, who = self._wants.of(scene), f"the model {self._model.name}"
        self.usage.request()
        self._events(
            "model_request",
            scene=scene,
            attempt=attempt,
            model=self._model.name,
            max_tokens=self._config.max_tokens,
            messages=len(messages),
            tokens=estimate(messages),
        )
        try:
            answer = self._worker.call(
                seconds,
                lambda: awaited(
                    self._model.query(messages, max_tokens=self._config.max_tokens, timeout_s=seconds, want=want),
                    seconds,
                    who,
                ),
                who,
            )
        except (ModelError, RoleOrder):  # the one is for the caller, the other is a bug of ours
            raise
        except Timeout as error:
            self._worker.leave()
            over = self._budget.exhausted()
            raise Stop(over or "MODEL_TIMEOUT", f"{error} (model_timeout_s, budget_seconds in {AGENT_FILE})") from error
        except AhpError as error:
            raise Stop("MODEL_ERROR", str(error)) from error
        except (KeyboardInterrupt, Ended):
            raise
        except BaseException as error:  # a model is outside code: what it raises ends the run, not ahp
            raise Stop("MODEL_ERROR", failure(error)) from error
        fault = fault_of(answer)
        if fault is not None:
            raise Stop("MODEL_ERROR", f"the model {self._model.name} {fault}")
        answer = _without_half_a_call(answer)
        if answer.finish_reason == "content_filter":
            self._count(answer, talk)
            said = f": {one_line(answer.text, 300)}" if answer.text.strip() else ""
            raise Stop("MODEL_ERROR", f"the model {self._model.name} declines to answer (its content filter){said}")
        return answer

    def _count(self, answer: Answer, talk: Conversation) -> None:
        read = estimate(talk.messages) if answer.input_tokens is None else answer.input_tokens
        written = answer.output_tokens
        if written is None:
            written = estimate([{"role": "assistant", "content": answer.text}])
        self._budget.add(read + written, answer.usd or 0.0)
        self._events(
            "model_answer",
            text=with_calls(answer.text, answer.calls),
            finish_reason=answer.finish_reason,
            input_tokens=read,
            output_tokens=written,
            usd=answer.usd or 0.0,
        )
        if answer.usd is None and self._budget.usd is not None:
            raise Stop("BUDGET_USD", f"{self._model.name} tells no price, so {_NO_PRICE}")

    def _trimmed(self, trimmed: Trimmed, why: str) -> None:
        if trimmed != Trimmed():
            self._events("trimmed", pairs=trimmed.pairs, cuts=list(trimmed.cuts), why=why)


def with_calls(text: str, calls: Iterable[NativeCall]) -> str:
    """The text, and each call as the object that the prompts ask for; several with the ids that their results get."""
    listed = list(calls)
    several = len(listed) > 1
    lines = [
        json.dumps(
            {**({"id": call.id} if several and call.id else {}), "tool": call.tool, "args": call.args},
            ensure_ascii=False,
            default=str,
        )
        for call in listed
    ]
    return "\n\n".join([text, *lines] if text.strip() else lines) if lines else text


def _without_half_a_call(answer: Answer) -> Answer:
    """The answer; where it was cut, the arguments of its last call as a text that does not end.

    Interfaces that give arguments as an object (Anthropic's) give what there was of them: a call that lacks some of
    its arguments, or the end of one.
    """
    if answer.finish_reason != "length" or not answer.calls or isinstance(answer.calls[-1].args, str):
        return answer
    *whole, last = answer.calls
    begun = json.dumps(last.args, ensure_ascii=False, default=str)[:-1]
    return replace(answer, calls=(*whole, replace(last, args=begun)))


def fault_of(answer: object) -> str | None:
    """What is wrong with what a model returned as its Answer; None when it is one."""
    if not isinstance(answer, Answer) or not isinstance(answer.text, str):
        return "returned no Answer with text"
    if not isinstance(answer.calls, tuple | list) or not all(
        isinstance(call, NativeCall)
        and isinstance(call.tool, str)
        and isinstance(call.args, Mapping | str)
        and isinstance(call.id, str)
        for call in answer.calls
    ):
        return "returned calls that are no NativeCall of a name and arguments"
    try:
        with_calls("", answer.calls)
    except (ValueError, RecursionError):
        return "returned a call whose arguments hold themselves"
    if answer.finish_reason not in get_args(FinishReason):
        return f"returned the finish reason {answer.finish_reason!r}; one of {', '.join(get_args(FinishReason))}"
    counts = [answer.input_tokens or 0, answer.output_tokens or 0, answer.usd or 0]
    if not all(isinstance(count, int | float) and 0 <= count < math.inf for count in counts):
        return "reports tokens or a price that are no numbers"
    return None
