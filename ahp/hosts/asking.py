"""The one way to ask: every event of every host is made here; who asks, where, about which state.  [light]"""

import posix

from ahp.protocol.event import Event, PushRef, Workspace
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, digest, environ, git
from ahp.system.errors import Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ahp.protocol.event import Actor
    from ahp.system.git import Repository
    from ahp.system.view import View
    from ahp.system.worktree import WorkTreeView

BUDGET = 600.0  # s for one event; command facts have budgets of their own within it
DETACHED = "detached"
_DRAFT_LIMIT = 16 << 20


def event(
    trigger: str,
    host: str,
    actor: "Actor",
    where: Workspace,
    *,
    mode: str = "real",
    issue: str | None = None,
    session: str | None = None,
    budget: float = BUDGET,
) -> Event:
    """The event of `trigger` that `actor` brings about; what it changes is still to be set."""
    branch = (where.repo.branch() or where.repo.rebased()) if where.repo is not None else ""
    session = session_name(session) if session else None
    subject = subject_of(branch, issue, session)
    made = Event(trigger, host, actor, where, clock.monotonic() + budget, mode, subject)
    made.issue, made.session = issue, session
    return made


def around(folder: str) -> Workspace:
    """The workspace of the repository that holds `folder`, as it is installed; without one, that of the folder itself.

    Raises AhpError.
    """
    from ahp.journal.place import noted_genesis

    env = environ.current()
    try:
        repo = git.discover(folder, env)
    except git.NotARepository:
        return Workspace(folder, folder + "/.ahp", env, user_policy=user_policy())
    return Workspace(repo.root, repo.ahp_dir, env, repo, noted_genesis(repo.ahp_dir), user_policy())


def repository_here() -> "Repository":
    """The repository of the current folder. Raises NotARepository."""
    import os

    return git.discover(os.getcwd(), environ.current())


def user_policy() -> str:
    """The user's layer, in the home that the password database names: no variable moves it (design §3)."""
    import pwd

    try:
        return pwd.getpwuid(posix.getuid()).pw_dir + "/.ahp/hooks.yaml"
    except KeyError:
        return ""


def layer_by_hook(known: str) -> str:
    """The user's layer by what a hook knows, `UID:PATH` of who installed it: for any other user it is their own.

    A path alone is that path.
    """
    uid, colon, path = known.partition(":")
    if not (colon and uid.isdecimal()):
        return known
    return path if uid == str(posix.getuid()) else user_policy()


def subject_of(branch: str, issue: str | None = None, session: str | None = None) -> str:
    """Whose progress an escalation follows: the issue, given or named by the branch, else the branch, else the session.

    A detached head without any of them is `detached` (design §1).
    """
    return issue or issue_in(branch) or branch or session or DETACHED


def session_name(id: str) -> str:
    """A session's id as facts and log have it: the agent's, or 16 digits of its digest where that is no word."""
    plain = len(id) <= 48 and id.isascii() and id.replace("-", "").replace("_", "").replace(".", "").isalnum()
    return id if plain else digest.sha256(id.encode("utf-8", "surrogatepass"))[:16]


def issue_in(branch: str) -> str:
    """The issue id that a branch name carries as a word of its own: `FEAT-0123` of `feat/FEAT-0123-login`, else "".

    An id is two to ten capital letters, a hyphen and at least three digits, as issue trackers write them; fewer digits
    would take `UTF-8` for an issue.
    """
    for part in branch.split("/"):
        letters, _, rest = part.partition("-")
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        named = 2 <= len(letters) <= 10 and letters.isascii() and letters.isalpha() and letters.isupper()
        if named and 3 <= len(digits) <= 9 and rest[len(digits) :][:1] in ("", "-", "_", "."):
            return f"{letters}-{digits}"
    return ""


def of_content(event: Event) -> "Iterator[Event]":
    """The events that judge what the commit of `event` changes, each to be judged before the next is asked for.

    git runs no pre-merge-commit for a merge that is concluded by `git commit` (githooks), so its rules are asked here,
    about all that the merge brings. Of every merge the rules of content are asked about what it takes back, too.
    """
    yield event
    view, repo = event.view, event.repo
    if event.trigger not in ("pre-commit", "pre-merge-commit") or view is None or view.kind != "index" or repo is None:
        return
    heads = repo.merging()
    if not heads:
        return
    if event.trigger == "pre-commit" and view.joins():
        yield event.but(trigger="pre-merge-commit", view=view.whole())  # type: ignore[attr-defined]
    from ahp.system import remainder
    from ahp.system.bare_merge import BareMerges

    name, ref = _default_ref(repo)
    known = (repo.commit_id(ref) if name else None) or repo.head_id()
    with BareMerges(repo) as merges:
        left = remainder.of_staged(merges, [repo.head_id(), *heads], known)
        if left is not None:
            yield event.but(trigger="pre-commit", view=left)


