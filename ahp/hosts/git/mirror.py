"""What `git push --mirror` deletes: all that only the remote has, of which git lists nothing to its hooks."""

import shlex
from collections.abc import Iterable, Sequence

from ahp.facts.default_branch import default_branch
from ahp.facts.registry import Absent
from ahp.gate.decide import decide
from ahp.hosts.git.githooks import Hook
from ahp.hosts.git.push_command import PushCommand
from ahp.policy import policies, targets
from ahp.protocol.event import PushRef
from ahp.protocol.text import one_line, without_credentials
from ahp.protocol.verdict import Verdict
from ahp.system import tracking
from ahp.system.git import Repository
from ahp.system.history import RangeView

_BRANCHES = "refs/heads/"
_DELETED = "(delete)"  # git's own word in the place of a local ref
_ANY = "refs/*"


def deletions(repo: Repository, remote: str, listed: Iterable[PushRef]) -> list[PushRef]:
    """The branches that `remote` had at the last fetch and that are not here, but for those that git lists itself.

    Raises GitError.
    """
    name = tracking.remote_of(repo, remote)
    prefix = f"refs/remotes/{name}/"
    known = {ref.remote_ref for ref in listed} | set(_refs(repo, _BRANCHES))
    found = []
    for ref, oid in _refs(repo, prefix).items() if name else ():
        there = _BRANCHES + ref.removeprefix(prefix)
        if there not in known:
            found.append(PushRef(_DELETED, "0" * len(oid), there, oid))
    return found


def judge_others(hook: Hook, remote: str, command: PushCommand, deleted: Sequence[PushRef]) -> Verdict | None:
    """What the rules about deletions say of refs that nothing here tells of: tags, and branches that were never
    fetched. None without such a rule. Raises AhpError.
    """
    repo = hook.repo
    zero = "0" * len(repo.empty_tree())
    event = hook.event()
    event.push, event.remote = PushRef(_DELETED, zero, _ANY, zero), without_credentials(remote)
    event.view = RangeView(repo, repo.empty_tree(), repo.empty_tree())
    default = default_branch(repo, tracking.remote_of(repo, remote))
    is_told = bool(default) and (repo.has_ref(_BRANCHES + default) or _BRANCHES + default in map(_there, deleted))
    unknown = Absent("git does not list what --mirror deletes", unknowable=True)
    event.given = {
        "push": {
            **dict.fromkeys(("ref", "is_tag", "local_ref"), unknown),
            "remote": event.remote,
            "is_delete": True,
            "is_new": False,
            "is_force": False,
            "commit_count": 0,
            "subjects": [],
            "messages": [],
        },
        "branch": {
            **dict.fromkeys(("name", "target", "ahead", "behind"), unknown),
            "is_default": False if is_told else unknown,
            "is_detached": not repo.branch(),
        },
    }
    ruling = policies.narrowed(targets.of_push(event, remote), event, lambda rule: "push.is_delete" in rule.reads)
    if not any(judge.program.rules for judge in ruling.at(event.trigger)):
        return None
    verdict = decide(event, ruling.at(event.trigger))
    if verdict.signals:
        said = (
            "git does not list to its hooks what --mirror deletes, but lists it where the same is asked for like this"
        )
        verdict.notes.append(f"{said}: {_listing(remote, command)}")
    return verdict


def _listing(remote: str, command: PushCommand) -> str:
    """What does the same as the command, and has git list what it deletes."""
    name = without_credentials(remote)
    off = f"-c {shlex.quote(f'remote.{name}.mirror=false')} " if command.mirrors_by_setting() else ""
    return one_line(f"git {off}push --prune {shlex.quote(name)} '+refs/*:refs/*'", 300)


def _there(ref: PushRef) -> str:
    return ref.remote_ref


def _refs(repo: Repository, prefix: str) -> dict[str, str]:
    """The id of each ref below `prefix`, but for those that only name another."""
    listed = repo.run("for-each-ref", "--format=%(objectname) %(refname) %(symref)", prefix)
    lines = [line.split(" ") for line in listed.decode("utf-8", "surrogateescape").split("\n")[:-1]]
    return {ref: oid for oid, ref, target in lines if not target}
