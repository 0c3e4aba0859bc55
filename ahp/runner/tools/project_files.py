"""Files of the project, as tools reach them: resolved before they are judged, and opened without following a link.

A path may lead elsewhere through links, `..`, another case or `/proc/self/cwd`. `resolve` says where it leads; that is
what the gate judges beside the path as written, and what is opened, from the root down and folder by folder: where a
link has come up since, the call fails. Whatever the policy says, no tool gets into a git directory, whose settings name
programs that git runs and may hold a password, and none changes ahp's policy.
"""

import errno
import os
import secrets
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from ahp.system import digest, environ, files
from ahp.system.errors import AhpError
from ahp.system.git import NotARepository, discover

LARGEST = 16 << 20  # bytes of a file that a tool reads
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_GIT_TIME = 20.0
_MOST_FILES = 100_000


def resolve(root: str, path: str, *, writes: bool = False) -> str:
    """Where `path` leads, relative to `root`, `.` for the root itself.

    Raises ValueError for what lies outside or in a git directory; if the call `writes`, for ahp's policy.
    """
    if "\0" in path:
        raise ValueError("a path holds no NUL")
    top = os.path.realpath(root)
    leads_to = _true_case(os.path.realpath(os.path.join(top, path.removeprefix("file://"))))
    if leads_to != top and not leads_to.startswith(top.rstrip("/") + "/"):
        raise ValueError(f"{path} leads out of the project; paths are relative to its folder")
    place = os.path.relpath(leads_to, top)
    folder = top
    for name in (*place.split("/"), ""):
        if _is_called(folder, name, ".git") or _is_git_directory(folder, name):
            raise ValueError(f"{path} is in a git directory, which tools neither read nor change; ask git instead")
        if writes and _is_called(folder, name, ".ahp") and (folder == top or os.path.lexists(f"{folder}/.git")):
            raise ValueError(f"{path} is part of ahp's policy, which no tool changes; ask the user to change it")
        folder = os.path.join(folder, name)
    return place


def _is_git_directory(folder: str, name: str) -> bool:
    """Whether git would take the folder for a git directory, once `name` is in it (gitrepository-layout)."""

    def has(one: str) -> bool:
        return one == name or os.path.lexists(os.path.join(folder, one))

    return has("HEAD") and (has("commondir") or (has("objects") and has("refs")))


def _is_called(folder: str, name: str, wanted: str) -> bool:
    """Whether a name in a folder stands for `wanted`: there are file systems that take `.GIT`, `GIT~1`, or letters that
    nobody sees for it.
    """
    seen = name if name.isascii() else "".join(one for one in name if unicodedata.category(one) != "Cf")
    if seen.casefold() == wanted:
        return True
    try:
        return _same(os.lstat(os.path.join(folder, wanted)), os.path.join(folder, name))
    except OSError:
        return False


def _true_case(path: str) -> str:
    """The path with the letters that its folders list, where the file system takes `SECRETS` for `secrets`."""
    found = "/"
    for name in path.split("/")[1:]:
        whole = os.path.join(found, name)
        try:
            here = os.lstat(whole)
            if _same(here, os.path.join(found, name.swapcase())) and name.swapcase() != name:
                name = next((one for one in os.listdir(found) if _same(here, os.path.join(found, one))), name)
        except OSError:
            pass  # it is not there, or may not be listed: then nothing tells its letters
        found = os.path.join(found, name)
    return found


def _same(here: os.stat_result, other: str) -> bool:
    try:
        return os.path.samestat(here, os.lstat(other))
    except OSError:
        return False


def read(root: str, place: str) -> bytes:
    """The bytes of the file at `place`, which `resolve` gave. Raises AhpError."""
    with _folder_of(root, place) as (folder, name):
        return _read(folder, name, place)


def write(root: str, place: str, data: bytes) -> bool:
    """Puts `data` at `place`, with the folders above it; whether there was a file before. Raises AhpError.

    Readers see the old bytes or the new ones, and another name of the same file (a hard link) keeps the old ones.
    """
    resolve(root, place, writes=True)  # what was written since may have made a git directory of a folder
    with _folder_of(root, place, make=True) as (folder, name):
        mode = _mode(folder, name, place)
        temporary = f".{name[:100]}.{secrets.token_hex(4)}.tmp"
        fd = os.open(temporary, _WRITE, 0o666 if mode is None else mode, dir_fd=folder)
        try:
            try:
                files.write_all(fd, data)
                if mode is not None:
                    os.fchmod(fd, mode)
            finally:
                os.close(fd)
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(temporary, dir_fd=folder)
            raise
        return mode is not None


