"""Scratch repositories in a home of their own, each behind another hook."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bench.measure import Broken, Row

POLICIES = Path(__file__).parent / "policies"
STAGED = 20

# The same no-op for both peers: it is given the staged files, as a linter is.
NOOP_CONFIG = """\
repos:
  - repo: local
    hooks:
      - {id: noop, name: noop, entry: "true", language: system, stages: [STAGES]}
"""

GIT_CONFIG = """\
[user]
\tname = Bench Person
\temail = bench@example.org
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[maintenance]
\tauto = false
[commit]
\tgpgSign = false
"""


class Scratch:
    """A folder with a home of its own, the template repositories and their copies; `peers` has their programs."""

    def __init__(self, folder: Path, peers: Path) -> None:
        self.folder, self.peers = folder, peers
        self.output = folder / "output"
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / ".gitconfig").write_text(GIT_CONFIG)
        git = shutil.which("git")
        if git is None:
            raise Broken("git is not on PATH")
        # Nothing of the caller's: no agent's markers, no version manager's shims (70 ms each), no settings of git.
        self.env = {
            "HOME": str(self.home),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "PRE_COMMIT_HOME": str(self.home / ".cache/pre-commit"),
            "PREK_HOME": str(self.home / ".cache/prek"),
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PATH": os.pathsep.join(dict.fromkeys([os.path.dirname(git), "/usr/local/bin", "/usr/bin", "/bin"])),
            "LC_ALL": "C.UTF-8",
        }

    def run(self, cwd: Path, *argv: str | Path) -> str:
        """What the command printed; Broken with that text when it failed."""
        done = subprocess.run(argv, cwd=cwd, env=self.env, text=True, capture_output=True, check=False)
        if done.returncode:
            words = " ".join(map(str, argv))
            raise Broken(f"{words} exited with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def template(self, files: int) -> Path:
        """A clone, as most repositories are, with one commit of this many Python files, 25 a folder, 40 lines each.

        Made once.
        """
        root = self.folder / f"template-{files}"
        if not root.exists():
            origin = self.folder / f"origin-{files}.git"
            root.mkdir()
            for number in range(files):
                path = _path(root, number)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f"value_{line} = {number * line}\n" for line in range(40)))
            self.run(root, "git", "init", "--quiet")
            self.run(root, "git", "add", "--all")
            self.run(root, "git", "commit", "--quiet", "--message", "The files")
            self.run(self.folder, "git", "clone", "--quiet", "--bare", root, origin)
            self.run(root, "git", "remote", "add", "origin", str(origin))
            self.run(root, "git", "fetch", "--quiet", "origin")
            self.run(root, "git", "remote", "set-head", "origin", "--auto")
            self.run(root, "git", "switch", "--quiet", "--create", "feature/bench")
        return root

    def repository(self, name: str, files: int, prepare: Callable[[Path], None]) -> Path:
        """A copy of the template with its hook in place (`prepare`, then one commit) and STAGED edits staged."""
        root = self.folder / name.replace(" ", "-").replace("/", "-")
        shutil.copytree(self.template(files), root)
        prepare(root)
        self.run(root, "git", "add", "--all")
        self.run(root, "git", "commit", "--quiet", "--no-verify", "--allow-empty", "--message", "The configuration")
        for number in range(0, files, files // STAGED):
            with _path(root, number).open("a") as file:
                file.write("edited = True\n")
        self.run(root, "git", "add", "--update")
        # The copied files are new to the file system: without this git would read them all again in every commit.
        self.run(root, "git", "update-index", "-q", "--refresh")
        return root

    def commit(self, name: str, prepare: Callable[[Path], None], *, files: int = 500, expect: int = 0) -> Row:
        """A row that commits the staged edits again and again; between two runs HEAD goes back, the index stays."""
        root = self.repository(name, files, prepare)
        base = self.run(root, "git", "rev-parse", "HEAD").strip()

        def reset() -> None:
            self.run(root, "git", "reset", "--quiet", "--soft", base)

        return Row(name, ["git", "commit", "--quiet", "--message", "Edit"], root, self.env, expect, reset)


def _path(root: Path, number: int) -> Path:
    return root / "src" / f"package_{number // 25}" / f"module_{number}.py"


def no_hook(root: Path) -> None:
    """Git alone: the floor under all rows."""


def hooks(**lines: str) -> Callable[[Path], None]:
    """Hooks of one line of sh each, by name: `hooks(pre_commit="exit 0")`."""

    def prepare(root: Path) -> None:
        for name, line in lines.items():
            path = root / ".git/hooks" / name.replace("_", "-")
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\n{line}\n")
            path.chmod(0o755)

    return prepare


# The least a hook in Python can cost: the interpreter of the bench itself, not the link of its venv.
EMPTY_PYTHON = f"exec '{Path(sys.executable).resolve()}' -I -S -c pass"


def peer(scratch: Scratch, program: str, *stages: str) -> Callable[[Path], None]:
    """pre-commit or prek, installed by itself, with one no-op hook at each of the `stages`, pre-commit by default."""

    def prepare(root: Path) -> None:
        names = stages or ("pre-commit",)
        (root / ".pre-commit-config.yaml").write_text(NOOP_CONFIG.replace("STAGES", ", ".join(names)))
        scratch.run(root, scratch.peers / program, "install", *[f"--hook-type={name}" for name in names])

    return prepare


def ahp(scratch: Scratch, policy: str) -> Callable[[Path], None]:
    """ahp, installed by itself, every shim, with this text as the project's policy."""

    def prepare(root: Path) -> None:
        (root / ".ahp").mkdir()
        (root / ".ahp/hooks.yaml").write_text(policy)
        program = Path(sys.executable).with_name("ahp")
        scratch.run(root, program, "install", "git")
        scratch.run(root, program, "policy", "show")  # compiles: the rows begin with a warm cache

    return prepare


def policy(name: str) -> str:
    """The text of bench/policies/NAME.yaml."""
    return (POLICIES / f"{name}.yaml").read_text()
