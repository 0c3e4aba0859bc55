"""The guard before every final answer (seed 001 §4.2): the protocol between model and runner is never shown."""

import re
from collections.abc import Collection
from itertools import islice
from typing import Any

from ahp.runner.words import actions, chat_template, fences, strict_json
from ahp.runner.words.control_protocol import is_control_object, old_string

_MARKS = ("control", "tool", "respond", "step", "plan", "function", "action", "arguments", "name", "步骤", "规划")
# What models put before the answer that they were asked for.
_LABEL = re.compile(r"(?:final answer|final|answer|output|最终答案|答案)[ \t]{0,9}[:：]\s{0,9}(?=[{`])", re.IGNORECASE)
_DECORATED = re.compile(
    r"[ \t>*+•#(\[_-]{0,20}(?:</?[a-z_|]{1,20}>)?[*_`]{0,3}(\{.*\})[*_`]{0,3}(?:</?[a-z_|]{1,20}>)?[)\]*_,.; \t]{0,20}$"
)
_CUT_CONTROL = re.compile(
    r"""\{\s*["']?control["']?\s*:\s*["'\[{]*\s*(?:control["']\s*:\s*["'])?(?:step_?done|replan)""", re.IGNORECASE
)
_CUT_CALL = re.compile(r"""\{\s*"tool"\s*:\s*"[^"]{0,100}"?\s*(?:\}|$|,\s*(?:$|"))""")
_XML = re.compile(r"<control>\s*(?:step_done|replan)\s*</control>", re.IGNORECASE)
_BEGINNINGS = ('{"control":"step_done', '{"control":"replan', '{"tool":"', '{"respond":"')
_TOKENS = frozenset({"STEP_DONE", "STEPDONE", "REPLAN"})
_LINE = re.compile(r"^[ \t]*+(?:\{|[*【]*+(?:STEP_?DONE|REPLAN))", re.MULTILINE)
_QUOTES = ('""', "''", "``", "“”")
_LONGEST_TOKEN = 40
_NOTHING = " \t\r\n.…"  # what says nothing when it is all that is said
# `It is fine. STEP_DONE`: behind the last sentence, on its line.
_LAST_WORD = re.compile(r"[.!?。！？…)]\s{1,20}[*【]{0,2}(?:STEP_?DONE|REPLAN)[】*.!]{0,3}$")
_PLAN_LIST = re.compile(r"\[PLAN\](?>(?:[ \t\r]*+\n\s*+(?:\d{1,4}[.)]|[-*+])[ \t][^\n]*+)+)\s*+$", re.IGNORECASE)
_SENTENCE_END = tuple('.!?。！？…)）"”*`')
# `{"control": "step_done"} is what finishes a step`: the object is what the sentence speaks of.
_EXPLAINED = re.compile(
    r"\}\s*(?:(?:is|means|signals|tells|marks|says|ends|finishes)\b|是|表示|表明|代表|用于|用来|意味)"
)
# A signal, also cut off or with the wrong quotes, at an end of a line: `Answer: 5 {"control": "step_done"}`.
_SIGNAL = (
    r"""(?:\{\s{0,9}[\\"'“‘]{0,3}control[\\"'”’]{0,3}\s{0,9}[:：]\s{0,9}[\\"'“‘]{0,3}(?i:step_?done|replan)[^{}\n]{0,1000}\}"""
    r"|<control>\s{0,9}(?:step_done|replan)\s{0,9}</control>|(?<!\w)(?:STEP_?DONE|REPLAN)(?!\w))"
)
_SIGNAL_LAST = re.compile(
    rf"""{_SIGNAL}[\s*_`)\]|.,;!。！；，"'”’]{{0,20}}$|\{{\s{{0,9}}["']control\b[^{{}}\n]{{0,60}}$"""
)
_ONLY_SIGNAL = re.compile(rf"\s*{_SIGNAL}\s*$")
_SIGNAL_FIRST = re.compile(rf"[\s*_>#`(\[【-]{{0,20}}{_SIGNAL}")
_TRIES = 3  # a text of a hundred open braces has as many ends; one look costs as much as reading it
_LONGEST_LINE = 10_000


