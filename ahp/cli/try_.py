"""`ahp try`: what a rule or a policy would have said to past commits."""

import json
import os
from collections.abc import Mapping

import click

from ahp.cli.options import POLICY, RED, TEXT_OR_JSON, rules
from ahp.hosts import history
from ahp.hosts.asking import around, repository_here
from ahp.hosts.policy_here import looked_at
from ahp.policy.problems import nearest
from ahp.policy.rule import Policy
from ahp.protocol.text import one_line
from ahp.protocol.triggers import OF_COMMITS
from ahp.system import wings
from ahp.system.commits import commits
from ahp.system.errors import AhpError
from ahp.system.terminal import progress, prose, table

_LAST, _LISTED = 100, 20  # commits that are asked, signals that are listed


@click.command()
@click.argument("rule", required=False, shell_complete=rules)
@POLICY
@click.option("--range", "range_", metavar="A..B", help="These commits; by default the last 100.")
@click.option("--outcomes", is_flag=True, help="Also what became of the commits that each rule would have named.")
@RED
@TEXT_OR_JSON
def command(
    rule: str | None, policy_name: str | None, range_: str | None, outcomes: bool, red: frozenset[str], form: str
) -> None:
    """Ask RULE, or the whole policy, about past commits, as if it were enforced. Logs nothing.

    Judged are change and message of each commit, at pre-commit and commit-msg; merges also at pre-merge-commit.
    """
    if red and not outcomes:
        raise click.UsageError("--red goes with --outcomes: ahp try --outcomes --red FILE")
    repo = repository_here()
    policy = looked_at(policy_name, around(os.getcwd()))
    if not policy.rules:
        raise AhpError("the policy has no rules; `ahp init` writes one")
    keys = history.rules(policy)
    if rule is not None:
        _refuse_unknown(rule, keys, policy)
        keys = {rule: True}
    past = commits(repo, range_, None if range_ else _LAST)
    with progress("looking at past commits") as seen:
        tally = history.judge(repo, history.enforced(policy), past, seen)
    tally.said = [one for one in tally.said if one.rule in keys]
    place = wings.added("advice").get("outcomes") if outcomes else None
    words, grades = wings.load(place)(repo, past, tally, red) if place else ("", None)
    if form == "json":
        click.echo(_json(tally, list(keys), {"outcomes": grades} if outcomes else {}))
        return
    show(tally, keys, {})
    if rule is not None:
        _list(tally.of(rule))
    click.echo("\n" + words if words else "", nl=bool(words))


def _refuse_unknown(rule: str, keys: dict[str, bool], policy: Policy) -> None:
    if rule not in keys:
        hint = nearest(rule, keys) or "; `ahp policy show` lists them"
        raise AhpError(f"no rule is called {one_line(rule)}{hint}")
    if not keys[rule]:
        at = sorted({one.trigger for one in policy.rules if one.key == rule})
        raise AhpError(f"{one_line(rule)} is asked at {', '.join(at)}; the past is judged at {', '.join(OF_COMMITS)}")


def _list(said: list[history.Said]) -> None:
    once = {(one.commit.id, one.level): one for one in reversed(said)}  # a merge is asked at two triggers
    told = [
        (one.commit.id[:10], one.level, f"{one_line(one.message)}\n{one_line(one.commit.subject, 100)}")
        for one in reversed(once.values())
    ]
    table(told[:_LISTED])
    if len(told) > _LISTED:
        click.echo(f"and {len(told) - _LISTED} more")


def _json(tally: history.Tally, keys: list[str], more: Mapping[str, object]) -> str:
    said = [{**one._asdict(), "commit": one.commit.id, "subject": one.commit.subject} for one in tally.said]
    unjudged = [{"commit": commit.id, "reason": reason} for commit, reason in tally.unjudged]
    return json.dumps({"judged": tally.judged, "rules": keys, "said": said, "unjudged": unjudged, **more})


_WORDS = {"block": "blocked", "control": "changed", "prompt": "warned", "undecidable": "not decidable"}
_WIDTH = 100


def show(tally: history.Tally, keys: Mapping[str, bool], watched: Mapping[str, str], limit: int | None = None) -> None:
    """Prints the counts over all commits, then a line a rule that matched, then how many did not match or cannot.

    `keys` are the rules, and whether past commits can be judged by them; `watched` those that start at another level,
    as `LEVEL: reason`. At most `limit` rules have a line of their own.
    """
    total = tally.judged + len(tally.unjudged)
    blocked, warned = tally.count("block"), tally.count("prompt", "control")
    commits = f"the last {total} commits" if total != 1 else "1 commit"
    click.echo(f"{commits}: {blocked} blocked, {warned} warned" if total else "no commit yet to try it on")
    loud = [key for key in keys if tally.of(key) or key in watched]
    table([(key, _line(tally.of(key), watched.get(key, ""))) for key in loud[:limit]], indent=2)
    lines = [f"and {len(loud) - limit} more: ahp try"] if limit is not None and len(loud) > limit else []
    rest = [_counted([key for key in keys if key not in loud and keys[key]], "matched nothing")]
    rest += [_counted([key for key in keys if key not in loud and not keys[key]], "cannot be tried on commits")]
    if any(rest):
        lines += prose(", ".join(filter(None, rest)), indent=2).splitlines()
    for commit, reason in tally.unjudged[:3]:
        lines.append(f"{commit.id[:10]} could not be judged: {one_line(reason, _WIDTH)}")
    click.echo("".join(f"  {line}\n" for line in lines), nl=False)


def _counted(keys: list[str], what: str) -> str:
    name = keys[0] if len(keys) == 1 else f"{len(keys)} rules"
    return f"{name} {what}" if keys else ""


def _line(said: list[history.Said], watched: str) -> str:
    counts = ", ".join(
        f"{len(ids)} {word}"
        for level, word in _WORDS.items()
        if (ids := {s.commit.id for s in said if s.level == level})
    )
    if not said:
        return f"starts as {watched}"
    last = f"{counts}, last {said[0].commit.id[:10]}: {one_line(said[0].message, _WIDTH)}"
    return f"{last}; starts as {watched.partition(':')[0]}" if watched else last
