"""What a remote has, as far as this clone knows: its remote-tracking refs, believed by their reflogs (authority §3)."""

import os
from collections.abc import Iterable

from ahp.system import environ, files
from ahp.system.git import GitError, Repository

_PREFIX = "refs/remotes/"
_LISTED = "--format=%(objectname) %(refname) %(symref)"
_TAIL = 1 << 13  # bytes of a reflog in which its newest entry begins
# What git writes first where it has asked a remote (git-fetch, git-pull, git-clone, git-remote); "update by push" else.
_ASKED = ("fetch", "pull", "push", "clone", "remote")
_PUSHED = "update by push"
_PACKED = 64 << 20  # bytes


def believed(repo: Repository, remote: str = "") -> list[str]:
    """The ids that the remote-tracking refs of `remote` have, of all remotes with ""; each once.

    A ref that was last moved by anything but an exchange with a remote is not believed, nor one of which no reflog
    tells, unless a clone has packed its id: a reflog can be switched off, and emptied. Raises GitError, AhpError.
    """
    kept = ("believed", remote)  # as long as answers are
    if repo.answers is not None and isinstance(known := repo.answers.get(kept), bytes):
        return known.decode().split()
    found: dict[str, None] = {}
    unlogged: dict[str, None] = {}
    listed = repo.run("for-each-ref", _LISTED, f"{_PREFIX}{remote}/" if remote else _PREFIX)
    told = _newest_in_tables(repo, remote) if listed and repo.has_tables() else None
    for line in listed.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        oid, ref, target = line.split(" ")
        if target or oid in found:
            continue
        entry = newest(repo, ref) if told is None else told.get(ref)
        if entry is None and told is None and _is_loose(repo, ref):
            unlogged[oid] = None
        elif entry is None or _is_exchange(ref, entry):
            found[oid] = None
    if unlogged:
        found |= dict.fromkeys(_vouched_for(repo, unlogged))
    if repo.answers is not None:
        repo.answers[kept] = " ".join(found).encode()
    return list(found)


def believes(repo: Repository, ref: str) -> bool:
    """Whether `ref` is a remote-tracking ref that is here and was last moved by an exchange with its remote."""
    return repo.commit_id(ref) is not None and _is_believed(repo, ref)


def doubts(repo: Repository, ref: str) -> bool:
    """Whether `ref` is a remote-tracking ref that is here and something else than its remote moved it last."""
    return not _is_believed(repo, ref) and repo.commit_id(ref) is not None


def remote_of(repo: Repository, named: str) -> str:
    """The remote that a push names, by its name or by an address of it; "" for an address of none. Raises GitError."""
    if named and ":" not in named and "/" not in named:
        return named
    asked = repo.run("config", "-z", "--get-regexp", r"^remote\..*\.(url|pushurl)$", ok=(0, 1))
    for item in asked.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        key, _, address = item.partition("\n")
        name = key[len("remote.") : key.rindex(".")]
        if named in (name, address):
            return name
    return ""


def _is_believed(repo: Repository, ref: str) -> bool:
    entry = newest(repo, ref)
    if entry is None:
        return repo.has_tables() or not _is_loose(repo, ref) or bool(_vouched_for(repo, [repo.commit_id(ref) or ""]))
    return _is_exchange(ref, entry)


def _is_loose(repo: Repository, ref: str) -> bool:
    """Whether a ref has a file of its own. Those of a clone come packed."""
    return os.path.isfile(f"{repo.common_dir}/{ref}")


def _vouched_for(repo: Repository, ids: Iterable[str]) -> list[str]:
    """Of ids that refs without a reflog have, those that a packed remote-tracking ref has, too; all in a bare
    repository, where git keeps no reflog by itself (git-config, core.logAllRefUpdates), while there is none.

    Raises GitError, AhpError.
    """
    # By the settings in files: those of one command say nothing of the others.
    plain = Repository(repo.root, repo.git_dir, repo.common_dir, environ.scrubbed(repo.env), repo.git)
    asked = (f"--git-dir={repo.git_dir}", "config", "--type=bool", "core.bare")
    if not os.path.exists(f"{repo.common_dir}/logs/refs/remotes") and plain.line(*asked, ok=(0, 1)) == "true":
        return list(ids)
    lines = (files.read(repo.common_dir + "/packed-refs", _PACKED) or b"").decode("ascii", "replace").split("\n")
    packed = {line.partition(" ")[0] for line in lines if f" {_PREFIX}" in line}
    return [oid for oid in ids if oid in packed]


def _is_exchange(ref: str, entry: str) -> bool:
    """Whether `entry`, what the reflog of `ref` says last, is an exchange with its remote."""
    if entry.startswith(_PUSHED):
        return True
    # Where the command named the ref to write to, as `fetch . HEAD:refs/remotes/origin/x`, it named whom it asked, too.
    words = entry.rpartition(": ")[0].split(" ")
    is_written_by_name = any(":refs/remotes/" in word or ":remotes/" in word for word in words)
    if is_written_by_name and not any(ref.startswith(f"{_PREFIX}{word}/") for word in words):
        return False
    return entry.partition(":")[0].partition(" ")[0] in _ASKED


def _newest_in_tables(repo: Repository, remote: str) -> dict[str, str] | None:
    """ref → the message of its newest reflog entry, of all refs of `remote`: to ask git of each takes a process each.

    None where git stops at an entry that it cannot read. Raises AhpError.
    """
    found: dict[str, str] = {}
    asked = ("log", "--walk-reflogs", "--format=%gD%x00%gs%x00", f"--remotes={remote}" if remote else "--remotes")
    try:
        entries = repo.run(*asked, "--").decode("utf-8", "surrogateescape").split("\0\n")
    except GitError:
        return None
    for entry in entries[:-1]:
        selector, _, message = entry.partition("\0")
        found.setdefault(selector.rpartition("@{")[0], message)
    return found


def newest(repo: Repository, ref: str) -> str | None:
    """The message of the newest entry of a ref's reflog, None where there is none. Raises AhpError."""
    if repo.has_tables():
        asked = ("log", "--walk-reflogs", "--max-count=1", "--format=%gs%x00", ref, "--")
        told = repo.run(*asked, ok=(0, 128)).decode("utf-8", "surrogateescape")
        return told.partition("\0")[0] if told else None
    tail = files.tail(f"{repo.common_dir}/logs/{ref}", _TAIL)
    if not tail or not tail.strip():
        return None
    entry = tail.removesuffix(b"\n").rpartition(b"\n")[2]
    return entry.partition(b"\t")[2].decode("utf-8", "surrogateescape")
