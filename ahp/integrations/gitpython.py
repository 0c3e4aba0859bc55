"""GitPython behind the gate: what it commits and pushes is judged before a ref moves (docs/embedding.md).

Where ahp's hooks are in place and run, they judge. What goes past them is asked here, of the same gate.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import git
from git.util import IterableList

from ahp.hosts.api import Gate
from ahp.hosts.git import pre_push, probe
from ahp.hosts.git.pre_push import AskedPush, as_one
from ahp.integrations.calls import Refused
from ahp.protocol.event import Event, PushRef
from ahp.protocol.verdict import Verdict
from ahp.system import environ, files
from ahp.system import git as git_here
from ahp.system.errors import AhpError

_NOT_READ = {"objectformat": ("sha1", "SHA-256 objects"), "refstorage": ("files", "reftable")}


def guard(repo: git.Repo) -> "GuardedRepo":
    """The same repository; its `index`, `remote()` and `remotes` ask the gate. Raises AhpError for one of another form.

    Who acts is told by the environment's markers (`AHP_AGENT=mybot`), as hooks know it.
    """
    folder = str(repo.working_tree_dir or repo.git_dir)
    with repo.config_reader("repository") as config:
        section = config.items("extensions") if config.has_section("extensions") else []
    known = {key.lower(): str(value).lower() for key, value in section}
    for key, (readable, name) in _NOT_READ.items():
        if known.get(key, readable) != readable:
            raise AhpError(f"{folder} has {name}, which GitPython does not read: run git there, ask Gate({folder!r})")
    return GuardedRepo(folder, odbt=type(repo.odb))


class GuardedRepo(git.Repo):
    """A `git.Repo` whose commits and pushes are judged. Raises Refused, AhpError where they cannot be."""

    @property
    def gate(self) -> Gate:
        """The gate of this repository."""
        return Gate(str(self.working_tree_dir or self.git_dir), host="gitpython")

    @property
    def index(self) -> "GuardedIndex":
        return GuardedIndex(self)

    def remote(self, name: str = "origin") -> "GuardedRemote":
        return GuardedRemote(self, super().remote(name).name)

    @property
    def remotes(self) -> IterableList[git.Remote]:
        found: IterableList[git.Remote] = IterableList("name")
        found.extend(self.remote(one.name) for one in super().remotes)
        return found

    def judge_range(self, old: str, new: str) -> Verdict:
        """What a push that moves a branch from one of its commits to another would be told; nothing is logged."""
        branch = f"refs/heads/{self.head.ref.name if not self.head.is_detached else 'HEAD'}"
        push = PushRef(branch, self.commit(new).hexsha, branch, self.commit(old).hexsha)
        return _push_verdict(self.gate.event("pre-push", dry=True), [push], "")

    def ask(self, trigger: str) -> None:
        """Asks the gate for real. Raises Refused."""
        self.refuse(self.gate.judge(trigger))

    def refuse(self, verdict: Verdict) -> None:
        """Raises Refused where a verdict says so."""
        if verdict.denied:
            raise Refused(self.gate.text(verdict), verdict)

    def is_judged_by(self, *hooks: str) -> bool:
        """Whether ahp's hooks of these names are where git looks for them."""
        own = git_here.discover(str(self.working_tree_dir or self.git_dir), environ.current())
        return not any(probe.obstacle(own, hook) for hook in hooks)

    def ask_push(self, remote: str, refspecs: Sequence[str], options: dict[str, Any]) -> None:
        """Asks for what `git push` lists in a dry run. Raises Refused."""
        options = {name: value for name, value in options.items() if not name.startswith("allow_unsafe")}
        options |= {"dry_run": True, "porcelain": True, "no_verify": True, "with_exceptions": False}
        listed = str(self.git.push("--", remote, *refspecs, **options))
        urls = str(self.git.remote("get-url", "--push", "--all", remote)).splitlines()
        event = self.gate.event("pre-push")
        self.refuse(_push_verdict(event, list(self._pushed(listed, urls)), remote))

    def _pushed(self, listed: str, urls: Sequence[str]) -> Iterator[PushRef]:
        """The refs of `git push --porcelain`, for one address after the other, with what each has now."""
        left = iter(urls)
        there: dict[str, str] = {}
        for line in listed.splitlines():
            if line.startswith("To "):
                lines = str(self.git.ls_remote("--", next(left))).splitlines()
                there = {ref: oid for oid, _, ref in (one.partition("\t") for one in lines)}
            flag, tab, rest = line.partition("\t")
            here, _, ref = rest.partition("\t")[0].rpartition(":")
            if tab and flag.strip() not in ("!", "="):  # git rejects the one, the other is there
                zero = "0" * 40
                oid = str(self.git.rev_parse("--verify", here)) if here else zero
                pushed = PushRef(here or "(delete)", oid, ref, there.get(ref, zero))
                pushed.forced = flag == "+"
                yield pushed


class GuardedIndex(git.IndexFile):
    """The index of a guarded repository."""

    repo: GuardedRepo

    def commit(  # the rest is handed on as it is
        self, message: str, parent_commits: Any = None, head: bool = True, *rest: Any, **named: Any
    ) -> git.Commit:
        """As GitPython's, judged also with `skip_hooks`. With `head=False` no ref moves, so nothing is asked."""
        if not head:
            return super().commit(message, parent_commits, False, *rest, **named)
        if parent_commits is not None or self.path != os.path.join(self.repo.git_dir, "index"):
            raise AhpError(
                "guard() judges commits of the repository's index on HEAD. Make another one with head=False, "
                "ask repo.judge_range('HEAD', made), then move the branch"
            )
        if not named.get("skip_hooks") and not rest and self.repo.is_judged_by("pre-commit", "commit-msg"):
            return super().commit(message, **named)
        self.write()
        draft = super().commit(message, None, False, *rest, **{**named, "skip_hooks": True})
        said = os.path.join(self.repo.git_dir, "COMMIT_EDITMSG")  # with its trailers
        files.replace(said, draft.message if isinstance(draft.message, bytes) else draft.message.encode())
        self.repo.ask("pre-commit")
        self.repo.ask("commit-msg")
        made = super().commit(message, None, True, *rest, **named)
        self.repo.gate.judge("post-commit")
        return made


class GuardedRemote(git.Remote):
    """A remote of a guarded repository."""

    repo: GuardedRepo

    def push(  # the rest is handed on as it is
        self, refspec: Any = None, *rest: Any, **named: Any
    ) -> Any:
        """As GitPython's, judged also with `no_verify`."""
        # git takes the beginning of an option for the whole of it.
        unseen = any(value and name.replace("_", "-").startswith("no-v") for name, value in named.items())
        if unseen or not self.repo.is_judged_by("pre-push"):
            self.repo.ask_push(self.name, [refspec] if isinstance(refspec, str) else list(refspec or ()), named)
        return super().push(refspec, *rest, **named)


def _push_verdict(event: Event, refs: Sequence[PushRef], remote: str) -> Verdict:
    event.attempt = event.attempt or os.urandom(8).hex()
    return as_one(event, list(pre_push.judge_refs(AskedPush(event, remote), refs, remote)))
