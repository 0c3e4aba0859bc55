"""A verdict as text for its readers: a person at a terminal or in a log, an agent in its context (design §9)."""

import os

from ahp.protocol.event import Actor
from ahp.protocol.signals import Signal, reason_of
from ahp.protocol.text import AGENT_LIMIT, one_line, trim
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import environ

_WHOLE = "; nothing of this call ran"
_ROOM = AGENT_LIMIT - len(_WHOLE)
_REFUSING = 3  # rules that are named where there is no room for more
_STEPS = 5
_PLACES = 8
_LINES = 12  # of one file, to an agent
_DO = 240  # characters of what an agent is told to do
_DO_FIRST = 160  # the same where other rules refuse, too
_SYMBOLS = {"block": "✗", "control": "~", "prompt": "!", "aid": "i"}
_COLOURS = {"block": "31", "control": "36", "prompt": "33", "aid": "34"}
VERBS = {"block": "refused by", "control": "changed by", "prompt": "warned by", "aid": "advised by"}


def short_id(signal: Signal) -> str:
    """The first eight digits of a signal's id: what a person types to answer it."""
    return signal.id[:8]


def rule_of(signal: Signal) -> str:
    """How a signal's rule is called in one word: the oracle's name, with the rule's id where they differ."""
    return name_of(str(signal.context["rule"]))


def name_of(key: str) -> str:
    """A rule's key in one word, as `rule_of` has it."""
    source, _, name = key.partition("/")
    return source if source == name else key


def text(verdict: Verdict, actor: Actor, env: dict[str, str]) -> str:
    """The verdict for whoever asked, as it goes to standard error; "" when there is nothing to say."""
    return for_agent(verdict) if actor.kind == "agent" else translated(for_person(verdict, _coloured(env)), actor, env)


def translated(said: str, actor: Actor, env: dict[str, str]) -> str:
    """Lines for people, in Chinese where a person's locale says so. The log and all programs read English."""
    if not said or actor.kind != "human" or environ.language(env) != "zh":
        return said
    from ahp.hosts import chinese

    return chinese.translated(said)


def _coloured(env: dict[str, str]) -> bool:
    """Whether standard error is a terminal that shows colours (no-color.org)."""
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb" and os.isatty(2)


def for_person(verdict: Verdict, colour: bool) -> str:
    """A few lines a signal: what, why, where, how to fix it, and the id to answer with. "" when all is well.

    Refusals come last, next to the prompt. The log of a dry run knows no id, so none is shown.
    """
    told = [(signal.intensity == "block", _paragraph(signal, verdict, colour)) for signal in verdict.signals]
    notes = [f"ahp: {one_line(note, 500)}" for note in verdict.notes]
    refusals = [part for refuses, part in told if refuses]
    return "\n".join([*[part for refuses, part in told if not refuses], *notes, *refusals])


def _paragraph(signal: Signal, verdict: Verdict, colour: bool) -> str:
    intensity, payload = signal.intensity, signal.payload
    verb = "split suggested by" if _only_batches(payload) else VERBS[intensity]
    whose = _whose(signal, verdict)
    id = f" ({short_id(signal)})" if verdict.is_logged else ""
    head = f"ahp: {TRIGGERS[verdict.trigger].act} {verb} {rule_of(signal)}{whose}{id}"
    if colour:
        head = f"\x1b[{_COLOURS[intensity]}m{_SYMBOLS[intensity]}\x1b[0m {head}"
    lines = [head, f"  {one_line(reason_of(payload), 1000)}"]
    lines += [f"  {place}" for place in _places(signal)]
    lines += [f"  {_changed(m)}" for m in _modifications(payload)]
    # What the reason tells already, as where a fact is missing, is not told twice.
    steps = [step for step in steps_of(payload) if f"; {step}" not in reason_of(payload)]
    shown = steps[:_STEPS] if verdict.is_logged else steps
    lines += [f"  - {one_line(step, 500)}" for step in shown]
    if len(steps) > len(shown):
        lines.append(f"  - and {len(steps) - len(shown)} more: ahp explain {short_id(signal)}")
    if intensity == "block" and signal.context.get("overridable") and verdict.is_logged:
        lines.append(f'  pass once, and say why: ahp respond {short_id(signal)} proceed_with_risk --reason "…"')
    return "\n".join(lines)


