"""What is staged as a work tree of its own, where a command may change it; and what it changed, put back at once.

Neither the index nor a file of the person's work tree is touched before all is ready: then each is replaced by a
rename, in a process that no signal to the hook, to git or to their group reaches. The tree is kept from one time to the
next, since git then only writes what differs. One whose user was killed may still be written to by what that user
started, so it is given up.
"""

import contextlib
import os
import shutil
import stat
import time

from ahp.system import change as changes
from ahp.system import files
from ahp.system.errors import AhpError, Timeout
from ahp.system.git import GitError, Repository
from ahp.system.view import RAW

Identity = tuple[int, int, int]
Move = tuple[str, str, Identity]  # what is ready, its place, what is there now

HOME = "/ahp-fix"  # in the git directory: tools that look for their settings upwards then come to the same folders
_BUSY = "busy"
# Nothing that a person has set for the work tree holds here: hooks, monitors, what is left out, which lines end how.
_OURS = ["hooksPath=/dev/null", "fsmonitor=false", "untrackedCache=false", "splitIndex=false", "safecrlf=false"]


class Staged:
    """The staged files of `repo`, whose environment names the index, in the folder `tree`.

    `close` has to be called where it is used no more. Raises AhpError, GitError.
    """

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self.index = os.path.join(repo.folder, repo.env.get("GIT_INDEX_FILE") or f"{repo.git_dir}/index")
        self._slot = contextlib.ExitStack()
        self._folder = self._claim(repo.git_dir + HOME)
        self.tree = self._folder + "/tree"
        files.make_dirs(self.tree)
        files.overwrite(f"{self._folder}/{_BUSY}", b"")
        self._known = _copy(self.index, self._folder + "/taken")
        self._before = self._git("write-tree", "--missing-ok", index="taken").decode().strip()
        self._git("clean", "-ffdxq")
        self._git("read-tree", "--reset", "-u", self._before)
        self._lend()

    def close(self) -> None:
        """Leaves the tree to the next one."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{self._folder}/{_BUSY}")
        self._slot.close()

    def _claim(self, home: str) -> str:
        """A folder that nobody else uses."""
        files.make_dirs(home)
        for name in [*sorted(os.listdir(home)), f"{time.time_ns():x}"]:
            folder = f"{home}/{name}"
            files.make_dirs(folder)
            try:
                self._slot.enter_context(files.Lock(folder + "/lock", 0))
            except (Timeout, files.NoFolder):
                continue  # another commit is at work there
            if not os.path.lexists(f"{folder}/{_BUSY}"):
                return folder
            shutil.rmtree(folder, ignore_errors=True)
            self._slot.close()
        raise AhpError(f"cannot make a folder in {home}")

    def _git(self, *args: str, index: str = "index", stdin: bytes = b"") -> bytes:
        """git in this tree, with an index of this folder; what a file holds is decided by the filters of `git add`."""
        options = [word for one in _OURS for word in ("-c", f"core.{one}")]
        return self._named(self.tree, index).run(*options, *args, stdin=stdin, timeout=600.0, for_person=True)

    def _named(self, root: str, index: str) -> Repository:
        """The repository with an index of this folder."""
        repo = self._repo
        env = {**repo.absolute_paths(repo.env), "GIT_INDEX_FILE": f"{self._folder}/{index}", "GIT_DIR": repo.git_dir}
        return Repository(root, repo.git_dir, repo.common_dir, {**env, "GIT_WORK_TREE": root}, repo.git)

    def _lend(self) -> None:
        """Links to what git ignores in the work tree, such as installed packages: tools are found there."""
        there = self._named(self._repo.root, "taken")
        listed = there.run("ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")
        for path in [os.fsdecode(name).rstrip("/") for name in listed.split(b"\0") if name]:
            if not os.path.lexists(f"{self.tree}/{path}"):
                os.makedirs(os.path.dirname(f"{self.tree}/{path}"), exist_ok=True)
                os.symlink(f"{self._repo.root}/{path}", f"{self.tree}/{path}")

    def read(self, path: str) -> bytes | None:
        """What a file holds now, None where it is no regular file any more, or a link leads to it."""
        return files.read(f"{self.tree}/{path}") if _is_plain(self.tree, path) else None

    def take(self, paths: list[str]) -> tuple[Repository, str, str]:
        """Takes what `paths` hold now for staged: the repository with that index, the tree's ids before and now."""
        listed = b"".join([os.fsencode(path) + b"\0" for path in paths])
        self._git("-c", "core.fileMode=false", "update-index", "-z", "--stdin", stdin=listed)
        now = self._git("write-tree", "--missing-ok").decode().strip()
        return self._named(self._repo.root, "index"), self._before, now

    def put_back(self, fixed: "dict[str, tuple[bytes, bytes]]", stage: bool) -> list[str]:
        """Puts fixes, each `path: (as staged, as fixed)`, into the work tree, and with `stage` all that was taken into
        the index; the paths whose unstaged edits are in the way of a fix, and which stay as they are.

        Raises AhpError where the index is locked or was changed meanwhile; then nothing is changed.
        """
        moves: list[Move] = []
        hindered = []
        for path, (before, after) in fixed.items():
            if not _is_plain(self._repo.root, path):
                continue  # deleted, or something else by now
            place = f"{self._repo.root}/{path}"
            known = os.lstat(place)
            now = files.read(place) or b""
            wanted = self._merged(path, now, before, after)
            if wanted is None:
                hindered.append(path)
            elif wanted != now:
                is_near = os.lstat(self._folder).st_dev == known.st_dev  # else no rename leads there
                ready = f"{self._folder if is_near else os.path.dirname(place)}/.ahp-fix.{len(moves)}"
                files.overwrite(ready, wanted)
                os.chmod(ready, stat.S_IMODE(known.st_mode))
                moves.append((ready, place, _identity(known)))
        indexes = self._indexes() if stage else []
        _at_once(moves, indexes)
        return hindered

    def _merged(self, path: str, now: bytes, before: bytes, after: bytes) -> bytes | None:
        """A file with its fix beside its unstaged edits, None where they meet."""
        if now in (before, after):
            return after
        if self._blob(path, now) == self._blob(path, before):  # only line ends differ, or what a filter does
            return after
        sides = [f"{self._folder}/{side}" for side in ("now", "before", "after")]
        for place, data in zip(sides, (now, before, after), strict=True):
            files.overwrite(place, data)
        try:
            return self._git("merge-file", "-p", "-q", *sides)
        except GitError:  # its exit code is the number of places where they meet
            return None

    def _blob(self, path: str, data: bytes) -> bytes:
        """The id that git gives a file."""
        return self._git("hash-object", f"--path={path}", "--stdin", stdin=data)

    def _indexes(self) -> list[Move]:
        """(the new one, its place, what is there now) of each index that the commit leaves behind.

        For `git commit PATH` git has two: one of the commit, and, as its locked file, that of the time after.
        """
        listed = self._git("diff-index", "--cached", "--no-renames", *RAW[:1], "-z", "--no-abbrev", self._before)
        entries = changes.parse(listed).entries
        found = [(self.index, self._known)]
        if os.path.basename(self.index).startswith("next-index-"):  # as builtin/commit.c names it
            later = self._repo.git_dir + "/index.lock"
            found.append((later, _identity(os.lstat(later))))
        made = []
        for number, (place, known) in enumerate(found):
            name = f"next.{number}"
            _copy(place, f"{self._folder}/{name}")
            staged = set(self._git("ls-files", "-s", "-z", index=name).split(b"\0")) if number else None
            lines = []
            for e in entries:
                path = os.fsencode(e.path)
                if staged is None or b"%o %s 0\t%s" % (e.old_mode, e.old_oid.encode(), path) in staged:
                    lines.append(b"%o %s\t%s\0" % (e.new_mode, e.new_oid.encode(), path))
            self._git("update-index", "-z", "--index-info", index=name, stdin=b"".join(lines))
            made.append((f"{self._folder}/{name}", place, known))
        return made


