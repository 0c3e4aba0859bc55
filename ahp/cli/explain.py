"""`ahp explain`: why the gate says what it says."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import click

from ahp.cli.options import FACTS, ISSUE, TEXT_OR_JSON, TRIGGERS_THERE_ARE, triggers
from ahp.cli.run import event_here, unstaged
from ahp.gate.explain import Explanation, Reason, explain, shown
from ahp.hosts import api, asking, verdict_text
from ahp.journal import answers
from ahp.journal.answers import RISK
from ahp.journal.episodes import LoggedSignal
from ahp.journal.place import journal_of
from ahp.journal.respond import possible
from ahp.journal.state import State
from ahp.policy.judges import judges_of
from ahp.policy.problems import PolicyError, closest
from ahp.policy.program import RuleAnswer
from ahp.protocol.event import Actor, identify
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import environ, jsontext
from ahp.system.errors import AhpError

_MARKS = {"true": "yes", "false": "no", "undecided": "?", "filtered": "-", "bound": "!"}
_QUIET = {"false": "no", "filtered": "not asked, their `when` does not hold"}
_PATH = re.compile(r"[A-Za-z_][\w.]*")
_SHORT = 60  # characters of a part of a condition that is worth a line of its own
_FATES = {
    "delivered as block": "refuses",
    "delivered as control": "changes the action",
    "delivered as prompt": "warns",
    "delivered as aid": "advises",
}
_WHERE = (("", "subject"), ("by ", "actor"), ("at ", "hook"), ("", "timestamp"))
_SAID = {"block": "refused", "control": "changed", "prompt": "warned", "aid": "advised"}
# What let an action pass that a rule refused, and the key of the record that names it.
_PASSED = {"waived": "by the waiver", "overrides": "by the answer to"}
# What an answer to a signal does.
_DOES = {
    "retry_after_fix": "it is fixed; the next attempt is judged anew",
    "proceed_with_risk": "the same change passes once; the reason goes into the commit and the log",
    "abort": "the change is given up",
    "accept_modification": "the change is kept as it is now",
    "reject_modification": "the change is not wanted; ask for another way",
    "acknowledge": "read; a warning that stays unfixed climbs",
    "apply_suggestion": "fixed as it says",
    "dismiss": "not right here; the log counts it against the rule",
    "suggestion_applied": "done as it says",
    "suggestion_deferred": "not now",
}
_DECISIONS = {
    "allow": "passes",
    "suggest": "passes, with advice",
    "warn": "passes, with a warning",
    "allow_with_modification": "passes, changed",
    "deny": "is refused",
}


@click.command(epilog=TRIGGERS_THERE_ARE)
@click.argument("what", metavar="TRIGGER|RULE|SIGNAL", shell_complete=triggers)
@ISSUE
@FACTS
@TEXT_OR_JSON
def command(what: str, issue: str, facts: str | None, form: str) -> int:
    """Show which rules of TRIGGER hold now and why; or one RULE with its values, at each trigger that has it; or what
    the log has of one SIGNAL, by the beginning of its id.

    A mark before each rule says whether its condition holds: yes, no, ? (cannot be decided), - (not checked), ! (a
    limit is exceeded).

    Nothing is logged, nothing counts. Exit code 0; 1 where the trigger is refused now; 2 where that cannot be judged.
    """
    if what not in TRIGGERS and all(c in "0123456789abcdef-" for c in what):
        return _signal(what, form)

    is_about_all = what in TRIGGERS
    events = [event_here(trigger, issue, facts) for trigger in ([what] if is_about_all else _asked_at(what))]
    parts = (part for event in events for part in asking.of_content(event)) if is_about_all else events
    told = [(explain(event), event) for event in parts]
    explanations = [whole for whole, _ in told]
    for number, (whole, event) in enumerate(told):
        one = whole if is_about_all else _only(whole, what)
        # Of a whole push the rules explained are those about the range.
        is_stated = event.mode == "dry" and event.given
        pushed = api.judge(event) if is_about_all and event.push is not None and not is_stated else None
        if pushed is not None:
            explanations[number] = one = one._replace(verdict=pushed)
        if form == "json":
            _json(one)
            continue
        click.echo("\n" * (number > 0), nl=False)
        more = pushed if pushed and _rules_of(pushed) - _rules_of(whole.verdict) else None
        _text(one, is_about_all, () if more else one.verdict.notes)
        if more is not None:
            said = verdict_text.text(more, event.actor, event.env)
            click.echo(f"\nwith its commits and the tickets that it moves:\n{said}")
        if one.reasons and (why := unstaged(event)):
            click.echo(f"\n{why}")
    return 1 if any(one.verdict.denied for one in explanations) else 0


def _only(whole: Explanation, rule: str) -> Explanation:
    """What an explanation says of one rule."""
    reasons = [reason for reason in whole.reasons if reason.key == rule]
    read = {path for reason in reasons for path in reason.rule.reads}
    return whole._replace(reasons=reasons, missing={path: why for path, why in whole.missing.items() if path in read})


def _rules_of(verdict: Verdict) -> Counter[str]:
    """How many signals of a verdict each rule sent."""
    return Counter(str(signal.context["rule"]) for signal in verdict.signals)


def _asked_at(rule: str) -> list[str]:
    """The triggers at which the policy here asks a rule of that name. Raises AhpError where there is none."""
    from ahp.hosts import policy_here  # reads pydantic, which a compiled policy needs no more

    policy = policy_here.of_work_tree(asking.around(os.getcwd()))
    found = {one.trigger for one in policy.rules if one.key == rule}
    if not found:
        near = closest(rule, {*TRIGGERS, *(one.key for one in policy.rules)})
        hint = f"did you mean `{near}`?" if near else "`ahp policy show` lists rules and triggers, `ahp log` signals"
        raise AhpError(f"no trigger, rule or signal is called {one_line(rule)!r}; {hint}")
    return [trigger for trigger in TRIGGERS if trigger in found]


def _signal(prefix: str, form: str) -> int:
    who = identify(environ.current())
    with State.open(journal_of(os.getcwd())) as state:
        signal = state.signal(answers.one(prefix, state.find(prefix)))
        assert signal is not None
        record = state.record(signal)
    rule, whose = _rule_of(record)
    passed = any(record.get(key) for key in _PASSED)
    steps = [*rule.resolution, *[one.description for one in rule.suggestions]] if rule else []
    told = {
        "rule_at": whose,
        "condition": [text for text in (rule.when, rule.each, rule.condition) if text] if rule else [],
        "steps": list(dict.fromkeys(steps)),  # `fix` is both
        "answers": [f"ahp respond {str(record['id'])[:8]} {action}" for action in _fitting(signal, who) if not passed],
        "for_a_person": [],
    }
    if who.kind != "human" and not passed:
        theirs = [one for one in _fitting(signal, Actor("human")) if one.startswith(answers.RISK)]
        told["for_a_person"] = [f"ahp respond {str(record['id'])[:8]} {one}" for one in theirs]
    if form == "json":
        click.echo(jsontext.encode({**record, "explained": told}))
        return 0
    _told(record)
    click.echo(f"rule: {one_line(whose, 500)}")
    for name, text in (("when", rule.when), ("each", rule.each), ("condition", rule.condition)) if rule else ():
        if text:
            click.echo(f"  {name}: {one_line(text, 1000)}")
    for line in told["steps"]:
        click.echo(f"fix: {one_line(line, 1000)}")
    for name, who_may in (("answers", "answer"), ("for_a_person", "for a person")):
        for line in told[name]:
            does = _DOES[line.split()[3]]
            click.echo(f"{who_may}: {one_line(line, 1000)}  ({does})")
    click.echo("the whole record: --format json")
    return 0


def _told(record: Mapping[str, object]) -> None:
    """What the rule said, and the values that it saw."""
    by = ", ".join(f"{word}{record.get(name)}" for word, name in _WHERE)
    said = _SAID.get(str(record.get("intensity")), "told")
    click.echo(f"{said} by {one_line(str(record.get('rule')))} on {one_line(by, 300)}")
    click.echo(f"{one_line(str(record.get('message') or ''), 1000)}")
    facts = record.get("facts")
    for path, value in facts.items() if isinstance(facts, dict) else ():
        click.echo(f"  {one_line(f'{path} = {jsontext.encode(value)}', 1000)}")
    found = record.get("findings")
    for one in found if isinstance(found, list) else ():
        place = f"{one.get('file', '')}:{one.get('line', '')}".rstrip(":")
        told = ": ".join(part for part in (place, str(one.get("message") or "")) if part)
        click.echo(f"  {one_line(told, 1000)}")
    for key, how in _PASSED.items():
        if record.get(key):
            click.echo(f"it passed all the same: {how} {one_line(str(record[key]))} (claimed)")
    if record.get("action"):
        click.echo(f"answered: {one_line(str(record['action']))}")


def _rule_of(record: Mapping[str, object]) -> tuple[RuleAnswer | None, str]:
    """The rule that sent a signal, as the policy here has it, and where that is, or why it cannot be shown."""

    where = asking.around(os.getcwd())
    hook = str(record["hook"])
    for trigger in (hook, *(one for one in TRIGGERS if one != hook)):  # a push asks the rules of its commits, too
        event = asking.event(trigger, "cli", identify(where.env), where, mode="dry")
        try:
            judges = sorted(judges_of(event), key=lambda judge: judge.origin != record.get("origin", judge.origin))
            rules = [(judge, judge.answers(event).rules.get(str(record["rule"]))) for judge in judges]
        except PolicyError as error:
            return None, f"the policy here cannot be read: {error}"
        for judge, rule in rules:
            if rule is not None:
                changed = "" if rule.digest == record.get("digest") else " (changed since)"
                return rule, rule.position + (f" ({judge.origin})" if len(judges) > 1 else "") + changed
    return None, "the policy here has no such rule any more"


def _fitting(signal: LoggedSignal, who: Actor) -> list[str]:
    """The answers that `who` may give to a signal."""
    return [action + (' --reason "…"' if action == RISK else "") for action in possible(signal, who)]


def _text(explanation: Explanation, is_about_all: bool, notes: Iterable[str]) -> None:
    """Prints it; the verdict is that of all rules, so it stands there only where it `is_about_all` of them."""
    verdict = explanation.verdict
    environment = explanation.environment or "undecidable: the strictest level holds"
    said = f": {_DECISIONS[verdict.decision]}" if is_about_all else ""
    click.echo(f"{verdict.trigger} on {one_line(verdict.subject)}, environment {environment}{said}")
    if not explanation.reasons:
        click.echo("no rule of a policy is asked here")
    quiet: dict[str, list[str]] = {}
    for reason in explanation.reasons:
        if is_about_all and reason.outcome in _QUIET:
            whose = f" ({reason.origin})" if verdict.working else ""
            quiet.setdefault(_QUIET[reason.outcome], []).append(_called(reason) + whose)
            continue
        click.echo()
        for line in _lines(reason, f"{reason.origin}: " if verdict.working else "", with_condition=not is_about_all):
            click.echo(line)
    for why, names in quiet.items():
        click.echo(f"\n{why}, {len(names)}: {one_line(', '.join(names), 2000)}")
    if is_about_all and explanation.reasons:
        click.echo("\na rule with its condition and the values in it: ahp explain RULE")
    if explanation.missing or notes:
        click.echo()
    for path, absent in explanation.missing.items():
        mend = f"; to get it: {one_line(absent.command)}" if absent.command else ""
        click.echo(f"missing {path}: {one_line(absent.reason)}{mend}")
    for note in notes:
        click.echo(one_line(note, 500))


def _called(reason: Reason) -> str:
    """A rule by its key; one that stands alone in its group by its id."""
    return one_line(reason.rule.id if reason.key == reason.rule.oracle else reason.key)


def _lines(reason: Reason, whose: str, *, with_condition: bool) -> list[str]:
    """A rule: its outcome, the facts that it saw, and its condition, whose parts follow where they are short."""

    rule = reason.rule
    fate = _FATES.get(reason.fate, reason.fate).replace("undecided: cannot tell", "cannot be decided")
    if reason.outcome == "filtered":
        fate = "not asked: its `when` does not hold"
    told = f" — {one_line(fate, 300)}" if fate else ""
    lines = [f"[{_MARKS[reason.outcome]}] {_called(reason)}{told}  ({whose}{rule.position})"]
    values = dict(reason.values)
    whole = [text for text in (rule.when, rule.each, rule.condition) if text]
    facts = {path: value for path, value in values.items() if _PATH.fullmatch(path)}
    lines += [f"    {path} = {one_line(shown(value), 300)}" for path, value in facts.items()]
    if with_condition:
        for word, text in (("when ", rule.when), ("each ", rule.each), ("", rule.condition)):
            if text:
                value = f" = {one_line(shown(values[text]), 300)}" if text in values else ""
                lines.append(f"  {word}{one_line(text, 500)}{value}")
        parts = {text: value for text, value in values.items() if text not in facts and text not in whole}
        lines += [f"    {text} = {one_line(shown(value), 300)}" for text, value in parts.items() if len(text) <= _SHORT]
    for key, why in rule.refines.items():
        lines.append(f"    speaks for {one_line(key)}: {one_line(why, 300)}")
    return lines


def _json(explanation: Explanation) -> None:

    rules = [
        {
            "rule": reason.key,
            "origin": reason.origin,
            "outcome": reason.outcome,
            "fate": reason.fate,
            "condition": reason.rule.condition,
            "when": reason.rule.when,
            "each": reason.rule.each,
            "position": reason.rule.position,
            "refines": reason.rule.refines,
            "values": [{"expression": text, "value": shown(value)} for text, value in reason.values],
        }
        for reason in explanation.reasons
    ]
    shown_verdict = explanation.verdict.as_dict()
    click.echo(jsontext.encode({"environment": explanation.environment, "rules": rules, "verdict": shown_verdict}))
