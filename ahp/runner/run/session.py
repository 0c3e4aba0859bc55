"""One run's talk with the model: every request, within its limits, and every action a reply asks for."""

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from ahp.facts.policy import AGENT_FILE
from ahp.protocol.text import one_line
from ahp.runner.config import AgentConfig
from ahp.runner.context.retriever import Retriever, tokens
from ahp.runner.gating.gated_tools import GatedTools
from ahp.runner.gating.signal_desk import SignalDesk
from ahp.runner.models.model import Answer, ContextOverflow, Model, ModelError
from ahp.runner.models.reply_text import as_text, fault_of, with_calls, without_half_a_call
from ahp.runner.run import prompts
from ahp.runner.run.conversation import Conversation, Message, RoleOrder, Trimmed, estimate
from ahp.runner.run.cursor import Cursor
from ahp.runner.run.events import AnyLog
from ahp.runner.run.frames import Frames
from ahp.runner.run.limits import Breaker, Budget, Room, Usage
from ahp.runner.run.restored_run import RestoredRun
from ahp.runner.run.stop_reason import Stop
from ahp.runner.run.wants import Wants
from ahp.runner.words import chat_template
from ahp.runner.words.actions import Malformed, Respond
from ahp.runner.words.excerpt import excerpt, failure
from ahp.runner.words.replies import Act, Reply, Words, read_reply
from ahp.system import interrupt
from ahp.system.deadline import Worker, awaited
from ahp.system.errors import AhpError, Timeout
from ahp.system.interrupt import Ended

_FIRST_WAIT = 1.0  # seconds
_ANSWERS = ("answer", "react")
_CUT_SHOWN = 400  # characters of a reply that was cut
_MOST_SILENCES = 3  # replies in a row that are cut before they say anything
_OVER_BUDGET = {
    "BUDGET_TOKENS": "its tokens (budget_tokens) are used up",
    "BUDGET_USD": "its money (budget_usd) is used up",
    "BUDGET_TIME": "its time (budget_seconds) is used up",
}
_NO_PRICE = f"budget_usd cannot be kept: take it out of {AGENT_FILE}, and set budget_tokens there"


