"""One run's talk with the model: what it is told, how its replies are read, and every action they ask for."""

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from ahp.facts.policy import AGENT_FILE
from ahp.protocol.text import excerpt, failure, one_line
from ahp.runner.context.retriever import retrieve
from ahp.runner.gating.gated_tools import GatedTools
from ahp.runner.gating.signal_desk import Setup, SignalDesk, reasons
from ahp.runner.models.model import (
    Answer,
    ContextOverflow,
    Model,
    ModelError,
    NativeCall,
    ToolDefinition,
    Want,
)
from ahp.runner.run import prompts
from ahp.runner.run.conversation import Conversation, Message, RoleOrder, Trimmed, estimate
from ahp.runner.run.events import AnyLog, plain
from ahp.runner.run.evidence import Given
from ahp.runner.run.prompts import Frames
from ahp.runner.run.run_state import NO_EVIDENCE, RunState, State, Stop, Talk, check_move
from ahp.runner.tools.tool import Tool
from ahp.runner.validation import sentences
from ahp.runner.words import actions, markup
from ahp.runner.words.actions import Malformed, Respond, ToolCall
from ahp.runner.words.control_protocol import CONTROL_TOOL, FINAL_TOOL, ControlEnvelope, FinalAnswer
from ahp.runner.words.plan import ID_LENGTH, PlanStep
from ahp.runner.words.replies import OWN_TOOLS, Act, Final, Protocol, Reply, Words, read_reply
from ahp.system import clock, interrupt
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
    """The schema of a model, for a language model: without titles, which only say names again, and its own docstring.

    References to its own definitions are written out: that is shorter, and holds in a larger schema. What refers to
    itself becomes any value; validation still holds.
    """
    whole = dict(model.model_json_schema())
    known = whole.pop("$defs", None) or whole.pop("definitions", None) or {}

    def plain(value: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [plain(item, inside) for item in value]
        if not isinstance(value, Mapping):
            return value
        told = {
            key: item if key in ("default", "const", "enum") else plain(item, inside)
            for key, item in value.items()
            if key != "$ref" and not (key == "title" and isinstance(item, str))
        }
        name = str(value.get("$ref", "")).rpartition("/")[2]
        return told if name in inside or name not in known else {**plain(known[name], (*inside, name)), **told}

    return {name: value for name, value in plain(whole, ()).items() if name != "description"}


_TEXT = {"type": "string"}
_CONTROL = ToolDefinition(
    CONTROL_TOOL,
    "Ends this step of the plan, or asks for another plan. Nothing else ends a step.",
    _schema(ControlEnvelope),
)
_ENDS = "Ends the run. Call it alone."


def wants(tools: Iterable[Tool], answer: type[BaseModel] = FinalAnswer) -> dict[str, Want]:
    """The wants of one run by scene; every other scene wants words. `answer` is what a final answer has to be."""
    definitions = tuple(definition(tool) for tool in tools)
    final = ToolDefinition(FINAL_TOOL, _ENDS, _schema(answer))
    typed = None if answer is FinalAnswer else _object(tool={"const": FINAL_TOOL}, args=final.parameters)
    return {
        "planning": Want("plan", schema=_PLAN),
        "step": Want("action", (*definitions, _CONTROL), _step(definitions)),
        # Without a schema: a model that has no tools of its own may answer a task without plan in words.
        "react": Want("action", (*definitions, final)),
        "answer": Want("words", (final,), typed),
    }


def definition(tool: Tool) -> ToolDefinition:
    """A tool as a model is told of it."""
    return ToolDefinition(tool.name, " ".join(tool.description.split()), _schema(tool.args))


def _step(tools: tuple[ToolDefinition, ...]) -> dict[str, Any]:
    """One call, one control object, or one answer to the gate."""
    forms = [_object(tool={"const": tool.name}, args=tool.parameters) for tool in tools]
    forms.append(_object(control={"const": "step_done"}))
    forms.append(_object(control={"const": "step_done"}, reason=_TEXT))
    forms.append(_object(control={"const": "replan"}, reason=_TEXT))
    forms.append(_object(respond=_TEXT, action=_TEXT, reason=_TEXT))
    return {"anyOf": forms}


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


_ANSWER = TypeAdapter(Answer)


def fault_of(answer: object) -> str | None:
    """What is wrong with what a model returned as its Answer; None when it is one."""
    if not isinstance(answer, Answer):
        return "returned no Answer"
    try:
        _ANSWER.validate_python({**vars(answer), "calls": tuple(map(vars, answer.calls))})
        with_calls("", answer.calls)
    except ValidationError as error:
        return f"returned an Answer with a fault: {sentences(error)[0]}"
    except (TypeError, ValueError, RecursionError) as error:
        return f"returned calls that cannot be read: {failure(error)}"
    return None


_SHORT = 3_000  # tokens that every model reads


class Room:
    """How long the messages of a request may be, in estimated tokens: as set, and a tenth less than what was refused.

    Without a limit `window` is asked for one, once, when messages get long: most runs never need to know.
    """

    def __init__(self, limit: int | None, window: Callable[[], int | None] = lambda: None) -> None:
        self.limit = limit
        self._window: Callable[[], int | None] | None = window
        self._shown: int | None = None

    def needs(self, tokens: int) -> int | None:
        """What to send at most of messages of that length; None without any limit."""
        if self.limit is None and self._window is not None and tokens > _SHORT:
            window, self._window = self._window, None
            self.limit = window()
        return min((limit for limit in (self.limit, self._shown) if limit is not None), default=None)

    def refused(self, tokens: int) -> None:
        """A request of that length was too long: not every one is to be refused before it is shortened."""
        self._shown = min(tokens * 9 // 10, self._shown or tokens)


_ANSWERS = ("answer", "react")
_CUT_SHOWN = 400  # characters of a reply that was cut
_MOST_SILENCES = 3  # replies in a row that are cut before they say anything


class Session:
    """What every scene of a run shares: its agent, its state, its budget. `talk` is the conversation's state."""

    def __init__(self, agent: Setup, desk: SignalDesk, tools: GatedTools, state: RunState) -> None:
        self.agent, self.config = agent, (config := agent.config)
        known = list(agent.toolbox.tools.values())
        self._form = agent.answer
        self.events: AnyLog = agent.events
        self.desk = desk
        self.tools = tools
        self.state = state
        self.talk: Talk = state
        self.frames = Frames(state.nonce)
        system = prompts.system(known, self.frames, max_tokens=config.max_tokens, inject_schemas=config.inject_schemas)
        if self._form is not FinalAnswer:
            system = f"{system}\n\n{prompts.typed(self._form)}"
        self.value: BaseModel | None = None  # the last answer in the form that the caller gave
        self.cut = False  # whether the last reply ended at its limit
        self.silent = False  # and before it had said anything
        self._silences = 0  # in a row
        self._cuts = 0  # in a row
        self.native = False  # whether the model could call its tools as such
        self._calls: list[ToolCall | Malformed] = []  # of the last reply, beside its text
        self._root, self._brief = agent.root, ""
        self._started = clock.monotonic() - state.seconds  # of the budget's wall time
        self._room = Room(config.context_tokens, lambda: _window(agent.model, config.max_tokens))
        self._model, self._wants, self._worker = agent.model, wants(known, self._form), Worker()
        self._reminders: list[str] = []
        if state.system != system:  # of a resumed run the tools may be others now
            self.events("message", role="system", content=system)

    def beside(self, events: AnyLog, desk: SignalDesk, tools: GatedTools, root: str, talk: Talk) -> "Session":
        """The session of a step that works in the linked work tree `root` beside others, whose talk is `talk`.

        What it uses is counted together with all others'.
        """
        other = copy.copy(self)
        other.events, other.desk, other.tools, other.talk = events, desk, tools, talk
        other.cut, other._cuts, other._reminders = False, 0, []
        other.silent, other._silences = False, 0
        other._worker = Worker()
        other._root, other._brief = root, ""
        return other

    def seconds_left(self) -> float | None:
        """Seconds until the run's wall time is over, at least 0; None without limit."""
        seconds = self.config.budget_seconds
        return None if seconds is None else max(0.0, seconds - (clock.monotonic() - self._started))

    def exhausted(self) -> str | None:
        """The stop reason of the first budget that is used up, or None; 0 allows nothing."""
        tokens, usd = self.config.budget_tokens, self.config.budget_usd
        if tokens is not None and self.state.tokens >= tokens:
            return "BUDGET_TOKENS"
        if usd is not None and self.state.usd >= usd:
            return "BUDGET_USD"
        return "BUDGET_TIME" if self.seconds_left() == 0.0 else None

    @property
    def may_replan(self) -> bool:
        """Whether a try is left."""
        return self.state.replans < self.config.max_replans

    def move(self, to: State, why: str) -> None:
        """Goes to another state. Raises IllegalMove where the table does not have that."""
        check_move(self.state.at, to, why)
        self.events("state", former=self.state.at.value, state=to.value, why=why)

    def remind(self, text: str) -> None:
        """Puts `text` before whatever the model is told next."""
        self._reminders.append(text)

    def begin(self, scene: str, head: str, known: Iterable[str] = (), about: Sequence[str] = ()) -> None:
        """Begins the conversation of a scene with its `head`, which is pinned, and what is `known`, which may be cut.

        What the project holds about the texts `about` is retrieved. Of the former conversations nothing else is left.
        """
        opening = "\n\n".join([*self._first(), *known, *self._retrieved(about)])
        self.events("conversation", scene=scene, head=head, opening=opening)

    def say(self, text: str, told: Sequence[str] = (), results: Sequence[tuple[str, str]] = ()) -> None:
        """The next user turn, after what the gate wants to be read. What is `told` of calls goes before.

        `results` are the same by the ids of the calls: where a turn has these, an interface of its own frames them.
        """
        said = [*self._first(), *([text] if text or not told else [])]
        more = {"results": results, "rest": "\n\n".join(said)} if results else {}
        self.events("message", role="user", content="\n\n".join([*told, *said]), **more)

    def _retrieved(self, about: Sequence[str]) -> list[str]:
        """What the policy asks of agents, and where in the project to look first; within `retrieval_tokens`."""
        room, said = self.config.retrieval_tokens, list[str]()
        if self.config.context_tokens is not None:
            room = min(room, self.config.context_tokens // 4)
        if not about or not room:
            return said
        self._brief = self._brief or self.desk.brief()
        if self._brief and (brief := _tokens(self._brief)) <= room:
            room -= brief
            self.events("brief", text=self._brief, tokens=brief)
            said += self.frames.gate([self._brief])
        found = retrieve(self._root, about, self.state.failed, self.desk.may_read)
        while found and _tokens(prompts.places(found, self.frames)) > room:
            found.pop()
        if not found:
            return said
        self.events("retrieved", places=[vars(one) for one in found])
        return [*said, prompts.places(found, self.frames)]

    def _first(self) -> list[str]:
        """What the next turn begins with, once: reminders, then the gate's notes."""
        reminders, self._reminders = self._reminders, []
        return [*reminders, *self.frames.gate(self.desk.notes)]

    @property
    def _conversation(self) -> Conversation:
        assert self.talk.conversation is not None, "no scene has begun"
        return self.talk.conversation

    def loop(self, scene: str, where: str) -> Callable[[], str]:
        """Asks the model, at most `max_iterations` times; then raises Stop with MAX_ITER. `where` is for its advice."""
        most = self.config.max_iterations

        def ask() -> str:
            if self.state.iterations[where] >= most:
                raise Stop(
                    "MAX_ITER",
                    f"{where} was not finished after {most} model requests. Read the events of this run, "
                    f"then give a smaller or clearer task, help by hand, or raise max_iterations in {AGENT_FILE}."
                    + (f" The last reply was cut at {self.config.max_tokens} tokens (max_tokens)." if self.cut else ""),
                )
            return self.ask(scene)

        return ask

    def ask(self, scene: str) -> str:
        """The model's reply to the conversation. Raises Stop when a budget is used up or the model fails."""
        answer = self._asked(scene)
        text = with_calls(markup.spoken(answer.text), answer.calls)
        self.native = answer.native or bool(answer.calls) or answer.finish_reason == "tool_calls"
        self._calls = list(self._beside(answer))
        self.cut = answer.finish_reason == "length"
        self._cuts = self._cuts + 1 if self.cut else 0
        self.silent = self.cut and not answer.calls and (not text.strip() or markup.only_thoughts(text))
        self._silences = self._silences + 1 if self.silent else 0
        # What was cut is written anew: the whole of it would only take the place of what is needed.
        said = excerpt(text, _CUT_SHOWN) if self.cut else text
        own = {"own": plain(answer.own)} if answer.own and not self.cut else {}
        self.events("message", role="assistant", content=said, **own)
        if self._silences == _MOST_SILENCES:
            raise Stop(
                "MODEL_ERROR",
                f"{self._model.name} used up its {self.config.max_tokens} tokens {self._silences} times "
                f"before it said anything, most likely for thoughts: raise max_tokens in {AGENT_FILE}.",
            )
        return text

    def _asked(self, scene: str) -> Answer:
        """The model's answer to the conversation, which is made to fit. Raises Stop when there is none."""
        over = self.exhausted()
        if over:
            raise Stop(over, f"the run ends here: {_OVER_BUDGET[over]}. Raise it in {AGENT_FILE} to go on.")
        room = self._room.needs(estimate(self._conversation.messages))
        why = "context_tokens" if room == self._room.limit else "what the model took before"
        self._trim(lambda talk: talk.fit(room), why)
        answer = self._tried(scene)
        self._count(answer)
        return answer

    def _tried(self, scene: str) -> Answer:
        """The model's answer; a request that is too long or fails for a time is made again. Raises Stop."""
        attempt = retries = 0
        while True:
            attempt += 1
            try:
                return self._query(scene, attempt)
            except ContextOverflow as error:
                self._room.refused(estimate(self._conversation.messages))
                if not self._trim(Conversation.shorten, "the model's context is full"):
                    raise Stop("CONTEXT_OVERFLOW", f"system prompt and task alone are too long: {error}") from error
            except ModelError as error:
                if not error.transient or retries >= self.config.max_model_retries:
                    raise Stop("MODEL_ERROR", str(error)) from error
                retries += 1
                self._wait(error, retries)

    def _wait(self, error: ModelError, retry: int) -> None:
        """Waits before a request is made again. Raises Stop when there is not that much time."""
        seconds = _FIRST_WAIT * 2 ** (retry - 1) if error.retry_after_s is None else max(error.retry_after_s, 0.0)
        left = self.seconds_left()
        if seconds > self.config.model_timeout_s or (left is not None and seconds >= left):
            raise Stop("MODEL_ERROR", f"{error} (to be asked again in {seconds:g} s, for which there is no time)")
        self.events("model_retry", problem=str(error), retry=retry, seconds=seconds)
        interrupt.sleep(seconds)

    def _query(self, scene: str, attempt: int) -> Answer:
        messages: list[Message] = [message.copy() for message in self._conversation.messages]
        seconds = self.config.model_timeout_s
        left = self.seconds_left()
        seconds = seconds if left is None else min(seconds, left)
        want, who = self._wants.get(scene, Want("words")), f"the model {self._model.name}"
        self.events(
            "model_request",
            scene=scene,
            attempt=attempt,
            model=self._model.name,
            max_tokens=self.config.max_tokens,
            messages=len(messages),
            tokens=estimate(messages),
        )
        try:
            answer = self._worker.call(
                seconds,
                lambda: awaited(
                    self._model.query(messages, max_tokens=self.config.max_tokens, timeout_s=seconds, want=want),
                    seconds,
                    who,
                ),
                who,
            )
        except (ModelError, RoleOrder):  # the one is for the caller, the other is a bug of ours
            raise
        except Timeout as error:
            self._worker.leave()
            over = self.exhausted()
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
            self._count(answer)
            said = f": {one_line(answer.text, 300)}" if answer.text.strip() else ""
            raise Stop("MODEL_ERROR", f"the model {self._model.name} declines to answer (its content filter){said}")
        return answer

    def _count(self, answer: Answer) -> None:
        read = estimate(self._conversation.messages) if answer.input_tokens is None else answer.input_tokens
        written = answer.output_tokens
        if written is None:
            written = estimate([{"role": "assistant", "content": answer.text}])
        self.events(
            "model_answer",
            text=with_calls(answer.text, answer.calls),
            finish_reason=answer.finish_reason,
            input_tokens=read,
            output_tokens=written,
            usd=answer.usd or 0.0,
        )
        if answer.usd is None and self.config.budget_usd is not None:
            raise Stop("BUDGET_USD", f"{self._model.name} tells no price, so {_NO_PRICE}")

    def _trim(self, taken: Callable[[Conversation], Trimmed], why: str) -> bool:
        """Takes from the conversation what `taken` takes from a copy of it; whether that was anything."""
        trimmed = taken(self._conversation.copy())
        if trimmed == Trimmed():
            return False
        self.events("trimmed", pairs=trimmed.pairs, cuts=list(trimmed.cuts), why=why)
        return True

    def _beside(self, answer: Answer) -> Iterator[ToolCall | Malformed]:
        """The calls that came beside the text, each once."""
        once = {(repr((call.tool, call.args)), call.id or at): call for at, call in enumerate(answer.calls)}
        for call in once.values():
            yield actions.native(call.tool, call.args, call.id, {*self.tools.names, *OWN_TOOLS})

    def read(self, text: str, scene: str) -> Reply:
        """What a reply to `scene` does."""
        reply = read_reply(text, self.tools.names, scene, self._outside, self._calls)
        if self.cut and not isinstance(reply, Act | Final):
            # Asked for less, it writes as much again: that is what it has to say.
            if isinstance(reply, Words) and self._cuts > 1 and scene in _ANSWERS:
                return Words(f"{reply.text}\n\n(The answer was cut at {self.config.max_tokens} tokens: max_tokens.)")
            reply = Malformed(prompts.cut(self.config.max_tokens, silent=self.silent))
        if isinstance(reply, Malformed):
            self.events("malformed_reply", problem=reply.problem)
        return reply

    def given(self, reply: Final | Words) -> Given | Malformed:
        """The answer that a reply is; what is wrong with it as the run's typed answer."""
        if isinstance(reply, Words):
            return Given(reply.text) if self._form is FinalAnswer else self._wrong(self.no_answer)
        try:
            value = self._form.model_validate(reply.args)
        except ValidationError as error:
            return self._wrong(f"final_answer: {'; '.join(sentences(error))}. {self.no_answer}")
        except Exception as error:  # noqa: BLE001  # a validator of the caller's is outside code
            return self._wrong(f"final_answer: {failure(error)}. {self.no_answer}")
        if not isinstance(value, FinalAnswer):
            changed = getattr(value, "changed", None)
            claim = [str(path) for path in changed] if isinstance(changed, list | tuple) else None
            self.value = value
            return Given(value.model_dump_json(), typed=True, changed=claim)
        if isinstance(read_reply(value.text), Act | Protocol):
            return self._wrong(prompts.PLAIN_WORDS)
        return Given(value.text, typed=True, changed=value.changed, unsure=value.unsure)

    def ask_again(self, reply: Reply) -> str | None:
        """What a model is told that has answered, but not as it could have; None where that is the answer."""
        if not isinstance(reply, Words):
            return None
        return prompts.PROTOCOL_IN_ANSWER if reply.cut_out else prompts.CALL_FINAL if self.native else None

    @property
    def no_answer(self) -> str:
        """What a model is told whose reply is no answer."""
        return prompts.PLAIN_WORDS if self._form is FinalAnswer else prompts.typed(self._form)

    def _wrong(self, problem: str) -> Malformed:
        self.events("malformed_reply", problem=problem)
        return Malformed(problem)

    def owed(self, step: PlanStep) -> str | None:
        """What a step that is said to be done has not done of what its plan expects; None for nothing."""
        expected = self.tools.to_write(step.tools_expected)
        has_run = not self.state.used.get(step.id, set()).isdisjoint(expected)
        by_git = self.tools.by_git and any(expected.values())  # of what only writes git can tell
        if not expected or step.id in self.state.wrote or (has_run and not by_git):
            return None
        done = "nothing has changed in it" if has_run else "none of them did their work"
        return f"Step {one_line(step.id, 80)} is to use {one_line(', '.join(expected))}, and {done}"

    def _outside(self) -> list[str]:
        """The texts from outside in this conversation, as far as the model still reads them."""
        told = [message["content"] for message in self._conversation.messages if message["role"] == "user"]
        return [text for content in told for text in self.frames.inside(content)]

    def act(self, reply: Act) -> None:
        """Does what a reply asks for, but for control signals, and says how it went."""
        said = self.respond(list(reply.responses)) if reply.responses else ""
        told, results = [], []
        if reply.calls:
            self.desk.next_call()
        for number, call in enumerate(reply.calls, start=1):
            call_id = (call.id or f"call {number}") if len(reply.calls) > 1 else ""
            left = len(reply.calls) - number
            outcome = self.tools.call(replace(call, id=call_id), self.seconds_left(), left)
            told.append(prompts.result(call.tool, outcome.text, outcome.advice, self.frames, call_id))
            results.append((call.id, "\n".join(filter(None, (outcome.text, outcome.advice)))))
        self.say(said, told, results)

    def respond(self, responses: list[Respond]) -> str:
        """Answers the gate; how that went, for the next user turn."""
        return f"{self.desk.answer(responses)}\nGo on."

    def refused(self, trigger: str, what: str, told: str, notes: str = "") -> str | None:
        """Why the gate refuses `what`, behind `told`; None where it does not, once its `notes` are answered.

        Raises Stop.
        """
        verdict = self.desk.judge(trigger, what)
        if verdict.denied:
            return f"{told}: {'; '.join(f'{rule}: {reason}' for rule, reason in reasons(verdict))}"
        if notes and self.desk.waits:
            # One request for an answer; without one it happens all the same.
            self.say(f"{notes} is next. {prompts.ANSWER_NOTES}")
            reply = self.read(self.ask("gate"), "gate")
            if isinstance(reply, Act) and reply.responses:
                self.desk.answer(list(reply.responses))
            self.desk.next_call()
        return None

    def close(self) -> None:
        """Ends all that tools of this run have started, and leaves its threads."""
        self.tools.close()
        self._worker.leave()


def _window(model: Model, max_tokens: int) -> int | None:
    """What the window of a model leaves for messages; None where it does not tell."""
    size = model.window() if hasattr(model, "window") else None
    return size - max_tokens if isinstance(size, int) and size > max_tokens else None


def work_on(session: Session, step: PlanStep, begin: Callable[[], object]) -> tuple[str | None, bool]:
    """(why the step is not done or None, whether the model asked for another plan). Raises Stop.

    `begin` opens its conversation, or goes on with it. A step that is said to be done and has not written what its plan
    expects is asked for once more, then the run is blocked. So is one that a model with native tools answers in words.
    """
    most = session.config.max_step_tool_calls
    ask = session.loop("step", f"step {step.id}")
    begin()
    asked_again = worded = False
    while True:
        reply = session.read(ask(), "step")
        if session.native and isinstance(reply, Words):  # it could call a tool and has spoken instead
            if worded:
                raise Stop(NO_EVIDENCE, f"step {step.id} {prompts.ONLY_WORDS}")
            worded = True
        elif isinstance(reply, Act):
            worded = False
        if isinstance(reply, Act) and reply.control is not None:
            session.desk.answer(list(reply.responses))
            signal = reply.control
            problem = session.owed(step) if signal.control == "step_done" else None
            if problem is not None and asked_again:
                raise Stop(NO_EVIDENCE, f"{problem}: it is not done. Read the events of this run, then resume it.")
            if problem is not None:
                asked_again = True
                session.events("malformed_reply", problem=problem)
                session.say(f"{problem}: it is not done. {prompts.DO_OR_REPLAN}\n{prompts.CONTROL}")
                continue
            session.events(
                "control_signal", control=signal.control, step_id=step.id, reason=signal.reason, via=signal.via
            )
            asked = signal.control == "replan"
            return (f"step {step.id} asks for it: {signal.reason or 'no reason given'}" if asked else None), asked
        if isinstance(reply, Act):
            if session.state.step_calls[step.id] + len(reply.calls) > most:
                return f"step {step.id} needed more than {most} tool calls (max_step_tool_calls)", False
            session.act(reply)
        elif isinstance(reply, Malformed):
            session.say(f"{reply.problem}\n{prompts.CONTROL}")
        else:
            session.say(prompts.STEP_NUDGE)


def _tokens(text: str) -> int:
    return estimate([{"role": "user", "content": text}])
