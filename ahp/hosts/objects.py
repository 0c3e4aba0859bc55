"""Commits and ranges judged from git's objects, for every host that has nothing else: a push, CI, a server, the past.

Source: authority §5. Whoever asks hands in what only it knows: the policies, who acts, the branch, the time. Nothing
here reads HEAD, the index, the work tree or the environment.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ahp.facts import environment as environments
from ahp.facts import registry
from ahp.facts.absent import Absent
from ahp.facts.commit import parts
from ahp.facts.time import WEEKDAYS
from ahp.gate.decide import decide
from ahp.gate.of_commits import Excuse, Inquiry, OfCommits, Told
from ahp.policy.judge import Judge
from ahp.policy.policies import Policies
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system import clock, patience
from ahp.system.commits import Past, PastView, views
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.history import RangeView
from ahp.system.terminal import Seen, unseen

OF_CONTENT, OF_MERGES = "pre-commit", "pre-merge-commit"
TRIGGERS = ("pre-commit", OF_MERGES, "commit-msg")
# What encodings in which ASCII is ASCII are called by. From another one (UTF-7, UTF-16, EBCDIC) git makes line ends and
# NUL of letters, so that a message ends or goes on elsewhere than where it is read as it is stored.
_WITH_ASCII = (
    *("utf-8", "utf8", "us-ascii", "ascii", "ansi-x3", "iso-8859-", "iso8859-", "latin", "windows-125", "koi8", "mac"),
    *("cp125", "cp437", "cp85", "cp86", "cp874", "cp932", "cp936", "cp949", "cp950", "tis-620", "viscii"),
    *("gb", "big5", "euc", "shift", "sjis", "iso-2022-"),
)

# What is the same of a commit for whatever one actor brings to one remote.
_OF_COMMITS = frozenset(
    {"files", "diff", "moved", "debuggers", "ignored", "repo", "commit", "deps", "policy", "actor", "limits", "time"}
)

Known = Mapping[str, Mapping[str, object]]


class CommitJudge:
    """Asks the rules of commits about commits that exist.

    `event` is what they are judged for, such as the push of one ref: who acts, until when there is time, where it goes.
    `policies` judge them, a commit in `own` by those instead. `known` are facts that whoever asks knows of all of them
    (namespace → fields), `gathered` the namespaces that are read as ever; what else git does not record is absent, and
    its rules are skipped. `excuse` tells what was let pass.
    """

    def __init__(
        self,
        event: Event,
        policies: Policies,
        *,
        own: Mapping[str, Policies] | None = None,
        known: Known | None = None,
        gathered: Iterable[str] = (),
        excuse: Excuse = lambda commit, candidate: "",
        triggers: Sequence[str] = TRIGGERS,
    ) -> None:
        self._event, self._policies, self._own = event, policies, own or {}
        self._known, self._gathered = dict(known or {}), frozenset(gathered)
        self._excuse, self._triggers = excuse, triggers
        self._inquiries: dict[tuple[int, str], Inquiry] = {}
        self._given: dict[tuple[int, str], dict[str, Any]] = {}
        self._alike: dict[int, tuple[object, ...] | None] = {}

    @property
    def has_rules(self) -> bool:
        """Whether any policy asks anything of commits."""
        return any(judge.program.rules for judge in self._judges())

    @property
    def reads_text(self) -> bool:
        """Whether a rule reads the lines of commits, so that they are worth asking for many at once."""
        return any("diff" in judge.program.reads for judge in self._judges())

    def _judges(self) -> Iterator[Judge]:
        every = {id(one): one for one in (self._policies, *self._own.values())}
        return (judge for one in every.values() for name in self._triggers for judge in one.at(name))

    @property
    def notes(self) -> list[str]:
        """What the judges had to say beside their rules."""
        return list(dict.fromkeys(note for inquiry in self._inquiries.values() for note in inquiry.notes))

    def ask(self, commit: Past, view: PastView) -> list[Told]:
        """What the rules say of one commit: of a merge those of merges about what it brings to its first parent, all
        others about what no parent has. Raises AhpError.
        """
        told: list[Told] = []
        for trigger in self._triggers:
            if trigger == OF_MERGES and not commit.is_merge:
                continue
            inquiry = self._inquiry(self._own.get(commit.id, self._policies), trigger)
            brought = view if trigger == OF_MERGES else view.own
            told += inquiry.ask(commit, lambda judge, at=trigger, on=brought: self._asked(judge, at, commit, on))  # type: ignore[misc]
        return told

    def alike(self, commit: Past) -> tuple[object, ...] | None:
        """What besides the commit itself decides whether anything is said of it; None where that may be anything."""
        policies = self._own.get(commit.id, self._policies)
        if id(policies) not in self._alike:
            self._alike[id(policies)] = self._hangs_on(policies)
        return self._alike[id(policies)]

    def _hangs_on(self, policies: Policies) -> tuple[object, ...] | None:
        actor = self._event.actor
        known: list[object] = [id(policies), self._event.remote, actor.kind, actor.name, actor.is_verified]
        for trigger in self._triggers:
            for judge in policies.at(trigger):
                given, reads = self._common(judge, trigger), judge.program.reads
                if not _OF_COMMITS.issuperset(reads.keys() - given.keys()) or "environment" not in given:
                    return None
                known.append(given["environment"][""])
                known += [repr(self._known[name].get(field)) for name in self._known for field in reads.get(name, ())]
        return tuple(known)

    def ask_object(self, oid: str, view: RangeView) -> list[Told]:
        """What the rules of content say of a tree or a blob that a ref names: of all that is in it. Raises AhpError."""
        whole = Past(oid, (), clock.iso(clock.now()), "", "", is_object=True)
        inquiry = self._inquiry(self._policies, OF_CONTENT)
        return inquiry.ask(whole, lambda judge: self._asked(judge, OF_CONTENT, whole, view))

    def _inquiry(self, policies: Policies, trigger: str) -> Inquiry:
        key = (id(policies), trigger)
        if key not in self._inquiries:
            self._inquiries[key] = Inquiry(policies.at(trigger), self._excuse, self._event.mode)
        return self._inquiries[key]

    def _asked(self, judge: Judge, trigger: str, commit: Past, view: RangeView) -> Event:
        """The event of a commit's trigger for one judge, with what git tells of that time."""
        given = self._common(judge, trigger)
        given = {
            **given,
            "time": _time(commit.time, judge.program.settings.timezone),
            "commit": _commit(commit, is_written=trigger == "commit-msg"),
        }
        actor = self._event.actor
        if actor.kind == "ci" and not actor.name:
            actor = Actor("ci", commit.author)
        draft = commit.message.encode("utf-8", "surrogateescape") if trigger == "commit-msg" else None
        return self._event.but(
            trigger=trigger, view=view, draft=draft, given=given, actor=actor, mode="replay", from_objects=True
        )

    def _common(self, judge: Judge, trigger: str) -> dict[str, Any]:
        """The facts that are the same for all commits: those that are known, and why the others are absent."""
        key = (id(judge), trigger)
        if key not in self._given:
            program = judge.program
            reads = [name for name in program.reads if registry.is_known(name) and name not in self._gathered]
            past = {name: registry.namespace(name).past for name in reads}
            given: dict[str, Any] = {name: Absent(why, elsewhere=True) for name, why in past.items() if why}
            given |= self._known
            named = environments.name_of(self._event, program.settings)
            if isinstance(named, str):
                given["environment"] = {"": named}
            self._given[key] = given
        return self._given[key]


