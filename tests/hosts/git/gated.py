"""A repository with the shims installed, and what its hooks said."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ahp.hosts import asking
from ahp.hosts.git import install as installing
from ahp.hosts.git.githooks import HOOKS, IDLE
from ahp.journal.append import Journal
from ahp.policy import cache, tree
from ahp.policy import compile as compiling
from ahp.system import git
from ahp.system.errors import AhpError
from tests.conftest import Repo

# Of a git command: no hook runs, not even post-commit.
SILENT = ("-c", "core.hooksPath=/dev/null")
_BAKED_USER = re.compile("^user=(.*)$", re.MULTILINE)


class Said(NamedTuple):
    """How a command ended and what it printed on both streams."""

    code: int
    text: str


class Gated(Repo):
    """`Repo` with the gate in place. `.ahp/` is ignored, so that a test commits only what it is about."""

    cold = False  # whether the hooks compile what they need themselves

    def run(
        self, *argv: str | bytes, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        if {"commit", "push", "merge"} & set(argv):
            self._warm_what_loads()
        return super().run(*argv, stdin=stdin, env=env)

    @property
    def folder(self) -> Path:
        """The ahp folder of the repository."""
        return self.root / ".git" / "ahp"

    def repository(self) -> git.Repository:
        return git.discover(str(self.root), dict(os.environ))

    def policy(self, text: str) -> None:
        """Puts the policy in place, compiled: the hooks of the test start warm."""
        self.write(".ahp/hooks.yaml", text)
        self.warm()

    def commit_policy(self, text: str) -> str:
        """Puts the policy in place and commits it past the hooks; the commit's id."""
        self.policy(text)
        self.git("add", "--force", ".ahp/hooks.yaml")
        self.git(*SILENT, "commit", "--quiet", "--message", "policy", "--", ".ahp/hooks.yaml")
        compiling.committed(tree.of_commit(self.repository(), "HEAD"), str(self.folder))
        return self.head()

    def warm(self) -> None:
        compiling.build(str(self.root), str(self.folder), str(self.user_policy))

    def _warm_what_loads(self) -> None:
        """Compiles the policies here and of HEAD that are not compiled yet, as the first hook would.

        Its process would have to load the compiler for that, which takes far longer. What does not load is left to it;
        `cold` leaves it all.
        """
        if self.cold:
            return
        with contextlib.suppress(AhpError):
            repo = self.repository()
            folder, shim = repo.ahp_dir, Path(repo.common_dir, "hooks", "pre-commit")
            if (
                not repo.root
                or not shim.is_file()
                or not (baked := _BAKED_USER.search(shim.read_text(errors="surrogateescape")))
            ):
                return
            user = asking.layer_by_hook(*shlex.split(baked[1]))
            if user not in ("", str(self.user_policy)):
                return  # a process has installed it, for the person who runs the tests
            with contextlib.suppress(AhpError):
                if cache.find(repo.root, folder, "pre-commit", user) is None:
                    compiling.build(repo.root, folder, user)
            head = tree.of_commit(repo, "HEAD")
            if head.has_policy and cache.find_committed(head, folder, "pre-commit") is None:
                compiling.committed(head, folder)

    @property
    def user_policy(self) -> Path:
        return self.root.parent / "user" / "hooks.yaml"

    def say(
        self, *arguments: str | bytes, env: Mapping[str, str] | None = None, at: str = "", stdin: bytes = b""
    ) -> Said:
        """What `git arguments` said, run in the folder `at` of the repository, with the policies compiled before."""
        self._warm_what_loads()
        done = Repo(self.root / at).run("git", *arguments, env=env, stdin=stdin)
        return Said(done.returncode, os.fsdecode(done.stdout + done.stderr))

    def log(self, kind: str = "") -> list[dict[str, Any]]:
        """The records of the log, of one kind or all."""
        path = self.folder / "signals.jsonl"
        records = [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []
        return [record for record in records if not kind or record["kind"] == kind]

    def judged(self) -> list[tuple[str, str]]:
        """(hook, decision) of every evaluation in the log."""
        return [(r["hook"], r["decision"]) for r in self.log("verdict")]


def make(root: Path) -> Gated:
    """A repository on `main` with one commit and the gate installed, but without a policy."""
    root.mkdir(parents=True)
    made = Gated(root)
    made.git("init", "--quiet")
    made.commit("first", README="text\n")
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "exclude").write_text("/.ahp/\n")
    installing.install(made.repository(), str(made.user_policy))
    return made


def shims(of: Gated) -> list[Path]:
    """The files of the installed hooks; commit-msg's may lie idle."""
    folder = of.root / ".git" / "hooks"
    return [path if path.exists() else Path(f"{path}{IDLE}") for path in (folder / hook for hook in HOOKS)]


def copy(of: Gated, root: Path) -> Gated:
    """`of` at another place: what was baked for the one is baked for the other."""
    shutil.copytree(of.root, root, symlinks=True)
    made = Gated(root)
    for path in (*shims(made), root / ".git" / "ahp" / "install.json"):
        path.write_bytes(path.read_bytes().replace(bytes(of.root.parent), bytes(root.parent)))
    Journal(str(made.folder)).index()  # a copied log is another file: its index is made anew
    return made


def count_starts(gated: Gated, tmp: Path) -> Path:
    """Puts a wrapper in the interpreter's place; the file it returns gets a line for each start of Python."""
    starts, wrapper = tmp / "starts", tmp / "python"
    for path in shims(gated):
        lines = path.read_text().splitlines(keepends=True)
        (real,) = [line.removeprefix("python=").rstrip("\n") for line in lines if line.startswith("python=")]
        wrapper.write_text(f'#!/bin/sh\necho "$4 $5" >>{starts}\nexec {real} "$@"\n')
        wrapper.chmod(0o755)
        path.write_text("".join([f"python={wrapper}\n" if line.startswith("python=") else line for line in lines]))
    starts.write_text("")
    return starts
