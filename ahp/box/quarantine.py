"""The session's own copy of the git directory, and what of it enters the repository (docs/box.md).

In a box `.git` is a copy: refs, HEAD, index and state, with the repository's objects to be read. There anything may
move. No git outside ever opens the copy: a reader in a box, which sees it and the objects and nothing else, gives out
refs, HEAD, the index as a list, and a pack. What comes out is somebody's text: the pack is hashed again as
`receive-pack` does it, each new commit is judged, and refs move by compare-and-swap, or are held.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Mapping
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ahp.box import engine
from ahp.box.table import SESSIONS, without_secrets
from ahp.system import digest, environ, files
from ahp.system.errors import AhpError
from ahp.system.git import Repository, as_settings

if TYPE_CHECKING:
    from ahp.box.judging import Judge

OBJECTS = "/run/ahp-objects"
UNFIT = "git would not work in it: this is a linked work tree, a submodule, shallow, or has alternates or reftable"
_APART = ("objects", "ahp", "hooks", "modules", "worktrees", "lfs")  # of `.git`, not in the copy
_MOVED = ("refs/heads/", "refs/tags/", "refs/notes/")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ENTRY = re.compile(rb"(100644|100755|120000) ([0-9a-f]{40,64}) ([0-3])\t([^\0]+)")
_TIMEOUT = 120.0
_WHO = {"GIT_COMMITTER_NAME": "ahp box", "GIT_COMMITTER_EMAIL": "box@ahp.invalid"}
_NOTHING: dict[str, str] = {}
_BUSY = 2.0  # s that somebody's lock on the index is waited for
_READ = """\
git for-each-ref --format='%(objectname) %(refname)' || exit 9
printf '%s\\n' "$MARK"
git symbolic-ref -q HEAD || git rev-parse -q --verify HEAD || exit 9
printf '%s\\n' "$MARK"
git ls-files -s -z || exit 9
{
  { git for-each-ref --format='%(objectname)' refs/heads refs/tags refs/notes; git rev-parse -q --verify HEAD; } |
    git cat-file --batch-check='%(objectname)' | sed '/ missing$/d'
  cat /run/ahp-wanted
} | git pack-objects --revs --indexed-objects --stdout -q --delta-base-offset > /run/ahp-pack/pack
"""
_UPDATE = """\
git update-ref --no-deref --stdin < /run/ahp-wanted || exit 9
case $HEAD_TO in '') ;; refs/*) git symbolic-ref HEAD "$HEAD_TO" ;; *) git update-ref --no-deref HEAD "$HEAD_TO" ;; esac
[ -z "$WITH_INDEX" ] || cp /run/ahp-index "$GIT_DIR/index"
"""


class State(NamedTuple):
    """What a git directory has: refs and HEAD (the ref that it names, or an id)."""

    refs: dict[str, str]
    head: str


class Copy:
    """The copy of one session in its folder."""

    def __init__(self, folder: str, repo: Repository, session: str) -> None:
        self.folder, self.place, self.session = folder, f"{folder}/git", session
        self.git_dir, self.repo = repo.git_dir, repo
        self.noted: dict[str, Any] = {}

    @staticmethod
    def fits(repo: Repository) -> bool:
        """Whether the repository is one that can be copied: its own `.git`, refs as files, all objects in it."""
        git = f"{repo.root}/.git"
        is_plain = os.path.isdir(git) and not os.path.islink(git) and os.path.realpath(repo.git_dir) == git
        apart = ("reftable", "commondir", "objects/info/alternates", "shallow")
        return is_plain and not any(os.path.lexists(f"{git}/{name}") for name in apart)

    @cached_property
    def _off(self) -> dict[str, str]:
        """The variables by which git does without the filters and hooks of the real configuration."""
        return as_settings(self.repo.drivers(), {})

    def refresh(self) -> None:
        """Makes the copy, or brings it up to what others moved since."""
        with self._lock():
            real = self._real()
            index = self._index_digest()
            if not os.path.exists(f"{self.folder}/synced"):
                self._make()
                self.noted = {"real": real, "copy": real, "index": index, "held": {}, "signature": self._signature()}
            else:
                self.noted = json.loads(files.read(f"{self.folder}/synced") or b"{}")
                self._bring(real, index)
            self._note()

    def sync(self) -> list[str]:
        """Takes in what the call did; the sentences on what was held, [] where all of it moved."""
        with self._lock():
            self.noted = json.loads(files.read(f"{self.folder}/synced") or b"{}")
            signature = self._signature()
            if signature == self.noted.get("signature"):
                return []
            real = self._real()
            try:
                copy, entries = self._read(real)
            except AhpError:
                os.unlink(f"{self.folder}/synced")  # so it is made anew before the next call
                raise
            told = _Sync(self, real, copy, entries).run()
            self.noted |= {"copy": copy, "signature": "" if told else signature}
            self._note()
            return told

    def _signature(self) -> str:
        """What tells whether anything moved in the copy: its refs, HEAD and index as the file system has them.

        Nobody can set back the time at which a file's own entry was changed (ctime).
        """
        seen: list[tuple[str, int, int, int]] = []
        waiting = [f"{self.place}/{name}" for name in ("HEAD", "index", "packed-refs", "refs")]
        while waiting:
            path = waiting.pop()
            try:
                status = os.lstat(path)
                seen.append((path, status.st_ino, status.st_size, status.st_ctime_ns))
                if stat.S_ISDIR(status.st_mode):
                    waiting += sorted(f"{path}/{name}" for name in os.listdir(path))
            except OSError as error:
                seen.append((path, error.errno or 0, 0, 0))
        return digest.sha256(repr(seen).encode("utf-8", "surrogateescape"))

    def _make(self) -> None:
        new = f"{self.place}.new"
        for former in (new, self.place):
            if os.path.isdir(former):
                engine.remove(former)
        os.makedirs(f"{new}/objects/info")
        for one in os.scandir(self.git_dir):
            if one.name in (*_APART, SESSIONS) or one.name.endswith(".lock"):
                continue
            if one.is_dir(follow_symlinks=False):
                shutil.copytree(one.path, f"{new}/{one.name}", symlinks=True)
            elif one.is_file(follow_symlinks=False):
                shutil.copy2(one.path, f"{new}/{one.name}")
        for name in _APART[1:]:
            os.makedirs(f"{new}/{name}", exist_ok=True)
        with open(f"{new}/objects/info/alternates", "w", encoding="ascii") as file:
            file.write(OBJECTS + "\n")
        for name in ("config", "config.worktree"):
            if text := files.read(f"{new}/{name}"):  # a job's checkout keeps its token there
                files.replace(f"{new}/{name}", without_secrets(text))
        for remote in self.git("remote").decode("utf-8", "surrogateescape").splitlines():
            self.git("config", "--file", f"{new}/config", f"remote.{remote}.vcs", "ahp")  # nobody else was in there yet
        os.rename(new, self.place)

    def _bring(self, real: State, index: str) -> None:
        """Has the copy follow what moved outside; where both moved, it gets the outer one as `refs/outside/NAME`."""
        known, mine = State(*self.noted["real"]), State(*self.noted["copy"])
        lines = []
        for name in {*known.refs, *real.refs}:
            there = real.refs.get(name, "")
            if there in (known.refs.get(name, ""), mine.refs.get(name, "")):
                continue
            moved_too = mine.refs.get(name, "") != known.refs.get(name, "")
            target = f"refs/outside/{name.removeprefix('refs/')}" if moved_too else name
            lines.append(f"update {target}\0{there}\0\0" if there else f"delete {target}\0\0")
            mine.refs[name] = mine.refs.get(name, "") if moved_too else there
        head = real.head if real.head != known.head and mine.head == known.head else ""
        with_index = index != self.noted["index"] and not self.noted["held"]
        if lines or head or with_index:
            more = {"HEAD_TO": head, "WITH_INDEX": "1" if with_index else ""}
            wanted = "".join(lines).encode("utf-8", "surrogateescape")
            self._in_a_box(_UPDATE.replace("--stdin", "--stdin -z"), wanted, more, writable=True, index=with_index)
        refs = {name: oid for name, oid in mine.refs.items() if oid}
        self.noted |= {"real": real, "copy": State(refs, head or mine.head)}
        self.noted["index"] = index if with_index else self.noted["index"]

    def _read(self, real: State) -> tuple[State, list[bytes]]:
        """Refs, HEAD and index of the copy, as the reader gives them out; lines that are none are left out. In the
        folder `out` is a pack with what the repository lacks of them.
        """
        mark = os.urandom(16).hex()
        wanted = "".join(f"^{oid}\n" for oid in dict.fromkeys(real.refs.values())).encode()
        parts = self._in_a_box(_READ, wanted, {"MARK": mark}).split(mark.encode() + b"\n")
        if len(parts) != 3:
            raise AhpError("the reader of the box's copy gave no answer")
        refs = {}
        for line in parts[0].decode("utf-8", "surrogateescape").splitlines():
            oid, _, name = line.partition(" ")
            if _OID.fullmatch(oid) and name.startswith("refs/"):
                refs[name] = oid
        head = parts[1].decode("utf-8", "surrogateescape").strip()
        if not (head.startswith("refs/heads/") or _OID.fullmatch(head)):
            raise AhpError("HEAD of the box's copy names no branch and no commit")
        return State(refs, head), [one for one in parts[2].split(b"\0") if one]

    def _in_a_box(
        self, script: str, wanted: bytes, more: Mapping[str, str], writable: bool = False, index: bool = False
    ) -> bytes:
        """What a text of `sh` prints in a box that sees the copy, the objects and the system's programs alone."""
        out = f"{self.folder}/out"
        os.makedirs(out, exist_ok=True)
        with open(f"{self.folder}/wanted", "wb") as file:
            file.write(wanted)
        argv = engine.bare()
        argv += ["--bind" if writable else "--ro-bind", self.place, "/run/ahp-copy"]
        argv += ["--ro-bind", f"{self.git_dir}/objects", OBJECTS]
        argv += ["--ro-bind", f"{self.folder}/wanted", "/run/ahp-wanted"]
        argv += ["--bind", out, "/run/ahp-pack"]
        argv += ["--ro-bind", f"{self.git_dir}/index", "/run/ahp-index"] if index else []
        env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_DIR": "/run/ahp-copy", "LC_ALL": "C", **more}
        done = ended([*argv, "--chdir", "/run", "--", "/bin/sh", "-c", script], env, stdin=subprocess.DEVNULL)
        if done.returncode:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise AhpError(f"git cannot read the box's copy: {words[-1] if words else done.returncode}")
        return done.stdout

    def git(
        self, *args: str, stdin: bytes | IO[bytes] = b"", ok: tuple[int, ...] = (0,), more: Mapping[str, str] = _NOTHING
    ) -> bytes:
        """git on the real repository: no hooks, an environment from a list, in no folder of anybody's."""
        env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}
        env |= {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.git_dir, **more}
        env |= self._off
        argv, _ = self.repo.command(*args, objects=True)
        given: dict[str, Any] = {"input" if isinstance(stdin, bytes) else "stdin": stdin}
        done = ended(argv, env, **given)
        if done.returncode not in ok:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise AhpError(f"git {args[0]} failed: {words[-1] if words else done.returncode}")
        out: bytes = done.stdout
        return out

    def _real(self) -> State:
        lines = self.git("for-each-ref", "--format=%(objectname) %(refname)").decode("utf-8", "surrogateescape")
        refs = {name: oid for oid, _, name in (line.partition(" ") for line in lines.splitlines())}
        branch = self.repo.branch()
        return State(refs, f"refs/heads/{branch}" if branch else self.repo.head_text())

    def _index_digest(self) -> str:
        return digest.sha256(files.read(f"{self.git_dir}/index") or b"")

    def _note(self) -> None:
        files.replace(f"{self.folder}/synced", json.dumps(self.noted).encode())

    def _lock(self) -> files.Lock:
        """One launcher at a time, of all sessions of the repository."""
        return files.Lock(f"{os.path.dirname(self.folder)}/sync.lock", _TIMEOUT)


def ended(
    argv: list[str], env: dict[str, str], seconds: float = _TIMEOUT, **given: Any
) -> "subprocess.CompletedProcess[bytes]":
    """A command that ran to its end. Raises AhpError where it takes too long: what the session wrote decides that."""
    try:
        return subprocess.run(argv, **given, capture_output=True, env=env, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise AhpError(f"{os.path.basename(argv[0])} took more than {seconds:.0f} s") from None


class _Sync:
    """One taking in: `copy` is what the copy has now, `entries` its index."""

    def __init__(self, copy: Copy, real: State, state: State, entries: list[bytes]) -> None:
        self.copy, self.real, self.state, self.entries = copy, real, state, entries
        self.known = State(*copy.noted["real"])
        self.listed = [one for one in copy.git("ls-files", "-s", "-z").split(b"\0") if one]
        self.held: dict[str, str] = copy.noted["held"]
        self.told: list[str] = []
        self.incoming = f"{copy.folder}/incoming"
        known = f"{copy.git_dir}/objects"
        self.with_new = {"GIT_OBJECT_DIRECTORY": self.incoming, "GIT_ALTERNATE_OBJECT_DIRECTORIES": known}

    def run(self) -> list[str]:
        moved = self._moved()
        lists_differ = self.listed != self.entries
        if not moved and not lists_differ and self.state.head == self.known.head:
            return self.told
        shutil.rmtree(self.incoming, ignore_errors=True)
        os.makedirs(f"{self.incoming}/pack")
        try:
            self._take_in(moved)
            self._move(self._judged(moved) if moved else {}, lists_differ)
        finally:
            shutil.rmtree(self.incoming, ignore_errors=True)
        return self.told

    def _moved(self) -> dict[str, tuple[str, str]]:
        """Ref → (old id, new id), "" for none, of what the session moved and nobody else. A detached HEAD is one."""
        mine, known, real = self.state.refs, self.known.refs, self.real.refs
        found = {}
        for name in sorted({*mine, *known}):
            new, old = mine.get(name, ""), known.get(name, "")
            if new == old or not name.startswith(_MOVED):
                self.held.pop(name, None)
                continue
            if self.held.get(name) == new:
                continue
            if real.get(name, "") != old:
                self._hold(
                    name, new, f"{name} was moved outside, too: look at refs/outside/{name[5:]} and rebase onto it"
                )
                continue
            found[name] = (old, new)
        if (
            _OID.fullmatch(self.state.head)
            and self.state.head != self.known.head
            and self.held.get("HEAD") != self.state.head
        ):
            found["HEAD"] = (self.known.head if _OID.fullmatch(self.known.head) else "", self.state.head)
        return found

    def _hold(self, name: str, oid: str, why: str) -> None:
        self.held[name] = oid
        self.told.append(why)

    def _take_in(self, moved: dict[str, tuple[str, str]]) -> None:
        """The pack of the reader, into a folder of its own: each object is hashed and checked again."""
        path = f"{self.copy.folder}/out/pack"
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # the reader made it, and may be anybody's
        with os.fdopen(file, "rb") as pack:
            if os.pread(file, 12, 0)[8:] != bytes(4):  # how many objects it has
                self.copy.git("index-pack", "--strict", "--stdin", "--fix-thin", stdin=pack, more=self.with_new)
        listed = "".join(f"{new}\n" for _, new in moved.values() if new).encode()
        argv = ("rev-list", "--objects", "--quiet", "--stdin", "--not", "--all")
        self.copy.git(*argv, stdin=listed, more=self.with_new)

    def _judged(self, moved: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
        from ahp.box.judging import Judge  # most calls move nothing

        repo, judge = self.copy.repo, Judge(self.copy.session)
        env = {
            **environ.scrubbed(repo.env),
            "GIT_DIR": repo.git_dir,
            "GIT_WORK_TREE": repo.root,
            **self.with_new,
        }
        view = Repository(repo.root, repo.git_dir, repo.common_dir, env, repo.git)
        accepted = {}
        for name, (old, new) in moved.items():
            is_kept = name == self.real.head or judge.is_default(view, name)
            why = "it is not deleted from a box" if is_kept and not new else ""
            if new:
                why = self._refusal(view, name, old, new, judge)
            if why:
                self._hold(name, new, f"{why}\n{name} stays where it was; amend the commit, then it is looked at again")
            else:
                accepted[name] = (old, new)
                self.held.pop(name, None)
        return accepted

    def _refusal(self, repo: Repository, name: str, old: str, new: str, judge: "Judge") -> str:
        """Why a ref is not moved, "" where it is. What comes to the default branch is new there, wherever it was."""
        argv = ("rev-parse", "-q", "--verify", f"{new}^{{commit}}")
        tip = self.copy.git(*argv, ok=(0, 1, 128), more=self.with_new).decode().strip()
        if not tip:
            return "it names no commit, and only commits are judged"
        branch = self.state.head if name == "HEAD" else name
        known = dict.fromkeys(filter(None, [old]))
        for ref, oid in self.real.refs.items():
            if ref.startswith("refs/remotes/") or not judge.is_default(repo, branch):
                known[oid] = None
        asked = "".join([f"{tip}\n", *[f"^{oid}\n" for oid in known]]).encode()
        listed = self.copy.git("rev-list", "--stdin", stdin=asked, more=self.with_new).decode().split()
        return judge.refusal(repo, branch, listed) if listed else ""

    def _move(self, accepted: dict[str, tuple[str, str]], lists_differ: bool) -> None:
        head = self.state.head
        head_is_held = head in self.held or "HEAD" in self.held
        takes_index = lists_differ and not head_is_held and self._takes_index()
        if not accepted and not takes_index and head == self.real.head:
            return
        self._join([new for _, new in accepted.values() if new], takes_index)
        zero = "0" * len(next(iter(self.real.refs.values()), "0" * 40))
        refs = {**self.real.refs}  # and no more: what others move meanwhile, the copy does not have yet
        for name, (old, new) in accepted.items():
            if name == "HEAD":
                continue
            lines = f"update {name}\0{new}\0{old or zero}\0" if new else f"delete {name}\0{old}\0"
            about = "box: deleted"
            if new:
                subject = self.copy.git("log", "-1", "--format=%s", new, "--", ok=(0, 128)).decode("utf-8", "replace")
                about = f"commit (box): {subject.strip()[:200]}"
            try:
                data = lines.encode("utf-8", "surrogateescape")
                self.copy.git(
                    "update-ref", "--no-deref", "--create-reflog", "-m", about, "--stdin", "-z", stdin=data, more=_WHO
                )
                refs[name] = new
            except AhpError as error:
                self._hold(name, new, f"{name} was not moved: {error}")
        self.copy.noted["real"] = State({name: oid for name, oid in refs.items() if oid}, self._move_head())
        if takes_index and head not in self.held:
            self._write_index()

    def _join(self, tips: list[str], with_index: bool) -> None:
        """Has the objects of what moves join the repository, and no others that came with them."""
        blobs = [one[2].decode() for one in map(_ENTRY.fullmatch, self.entries) if one] if with_index else []
        wanted = "".join(f"{one}\n" for one in [*tips, *blobs, *(f"^{oid}" for oid in self.real.refs.values())])
        if os.listdir(f"{self.incoming}/pack") and (tips or blobs):
            os.makedirs(f"{self.copy.git_dir}/objects/pack", exist_ok=True)
            base = f"{self.copy.git_dir}/objects/pack/pack"
            self.copy.git("pack-objects", "--revs", "-q", base, stdin=wanted.encode(), more=self.with_new)

    def _move_head(self) -> str:
        """Where HEAD is afterwards."""
        head, before = self.state.head, self.known.head
        if head == before or self.real.head != before or head in self.held or "HEAD" in self.held:
            return self.real.head
        if head.startswith("refs/"):
            self.copy.git("check-ref-format", head)
            self.copy.git("symbolic-ref", "-m", "box: switched", "HEAD", head, more=_WHO)
        else:
            self.copy.git("update-ref", "--no-deref", "-m", "commit (box): detached", "HEAD", head, more=_WHO)
        return head

    def _takes_index(self) -> bool:
        if self.copy._index_digest() == self.copy.noted["index"]:
            return True
        self.told.append("the index was changed outside meanwhile, so what was staged in the box is not taken over")
        return False

    def _write_index(self) -> None:
        """Writes the index anew from the list: no flags, no extensions, none of git's paths."""
        links = {one for one in self.listed if one.startswith(b"160000 ")}
        lines = [one for one in self.entries if _ENTRY.fullmatch(one) or one in links]
        new = f"{self.copy.folder}/index.new"
        if os.path.lexists(new):
            os.unlink(new)
        as_new = {"GIT_INDEX_FILE": new}
        self.copy.git("update-index", "-z", "--index-info", stdin=b"\0".join([*lines, b""]), more=as_new)
        if not os.path.exists(new):
            self.copy.git("read-tree", "--empty", more=as_new)
        lock, until = f"{self.copy.git_dir}/index.lock", time.monotonic() + _BUSY
        while True:
            try:
                os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
                break
            except FileExistsError:
                if time.monotonic() > until:
                    self.told.append("the index is locked by another git, so what was staged in the box waits")
                    return
                time.sleep(0.05)
        os.replace(new, lock)
        os.replace(lock, f"{self.copy.git_dir}/index")
        self.copy.noted["index"] = self.copy._index_digest()
