"""What `ahp init` and `ahp try` share: how the judgement of past commits is printed."""

from collections.abc import Mapping

import click

from ahp.hosts.history import Said, Tally
from ahp.protocol.text import one_line
from ahp.system.terminal import prose, table

_WORDS = {"block": "blocked", "control": "changed", "prompt": "warned", "undecidable": "not decidable"}
_WIDTH = 100
_ELSEWHERE = 10  # rules named that the past cannot be asked about


def show(tally: Tally, keys: Mapping[str, bool], watched: Mapping[str, str], limit: int | None = None) -> None:
    """Prints the counts over all commits, then a line a rule that spoke, then the silent ones, then those not asked.

    `keys` are the rules, and whether the past can be asked; `watched` those that start at another level, as
    `LEVEL: reason`.
    At most `limit` rules have a line of their own.
    """
    total = tally.judged + len(tally.unjudged)
    blocked, warned = tally.count("block"), tally.count("prompt", "control")
    commits = f"the last {total} commits" if total != 1 else "the one commit there is"
    click.echo(f"{commits}: {blocked} blocked, {warned} warned" if total else "no commit yet to try it on")
    loud = [key for key in keys if tally.of(key) or key in watched]
    table([(key, _line(tally.of(key), watched.get(key, ""))) for key in loud[:limit]], indent=2)
    lines = [f"and {len(loud) - limit} more: ahp try"] if limit is not None and len(loud) > limit else []
    for asked, word in ((True, "silent"), (False, "asked elsewhere")):
        rest = [key for key in keys if key not in loud and keys[key] is asked]
        if not asked and len(rest) > _ELSEWHERE:
            rest[_ELSEWHERE - 1 :] = [f"and {len(rest) - _ELSEWHERE + 1} more: ahp policy show"]
        lines += prose(f"{word}: {', '.join(rest)}", indent=2).splitlines() if rest else []
    for commit, reason in tally.unjudged[:3]:
        lines.append(f"{commit.id[:10]} could not be judged: {one_line(reason, _WIDTH)}")
    click.echo("".join(f"  {line}\n" for line in lines), nl=False)


def _line(said: list[Said], watched: str) -> str:
    counts = ", ".join(
        f"{len(ids)} {word}"
        for level, word in _WORDS.items()
        if (ids := {s.commit.id for s in said if s.level == level})
    )
    if not said:
        return f"starts as {watched}"
    last = f"{counts}, last {said[0].commit.id[:10]}: {one_line(said[0].message, _WIDTH)}"
    return f"{last}; starts as {watched.partition(':')[0]}" if watched else last
