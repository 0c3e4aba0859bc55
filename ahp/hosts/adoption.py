"""A project's first policy: written from what is there, held against its past, its commands accepted (design §10)."""

import os
import re
from collections import Counter
from dataclasses import dataclass, field

from ahp.conditions import evaluate, guards
from ahp.facts.default_branch import default_branch
from ahp.hosts import command_trust, history, table
from ahp.policy import compile as compiling
from ahp.policy import layers, lint, starter, survey
from ahp.policy.cache import PROJECT
from ahp.policy.problems import PolicyError, nearest
from ahp.policy.rule import Policy
from ahp.policy.sources import TextSource, packs
from ahp.policy.starter import Plan
from ahp.protocol.event import Actor, Workspace
from ahp.protocol.text import one_line
from ahp.system import files, installed, terminal
from ahp.system.commits import Past, commits
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.terminal import Seen, unseen
from ahp.system.worktree import WorkTreeView

FIRST_TEST = "/.ahp/tests/first.yaml"
_LOOKED_AT = 100
_SUBJECTS = (1000, 50_000)  # latest subjects, and all: a type of commit may be new, or rest for long
_REVIEWED = re.compile(r"\(#[0-9]+\)|^Merge |^Revert \"")  # what a pull request leaves on the default branch
_MEANT = 30  # globs of tracked files
_YOUNG = 10  # commits a project has while it is tried out
_SOME = 10  # one direct commit in so many is a habit, not an accident


@dataclass
class Adoption:
    """What `adopt` did: the policy's path, what was found, the judgement of the past, and the trusted commands.

    `waiting` are commands that a person must still trust; `on_default` says that the default branch is checked out.
    """

    path: str
    plan: Plan
    policy: Policy
    tally: history.Tally
    trusted: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    on_default: bool = True


def adopt(
    where: Workspace,
    actor: Actor,
    wanted: tuple[str, ...] = (),
    force: bool = False,
    seen: Seen = unseen,
) -> Adoption:
    """Writes `.ahp/hooks.yaml` for the repository there; its commands are accepted where `actor` is a person at a
    terminal.

    `wanted` are packs besides those that fit; `seen` is told how many past commits were judged, and of how many.
    Raises AhpError when a policy is there (unless `force`), for a folder without work tree, for a pack that does not
    exist, and when the user's own layer does not go with it.
    """
    repo = where.repo
    if repo is None:
        raise AhpError("a policy belongs to a git work tree; make one first: git init")
    if not repo.root:
        raise AhpError("this repository is bare, and a policy belongs to a work tree: write it in a clone, and push it")
    for name in wanted:
        if name not in packs():
            raise AhpError(f"there is no pack {one_line(name)}{nearest(name, packs())}")
    path = repo.root + PROJECT
    if os.path.lexists(path) and not force:
        raise AhpError(
            f"{PROJECT[1:]} is there already, and stays: `ahp try` holds it against the past, `ahp policy lint` checks "
            "it, `ahp init --force` writes it anew"
        )
    cut = repo.shallow()  # the whole tree would count as what such a commit adds
    past = [commit for commit in commits(repo, limit=_LOOKED_AT) if commit.id not in cut]
    of_hosts = [pack for name in table.able("packs") for pack in table.host(name).packs(repo.root)]
    found = survey.look(WorkTreeView(repo), agents="agents" in of_hosts)
    chosen = starter.packs_for(found, [commit.subject for commit in past])
    packs_wanted = list(dict.fromkeys([*chosen, *of_hosts, *wanted]))
    plan = Plan(found, packs_wanted, _unknown_default(repo), installed.for_everybody())
    policy = _policy(plan)
    usual = policy.limits().get("commit_types")
    if isinstance(usual, list):
        arguments = [f"--max-count={_SUBJECTS[-1]}", "--format=%s"]
        subjects = repo.run("log", "-z", *arguments, "--").decode("utf-8", "replace").split("\0")
        own = [kind for n in _SUBJECTS for kind in starter.types_for(subjects[:n], usual)]
        types = [*dict.fromkeys([*usual, *own, *found.commit_types])]
        plan.types = types if len(types) > len(usual) else []
    plan.meant = _meant(repo, policy)
    policy = _policy(plan)
    tally = history.judge(repo, history.enforced(policy), past, seen)
    _soften(plan, repo, tally, policy, past)
    _write(repo.root, starter.write(plan), starter.first_test(plan))
    on_default = repo.branch() in (default_branch(repo), plan.branch)
    done = Adoption(PROJECT[1:], plan, _compiled(where), tally, on_default=on_default)
    _trust(where, actor, done)
    return done


def _meant(repo: Repository, policy: Policy) -> list[str]:
    """Globs of the tracked files that rules about names would name: who keeps them in git means to."""
    listed = os.fsdecode(repo.run("ls-files", "-z", "--cached", "--eol")).split("\0")
    kinds = {path: kind.startswith("i/-text") for kind, _, path in (line.partition("\t") for line in listed) if path}
    binary = [path for path, is_binary in kinds.items() if is_binary and os.path.isfile(f"{repo.root}/{path}")]
    changes = [{"path": path, "bytes": os.path.getsize(f"{repo.root}/{path}")} for path in binary]
    known = {"added": [*kinds], "binary": binary, "deleted": [], "changes": changes}
    facts: dict[str, object] = {f"files.{name}": value for name, value in known.items()}
    found: Counter[str] = Counter()
    for rule in policy.rules:
        if rule.each is None or "limits.meant" not in rule.condition.text or not rule.reads <= facts.keys():
            continue
        var, paths = rule.each.var, sorted(rule.reads)
        slots = {path: at for at, path in enumerate([*paths, var])}
        names = evaluate.build(guards.as_fact(rule.condition.plan, var), slots)
        items = evaluate.closure(rule.each.plan, slots)([facts[path] for path in paths])
        found.update(_like(path) for path in items if names([*(facts[one] for one in paths), path]))
    return [pattern for pattern, _ in found.most_common(_MEANT) if pattern]


