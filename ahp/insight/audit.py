"""What a log knows of the commits of a range: by which policy each was judged, what was let pass, who approved it.

A commit is recognised as the journal does it: by the digest of its change, and of its message where that was judged
(docs/log.md). What the log of this clone does not have was not judged here, which says nothing of other machines and
of CI. A log is evidence, not proof.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

from ahp.facts.policy import APPROVERS
from ahp.gate import overrides
from ahp.hosts.ci.signatures import NotApproved, approval
from ahp.insight import reading
from ahp.insight.judged_history import Statement
from ahp.journal.answers import RISK, kind_of
from ahp.policy import layers, tree
from ahp.policy.compile import programs
from ahp.policy.sources import TreeSource
from ahp.policy.targets import default_of
from ahp.policy.waivers import Waiver, in_force
from ahp.protocol import records
from ahp.protocol.text import one_line
from ahp.protocol.triggers import OF_COMMITS
from ahp.system.commits import Past, PastView, commits, views
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.terminal import Seen, unseen
from ahp.system.view import View

_ID = re.compile(r"[0-9a-f]{40,64}")


def is_id(text: object) -> bool:
    """Whether it looks like the id of an object."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


class PolicyName(NamedTuple):
    """A policy by its digest; `commit` is one that has it, `origin` where it stood ("" where the log does not tell)."""

    digest: str
    commit: str
    origin: str


class Attempt:
    """One attempt about a change: its verdicts by hook, and what was said."""

    def __init__(self) -> None:
        self.verdicts: dict[str, Mapping[str, object]] = {}
        self.signals: list[Mapping[str, object]] = []
        self.order = 0

    @property
    def passed(self) -> bool:
        """Whether its hooks let it pass."""
        return bool(self.verdicts) and all(one.get("decision") != "deny" for one in self.verdicts.values())


class CommitRecords:
    """What a log has of commits, by the digests of their `changes`; those of `empty` change nothing. It is fed the
    log's records, in their order.

    `attempts` are by change and by git command, `given` the overrides by what binds them (rule, rule digest, content)
    and `risks` by the signal that was answered, each with who and why; `before` are the tips that the first install
    found, None without one.
    """

    def __init__(self, changes: Mapping[str, Collection[str]], empty: Collection[str] = ()) -> None:
        self.changes, self.empty, self.ids = changes, empty, set(changes)
        self._wanted = {digest for digests in self.changes.values() for digest in digests}
        self.attempts: dict[str, dict[str, Attempt]] = {}
        self.policies: dict[str, PolicyName] = {}
        self.risks: dict[str, tuple[str, str]] = {}
        self.given: dict[tuple[str, str, str], tuple[str, str]] = {}
        self.bypasses: dict[str, Mapping[str, object]] = {}
        self.pushes: list[Push] = []
        self.of_push: dict[str, list[Mapping[str, object]]] = {}
        self.before: list[str] | None = None
        self.begin = ""
        self._pushing: list[Mapping[str, object]] = []
        self._taken = 0

    def take(self, record: Mapping[str, object]) -> None:
        """Takes up one record."""
        kind = record.get("kind")
        self.begin = self.begin or str(record.get("timestamp") or "")
        if kind in ("signal", "verdict"):
            self._judged(record, kind == "verdict")
        elif kind == "policy":
            told = [str(record.get(name) or "") for name in ("digest", "commit", "origin")]
            self.policies.setdefault(told[0], PolicyName(*told))
        elif kind == "response" and record.get("action") == RISK and kind_of(str(record.get("by"))) == "human":
            self._answered(record)
        elif kind == "bypass" and (commit := str(record.get("commit"))) in self.ids:
            self.bypasses[commit] = record
        elif kind == "install" and self.before is None:
            tips = record.get("tips")
            self.before = [tip for tip in tips if is_id(tip)] if isinstance(tips, list) else []

    def _answered(self, record: Mapping[str, object]) -> None:
        details = record.get("details")
        reason = str(details.get("reason") or "") if isinstance(details, dict) else ""
        by = str(record.get("by")), reason
        id, rule, digest, content = (str(record.get(name) or "") for name in ("id", "rule", "digest", "content"))
        self.risks[id] = by
        self.given[rule, digest, content] = by

    def _judged(self, record: Mapping[str, object], is_verdict: bool) -> None:
        hook = record.get("hook")
        if hook == "pre-push":
            self._pushed(record, is_verdict)
        elif hook in OF_COMMITS and (change := str(record.get("change"))) in self._wanted:
            attempts = self.attempts.setdefault(change, {})
            attempt = attempts.setdefault(str(record.get("attempt") or ""), Attempt())
            self._taken += 1
            attempt.order = self._taken
            if is_verdict:
                attempt.verdicts[str(hook)] = record
            else:
                attempt.signals.append(record)

    def _pushed(self, record: Mapping[str, object], is_verdict: bool) -> None:
        if not is_verdict:
            named = record.get("commits")
            if isinstance(named, list) and not self.ids.isdisjoint(map(str, named)):
                self._pushing.append(record)
            return
        head, count = str(record.get("head") or ""), record.get("commits")
        if record.get("decision") != "deny" and is_id(head):
            about = [one for one in self._pushing if one.get("attempt") == record.get("attempt")]
            judged = count if isinstance(count, int) and not isinstance(count, bool) else 0
            base = record.get("base")
            begins = [str(one) for one in base] if isinstance(base, list) else None
            self.pushes.append(Push(head, begins, judged, {**record, "said": about} if about else record))
        self._pushing = []

    def policy(self, digest: object) -> PolicyName:
        """What the log tells of a policy."""
        return self.policies.get(str(digest or ""), PolicyName(str(digest or ""), "", ""))


