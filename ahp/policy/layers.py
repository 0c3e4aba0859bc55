"""A policy's files, each after what it extends, to one checked policy, with what each layer may change (design §4)."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from ahp.policy import shape, sources, vendored
from ahp.policy.diff import Change, compare
from ahp.policy.merge import expand, merge
from ahp.policy.models import SharedKeys
from ahp.policy.problems import Place, PolicyError, Problem, nearest, quoted
from ahp.policy.raw import RawPolicy
from ahp.policy.rule import Policy
from ahp.policy.shape import RawFile
from ahp.policy.sources import PolicySource
from ahp.policy.validate import validate
from ahp.system.digest import tagged
from ahp.system.errors import AhpError

_TIGHTENING = ("user", "local")


def load(source: PolicySource) -> Policy:
    """The checked policy of all layers of `source`; without any file, a policy of no rules.

    The user's and the local layer may only tighten; nobody may weaken a locked rule of an earlier file.
    Raises PolicyError with every problem, each at its place.
    """
    files = read_all(source)
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
    models = [raw.model for _, raw in groups]
    oracles = [oracle for model in models for hook in model.hooks.values() for oracle in hook.oracles]
    short = any(rule.locked for model in models for rule in model.rules.values())
    return short or any(rule.locked for oracle in oracles for rule in oracle.rules)


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


MAX_FILES = 64
# Packs by names that people know from elsewhere.
_KNOWN_AS = {
    **dict.fromkeys(("javascript", "typescript", "js", "ts", "nodejs", "npm", "react"), "node"),
    **dict.fromkeys(("golang",), "go"),
    **dict.fromkeys(("cargo",), "rust"),
    **dict.fromkeys(("py", "python3"), "python"),
    **dict.fromkeys(("maven", "gradle"), "java"),
    **dict.fromkeys(("default", "base", "recommended", "secrets"), "core"),
    **dict.fromkeys(("commitlint", "conventional"), "conventional-commits"),
}
_PACK = re.compile(r"[a-z0-9][a-z0-9\-]*\Z")


def read_all(source: sources.PolicySource) -> list[RawFile]:
    """Every file of the policy, extended ones before those that extend them; layers in the order of `source`.

    A pack that was already read is not read again: naming it in a second layer adds nothing.
    Raises PolicyError with the problems of all files together.
    """
    reading = _Reading(source)
    for layer, name, data in source.layers():
        reading.layer = layer
        reading.file(data, name, layer, (name,))
    if reading.problems:
        raise PolicyError([*reading.problems, *[problem for raw in reading.files for problem in raw.problems]])
    return reading.files


@dataclass
class _Reading:
    source: sources.PolicySource
    layer: str = ""
    files: list[RawFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    done: set[str] = field(default_factory=set)

    def file(self, data: bytes, name: str, layer: str, chain: tuple[str, ...]) -> None:
        try:
            raw = shape.read(data, name, layer)
        except PolicyError as error:
            self.problems += error.problems
            for wanted, place in shape.extended(data, name):
                self.extend(wanted, place, chain)  # their errors belong into the same list
            return
        for index, listed in enumerate(raw.model.extends):
            self.extend(listed, raw.place("extends", index), chain)
        self.files.append(raw)

    def extend(self, wanted: str | SharedKeys, place: Place, chain: tuple[str, ...]) -> None:
        if isinstance(wanted, SharedKeys):
            self.shared(wanted, place, chain)
            return
        is_pack = bool(_PACK.match(wanted))
        known = wanted if is_pack else f"{self.layer}:{wanted}"
        if known in chain:
            way = " → ".join((*chain[chain.index(known) :], known))
            self.problems.append(Problem(place, f"a circle of `extends`: {way}"))
        elif len(self.done) >= MAX_FILES:
            self.problems.append(Problem(place, f"more than {MAX_FILES} files are extended"))
        elif known not in self.done:
            self.done.add(known)
            if is_pack:
                self.pack(wanted, place, (*chain, known))
            else:
                self.beside(wanted, place, (*chain, known))

    def shared(self, wanted: SharedKeys, place: Place, chain: tuple[str, ...]) -> None:
        known = f"{vendored.SHARED} {wanted.called}"
        if self.layer != "project" or len(chain) > 1:
            what = "only the project's .ahp/hooks.yaml itself extends a policy of another repository"
            self.problems.append(Problem(place, what))
        elif known in self.done:
            what = f"two shared policies are called {quoted(wanted.called)}; give one of them a `name:`"
            self.problems.append(Problem(place, what))
        else:
            self.done.add(known)
            try:
                data = vendored.text_of(wanted, lambda path: self.source.beside(self.layer, path))
            except AhpError as error:
                self.problems.append(Problem(place, str(error)))
                return
            name = os.path.join(os.path.dirname(chain[0]), vendored.place(wanted.called, wanted.path))
            self.file(data, name, f"pack {wanted.called}", (*chain, known))

    def pack(self, wanted: str, place: Place, chain: tuple[str, ...]) -> None:
        found = sources.pack(wanted)
        if found is None:
            meant = (
                f"; did you mean `{_KNOWN_AS[wanted]}`?" if wanted in _KNOWN_AS else nearest(wanted, sources.packs())
            )
            what = f"no pack is called {quoted(wanted)}{meant}"
            self.problems.append(Problem(place, what if what.endswith("?") else f"{what}; a file ends in .yaml"))
            return
        path, data = found
        self.source.watched.append((path, tagged(data)))
        self.file(data, f"pack {wanted}", f"pack {wanted}", chain)

    def beside(self, wanted: str, place: Place, chain: tuple[str, ...]) -> None:
        if chain[-2].startswith(vendored.SHARED):
            what = f"a policy of another repository extends packs only, and not {quoted(wanted)}"
            self.problems.append(Problem(place, what))
            return
        parts = wanted.split("/")
        if (
            not wanted.endswith((".yaml", ".yml"))
            or any(part in ("", ".", "..") for part in parts)
            or not wanted.isprintable()
        ):
            what = f"{quoted(wanted)} is neither a pack nor a .yaml file inside this policy's folder"
            self.problems.append(Problem(place, what))
            return
        try:
            data = self.source.beside(self.layer, wanted)
        except PolicyError as error:
            self.problems += error.problems
            return
        except AhpError as error:
            self.problems.append(Problem(place, str(error)))
            return
        if data is None:
            self.problems.append(Problem(place, f"there is no file {quoted(wanted)} beside this policy"))
        else:
            self.file(data, os.path.join(os.path.dirname(chain[0]), wanted), self.layer, chain)