def _whose(signal: Signal, verdict: Verdict) -> str:
    """Which policy's rule it is, where that is not the one in force."""
    origin = signal.context.get("origin")
    if origin == "pushed":
        return " of the pushed policy"
    return " of the work tree's policy" if verdict.working and origin == "working" else ""


def for_agent(verdict: Verdict, told: bool = False) -> str:
    """What an agent reads: at most 600 characters, what refuses first, then the strongest signal.

    Every rule that refuses is named, though there may be no room for all that it says. `told` says that the same was
    refused before, and the agent read why.
    """
    signals = sorted(verdict.signals, key=lambda s: list(_SYMBOLS).index(s.intensity))
    blocks = [signal for signal in signals if signal.intensity == "block"]
    reserved = len(_left_out([*signals[1:], *[None] * len(verdict.notes)])) if len(blocks) > 1 else 0
    parts = [
        (_also(signal, verdict) if 0 < number < len(blocks) else _note(signal, verdict, told, reserved), signal)
        for number, signal in enumerate(signals)
    ]
    notes: list[tuple[str, Signal | None]] = [(f"ahp: {one_line(note, 300)}", None) for note in verdict.notes]
    refused_by_a_note = verdict.denied and not blocks
    said = [*notes, *parts] if refused_by_a_note else [*parts, *notes]
    text = said[0][0] if said else ""
    for number, (part, _) in enumerate(said[1:], start=1):
        more = _left_out([signal for _, signal in said[number:]])
        if len(text) + len(part) + len(more) + 1 > _ROOM:
            return trim(text, _ROOM - len(more)) + more
        text += "\n" + part
    return trim(text, _ROOM)


def in_order(*told: str) -> str:
    """What several gates tell an agent of one call, as far as there is room: what refuses has to come first."""
    return trim("\n".join([part for part in told if part]), AGENT_LIMIT)


def as_a_whole(refusal: str) -> str:
    """A refusal of a call of several commands: none of them runs, also those that nobody minds."""
    first, *rest = refusal.split("\n")
    return "\n".join([first + (_WHOLE if "ahp blocked: " in first else ""), *rest])


def _left_out(signals: list[Signal | None]) -> str:
    """What there is no room for: the rules that refuse by name, the rest by number."""
    blocks = [signal for signal in signals if signal is not None and signal.intensity == "block"]
    named = [one_line(rule_of(one), 40) for one in blocks[:_REFUSING]]
    unnamed = f" and {len(blocks) - len(named)} more" if len(blocks) > len(named) else ""
    refused = [f"refused by {', '.join(named)}{unnamed} as well"] if named else []
    others = len(signals) - len(blocks)
    more = [f"{others} {'more' if not named else 'note' + 's' * (others > 1)}"] if others else []
    return f"\n({', and '.join([*refused, *more])}: ahp log)"


def _also(signal: Signal, verdict: Verdict) -> str:
    """A second rule that refuses, in one line: an override of the first one alone would be of no use."""
    steps = _first_steps(steps_of(signal.payload)[:1], _DO_FIRST)
    rule = rule_of(signal) + (f" ({short_id(signal)})" if verdict.is_logged else "")
    why = _with_places(one_line(reason_of(signal.payload), 120), signal, 200, verdict.is_logged)
    return f"ahp blocked, too: {rule}: {why}" + (f"\nDo: {steps}" if steps else "")