def changes_of(past: Sequence[Past], shown: Sequence[PastView]) -> tuple[dict[str, set[str]], set[str]]:
    """The digests of what commits change, by their views, and those of them that change nothing."""
    changes: dict[str, set[str]] = {one.id: set() for one in past}
    empty: set[str] = set()
    for one, view in zip(past, shown, strict=True):
        for part in (view, view.own):
            if digest := digest_of(part):
                changes[one.id].add(digest)
                if not part.change().entries:
                    empty.add(digest)
    return changes, empty


def digest_of(view: View) -> str:
    """The digest of what a view changes, "" where it is not known."""
    try:
        return view.digest()
    except AhpError:
        return ""


class Push(NamedTuple):
    """A push that the gate let pass.

    `head` is the id of what was pushed, `base` what it begins at (None where the log does not tell), `commits` how many
    commits were judged one by one, `record` the verdict.
    """

    head: str
    base: list[str] | None
    commits: int
    record: Mapping[str, object]


def pushed(repo: Repository, pushes: Sequence[Push], tips: Sequence[str]) -> tuple[dict[str, Push], set[str]]:
    """Of each commit the first push that brought it, by `pushes` in their order; and the commits that were there when
    the gate was installed, by the `tips` that the first install found. Raises GitError.

    Where the verdict does not tell what a push began at, only its head is known to be of it.
    """
    found: dict[str, Push] = {}
    for push in pushes:
        head = {repo.commit_id(push.head) or ""}
        for commit in head if push.base is None else _listed(repo, [push.head], [*push.base, *tips]):
            found.setdefault(commit, push)
    return found, _listed(repo, tips, ())


def _listed(repo: Repository, tips: Sequence[str], base: Sequence[str]) -> set[str]:
    """What `tips` have and `base` has not; of those that are not here nothing."""
    asked = "".join([*[f"{tip}\n" for tip in tips], *[f"^{tip}\n" for tip in base]]).encode()
    return set(repo.run("rev-list", "--ignore-missing", "--stdin", stdin=asked).decode().split()) if tips else set()


_OF_MESSAGES = "commit-msg"
OVERRIDE, WAIVER, BYPASS, SKIPPED, UNDECIDED = "override", "waiver", "bypass", "skipped", "undecided"


