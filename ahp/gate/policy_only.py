"""A change of nothing but the policy: only what guards the policy stops it (authority §2.5).

A wrong rule would else refuse the very commit that mends it.
"""

from ahp.facts import push
from ahp.gate.candidate import Candidate
from ahp.policy import weakening
from ahp.policy.program import RuleAnswer
from ahp.protocol.event import Event
from ahp.protocol.triggers import TRIGGERS

_FAMILIES = ("commit", "push", "pre-merge")
_CONTENT = ("files", "diff")


def soften(candidates: list[Candidate], event: Event) -> None:
    """Has all but the guards among the `candidates` of such a change speak as prompts. Raises GitError, AhpError."""
    stopping = [c for c in candidates if c.enforced and c.intensity in ("block", "control") and not guards(c.rule)]
    if stopping and is_policy_only(event):
        for candidate in stopping:
            candidate.soften("this changes only the policy, so it may go on")


def guards(rule: RuleAnswer) -> bool:
    """Whether a rule also stops such a change: it is locked, reads `policy`, or is severe and reads contents."""
    spaces = {path.partition(".")[0] for path in rule.reads}
    return rule.locked or "policy" in spaces or (rule.severity == "high" and not spaces.isdisjoint(_CONTENT))


def is_policy_only(event: Event) -> bool:
    """Whether a commit or range has files of the policy alone.

    A push that takes commits from the remote changes more than the policy.
    """
    if TRIGGERS[event.trigger].family not in _FAMILIES or not weakening.touches_only_policy(event):
        return False
    if event.push is None or TRIGGERS[event.trigger].family == "commit":
        return True
    told = push.gather(event, frozenset({"is_force", "is_delete"}), None)
    return not (told["is_force"] or told["is_delete"])
