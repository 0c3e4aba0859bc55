"""What the rules of commits say of all commits of a range: one signal a rule, however many break it (authority §5)."""

import copy
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ahp.gate import overrides
from ahp.gate.asked import Excuse
from ahp.gate.candidate import Candidate
from ahp.gate.rendering import FINDINGS
from ahp.journal.episodes import told_as
from ahp.protocol.event import Event, PushRef
from ahp.protocol.signals import strength
from ahp.protocol.text import one_line
from ahp.system import clock, digest
from ahp.system.commits import Past
from ahp.system.history import RangeView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.journal.state import State

_KEPT = 1000  # digests in one log line, of what was told
_SHOWN = 10  # digits of a commit's id
_NOTES, _TAGS = "refs/notes/", "refs/tags/"


class Told(NamedTuple):
    """What one rule says of one commit; of what merges alone make of a range, `merges` has the one by path."""

    commit: Past
    candidate: Candidate
    merges: Mapping[str, str] = {}


def by_the_log(folder: str) -> Excuse:
    """Excuses what a person let pass here: the line in the commit's message and the log in `folder` agree."""

    def excuse(commit: Past, candidate: Candidate) -> str:
        found = overrides.of_commit(
            folder,
            commit.message.encode("utf-8", "surrogateescape"),
            rule=candidate.key,
            digest=candidate.rule.digest,
            evidence=candidate.content(),
            overridable=candidate.rule.overridable,
        )
        return f"overridden by {found.by}: {found.reason}" if found is not None else ""

    return excuse


class OfCommits:
    """What the rules of commits say of all commits of a range. `judged` is how many were asked about."""

    def __init__(self, told: Iterable[Told] = (), notes: Iterable[str] = (), judged: int = 0) -> None:
        self.told, self.notes, self.judged = list(told), list(notes), judged
        self._broken: dict[str, list[Broken]] = {}
        self._told_by: dict[str, tuple[OfCommits, list[Told]]] = {}

    @property
    def speak(self) -> bool:
        """Whether there is more to tell than that the commits are clean."""
        return bool(self.told or self.notes or self._told_by)

    def candidates(self, event: Event, state: "State | None") -> list[Candidate]:
        """One candidate a rule for the range's `event`, without the warnings that were given before (`state`)."""
        by_rule: dict[str, list[Told]] = {}
        for one in self.told:
            by_rule.setdefault(one.candidate.key, []).append(one)
        for key, members in by_rule.items():
            _silence(members, state)
            parts = [[one for one in members if one.candidate.enforced is counts] for counts in (True, False)]
            self._broken[key] = [_pass_once(Broken(event, some), state) for some in parts if some]
        return [*[one for broken in self._broken.values() for one in broken], *self._again()]

    def leave(self, key: str, members: list[Told], other: "OfCommits") -> None:
        """Has `other`, which is judged first, tell of the commits `members` that break the rule; it counts here too."""
        self.told = [one for one in self.told if one.candidate.key != key]
        self._told_by[key] = (other, members)
        known = {one.commit.id: one for one in other.told if one.candidate.key == key}
        for one in members:
            before = known.get(one.commit.id)
            if before is not None and before.candidate.weight >= one.candidate.weight:
                continue
            if before is not None:
                other.told.remove(before)
            other.told.append(one)

    def _again(self) -> list[Candidate]:
        """The rules that another part of the same push tells of: what counts there counts here."""
        found: list[Candidate] = []
        for key, (other, members) in self._told_by.items():
            if any(one.candidate.enforced for one in members):
                found += [copy.copy(one) for one in other._broken.get(key, ()) if one.enforced]
        for candidate in found:
            candidate.told_before = "told of another ref of the same push"
        return found


def speak_once(parts: Sequence[OfCommits], apart: Collection[str]) -> None:
    """Has each rule tell of all the refs of a push at once, with the first that has a commit which breaks it.

    Rules of `apart` are asked of each ref's range, too, and speak for each.
    """
    first: dict[str, OfCommits] = {}
    for part in parts:
        by_rule: dict[str, list[Told]] = {}
        for one in part.told:
            by_rule.setdefault(one.candidate.key, []).append(one)
        for key, members in by_rule.items():
            speaker = first.setdefault(key, part)
            if speaker is not part and key not in apart:
                part.leave(key, members, speaker)


def _silence(members: list[Told], state: "State | None") -> None:
    """Drops the warnings of one rule that were given before of the same evidence."""
    warnings = [one.candidate for one in members if one.candidate.enforced and one.candidate.intensity == "prompt"]
    if not warnings or state is None:
        return
    known = state.told(warnings[0].key)
    for candidate in warnings:
        marks = {(candidate.rule.digest, str(one["fingerprint"])) for one in candidate.findings()}
        is_whole = 0 < candidate.total <= FINDINGS
        if (candidate.rule.digest, _mark(candidate)) in known or (marks and is_whole and marks <= known):
            candidate.dropped = "said before of the same"


def _mark(candidate: Candidate) -> str:
    """By what it is recognised that a commit was told of: the evidence, and the change it belongs to."""
    act = candidate.act(0.0)
    return told_as(act.evidence, act.change)