def _note(signal: Signal, verdict: Verdict, told: bool, reserved: int) -> str:
    """One signal in the lines that design §9 gives agents; a warning told again is one line.

    Where the action is denied, a warning beside that does not count and does not say that it is accepted; where it
    was `told` before, one line does. `reserved` is the room for the names of other rules that refuse, 0 for none.
    """
    payload, context, is_logged = signal.payload, signal.context, verdict.is_logged
    blocks = signal.intensity == "block"
    nth, of = context.get("attempt"), context.get("blocks_after")
    again = isinstance(nth, int) and nth > 1
    steps = _first_steps(steps_of(payload), _DO_FIRST if reserved else _DO)
    last = isinstance(of, int) and nth == of
    do = f"\nDo: {steps}" if steps and (blocks or last or not again) else ""
    rule = rule_of(signal) + (f" ({short_id(signal)})" if is_logged else "")
    leave = f'ahp respond {short_id(signal)} proceed_with_risk --reason "…"'
    way = f"\nOr, if your user wants it, they run in a terminal: {leave}; then repeat the command, nothing changed"
    way = way if blocks and context.get("overridable") and is_logged else ""
    said = reason_of(payload)
    for step in steps_of(payload):
        said = said.replace(f"; {step}", "") if do and step else said
    reason = one_line(said if blocks else said.removesuffix(f" ({context.get('standing')})"), 220)
    room = _ROOM - reserved - len(f"ahp blocked: {rule}\nWhy: {do}{way}")
    why = _with_places(reason, signal, room if blocks else min(room, 240), is_logged)
    if blocks and told:
        return f"ahp blocked again: {rule}: {why}; the same call is refused every time"
    if blocks:
        return f"ahp blocked: {rule}\nWhy: {why}{do}{way}"
    if signal.intensity == "control":
        changed = trim("; ".join([_changed(m) for m in _modifications(payload)][:3]), 200)
        verb = "suggests a split" if _only_batches(payload) else "changed this"
        return f"ahp {verb}: {rule}\nWhy: {why}\nChange: {changed}{do}"
    going = _what_comes_next(nth, of) if signal.intensity == "prompt" and not verdict.denied else ""
    return f"ahp note: {rule}: {why}{going}{do}"


def _first_steps(steps: list[str], room: int) -> str:
    """As many whole steps as there is room for, three at most; only the first one may be cut."""
    told = ""
    for step in [one_line(step, room) for step in steps[:3]]:
        if told and len(told) + len(step) + 2 > room:
            break
        told += f"; {step}" if told else step
    return told


def _with_places(reason: str, signal: Signal, room: int, is_logged: bool) -> str:
    """The reason and the places that it is about, as many as there is room for, and how many more there are."""
    found, total = signal.context.get("findings"), signal.context.get("findings_total")
    places = _lines_by_file(found) if isinstance(found, list) else []
    left = total if isinstance(total, int) else sum([count for _, count in places])
    where = f": ahp explain {short_id(signal)}" if is_logged else ""
    of_files = any("file" in one or "commit" in one for one in found) if isinstance(found, list) else False
    opened, closed = (" at ", "") if of_files else (" (", ")")
    said = reason + opened if places else reason
    for number, (place, count) in enumerate(places):
        joined = said + ", " * (number > 0) + place
        more = f", and {left - count} more{where}" if left > count else ""
        if number and len(joined) + len(more) > room - 1:
            break
        said, left = joined, left - count
    more = (f", and {left} more{where}" if left > 0 else "") + closed if places else ""
    return trim(said, room - len(more)) + more