def is_protocol_content(text: str | None, tools: Collection[str] = ()) -> bool:
    """Whether a reply is protocol and not an answer for a person: then the model is asked again.

    True for nothing at all; for envelopes, tool calls, plans, answers to the gate and old control strings that stand
    alone, repeated, in a list, fenced, quoted, marked up or cut off; and for an answer with one of them on a line of
    its own, which would be shown with it. `tools` are the names of the run's tools. False for JSON that somebody asked
    for and for sentences that speak of the protocol, examples behind a colon included. Linear; never raises.
    """
    if not isinstance(text, str):
        return True
    shown = chat_template.spoken(text)
    shown = shown[label.end() :] if (label := _LABEL.match(shown)) else shown
    if not fences.without_marks(shown).strip(_NOTHING) or chat_template.only_thoughts(shown):
        return True
    if not _marked(shown):
        return _beginning(shown)
    plain = "\n".join(map(_undecorated, shown.split("\n")))
    return _only_protocol(plain, tools) or _PLAN_LIST.match(shown) is not None or _leaks(plain, tools)


def holds_signal(text: str) -> bool:
    """Whether an answer that `is_protocol_content` lets pass has a control signal at an end of one of its lines.

    No form tells whether that was left behind or is what the answer is about: the model can be asked. Not behind a
    colon, nor in code but for a fence that holds nothing else.
    """
    if not _marked(text):
        return False
    before = ""
    for line in fences.lines(text):
        bare = line.text.strip()[-_LONGEST_LINE:]
        if not line.code and not before.endswith((":", "：")):
            last = _SIGNAL_LAST.search(bare)
            if last is not None and not bare[: last.start()].rstrip(" `*").endswith((":", "：")):
                return True
            if _SIGNAL_FIRST.match(bare):
                return True
        before = bare or before
    behind = (text[: block.start].rstrip() for block in fences.blocks(text) if _ONLY_SIGNAL.match(block.body))
    return any(not words.endswith((":", "：")) for words in behind)


def _marked(text: str) -> bool:
    """Whether a word of the protocol stands in a text; a pattern would take ten times as long."""
    folded = text.casefold()
    return any(mark in folded for mark in _MARKS)


def _undecorated(line: str) -> str:
    """A line that is one object in a list, a quote, bold, brackets or a tag: the object; any other line as it is."""
    found = _DECORATED.match(line)
    return found[1] if found else line


def _only_protocol(text: str, tools: Collection[str]) -> bool:
    """Whether nothing is left when protocol, fence lines, commas and list brackets are taken away."""
    rest = fences.without_marks(text)
    closed = {span.start: span for span in strict_json.spans(rest)}
    at = found = 0
    while at < len(rest):
        if rest[at].isspace() or rest[at] in ",[]\x00":
            at += 1
            continue
        end = _protocol_end(rest, at, closed, tools)
        if end is None:
            return False
        found += 1
        at = end
    return found > 0


def _protocol_end(text: str, at: int, objects: dict[int, strict_json.Span], tools: Collection[str]) -> int | None:
    """Where the piece of protocol that begins at `at` ends; None when what begins there is something else."""
    if text[at] == "{":
        span = objects.get(at)
        if span is not None and span.closed and _is_protocol_object(text[at : span.end], tools):
            return span.end
        return len(text) if (span is None or not span.closed) and _cut_off(text[at:]) else None
    line_end = text.find("\n", at)
    line_end = len(text) if line_end < 0 else line_end
    line = text[at:line_end].strip()
    return line_end if old_string(line) or _XML.fullmatch(line) or _quoted(line, tools) else None


