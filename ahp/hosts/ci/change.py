"""The change that CI judges: which commits, where they go, and by which commits' policies (authority §6).

A clone that CI made holds branches of whoever wrote the change: `refs/heads/main` may be what a fork calls main. What
the target has is read from the remote-tracking refs; a branch of the clone's own counts only where there is no remote.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import NamedTuple

from ahp.facts.default_branch import default_branch, installed, remote_head
from ahp.hosts.ci.platform import BRANCHES, Proposal, is_id, is_ref_name
from ahp.protocol.text import one_line
from ahp.system import boundaries
from ahp.system.errors import AhpError
from ahp.system.git import GitError, Repository
from ahp.system.history import RangeView

_REMOTES = "refs/remotes/"


class Change(NamedTuple):
    """`view` is the range, from its boundary with the target to `head`.

    `target` is the full name of the ref that it goes to, `own_tip` the commit whose policy judges if that ref has one
    of its own ("" for none), `default` the default branch's name and `default_tip` its commit. A change that is
    `merged` is on the target already. `had` is the commit that the target is taken to have had: what it was pushed
    onto, for a proposal the beginning of the range; "" for a ref that is new. Ids are resolved once: no ref that moves
    meanwhile changes what is judged.
    """

    view: RangeView
    head: str
    source: str
    target: str
    own_tip: str
    default: str
    default_tip: str
    remote: str
    had: str
    merged: bool


def change_of(
    repo: Repository,
    said: Proposal | None,
    is_named: Callable[[str, str], bool],
    *,
    from_: str | None = None,
    to: str | None = None,
    target: str | None = None,
    before: str | None = None,
) -> Change:
    """The change that the platform `said` something of, as far as the arguments do not say otherwise.

    With `before` the change is pushed already, onto that commit of the target. `is_named` tells of a branch whether
    `authority:` names it, by the policy of a commit. Raises AhpError for what is not in this clone, with the line that
    fetches it, and for a `from_` that the head does not descend from; Unknown for a range whose beginning cannot be
    told.
    """
    said = said or Proposal("run")
    if before is not None:
        said = said._replace(kind="push", before=_commit(repo, before))
    remote = _remote(repo)
    default = said.default_branch or _default(repo, remote)
    ref = _full_name(repo, remote, target) if target is not None else said.target or BRANCHES + default
    head = _commit(repo, said.head or "HEAD" if to is None else to)  # "" is a variable that nobody set
    default_tip = _tip(repo, remote, BRANCHES + default)
    if not default_tip and ref != BRANCHES + default:  # else only the rules that the change brings would be asked
        raise AhpError(_not_here(repo, remote, BRANCHES + default))
    name = ref.removeprefix(BRANCHES) if ref.startswith(BRANCHES) else ""
    has_authority = bool(name) and (name == default or is_named(name, default_tip))
    own_tip = _tip(repo, remote, ref) if name else ""
    goes_there = (target is not None and before is None) or said.kind in ("pull request", "merge queue")
    if not own_tip and goes_there:
        raise AhpError(_not_here(repo, remote, ref))
    merged = said.kind == "push" and (target is None or before is not None) and has_authority
    if merged:  # the target's tip is the change itself: what it was pushed onto judges it
        own_tip = _pushed_onto(repo, said, head)
        default_tip = own_tip if name == default else default_tip
    # What any other branch has was judged by nobody who judges here: the range begins where it left the default one.
    onto = own_tip if has_authority else ""
    known = [onto or default_tip] if onto or default_tip else []
    if from_ is not None:
        view = _since(repo, from_, head)
    elif not known and not merged:
        raise AhpError(_not_here(repo, remote, ref))
    else:
        view = boundaries.range_over(repo, head, known, whole=merged)
    view.revisions()  # raises Unknown where nobody can tell what the range is
    had = (said.before or own_tip) if merged else view.old if name else said.before or ""
    source = said.source or (repo.branch() if repo.commit_id("HEAD") == head else "")
    return Change(view, head, source, ref, own_tip if has_authority else "", default, default_tip, remote, had, merged)


def _pushed_onto(repo: Repository, said: Proposal, head: str) -> str:
    """What the ref had before the push, "" for nothing; where the platform does not say, the head's first parent."""
    if said.before is None:
        return repo.commit_id(f"{head}^") or ""
    known = repo.commit_id(said.before) if said.before else ""
    if known is None:
        had = f"what {one_line(said.target)} had, {said.before}, is not in this clone, so nobody can say what is new"
        raise AhpError(f"{had}; fix: {_fetch(repo, _remote(repo), said.before)}")
    return known


def _remote(repo: Repository) -> str:
    names = repo.run("remote").decode("utf-8", "surrogateescape").split("\n")[:-1]
    return "origin" if "origin" in names or not names else names[0]


