"""The log line that describes a policy: its rules, and the commit that has it (design §7).

There is one for each digest, and one more once what was only the work tree's is committed.
"""

from ahp.policy import cache
from ahp.policy.judge import Judge
from ahp.protocol import records
from ahp.protocol.event import Event
from ahp.system import clock


def policy_record(judge: Judge, event: Event, now: float) -> dict[str, object] | None:
    """Digest, origin and rules (`[trigger, key, levels by environment, digest]`) of a judge's policy.

    A committed one also has the id of its commit. None for a policy that is not among the compiled ones.
    """
    program = judge.program
    rules = cache.rules_of(program)
    if rules is None:
        return None
    told: dict[str, object] = {"digest": program.policy, "origin": judge.origin}
    commit = _commit(judge, event)
    if commit:
        told["commit"] = commit
    return records.other("policy", clock.iso(now), **told, rules=rules)


def _commit(judge: Judge, event: Event) -> str:
    if judge.tree is None:
        return ""
    return judge.tree.commit or (event.repo.head_id() if event.repo is not None else "")