def _like(path: str) -> str:
    """The glob of files like this one: those of its ending beside it, or of its name where that begins with a dot."""
    folder, _, name = path.rpartition("/")
    if not path.isprintable() or not set("[]*?!\\").isdisjoint(path):
        return ""
    ending = os.path.splitext(name)[1]
    if not ending:
        return f"/{path}"
    return name if name.startswith(".") else f"/{folder}/*{ending}".replace("//", "/")


def _unknown_default(repo: Repository) -> str:
    """The branch that is checked out, when nothing else says which one is the default; it must be a plain name."""
    name = "" if default_branch(repo) else repo.branch()
    return name if name.isprintable() and name.isascii() else ""


def _policy(plan: Plan) -> Policy:
    return layers.load(TextSource(starter.write(plan), PROJECT[1:]))


def _soften(plan: Plan, repo: Repository, tally: history.Tally, policy: Policy, past: list[Past]) -> None:
    """Has rules watch that would have stopped what this project does, and those ask that refused a little."""
    for key in dict.fromkeys(rule.key for rule in policy.rules):
        blocked = [one for one in tally.of(key) if one.level == "block"]
        stopped = {one.commit.id for one in blocked}
        if stopped:
            last = f"the last one {blocked[0].commit.id[:10]}: {blocked[0].message}"
            reason = f"It would have blocked {len(stopped)} of the last {tally.judged} commits, {last}."
            (plan.watched if len(stopped) * _SOME >= tally.judged else plan.asked)[key] = reason
    for rule in policy.rules:
        # Whether words are well chosen is no danger; what a project wrote a thousand commits ago it may write again.
        is_style = rule.trigger == "commit-msg" and all(path.startswith("commit.") for path in rule.reads)
        if is_style and rule.always_blocks and rule.key not in plan.watched:
            plan.asked.setdefault(rule.key, "It is about the words of a message.")
    authors = {commit.author.rpartition("<")[2].lower() for commit in past}
    direct, total = _direct(repo)
    if len(past) < _YOUNG:
        plan.asked["protect-main"] = f"The project has fewer than {_YOUNG} commits."
    elif len(authors) == 1:
        plan.asked["protect-main"] = f"One author made the last {len(past)} commits."
    elif total and direct * _SOME >= total:
        reason = f"{direct} of the last {total} commits went to the default branch without a review."
        plan.watched["protect-main"] = reason


def _direct(repo: Repository) -> tuple[int, int]:
    """(commits that went straight to the default branch, commits looked at); the very first one aside."""
    name = default_branch(repo) or repo.branch()
    ref = next((r for r in (f"refs/remotes/origin/{name}", f"refs/heads/{name}") if repo.commit_id(r)), "")
    if not name or not ref:
        return 0, 0
    arguments = ["--first-parent", f"--max-count={_LOOKED_AT}", "--format=%p%x00%s"]
    log = repo.run("log", "-z", *arguments, ref, "--").decode("utf-8", "replace").split("\0")
    commits = [(parents, subject) for parents, subject in zip(log[::2], log[1::2], strict=False) if parents]
    direct = [subject for parents, subject in commits if " " not in parents and not _REVIEWED.search(subject)]
    return len(direct), len(commits)


def _write(root: str, text: str, test: str) -> None:
    """The policy, its first test, and a .gitignore that keeps a person's own layer out of the repository."""
    folder = root + "/.ahp"
    try:
        # for everybody who may read the work tree, unlike ahp's own folders
        os.makedirs(folder + "/tests", exist_ok=True)
    except OSError as error:
        raise AhpError(f"cannot make the folder {folder}: {error.strerror}") from None
    files.replace(root + PROJECT, text.encode(), 0o644)
    if not os.listdir(folder + "/tests"):
        files.replace(root + FIRST_TEST, test.encode(), 0o644)
    ignore = folder + "/.gitignore"
    if not os.path.lexists(ignore):
        files.replace(ignore, b"hooks.local.yaml\n", 0o644)


def _compiled(where: Workspace) -> Policy:
    """Compiled and stored, so that the first commit finds it ready, and its conditions asked of both evaluators."""
    try:
        policy = compiling.build(where.root, where.journal, where.user_policy)[0]
    except PolicyError as error:
        raise AhpError(f"{PROJECT[1:]} is written, but does not go with your own layer:\n{error}") from None
    lint.compare_evaluators(policy)
    return policy


def _trust(where: Workspace, actor: Actor, done: Adoption) -> None:
    """Accepts the commands of the policy that was just written; only for a person at a terminal."""
    specs, new = command_trust.of_policy(done.policy, where)
    written = {name: new[name] for name in new if name.removeprefix("facts.") in done.plan.survey.tools}
    if written and actor.kind == "human" and terminal.attended():
        command_trust.accept(written, actor, where)
    else:
        written = {}
    # What a person's own layer brings was not written here, and nobody has looked at it yet.
    done.waiting = [name for name in new if name not in written]
    done.trusted = [name for name in specs if name not in done.waiting]
