"""What a log knows of the commits of a range: by which policy each was judged, what was let pass, who approved it.

A commit is recognised as the journal does it: by the digest of its change, and of its message where that was judged
(docs/log.md). What the log of this clone does not have was not judged here, which says nothing of other machines and
of CI. A log is evidence, not proof.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ahp.gate import overrides
from ahp.insight import commit_records, reading
from ahp.insight.commit_records import Attempt, CommitRecords, PolicyName, Pushed, is_id, pushed
from ahp.insight.judged_history import Statement
from ahp.protocol import records
from ahp.protocol.triggers import OF_COMMITS
from ahp.system.commits import Past, commits, views
from ahp.system.git import Repository
from ahp.system.terminal import Seen, unseen

_OF_MESSAGES = "commit-msg"
OVERRIDE, WAIVER, BYPASS, SKIPPED, UNDECIDED = "override", "waiver", "bypass", "skipped", "undecided"


class Judgement(NamedTuple):
    """One judgement of a commit: as it was made (`where` is `commit`), with a push, or by what signs statements (`ci`,
    `pre-receive`), whose key is the `actor`.

    `hooks` judged it; `said` are the rules that spoke and let it pass, with their level. Of a push, `head` is the
    commit that was pushed to `target`, `commits` how many of it were judged one by one, and `one_by_one` whether this
    one was among them: None where the log does not tell that.
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
    one_by_one: bool | None = None


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


Waived = Callable[[str, Iterable[str]], tuple[str, str]]
"""Approver and reason of the waiver of a name, from the policies of these commits; two "" where none has it."""
Signed = Callable[[Past], str]
"""The approver who signed a commit, "" for none."""
HasPolicy = Callable[[str, str], bool]
"""Whether the policy of that digest is the one that a commit (its id) has."""


def audit(
    repo: Repository,
    folder: str,
    revisions: str | None,
    *,
    waived: Waived,
    signed: Signed,
    has_policy: HasPolicy,
    stated: Iterable[Statement] = (),
    limit: int | None = None,
    seen: Seen = unseen,
) -> Audit:
    """The audit of `revisions` (`A..B`; None: the last `limit` of HEAD) by the log in `folder`, which is read once, and
    by what was `stated`.

    Raises AhpError for a range that git does not know and a log that cannot be read.
    """
    past = commits(repo, revisions, limit)
    known = CommitRecords(*commit_records.changes_of(past, list(views(repo, past, with_text=False))))
    for record in reading.records(folder, None, seen):
        known.take(record)
    brought = pushed(repo, [one.id for one in past], known.pushes, known.before or [])
    about: dict[str, list[Statement]] = {}
    for told in stated:
        for commit in told.commits:
            about.setdefault(commit, []).append(told)
    entries = [_Reading(one, known, brought, waived, signed, has_policy).entry(about.get(one.id, ())) for one in past]
    return Audit(known.begin, entries)


class _Reading:
    """What is known of one commit."""

    def __init__(
        self, past: Past, known: CommitRecords, brought: Pushed, waived: Waived, signed: Signed, has_policy: HasPolicy
    ) -> None:
        self.past, self.known, self.brought, self.waived, self.signed = past, known, brought, waived, signed
        self.has_policy = has_policy
        self.exemptions: dict[tuple[str, str], Exemption] = {}

    def entry(self, stated: Iterable[Statement]) -> Entry:
        past = self.past
        judgements = [*self._as_made(), *self._pushed()]
        self._bypassed()
        self._lines()
        judgements += [self._stated(one) for one in stated]
        before = past.id in self.brought.before
        return Entry(past.id, past.made, past.author, past.subject, before, judgements, list(self.exemptions.values()))

    def _as_made(self) -> Iterator[Judgement]:
        """The last attempt that passed and was about this change, as far as it was about this message.

        One that judged another message made another commit, which was amended: its word on the content counts where
        there is none else.
        """
        raw = self.past.message.encode("utf-8", "surrogateescape")
        mark = f"{overrides.TRAILER}:".lower().encode()
        bare = b"\n".join(line for line in raw.split(b"\n") if not line.strip().lower().startswith(mark))
        messages = {records.message_digest(raw), records.message_digest(bare)}
        found = [
            ((len(about) == len(attempt.verdicts), attempt.order), attempt, about)
            for digest in self.known.changes.get(self.past.id, ())
            for attempt in self.known.attempts.get(digest, {}).values()
            if attempt.passed and self._fits(about := _about(attempt, messages), digest)
        ]
        latest = [(attempt, about) for _, attempt, about in sorted(found, key=lambda one: one[0], reverse=True)]
        for attempt, about in latest[:1]:
            said_by = [(attempt, about)]
            if list(about) == [_OF_MESSAGES]:
                contents = ((one, {**told}) for one, told in latest if told.keys() != {_OF_MESSAGES})
                for one, told in itertools.islice(contents, 1):
                    told.pop(_OF_MESSAGES, None)
                    said_by = [(one, told), (attempt, about)]
                about = {name: one for _, told in said_by for name, one in told.items()}
            signals = [one for part in said_by for one in _spoken(*part)]
            verdicts = [one for _, told in said_by for one in told.values()]
            last = verdicts[-1]
            decision = "warn" if any(one.get("decision") == "warn" for one in verdicts) else ""
            yield Judgement(
                "commit",
                str(last.get("timestamp") or ""),
                list(about),
                decision or str(last.get("decision")),
                self._policy(last),
                str(last.get("actor") or ""),
                self._heard(signals, verdicts),
            )

    def _policy(self, record: Mapping[str, object]) -> PolicyName:
        """The policy that judged. The log describes one once, often in the work tree, just before it is committed."""
        told, head = self.known.policy(record.get("policy")), str(record.get("head") or "")
        if not told.commit and is_id(head) and self.has_policy(told.digest, head):
            return told._replace(commit=head, origin="committed")
        return told

    def _fits(self, about: Mapping[str, object], digest: str) -> bool:
        # All commits that change nothing change the same: only the message tells one from another.
        return _OF_MESSAGES in about if digest in self.known.empty else bool(about)

    def _pushed(self) -> Iterator[Judgement]:
        brought = self.brought.brought.get(self.past.id)
        if brought is None:
            return
        push, one_by_one = brought
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
            self._heard(signals, [record] if one_by_one else []),
            str(record.get("target") or ""),
            push.head,
            push.commits,
            one_by_one,
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
        approver, reason = self.waived(name, [one for one in (*own, policy.commit) if is_id(one)])
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
                who, reason = self.waived(name, [one.policy])
            signed = who if told["proof"] == "signed" else ""
            self.exemptions[kind, rule] = Exemption(kind, rule, who, reason, f"as {one.judge} stated: {why}", signed)
        policy = PolicyName(one.digest, one.policy, "committed")
        decision = "allow" if one.passed else "deny"
        where = (one.target, one.head, len(one.commits), True)
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
        principal = self.signed(self.past) if found else ""
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


def _about(attempt: Attempt, messages: set[str]) -> dict[str, Mapping[str, object]]:
    """The verdicts of an attempt by hook, without that on another message."""
    return {
        name: one
        for name, one in attempt.verdicts.items()
        if name != _OF_MESSAGES or str(one.get("message") or "") in messages
    }


def _spoken(attempt: Attempt, about: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The signals of the hooks that are asked `about`."""
    return [one for one in attempt.signals if one.get("hook") in about]
