"""Clones of the project in which ahp is not installed: a push from one is judged as a push from here would be.

What is committed in them is nobody's business until it leaves: they are made to try something out, too.
"""

import os

from ahp.agents import git_gate
from ahp.agents.calls.call_paths import inside, joined
from ahp.hosts import verdict_text
from ahp.protocol.event import Event, Workspace
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
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


def made_and_pushed(event: Event) -> str:
    """What is told of a call that makes a clone of the project and pushes from it; "" where it does not."""
    if event.repo is None:
        return ""
    call = event.tool or {}
    listed, start = call.get("commands"), str(call.get("folder", ""))
    made: list[str] = []
    for one in listed if isinstance(listed, list) else []:
        if one["program"] != "git":
            continue
        folder = inside(one["folder"] or ".", event.root, start)
        if one["verb"] == "clone" and one["operands"]:
            source, *named = one["operands"]
            place = _resolved(source, f"{event.root}/{folder}" if not folder.startswith("/") else folder)
            if place in {_plain(real(event.root)), *_remotes(event.repo, event.root)}:
                target = named[0] if named else _plain(source).rpartition("/")[2]
                made.append(inside(target, event.root, joined(start, one["folder"])))
        elif one["verb"] == "push" and any((folder + "/").startswith(f"{place}/") for place in made):
            return verdict_text.in_order(
                f"ahp: nothing judges this push: {one_line(folder, 100)} is cloned by the call itself; push in a call "
                "of its own, and it is judged"
            )
    return ""


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