def complete(asked: Event, folder: str) -> None:
    """Gives an event that no hook brought about the state that would be judged now: a view, a message, a push.

    `folder` is where in the work tree it is asked.
    """
    repo = asked.repo
    if repo is None:
        return
    from ahp.system import files
    from ahp.tickets import tracker

    asked.project = tracker.around(folder, asked.root)
    if asked.trigger == "commit-msg":
        asked.draft = files.read(repo.git_dir + "/COMMIT_EDITMSG", _DRAFT_LIMIT) or b""
    if asked.trigger == "pre-push":
        from ahp.hosts.git.ranges import range_of
        from ahp.policy import targets
        from ahp.protocol.text import without_credentials

        asked.remote, asked.push = _next_push(repo)
        has_authority = targets.of_push(asked, asked.remote).has_authority
        asked.view = range_of(repo, asked.push, asked.remote, has_authority)
        asked.remote = without_credentials(asked.remote)
    else:
        asked.view = _view(asked.trigger, repo)


def _view(trigger: str, repo: "Repository") -> "View | None":
    from ahp.system.history import CommitView, RangeView
    from ahp.system.view import IndexView

    family = TRIGGERS[trigger].family
    if family == "commit":
        return (
            CommitView(repo, "HEAD")
            if TRIGGERS[trigger].post and repo.commit_id("HEAD")
            else IndexView(repo, whole=trigger == "pre-merge-commit")
        )
    if trigger == "pre-merge":
        base = merge_base(repo)
        unknown = base if isinstance(base, Unknown) else None
        old = base if isinstance(base, str) else repo.empty_tree()
        return RangeView(repo, old, "HEAD" if repo.commit_id("HEAD") else repo.empty_tree(), unknown=unknown)
    if (family.startswith("issue-") or trigger == "task-complete") and repo.root:
        return branch_work(repo)
    return None


def branch_work(repo: "Repository") -> "WorkTreeView":
    """What the current branch has changed so far, with what is not committed yet: what a move of an issue is about."""
    from ahp.system.worktree import WorkTreeView

    return WorkTreeView(repo, merge_base(repo))


def merge_base(repo: "Repository") -> "str | Unknown | None":
    """Where the current branch left the default branch, of the remote where that is believed; None before any commit.

    Where that cannot be told, why, and what to do.
    """
    if repo.commit_id("HEAD") is None:
        return None
    remotes = _remotes(repo)
    remote = _remote(remotes)
    name, ref = _default_ref(repo)
    deepen = "--unshallow " if repo.shallow() else ""
    if remotes and name and name == repo.branch() and issue_in(name):
        every = f"'+refs/heads/*:refs/remotes/{remote}/*'"
        mend = f"git fetch {deepen}{remote} {every} && git remote set-head {remote} BRANCH"
        return Unknown(f"this branch is itself what {remote} has for its default branch", mend)
    if name and repo.commit_id(ref):
        if base := repo.line("merge-base", ref, "HEAD", ok=(0, 1, 128)):
            return base
        if repo.shallow():
            return Unknown(f"this clone was cut off before this branch left {name}", f"git fetch --unshallow {remote}")
        return Unknown(f"this branch and {name} have no commit in common")
    if not remotes:
        return Unknown("nothing says which branch is the default one", "git config init.defaultBranch BRANCH")
    fetch = f"git remote set-branches {remote} '*' && git fetch {deepen}{remote}"
    why = f"{name}, the default branch, was never fetched" if name else "nothing says which branch is the default one"
    return Unknown(why, f"{fetch} && git remote set-head {remote} --auto")


def _default_ref(repo: "Repository") -> tuple[str, str]:
    """The default branch, "" where nothing tells it, and the ref that has it: of the remote where that is believed."""
    from ahp.facts.default_branch import default_branch
    from ahp.system import tracking

    remote = _remote(_remotes(repo))
    name = default_branch(repo, remote)
    theirs = f"refs/remotes/{remote}/{name}"
    return name, theirs if name and tracking.believes(repo, theirs) else f"refs/heads/{name}"


def _remotes(repo: "Repository") -> list[str]:
    return [name for name in repo.run("remote").decode("utf-8", "surrogateescape").split("\n") if name]


def _remote(remotes: list[str]) -> str:
    return "origin" if "origin" in remotes or not remotes else remotes[0]


def _next_push(repo: "Repository") -> tuple[str, PushRef]:
    """What `git push` would send of the current branch: to its own remote, else origin, under its own name."""
    branch = repo.branch()
    remote = (repo.config(f"branch.{branch}.remote") if branch else "") or "origin"
    ref = f"refs/heads/{branch or 'HEAD'}"
    there = repo.commit_id(f"refs/remotes/{remote}/{branch}") if branch else None
    here = repo.commit_id("HEAD")
    zero = "0" * len(here or "0" * 40)
    return remote, PushRef(ref, here or zero, ref, there or zero)