def _quoted(line: str, tools: Collection[str]) -> bool:
    """A JSON string, or inline code, that holds nothing but protocol."""
    if len(line) > _LONGEST_LINE or len(line) < 2 or line[0] + line[-1] not in _QUOTES:
        return False
    inner = line.strip("`'“”")
    if line[0] == '"':
        try:
            inner = str(strict_json.load(line))
        except ValueError:  # `"{"control": "step_done"}"` is no JSON, and meant as that all the same
            inner = line[1:-1]
    return inner != line and (old_string(inner) is not None or _is_protocol_object(inner, tools))


def _is_protocol_object(written: str, tools: Collection[str]) -> bool:
    if len(written) > _LONGEST_LINE and not _marked(written):
        return False
    try:
        value: Any = strict_json.load_object(written)
    except ValueError:
        return _cut_off(written)
    return is_control_object(value) or bool(actions.in_value(value, tools)) or _is_plan(value)


def _is_plan(value: dict[str, Any]) -> bool:
    """Whether an object is a plan of this runner, and not just some list of steps."""
    steps = value.get("steps")
    if not isinstance(steps, list) or not steps or value.keys() - {"title", "steps", "verification_policy"}:
        return False
    if not all(isinstance(step, dict) and {"id", "description"} <= step.keys() for step in steps):
        return False
    return "verification_policy" in value or any({"dependencies", "tools_expected"} & step.keys() for step in steps)


def _cut_off(written: str) -> bool:
    """An envelope or a call that max_tokens cut, or that is written with the wrong quotes."""
    return bool(_CUT_CONTROL.match(written) or _CUT_CALL.match(written)) or _beginning(written)


def _beginning(written: str) -> bool:
    """So little of an object that only its opening can be told."""
    compact = "".join(written[:40].split()).replace("'", '"')
    return len(written) < 40 and compact.startswith("{") and any(b.startswith(compact) for b in _BEGINNINGS)


def _leaks(text: str, tools: Collection[str]) -> bool:
    """Whether protocol stands beside an answer: on a line of its own, behind its last sentence, in its last fence."""
    fenced = fences.last_fence(text)
    if fenced is not None and not fenced[0].endswith((":", "：")) and _only_protocol(fenced[1], tools):
        return True
    last = _LAST_WORD.search(text, max(len(text) - _LONGEST_TOKEN, 0)) if not fences.open_at_end(text) else None
    return last is not None or _own_line(text, tools) or _tail(text, tools)


def _own_line(text: str, tools: Collection[str]) -> bool:
    if not _LINE.search(text):
        return False
    before = ""
    for line in fences.lines(text):
        bare = line.text.strip()
        if len(bare) < 2:
            before = bare or before
            continue
        # Behind a colon it is an example; the Chinese words are also just words of an answer.
        if not line.code and len(bare) < _LONGEST_LINE and not before.endswith((":", "：")):
            if len(bare) < _LONGEST_TOKEN and bare.strip("*【】.!。！ ") in _TOKENS:
                return True
            if bare[0] == "{" and _marked(bare) and _is_protocol_object(bare, tools) and not _EXPLAINED.search(bare):
                return True
        before = bare
    return False


def _tail(text: str, tools: Collection[str]) -> bool:
    """Whether protocol ends the text: on a line of its own, over several, or right behind a full stop."""
    ends = (span.start for span in strict_json.spans(text) if span.end == len(text) and _stands_apart(text, span.start))
    return any(_only_protocol(text[start:], tools) for start in islice(ends, _TRIES))


def _stands_apart(text: str, start: int) -> bool:
    """Whether what begins at `start` belongs to no sentence: not to one that it ends, nor as the example of one."""
    before = text[:start].rstrip()
    if not before or before.endswith((":", "：")):
        return False
    own_line = "\n" in text[len(before) : start]
    return (own_line or before.endswith(_SENTENCE_END)) and not fences.open_at_end(text[:start])
