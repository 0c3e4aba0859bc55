"""What a remote has, as far as this clone knows: its remote-tracking refs, believed by their reflogs (authority §3)."""

import os

from ahp.system import environ, files
from ahp.system.git import GitError, Repository

_PREFIX = "refs/remotes/"
_LISTED = "--format=%(objectname) %(refname) %(symref)"
_TAIL = 1 << 13  # bytes of a reflog in which its newest entry begins
# What git writes first where it has asked a remote (git-fetch, git-pull, git-clone, git-remote); "update by push" else.
_ASKED = ("fetch", "pull", "push", "clone", "remote")
_PUSHED = "update by push"
_SETTINGS = r"^core\.(bare|logallrefupdates)$"
_OFF = ("false", "no", "off", "0", "")


def believed(repo: Repository, remote: str = "") -> list[str]:
    """The ids that the remote-tracking refs of `remote` have, of all remotes with ""; each once.

    A ref that was last moved by anything but an exchange with a remote is not believed; one without a reflog is, where
    an exchange leaves none. Raises GitError, AhpError.
    """
    kept = ("believed", remote)  # as long as answers are
    if repo.answers is not None and isinstance(known := repo.answers.get(kept), bytes):
        return known.decode().split()
    found: dict[str, None] = {}
    unlogged: dict[str, None] = {}
    listed = repo.run("for-each-ref", _LISTED, f"{_PREFIX}{remote}/" if remote else _PREFIX)
    told = _newest_in_tables(repo, remote) if listed and _has_tables(repo) else None
    for line in listed.decode("utf-8", "surrogateescape").split("\n")[:-1]:
        oid, ref, target = line.split(" ")
        if target or oid in found:
            continue
        newest = _newest(repo, ref) if told is None else told.get(ref)
        if newest is None and _is_unlogged(repo, ref):
            unlogged[oid] = None
        elif newest is None or _is_exchange(ref, newest):
            found[oid] = None
    if unlogged and not _keeps_reflogs(repo):
        found |= unlogged
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
    newest = _newest(repo, ref)
    if newest is None:
        return not (_is_unlogged(repo, ref) and _keeps_reflogs(repo))
    return _is_exchange(ref, newest)


def _is_unlogged(repo: Repository, ref: str) -> bool:
    """Whether a ref has a file of its own and never had a reflog. Those of a clone come packed, and one whose reflog
    expired has an empty one.
    """
    return os.path.isfile(f"{repo.common_dir}/{ref}") and not os.path.lexists(f"{repo.common_dir}/logs/{ref}")


def _keeps_reflogs(repo: Repository) -> bool:
    """Whether a fetch or a push leaves a reflog here, by the settings in files: those of one command say nothing of
    the others (git-config, core.logAllRefUpdates). Raises GitError.
    """
    plain = Repository(repo.root, repo.git_dir, repo.common_dir, environ.scrubbed(repo.env), repo.git)
    told = plain.run(f"--git-dir={repo.git_dir}", "config", "-z", "--get-regexp", _SETTINGS, ok=(0, 1))
    settings = {"core.bare": "false"}
    for item in told.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        key, has_value, value = item.partition("\n")
        settings[key] = value.lower() if has_value else "true"
    if (asked := settings.get("core.logallrefupdates")) is not None:
        return asked not in _OFF
    return settings["core.bare"] in _OFF


def _is_exchange(ref: str, newest: str) -> bool:
    """Whether `newest`, what the reflog of `ref` says last, is an exchange with its remote."""
    if newest.startswith(_PUSHED):
        return True
    # Where the command named the ref to write to, as `fetch . HEAD:refs/remotes/origin/x`, it named whom it asked, too.
    words = newest.rpartition(": ")[0].split(" ")
    is_written_by_name = any(":refs/remotes/" in word or ":remotes/" in word for word in words)
    if is_written_by_name and not any(ref.startswith(f"{_PREFIX}{word}/") for word in words):
        return False
    return newest.partition(":")[0].partition(" ")[0] in _ASKED


def _has_tables(repo: Repository) -> bool:
    """Whether refs and their reflogs are kept in the reftable format, which only git reads. Raises AhpError."""
    return files.read(repo.common_dir + "/reftable/tables.list") is not None


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


def _newest(repo: Repository, ref: str) -> str | None:
    """The message of the newest entry of a ref's reflog, None where there is none. Raises AhpError."""
    if _has_tables(repo):
        asked = ("log", "--walk-reflogs", "--max-count=1", "--format=%gs%x00", ref, "--")
        told = repo.run(*asked, ok=(0, 128)).decode("utf-8", "surrogateescape")
        return told.partition("\0")[0] if told else None
    tail = files.tail(f"{repo.common_dir}/logs/{ref}", _TAIL)
    if not tail or not tail.strip():
        return None
    entry = tail.removesuffix(b"\n").rpartition(b"\n")[2]
    return entry.partition(b"\t")[2].decode("utf-8", "surrogateescape")
