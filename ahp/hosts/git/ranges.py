"""What a push brings: the refs that git names, and from where to where each is judged."""

from ahp.protocol.event import PushRef
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.history import RangeView


def read_refs(data: bytes) -> list[PushRef]:
    """git's lines `<local ref> <local id> <remote ref> <remote id>` (githooks, pre-push). Raises AhpError."""
    pushed = []
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        fields = line.split(" ")
        if len(fields) != 4:
            raise AhpError(f"git's list of pushed refs is not understood: {line[:200]!r}")
        pushed.append(PushRef(*fields))
    return pushed


def without_credentials(remote: str) -> str:
    """A remote's name, or its address without the user and password in it: facts are shown and logged."""
    scheme, colon, rest = remote.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{colon}{host.rpartition('@')[2]}{slash}{path}"


def range_of(repo: Repository, ref: PushRef, remote: str) -> RangeView:
    """From what the remote has to what it gets; nothing for a deletion.

    After a forced push that is what the new commits bring over the last common one. For a new ref, or when the
    remote's commit was never fetched, it starts where the remote's known branches end.
    """
    if not ref.local_oid.strip("0"):
        return RangeView(repo, repo.empty_tree(), repo.empty_tree())
    tip = f"{ref.local_oid}^{{commit}}"
    if repo.commit_id(ref.local_oid) is None:  # a tag of a tree or a blob
        return RangeView(repo, repo.empty_tree(), repo.empty_tree())
    if ref.remote_oid.strip("0") and repo.commit_id(ref.remote_oid) is not None:
        base = repo.line("merge-base", ref.remote_oid, tip, ok=(0, 1))
    else:
        base = _boundary(repo, tip, remote)
    return RangeView(repo, base or repo.empty_tree(), tip)


def made_here(repo: Repository, tip: str, before: list[str], limit: int) -> list[str]:
    """The commits, newest first, that no known branch of any remote has, nor any commit of `before`."""
    known = "".join([f"^{commit}\n" for commit in before])  # some of them may be gone
    arguments = ["--ignore-missing", f"--max-count={limit}", "--stdin", tip, "--not", "--remotes", "--"]
    return repo.run("rev-list", *arguments, stdin=known.encode()).decode().split()


def _boundary(repo: Repository, tip: str, remote: str) -> str:
    """Where the commits that the remote lacks begin; "" when the remote has none of the history."""
    lines = repo.run("rev-list", "--boundary", "--first-parent", tip, "--not", *_known(remote), "--").decode().split()
    edges = [line[1:] for line in lines if line.startswith("-")]
    if edges:
        return edges[0]
    return "" if lines else repo.line("rev-parse", tip)


def _known(remote: str) -> list[str]:
    named = bool(remote) and ":" not in remote and "/" not in remote
    return [f"--remotes={remote}" if named else "--remotes"]
