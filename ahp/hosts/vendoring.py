"""Policies of other repositories, written into this one: `ahp policy update` (docs/policy.md).

The only place that fetches. It believes nothing that it gets: a version counts when a key of the entry's `signers`
signed it. Its files are read as objects: nothing is checked out, so no filter and no hook of it runs.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import yaml
from pydantic import ValidationError

from ahp.hosts.ci import signatures
from ahp.policy import layers, vendored, waivers
from ahp.policy import tree as trees
from ahp.policy.cache import PROJECT
from ahp.policy.models import SharedKeys
from ahp.policy.shape import read as read_shape
from ahp.policy.sources import FileSource
from ahp.policy.tree import PolicyTree
from ahp.policy.vendored import Lock, Locked
from ahp.protocol.text import one_line, repository_name
from ahp.system import clock, digest, environ, files, git, process
from ahp.system.errors import AhpError
from ahp.system.git import GitError, Repository

_SECONDS = 120.0
_BLOCKS = 64 << 11  # of 512 bytes: what a fetch may write
_MEMORY = 2 << 20  # kB
_LISTED = 1 << 20  # bytes of tags
# git says what it writes before it writes it: a pack as one file, large objects in pieces, each object looked at.
_CAREFUL = (
    *("-c", "fetch.unpackLimit=1", "-c", "core.bigFileThreshold=1m", "-c", "fetch.fsckObjects=true"),
    *("-c", "pack.threads=1", "-c", "fetch.writeCommitGraph=false", "-c", "submodule.recurse=false"),
)
_SIGNERS = "signers"
_TAG, _BRANCH = "refs/tags/", "refs/heads/"
_END = re.compile(rb"^-----BEGIN (SSH SIGNATURE|PGP SIGNATURE|PGP MESSAGE|SIGNED MESSAGE)-----", re.MULTILINE)
_VERSION = re.compile(r"v?([0-9]+(?:\.[0-9]+)*)\Z")


def entries(root: str) -> list[SharedKeys]:
    """The shared policies that the project at `root` extends. Raises PolicyError, AhpError."""
    found = FileSource(root).layers()
    if not found:
        raise AhpError(f"there is no {PROJECT[1:]} here; `ahp init --org URL` writes one")
    model = read_shape(found[0][2], PROJECT[1:], "project").model
    return [one for one in model.extends if isinstance(one, SharedKeys)]


def lock_of(root: str) -> Lock:
    """Raises AhpError."""
    return vendored.read_lock(files.read(f"{root}/{trees.LOCK}", _LISTED))


def update(repo: Repository, name: str = "") -> dict[str, Locked]:
    """Fetches all shared policies of the work tree, or the one called `name`, and writes their text and the lock.

    Nothing is written unless all that was fetched is signed, and makes a policy that loads. Raises AhpError.
    """
    wanted, old = entries(repo.root), lock_of(repo.root)
    chosen = [one for one in wanted if not name or one.called == name]
    if not chosen:
        raise AhpError(f"{PROJECT[1:]} extends no policy of another repository" + (f" called {name}" if name else ""))
    lock = {one.called: old.shared[one.called] for one in wanted if one.called in old.shared}
    texts: dict[str, bytes] = {}
    fetched: dict[str, Locked] = {}
    for one in chosen:
        fetched[one.called], found = fetch(one, old.shared.get(one.called))
        texts |= {vendored.place(one.called, path): data for path, data in found.items()}
    new = Lock(repository=_repository(repo) or old.repository, shared=lock | fetched)
    texts[vendored.LOCK] = (new.model_dump_json(indent=2) + "\n").encode()
    after = _Overlaid(repo.root, texts)
    layers.load(after)
    waivers.in_force(lambda path: after.beside("project", path.removeprefix(".ahp/")))
    _write(repo.root, texts, [*fetched, *(old.shared.keys() - lock.keys())])
    return fetched


def join(repo: Repository, address: str) -> SharedKeys:
    """Writes a policy that extends the newest version of the one at `address`.

    Whom to trust that repository says itself, in its file `signers`; who joins compares these keys once. Raises
    AhpError.
    """
    path = repo.root + PROJECT
    if os.path.lexists(path):
        how = "add the entry to its `extends` (docs/policy.md), then run `ahp policy update`"
        raise AhpError(f"{PROJECT[1:]} is there already; {how}")
    try:
        SharedKeys(repo=address, ref="v1", signers=["nobody"])
        with _place(address) as place:
            ref = newest(address)
            if not ref:
                raise AhpError(f"{one_line(address)} has no tag that is a version, as v1")
            _get(place, address, ref)
            lines = (_file(place, "refs/ahp/it^{commit}", _SIGNERS) or b"").decode("utf-8", "replace").splitlines()
        entry = SharedKeys(repo=address, ref=ref, signers=[line for line in lines if line.strip() and line[0] != "#"])
    except ValidationError as error:
        told = error.errors(include_url=False)[0]
        raise AhpError(
            f"{one_line(address)}: {told['msg']} ({'.'.join(map(str, told['loc'])) or 'its address'})"
        ) from None
    text = yaml.safe_dump(
        {"version": 1, "extends": [entry.model_dump(exclude_unset=True)]}, sort_keys=False, width=1000
    )
    os.makedirs(os.path.dirname(path), exist_ok=True)
    files.replace(path, text.encode(), 0o644)
    try:
        update(repo)
    except AhpError:
        os.unlink(path)
        raise
    return entry


def behind(repo: Repository) -> dict[str, str]:
    """Name → why what lies here is not what its signers say today. Raises AhpError where that cannot be told."""
    lock, found = lock_of(repo.root), {}
    layers.load(FileSource(repo.root))  # what does not fit its lock is no policy
    for entry in entries(repo.root):
        known = lock.shared[entry.called]
        now, _ = fetch(entry, known)
        if now.commit != known.commit:
            found[entry.called] = f"{entry.ref} is {now.commit[:10]}, and here {known.commit[:10]}"
        elif now.files != known.files:
            found[entry.called] = f"what lies here is not what {known.commit[:10]} has"
        elif _version(entry.ref) and _version(tag := newest(entry.repo)) > _version(entry.ref):
            found[entry.called] = f"{tag} is there, and here {entry.ref}: raise `ref`, then ahp policy update"
    return found


@contextmanager
def _place(address: str) -> Iterator[Repository]:
    """An empty repository, whose git speaks to other machines by https, ssh and files alone."""
    folder = tempfile.mkdtemp(prefix="ahp-policy-")
    env = {**environ.scrubbed(environ.current()), "GIT_ALLOW_PROTOCOL": "file:https:ssh", "LC_ALL": "C"}
    place = Repository("", folder, folder, env)
    try:
        place.run("init", "-q", "--bare", "--template=", ".")  # a template could bring hooks
        yield place
    except GitError as error:
        raise AhpError(f"{one_line(address)}: {error}; what is here stays") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def file_of(address: str, name: str, path: str) -> bytes | None:
    """The file at `path` of a tag, branch or commit of another repository. Raises AhpError."""
    with _place(address) as place:
        if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", name):
            _take(place, address, name)
        else:
            _get(place, address, name)
        return _file(place, "refs/ahp/it^{commit}", path)


def newest(address: str) -> str:
    """The tag of the highest version, "" where there is none. Raises AhpError."""
    with _place(address) as place:
        tags = [name.removeprefix(_TAG) for name in _refs(place, address, _TAG + "*")]
    return max(filter(_version, tags), key=_version, default="")


def _version(name: str) -> tuple[int, ...]:
    found = _VERSION.fullmatch(name[:40])
    return tuple(map(int, found[1].split("."))) if found else ()


def _refs(place: Repository, address: str, *names: str) -> list[str]:
    """The refs of these names that are there. Raises AhpError."""
    told = _limited(place, "ls-remote", "-q", "--refs", "--", address, *names)
    refs = [line.partition("\t")[2] for line in told.decode("utf-8", "replace").splitlines()]
    return [ref for ref in refs if ref in names or names[0].endswith("*")]


def _limited(place: Repository, *args: str) -> bytes:
    """What git prints that speaks to another repository, within limits of size, memory and time. Raises AhpError."""
    argv, env = place.command(*_CAREFUL, *args, fetch=True)
    limits = f'ulimit -f {_BLOCKS}; ulimit -v {_MEMORY} 2>/dev/null; exec "$@"'
    done = process.capture(["/bin/sh", "-c", limits, "sh", *argv], env=env, timeout=_SECONDS, limit=_LISTED)
    if done.code:
        words = done.err.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.code}"]
        said = next((line for line in words if line.startswith(("fatal: ", "error: "))), words[-1])
        if b"File too large" in done.err or b"signal 25" in done.err:  # whether or not SIGXFSZ is ignored here
            said = f"it is larger than the {_BLOCKS >> 11} MiB allowed"
        raise GitError(f"git {args[0]} failed: {one_line(said, 300)}")
    return done.out


def fetch(entry: SharedKeys, known: Locked | None) -> tuple[Locked, dict[str, bytes]]:
    """The version that `entry` names, and its files; `known` is the one that is here. Raises AhpError with the reason
    to refuse it.
    """
    what = f"{one_line(entry.repo)} at {entry.ref}"
    with _place(entry.repo) as place:
        ref = _get(place, entry.repo, entry.ref)
        commit, signer = _signed(place, entry, ref, what)
        at = int(place.line("log", "-1", "--format=%ct", commit))
        if known is not None and (known.repo, known.ref) == (entry.repo, entry.ref) and commit != known.commit:
            moved = f"it was {known.commit[:10]} and is {commit[:10]}"
            if ref.startswith(_TAG):
                raise AhpError(f"{what}: {moved}: somebody moved the tag. Ask for a new one; what is here stays")
            if at < known.at:
                raise AhpError(f"{what}: {moved}, which is older: somebody rolled it back. What is here stays")
        paths = (entry.path, vendored.WAIVERS)
        found = {path: data for path in paths if (data := _file(place, commit, path)) is not None}
    if entry.path not in found:
        raise AhpError(f"{what} has no file {entry.path}")
    digests = {path: digest.tagged(data) for path, data in found.items()}
    named = entry.model_dump(include={"repo", "ref", "path", "signers"})
    return Locked(**named, commit=commit, at=at, signer=signer, files=digests), found


def _get(place: Repository, address: str, name: str) -> str:
    """Fetches a tag, else a branch, as refs/ahp/it; its whole name. Raises AhpError."""
    ref = max(_refs(place, address, _TAG + name, _BRANCH + name), default="")  # a tag before a branch, as for git
    if not ref:
        raise AhpError(f"{one_line(address)} at {name}: there is no such tag and no such branch")
    _take(place, address, ref)
    return ref


def _take(place: Repository, address: str, name: str) -> None:
    """Fetches a ref or a commit as refs/ahp/it. Raises AhpError."""
    more = ("--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "-q", "--")
    _limited(place, "fetch", *more, address, f"+{name}:refs/ahp/it")


def _signed(place: Repository, entry: SharedKeys, ref: str, what: str) -> tuple[str, str]:
    """The commit that was fetched, and who signed it or the tag that names it. Raises AhpError."""
    kind = place.line("cat-file", "-t", "refs/ahp/it")
    data = place.run("cat-file", kind, "refs/ahp/it")
    commit = place.line("rev-parse", "--verify", "--end-of-options", "refs/ahp/it^{}")
    if kind == "tag":
        lines = data.partition(b"\n\n")[0].decode("utf-8", "replace").splitlines()
        if lines[:3] != [f"object {commit}", "type commit", f"tag {ref.removeprefix(_TAG)}"]:
            raise AhpError(
                f"{what} is another tag in its place ({one_line(', '.join(lines[1:3]))}); what is here stays"
            )
        begins = _END.search(data)
        payload, armoured = (data[: begins.start()], data[begins.start() :]) if begins else (data, b"")
        if not armoured:
            kind, data = "commit", place.run("cat-file", "commit", commit)
    if kind not in ("tag", "commit"):
        raise AhpError(f"{what} is a {kind}, and no commit or tag")
    try:
        if kind == "commit":
            payload, armoured = signatures.split(data)
        if not armoured:
            raise signatures.NotApproved("it is not signed")
        keys = "".join(f"{line}\n" for line in entry.signers).encode()
        return commit, signatures.principal(
            payload, armoured.rstrip(b"\n"), keys, clock.now(), signatures.NAMESPACE, "`signers` names"
        )
    except signatures.NotApproved as error:
        raise AhpError(f"{what} ({commit[:10]}): {error}; what is here stays") from None


def _file(place: Repository, commit: str, path: str) -> bytes | None:
    """A regular file of a commit. Raises AhpError for anything else in its place, and for a large one."""
    listed = place.run("--literal-pathspecs", "ls-tree", "-z", "-l", "--full-tree", commit, "--", path)
    size = listed.partition(b"\t")[0].split(b" ")[-1]
    if size.isdigit() and int(size) > trees.LIMIT:
        raise AhpError(f"{path} has {int(size)} bytes, more than the {trees.LIMIT} allowed")
    return PolicyTree(place, commit, trees.parse(listed)).read(path)


class _Overlaid(FileSource):
    """A work tree's project policy, as it will be with some files of its folder written."""

    def __init__(self, root: str, texts: Mapping[str, bytes]) -> None:
        super().__init__(root)
        self._texts = texts

    def beside(self, layer: str, relative: str) -> bytes | None:
        return self._texts[relative] if relative in self._texts else super().beside(layer, relative)


