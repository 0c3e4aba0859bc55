"""pre-push: each ref by the policy of where it goes, on what the remote does not have yet (authority §4, §5)."""

import os
from collections.abc import Iterator, Sequence

from ahp.facts.default_branch import is_default
from ahp.gate import of_range
from ahp.gate.asked import Context, of_object
from ahp.gate.decide import decide
from ahp.gate.of_commits import OfCommits, by_the_log, speak_once
from ahp.gate.of_range import Range
from ahp.hosts.asking import subject_of
from ahp.hosts.git import bypass, lfs, push_command, ranges
from ahp.hosts.git.githooks import Hook, read_input, say
from ahp.hosts.git.install import made_before
from ahp.hosts.git.push_command import PushCommand
from ahp.hosts.git.ranges import as_fetched, read_refs
from ahp.hosts.verdict_text import write
from ahp.policy import policies, targets
from ahp.policy.policies import Policies
from ahp.protocol.event import Event, PushRef, Workspace
from ahp.protocol.signals import DECISION_OF
from ahp.protocol.text import one_line, without_credentials
from ahp.protocol.triggers import OF_COMMITS, OF_MESSAGES
from ahp.protocol.verdict import Verdict
from ahp.system import patience, terminal, tracking
from ahp.system.git import Repository
from ahp.system.history import RangeView
from ahp.system.view import View, verify

_DECISIONS = list(DECISION_OF.values())  # the strongest first
_BRANCHES, _NOTES, _TAGS = "refs/heads/", "refs/notes/", "refs/tags/"
# What only the work tree and the process can tell.
_BESIDE = ("env", "session", "tests", "coverage")


class _Pushed:
    """One ref of a push, ready to be judged: its event, the policies in force where it goes, those with what its tip
    adds, and what was told of its commits.
    """

    def __init__(self, ref: PushRef, event: Event, view: RangeView, in_force: Policies, ruling: Policies) -> None:
        self.ref, self.event, self.view, self.in_force, self.ruling = ref, event, view, in_force, ruling
        self.of_commits = OfCommits()


def judge(hook: Hook) -> int:
    """The hook's exit code: the worst of its refs. Raises AhpError when git's lines cannot be read."""
    remote = hook.arguments[0] if hook.arguments else ""
    code = 0
    for verdict in _verdicts(hook, read_refs(read_input()), remote):
        code = max(code, say(hook, verdict))
    if said := lfs.warning(hook.repo):
        write(f"ahp: {said}")
    verify(hook.repo)
    return code


def _verdicts(hook: Hook, refs: list[PushRef], remote: str) -> Iterator[Verdict]:
    """The verdicts on all that the command does there, also on what git does not list of it."""
    command = PushCommand(hook.repo, remote)
    yield from judge_refs(hook, refs, remote, command)
    if command.mirrors() and (others := push_command.judge_deletions(hook, remote, command)) is not None:
        yield others


def _looks_forced(repo: Repository, ref: PushRef) -> bool:
    """Whether git lists it alike where it is forced and where git will reject it: where that takes more than comparing
    two commits that are here. What loses commits that are here it lists only if it is forced.
    """
    if not (ref.local_oid.strip("0") and ref.remote_oid.strip("0")):
        return False
    return ref.remote_ref.startswith(_TAGS) or not (repo.commit_id(ref.remote_oid) and repo.commit_id(ref.local_oid))


def judge_refs(
    hook: Hook, refs: Sequence[PushRef], remote: str, command: PushCommand | None = None
) -> Iterator[Verdict]:
    """The verdicts on what a push moves, each note in the first that has it; `command` is what pushes where that runs
    already.
    """
    hook.repo.answers = {}
    try:
        if len(refs) > 1:
            ranges.foresee(hook.repo, refs)
        for ref in refs:
            if command is not None and _looks_forced(hook.repo, ref):
                ref.forced = command.forces(ref)
        yield from _judge_refs(hook, refs, remote)
    finally:
        hook.repo.answers = None


