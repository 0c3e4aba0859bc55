"""Events that a person asks about by name: `ahp check`, `run`, `explain`, `facts` (design §10)."""

import os
import pwd

from ahp.hosts.git.ranges import range_of
from ahp.policy.problems import nearest, quoted
from ahp.protocol.actor import identify
from ahp.protocol.event import Event, PushRef
from ahp.protocol.subject import subject_of
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, environ, files, git
from ahp.system.errors import AhpError
from ahp.system.git import NotARepository, Repository
from ahp.system.history import CommitView, RangeView
from ahp.system.view import IndexView, View
from ahp.system.worktree import WorkTreeView
from ahp.tickets import projects, transaction

BUDGET = 600.0
_FACTS_LIMIT = 16 << 20


def event_of(trigger: str, *, issue: str | None = None, facts_file: str | None = None, mode: str = "real") -> Event:
    """The event that would occur now in the current folder. `facts_file` replaces namespaces and needs a dry mode.

    Raises AhpError for an unknown trigger or unreadable facts.
    """
    if trigger not in TRIGGERS:
        raise AhpError(f"there is no trigger {quoted(trigger)}{nearest(trigger, TRIGGERS)}")
    if facts_file and mode == "real":
        raise AhpError("--facts is for dry commands (ahp check, explain, facts): a real run judges what is there")
    env = environ.current()
    repo = _repository(os.getcwd(), env)
    root = repo.root if repo else os.getcwd()
    branch = repo.branch() if repo else ""
    event = Event(
        trigger,
        "cli",
        identify(env),
        root=root,
        journal=(repo.common_dir if repo else root + "/.ahp") + ("/ahp" if repo else ""),
        env=env,
        deadline=clock.monotonic() + BUDGET,
        mode=mode,
        subject=subject_of(branch, issue),
        repo=repo,
        issue=issue,
        given=_given(facts_file) if facts_file else None,
        user_policy=user_policy(),
        project=projects.around(os.getcwd(), root) if repo else "",
    )
    if repo is not None:
        _place(event, repo, branch)
    return event


def dry_event(trigger: str, issue: str | None = None, facts_file: str | None = None) -> Event:
    """The event as a question: nothing is logged, nothing counts."""
    return event_of(trigger, issue=issue, facts_file=facts_file, mode="dry")


def user_policy() -> str:
    """The user's layer, in the home that the password database names: no variable moves it (design §3)."""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir + "/.ahp/hooks.yaml"
    except KeyError:
        return ""


def merge_base(repo: Repository) -> str | None:
    """Where the current branch left the default branch; HEAD where that cannot be told."""
    from ahp.facts.default_branch import default_branch

    name = default_branch(repo)
    for ref in (f"refs/remotes/origin/{name}", f"refs/heads/{name}") if name else ():
        if repo.commit_id(ref) and (base := repo.line("merge-base", ref, "HEAD", ok=(0, 1, 128))):
            return base
    return repo.commit_id("HEAD")


def repository_here() -> Repository:
    """The repository of the current folder. Raises NotARepository."""
    return git.discover(os.getcwd(), environ.current())


def _repository(folder: str, env: dict[str, str]) -> Repository | None:
    try:
        return git.discover(folder, env)
    except NotARepository:
        return None


def _place(event: Event, repo: Repository, branch: str) -> None:
    """The view of the trigger, and what belongs to it: a message, a push."""
    event.view = _view(event.trigger, repo)
    if event.trigger == "commit-msg":
        event.draft = files.read(repo.git_dir + "/COMMIT_EDITMSG", _FACTS_LIMIT) or b""
    if event.trigger == "pre-push":
        event.remote, event.push = _next_push(repo, branch)
        event.view = range_of(repo, event.push, event.remote)


def _view(trigger: str, repo: Repository) -> View | None:
    family = TRIGGERS[trigger].family
    if trigger == "post-commit":
        return CommitView(repo, "HEAD") if repo.commit_id("HEAD") else IndexView(repo)
    if family == "commit":
        return IndexView(repo)
    if trigger == "pre-merge":
        return RangeView(
            repo, merge_base(repo) or repo.empty_tree(), "HEAD" if repo.commit_id("HEAD") else repo.empty_tree()
        )
    if family.startswith("issue-") or trigger == "task-complete":
        if not repo.root:
            return None
        transaction.recover(repo.root, repo.git_dir)  # a killed process may have left a ticket twice
        return WorkTreeView(repo, merge_base(repo))
    return None


def _next_push(repo: Repository, branch: str) -> tuple[str, PushRef]:
    """What `git push` would send of the current branch: to its own remote, else origin, under its own name."""
    remote = repo.config(f"branch.{branch}.remote") if branch else ""
    remote = remote or "origin"
    ref = f"refs/heads/{branch or 'HEAD'}"
    there = repo.commit_id(f"refs/remotes/{remote}/{branch}") if branch else None
    here = repo.commit_id("HEAD")
    zero = "0" * len(here or "0" * 40)
    return remote, PushRef(ref, here or zero, ref, there or zero)


def _given(path: str) -> dict[str, dict[str, object]]:
    """A YAML or JSON mapping of namespaces to fields (design §10). Raises AhpError."""
    from ahp.system import yamltree

    data = files.read(os.path.abspath(path), _FACTS_LIMIT)
    if data is None:
        raise AhpError(f"there is no file {path}")
    try:
        node = yamltree.read(yamltree.decode(data, path, _FACTS_LIMIT), path)
    except yamltree.YamlError as error:
        raise AhpError(f"{path} is neither YAML nor JSON: {str(error).splitlines()[0]}") from None
    given = node.plain() if node else None
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise AhpError(f"{path} is no mapping of namespaces, like `files: {{changed_count: 3}}`")
    return {name: fields if isinstance(fields, dict) else {"": fields} for name, fields in given.items()}
