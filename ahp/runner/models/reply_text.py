"""A reply as text: conversations keep only text, which every chat template can render, and one reader reads it."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args

from ahp.runner.models.model import Answer, FinishReason, NativeCall
from ahp.runner.words import actions, chat_template, fences


def as_text(answer: Answer) -> str:
    """What a reply says and does, without its thoughts, each call beside it as a line of its own.

    A thought that never ends takes no call with it: the call was not part of the text.
    """
    text = chat_template.spoken(answer.text)
    if answer.calls and chat_template.only_thoughts(text):
        text = ""
    if answer.calls and fences.open_at_end(text):
        text = fences.without_marks(text)  # else the calls would stand in it
    once = {(_key(call.tool, call.args), call.id or at): call for at, call in reversed([*enumerate(answer.calls)])}
    calls = list(reversed(once.values()))
    return with_calls(_without_copies(text, calls), calls)


def _key(tool: str, args: Mapping[str, Any] | str) -> str:
    """What is alike for two calls that are the same."""
    try:
        return json.dumps([tool, args], sort_keys=True, default=str)
    except TypeError:  # keys that are no texts
        return repr((tool, args))


def _without_copies(text: str, calls: list[NativeCall]) -> str:
    """The text without those of the calls that stand in it, too: some servers read a call and leave it where it was."""
    tools = {call.tool for call in calls}
    found = actions.find(text, tools) if calls else []
    if not found:
        return text
    read = (one for call in calls for one in actions.in_value({"tool": call.tool, "args": call.args}, tools))
    given = {_key(one.tool, one.args) for one in read if isinstance(one, actions.ToolCall)}
    places: dict[tuple[int, int], bool] = {}
    for one in found:
        place = (one.start, one.end)
        copied = isinstance(one.item, actions.ToolCall) and _key(one.item.tool, one.item.args) in given
        places[place] = places.get(place, True) and copied
    kept, at = [], 0
    for (start, end), copied in places.items():
        if copied:
            kept.append(text[at:start])
            at = end
    return "".join([*kept, text[at:]])


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


def without_half_a_call(answer: Answer) -> Answer:
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
