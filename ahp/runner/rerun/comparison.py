"""Where two runs of one task part: their events in a comparable form, one beside the other."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ahp.protocol.text import one_line
from ahp.runner.run import prompts
from ahp.runner.run.events import Event

_TEXT_LINES = 12  # of a text that differs


@dataclass(frozen=True)
class Difference:
    """A place where the runs part: the lines of the recorded run and those of now, either may be empty.

    `text` are the lines of a text that was told the model, as a unified diff has them.
    """

    recorded: list[str]
    now: list[str]
    text: list[str]


def differences(recorded: Sequence[Event], now: Sequence[Event]) -> list[Difference]:
    """The differences in order; none for runs that did the same, were told the same and judged the same."""
    before, after = list(_told(recorded)), list(_told(now))
    matcher = difflib.SequenceMatcher(None, [one.key for one in before], [one.key for one in after], autojunk=False)
    found = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if tag != "equal":
            old, new = before[start:end], after[other_start:other_end]
            found.append(Difference([one.line for one in old], [one.line for one in new], _text_diff(old, new)))
    return found


@dataclass(frozen=True)
class _Told:
    """One event: what it is compared by, how it is shown, and its text where that is long."""

    key: str
    line: str
    text: str = ""


def _told(events: Iterable[Event]) -> Iterable[_Told]:
    nonce = ""
    for event in _by_step(events):
        nonce = str(event["nonce"]) if event["event"] == "run_start" else nonce
        words = _WORDS.get(event["event"])
        told = words(event) if words is not None else None
        if told is None:
            continue
        head, text = told
        text = _without_gate(text, nonce)
        step = f"{event['step']}: " if event.get("step") else ""
        line = one_line(f"{step}{head}", 200)
        if head or text:
            yield _Told(f"{step}{head}\0{text}", line, text)


def _by_step(events: Iterable[Event]) -> Iterable[Event]:
    """The events, those of a step that ran beside others together where it ended: as if one came after another."""
    beside: dict[str, list[Event]] = {}
    for event in events:
        if not event.get("parallel"):
            yield event
            continue
        of_step = beside.setdefault(str(event["step"]), [])
        of_step.append(event)
        if event["event"] == "plan_step_end":
            yield from beside.pop(str(event["step"]))
    for rest in beside.values():
        yield from rest


def _without_gate(text: str, nonce: str) -> str:
    """A text for the model without the gate's notes, which the verdicts tell, what was retrieved, and the nonce."""
    if not nonce:
        return text
    mark = re.escape(nonce)
    text = re.sub(rf"^Gate {mark}:\n(?:.+\n?)*", "", text, flags=re.MULTILINE)
    text = re.sub(rf"^From .+, lines \d+ to \d+ .*:\n<<<{mark}\n(?:.*\n)*?>>>{mark}$", "", text, flags=re.MULTILINE)
    text = text.replace(prompts.BESIDE, "")
    return re.sub(r"\n{3,}", "\n\n", text.replace(nonce, "NONCE")).strip()


def _text_diff(old: Sequence[_Told], new: Sequence[_Told]) -> list[str]:
    """How the first texts differ that stand in the same place."""
    pair = next(((a.text, b.text) for a, b in zip(old, new, strict=False) if a.line == b.line and a.text), None)
    if pair is None:
        return []
    lines = difflib.unified_diff(pair[0].split("\n"), pair[1].split("\n"), n=0, lineterm="")
    shown = [one_line(line, 200) for line in lines if not line.startswith(("---", "+++", "@@"))]
    more = [f"… {len(shown) - _TEXT_LINES} more lines"] if len(shown) > _TEXT_LINES else []
    return shown[:_TEXT_LINES] + more


def _verdict(event: Event) -> tuple[str, str]:
    rules = sorted(f"{one['context'].get('rule')} {one['header']['intensity']}" for one in event["signals"])
    return f"gate: {event['trigger']}: {event['decision']}" + (f" ({', '.join(rules)})" if rules else ""), ""


def _message(event: Event) -> tuple[str, str] | None:
    if event["role"] == "assistant":
        return None  # it is the recorded one
    return ("the system prompt" if event["role"] == "system" else "what the model reads next"), str(event["content"])


_WORDS: dict[str, Callable[[Event], tuple[str, str] | None]] = {
    "conversation": lambda event: (f"the prompt of {event['scene']}", f"{event['head']}\n\n{event['opening']}"),
    "message": _message,
    "brief": lambda event: ("the policy's brief", str(event["text"])),
    "verdict": _verdict,
    "tool_call": lambda event: (f"call: {event['tool']} {event['args']}", ""),
    "tool_result": lambda event: (f"result: {event['tool']}: {event['code']}", str(event["text"])),
    "plan_generated": lambda event: (f"plan: {', '.join(step['id'] for step in event['plan']['steps'])}", ""),
    "planning_retry": lambda event: (f"plan refused: {'; '.join(event['problems'])}", ""),
    "plan_step_end": lambda event: (f"step {event['step_id']} {event['status']}", str(event["problem"] or "")),
    "plan_step_blocked": lambda event: (f"step {event['step_id']} blocked", ""),
    "control_signal": lambda event: (f"signal: {event['control']} ({event['via']})", ""),
    "malformed_reply": lambda event: ("a reply that could not be read", str(event["problem"])),
    "intercepted": lambda event: ("an answer that was not shown", ""),
    "final_verify": lambda event: (f"verification: {event['result']['type']}", ""),
    "issue_moved": lambda event: (f"issue: {event['verb']}", ""),
    "answered": lambda event: ("the answer", str(event["text"])),
    "run_end": lambda event: (f"end: {event['stop_reason']}", str(event["answer"])),
}


def as_json(difference: Difference) -> dict[str, Any]:
    """A difference in plain JSON."""
    return {"recorded": difference.recorded, "now": difference.now, "text": difference.text}
