"""A person's clone with two remotes and a colleague, in one folder; what git shows of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ahp.hosts.git import install as installing
from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated

_STATES = (
    *("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD", "COMMIT_EDITMSG"),
    *("rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG", "ORIG_HEAD"),
)
# Editors: the one adds a line, the other takes a verb of VERBS for each commit of a todo list but the first, which may
# be nothing but a pick.
TYPE, TODO = 'sh "$WORLD/type.sh"', 'sh "$WORLD/todo.sh"'
_SCRIPTS = {
    "type.sh": 'echo "typed" >>"$1"',
    "todo.sh": """\
first=yes
while IFS= read -r line; do
    case $line in "pick "*)
        [ -n "$first" ] || { line="${VERBS%%,*} ${line#pick }"; VERBS=${VERBS#*,}; }
        first=;;
    esac
    printf '%s\\n' "$line"
done <"$1" >"$1.new"
mv "$1.new" "$1"
""",
}
_FIRST = {"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n", "d/c.txt": "c\n", "keep.txt": "kept\n" * 20}


class Done(NamedTuple):
    """How a command ended and what it printed, without the place of the world."""

    code: int
    text: str


class World:
    """`here` is the clone that is worked in, `there` a colleague's; `origin.git` and `second.git` are bare."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.here, self.clock = folder, folder / "here", 1_700_000_000

    def run(
        self,
        *argv: str,
        at: str = "here",
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        check: bool = False,
    ) -> Done:
        """Runs a command in a folder of the world, at the next second of its clock."""
        self.clock += 1
        stamp = f"{self.clock} +0000"
        more = {"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp, "WORLD": str(self.folder), **(env or {})}
        done = subprocess.run(
            argv, cwd=self.folder / at, input=stdin, capture_output=True, env={**os.environ, **more}, check=False
        )
        text = os.fsdecode(done.stdout + b"\n" + done.stderr).replace(str(self.folder), "WORLD").strip()
        if check and done.returncode:
            raise AssertionError(f"{argv} exited with {done.returncode}: {text}")
        return Done(done.returncode, text)

    def lines(self, *arguments: str, at: str = "here") -> list[str]:
        """What git prints, by lines; none where it fails. The world's clock stands still."""
        done = subprocess.run(["git", *arguments], cwd=self.folder / at, capture_output=True, check=False)
        return [] if done.returncode else os.fsdecode(done.stdout).splitlines()

    def branches(self) -> list[str]:
        """The local branches."""
        return self.lines("for-each-ref", "--format=%(refname:short)", "refs/heads")

    def commits(self) -> list[str]:
        """The newest commits of branches and tags; those of notes and stashes lack the policy, and a root brings it."""
        return self.lines("rev-list", "--branches", "--remotes", "--tags", "--min-parents=1", "--max-count=15")

    def doing(self) -> str:
        """What has to be continued or given up, as git's command of it; "" for nothing."""
        git = self.here / ".git"
        if (git / "rebase-apply/applying").exists():
            return "am"
        if (git / "rebase-merge").exists() or (git / "rebase-apply").exists():
            return "rebase"
        for name, command in (("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick"), ("REVERT_HEAD", "revert")):
            if (git / name).exists():
                return command
        todo = git / "sequencer/todo"
        return ("revert" if todo.read_text().startswith("revert") else "cherry-pick") if todo.exists() else ""

    def unmerged(self) -> list[str]:
        """The paths in conflict."""
        return sorted({line.split("\t", 1)[1] for line in self.lines("-c", "core.quotePath=off", "ls-files", "-u")})

    def snapshot(self) -> dict[str, object]:
        """All that git keeps and shows of it: HEAD, refs, reflog, index, files, and what is going on."""
        git = self.here / ".git"
        text = {name: os.fsdecode((git / name).read_bytes()) for name in _STATES if (git / name).is_file()}
        return {
            "head": (git / "HEAD").read_text(),
            "refs": self.lines("for-each-ref", "--format=%(refname) %(objectname) %(symref)"),
            "log": os.fsdecode((git / "logs/HEAD").read_bytes()) if (git / "logs/HEAD").exists() else "",
            "index": self.lines("ls-files", "--stage"),
            "files": dict(sorted(_files(self.here))),
            "doing": sorted(name for name in _STATES if (git / name).exists()),
            "texts": {name: said.replace(str(self.folder), "WORLD") for name, said in text.items()},
            **{name: (self.folder / name / "packed-refs").exists() or _refs(self.folder / name) for name in _BARE},
        }

    def records(self) -> list[dict[str, Any]]:
        """The records of ahp's log."""
        path = self.here / ".git/ahp/signals.jsonl"
        return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


_BARE = ("origin.git", "second.git")


def _refs(bare: Path) -> list[tuple[str, str]]:
    found = [path for path in (bare / "refs").rglob("*") if path.is_file()]
    return sorted((str(path.relative_to(bare)), path.read_text()) for path in found)


def _files(root: Path) -> list[tuple[str, str]]:
    found = []
    for folder, folders, names in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in [*names, *[one for one in folders if os.path.islink(f"{folder}/{one}")]]:
            place = f"{folder}/{name}"
            what = os.readlink(place) if os.path.islink(place) else Path(place).read_bytes().hex()
            mode = oct(os.lstat(place).st_mode)
            found.append((os.path.relpath(place, root), f"{mode} {what}"))
    return found


def make(folder: Path, policy: str, prepare: Callable[[World], None] = lambda world: None) -> World:
    """A world with one commit, which has the policy, on `main` of everybody; the gate is installed after `prepare`."""
    (folder / "here").mkdir(parents=True)
    gated = Gated(folder / "here")
    world = World(folder)
    world.run("git", "init", "-q", check=True)
    for path, text in {**_FIRST, ".ahp/hooks.yaml": policy}.items():
        gated.write(path, text)
    world.run("git", "add", "-A", check=True)
    world.run("git", "commit", "-q", "-m", "the first of all", check=True)
    for name, text in _SCRIPTS.items():
        (folder / name).write_text(text)
    for name in _BARE:
        world.run("git", "init", "-q", "--bare", name, at=".", check=True)
    world.run("git", "remote", "add", "origin", "../origin.git", check=True)
    world.run("git", "push", "-q", "-u", "origin", "main", check=True)
    world.run("git", "remote", "set-head", "origin", "main", check=True)
    world.run("git", "remote", "add", "second", "../second.git", check=True)
    world.run("git", "clone", "-q", "origin.git", "there", at=".", check=True)
    for setting in (("user.name", "A Colleague"), ("user.email", "colleague@example.org")):
        world.run("git", "config", *setting, at="there", check=True)
    world.run("git", "remote", "set-url", "origin", "../origin.git", at="there", check=True)
    prepare(world)
    installing.install(gated.repository(), str(gated.user_policy))
    gated.warm()
    return world


def copy(of: World, folder: Path, *, gate: bool = True) -> World:
    """The same world at another place, with the gate or without."""
    shutil.copytree(of.folder, folder, symlinks=True)
    made = World(folder)
    made.clock = of.clock
    if gate:
        here = Gated(made.here)
        for path in (*making.shims(here), here.folder / "install.json"):
            path.write_bytes(path.read_bytes().replace(bytes(of.folder), bytes(folder)))
    else:
        shutil.rmtree(made.here / ".git/hooks")
        shutil.rmtree(made.here / ".git/ahp")
    return made
