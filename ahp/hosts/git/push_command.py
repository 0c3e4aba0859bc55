"""The `git push` that started a pre-push hook: what it was told of which git says nothing to its hooks.

git lists a ref that it will reject, as not fetched yet or as a tag that is there already, like one that is forced; and
of what `--mirror` deletes it lists nothing.
"""

import os
import shlex

from ahp.facts.default_branch import default_branch
from ahp.facts.registry import Absent
from ahp.gate.decide import decide
from ahp.hosts.git.githooks import Hook
from ahp.policy import policies, targets
from ahp.protocol.event import PushRef
from ahp.protocol.text import one_line, without_credentials
from ahp.protocol.verdict import Verdict
from ahp.system import terminal, tracking
from ahp.system.git import Repository
from ahp.system.history import RangeView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.shell.git import GitCommand

_UNFORCED = "--force-if-includes"  # which forces nothing by itself
_HERE = ("HEAD", "@")
_BRANCHES = "refs/heads/"
_DELETED = "(delete)"  # git's own word in the place of a local ref
_ANY = "refs/*"


class PushCommand:
    """What the nearest `git push` above this process was told about one remote, by its command line, where that is
    known, and by git's configuration.
    """

    def __init__(self, repo: Repository, remote: str) -> None:
        self._repo, self._remote = repo, remote
        self._lines = _command_lines()
        self._read: list[GitCommand | None] = []
        self._forcing: list[str] | None = None

    def mirrors(self) -> bool:
        """Whether all that only the remote has is deleted there, as far as is known. Raises GitError."""
        if self.mirrors_by_setting():
            return True
        # To read a command line takes longer than to look for the only option of `git push` that begins so.
        told = any(word.startswith("--m") for words in self._lines for word in words)
        return told and (usage := self._usage()) is not None and "--mirror" in usage.flags

    def mirrors_by_setting(self) -> bool:
        """Whether git's configuration says so of the remote. Raises GitError."""
        if not self._repo.may_set("mirror") and not any("GIT_CONFIG" in name for name in self._repo.env):
            return False
        return self._repo.line("config", "--type=bool", "--get", f"remote.{self._remote}.mirror", ok=(0, 1)) == "true"

    def forces(self, ref: PushRef) -> bool | None:
        """Whether it forces this ref, None where that is not known. Raises GitError."""
        usage = self._usage()
        if usage is None or os.path.exists(f"{self._repo.common_dir}/remotes/{self._remote}"):
            return None  # refspecs stand in that file, too (gitrepository-layout)
        if self._forcing is None:
            listed = self._repo.run("config", "-z", "--get-all", f"remote.{self._remote}.push", ok=(0, 1))
            told = [*usage.operands, *listed.decode("utf-8", "surrogateescape").split("\0")]
            self._forcing = [refspec[1:] for refspec in told if refspec.startswith("+")]
        flags = set(usage.flags) - {_UNFORCED}
        if flags & {"-f", "--mirror"} or any(flag.startswith("--forc") for flag in flags) or self.mirrors_by_setting():
            return True
        return any(_concerns(refspec, ref) for refspec in self._forcing)

    def _usage(self) -> "GitCommand | None":
        if not self._read:
            self._read.append(_nearest_push(self._lines))
        return self._read[0]


def _command_lines() -> list[list[str]]:
    """The command lines above this process that may be a `git push`, the nearest first; one that cannot be read is the
    last, and empty.
    """
    found: list[list[str]] = []
    for words in terminal.commands():
        if not words:
            return [*found, words]
        name = words[0].rpartition("/")[2]
        if name == "git-push" or (name == "git" and "push" in words):
            found.append(words if name == "git" else ["git", "push", *words[1:]])
    return found


def _nearest_push(lines: list[list[str]]) -> "GitCommand | None":
    from ahp.shell import git

    for words in lines:
        if not words:
            return None
        usage = git.read(words[1:])
        if usage.verb == "push":
            return usage
    return None


def _concerns(refspec: str, ref: PushRef) -> bool:
    """Whether a refspec, without its `+`, may be the one by which git moves `ref` (git-push(1))."""
    source, colon, target = refspec.partition(":")
    named, whole = (target, ref.remote_ref) if colon else (source, ref.local_ref)
    if not named or "*" in named or named in _HERE:
        return True
    return f"/{whole}".endswith((f"/{named}", f"/{named}/HEAD"))


def judge_deletions(hook: Hook, remote: str, command: PushCommand) -> Verdict | None:
    """What the rules about deletions say of refs that only the remote has; None without such a rule.

    Raises AhpError.
    """
    repo = hook.repo
    zero = "0" * len(repo.empty_tree())
    event = hook.event()
    event.push, event.remote = PushRef(_DELETED, zero, _ANY, zero), without_credentials(remote)
    event.view = RangeView(repo, repo.empty_tree(), repo.empty_tree())
    default = default_branch(repo, tracking.remote_of(repo, remote))
    is_kept = bool(default) and repo.has_ref(_BRANCHES + default)
    unknown = Absent("git does not list what --mirror deletes", unknowable=True)
    event.given = {
        "push": {
            **dict.fromkeys(("ref", "is_tag", "local_ref"), unknown),
            "remote": event.remote,
            "is_delete": True,
            "is_new": False,
            "is_force": False,
            "commit_count": 0,
            "messages": [],
        },
        "branch": {
            **dict.fromkeys(("name", "target", "ahead", "behind"), unknown),
            "is_default": False if is_kept else unknown,
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
        off = f"-c {shlex.quote(f'remote.{event.remote}.mirror=false')} " if command.mirrors_by_setting() else ""
        listed = f"git {off}push --prune {shlex.quote(event.remote)} '+refs/*:refs/*'"
        verdict.notes.append(f"{said}: {one_line(listed, 300)}")
    return verdict