class Session:
    """What every scene of a run shares. `usage` is what it uses: of a whole run, however many sessions that has."""

    def __init__(
        self,
        model: Model,
        config: AgentConfig,
        events: AnyLog,
        desk: SignalDesk,
        tools: GatedTools,
        system: str,
        frames: Frames,
        wants: Wants,
        retriever: Retriever,
        past: RestoredRun | None = None,
    ) -> None:
        self.config = config
        self.events = events
        self.desk = desk
        self.tools = tools
        self.frames = frames
        self.cut = False  # whether the last reply ended at its limit
        self.silent = False  # and before it had said anything
        self._silences = 0  # in a row
        self._cuts = 0  # in a row
        self._native = False  # whether the last reply's calls came beside its text
        self._model = model
        self._wants = wants
        self._retriever = retriever
        self._worker = Worker()
        # Here the clock of the budget starts.
        budget = Budget(config.budget_tokens, config.budget_usd, config.budget_seconds)
        self.usage = Usage(budget, Room(config.context_tokens))
        self._system = system
        self._conversation: Conversation | None = None
        self._reminders: list[str] = []
        if past is not None:
            self._take_up(past)
        if past is None or past.system != system:  # the tools may be others now
            events("message", role="system", content=system)

    def _take_up(self, past: RestoredRun) -> None:
        """Goes on where a former run stood: what is used up stays used up."""
        self._take_up_talk(past)
        self.usage.requests = past.requests
        self.budget.add(past.tokens, past.usd)
        self.budget.started -= past.seconds
        self.usage.iterations = dict(past.iterations)
        self.desk.take_up(past)
        self.tools.take_up(past)

    def _take_up_talk(self, cursor: Cursor) -> None:
        if cursor.conversation is not None:
            self._conversation = cursor.conversation
            self._conversation.instruct(self._system)
            self._conversation.told = self._told

    def beside(
        self, events: AnyLog, desk: SignalDesk, tools: GatedTools, root: str, cursor: Cursor | None
    ) -> "Session":
        """The session of a step that works in the linked work tree `root` beside others, from where `cursor` stood.

        It has a conversation and a desk of its own; what it uses is counted together with all others'.
        """
        other = copy.copy(self)
        other.events, other.desk, other.tools = events, desk, tools
        other.cut, other._cuts, other._reminders = False, 0, []
        other.silent, other._silences = False, 0
        other._worker, other._conversation = Worker(), None
        other._retriever = self._retriever.at(root, desk.may_read, desk.brief)
        if cursor is not None:
            other._take_up_talk(cursor)
        return other

    @property
    def budget(self) -> Budget:
        """What the run may use and has used."""
        return self.usage.budget

    def remind(self, text: str) -> None:
        """Puts `text` before whatever the model is told next."""
        self._reminders.append(text)

    def begin(self, scene: str, head: str, known: Iterable[str] = (), about: Sequence[str] = ()) -> None:
        """Begins the conversation of a scene with its `head`, which is pinned, and what is `known`, which may be cut.

        What the project holds about the texts `about` is retrieved. Of the former conversations nothing else is left.
        """
        opening = "\n\n".join([*self._first(), *known, *self._retrieved(about)])
        self.events("conversation", scene=scene, head=head, opening=opening)
        self._conversation = Conversation(self._system, head, opening)
        self._conversation.told = self._told

    def say(self, text: str) -> None:
        """The next user turn, after what the gate wants to be read."""
        self._talk.say("\n\n".join([*self._first(), text]))

    def _retrieved(self, about: Sequence[str]) -> list[str]:
        """What is found in the project, as the model reads it; the events say what was given and why."""
        if not about:
            return []
        found = self._retriever.retrieve(about, self.events.seen)
        if found.brief:
            self.events("brief", text=found.brief, tokens=tokens(found.brief))
        for one in found.passages:
            self.events(
                "retrieved",
                path=one.path,
                first=one.first,
                last=one.last,
                tokens=tokens(one.text),
                score=one.score,
                why=list(one.why),
            )
        for path in found.refused:
            self.events("not_retrieved", path=path)
        return [
            *self.frames.gate([found.brief] if found.brief else []),
            *[prompts.passage(one, self.frames) for one in found.passages],
        ]

    def _first(self) -> list[str]:
        """What the next turn begins with, once: reminders, then the gate's notes."""
        reminders, self._reminders = self._reminders, []
        return [*reminders, *self.frames.gate(self.desk.take_notes())]

    @property
    def _talk(self) -> Conversation:
        assert self._conversation is not None, "no scene has begun"
        return self._conversation

    def _told(self, role: str, content: str) -> None:
        self.events("message", role=role, content=content)

    def loop(self, scene: str, where: str) -> Callable[[], str]:
        """Asks the model, at most `max_iterations` times; then raises Stop with MAX_ITER. `where` is for its advice."""
        iterations = Breaker(self.config.max_iterations, self.usage.iterations.pop(where, 0))

        def ask() -> str:
            if not iterations.spend():
                raise Stop(
                    "MAX_ITER",
                    f"{where} was not finished after {iterations.limit} model requests. Read the events of this run, "
                    f"then give a smaller or clearer task, help by hand, or raise max_iterations in {AGENT_FILE}."
                    + (f" The last reply was cut at {self.config.max_tokens} tokens (max_tokens)." if self.cut else ""),
                )
            return self.ask(scene)

        return ask

    def ask(self, scene: str) -> str:
        """The model's reply to the conversation. Raises Stop when a budget is used up or the model fails."""
        over = self.budget.exhausted()
        if over:
            raise Stop(over, f"the run ends here: {_OVER_BUDGET[over]}. Raise it in {AGENT_FILE} to go on.")
        room = self.usage.room.tokens
        limit = self.usage.room.limit
        self._trimmed(self._talk.fit(room), "context_tokens" if room == limit else "what the model took before")
        answer = self._answer(scene)
        self._count(answer)
        text = as_text(answer)
        self._native = bool(answer.calls)
        self.cut = answer.finish_reason == "length"
        self._cuts = self._cuts + 1 if self.cut else 0
        self.silent = self.cut and (not text.strip() or chat_template.only_thoughts(text))
        self._silences = self._silences + 1 if self.silent else 0
        # What was cut is written anew: the whole of it would only take the place of what is needed.
        self._talk.answer(excerpt(text, _CUT_SHOWN) if self.cut else text)
        if self._silences == _MOST_SILENCES:
            raise Stop(
                "MODEL_ERROR",
                f"{self._model.name} used up its {self.config.max_tokens} tokens {self._silences} times before it said "
                f"anything, most likely for thoughts: raise max_tokens in {AGENT_FILE}.",
            )
        return text

    def _answer(self, scene: str) -> Answer:
        """The model's answer; a request that is too long or fails for a time is made again. Raises Stop."""
        retries = Breaker(self.config.max_model_retries)
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = self._query(scene, attempt)
                self.usage.room.took(estimate(self._talk.messages))
                return answer
            except ContextOverflow as error:
                self.usage.room.refused(estimate(self._talk.messages))
                trimmed = self._talk.shorten()
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
        left = self.budget.seconds_left()
        if seconds > self.config.model_timeout_s or (left is not None and seconds >= left):
            raise Stop("MODEL_ERROR", f"{error} (to be asked again in {seconds:g} s, for which there is no time)")
        self.events("model_retry", problem=str(error), retry=retry, seconds=seconds)
        interrupt.sleep(seconds)

    def read(self, text: str, scene: str) -> Reply:
        """What a reply to `scene` does."""
        reply = read_reply(text, self.tools.names, scene, tuple if self._native else self._outside)
        if self.cut and not isinstance(reply, Act):
            # Asked for less, it writes as much again: that is what it has to say.
            if isinstance(reply, Words) and self._cuts > 1 and scene in _ANSWERS:
                return Words(f"{reply.text}\n\n{prompts.cut_answer(self.config.max_tokens)}")
            reply = Malformed(prompts.cut(self.config.max_tokens, silent=self.silent))
        if isinstance(reply, Malformed):
            self.events("malformed_reply", problem=reply.problem)
        return reply

    def _outside(self) -> list[str]:
        """The texts from outside in this conversation, as far as the model still reads them."""
        told = [message["content"] for message in self._talk.messages if message["role"] == "user"]
        return [text for content in told for text in self.frames.inside(content)]

    def act(self, reply: Act) -> str:
        """Does what a reply asks for, but for control signals; how it went, for the next user turn."""
        said = [self.respond(list(reply.responses))] if reply.responses else []
        if reply.calls:
            self.desk.next_call()
        for number, call in enumerate(reply.calls, start=1):
            call_id = (call.id or f"call {number}") if len(reply.calls) > 1 else ""
            left = len(reply.calls) - number
            outcome = self.tools.call(replace(call, id=call_id), self.budget.seconds_left(), left)
            said.append(prompts.result(call.tool, outcome.text, outcome.advice, self.frames, call_id))
        return "\n\n".join(said)

    def respond(self, responses: list[Respond]) -> str:
        """Answers the gate; how that went, for the next user turn."""
        return f"{self.desk.answer(responses)}\nGo on."

    def answer_notes(self, what: str) -> None:
        """One request for an answer to what the gate said of `what`; without one it happens all the same."""
        self.say(f"{what} is next. {prompts.ANSWER_NOTES}")
        reply = self.read(self.ask("gate"), "gate")
        if isinstance(reply, Act) and reply.responses:
            self.desk.answer(list(reply.responses))
        self.desk.next_call()

    def close(self) -> None:
        """Ends all that tools of this run have started, and leaves its threads."""
        self.tools.close()
        self._worker.leave()

    def _query(self, scene: str, attempt: int) -> Answer:
        messages: list[Message] = [message.copy() for message in self._talk.messages]
        seconds = self.config.model_timeout_s
        left = self.budget.seconds_left()
        seconds = seconds if left is None else min(seconds, left)
        want, who = self._wants.of(scene), f"the model {self._model.name}"
        self.usage.request()
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
            over = self.budget.exhausted()
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
        answer = without_half_a_call(answer)
        if answer.finish_reason == "content_filter":
            self._count(answer)
            said = f": {one_line(answer.text, 300)}" if answer.text.strip() else ""
            raise Stop("MODEL_ERROR", f"the model {self._model.name} declines to answer (its content filter){said}")
        return answer

    def _count(self, answer: Answer) -> None:
        read = estimate(self._talk.messages) if answer.input_tokens is None else answer.input_tokens
        written = answer.output_tokens
        if written is None:
            written = estimate([{"role": "assistant", "content": answer.text}])
        self.budget.add(read + written, answer.usd or 0.0)
        self.events(
            "model_answer",
            text=with_calls(answer.text, answer.calls),
            finish_reason=answer.finish_reason,
            input_tokens=read,
            output_tokens=written,
            usd=answer.usd or 0.0,
        )
        if answer.usd is None and self.budget.usd is not None:
            raise Stop("BUDGET_USD", f"{self._model.name} tells no price, so {_NO_PRICE}")

    def _trimmed(self, trimmed: Trimmed, why: str) -> None:
        if trimmed != Trimmed():
            self.events("trimmed", pairs=trimmed.pairs, cuts=list(trimmed.cuts), why=why)