def _default(repo: Repository, remote: str) -> str:
    """The default branch. In a clone the remote's word counts, or that of who installed ahp there: a branch that is
    called as most default ones are may be anybody's. Raises AhpError where nobody has said.
    """
    alone = _stands_alone(repo, remote)
    found = default_branch(repo, remote) if alone else remote_head(repo, remote) or installed(repo)
    if not found:
        named = shlex.quote(remote)
        branches = shlex.quote(f"+{BRANCHES}*:{_REMOTES}{remote}/*")
        fetch = f"git fetch {named} {branches} && git remote set-head {named} --auto"
        unknown = "which branch is the default one, whose policy counts, is not known here"
        raise AhpError(f"{unknown}; fix: {one_line(fetch, 400)}")
    return found


def branch_here(repo: Repository, name: str | None = None) -> tuple[str, str]:
    """A branch, by default the default one, and the commit that the remote has there. Raises AhpError where that is not
    known here.
    """
    remote = _remote(repo)
    name = name or _default(repo, remote)
    if not (tip := _tip(repo, remote, BRANCHES + name)):
        raise AhpError(_not_here(repo, remote, BRANCHES + name))
    return name, tip


def _full_name(repo: Repository, remote: str, target: str) -> str:
    """`target` as the remote calls it: a branch's name, with or without what git puts in front."""
    for prefix in (BRANCHES, f"{_REMOTES}{remote}/", f"{remote}/"):
        name = target.removeprefix(prefix)
        is_there = prefix == f"{remote}/" and repo.commit_id(f"{_REMOTES}{remote}/{target}") is not None
        if name != target and is_ref_name(name) and not is_there:
            return BRANCHES + name
    if not is_ref_name(target) or target.startswith("refs/") or target == "HEAD":
        raise AhpError(f"--target is the name of a branch, not {one_line(target)!r}")
    return BRANCHES + target


def _tip(repo: Repository, remote: str, ref: str) -> str:
    """The commit that the remote's branch has, "" where it is not known here."""
    name = ref.removeprefix(BRANCHES)
    there = repo.commit_id(f"{_REMOTES}{remote}/{name}")
    if there is None and _stands_alone(repo, remote):
        there = repo.commit_id(ref)
    return there or ""


def _stands_alone(repo: Repository, remote: str) -> bool:
    """Whether its own branches are all there is: a bare copy, or a repository without a remote."""
    if repo.root and repo.run("remote"):
        return False
    return not repo.line("for-each-ref", "--count=1", "--format=%(refname)", f"{_REMOTES}{remote}/")


def _commit(repo: Repository, name: str) -> str:
    # Of a full id git never makes a ref, whatever branch or tag may be called by it.
    is_name = is_ref_name(name) and not is_id(name)
    refs = [f"refs/{kind}/{name}" for kind in ("heads", "tags", "remotes")] if is_name else []
    known = repo.line("for-each-ref", "--format=%(refname)", *refs).split("\n") if refs else []
    if len(both := [ref for ref in known if ref in refs]) > 1:  # git would take the tag, which anybody may have pushed
        raise AhpError(f"{one_line(name)} is {' and '.join(one_line(ref) for ref in both)}; write one of them in full")
    found = None if name.startswith("-") else repo.commit_id(name)
    if found is None:
        mend = f"; fix: {_fetch(repo, _remote(repo), one_line(name, 400))}" if is_ref_name(name) else ""
        raise AhpError(f"{one_line(name) or 'an empty name'} is no commit of this clone{mend}")
    return found


def _not_here(repo: Repository, remote: str, ref: str) -> str:
    name = ref.removeprefix(BRANCHES)
    fetch = _fetch(repo, remote, f"+{BRANCHES}{name}:{_REMOTES}{remote}/{name}")
    return f"what {one_line(name)} has is not known here, so nobody can say what is new; fix: {fetch}"


def _fetch(repo: Repository, remote: str, wanted: str) -> str:
    """The line that brings `wanted`; into a shallow clone all that is needed, where one thing after the other would be
    missed.
    """
    whole = ["--unshallow", remote, f"+{BRANCHES}*:{_REMOTES}{remote}/*"] if repo.shallow() else [remote]
    return one_line(shlex.join(["git", "fetch", *whole, wanted]), 400)


def _since(repo: Repository, from_: str, head: str) -> RangeView:
    base = _commit(repo, from_)
    if not descends(repo, head, base):
        raise AhpError(f"--from {one_line(from_)} is no ancestor of what is judged ({head[:10]})")
    return RangeView(repo, base, head)


def descends(repo: Repository, commit: str, ancestor: str) -> bool:
    """Whether `ancestor` is `commit` or one before it, as far as git can tell."""
    try:
        repo.run("merge-base", "--is-ancestor", ancestor, commit)
    except GitError:
        return False
    return True