def _lines_by_file(found: list[dict[str, object]]) -> list[tuple[str, int]]:
    """`file:line` of the findings and how many these are, those of one file and message together: `a.py:2,7: pdb`."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in found:
        place = (
            f"{one.get('commit', '')} {one_line(one.get('file', ''), 200)}".strip(),
            _said(one),
        )
        if any(place):
            groups.setdefault(place, []).append(str(one.get("line", "")))
    named = []
    for (file, said), lines in groups.items():
        shown = lines[:_LINES] if any(lines) else lines[:1]
        parts = [":".join([part for part in (file, ",".join(shown)) if part]), said]
        named.append((": ".join([part for part in parts if part]), len(shown) if file else len(lines)))
    return named


def _said(finding: dict[str, object]) -> str:
    """What a finding says beside its place, with the words of a command that are meant."""
    words = finding.get("words")
    told = [one_line(finding.get("message", "")), ", ".join(map(one_line, words)) if isinstance(words, list) else ""]
    return ": ".join([part for part in told if part])


def _what_comes_next(nth: object, of: object) -> str:
    """That a warning lets the action pass, and what becomes of it: the `nth` of `of` that pass before it blocks."""
    if not isinstance(nth, int) or not isinstance(of, int) or not of:
        return "; accepted"
    if nth >= of:
        return "; accepted; the next one is refused"
    return f"; accepted; {of - nth} more {'passes' if of - nth == 1 else 'pass'} like this, then it is refused"


def _places(signal: Signal) -> list[str]:
    """`file:line` of each finding, after its commit where several are judged: the first eight, and how many more."""
    found = signal.context.get("findings")
    if not isinstance(found, list) or not found:
        return []
    places = []
    for one in found[:_PLACES]:
        place = one_line(one.get("file", ""), 200)
        if "line" in one:
            place += f":{one['line']}"
        if "commit" in one:
            place = f"{one['commit']} {place}".rstrip()
        if place := ": ".join([part for part in (place, _said(one)) if part]):
            places.append(place)
    total = signal.context.get("findings_total")
    if isinstance(total, int) and total > len(places) and places:
        places.append(f"and {total - len(places)} more")
    return places


def steps_of(payload: dict[str, object]) -> list[str]:
    """What a payload advises to do, as sentences."""
    steps = payload.get("resolution_path") or payload.get("suggestions") or []
    if not isinstance(steps, list):
        return []
    return [str(step.get("description", "")) if isinstance(step, dict) else str(step) for step in steps]


def _modifications(payload: dict[str, object]) -> list[dict[str, object]]:
    modifications = payload.get("modifications")
    return modifications if isinstance(modifications, list) else []


def _only_batches(payload: dict[str, object]) -> bool:
    """Whether a control leaves the action as it is and only says how to split it."""
    modifications = _modifications(payload)
    return bool(modifications) and all("batches" in modification for modification in modifications)


def _changed(modification: dict[str, object]) -> str:
    batches = modification.get("batches")
    if isinstance(batches, list):
        first = ", ".join([one_line(path, 60) for path in batches[0][:3]]) if batches else ""
        count = f"{len(batches)} batch{'es' if len(batches) != 1 else ''}"
        return f"{count} of at most {modification['updated']} files, the first: {first}, …"
    fixed = modification.get("files")
    if isinstance(fixed, list):
        named = ", ".join([one_line(path, 60) for path in fixed[:_PLACES]])
        more = f" and {len(fixed) - _PLACES} more" if len(fixed) > _PLACES else ""
        return f"staged as fixed: {named}{more}" if fixed else "its fixer would run"
    before, after = one_line(modification["original"], 80), one_line(modification["updated"], 80)
    return f"{modification['target']}: {before!r} → {after!r}"


def say(verdict: Verdict, actor: Actor, env: dict[str, str]) -> int:
    """Prints the verdict to standard error, asks where a rule wants to ask, and gives the exit code of a hook."""
    if said := text(verdict, actor, env):
        write(said)
    if verdict.denied:
        return 1
    if any(signal.context.get("ask") for signal in verdict.signals) and actor.kind == "human":
        from ahp.system import patience, terminal

        patience.end()
        if terminal.ask(translated("ahp: go on?", actor, env)) is False:
            write(translated("ahp: stopped as you asked", actor, env))
            return 1
    return 0


def write(text: str) -> None:
    """One write to standard error, also where nobody reads it any more or nothing can be written."""
    try:
        os.write(2, (text + "\n").encode("utf-8", "replace"))
    except OSError:
        return