class Judgement(NamedTuple):
    """One judgement of a commit: as it was made (`where` is `commit`), with a push, or by what signs statements (`ci`,
    `pre-receive`), whose key is the `actor`.

    `hooks` judged it; `said` are the rules that spoke and let it pass, with their level. Of a push, `head` is the
    commit that was pushed to `target`, and `commits` how many of it were judged one by one.
    """

    where: str
    at: str
    hooks: list[str]
    decision: str
    policy: PolicyName
    actor: str
    said: list[tuple[str, str]]
    target: str = ""
    head: str = ""
    commits: int = 0


class Exemption(NamedTuple):
    """A rule that did not count, or was not asked: `kind` is one of the words above.

    `approver` and `reason` are "" where nobody knows them; then `note` says what is known. `signed` is the approver
    whose signature the commit carries, by the approvers of the default branch today.
    """

    kind: str
    rule: str
    approver: str
    reason: str
    note: str = ""
    signed: str = ""

    @property
    def proof(self) -> str:
        """`signed` or `claimed` of what a person let pass, "" of the rest (authority §8.5)."""
        return ("signed" if self.signed else "claimed") if self.kind in (OVERRIDE, WAIVER) else ""


class Entry(NamedTuple):
    """A commit with all that is known of it. One that was there `before` the gate was not for it to judge."""

    commit: str
    made: str
    author: str
    subject: str
    before: bool
    judgements: list[Judgement]
    exemptions: list[Exemption]

    @property
    def is_judged_here(self) -> bool:
        """Whether the log of this clone has a judgement of it."""
        return any(one.where in ("commit", "push") for one in self.judgements)


class Audit(NamedTuple):
    """The commits, newest first; `begin` is when the log begins, "" without one."""

    begin: str
    entries: list[Entry]
    notes: list[str]


def audit(
    repo: Repository,
    revisions: str | None,
    *,
    stated: Iterable[Statement] = (),
    limit: int | None = None,
    seen: Seen = unseen,
) -> Audit:
    """The audit of `revisions` (`A..B`; None: the last `limit` of HEAD) by the log of a repository, which is read once,
    and by what was `stated`.

    Raises AhpError for a range that git does not know, and for a log that cannot be read.
    """
    past = commits(repo, revisions, limit)
    known = CommitRecords(*changes_of(past, list(views(repo, past, with_text=False))))
    for record in reading.records(repo.ahp_dir, None, seen):
        known.take(record)
    brought, before = pushed(repo, known.pushes, known.before or [])
    about: dict[str, list[Statement]] = {}
    for told in stated:
        for commit in told.commits:
            about.setdefault(commit, []).append(told)
    here = Here(repo)
    readings = [_Reading(one, known, brought.get(one.id), here) for one in past]
    entries = [one.entry(about.get(one.past.id, ()), one.past.id in before) for one in readings]
    return Audit(known.begin, entries, here.notes)


class Here:
    """What policies of this repository say: who waived a rule, who signed a commit, whose digest is whose.

    `notes` tell why signatures were not looked at.
    """

    def __init__(self, repo: Repository) -> None:
        self.repo, self.notes = repo, list[str]()
        self.waivers = cache(self._waivers)
        self._digests: dict[bytes, str] = {}

    def waived(self, name: str, commits: Iterable[str]) -> tuple[str, str]:
        """Approver and reason of a waiver, from the policies of these commits; two "" where none has it."""
        found = next((told[name] for told in map(self.waivers, commits) if name in told), None)
        return (found.approver, found.reason) if found is not None else ("", "")

    def _waivers(self, commit: str) -> dict[str, Waiver]:
        try:
            return {one.name: one for one in in_force(tree.of_commit(self.repo, commit).read).waivers}
        except AhpError:  # gone, or it never parsed: then nobody knows here who approved
            return {}

    def digest(self, commit: str) -> str:
        """The digest of the policy of a commit, "" where it is gone, or does not load any more."""
        try:
            policy = tree.of_commit(self.repo, commit)
            if policy.key not in self._digests:
                self._digests[policy.key] = ""
                program = next(iter(programs(layers.load(TreeSource(policy, policy.name))).values()))
                self._digests[policy.key] = program.policy
        except AhpError:
            return ""
        return self._digests[policy.key]

    @cached_property
    def _approvers(self) -> tuple[bytes, bool]:
        """Those of the default branch as it is known here, and whether their keys may lie in files."""
        try:
            policy = default_of(self.repo, "")
            data = policy.read(APPROVERS) if policy is not None else None
            if policy is not None and data:
                return data, bool(layers.load(TreeSource(policy, policy.name)).raw.setting("software_keys"))
        except AhpError as error:
            self.notes.append(f"signatures were not looked at: {one_line(error, 300)}")
        return b"", False

    def signer(self, commit: Past) -> str:
        """The approver who signed a commit, "" for none. Raises AhpError where ssh-keygen cannot be run."""
        approvers, software_keys = self._approvers
        if not approvers:
            return ""
        try:
            return approval(self.repo.run("cat-file", "commit", commit.id), approvers, time.time(), software_keys)
        except NotApproved:
            return ""


