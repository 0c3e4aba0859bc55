"""What `ahp report --audit` prints: a few lines a commit, or JSON."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from ahp.insight import reading
from ahp.insight.advice import counted
from ahp.insight.audit import (
    BYPASS,
    OVERRIDE,
    SKIPPED,
    UNDECIDED,
    WAIVER,
    Audit,
    Exemption,
    Judgement,
    PolicyName,
    audit,
)
from ahp.insight.commands.verify_history import trusted
from ahp.insight.judged_history import kept
from ahp.protocol.text import one_line
from ahp.system import environ, git, jsontext

LAST = 100
_WIDTH = 100
_WORDS = {
    OVERRIDE: "overridden",
    WAIVER: "waived",
    BYPASS: "went round the hooks",
    SKIPPED: "not asked",
    UNDECIDED: "not decided",
}
_NOT_HERE = "not judged here"
_BEFORE = "was there before the gate was installed"


def show(revisions: str | None, form: str, keys: str | None) -> None:
    """Prints the audit of `revisions` (None: the last `LAST` commits of HEAD) in a form, with the statements that are
    signed by one of the `keys` in a file. Raises AhpError.
    """
    repo = git.discover(os.getcwd(), environ.current())
    stated = kept(repo, trusted(keys))[0] if keys else []
    with reading.shown() as seen:
        found = audit(repo, revisions, stated=stated, limit=None if revisions else LAST, seen=seen)
    if form == "json":
        click.echo(jsontext.encode({"range": revisions, "begin": found.begin or None, "commits": _json(found)}))
    else:
        click.echo("\n".join(_text(found, revisions)))
        for note in found.notes:
            click.echo(f"ahp: {note}", err=True)


def _text(found: Audit, revisions: str | None) -> Iterator[str]:
    entries = found.entries
    if not entries:
        yield f"there is no commit in {one_line(revisions)}" if revisions else "there is no commit yet"
        return
    here = sum(one.is_judged_here for one in entries)
    stated = sum(any(told.where not in ("commit", "push") for told in one.judgements) for one in entries)
    exempt = sum(len(one.exemptions) for one in entries)
    commits = counted(len(entries), "commit")
    name = f"{one_line(revisions)}: {commits}," if revisions else f"the last {commits}:"
    signed = f"; {stated} judged as signed statements say" if stated else ""
    yield f"{name} {here} judged here, {len(entries) - here} not{signed}; {counted(exempt, 'exemption')}"
    if found.begin:
        yield f"the log of this clone begins on {one_line(found.begin)[:10]}; it is evidence, not proof: ahp log verify"
    else:
        yield "this clone has no log"
    for one in entries:
        yield ""
        yield f"{one.commit[:12]}  {one.made[:10]}  {one_line(one.author, 60)}: {one_line(one.subject, 100)}"
        for judgement in one.judgements:
            yield from _line("judged", _judged(judgement))
        if not one.is_judged_here:
            yield from _line(_BEFORE if one.before else _NOT_HERE, "")
        for exemption in one.exemptions:
            yield from _line(_WORDS[exemption.kind], _exempt(exemption))


def _line(word: str, text: str) -> list[str]:
    return textwrap.wrap(f"{word}: {text}" if text else word, _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _judged(one: Judgement) -> str:
    when = one_line(one.at)[:16].replace("T", " ")
    by = f"by {_policy(one.policy)}, asked by {one_line(one.actor) or 'nobody known'}"
    said = (
        f"; said: {', '.join(f'{one_line(rule)} ({one_line(level)})' for rule, level in one.said)}" if one.said else ""
    )
    if one.where == "commit":
        hooks = " and ".join(map(one_line, one.hooks))
        return f"as it was made ({hooks}), {when}: {one_line(one.decision)}, {by}{said}"
    if one.where != "push":
        by = f"by {_policy(one.policy)}, signed with the key {one_line(one.actor)}"
        how = f"by {one_line(one.where)}, with the move"
    elif one.commits:
        how = f"with the push, {counted(one.commits, 'commit')} of it one by one,"
    else:
        how = "as part of what changes, with the push"
    return f"{how} of {one.head[:12]} to {one_line(one.target)}, {when}: {one_line(one.decision)}, {by}{said}"


def _policy(one: PolicyName) -> str:
    digest = one_line(one.digest).removeprefix("sha256:")[:12]
    if one.commit:
        return f"policy {digest} of commit {one_line(one.commit)[:12]}"
    where = {"working": "of the work tree", "pushed": "of what was pushed"}.get(one.origin)
    return f"policy {digest} {where or 'that the log does not describe'}"


def _exempt(one: Exemption) -> str:
    told = one_line(one.rule) or "nothing"
    if one.approver:
        told += f", by {one_line(one.approver)}"
        told += f": {one_line(one.reason, 300)}" if one.reason else ""
    if one.signed:
        told += f" (signed: the commit is signed by the approver {one_line(one.signed)})"
    elif one.proof:
        told += f" ({one.proof})"
    return told + (f": {one_line(one.note, 400)}" if one.note else "")


def _json(found: Audit) -> list[dict[str, Any]]:
    return [
        {
            **one._asdict(),
            "judged_here": one.is_judged_here,
            "judgements": [{**told._asdict(), "policy": told.policy._asdict()} for told in one.judgements],
            "exemptions": [{**told._asdict(), "proof": told.proof} for told in one.exemptions],
        }
        for one in found.entries
    ]