def _at_once(moves: list[Move], indexes: list[Move]) -> None:
    """Renames files and indexes to their places, unless somebody has changed them. Raises AhpError."""
    pid = os.fork()  # a few renames, in a session of their own
    if not pid:
        code = 1
        held: list[str] = []
        try:
            os.setsid()
            for ready, place, known in indexes:
                os.link(ready, place + ".lock")  # as git locks an index: by a file that was not there
                held.append(place + ".lock")
                if _identity(os.lstat(place)) != known:
                    raise OSError
            for ready, place, known in moves:
                if _identity(os.lstat(place)) == known:
                    os.rename(ready, place)
            while held:
                os.rename(held[-1], held[-1].removesuffix(".lock"))
                held.pop()
            code = 0
        except OSError:
            for lock in held:
                with contextlib.suppress(OSError):
                    os.unlink(lock)
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]):
        what = "the index was changed or locked by another git command" if indexes else "the work tree takes no files"
        raise AhpError(f"cannot put fixed files back: {what}; commit again")


def _copy(path: str, to: str) -> Identity:
    """Copies an index; what tells it from another one at its place."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(to + ".lock")
    known = _identity(os.lstat(path))
    files.overwrite(to, files.read(path) or b"")
    return known


def _identity(status: os.stat_result) -> Identity:
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _is_plain(root: str, path: str) -> bool:
    """Whether `path` is a regular file below `root` that no link leads to."""
    try:
        is_regular = stat.S_ISREG(os.lstat(f"{root}/{path}").st_mode)
    except OSError:
        return False
    root, folder = os.path.realpath(root), os.path.dirname(path)
    return is_regular and os.path.realpath(f"{root}/{folder}") == os.path.normpath(f"{root}/{folder}")
