"""What ahp has to say of what git did: worked out from plain git and from what the hooks were shown, not by ahp's code.

The rules are those of `POLICY`, written down here a second time; no text of it breaks one.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.hosts.git.fuzzing.world import World

POLICY = """\
version: 1
rules:
  name: {at: [pre-commit, pre-merge-commit], each: p in files.added, block: "glob(p, '**/bad*')", finding: {file: p}}
  secret: {at: pre-commit, each: l in diff.added, block: "'SEC\\x52ET' in l.text", finding: {file: l.path}}
  subject: {at: commit-msg, block: commit.subject.startswith('wip')}
  net: {at: pre-push, each: p in files.changed, block: "glob(p, '**/big*')", finding: {file: p}}
"""
BAD_NAMES, BAD_WORDS, BAD_MESSAGES = ("bad.txt", "d/bad.txt", "big.txt"), ("a SECRET", "SECRET"), ("wip", "wip: x\n\nb")

# Runs before ahp's hook, as one that was there already, and notes what git shows it.
RECORDER = """\
#!/bin/sh
out=$WORLD/seen; mkdir -p "$out"; name=${0##*/}; at=$out/$(ls "$out" | wc -l)-${name%.before-ahp}; mkdir "$at"
dir=$(git rev-parse --git-dir)
git rev-parse -q --verify HEAD >"$at/head"
[ -f "$dir/MERGE_HEAD" ] && cp "$dir/MERGE_HEAD" "$at/merge"
env | sed -nE 's/^GITHEAD_([0-9a-f]*)=.*/\\1/p' >"$at/heads"
case $name in
pre-push*)
    cat >"$at/refs"
    git for-each-ref --format='%(objectname)' refs/remotes >"$at/known"
    git rev-parse -q --verify "refs/remotes/$1/main" >"$at/fetched"
    git for-each-ref --format='%(objectname)' "refs/remotes/$1" >"$at/there";;
*)
    cp "${GIT_INDEX_FILE:-$dir/index}" "$at/index"
    GIT_INDEX_FILE=$at/index git write-tree >"$at/tree"
    echo "$GIT_EDITOR" >"$at/editor";;