class _Reading:
    """What is known of one commit."""

    def __init__(self, past: Past, known: CommitRecords, brought: Push | None, here: Here) -> None:
        self.past, self.known, self.brought, self.here = past, known, brought, here
        self.exemptions: dict[tuple[str, str], Exemption] = {}

    def entry(self, stated: Iterable[Statement], before: bool) -> Entry:
        past = self.past
        judgements = [*self._as_made(), *self._pushed()]
        self._bypassed()
        self._lines()
        judgements += [self._stated(one) for one in stated]
        return Entry(past.id, past.made, past.author, past.subject, before, judgements, list(self.exemptions.values()))

    def _as_made(self) -> Iterator[Judgement]:
        """The last word of each hook on this change, of attempts that passed; that of `commit-msg` on this message.

        All commits that change nothing change the same: there the message tells one from another.
        """
        raw = self.past.message.encode("utf-8", "surrogateescape")
        mark = f"{overrides.TRAILER}:".lower().encode()
        bare = b"\n".join(line for line in raw.split(b"\n") if not line.strip().lower().startswith(mark))
        messages = {records.message_digest(raw), records.message_digest(bare)}
        found: list[tuple[bool, Attempt]] = []
        for digest in self.known.changes.get(self.past.id, ()):
            is_empty = digest in self.known.empty
            for attempt in self.known.attempts.get(digest, {}).values():
                told = attempt.verdicts.get(_OF_MESSAGES)
                is_meant = not is_empty if told is None else str(told.get("message") or "") in messages
                if attempt.passed and (is_meant or not is_empty):
                    found.append((is_meant, attempt))
        last: dict[str, Attempt] = {}
        for is_meant, attempt in sorted(found, key=lambda one: (one[0], one[1].order)):
            last |= {hook: attempt for hook in attempt.verdicts if is_meant or hook != _OF_MESSAGES}
        if not last:
            return
        verdicts = [attempt.verdicts[hook] for hook, attempt in last.items()]
        signals = [one for hook, attempt in last.items() for one in attempt.signals if one.get("hook") == hook]
        hook, newest = max(last.items(), key=lambda one: one[1].order)
        told = newest.verdicts[hook]
        decision = "warn" if any(one.get("decision") == "warn" for one in verdicts) else str(told.get("decision"))
        at, actor = str(told.get("timestamp") or ""), str(told.get("actor") or "")
        said = self._heard(signals, verdicts)
        yield Judgement("commit", at, [*last], decision, self._policy(told), actor, said)

    def _policy(self, record: Mapping[str, object]) -> PolicyName:
        """The policy that judged. The log describes one once, often in the work tree, just before it is committed."""
        told, head = self.known.policy(record.get("policy")), str(record.get("head") or "")
        if not told.commit and is_id(head) and self.here.digest(head) == told.digest:
            return told._replace(commit=head, origin="committed")
        return told

    def _pushed(self) -> Iterator[Judgement]:
        push = self.brought
        if push is None:
            return
        record = push.record
        about = record.get("said")
        signals = [one for one in about if self._is_named(one)] if isinstance(about, list) else []
        yield Judgement(
            "push",
            str(record.get("timestamp") or ""),
            ["pre-push"],
            str(record.get("decision")),
            self._policy(record),
            str(record.get("actor") or ""),
            self._heard(signals, [record] if push.commits else []),
            str(record.get("target") or ""),
            push.head,
            push.commits,
        )

    def _is_named(self, signal: Mapping[str, object]) -> bool:
        named = signal.get("commits")
        return isinstance(named, list) and self.past.id in named

    def _heard(
        self, signals: list[Mapping[str, object]], verdicts: list[Mapping[str, object]]
    ) -> list[tuple[str, str]]:
        """The rules that spoke; what was excused or not asked among them is noted."""
        said = []
        for one in signals:
            rule, level = str(one.get("rule") or ""), str(one.get("intensity") or "")
            if one.get("waived"):
                self._waived(str(one["waived"]), rule, one)
            elif one.get("overrides"):
                approver, reason = self.known.risks.get(str(one["overrides"]), ("", ""))
                note = "" if approver else "the log has no answer of a person to the signal that it names"
                self._note(Exemption(OVERRIDE, rule, approver, reason, note))
            elif one.get("undecidable"):
                self._note(Exemption(UNDECIDED, rule, "", "", str(one.get("message") or "")))
            elif not one.get("shadow"):
                said.append((rule, level))
        for verdict in verdicts:
            skipped = verdict.get("skipped")
            for told in skipped if isinstance(skipped, list) else ():
                if isinstance(told, dict):
                    self._note(Exemption(SKIPPED, str(told.get("rule") or ""), "", "", str(told.get("why") or "")))
        return said

    def _waived(self, name: str, rule: str, signal: Mapping[str, object]) -> None:
        policy = self.known.policy(signal.get("policy"))
        # At a commit HEAD's policy judges; a pushed head is the author's own.
        own = [str(signal.get("head") or "")] if signal.get("hook") in OF_COMMITS else []
        approver, reason = self.here.waived(name, [one for one in (*own, policy.commit) if is_id(one)])
        note = "" if approver else f"the waiver {name} is in no policy that is known here"
        self._note(Exemption(WAIVER, rule, approver, reason, note))

    def _stated(self, one: Statement) -> Judgement:
        """What a statement says of the commit; its word on an exemption counts more than the log's."""
        said = []
        for told in one.found:
            rule, why = str(told["rule"]), str(told["exemption"] or "")
            if told["commit"] not in (None, self.past.id):
                continue
            if not why:
                said.append((rule, str(told["level"])))
                continue
            kind, name = (OVERRIDE, "") if why.startswith("overridden by ") else (WAIVER, why.partition(": ")[2])
            who, _, reason = why.removeprefix("overridden by ").partition(": ")
            if name:
                who, reason = self.here.waived(name, [one.policy])
            signed = who if told["proof"] == "signed" else ""
            self.exemptions[kind, rule] = Exemption(kind, rule, who, reason, f"as {one.judge} stated: {why}", signed)
        policy = PolicyName(one.digest, one.policy, "committed")
        decision = "allow" if one.passed else "deny"
        where = (one.target, one.head, len(one.commits))
        return Judgement(one.judge, one.time, [], decision, policy, one.key, said, *where)

    def _bypassed(self) -> None:
        record = self.known.bypasses.get(self.past.id)
        rules = record.get("rules") if record else None
        for rule in rules if isinstance(rules, list) else ():
            assert record is not None
            self._note(Exemption(BYPASS, str(rule), "", "", str(record.get("reason") or "")))

    def _lines(self) -> None:
        """The overrides that the message tells of, whatever the log has."""
        found = overrides.lines(self.past.message.encode("utf-8", "surrogateescape"))
        principal = self.here.signer(self.past) if found else ""
        for bound, line in found.items():
            approver, reason = self.known.given.get(bound, ("", ""))
            told = (
                "the log has no such answer of a person" if bound[0] else "the message has a line that is none of ahp's"
            )
            note = "" if approver else f"{told}: {line}"
            self.exemptions.pop((OVERRIDE, bound[0]), None)
            self._note(Exemption(OVERRIDE, bound[0], approver, reason, note, principal))

    def _note(self, one: Exemption) -> None:
        self.exemptions.setdefault((one.kind, one.rule), one)