def _judge_refs(hook: Hook, refs: Sequence[PushRef], remote: str) -> Iterator[Verdict]:
    pushed = _prepared(hook, refs, remote)
    _judge_commits(hook, pushed, remote)
    asked_of_ranges = {rule.key for one in pushed for by in one.ruling.at("pre-push") for rule in by.program.rules}
    speak_once([one.of_commits for one in pushed], asked_of_ranges)
    bypass.log_push(hook, [told for one in pushed for told in one.of_commits.told])
    told: set[str] = set()
    for one in pushed:
        for verdict in _judge(one, remote):
            verdict.notes = [note for note in verdict.notes if note not in told]
            told.update(verdict.notes)
            yield verdict


def _prepared(hook: Hook, refs: Sequence[PushRef], remote: str) -> list[_Pushed]:
    """The refs with who judges them and their ranges; what git is asked for each is asked for all at once."""
    repo = hook.repo
    if len(refs) > 1:
        tips = [oid for ref in refs if ref.local_oid.strip("0") and (oid := repo.commit_id(ref.local_oid))]
        policies.foresee(repo, tips)
        ranges.foresee_ranges(repo, refs, remote)
    ruled = []
    for ref in refs:
        event = hook.event()
        if event.push is not ref:  # else it was asked about, and may be for an issue
            event.push, event.remote = ref, without_credentials(remote)
            event.subject = subject_of(_source(repo, ref))
        ruled.append((event, targets.of_push(event, remote)))
    with_authority = [ref for ref, (_, in_force) in zip(refs, ruled, strict=True) if in_force.has_authority]
    ranges.foresee_ranges(repo, with_authority, remote, has_authority=True)
    pushed = []
    for ref, (event, in_force) in zip(refs, ruled, strict=True):
        view = event.view = ranges.range_of(repo, ref, remote, in_force.has_authority)
        ruling = in_force.and_those_of(targets.added_by_tip(event, in_force))
        if ruling.at(event.trigger) and not _is_checked_out(repo, view, ruling):
            event = of_range.without_evidence(event)
        pushed.append(_Pushed(ref, event, view, in_force, ruling))
    judged = [one for one in pushed if one.ruling.at(one.event.trigger)]
    before = made_before(repo)
    ranges.foresee_to_judge(repo, [(one.ref, one.in_force.has_authority, one.view) for one in judged], remote, before)
    of_range.foresee(repo, [(one.view, one.ruling) for one in judged])
    return pushed


def _judge(pushed: _Pushed, remote: str) -> list[Verdict]:
    """The verdicts on one ref: its range with the commits in it, and each move of a ticket."""
    event, ruling = pushed.event, pushed.ruling
    if not ruling.at(event.trigger):
        return []
    verdicts = [of_range.judge_range(event, ruling, pushed.of_commits)]
    if verdicts[0].signals and (note := _unseen(event, remote)):
        verdicts[0].notes.append(note)
    if any(name.startswith("pre-issue-") for one in ruling.at(event.trigger) for name in one.program.triggers):
        from ahp.hosts.issue_transitions import gates_of

        verdicts += [decide(gate, ruling.at(gate.trigger)) for gate in gates_of(event)]
    return verdicts


def _unseen(event: Event, remote: str) -> str:
    """That what a branch has on the remote is not known here, where what it had at the last fetch stands in."""
    assert event.repo is not None and event.push is not None
    name = tracking.remote_of(event.repo, remote)
    if not as_fetched(event.repo, event.push, name):
        return ""
    branch, fetch = one_line(event.push.remote_ref.removeprefix(_BRANCHES)), one_line(f"git fetch {name}")
    said = f"{branch} has commits on {name} that were never fetched"
    if event.push.forced is False:
        return f"{said}, so that git rejects this push; get them first: {fetch}"
    unless = "" if event.push.forced else ", and git takes it only if forced"
    return f"{said}; this is judged by what it had at the last fetch{unless}: {fetch}"


