"""The guard before every final answer (seed 001 §4.2): the protocol between model and runner is never shown."""

import re
from itertools import islice
from typing import Any

from ahp.runner.words import fences, strict_json
from ahp.runner.words.control_protocol import is_control_object, old_string
from ahp.runner.words.replies import is_action_object

_MARK = re.compile(r"control|tool|respond|step|plan|步骤|规划", re.IGNORECASE)
_CUT_CONTROL = re.compile(
    r"""\{\s*["']?control["']?\s*:\s*["'\[{]*\s*(?:control["']\s*:\s*["'])?(?:step_?done|replan)""", re.IGNORECASE
)
_CUT_CALL = re.compile(r"""\{\s*"tool"\s*:\s*"[^"]{0,100}"?\s*(?:\}|$|,\s*(?:$|"))""")
_XML = re.compile(r"<control>\s*(?:step_done|replan)\s*</control>", re.IGNORECASE)
_BEGINNINGS = ('{"control":"step_done', '{"control":"replan', '{"tool":"', '{"respond":"')
_TOKENS = frozenset({"STEP_DONE", "STEPDONE", "REPLAN"})
_LINE = re.compile(r"^[ \t]*+(?:\{|[*【]*+(?:STEP_?DONE|REPLAN))", re.MULTILINE)
_LONGEST_TOKEN = 40
_SENTENCE_END = tuple('.!?。！？…)）"”*`')
# `{"control": "step_done"} is what finishes a step`: the object is what the sentence speaks of.
_EXPLAINED = re.compile(
    r"\}\s*(?:(?:is|means|signals|tells|marks|says|ends|finishes)\b|是|表示|表明|代表|用于|用来|意味)"
)
_TRIES = 3  # a text of a hundred open braces has as many ends; one look costs as much as reading it
_LONGEST_LINE = 10_000


def is_protocol_content(text: str | None) -> bool:
    """Whether a reply is protocol and not an answer for a person: then the model is asked again.

    True for nothing at all; for envelopes, tool calls, answers to the gate and old control strings that stand alone,
    repeated, in a list, fenced, quoted or cut off; and for an answer with one of them on a line of its own, which
    would be shown with it. False for JSON that somebody asked for and for sentences that speak of the protocol,
    examples behind a colon included. Linear in the text; never raises.
    """
    if not isinstance(text, str):
        return True
    shown = fences.without_thoughts(text).strip("\x00\ufeff \t\r\n\v\f\u3000")
    if not shown:
        return True
    if not _MARK.search(shown):
        return _beginning(shown)
    return _only_protocol(shown) or _leaks(shown)


def _only_protocol(text: str) -> bool:
    """Whether nothing is left when protocol, fence lines, commas and list brackets are taken away."""
    rest = fences.without_marks(text)
    closed = {span.start: span for span in strict_json.spans(rest)}
    at = found = 0
    while at < len(rest):
        if rest[at].isspace() or rest[at] in ",[]\x00":
            at += 1
            continue
        end = _protocol_end(rest, at, closed)
        if end is None:
            return False
        found += 1
        at = end
    return found > 0


def _protocol_end(text: str, at: int, objects: dict[int, strict_json.Span]) -> int | None:
    """Where the piece of protocol that begins at `at` ends; None when what begins there is something else."""
    if text[at] == "{":
        span = objects.get(at)
        if span is not None and span.closed and _is_protocol_object(text[at : span.end]):
            return span.end
        return len(text) if (span is None or not span.closed) and _cut_off(text[at:]) else None
    line_end = text.find("\n", at)
    line_end = len(text) if line_end < 0 else line_end
    line = text[at:line_end].strip()
    return line_end if old_string(line) or _XML.fullmatch(line) or _quoted(line) else None


def _quoted(line: str) -> bool:
    """A JSON string, or inline code, that holds nothing but protocol."""
    if len(line) > _LONGEST_LINE or len(line) < 2 or line[0] != line[-1] or line[0] not in "\"'`":
        return False
    inner = line.strip("`'")
    if line[0] == '"':
        try:
            inner = str(strict_json.load(line))
        except ValueError:
            return False
    return inner != line and (old_string(inner) is not None or _is_protocol_object(inner))


def _is_protocol_object(written: str) -> bool:
    if len(written) > _LONGEST_LINE and not _MARK.search(written):
        return False
    try:
        value: Any = strict_json.load_object(written)
    except ValueError:
        return _cut_off(written)
    return is_control_object(value) or is_action_object(value)


def _cut_off(written: str) -> bool:
    """An envelope or a call that max_tokens cut, or that is written with the wrong quotes."""
    return bool(_CUT_CONTROL.match(written) or _CUT_CALL.match(written)) or _beginning(written)


def _beginning(written: str) -> bool:
    """So little of an object that only its opening can be told."""
    compact = "".join(written[:40].split()).replace("'", '"')
    return len(written) < 40 and compact.startswith("{") and any(b.startswith(compact) for b in _BEGINNINGS)


def _leaks(text: str) -> bool:
    """Whether protocol stands beside an answer: on a line of its own, behind its last sentence, in its last fence."""
    fenced = fences.last_fence(text)
    if fenced is not None and not fenced[0].endswith((":", "：")) and _only_protocol(fenced[1]):
        return True
    return _own_line(text) or _tail(text)


def _own_line(text: str) -> bool:
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
            if bare[0] == "{" and _MARK.search(bare) and _is_protocol_object(bare) and not _EXPLAINED.search(bare):
                return True
        before = bare
    return False


def _tail(text: str) -> bool:
    """Whether protocol ends the text: on a line of its own, over several, or right behind a full stop."""
    ends = (span.start for span in strict_json.spans(text) if span.end == len(text) and _stands_apart(text, span.start))
    return any(_only_protocol(text[start:]) for start in islice(ends, _TRIES))


def _stands_apart(text: str, start: int) -> bool:
    """Whether what begins at `start` belongs to no sentence: not to one that it ends, nor as the example of one."""
    before = text[:start].rstrip()
    if not before or before.endswith((":", "：")):
        return False
    own_line = "\n" in text[len(before) : start]
    return (own_line or before.endswith(_SENTENCE_END)) and not fences.open_at_end(text[:start])