def _write(root: str, texts: Mapping[str, bytes], names: list[str]) -> None:
    """Puts these files in place of all that the folders `names` had. Raises AhpError, also for a link on the way."""
    for path in (".ahp", trees.LOCK, ".ahp/vendor", *[f".ahp/vendor/{name}" for name in names]):
        if os.path.islink(f"{root}/{path}"):
            raise AhpError(f"{path} is a symbolic link; a policy is written to regular files only")
    for name in names:
        shutil.rmtree(f"{root}/.ahp/vendor/{name}", ignore_errors=True)
    for path, data in texts.items():
        os.makedirs(os.path.dirname(f"{root}/.ahp/{path}"), exist_ok=True)
        files.replace(f"{root}/.ahp/{path}", data, 0o644)


def _repository(repo: Repository) -> str:
    """Which repository this is, by its remote `origin`, "" without one."""
    return repository_name(repo.line("config", "--get", "remote.origin.url", ok=(0, 1)))


def fleet(paths: list[str]) -> list[dict[str, object]]:
    """Which repository is on which version, by the default branches of clones or bare mirrors: `repository`, `name`,
    `repo`, `ref`, `commit`, `at` (seconds) and `state`, which is `newest` where none of them has a newer one.
    """
    found = [one for path in paths for one in _of_clone(path)]
    for one in found:
        newer = any(other["repo"] == one["repo"] and float(str(other["at"])) > float(str(one["at"])) for other in found)
        one["state"] = one["state"] or ("behind" if newer else "newest")
    return found


def _of_clone(path: str) -> list[dict[str, object]]:
    state, name, locked = "no shared policy", path, Lock()
    try:
        repo = git.discover(path, environ.scrubbed(environ.current()))
        name = _repository(repo) or path
        tip = repo.commit_id("refs/remotes/origin/HEAD") or repo.commit_id("HEAD")
        locked = vendored.read_lock(trees.of_commit(repo, tip).read(trees.LOCK) if tip else None)
    except AhpError as error:
        state = one_line(error)
    kept = {"repo", "ref", "commit", "at"}
    found = [{"name": of, **one.model_dump(include=kept), "state": ""} for of, one in locked.shared.items()]
    return [
        {"repository": name, **one}
        for one in found or [{**dict.fromkeys(("name", *kept), ""), "at": 0, "state": state}]
    ]