esac
case $name in commit-msg*) cp "$1" "$at/message";; esac
exit 0
"""
HOOKS = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")


class Seen(NamedTuple):
    """What a hook was shown: its name and files of what there was to see, by name."""

    hook: str
    shown: dict[str, str]


def record(world: World) -> None:
    """Puts the recorders in place, before ahp is installed."""
    folder = world.here / ".git/hooks"
    folder.mkdir(exist_ok=True)
    for hook in HOOKS:
        (folder / hook).write_text(RECORDER)
        (folder / hook).chmod(0o755)


def seen(world: World) -> list[Seen]:
    """The hooks that ran since this was asked, in order; forgotten then."""
    folder = world.folder / "seen"
    found = []
    for place in sorted(folder.iterdir(), key=lambda one: int(one.name.partition("-")[0])) if folder.exists() else []:
        shown = {file.name: os.fsdecode(file.read_bytes()) for file in place.iterdir() if file.name != "index"}
        found.append(Seen(place.name.partition("-")[2], shown))
        for file in place.iterdir():
            file.unlink()
        place.rmdir()
    return found


def broken_at(git: Git, one: Seen, cleanup: str) -> set[str]:
    """The rules that what a hook was shown breaks; `cleanup` is the mode that the command names for messages."""
    if one.hook == "pre-push":
        return _broken_by_push(git, one)
    head, merged = one.shown["head"].split(), one.shown.get("merge", "").split()
    tree = one.shown["tree"].strip()
    joined = [*head, *(merged or one.shown["heads"].split())] if head else []
    if one.hook == "pre-merge-commit":
        return {"name"} if _bad_names(git, tree, head) else _taken_back_by_merge(git, tree, joined)
    if one.hook == "pre-commit":
        of_merge = {"name"} if head and merged and _bad_names(git, tree, head) else set()
        broken = of_merge | _broken_content(git, tree, [*head, *(merged if head else [])])
        return broken or _taken_back_by_merge(git, tree, joined)
    return {"subject"} if _stored(git, one.shown, cleanup).startswith("wip") else set()


def broken_by(git: Git, commit: str) -> set[str]:
    """The rules of commits that a commit breaks."""
    tree, parents, message = git.commit(commit)
    broken = _broken_content(git, tree, parents)
    if len(parents) > 1 and _bad_names(git, tree, parents[:1]):
        broken.add("name")
    return broken | ({"subject"} if _subject(message).startswith("wip") else set())


def _broken_content(git: Git, tree: str, parents: list[str]) -> set[str]:
    found = {"name"} if _bad_names(git, tree, parents) else set()
    sides = [git.added_lines(base, tree, len(parents) < 2) for base in parents or [""]]
    return found | ({"secret"} if any("SECRET" in text for _, _, text in set.intersection(*sides)) else set())


def _bad_names(git: Git, tree: str, parents: list[str]) -> set[str]:
    """The paths that are new against the first by id of the parents, and differ from all."""
    ordered = sorted(parents) or [""]
    changed = set.intersection(*({path for _, path in git.names(base, tree)} for base in ordered))
    return {path for status, path in git.names(ordered[0], tree) if status == "A" and path in changed and _is_bad(path)}


def _is_bad(path: str, word: str = "bad") -> bool:
    return path.rpartition("/")[2].startswith(word)


def _stored(git: Git, shown: dict[str, str], cleanup: str) -> str:
    """The subject of a draft as git will store it."""
    text, edited = shown["message"], shown["editor"].strip() != ":"
    mode = cleanup or ("strip" if edited else "whitespace")
    if edited and mode in ("scissors", "strip", "whitespace"):
        text = text.partition("# ------------------------ >8 ------------------------\n")[0]
    if mode == "verbatim":
        return _subject(text)
    return _subject(git.text("stripspace", *(["-s"] if mode == "strip" else []), stdin=text))


def _subject(message: str) -> str:
    return message.lstrip("\n").partition("\n")[0].strip()


def _broken_by_push(git: Git, one: Seen) -> set[str]:
    """By each commit that goes where it was not, and by what each range changes in all."""
    broken: set[str] = set()
    known, of_remote = one.shown["known"].split(), one.shown["there"].split()
    for line in one.shown["refs"].splitlines():
        _, tip, ref, old = line.rsplit(" ", 3)
        tip = git.text("rev-parse", "-q", "--verify", tip + "^{commit}").strip() if tip.strip("0") else ""
        if tip:
            old = old if old.strip("0") else ""
            alone = old and ref == "refs/heads/main"  # where the remote has more, others brought it
            is_here = not old or bool(git.text("cat-file", "-t", old))
            if alone:  # as last fetched, where it has more since
                there = [old] if is_here else one.shown["fetched"].split()
            else:
                there = [*([old] if old and is_here else []), *of_remote]
            broken |= _broken_in_range(git, tip, there or of_remote, known)
            if alone and not there:
                broken.add("net")  # nobody can tell what changes on main
    return broken


def _broken_in_range(git: Git, tip: str, there: list[str], known: list[str]) -> set[str]:
    outgoing = git.text("rev-list", tip, "--not", *there).split()
    if not outgoing:
        return set()
    broken = _broken_by_commits(git, outgoing, known)
    bases = {base for one in there for base in git.text("merge-base", "--all", tip, one).split()}
    best = git.text("merge-base", "--independent", *bases).split() if bases else []
    changed = set.intersection(*({path for _, path in git.names(base, tip)} for base in best or [""]))
    published = set(git.text("rev-list", *known).split()) if known else set()
    judged = {commit for commit in outgoing if commit not in published or commit in git.made_here()}
    broken |= _taken_back(git, tip, best, outgoing, judged)
    return broken | ({"net"} if any(_is_bad(path, "big") for path in changed) else set())


def _taken_back_by_merge(git: Git, tree: str, parents: list[str]) -> set[str]:
    """The rules of content that what a merge which is not committed yet takes back breaks."""
    if len(parents) < 2:
        return set()
    above = [word for parent in parents for word in ("-p", parent)]
    tip = git.text("commit-tree", "-m", "x", *above, tree).strip()
    known = git.text("rev-parse", "-q", "--verify", "refs/remotes/origin/main").strip()
    known = known or git.text("rev-parse", "refs/heads/main").strip()
    outgoing = git.text("rev-list", tip, "--not", known).split()
    bases = git.text("merge-base", "--all", tip, known).split()
    return _taken_back(git, tip, bases, outgoing, {tip})


def _taken_back(git: Git, tip: str, bases: list[str], outgoing: list[str], judged: set[str]) -> set[str]:
    """The rules of content broken by lines and names that a range has and no commit of it, where a judged merge is not
    what git makes of its parents.
    """
    merges = {commit: parents for commit in outgoing if len(parents := git.commit(commit)[1]) > 1}
    other = {commit: git.other_than_merged(commit, parents) for commit, parents in merges.items() if commit in judged}
    differs = set().union(*other.values())
    lines: Counter[tuple[str, str]] = Counter()
    names: Counter[str] = Counter()
    for commit in outgoing if differs else ():
        tree, parents, _ = git.commit(commit)
        own = set.intersection(*(git.added_lines(base, tree, False) for base in parents or [""]))
        lines.update((path, text) for path, _, text in own)
        names.update(_added_names(git, tree, parents))
    if not differs:
        return set()
    begin, clashing = (bases or [""])[0], set[str]()
    if len(bases) > 1:
        merged = git.merged(bases)
        begin, clashing = merged if merged is not None else (begin, None)
    over_all = set.intersection(*(git.added_lines(base, tip, False) for base in bases or [""]))
    net = [one for one in git.added_lines(begin, tip, False) if clashing is not None and one[0] not in clashing]
    net += [one for one in over_all if clashing is None or one[0] in clashing]
    left = Counter((path, text) for path, _, text in net) - lines
    new = {path for status, path in git.names(begin, tip) if status == "A" and _is_bad(path) and not names[path]}
    found = {"secret"} if any("SECRET" in text and path in differs for path, text in left) else set()
    return found | ({"name"} if new & differs else set())


def _added_names(git: Git, tree: str, parents: list[str]) -> set[str]:
    ordered = sorted(parents) or [""]
    changed = set.intersection(*({path for _, path in git.names(base, tree)} for base in ordered))
    return {path for status, path in git.names(ordered[0], tree) if status == "A" and path in changed}


def _broken_by_commits(git: Git, outgoing: list[str], known: list[str]) -> set[str]:
    """What the commits break that no remote has, or that were made here."""
    broken: set[str] = set()
    published = set(git.text("rev-list", *known).split()) if known else set()
    made = git.made_here()
    for commit in outgoing:
        if commit not in published or commit in made:
            broken |= broken_by(git, commit)
    return broken


class Git:
    """Plain questions to git."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def text(self, *arguments: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, input=stdin.encode("utf-8", "surrogateescape"), capture_output=True
        )
        return done.stdout.decode("utf-8", "surrogateescape")

    def commit(self, name: str) -> tuple[str, list[str], str]:
        """Tree, parents and message."""
        tree, parents, message = self.text("log", "-1", "--format=%T%x00%P%x00%B", name).split("\0", 2)
        return tree, parents.split(), message

    def names(self, base: str, tip: str) -> list[tuple[str, str]]:
        """(status, path) of all that differs; "" for a base is nothing at all."""
        told = self.text("diff-tree", "-r", "-z", "--name-status", "--no-renames", base or self.nothing, tip).split(
            "\0"
        )
        return list(zip(told[0::2], told[1::2], strict=False))

    def added_lines(self, base: str, tip: str, renames: bool) -> set[tuple[str, int, str]]:
        """(path, number, text) of the added lines."""
        options = ("-U0", "--text", "-M" if renames else "--no-renames", "--src-prefix=a/", "--dst-prefix=b/")
        found, path, number = set(), "", 0
        told = self.text("-c", "core.quotePath=off", "diff-tree", "-r", "-p", *options, base or self.nothing, tip)
        for part in re.split(r"(?m)^diff --git ", told)[1:]:
            head, *hunks = re.split(r"(?m)^(?=@@ -)", part)
            path = next((line[6:] for line in head.split("\n") if line.startswith("+++ b/")), "")
            for hunk in hunks:
                match = re.match(r"@@ -\S+ \+(\d+)", hunk)
                number = int(match[1]) if match else 0
                for line in hunk.split("\n")[1:]:
                    if line.startswith("+"):
                        found.add((path, number, line[1:]))
                        number += 1
        return found

    def merged(self, commits: list[str]) -> tuple[str, set[str]] | None:
        """(tree, conflicts) of what git makes of these commits, one after the other; None where it cannot."""
        ours, *others = commits
        tree, clashing = "", set[str]()
        for theirs in others:
            told = self.text("merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", ours, theirs).split(
                "\0"
            )
            if not told[0]:
                return None
            tree, clashing = told[0], clashing | set(filter(None, told[1:]))
            ours = self.text("commit-tree", "-m", "x", "-p", ours, "-p", theirs, tree).strip()
        return tree, clashing

    def other_than_merged(self, commit: str, parents: list[str]) -> set[str]:
        """The paths that a merge has otherwise than git makes them of its parents."""
        touched = set().union(*({path for _, path in self.names(parent, commit)} for parent in parents))
        if (made := self.merged(parents)) is None:
            return touched
        return touched & ({path for _, path in self.names(made[0], commit)} | made[1])

    def made_here(self) -> set[str]:
        """The commits that a reflog names as made here."""
        found = set()
        for log in [*(self.folder / ".git/logs").rglob("*"), *(self.folder / ".git/worktrees").rglob("logs/*")]:
            for line in os.fsdecode(log.read_bytes()).splitlines() if log.is_file() else ():
                ids, _, said = line.partition("\t")
                if re.match(r"commit|cherry-pick|revert|am\b", said) or re.search(_MADE, said):
                    found.add(ids.split()[1])
        return found

    @property
    def nothing(self) -> str:
        """The empty tree."""
        return self.text("hash-object", "-t", "tree", "--stdin").strip()


_MADE = r"\((pick|reword|squash|fixup|edit|continue)\)|Merge made by"
