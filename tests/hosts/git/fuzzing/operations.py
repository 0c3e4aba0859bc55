"""What people do with git, at random: an operation is drawn from what one world shows, and done in others too."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.hosts.git.fuzzing.world import TODO, TYPE, Done, World

NAMES = ("a.txt", "b.txt", "d/c.txt", "d/new.txt", "sp ace.txt", "ünï.txt", "link", "prog.sh", "wide.txt", "blob.bin")
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "-- x", "++ y", "@@ -1 +1 @@", "tab\there", "")
MESSAGES = ("add a thing", "fix: b", "feat(x)!: c\n\nbody\n\nSigned-off-by: A <a@b>", "#12 is a comment\nreal subject")
VERBS = ("pick", "pick", "reword", "edit", "squash", "fixup", "fixup -C", "drop")


class Step(NamedTuple):
    """One command, its input and environment, and the files that are written before it."""

    argv: tuple[str, ...]
    at: str = "here"
    stdin: bytes = b""
    env: dict[str, str] = {}  # noqa: RUF012  # never changed
    files: dict[str, bytes | str | None] = {}  # noqa: RUF012  # a text is where a link leads; None: gone


class Spice(NamedTuple):
    """What may break a rule: further names of files, lines in them, and messages."""

    names: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()


class Draw:
    """Draws the next operation from a world's state."""

    def __init__(self, random: Random, world: World, spice: Spice | None = None) -> None:
        self.random, self.world, self.spice = random, world, spice or Spice()

    def steps(self) -> list[Step]:
        """An operation: one command, or a few that belong together."""
        doing = self.world.doing()
        if doing and self.random.random() < 0.8:
            return self._go_on(doing)
        return self.random.choices(_OPERATIONS, _WEIGHTS)[0](self)

    # What is drawn.

    def one(self, *of: str) -> str:
        return self.random.choice(of)

    def name(self) -> str:
        if self.spice.names and self.random.random() < 0.08:
            return self.random.choice(self.spice.names)
        return self.random.choice(NAMES)

    def message(self) -> str:
        if self.spice.messages and self.random.random() < 0.1:
            return self.random.choice(self.spice.messages)
        return self.random.choice(MESSAGES)

    def text(self) -> bytes:
        words = [self.random.choice(WORDS) for _ in range(self.random.randint(1, 8))]
        if self.spice.words and self.random.random() < 0.1:
            words.insert(self.random.randrange(len(words)), self.random.choice(self.spice.words))
        return "".join(f"{word}\n" for word in words).encode()

    def files(self) -> dict[str, bytes | str | None]:
        found: dict[str, bytes | str | None] = {}
        for _ in range(self.random.randint(1, 3)):
            name = self.name()
            content: bytes | str | None = self.text()
            if name == "link":
                content = self.one("a.txt", "nowhere", "d")
            elif name == "wide.txt":
                content = "\n".join(self.random.choices(WORDS, k=4)).encode("utf-16")
            elif name == "blob.bin":
                content = bytes(self.random.randrange(256) for _ in range(20))
            elif self.random.random() < 0.1:
                content = None
            found[name] = content
        return found

    def commit(self) -> str:
        return self.random.choice(self.world.commits() or ["HEAD"])

    def branch(self) -> str:
        return self.random.choice(self.world.branches() or ["main"])

    def fresh(self) -> str:
        return f"{self.one('topic', 'feat/FEAT-0001', 'x')}-{self.random.randrange(10_000)}"

    # What is done.

    def edit(self) -> list[Step]:
        return [Step(("git", "add", "-A"), files=self.files())]

    def stage(self) -> list[Step]:
        files = self.files()
        name = next(iter(files))
        ways = (
            ("add", "--", name),
            ("add", "-N", "--", name),
            ("add", "-u"),
            ("rm", "-q", "-f", "--", name),
            ("rm", "-q", "--cached", "--", name),
            ("mv", name, self.name()),
            ("reset", "-q", "--", name),
            ("checkout", "HEAD", "--", name),
            ("restore", "--staged", "."),
            ("update-index", "--chmod=+x", "--", name),
        )
        if self.random.random() < 0.2:
            answers = "".join(self.one("y", "n", "s") + "\n" for _ in range(8)).encode()
            return [Step(("git", "add", "-p"), stdin=answers, files=files)]
        return [Step(("git", *self.random.choice(ways)), files=files)]

    def record(self) -> list[Step]:
        """`git commit` in one of its forms, after an edit."""
        files, message = self.files(), self.message()
        name = next(iter(files))
        edited = {"GIT_EDITOR": TYPE}
        ways: tuple[tuple[tuple[str, ...], dict[str, str], bytes], ...] = (
            (("-m", message), {}, b""),
            (("-m", message), {}, b""),
            (("-q", "-m", message), {}, b""),
            (("-a", "-m", message), {}, b""),
            (("-m", message, "--", name), {}, b""),
            (("-i", "-m", message, "--", name), {}, b""),
            (("-F", "-"), {}, message.encode()),
            (("--amend", "--no-edit"), {}, b""),
            (("--amend", "-m", message), {}, b""),
            (("--amend", "-a", "-C", "HEAD"), {}, b""),
            (("--allow-empty", "-m", message), {}, b""),
            ((f"--fixup={self.commit()}",), {}, b""),
            ((f"--squash={self.commit()}", "-m", "more"), {}, b""),
            (("-e", "-m", message), edited, b""),
            (("-v", "-e", "-m", message), edited, b""),
            (("-m", message, f"--cleanup={self.one('strip', 'whitespace', 'verbatim', 'scissors')}"), {}, b""),
            (("--no-verify", "-m", message), {}, b""),
            (("--dry-run", "-m", message), {}, b""),
        )
        options, env, stdin = self.random.choice(ways)
        add = [] if self.random.random() < 0.2 else [Step(("git", "add", "-A"), files=files)]
        return [*add, Step(("git", "commit", *options), env=env, stdin=stdin, files={} if add else files)]

    def switch(self) -> list[Step]:
        ways = (
            ("switch", "-q", self.branch()),
            ("switch", "-q", "-c", self.fresh()),
            ("switch", "-q", "-c", self.fresh(), self.commit()),
            ("checkout", "-q", "--detach"),
            ("checkout", "-q", self.branch()),
            ("checkout", "-q", "-f", self.branch()),
            ("branch", "-q", "-f", self.fresh(), self.commit()),
            ("branch", "-q", "-D", self.branch()),
        )
        return [Step(("git", *self.random.choice(ways)))]

    def merge(self) -> list[Step]:
        others = [self.branch(), self.one("origin/main", self.branch(), self.commit())]
        ways = (
            ("--no-edit", others[0]),
            ("--no-ff", "-m", self.message(), others[1]),
            ("--no-commit", "--no-ff", others[0]),
            ("--squash", others[0]),
            ("--no-edit", *others),
            ("--no-edit", "-X", self.one("ours", "theirs"), others[1]),
            ("--no-edit", "-s", "ours", others[0]),
            ("--ff-only", others[1]),
        )
        if self.random.random() < 0.12:  # one that takes back: an old commit is a parent, and the tree is its
            old, parents = self.commit(), self.one("HEAD -p $old", "$old -p HEAD")
            made = f'git commit-tree -p {parents} -m stale "$old^{{tree}}"'
            return [Step(("sh", "-c", f'old=$(git rev-parse {old}) && git reset -q --hard "$({made})"'))]
        return [Step(("git", "merge", *self.random.choice(ways)))]

    def pick(self) -> list[Step]:
        if not self.world.commits():
            return self.record()
        ways = (
            ("cherry-pick", self.commit()),
            ("cherry-pick", "-x", "--allow-empty", self.commit()),
            ("cherry-pick", "-n", self.commit()),
            ("cherry-pick", "-e", self.commit()),
            ("revert", "--no-edit", self.commit()),
            ("revert", "-n", self.commit()),
            ("cherry-pick", self.commit(), self.commit()),
        )
        return [Step(("git", *self.random.choice(ways)))]

    def rebase(self) -> list[Step]:
        verbs = ",".join(self.random.choice(VERBS) for _ in range(6))
        env = {"GIT_SEQUENCE_EDITOR": TODO if self.random.random() < 0.6 else "true", "VERBS": verbs}
        editor = {"GIT_EDITOR": TYPE} if self.random.random() < 0.5 else {}
        onto = self.one(self.branch(), "origin/main", "HEAD~2", "HEAD~1", "--root", self.commit())
        ways = (("-i",), ("-i", "--autosquash"), (), ("-r",), ("-i", "-r"), ("--exec", "true", "-i"), ("--autostash",))
        return [Step(("git", "rebase", "-q", *self.random.choice(ways), onto), env={**env, **editor})]

    def stash(self) -> list[Step]:
        ways = (("push",), ("push", "-u"), ("pop",), ("apply",), ("drop",), ("push", "-k"), ("pop", "--index"))
        return [Step(("git", "stash", *self.random.choice(ways)), files=self.files())]

    def mail(self) -> list[Step]:
        patch = "git format-patch -1 --stdout " + self.commit() + " | git am -q " + self.one("-3", "", "-k")
        return [Step(("sh", "-c", patch))]

    def reset(self) -> list[Step]:
        to = self.one("HEAD", "HEAD~1", "origin/main", self.commit())
        return [Step(("git", "reset", "-q", self.one("--soft", "--mixed", "--hard"), to))]

    def tag(self) -> list[Step]:
        name = f"v{self.random.randrange(1000)}"
        ways = (
            ("tag", name),
            ("tag", "-a", "-m", self.message(), name, self.commit()),
            ("notes", "add", "-f", "-m", "n"),
        )
        return [Step(("git", *self.random.choice(ways)))]

    def push(self) -> list[Step]:
        here, to = self.branch(), self.one("origin", "origin", "origin", "second")
        ways = (
            (to, here),
            (to, "HEAD:refs/heads/" + self.one(self.fresh(), "main", "shared")),
            ("-u", to, here),
            ("--force-with-lease", to, here),
            (to, "--tags"),
            (to, "--delete", here),
            (to, f"{self.commit()}:refs/heads/{self.fresh()}"),
            ("--dry-run", to, here),
            (to, "refs/notes/*:refs/notes/*"),
        )
        if self.random.random() < 0.25:  # where git does not know what the remote has, ahp cannot know what changes
            forced = ("--force", to, self.one(here, f"{self.commit()}:refs/heads/shared"))
            return [
                Step(("git", "fetch", "-q", to)),
                Step(("git", "push", *self.random.choice((forced, (to, "--all"))))),
            ]
        return [Step(("git", "push", *self.random.choice(ways)))]

    def pull(self) -> list[Step]:
        ways = (
            ("fetch", "-q", "--all"),
            ("pull", "-q", "--rebase", "origin", "main"),
            ("pull", "-q", "--no-rebase", "--no-edit", "origin", "main"),
            ("pull", "-q", "--ff-only", "origin", "main"),
            ("pull", "-q", "--rebase", "--autostash", "origin", self.one("main", "shared")),
        )
        return [Step(("git", *self.random.choice(ways)))]

    def colleague(self) -> list[Step]:
        """Somebody else, without a gate, brings something to a remote."""
        target = self.one("main", "main", "shared", "theirs")
        return [
            Step(("git", "fetch", "-q", "origin"), at="there"),
            Step(("git", "checkout", "-q", "-f", "-B", "work", f"origin/{self.one('main', target)}"), at="there"),
            Step(("git", "add", "-A"), at="there", files=self.files()),
            Step(("git", "commit", "-q", "-m", self.message()), at="there"),
            Step(("git", "push", "-q", "origin", f"work:refs/heads/{target}"), at="there"),
        ]

    def worktree(self) -> list[Step]:
        place = f"tree-{self.random.randrange(100)}"
        return [
            Step(("git", "worktree", "add", "-q", "-b", self.fresh(), f"../{place}", self.commit())),
            Step(("git", "add", "-A"), at=place, files=self.files()),
            Step(("git", "commit", "-m", self.message()), at=place),
            Step(("git", "worktree", "remove", "--force", f"../{place}")),
        ]

    def plumbing(self) -> list[Step]:
        made = (
            f'git update-ref HEAD "$(git commit-tree -p HEAD -m plumbing "$(git write-tree)")" && echo {self.commit()}'
        )
        ways = (
            ("sh", "-c", made),
            ("git", "pack-refs", "--all"),
            ("git", "gc", "-q"),
            ("git", "commit-graph", "write"),
        )
        return [Step(self.random.choice(ways))]

    def _go_on(self, doing: str) -> list[Step]:
        """Goes on with a merge, rebase or the like that has stopped, or gives it up."""
        if self.random.random() < 0.25:
            return [Step(("git", doing, self.one("--abort", "--abort", "--quit" if doing != "am" else "--abort")))]
        files: dict[str, bytes | str | None] = {path: self.text() for path in self.world.unmerged()}
        if self.random.random() < 0.3:
            files |= self.files()
        editor = {"GIT_EDITOR": "true"}
        ways = [("git", doing, "--continue")]
        if doing == "merge":
            ways += [("git", "commit", "--no-edit"), ("git", "commit", "-m", self.message())]
        elif self.random.random() < 0.5:
            ways += [("git", "commit", "--no-edit", "--allow-empty"), ("git", doing, "--skip")]
        return [Step(("git", "add", "-A"), files=files), Step(self.random.choice(ways), env=editor)]


