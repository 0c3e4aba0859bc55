"""Several judges' candidates as one list (authority §2.1): of each rule's the strongest counts, on a tie the first."""

from collections.abc import Iterable, Sequence

from ahp.gate.candidate import Candidate
from ahp.gate.weighing import Weighing
from ahp.policy.judge import COMMITTED, WORKING
from ahp.policy.tree import HOOKS
from ahp.protocol.triggers import FORGET_AFTER


def join(weighed: Sequence[list[Candidate]]) -> list[Candidate]:
    """One candidate a rule, in the order of the first judge, then of those after it.

    One that is not delivered gives way to one of another judge that is.
    """
    found: dict[str, Candidate] = {}
    for candidate in (candidate for candidates in weighed for candidate in candidates):
        known = found.get(candidate.key)
        if known is None or candidate.weight > known.weight:
            found[candidate.key] = candidate
    return list(found.values())


def is_clean(key: str, weighings: Iterable[Weighing]) -> bool:
    """Whether every judge that has the rule asked it, with its evidence there, and found nothing (design §8.5)."""
    for weighing in weighings:
        if key not in weighing.rules:
            continue
        matcher = weighing.hearing.matcher
        if key in matcher.filtered or any(hit.key == key for hit in matcher.hits) or weighing.forgets(key):
            return False
    return True


def forget_after(key: str, weighings: Iterable[Weighing]) -> float:
    """Seconds until an episode of the rule ends by itself: the longest of the judges that have it."""
    having = [one.ladder.forget_after if one.ladder else FORGET_AFTER for one in weighings if key in one.rules]
    return max(having, default=FORGET_AFTER)


def not_in_force_yet(delivered: Iterable[Candidate], weighings: Sequence[Weighing]) -> str:
    """For a person whose edit of the policy would have said less: which commit makes it so; "" where there is none."""
    beside = next((one for one in weighings if one.judge.origin == WORKING and one.judge.adds), None)
    if beside is None:
        return ""
    own = {candidate.key: candidate for candidate in beside.candidates}
    keys = []
    for candidate in delivered:
        mine, rule = own.get(candidate.key), beside.rules.get(candidate.key)
        changed = rule is None or rule.digest != candidate.rule.digest
        if candidate.judge.origin == COMMITTED and changed and (mine is None or mine.weight < candidate.weight):
            keys.append(candidate.key)
    if not keys:
        return ""
    tree = next((one.judge.tree for one in weighings if one.judge.tree is not None), None)
    name = tree.name if tree is not None else "HEAD"
    how = f"git commit {HOOKS}" if name == "HEAD" else f"once {name} has it"
    return f"your edit of {HOOKS} ({', '.join(keys[:3])}) is not in force yet, {name} judges; it is after: {how}"
