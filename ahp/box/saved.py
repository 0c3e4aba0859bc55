"""What lies in a work tree, saved before a call that may lose it, and brought back (docs/box.md).

The store is a bare repository of its own in ahp's folder, which no box sees and no push takes along. It hard-links the
objects that are there, so it outlives them. Files are kept as they lie: no filter and no attribute changes them. Of a
store's own index, `git status` tells what differs from it; that alone is read, and one `fast-import` writes it.

A snapshot's tree has `files`, `beside` (what git ignores and embedded repositories, up to a limit), `refs` and `modes`.
A store is for two weeks of snapshots; the one before it is kept, so what is old goes as a folder.
"""

import hashlib
import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from ahp.protocol.text import one_line
from ahp.system import clock, environ, files
from ahp.system.errors import AhpError
from ahp.system.git import Repository

PERIOD = 14 * 86400  # s of snapshots in one store
_MANY, _MUCH = 300, 32 << 20  # changed files, and bytes of them, beyond which the index takes them over
_BESIDE, _BIG, _ALL = 1000, 1 << 20, 4 << 20  # ignored files, bytes of one, bytes of all that are kept
_LARGE = 32 << 20  # bytes of a file that is not kept
_AT_ONCE, _PATIENCE = (10_000, 128 << 20), 15.0  # files and bytes that git is given at once; s for all of them
_LOCK = 20.0  # s
_REFS, _STASH = "refs/ahp/saved/", "stash: "
_CONFIG = """
[core]
    autocrlf = false
    safecrlf = false
    ignoreCase = false
    looseCompression = 1
    fsync = none
"""
_AS_IT_LIES = "* -text -ident -filter -working-tree-encoding\n"
_STATUS = ("status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames")


class Saved(NamedTuple):
    """A snapshot: its name, when it was made (s), the session and the call that it was made before, and how many files
    it does not have.
    """

    name: str
    at: float
    session: str
    call: str
    left: int


_File = tuple[bytes, bytes]  # git's mode, and the content


