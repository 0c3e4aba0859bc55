"""What a commit or the index has under `.ahp/`: the policy by the ids of its blobs.  [light]

A blob's id is a digest of its content, so what was compiled from these ids need not be read again. Where a blob is
read, its content is hashed against its id: no replaced object and no damaged one passes for the policy.
"""

from ahp.system import digest, files
from ahp.system.errors import AhpError
from ahp.system.git import GitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.system.git import Repository

FOLDER = ".ahp"
HOOKS = ".ahp/hooks.yaml"
WAIVERS = ".ahp/waivers.yaml"
LOCK = ".ahp/policy.lock"
LOCAL = ".ahp/hooks.local.yaml"
UNREAD = "the object "  # error prefix for a missing blob
_LINK, _SUBMODULE = "120000", "160000"
LIMIT = 1 << 20
_KEPT = "/ahp-head"


class PolicyTree:
    """The entries of `.ahp/` in one tree: path → (mode, object id), modes as git writes them.

    `name` is how the tree is called in a sentence (`HEAD`, `origin/main`, `what is staged`), `commit` the id of its
    commit, "" where it has none or it is HEAD's.
    """

    __slots__ = ("_known", "commit", "entries", "name", "repo")

    def __init__(self, repo: "Repository", name: str, entries: dict[str, tuple[str, str]], commit: str = "") -> None:
        self.repo, self.name, self.commit = repo, name, commit
        self.entries = {path: entry for path, entry in entries.items() if path != LOCAL}
        self._known: dict[str, bytes] = {}
        folders = {FOLDER, *[path.rpartition("/")[0] for path in self.entries if "\n" not in path]}
        repo.has_read([commit or "HEAD", *[f"{commit or 'HEAD'}:{one}" for one in sorted(folders)]])

    @property
    def has_policy(self) -> bool:
        """Whether there is something in the policy's place, readable or not."""
        return HOOKS in self.entries or FOLDER in self.entries

    @property
    def key(self) -> bytes:
        """The same bytes for the same policy files, in whatever tree."""
        lines = [f"{mode} {oid} {path}\0" for path, (mode, oid) in sorted(self.entries.items())]
        return "".join(lines).encode("utf-8", "surrogateescape")

    def read(self, path: str) -> bytes | None:
        """The content of the file at `path`, None where there is none.

        Raises AhpError for a link and a submodule, for more than 1 MiB, and where the object is missing or not what its
        id says.
        """
        folder = self.entries.get(FOLDER)  # a link or a submodule in the folder's place
        if folder is not None:
            raise AhpError(f"{FOLDER} is {_kind(folder[0])}; a policy is read from regular files only")
        if path not in self.entries:
            return None
        mode, oid = self.entries[path]
        if mode in (_LINK, _SUBMODULE):
            raise AhpError(f"{path} is {_kind(mode)}; a policy is read from regular files only")
        if path not in self._known:
            self._known[path] = _blob(self.repo, oid, path)
        return self._known[path]


def of_commit(repo: "Repository", rev: str, name: str = "") -> PolicyTree:
    """The policy files of a commit (an id or a ref), called `name`; empty before the first commit.

    Raises GitError, and AhpError for a tree that no git writes.
    """
    listed = repo.policies.get(rev)
    if listed is None:
        try:
            listed = repo.run("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", rev, FOLDER, fetch=True)
        except GitError:
            if rev != "HEAD" or repo.head_id():
                raise
            listed = b""
        if len(rev) >= 40 and not rev.strip("0123456789abcdef"):  # an id, whose tree stays what it is
            repo.policies[rev] = listed
    entries = parse(listed)
    if len(entries) != listed.count(b"\0"):  # git's commands would not agree which of the two counts
        raise AhpError(f"{name or rev} has two entries of one name in {FOLDER}; `git fsck` tells more")
    return PolicyTree(repo, name or rev, entries, "" if rev == "HEAD" else rev)


def of_head(repo: "Repository", listed: bytes | None, keeps: bool = False) -> PolicyTree:
    """HEAD's policy files, from what the shim's git has `listed` of them, else from git. Raises GitError.

    With `keeps` what git says is noted for the next asking at this commit: where there are many, as at an agent's tool
    calls, none should cost a process.
    """
    if listed is not None:
        return PolicyTree(repo, "HEAD", parse(listed))
    head = repo.head_id() if keeps else ""
    if not head:
        return of_commit(repo, "HEAD")
    kept, _, tail = (files.read(repo.git_dir + _KEPT, LIMIT) or b"").partition(b"\0")
    if kept == head.encode() and tail.endswith(b"\0"):
        return PolicyTree(repo, "HEAD", parse(tail[:-1]))
    tree = of_commit(repo, head, "HEAD")
    tree.commit = ""
    lines = [f"{mode} blob {oid}\t{path}\0" for path, (mode, oid) in tree.entries.items()]
    try:
        content = f"{head}\0{''.join(lines)}\0".encode("utf-8", "surrogateescape")
        files.replace(repo.git_dir + _KEPT, content)
    except AhpError:
        return tree  # a git directory that cannot be written is asked each time
    return tree


def of_index(repo: "Repository") -> PolicyTree:
    """The policy files as they are staged. Raises GitError."""
    listed = repo.run("--literal-pathspecs", "ls-files", "-z", "--stage", "--full-name", "--", FOLDER)
    return PolicyTree(repo, "what is staged", parse(listed))


def parse(listed: bytes) -> dict[str, tuple[str, str]]:
    """Path → (mode, id) of what `git ls-tree -r -z` or `git ls-files --stage -z` lists. Raises AhpError."""
    entries = {}
    try:
        for line in listed.decode("utf-8", "surrogateescape").split("\0")[:-1]:
            head, path = line.split("\t", 1)
            words = head.split(" ")
            entries[path] = (words[0], words[2] if words[1] in ("blob", "commit") else words[1])
    except (ValueError, IndexError):
        raise AhpError("git's list of the policy's files is cut or not understood") from None
    return entries


def _kind(mode: str) -> str:
    return "a symbolic link" if mode == _LINK else "a submodule"


def _blob(repo: "Repository", oid: str, path: str) -> bytes:
    header, _, body = repo.run("cat-file", "--batch", stdin=oid.encode() + b"\n", fetch=True).partition(b"\n")
    words = header.split(b" ")
    if words[1:2] != [b"blob"]:
        raise AhpError(f"{UNREAD}{oid[:12]} of {path} is missing here")
    content = body[: int(words[2])]
    if len(content) > LIMIT:
        raise AhpError(f"{path} has {len(content)} bytes, more than the {LIMIT} allowed")
    if digest.object_id(b"blob", content, len(oid)) != oid:
        raise AhpError(f"{UNREAD}{oid[:12]} of {path} is not what its id says; `git fsck` tells more")
    return content