def _judge_commits(hook: Hook, pushed: list[_Pushed], remote: str) -> None:
    """Notes with each ref what the rules of commits say of those that this push is the first to bring, as far as known
    here.
    """
    repo, before = hook.repo, made_before(hook.repo)
    judged = [one for one in pushed if one.ruling.at(one.event.trigger)]
    brought = [(one, ranges.to_judge(repo, one.view, remote, before)) for one in judged]
    policies.folders_of(repo, list(dict.fromkeys(oid for _, ids in brought for oid in ids)))
    ranges_of = [(one, _range(hook, one, ids, remote)) for one, ids in brought]
    asked = [(one, range_) for one, range_ in ranges_of if range_.reads()]
    if os.isatty(2) and any(range_.commits for _, range_ in asked):
        patience.end()  # the bar tells how far it is
    with terminal.progress("judging commits") as seen:
        found = of_range.judge_each(repo, [range_ for _, range_ in asked], seen)
    for (one, _), said in zip(asked, found, strict=True):
        one.of_commits = said


def _range(hook: Hook, one: _Pushed, ids: list[str], remote: str) -> Range:
    repo, there = hook.repo, one.ref.remote_ref
    target = there.removeprefix(_BRANCHES) if there.startswith(_BRANCHES) else ""
    why = "git does not record it of the time of the commit"
    branch = of_range.branch_of(_source(repo, one.ref), target, is_default(repo, target, remote), why)
    context = Context(
        one.event,
        known={"branch": branch},
        gathered=("actor", "issue", "checklist"),
        excuse=by_the_log(repo.ahp_dir),
        # git writes the messages of notes itself
        triggers=[name for name in OF_COMMITS if name != OF_MESSAGES or not there.startswith(_NOTES)],
    )
    is_object = not ids and ranges.object_of(repo, one.ref) is not None
    whole = of_object(one.ref.local_oid, one.view) if is_object else None
    return Range(context, one.in_force, ids, policies.of_commits(repo, ids, one.event, one.in_force), whole, one.view)


def _source(repo: Repository, push: PushRef) -> str:
    """The branch that is pushed: the local one, or the one that HEAD stands for; else the one that is written to."""
    if push.local_ref.startswith(_BRANCHES):
        return push.local_ref.removeprefix(_BRANCHES)
    there = push.remote_ref.removeprefix(_BRANCHES) if push.remote_ref.startswith(_BRANCHES) else ""
    return (repo.branch() or there) if push.local_ref == "HEAD" else there


def _is_checked_out(repo: Repository, view: RangeView, ruling: Policies) -> bool:
    """Whether what is pushed is what lies in the work tree, as far as a rule asks for anything that only that tells."""
    programs = [judge.program for judge in ruling.at("pre-push")]
    gates = any(name.startswith("pre-issue-") for program in programs for name in program.triggers)
    if not gates and not any(program.costly or any(map(program.reads.get, _BESIDE)) for program in programs):
        return True
    if repo.commit_id("HEAD") != repo.commit_id(view.new) or not repo.root:
        return False
    return not repo.run("status", "--porcelain", "--untracked-files=no")


class AskedPush(Hook):
    """The pre-push hook that git would start for what `asked` is about: a push that git has not begun."""

    __slots__ = ("asked",)

    def __init__(self, asked: Event, remote: str) -> None:
        where = Workspace(asked.root, asked.journal, asked.env, asked.repo, asked.genesis, asked.user_policy)
        assert asked.repo is not None
        super().__init__("pre-push", str(os.getppid()), [remote], asked.actor, asked.repo, where)
        self.asked = asked

    def event(self, view: View | None = None, trigger: str = "") -> Event:
        """As the hook's, by whoever asks."""
        return self.asked.but(trigger=trigger or self.name, view=view, tool=None)

    def attempt(self) -> str:
        """What asks is the attempt."""
        return self.asked.attempt


def judge_asked(event: Event) -> Verdict:
    """The verdict on the push of `event`: on its range, each commit in it, each move of a ticket. Raises AhpError."""
    assert event.push is not None
    remote = event.remote or ""
    return as_one(event, list(judge_refs(AskedPush(event, remote), [event.push], remote)))


def as_one(event: Event, verdicts: Sequence[Verdict]) -> Verdict:
    """The verdicts on one action as one, by the first's policy; without any nobody judges it."""
    first = verdicts[0] if verdicts else Verdict("allow", event.trigger, event.subject, "")
    for other in verdicts[1:]:
        first.decision = min(first.decision, other.decision, key=_DECISIONS.index)
        first.signals += other.signals
        first.dropped += other.dropped
        first.notes += [note for note in other.notes if note not in first.notes]
    return first
