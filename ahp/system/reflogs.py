"""How commits came about here, as the reflogs of HEAD, of the work trees and of the branches tell (git-reflog).

A reflog can be written by hand: what it says spares or asks for a look, and decides nothing.
"""

import os
from collections.abc import Iterable, Iterator

from ahp.system import files
from ahp.system.git import Repository

_TAIL = 64 << 20  # bytes of one reflog
_MAKING = ("commit", "cherry-pick", "revert", "am")
_STEPS = ("(pick)", "(reword)", "(squash)", "(fixup)", "(edit)", "(continue)")
_MERGED = "Merge made by"
_FAST_FORWARD = "cherry-pick: fast-forward"


def made_here(repo: Repository) -> dict[str, str]:
    """Commit id → the first word of the entry that made it: `commit`, `cherry-pick`, `revert`, `am`, `rebase`, `pull` …

    What a checkout, a reset, a clone, a fast-forward or the start and end of a rebase came to was made before.
    Raises GitError, AhpError.
    """
    return {commit: word for _, commit, message in _entries(repo) if (word := _making(message))}


def made_from(repo: Repository, head: str) -> list[str] | None:
    """The commits that were made in this work tree while HEAD was at `head`, "" before the first one; None where git
    keeps no reflog of HEAD, or does not tell there what it was before. Raises GitError, AhpError.
    """
    entries = list(_entries(repo, [f"{repo.git_dir}/logs/HEAD"]))
    if not any(before for before, _, _ in entries):
        return None
    wanted = {head} if head else {"0" * 40, "0" * 64}  # for no commit git writes zeros
    return [commit for before, commit, message in entries if before in wanted and _making(message)]


def _making(message: str) -> str:
    """The first word of an entry that tells of a new commit, "" of any other."""
    head = message.partition(":")[0]
    word = head.partition(" ")[0]
    makes = (word in _MAKING and message != _FAST_FORWARD) or _MERGED in message
    return word if makes or any(step in head for step in _STEPS) else ""


def mark(repo: Repository, branch: str) -> str:
    """What changes whenever `branch` moves, also to where it was before; "" where git keeps no reflog of it.

    Raises GitError.
    """
    ref = f"refs/heads/{branch}"
    if repo.has_tables():
        asked = ("log", "--walk-reflogs", "--format=%H", ref, "--")
        entries = repo.run(*asked, ok=(0, 128)).count(b"\n")
        return f"{entries} entries" if entries else ""
    try:
        return f"{os.stat(f'{repo.common_dir}/logs/{ref}').st_size} bytes"
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _entries(repo: Repository, logs: Iterable[str] = ()) -> Iterator[tuple[str, str, str]]:
    """(old commit, "" where git does not tell it, new commit, message) of every entry, of some `logs` or of all."""
    if repo.has_tables():
        asked = ("log", "--walk-reflogs", "--format=%H %gs", "--branches", "HEAD", "--")
        for line in repo.run(*asked, ok=(0, 128)).decode("utf-8", "surrogateescape").split("\n"):
            commit, _, message = line.partition(" ")
            yield "", commit, message
        return
    for path in logs or _logs(repo):
        for line in (files.tail(path, _TAIL) or b"").decode("utf-8", "surrogateescape").split("\n"):
            head, _, message = line.partition("\t")
            ids = head.split(" ", 2)
            if len(ids) == 3:
                yield ids[0], ids[1], message


def _logs(repo: Repository) -> Iterator[str]:
    yield from (f"{repo.common_dir}/logs/HEAD", f"{repo.git_dir}/logs/HEAD")
    trees = f"{repo.common_dir}/worktrees"
    if os.path.isdir(trees):
        yield from (f"{trees}/{name}/logs/HEAD" for name in sorted(os.listdir(trees)))
    for folder, _, names in os.walk(f"{repo.common_dir}/logs/refs/heads"):
        yield from (f"{folder}/{name}" for name in names)