def _pass_once(broken: "Broken", state: "State | None") -> "Broken":
    """Lets it pass where a person took the risk for this tip."""
    taken = state.risks_taken(broken.key) if state is not None and broken.enforced else []
    if taken and broken.intensity == "block":
        broken.override = overrides.find(
            taken,
            broken.act(clock.now()),
            broken.event,
            digest=broken.rule.digest,
            evidence=broken.content(),
            overridable=broken.rule.overridable,
        )
    return broken


class Broken(Candidate):
    """One rule that commits of a range break, as one candidate: their lines are its findings."""

    def __init__(self, event: Event, members: Sequence[Told]) -> None:
        self._members = sorted(members, key=lambda one: -strength(one.candidate.intensity))
        self._first = self._members[0].candidate
        self.__dict__.update({**self._first.__dict__, "event": event, "standing": None, "_content": None})

    def findings(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        for commit, candidate, merges in self._members:
            name = {} if commit.is_object else {"commit": commit.id[:_SHOWN]}
            said = f"what {commit.id[:_SHOWN]} holds" if commit.is_object else one_line(commit.subject, 100)
            told = candidate.findings()
            at = [merges.get(str(finding.get("file")), commit.id)[:_SHOWN] for finding in told]
            found += [
                {**name, **finding, **({"commit": oid} if name else {})} for oid, finding in zip(at, told, strict=True)
            ] or [{**name, "message": said, "fingerprint": candidate.evidence()[-16:]}]
            if len(found) >= FINDINGS:
                break
        return found[:FINDINGS]

    @property
    def total(self) -> int:
        return sum(max(candidate.total, 1) for _, candidate, _ in self._members)

    @property
    def commits(self) -> dict[str, object]:
        told = [_mark(candidate) for _, candidate, _ in self._members[:_KEPT]]
        return {"commits": [commit.id for commit, *_ in self._members[:FINDINGS]], "told": told, "counted": False}

    def message(self) -> str:
        others = len({commit.id for commit, *_ in self._members}) - 1
        if not others:
            return self._first.message()
        return f"{self._first.message()} (and {others} more commit{'s' if others > 1 else ''})"

    def steps(self) -> list[str]:
        """Those of the rule, and how they reach a commit that is made already."""
        found = super().steps()
        if self.undecided or self.intensity != "block" or (not found and self.rule.suggestions):
            return found
        push = self.event.push
        here, there = (push.local_ref, push.remote_ref) if push is not None else ("", "")
        if push is not None and there.startswith(_NOTES):
            return [*found, *_in_notes(push, self.paths())]
        first = self._members[0].commit
        tag = f"; then move the tag: git tag -f {shlex.quote(here[len(_TAGS) :])}" if here.startswith(_TAGS) else ""
        if first.is_object:
            return [*found, f"in an object made anew{tag} OBJECT" if tag else "in an object made anew"]
        since = f"{first.id[:_SHOWN]}^" if first.parents else "--root"
        # Without --rebase-merges each merge is left out, with what it resolved; where there is none it changes nothing.
        mend = f"git commit --amend, an older one: git rebase -i --rebase-merges {since}"
        if first.is_merge:  # its line cannot be made an `edit`
            found.append(f"in the merge itself: {mend}, with a line `break` after the merge's line{tag}")
        else:
            found.append(f"in the commit itself: {mend}{tag}")
        if self._is_below_merge(first):
            found.append("what a merge above it changed by hand has to be made again: --rebase-merges merges anew")
        return found

    def _is_below_merge(self, commit: Past) -> bool:
        """Whether a merge lies between the commit and the tip of the range. Raises GitError."""
        repo, view = self.event.repo, self.event.view
        if repo is None or not isinstance(view, RangeView):
            return False
        return bool(repo.line("rev-list", "--max-count=1", "--merges", "--ancestry-path", f"{commit.id}..{view.new}"))

    def paths(self) -> list[str]:
        return list(dict.fromkeys(path for _, candidate, _ in self._members for path in candidate.paths()))

    def evidence(self) -> str:
        return _digest(candidate.evidence() for _, candidate, _ in self._members)

    def content(self) -> str:
        if self._content is None:
            self._content = _digest(candidate.content() for _, candidate, _ in self._members)
        return self._content


def _in_notes(push: PushRef, paths: Sequence[str]) -> list[str]:
    """How a mend reaches notes: they are edited, and what they held before stays in their history (git-notes(1))."""
    ref = push.local_ref if push.local_ref.startswith(_NOTES) else push.remote_ref
    name = shlex.quote(ref.removeprefix(_NOTES))
    # The note of an object is a file that its id names, in folders where there are many.
    of = paths[0].replace("/", "")[:_SHOWN] if paths else "OBJECT"
    onto = f" -p {push.remote_oid[:_SHOWN]}" if push.remote_oid.strip("0") else ""
    tree = shlex.quote(f"{ref}^{{tree}}")
    return [
        f"in the note itself: git notes --ref {name} edit {of}",
        f"and without what it held before: git update-ref {shlex.quote(ref)} $(git commit-tree{onto} -m notes {tree})",
    ]


def _digest(parts: Iterable[str]) -> str:
    return digest.tagged("\n".join(sorted(set(parts))).encode())
