"""Anchors of the log in git, where a remote can keep them out of reach of whoever writes the log (design §7).

A log has a ref of its own, named for its genesis id. Each anchor is the message of a commit whose parent is the anchor
before. So a remote that takes fast-forwards only keeps every anchor, also after the log's end was cut off.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from ahp.journal.append import Journal
from ahp.journal.verify import PREFIX, anchor
from ahp.protocol.text import one_line, without_credentials
from ahp.system.errors import AhpError
from ahp.system.git import Repository

_REFS = "refs/ahp/anchors/"
_FETCHED = "refs/ahp/fetched-anchors/"
_GENESIS = re.compile(r"[0-9A-Za-z-]{1,64}")
_AUTHOR = ("-c", "user.name=ahp", "-c", "user.email=ahp@localhost")
_READ_AT_MOST = 1000
_NETWORK = 60.0  # seconds


def keep(repo: Repository, journal: Journal, beside: str = "") -> str:
    """Commits the head of the log to its ref, which it gives; after those of the commit `beside`, too.

    Raises AhpError, GitError.
    """
    now = anchor(journal)
    ref = _ref(now.split(":")[1])
    last = repo.commit_id(ref)
    joins = beside and not (last and repo.line("merge-base", last, beside, ok=(0, 1)) == beside)
    if last is None or joins or repo.line("show", "--no-patch", "--format=%B", last) != now:
        parents = [word for commit in (last, beside if joins else "") if commit for word in ("-p", commit)]
        tree = repo.run("mktree").decode().strip()
        new = repo.run(*_AUTHOR, "commit-tree", *parents, tree, stdin=now.encode()).decode().strip()
        repo.run("update-ref", ref, new, last or "")
    return ref


def push(repo: Repository, journal: Journal, remote: str) -> None:
    """Keeps the head of the log here and on `remote`, after those that it has, and waits for it.

    Raises AhpError, GitError.
    """
    genesis = journal.index().genesis
    there = repo.commit_id(_FETCHED + genesis) if genesis and _fetched(repo, genesis, remote) else ""
    ref = keep(repo, journal, there or "")
    _unasked(repo).run("push", "--no-verify", "--quiet", remote, f"{ref}:{ref}", timeout=_NETWORK, fetch=True)


class Found(NamedTuple):
    """Anchors to hold a log against, and what there is to say of where they were looked for."""

    anchors: list[str]
    problems: list[str]
    notes: list[str]


def find(repo: Repository, logs: Collection[str], remote: str = "") -> Found:
    """The last 1000 anchors of each of `logs` (genesis ids) that are kept here and, if given, on `remote`.

    Raises AhpError, GitError.
    """
    found = Found([], [], [])
    for genesis in sorted(filter(_GENESIS.fullmatch, logs)):
        found.anchors.extend(_told(repo, _REFS + genesis))
        if remote:
            there = _fetched(repo, genesis, remote)
            found.anchors.extend(there)
            if not there:
                found.problems.append(
                    f"{one_line(without_credentials(remote), 200)} keeps no anchor of the log {genesis}"
                )
    if found.anchors:
        total = len(set(found.anchors))
        found.notes.append(f"compared with {total} kept anchor{'s' * (total != 1)}")
    return found


def _fetched(repo: Repository, genesis: str, remote: str) -> list[str]:
    """The anchors of a log that `remote` keeps, the newest first."""
    git, ref = _unasked(repo), _ref(genesis)
    if not git.run("ls-remote", "--quiet", "--", remote, ref, timeout=_NETWORK, fetch=True).strip():
        return []
    fetched = _FETCHED + genesis
    quietly = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
    git.run("fetch", *quietly, "--", remote, f"+{ref}:{fetched}", timeout=_NETWORK, fetch=True)
    return _told(repo, fetched)


def _told(repo: Repository, ref: str) -> list[str]:
    if repo.commit_id(ref) is None:
        return []
    told = repo.line("log", f"--max-count={_READ_AT_MOST}", "--format=%B", ref).splitlines()
    return [line for line in told if line.startswith(PREFIX + ":")]


def _ref(genesis: str) -> str:
    if not _GENESIS.fullmatch(genesis):
        raise AhpError(f"the log's id {genesis[:64]!r} is none; `ahp log verify` says more")
    return _REFS + genesis


def _unasked(repo: Repository) -> Repository:
    """git that asks nobody for a password: where none is stored it fails."""
    env = {**repo.env, "GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never"}
    return Repository(repo.root, repo.git_dir, repo.common_dir, env, repo.git, repo.folder)
