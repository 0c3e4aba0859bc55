"""Clones of the project in which ahp is not installed: a push from one is judged as a push from here would be.

What is committed in them is nobody's business until it leaves: they are made to try something out, too.
"""

import os

from ahp.agents import git_gate
from ahp.agents.calls.call_paths import inside
from ahp.facts.default_branch import default_branch
from ahp.hosts import asking
from ahp.protocol.event import Event, Workspace
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.paths import real


def is_one(event: Event, repo: Repository) -> bool:
    """Whether a repository has the event's for a remote, or a remote with it in common."""
    if event.repo is None:
        return False
    ours = {_plain(real(event.root)), *_remotes(event.repo, event.root)}
    return not ours.isdisjoint(_remotes(repo, repo.root))


def at_home(event: Event, where: Workspace) -> Workspace:
    """The workspace of a clone, of which the log is kept here: it has none of its own."""
    return Workspace(where.root, event.journal, where.env, where.repo, event.genesis, where.user_policy)


def judge(there: Event) -> tuple[Verdict | None, str]:
    """The refusal of a push that the call makes in the clone, None where none is refused; and what is told of it.

    `there` is the call as an event of the clone. Raises AhpError.
    """
    return git_gate.judge(there, ("push",))


def pushed_from_elsewhere(event: Event) -> str:
    """Why a call is refused that pushes to the project, or to a remote of it, from where nothing of it judges: by its
    address, from a bare copy, from a clone that the call itself makes, or from one that takes another branch for the
    default one. "" where it does not.
    """
    call, repo = event.tool or {}, event.repo
    listed, start = call.get("commands"), str(call.get("folder", ""))
    made: list[str] = []
    ours: set[str] = set()
    for one in listed if isinstance(listed, list) and repo is not None else []:
        if one["program"] != "git" or one["verb"] not in ("clone", "push"):
            continue
        assert repo is not None
        ours = ours or {_plain(real(event.root)), *_remotes(repo, event.root)}
        folder = os.path.join(event.root, inside(one["folder"] or ".", event.root, start))
        first, *named = one["operands"] or [""]
        address = _resolved(first, folder)
        if one["verb"] == "clone":
            target = named[0] if named else address.rpartition("/")[2]
            made += [os.path.normpath(os.path.join(folder, target))] if address in ours else []
            continue
        if any(f"{os.path.normpath(folder)}/".startswith(f"{place}/") for place in made):
            why = "the call itself clones it; push in a call of its own, and it is judged"
        elif git_gate.top_of(folder) == event.root or not first:
            continue
        else:
            why = _unjudged(event, repo, folder, first, ours)
        if why:
            return f"ahp blocked this: it pushes to a remote of this project from {one_line(folder, 100)}, and {why}"
    return ""


def _unjudged(event: Event, repo: Repository, folder: str, remote: str, ours: set[str]) -> str:
    """Why nothing judges a push to `remote` from `folder`; "" where something does, or it is none of the project's."""
    there = _workspace(folder)
    if there is not None and os.path.isdir(there.journal):
        return ""  # there the hooks judge
    other = there.repo if there is not None else None
    by_name = _resolved(other.config(f"remote.{remote}.url"), folder) if other is not None else ""
    if _resolved(remote, folder) in ours or (by_name in ours and other is not None and not other.root):
        return f"nothing judges that; push from {one_line(event.root, 100)}"
    if by_name not in ours or other is None:
        return ""
    right, wrong = one_line(default_branch(repo)), one_line(default_branch(other, remote))
    if not (right and wrong) or right == wrong:
        return ""
    return f"there {wrong} is the default branch, not {right}; mend: git remote set-head {one_line(remote)} {right}"


def _workspace(folder: str) -> Workspace | None:
    try:
        return asking.around(folder) if os.path.isdir(folder) else None
    except AhpError:
        return None


def _remotes(repo: Repository, root: str) -> set[str]:
    told = repo.run("config", "-z", "--get-regexp", r"^remote\..*\.(push)?url$", ok=(0, 1))
    found = told.decode("utf-8", "surrogateescape").split("\0")
    return {_resolved(url, root) for one in found if (url := one.partition("\n")[2])}


def _resolved(url: str, folder: str) -> str:
    """A remote's address; of one that is a folder, its path."""
    path = url.removeprefix("file://")
    if path.startswith(("/", ".")) or os.path.isdir(f"{folder}/{path}"):
        path = real(path if path.startswith("/") else f"{folder}/{path}")
    return _plain(path)


def _plain(url: str) -> str:
    return url.rstrip("/").removesuffix("/.git").removesuffix(".git").rstrip("/")