def judge_commits(judge: CommitJudge, event: Event, past: list[Past], seen: Seen = unseen) -> OfCommits:
    """What `judge` says of all commits of `past`. Raises AhpError, which names the commit."""
    assert event.repo is not None
    return judge_each(event.repo, [(judge, past)], seen)[0]


def judge_each(
    repo: Repository, asked: Sequence[tuple[CommitJudge, Sequence[Past]]], seen: Seen = unseen
) -> list[OfCommits]:
    """What each judge says of its commits. A commit is read once, however many judges ask about it, and a hundred at a
    time; of which one judge says nothing, another that would say the same is not asked. Raises AhpError, which names
    the commit.
    """
    every = {commit.id: commit for _, past in asked for commit in past}
    numbers: dict[str, list[int]] = {}
    for number, (_, past) in enumerate(asked):
        for commit in past:
            numbers.setdefault(commit.id, []).append(number)
    told: list[dict[str, list[Told]]] = [{} for _ in asked]
    reads_text = any(judge.reads_text for judge, past in asked if past)
    read = zip(every.values(), views(repo, list(every.values()), reads_text), strict=True)
    for done, (commit, view) in enumerate(read, 1):
        patience.doing = f"commit {commit.id[:10]}, {done} of {len(every)}"
        try:
            _check_encoding(commit.encoding)
            clean: set[tuple[object, ...]] = set()
            for number in numbers[commit.id]:
                alike = asked[number][0].alike(commit) if len(numbers[commit.id]) > 1 else None
                if alike in clean:
                    continue
                if found := asked[number][0].ask(commit, view):
                    told[number][commit.id] = found
                elif alike is not None:
                    clean.add(alike)
        except AhpError as error:
            raise AhpError(f"commit {commit.id[:10]}: {error}") from error
        seen(done, len(every))
    return [
        OfCommits([one for commit in past for one in found.get(commit.id, ())], judge.notes, len(past))
        for (judge, past), found in zip(asked, told, strict=True)
    ]