def exists(root: str, place: str) -> bool:
    """Whether there is a file at `place`. Raises AhpError when something else is there."""
    try:
        with _folder_of(root, place) as (folder, name):
            return _mode(folder, name, place) is not None
    except AhpError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return False
        raise


def remove(root: str, place: str) -> None:
    """Removes the file at `place`. Raises AhpError."""
    with _folder_of(root, place) as (folder, name):
        os.unlink(name, dir_fd=folder)


def listed(root: str, place: str) -> list[str]:
    """The files at or below `place`, relative to `root` and sorted; in a repository without what git ignores."""
    top = os.path.realpath(root)
    if os.path.isfile(os.path.join(top, place)):
        return [place]
    found = _git_lists(top, place)
    if found is None:
        walked = os.walk(os.path.join(top, place))
        found = [os.path.relpath(os.path.join(folder, name), top) for folder, _, names in walked for name in names]
        found = [name for name in found if ".git" not in name.split("/")]
    return sorted(set(found))[:_MOST_FILES]


def _git_lists(top: str, place: str) -> list[str] | None:
    try:
        repository = discover(top, environ.scrubbed(environ.current()))
        repository.folder = top  # which may lie below the work tree's
        asked = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f":(literal){place}")
        data = repository.run(*asked, timeout=_GIT_TIME)
    except NotARepository:
        return None
    names = data.decode("utf-8", "surrogateescape").split("\0")
    return [name for name in names if name and os.path.lexists(os.path.join(top, name))]


@contextmanager
def _folder_of(root: str, place: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """(descriptor of the folder that holds `place`, its name there); no link is followed on the way."""
    *folders, name = place.split("/")
    try:
        fd = os.open(os.path.realpath(root), _FOLDER)
        try:
            for one in folders:
                if make:
                    try:
                        os.mkdir(one, dir_fd=fd)
                    except FileExistsError:
                        pass
                below = os.open(one, _FOLDER, dir_fd=fd)
                os.close(fd)
                fd = below
            yield fd, name
        finally:
            os.close(fd)
    except OSError as error:
        raise AhpError(f"{place}: {_why(error)}") from error


def _why(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "a link leads round in a circle here, or has come up since the call was judged"
    if error.errno == errno.ENOTDIR:
        return "a part of it is no folder"
    return (
        (error.strerror or type(error).__name__).lower().replace("no such file or directory", "there is no such file")
    )


def _read(folder: int, name: str, place: str) -> bytes:
    fd = os.open(name, _READ, dir_fd=folder)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise AhpError(f"{place} is a folder" if stat.S_ISDIR(status.st_mode) else f"{place} is no ordinary file")
        if status.st_size > LARGEST:
            raise AhpError(f"{place} has {status.st_size} bytes, more than the {LARGEST} that are read")
        with os.fdopen(os.dup(fd), "rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise AhpError(f"{place} has more than the {LARGEST} bytes that are read")
        return data
    finally:
        os.close(fd)


def _mode(folder: int, name: str, place: str) -> int | None:
    """The permissions of an ordinary file; None where there is nothing. Raises AhpError for anything else."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, "link")
    if not stat.S_ISREG(status.st_mode):
        raise AhpError(f"{place} is a folder" if stat.S_ISDIR(status.st_mode) else f"{place} is no ordinary file")
    return stat.S_IMODE(status.st_mode)


def line_ends(text: str) -> str:
    """What every line of a text ends with: CR LF, or else LF."""
    return "\r\n" if "\r\n" in text and "\n" not in text.replace("\r\n", "") else "\n"


def lines_of(text: str) -> list[str]:
    """Lines with their ends, by newlines alone, as git and editors number them.

    `str.splitlines` also parts at form feeds and the like.
    """
    parts = text.split("\n")
    return [*(part + "\n" for part in parts[:-1]), *([parts[-1]] if parts[-1] else [])]


class LastSeen:
    """The files of one project folder by their places, as `resolve` gives them."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def note(self, place: str, data: bytes) -> None:
        """A tool has shown the model these bytes of the file, or written them for it."""
        self._digests[place] = digest.sha256(data)

    def follow(self, place: str, before: bytes, after: bytes) -> None:
        """A tool has changed a part of the file: what else was in it is as well known as it was."""
        if self._digests.get(place) == digest.sha256(before):
            self.note(place, after)

    def check(self, root: str, place: str, path: str) -> None:
        """Raises AhpError where the file holds something else than was noted; nothing was noted of most files."""
        known = self._digests.get(place)
        if known is None or not exists(root, place):
            return
        if digest.sha256(read(root, place)) != known:
            raise AhpError(
                f"{path} has changed since you last read or wrote it, by a command or by somebody else; nothing was "
                "written. Read it again and keep what is new"
            )