class Store:
    """The snapshots of a repository's work tree."""

    def __init__(self, repo: Repository) -> None:
        self.repo, self.folder = repo, f"{repo.ahp_dir}/saved"
        self.key = hashlib.sha256(os.fsencode(repo.root)).hexdigest()[:12]

    def save(self, session: str = "", call: str = "") -> str:
        """The name of a snapshot of what there is now: a new one where anything changed since the last.

        Raises AhpError, OSError.
        """
        files.make_dirs(self.folder)
        with files.Lock(f"{self.folder}/lock", _LOCK):
            path = self._current()
            for name in ("index", "refs/heads/base", "refs/ahp/base"):  # of a git that was killed: we have the lock
                if os.path.exists(f"{path}/{name}.lock"):
                    os.unlink(f"{path}/{name}.lock")
            return self._save(_Generation(self, path), session, call)

    def all(self) -> list[Saved]:
        """The snapshots of this work tree, oldest first."""
        asked = ("for-each-ref", "--format=%(refname:lstrip=3)%00%(contents)%00", _REFS)
        found = []
        for path in self._generations():
            told = self._git(path).run(*asked).decode("utf-8", "surrogateescape").split("\0")
            for name, text in zip(told[::2], told[1::2], strict=False):
                found.append(Saved(name.strip(), **json.loads(text)))
        return sorted(found, key=lambda one: one.at)

    def changes(self, then: str, now: str, paths: tuple[str, ...] = ()) -> list[tuple[str, str]]:
        """What brings the work tree from the snapshot `now` to `then`: A, M, T or D, and the path with its part.

        Of what lies beside, nothing is taken away where a part of it was over the limit: it may have been there then.
        """
        git = self._having(then)
        asked = ["diff-tree", "-r", "-z", "--no-renames", "--name-status", _REFS + now, _REFS + then, "--"]
        asked += [f":(literal){part}/{path}".rstrip("/") for path in paths or ("",) for part in ("files", "beside")]
        told = git.run(*asked).decode("utf-8", "surrogateescape").split("\0")
        is_whole = not any(one.left for one in self.all() if one.name in (then, now))
        pairs = zip(told[::2], told[1::2], strict=False)
        return [(what, path) for what, path in pairs if what != "D" or is_whole or path.startswith("files/")]

    def restore(self, name: str, paths: tuple[str, ...] = ()) -> tuple[str, list[tuple[str, str]]]:
        """Makes the work tree, or `paths` of it, what it was in a snapshot: the name of one that was made first, and
        what was done (`changes`). Raises AhpError, OSError.
        """
        git = self._having(name)
        before = self.save("", f"ahp saved restore {name}")
        found = self.changes(name, before, paths)
        for path in [path.partition("/")[2] for what, path in found if what == "D"]:
            _remove(self.repo.root, path)
        modes = self._told(name, "modes")
        meant = {path for path in modes if not paths or any((path + "/").startswith(one + "/") for one in paths)}
        git.env["GIT_INDEX_FILE"] = f"{git.git_dir}/restored"
        umask = os.umask(0o077)
        try:
            for part in ("files", "beside"):
                back = [path.partition("/")[2] for what, path in found if what != "D" and path.startswith(part)]
                if back:  # git itself takes away what is no folder where one has to be
                    git.run("read-tree", f"{_REFS}{name}:{part}")
                    git.run("checkout-index", "-f", "-z", "--stdin", stdin=os.fsencode("\0".join([*back, ""])))
                    meant.update(back)
            for path in [f"{self.repo.root}/{one}" for one in meant]:
                if os.path.isfile(path) and not os.path.islink(path):
                    mode = os.lstat(path).st_mode
                    os.chmod(path, modes.get(os.path.relpath(path, self.repo.root), _usual(mode, umask)))
        finally:
            os.umask(umask)
        return before, found

    def lost(self, name: str) -> dict[str, str]:
        """The refs, and the entries of the stash (`stash: MESSAGE`), that were there and are not now; their ids."""
        now = _refs(self.repo)
        return {ref: oid for ref, oid in self._told(name, "refs").items() if ref not in now}

    def restore_refs(self, name: str) -> list[str]:
        """Makes the refs and stash entries anew that are gone since; their names. Raises GitError."""
        lost = self.lost(name)
        for ref, oid in lost.items():
            if ref.startswith(_STASH):
                self.repo.run("stash", "store", "-m", ref.removeprefix(_STASH), oid)
            else:
                self.repo.run("update-ref", "-m", f"ahp saved restore {name}", ref, oid, "")
        return list(lost)

    def _told(self, name: str, what: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._having(name).run("cat-file", "blob", f"{_REFS}{name}:{what}"))
        return found

    def _generations(self) -> list[str]:
        """The stores of this work tree, oldest first."""
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return [f"{self.folder}/{one}" for one in sorted(names) if one.endswith(f"-{self.key}")]

    def _current(self) -> str:
        """The store of these two weeks, made where it is not there; the former one stays."""
        number = int(clock.now() // PERIOD)
        path = f"{self.folder}/{number}-{self.key}"
        if not os.path.isdir(path):
            for one in self._generations():
                if int(os.path.basename(one).partition("-")[0]) < number - 1:
                    shutil.rmtree(one)
            shutil.rmtree(f"{path}.new", ignore_errors=True)
            self._make(f"{path}.new")
            os.rename(f"{path}.new", path)
        return path

    def _make(self, path: str) -> None:
        os.makedirs(path, mode=0o700)
        kind = self.repo.config("extensions.objectFormat")
        git = Repository(path, path, path, environ.scrubbed(self.repo.env), self.repo.git)
        git.run(
            "init",
            "-q",
            "--bare",
            "--template=",
            "--initial-branch=base",
            *([f"--object-format={kind}"] if kind else []),
            path,
        )
        with open(f"{path}/config", "a", encoding="ascii") as file:
            file.write(_CONFIG)
        os.makedirs(f"{path}/info", exist_ok=True)
        with open(f"{path}/info/attributes", "w", encoding="ascii") as file:
            file.write(_AS_IT_LIES)
        os.symlink(f"{self.repo.common_dir}/info/exclude", f"{path}/info/exclude")
        objects, without = f"{self.repo.common_dir}/objects", shutil.ignore_patterns("info", "tmp_*")
        try:
            shutil.copytree(objects, f"{path}/objects", ignore=without, copy_function=os.link, dirs_exist_ok=True)
        except shutil.Error:
            pass  # one is gone meanwhile, or cannot be linked: git writes it anew

    def _git(self, path: str) -> Repository:
        env = {**environ.scrubbed(self.repo.env), "GIT_DIR": path, "GIT_WORK_TREE": self.repo.root}
        return Repository(self.repo.root, path, path, env, self.repo.git)

    def _having(self, name: str) -> Repository:
        for path in self._generations():
            if all(sign.isalnum() or sign == "-" for sign in name) and os.path.exists(f"{path}/{_REFS}{name}"):
                return self._git(path)
        raise AhpError(f"there is no snapshot {name}; fix: ahp saved list")

    def _save(self, store: "_Generation", session: str, call: str) -> str:
        parts, left = store.look()
        texts = {"refs": json.dumps(_refs(self.repo)), "modes": json.dumps(store.modes)}
        same = hashlib.sha256(repr([parts, texts, store.base]).encode()).hexdigest()
        last: list[str] = store.state.get("last", ["", ""])
        if last[1] == same:
            return last[0]
        name = time.strftime("%Y%m%d-%H%M%S", time.gmtime(clock.now())) + f"-{os.urandom(2).hex()}"
        about = {"at": clock.now(), "session": session, "call": call, "left": left}
        lines = [_commit(_REFS + name, json.dumps(about)), b"from refs/ahp/base^0\n"]
        for title, text in texts.items():
            lines += [b"M 100644 inline %s\n" % title.encode(), _data(text.encode())]
        for path, file in parts.items():
            place = b'"%s"' % path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
            lines += [b"M %s inline %s\n" % (file[0], place), _data(file[1])] if file else [b"D %s\n" % place]
        store.git.run("fast-import", "--quiet", "--done", stdin=b"".join([*lines, b"done\n"]))
        store.state.update(last=[name, same], base=store.base, modes=store.modes)
        files.replace(store.noted, json.dumps(store.state).encode())
        return name


class _Generation:
    """One store, and what is noted of a work tree in it."""

    def __init__(self, store: Store, path: str) -> None:
        self.repo, self.git = store.repo, store._git(path)
        self.root, self.noted = os.fsencode(store.repo.root), f"{path}/state"
        self.umask = os.umask(0o077)
        os.umask(self.umask)
        self.state: dict[str, Any] = _read(self.noted)
        self.base: str = self.state.get("base", "")
        self.modes: dict[str, int] = self.state.get("modes", {})

    def look(self) -> tuple[dict[bytes, _File | None], int]:
        """What differs from the base, by part and path (None for what is gone), and how many files are left out."""
        told = [one for one in self.git.run(*_STATUS).split(b"\0") if one]
        apart = [one[3:] for one in told if one[:2] == b"!!" or one.endswith(b"/")]
        listed = [one[3:] for one in told if one[:2] != b"!!" and not one.endswith(b"/")]
        paths = [path for path in listed if self._can_be_kept(path)]
        head, left = self.repo.head_id(), len(listed) - len(paths)
        size = sum(os.lstat(one).st_size for one in map(self._whole, paths) if os.path.lexists(one))
        if len(paths) > _MANY or size > _MUCH or self.state.get("head") != head or not self.base:
            self._take_over(paths)
            self.state["head"], paths = head, []
        found = {b"files/" + path: self._file(path) for path in paths}
        count, room = 0, _ALL
        for path in self._walked(apart):
            file = self._file(path, min(_BIG, room)) if count < _BESIDE else None
            left += file is None
            if file is not None:
                found[b"beside/" + path] = file
                count, room = count + 1, room - len(file[1])
            if left > _BESIDE:
                break
        return found, left

    def _can_be_kept(self, path: bytes) -> bool:
        """Whether what is at `path` can be read, and is not too large, or is gone."""
        try:
            what = os.lstat(self._whole(path))
        except OSError:
            return True
        return stat.S_ISLNK(what.st_mode) or (what.st_size <= _LARGE and os.access(self._whole(path), os.R_OK))

    def _take_over(self, paths: list[bytes]) -> None:
        """Has the index, and the base that snapshots are written on, hold these files as they lie.

        Raises AhpError where that takes long; the next time goes on from there.
        """
        until = time.monotonic() + _PATIENCE
        self.git.run("update-index", "-q", "--refresh", ok=(0, 1))
        given, size = list[bytes](), 0
        for number, path in enumerate(paths, 1):
            what = self._mode(path)
            given.append(path + b"\0")
            size += what.st_size if what is not None else 0
            if number == len(paths) or len(given) >= _AT_ONCE[0] or size >= _AT_ONCE[1]:
                stdin = b"".join(given)
                self.git.run("update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=stdin)
                if number < len(paths) and time.monotonic() > until:
                    raise AhpError("the first snapshot of a large work tree takes several calls; this was one of them")
                given, size = [], 0
        self.base = self.git.line("write-tree")
        # By HEAD nothing is staged, which `status` finds out at once; snapshots are written on the other.
        both = [(b"refs/heads/base", b'""'), (b"refs/ahp/base", b"files")]
        lines = [
            b"%sdeleteall\nM 040000 %s %s\n" % (_commit(ref.decode(), "base"), self.base.encode(), at)
            for ref, at in both
        ]
        self.git.run("fast-import", "--quiet", "--done", "--force", stdin=b"".join([*lines, b"done\n"]))

    def _mode(self, path: bytes) -> os.stat_result | None:
        """What the file is; permissions that a new one would not have are noted."""
        try:
            what = os.lstat(self._whole(path))
        except OSError:
            what = None
        if what is None or not stat.S_ISREG(what.st_mode):
            self.modes.pop(os.fsdecode(path), None)
            return what
        if what.st_mode & 0o777 == _usual(what.st_mode, self.umask):
            self.modes.pop(os.fsdecode(path), None)
        else:
            self.modes[os.fsdecode(path)] = what.st_mode & 0o777
        return what

    def _file(self, path: bytes, limit: int | None = None) -> _File | None:
        """The file at `path`; None where there is none that git can keep, or a larger one."""
        what = self._mode(path)
        if what is None or not (stat.S_ISREG(what.st_mode) or stat.S_ISLNK(what.st_mode)):
            return None
        whole = self._whole(path)
        try:
            if stat.S_ISLNK(what.st_mode):
                return b"120000", os.readlink(whole)
            content = files.read(os.fsdecode(whole), limit) or b""
        except (OSError, AhpError):
            return None
        return b"100755" if what.st_mode & 0o100 else b"100644", content

    def _walked(self, apart: list[bytes]) -> Iterator[bytes]:
        """The files that git ignores, and those of embedded repositories but for their `.git`."""
        for path in sorted(apart, key=lambda one: one.endswith(b"/")):
            if not path.endswith(b"/"):
                yield path
                continue
            for folder, folders, names in os.walk(self._whole(path)):
                folders[:] = sorted(one for one in folders if one != b".git")
                links = [one for one in folders if os.path.islink(os.path.join(folder, one))]
                for name in sorted([*names, *links]):
                    if name != b".git":
                        yield os.path.relpath(os.path.join(folder, name), self.root)

    def _whole(self, path: bytes) -> bytes:
        return os.path.join(self.root, path)


def _commit(ref: str, message: str) -> bytes:
    said = _data(message.encode("utf-8", "surrogateescape"))
    return b"commit %s\ncommitter ahp <saved@ahp.invalid> %d +0000\n%s" % (ref.encode(), int(clock.now()), said)


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _refs(repo: Repository) -> dict[str, str]:
    """Refs, and the entries of the stash, whose list is a reflog: ids by name, the oldest entry first."""
    told = repo.run("for-each-ref", "--format=%(refname) %(objectname)").decode("utf-8", "surrogateescape")
    found = dict(line.split(" ") for line in told.splitlines() if not line.startswith("refs/stash "))
    log = (files.read(f"{repo.common_dir}/logs/refs/stash") or b"").decode("utf-8", "surrogateescape")
    return found | {_STASH + line.partition("\t")[2]: line.split(" ", 2)[1] for line in log.splitlines()}


def _usual(mode: int, umask: int) -> int:
    """The permissions that a new file has."""
    return (0o777 if mode & 0o100 else 0o666) & ~umask


def _read(path: str) -> dict[str, Any]:
    """What was noted of a store; nothing where somebody else wrote there: the next snapshot takes all files anew."""
    try:
        found = json.loads(files.read(path) or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _remove(root: str, path: str) -> None:
    folder = os.path.dirname(f"{root}/{path}")
    if os.path.realpath(folder) != os.path.join(os.path.realpath(root), os.path.dirname(path)).rstrip("/"):
        return  # a folder above it is a link now
    try:
        os.unlink(f"{root}/{path}")
    except FileNotFoundError:
        return  # somebody took it away meanwhile
    except OSError as error:
        raise AhpError(f"{one_line(path, 300)} cannot be taken away: {error.strerror}") from None
    try:
        os.removedirs(folder)
    except OSError:
        pass  # one that holds something else stays