def _check_encoding(name: str) -> None:
    """Raises AhpError where who reads a commit's message as it is stored sees other text than git shows here."""
    if name and not name.lower().replace("_", "-").startswith(_WITH_ASCII):
        mend = "git -c i18n.commitEncoding=UTF-8 commit --amend --no-edit"
        raise AhpError(f"it says that its message is in {one_line(name)}, which is not read here; mend: {mend}")


def judge_object(judge: CommitJudge, oid: str, view: RangeView) -> OfCommits:
    """What `judge` says of a tree or a blob that is pushed by itself: no commit brings it. Raises AhpError."""
    return OfCommits(judge.ask_object(oid, view), judge.notes)


def judge_range(event: Event, policies: Policies, of_commits: OfCommits | None = None) -> Verdict:
    """The verdict on a range: what its own trigger's rules say of all it changes, with what was told of its commits.

    Raises AhpError.
    """
    judges = policies.at(event.trigger)
    verdict = decide(event, judges, of_commits)
    verdict.notes[:0] = [note for note in policies.notes if note not in verdict.notes]
    return verdict


def without_evidence(event: Event) -> Event:
    """The event of a range whose tip is not what lies in the work tree: what is known only there is absent."""
    why = "what is judged is not what is checked out"
    given = {name: Absent(why, elsewhere=True) for name in ("env", "session")}
    return event.but(from_objects=True, given={**given, **(event.given or {})})


def _commit(commit: Past, is_written: bool) -> dict[str, object]:
    """The facts of `commit`; the message is not written yet at pre-commit."""
    email = commit.author.rpartition("<")[2].removesuffix(">")
    told: dict[str, object] = {"author": commit.author, "author_email": email, "is_merge": commit.is_merge}
    return {**told, **parts(commit.message)} if is_written else told


def _time(then: datetime, zone: str) -> dict[str, object]:
    """The facts of `time` when a commit was made, on its committer's clock unless the policy states a zone."""
    if zone:
        then = then.astimezone(ZoneInfo(zone))
    day = WEEKDAYS[then.weekday()]
    return {"hour": then.hour, "minute": then.minute, "weekday": day, "date": then.date().isoformat()}
