"""The rules for agents: `ahp init` takes them where one works, `ahp install` where it puts hooks; `ahp doctor` misses
them. A host of its own (`ahp.hosts.table`), since they are the same for every client.
"""

import os

from ahp.agents import clients, install
from ahp.hosts.asking import user_policy
from ahp.hosts.table import Check
from ahp.policy import agent_rules, layers
from ahp.policy import tree as trees
from ahp.policy.agent_rules import PACK
from ahp.policy.cache import PROJECT
from ahp.policy.diff import compare
from ahp.policy.problems import PolicyError
from ahp.policy.rule import Policy
from ahp.policy.sources import FileSource, TreeSource
from ahp.policy.yamltext import MAX_BYTES
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.worktree import WorkTreeView


class _Proposed(FileSource):
    """The work tree's policy with other content in one of its files."""

    def __init__(self, root: str, user: str, path: str, data: bytes) -> None:
        super().__init__(root, user)
        self.path, self.data = path, data

    def _read(self, path: str, mend: str = "") -> bytes | None:
        return self.data if path == self.path else super()._read(path, mend)


def bring(repo: Repository, own: str, *, user: bool) -> str:
    """Has the project's policy extend the pack, or the user's `own`; what that means for a person, "" where rules for
    agents are there.

    Raises AhpError where the file cannot be written.
    """
    path = own if user else repo.root + PROJECT
    name = path if user else PROJECT[1:]
    try:
        if not user and not os.path.lexists(path):
            return "" if _of_head(repo) else "there is none here, so nothing is refused to agents; write one: ahp init"
        if agent_rules.are_in(_load(repo, own if user else "")):
            return ""
        after = agent_rules.extended(files.read(path, MAX_BYTES) or b"", name)
        changes = compare(_load(repo, own), layers.load(_Proposed(repo.root, own, path, after)))
        if any(change.weakens for change in changes):
            raise AhpError("with the pack other rules would say less")
    except AhpError as error:
        why = str(error).partition("\n")[0]
        return f"no rule for agents is in it; add {PACK} to `extends` in {name} by hand ({why})"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    files.replace(path, after, 0o644)
    share = "" if user else "; commit it, so that it holds for everybody"
    return f"{name} now extends the pack {PACK}: what agents may not do{share}"


def packs(root: str) -> list[str]:
    """The pack, where an agent works in the project or has our hooks."""
    works = any(install.works_in(root, client) or install.is_in(root, client) for client in clients.CLIENTS)
    return [PACK] if works else []


def examine(repo: Repository) -> list[Check]:
    """Whether the committed policy judges what agents do, where our hooks stand in the settings of one."""
    if not any(install.is_in(repo.root, client) for client in clients.CLIENTS):
        return []
    try:
        return [Check("agent rules", *_told(repo, user_policy()))]
    except PolicyError as error:
        return [Check("agent rules", "note", f"not known: {str(error).partition(chr(10))[0]}", "ahp policy lint")]


def _told(repo: Repository, own: str) -> tuple[str, str, str]:
    """Status, detail and fix. Raises PolicyError."""
    if _of_head(repo):
        return "ok", "in the committed policy", ""
    if agent_rules.are_in(_load(repo, "")):
        return "note", "not committed yet, so they hold in this work tree alone", "commit .ahp"
    if agent_rules.are_in(_load(repo, own)):
        return "ok", "in your own policy alone", ""
    why = "hooks are installed, and no rule of the committed policy reads `tool` or `actor` before a call: nothing "
    fix = f"add {PACK} to `extends` in {PROJECT[1:]} (ahp install does), and commit it"
    return "note", f"{why}that an agent does is refused, taking these hooks away included", fix


def _of_head(repo: Repository) -> bool:
    return agent_rules.are_in(layers.load(TreeSource(trees.of_commit(repo, "HEAD"), "HEAD")))


def _load(repo: Repository, own: str) -> Policy:
    """The work tree's policy: the project's file alone, or with the layers of the user."""
    return layers.load(FileSource(repo.root, own) if own else TreeSource(WorkTreeView(repo)))