_WEIGHTED: dict[Callable[[Draw], list[Step]], int] = {
    Draw.edit: 4,
    Draw.stage: 8,
    Draw.record: 30,
    Draw.switch: 8,
    Draw.merge: 8,
    Draw.pick: 6,
    Draw.rebase: 8,
    Draw.stash: 3,
    Draw.mail: 2,
    Draw.reset: 5,
    Draw.tag: 2,
    Draw.push: 10,
    Draw.pull: 4,
    Draw.colleague: 4,
    Draw.worktree: 2,
    Draw.plumbing: 2,
}
_OPERATIONS, _WEIGHTS = list(_WEIGHTED), list(_WEIGHTED.values())


def write(world: World, step: Step) -> None:
    """Writes a step's files."""
    for name, content in step.files.items():
        place = world.folder / step.at / name
        _remove(place)
        if content is None or not place.parent.parent.exists():
            continue
        place.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            place.write_bytes(content)
        else:
            place.symlink_to(content)


def take(world: World, step: Step) -> Done:
    """Runs a step's command in a world."""
    if not (world.folder / step.at).exists():
        return Done(-1, "no such folder")
    return world.run(*step.argv, at=step.at, stdin=step.stdin, env=step.env)


def _remove(place: Path) -> None:
    if os.path.islink(place) or place.is_file():
        place.unlink()
