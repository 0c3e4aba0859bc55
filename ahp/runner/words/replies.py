"""What a model's reply does: the one reader of every scene (seed 001 §4)."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from ahp.protocol.text import one_line
from ahp.runner.words import actions, chat_template, fences, strict_json
from ahp.runner.words.actions import Found, Malformed, Respond, ToolCall
from ahp.runner.words.control_protocol import Reading, fault_of, is_control_object, read_control
from ahp.runner.words.guard import holds_signal, is_protocol_content

STEP = "step"  # the scene in which control signals are read

_BOTH = "One reply is one action: call the tool or send the control object, not both."
_QUOTED = (
    "Your reply has words and then a call that stands just so in what you have read, and was not made. If you mean it, "
    "send the call alone. If you quote it, say what it is behind it, as in: `OBJECT` is what the file holds."
)
_THOUGHTS = "Your reply is a thought that never ends: nothing of it was read. Close your thoughts, then act or answer."


@dataclass(frozen=True)
class Act:
    """A reply to act on: first `responses` go to the gate, then `calls` are made in order or `control` is taken."""

    responses: tuple[Respond, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    control: Reading | None = None


@dataclass(frozen=True)
class Protocol:
    """Protocol that does nothing here, or nothing at all: never shown to a person."""


@dataclass(frozen=True)
class Words:
    """Words that a person can be shown; `signal` says that a control signal is glued to them, meant or left behind."""

    text: str
    signal: bool = False


Reply = Act | Malformed | Protocol | Words


def read_reply(
    text: str, tools: Collection[str] = (), scene: str = "", outside: Callable[[], Iterable[str]] = tuple
) -> Reply:
    """What a reply does in a scene of a run (planning, step, react, answer, gate). Never raises; linear in the text.

    `tools` are the names of the run's tools: an object that names one of them where a call names its tool is a call,
    in whatever shape, or Malformed with the right one. Control signals and old control strings are read in steps only.
    `outside` gives the texts from outside that the model has read: what it may only quote, behind words of its own.
    """
    if chat_template.only_thoughts(text):
        return Malformed(_THOUGHTS)
    body = chat_template.spoken(text)
    found = actions.find(body, tools)
    responses = tuple(one.item for one in found if isinstance(one.item, Respond))
    if len(responses) < len(found):
        return _act(body, found, responses, outside)
    if scene == STEP:
        control = read_control(_without(body, found))
        fault = fault_of(body) if control is None else None
        if control is not None:
            return Act(responses, control=control)
        if fault is not None and not responses:
            return Malformed(fault)
    if responses:
        return Act(responses)
    if is_protocol_content(body, tools):
        return Protocol()
    return Words(body, holds_signal(body)) if (said := _langchain_answer(body)) is None else Words(said)


def _langchain_answer(body: str) -> str | None:
    """What `{"action": "Final Answer", "action_input": "…"}` says."""
    if "action_input" not in body:
        return None
    try:
        value = strict_json.load_object(fences.inside(body) or body)
    except ValueError:
        return None
    name, said = value.get("action"), value.get("action_input")
    final = isinstance(name, str) and name.strip().lower().replace("_", " ") == "final answer"
    return said if final and isinstance(said, str) and said.strip() else None


def _act(
    body: str, found: list[Found], responses: tuple[Respond, ...], outside: Callable[[], Iterable[str]]
) -> Act | Malformed:
    """The calls of a reply, all of them or none: none with a control object, or with words between or behind them.

    A model that writes on behind its call makes up the result.
    """
    if _holds_control(body):
        return Malformed(_BOTH)
    for one in found:
        if isinstance(one.item, Malformed):
            return one.item
    made = [one for one in found if isinstance(one.item, ToolCall)]
    calls = [one.item for one in made if isinstance(one.item, ToolCall)]
    listed = ", ".join(one_line(call.tool, 80) for call in calls[:10])
    if len({repr(call) for call in calls}) < len(calls):
        return Malformed(f"You wrote the same call twice ({listed}), and none was made. Send each call once.")
    first, last = made[0], made[-1]
    if _words(_without(body[: last.end], found, first.start)):
        return Malformed(
            f"You wrote {len(calls)} calls ({listed}) with text between them, and none of them was made. Send the "
            "calls alone, or the first one: their results come with the next message."
        )
    if not last.fenced and _words(_without(body, found, last.end)):
        return Malformed("Your call has text behind it, and was not made. Send one JSON object and nothing behind it.")
    if not _alone(body, first.start) and _quotes([body[one.start : one.end] for one in made], outside()):
        return Malformed(_QUOTED)
    return Act(responses, tuple(calls))


def _alone(body: str, start: int) -> bool:
    """Whether nothing but a fence or a tag stands before what begins at `start`."""
    return not actions.without_tags(fences.without_marks(body[:start])).strip()


def _quotes(written: list[str], texts: Iterable[str]) -> bool:
    """Whether one of the objects stands in one of the texts, white space aside."""
    wanted = ["".join(one.split()) for one in written]
    return any(one in held for held in ("".join(text.split()) for text in texts) for one in wanted)


def _words(text: str) -> str:
    """What is left of a text without fences, tags and punctuation."""
    return actions.bare(fences.without_marks(text))


def _without(body: str, found: list[Found], at: int = 0) -> str:
    """The text from `at` on without these actions."""
    kept = []
    for one in (one for one in found if one.start >= at):
        kept.append(body[at : one.start])
        at = max(at, one.end)
    return "".join([*kept, body[at:]])


def _holds_control(body: str) -> bool:
    """Whether one of the objects of a text is a control object."""
    if "control" not in body.lower():
        return False
    for span in strict_json.spans(body):
        try:
            if is_control_object(strict_json.load_object(body[span.start : span.end])):
                return True
        except ValueError:
            continue
    return False
