"""A policy's files to one checked policy, with what each layer may change (design §4)."""

from collections.abc import Callable
from functools import cache

from ahp.policy import extends
from ahp.policy.diff import Change, compare
from ahp.policy.expand import expand
from ahp.policy.merge import merge
from ahp.policy.problems import Place, PolicyError, Problem
from ahp.policy.raw import RawPolicy
from ahp.policy.rule import Policy
from ahp.policy.shape import RawFile
from ahp.policy.sources import PolicySource
from ahp.policy.validate import validate

_TIGHTENING = ("user", "local")


def load(source: PolicySource) -> Policy:
    """The checked policy of all layers of `source`; without any file, a policy of no rules.

    The user's and the local layer may only tighten; nobody may weaken a locked rule of an earlier file.
    Raises PolicyError with every problem, each at its place.
    """
    files = extends.read_all(source)
    groups = _groups(files)

    @cache
    def first(count: int) -> tuple[Policy, list[Problem]]:
        return _examined(groups[:count])

    policy, problems = first(len(groups))
    broken = [problem for raw in files for problem in raw.problems]
    # Without its broken rules a file may loosen what it does not mean to: that would be a misleading second error.
    problems = problems + (broken or _loosened(groups, first))
    if problems:
        raise PolicyError(problems)
    return policy


def _groups(files: list[RawFile]) -> list[tuple[str, RawFile]]:
    """Each file with the layer that brought it: a pack belongs to the next file that is none."""
    named: list[tuple[str, RawFile]] = []
    layer = ""
    for raw in reversed(files):
        layer = layer if raw.layer.startswith("pack ") and layer else raw.layer
        named.append((layer, raw))
    return named[::-1]


def _examined(groups: list[tuple[str, RawFile]]) -> tuple[Policy, list[Problem]]:
    """The policy of these files, of the rules that are right, and the problems of the rest."""
    merged = RawPolicy()
    problems: list[Problem] = []
    for layer, raw in groups:
        problems += merge(merged, raw, adds_only=layer in _TIGHTENING and raw.layer != layer)
    policy, wrong = validate(merged)
    return policy, problems + wrong


def _loosened(groups: list[tuple[str, RawFile]], first: Callable[[int], tuple[Policy, list[Problem]]]) -> list[Problem]:
    """What each file, or a layer that may only tighten as a whole, weakens that it may not.

    `first(n)` is the policy of the first n files.
    """
    problems: list[Problem] = []
    for count in range(1, len(groups)):
        layer = groups[count][0]
        whole = layer in _TIGHTENING and groups[count - 1][0] != layer
        if not whole and not _any_locked(groups[:count]):
            continue
        end = max(i for i, (name, _) in enumerate(groups) if name == layer) if whole else count
        problems += _weakened(first(count)[0], first(end + 1)[0], None if whole else layer)
    return problems


def _any_locked(groups: list[tuple[str, RawFile]]) -> bool:
    for _, raw in groups:
        model = raw.model
        if any(rule.locked for rule in model.rules.values()):
            return True
        oracles = [oracle for hook in model.hooks.values() for oracle in hook.oracles]
        if any(rule.locked for oracle in oracles for rule in oracle.rules):
            return True
    return False


def _weakened(former: Policy, after: Policy, owner: str | None) -> list[Problem]:
    """The weakening changes: all of them for a layer that may only tighten (`owner` None), else of locked rules."""
    locked = {(rule.trigger, rule.key) for rule in former.rules if rule.locked}
    layers = {(rule.trigger, rule.key): rule.raw.layer for rule in former.rules}
    wrong = {(rule.trigger, rule.key) for rule in expand(after.raw)[0]}
    problems = []
    for change in compare(former, after):
        name = (change.trigger, change.key)
        if not change.weakens or (change.part == "rule" and name in wrong):
            continue  # the rule is still there, but has an error that is reported by itself
        if owner is None:
            why = "this layer may only tighten"
        elif name in locked:
            why = "the rule is locked"
        else:
            continue
        word = "is weaker" if change.verdict == "weaker" else "cannot be shown to be as strict"
        what = f"`{change.key}` of the {layers[name]} layer: {change.part} {word} ({change.detail}); {why}"
        problems.append(Problem(_removed_at(change, after) or change.place, what))
    return problems


def _removed_at(change: Change, after: Policy) -> Place | None:
    """Where a short rule lost the trigger of `change`."""
    draft = after.raw.short.get(change.key) if change.part == "rule" else None
    return draft.fields["at"].place if draft is not None and "at" in draft.fields else None
