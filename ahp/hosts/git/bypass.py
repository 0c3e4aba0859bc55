"""Commits that break a rule and that no hook was asked about: told at once where that is cheap, logged (authority §5).

Nobody is accused of a skipped hook: clean commits are not told of, nor are those logged that a rebase or the like has
made. What is logged is evidence for whoever reads the log, not proof.
"""

import re
from collections.abc import Collection, Sequence

from ahp.gate.asked import Context, asked, of_commit
from ahp.gate.of_commits import Told, by_the_log
from ahp.hosts.git.githooks import Hook
from ahp.hosts.verdict_text import translated, write
from ahp.journal import segments
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.policy import tree as trees
from ahp.policy.judge import WORKING, Judge
from ahp.policy.judges import judges_of
from ahp.policy.policies import Policies
from ahp.protocol import records
from ahp.protocol.text import one_line
from ahp.system import clock, commits, reflogs
from ahp.system.change import DIGEST
from ahp.system.git import Repository
from ahp.system.history import CommitView

_LINES = 200_000
_CHANGES = re.compile(DIGEST.encode() + rb"[0-9a-z:]+")
_OF_MESSAGES, _OF_ALL = "commit-msg", "pre-push"
_PRESENT = ("actor", "branch", "issue", "checklist", "env", "session")  # of a commit that was made just now


def check_commit(hook: Hook, commit: str, is_other: bool) -> None:
    """Tells which blocking rules HEAD breaks that no pre-commit hook was asked about, and logs it. `is_other`: a hook
    was asked about another tree than the commit has.
    """
    repo = hook.repo
    listed = _listed_before(repo, commit)
    if listed is not None and not trees.of_commit(repo, commit).has_policy:
        _tell_of_removal(hook)
    told = _unjudged(hook, [one for one in _ask(hook, commit, listed) if one.candidate.enforced])
    _log(hook, told)
    blocking = {one.candidate.key: one.candidate for one in told if one.candidate.intensity == "block"}
    for key, candidate in blocking.items():
        places = [f"{one['file']}:{one['line']}" for one in candidate.findings() if "file" in one and "line" in one]
        where = f" ({one_line(places[0])})" if places else ""
        why = "and what was judged is another tree" if is_other else "and no hook was asked"
        breaks = f"breaks {one_line(key)}, {why}"
        said = f"ahp: this commit {breaks}: {one_line(candidate.message())}{where}; a push of it is refused"
        write(translated(said, hook.actor, repo.env))
    if blocking:
        from ahp.hosts.git.probe import obstacle

        if found := obstacle(hook.repo, "pre-commit"):  # another tool has taken the place of our hook
            write(f"     {one_line(found, 500)}; fix: ahp doctor --fix")


def _ask(hook: Hook, commit: str, listed: bytes | None) -> list[Told]:
    """What the rules say of HEAD, by who judged when it was made: `listed` are the policy's files of then."""
    repo = hook.repo

    def judges(trigger: str) -> list[Judge]:
        event = hook.event(None, trigger)
        event.listed = listed
        return judges_of(event)

    event = hook.event(CommitView(repo, commit), "pre-commit")
    context, policies = Context(event, gathered=_PRESENT, excuse=by_the_log(repo.ahp_dir)), Policies(judges)
    if not context.judges(policies):
        return []
    (past,) = commits.listed(repo, [commit])
    (view,) = commits.views(repo, [past], with_text=False)
    return [Told(past, candidate) for candidate in asked(of_commit(past, view), policies, context)]


def _listed_before(repo: Repository, commit: str) -> bytes | None:
    """What git lists of the policy's files in the parent of `commit`; None where that has none. Raises GitError."""
    parent = repo.commit_id(f"{commit}^1")
    return repo.policies[parent] if parent and trees.of_commit(repo, parent).has_policy else None


def _tell_of_removal(hook: Hook) -> None:
    """Says so where nobody judges any more because HEAD took the policy away: without a remote there is no push."""
    if all(judge.origin == WORKING for judge in judges_of(hook.event(None, "pre-commit"))):
        said = "this commit takes the policy away, so that nobody judges what comes after it"
        write(translated(f"ahp: {said}; to undo it: git revert HEAD", hook.actor, hook.repo.env))


def log_push(hook: Hook, told: Sequence[Told]) -> None:
    """Logs the pushed commits that break a rule and that no hook judged, where the push is judged for real."""
    if hook.event().mode != "real":
        return
    _log(hook, _unjudged(hook, [one for one in told if one.candidate.enforced]))


def _log(hook: Hook, unjudged: Sequence[Told]) -> None:
    """Logs those that a plain `git commit` made, or of which nothing says what did."""
    event, stamp = hook.event(), clock.iso(clock.now())
    made = reflogs.made_here(hook.repo) if unjudged else {}
    by_commit: dict[str, list[Told]] = {}
    for one in unjudged:
        if made.get(one.commit.id, "commit") == "commit":
            by_commit.setdefault(one.commit.id, []).append(one)
    noticed = [
        records.other(
            "bypass",
            stamp,
            hook=hook.name,
            commit=commit,
            change=_change(some[0]),
            rules=[one.candidate.key for one in some],
            subject=event.subject,
            actor=str(event.actor),
            host="git",
            reason="it breaks a rule that no hook was asked about",
        )
        for commit, some in by_commit.items()
    ]
    if noticed:
        try:
            Journal(event.journal, event.genesis).append(noticed, durable=True)
        except JournalUnwritable as error:
            if event.trigger != "pre-push":  # whose verdict says so
                write(f"ahp: {error}")


def _change(one: Told) -> str:
    view = one.candidate.event.view
    return view.digest() if view is not None else ""


def _unjudged(hook: Hook, told: Sequence[Told]) -> list[Told]:
    """Those whose change, or message for a rule of messages, no hook let pass, and of which there is no notice."""
    wanted = {change.encode() for change in map(_change, told) if change}
    judged: dict[str, set[tuple[str, str]]] = {}
    noticed: set[str] = set()
    for number, line in enumerate(segments.backward(hook.repo.ahp_dir) if told else ()):
        if number >= _LINES:
            break
        is_about_one = not wanted.isdisjoint(_CHANGES.findall(line.raw))
        record = line.record() if is_about_one or b'"bypass"' in line.raw else None
        if record is None:
            continue
        if record.get("kind") == "bypass":
            noticed.add(str(record.get("commit")))
        elif record.get("kind") == "verdict" and record.get("decision") != "deny":
            by = str(record.get("hook")), str(record.get("message") or "")
            judged.setdefault(str(record.get("change")), set()).add(by)
    return [one for one in told if one.commit.id not in noticed and not _was_judged(one, judged.get(_change(one), ()))]


def _was_judged(one: Told, by: Collection[tuple[str, str]]) -> bool:
    """Whether one of the verdicts on its change, each `by` a hook on a message, is one on what broke the rule: a hook
    asks the rules of its own trigger alone, a push those of all commits. The same change may be a commit, a merge and
    an amend.
    """
    trigger = one.candidate.event.trigger
    messages = [message for hook, message in by if hook in (trigger, _OF_ALL)]
    if trigger != _OF_MESSAGES or not messages:
        return bool(messages)
    return records.message_digest(one.commit.message.encode("utf-8", "surrogateescape")) in messages
