"""The one door to git: where a repository is, and small named questions to it.  [light]"""

import posix
import sys

from ahp.system import digest, environ, files
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TIMEOUT = 20.0
_LINE = 1 << 16
_PACKED = 64 << 20
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # of SHA-1, which every repository has that names no other
# In the common directory: where the work tree is, and which branch is the default one, as `ahp install git` found.
ROOT = "/ahp/root"
DEFAULT_BRANCH = "/ahp/default-branch"
_KEPT = ("cat-file", "config", "for-each-ref", "ls-tree", "rev-parse", "show-ref")
_SHORT = 1 << 20  # bytes
# Where the git of a Linux distribution has its settings; of another git this depends on how it was built.
_SYSTEM = {"/usr/bin/git": "/etc/gitconfig"}
COMMIT_OF = ("rev-parse", "-q", "--verify", "--end-of-options")
_ALIASES = 5  # branches that are names of other ones, one after the other (git-symbolic-ref)
# `git replace` is local: read the originals, which are what gets pushed.
# What a partial clone lacks is not fetched; versions before 2.45 know no other way than to allow no protocol.
# Grafts, which a clone may have in .git/info, are read from a place where no file can be (git warns of none there).
_AS_IT_IS = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_GRAFT_FILE": "/dev/null/grafts"}
# What a graph of commits says beside them is not hashed: a forged one leaves out a parent.
_PLAIN = ("--no-pager", "--no-optional-locks", "--no-replace-objects", "-c", "core.commitGraph=false")
# The repository's own settings may name programs for git to start, and whoever can write that file could run them.
# These come after every file of settings. What a driver of any name runs, `drivers` finds.
_STARTS_NOTHING = (
    *("-c", "core.fsmonitor=false"),  # by whatever reads the index
    *("-c", "core.hooksPath=/dev/null"),  # by what writes the index or moves a ref
    *("-c", "core.alternateRefsCommand=: #"),  # by fetch
    *("-c", "log.showSignature=false"),  # gpg.program
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false"),  # gc.recentObjectsHook
)
# For a comparison: no driver's program, and no git in a submodule, which has settings of its own. What a submodule is
# moved to is told all the same, also where a `.gitmodules` would hide it.
COMPARES = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
_BY_ITSELF = {
    **dict.fromkeys(("diff", "diff-files", "diff-index", "diff-tree"), COMPARES),
    **dict.fromkeys(("log", "show"), (*COMPARES, "--encoding=UTF-8", "--no-color")),
    "status": COMPARES[-1:],
    "blame": ("--no-textconv",),
}
_DRIVERS = r"^(filter|hook|merge|trailer)\..*\.(clean|cmd|command|driver|process|required|smudge)$"
_SECTIONS = (b"[filter", b"[hook", b"[include", b"[merge", b"[trailer")
# The hooks that `ahp install git` adds to the configuration, `hook.ahp-NAME`, for git 2.54: those that can refuse.
CHANNEL = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")
_OF_AHP = b'[hook "ahp-'
OWN = ("local", "worktree")
# What has git do without a driver: files count as they lie, what is merged is merged as text.
_IDLE = {"enabled": "false", "ifexists": "doNothing", "ifmissing": "doNothing"}
_INSTEAD = {
    **{name: {name: ""} for name in ("clean", "process", "smudge")},
    "required": {"required": "false"},
    "driver": {"driver": "git merge-file --quiet --marker-size=%L %A %O %B"},
    "cmd": _IDLE,
    "command": _IDLE,
}
_PATHS = ("GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR")
# How the person's git is to read patterns of paths: ahp's own are the same for everybody.
_PATHSPECS = ("GIT_GLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_LITERAL_PATHSPECS", "GIT_NOGLOB_PATHSPECS")
# What makes `git config` read one file in place of all that the other commands of git read.
_ONE_FILE = "GIT_CONFIG"


# What has git write a trace, as among what it is asked for.
_TRACE = "GIT_TRACE"


class GitError(AhpError):
    """git refused; the text holds git's own words."""


class NotARepository(AhpError):
    """No git repository here."""


def is_signed(commit: bytes) -> bool:
    """Whether a commit, as git prints it, has a signature: in a header, where a message cannot reach."""
    return b"\ngpgsig" in commit.partition(b"\n\n")[0]


class Repository:
    """A git repository as one work tree sees it.

    `root` is the top of the work tree ("" in a bare repository), `git_dir` this work tree's folder, `common_dir` the
    one that all work trees share (gitrepository-layout). `env` is what git runs with: inside a hook the inherited
    environment, which names the index being committed; elsewhere a scrubbed one. git runs in `folder`, which is the
    root but in a hook of a command that was told another work tree. By the ids of commits, `policies` keeps what git
    listed of their policy files, `folders` the id of the folder with these, `texts` messages. `hashed` are the objects
    whose content was seen to be what the id says. `unhashed` names those that git has compared or listed and that were
    not seen yet; only hooks need it, since git hashes what it fetches, but not what it reads. `answers` keeps short
    answers to questions about refs and objects while it is a dict: for the time of a push, whose refs have most of
    these questions in common. What is asked of git for many of them at once is put there, too (`foresee`).
    """

    __slots__ = (
        *("_found", "answers", "common_dir", "env", "folder", "folders", "git", "git_dir", "hashed", "policies"),
        *("root", "texts", "unhashed"),
    )

    def __init__(
        self, root: str, git_dir: str, common_dir: str, env: dict[str, str], git: str = "git", folder: str = ""
    ) -> None:
        self.root, self.git_dir, self.common_dir, self.env, self.git = root, git_dir, common_dir, env, git
        self.folder = folder or root or git_dir
        self._found: set[str] = set()
        self.hashed: set[str] = set()
        self.unhashed: dict[str, None] | None = None
        self.policies: dict[str, bytes] = {}
        self.folders: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.answers: dict[tuple[object, ...], bytes | Callable[[], bytes | None]] | None = None

    def run(
        self,
        *args: str,
        stdin: bytes = b"",
        ok: tuple[int, ...] = (0,),
        timeout: float = _TIMEOUT,
        fetch: bool = False,
        objects: bool = False,
        for_person: bool = False,
    ) -> bytes:
        """What `git args` prints, asked as `command` says.

        Raises GitError unless it exits with one of `ok`, Timeout, OutputLimit.
        """
        question = (args, stdin, fetch, objects)
        if self.answers is not None and (known := self.answers.get(question)) is not None:
            told = known() if callable(known) else known
            if told is not None:
                return told
        from ahp.system import patience, process

        argv, env = self.command(*args, fetch=fetch, objects=objects, for_person=for_person)
        verb = _verb(args)
        patience.command = f"git {verb}"
        try:
            result = process.capture(argv, env=env, stdin=stdin, timeout=timeout)
        finally:
            patience.command = ""
        if result.code not in ok:
            words = result.err.decode("utf-8", "replace").strip().splitlines()
            last = words[-1] if words else f"exit code {result.code}"
            said = next((line for line in words if line.startswith("fatal: ")), last)
            mend = next((f"; fix: {line.strip()}" for line in words if line.startswith("\tgit ")), "")
            raise GitError(f"git {verb} failed: {said[:300]}{mend[:300]}")
        if self.unhashed is not None and verb == "diff-tree" and "--raw" in args:
            ends = [word for word in args[args.index(verb) + 1 :] if word[:1] != "-"]
            self.has_read(stdin.decode().split() or ends[:2], result.out)
        if self.answers is not None and verb in _KEPT and len(stdin) + len(result.out) <= _SHORT:
            self.answers[question] = result.out
        return result.out

    def command(
        self, *args: str, fetch: bool = False, objects: bool = False, for_person: bool = False
    ) -> tuple[list[str], dict[str, str]]:
        """The command line of `git args` and its environment. git starts no program that the settings name, but for
        filters and drivers of the person's own settings, which decide what a file holds.

        With `fetch` it may ask a remote, as for objects that a partial clone lacks, by whatever the settings name for
        that (ssh, credentials). `objects`: it compares what is staged or committed, and no file of the work tree is
        read for that. `for_person`: it does what a person would do by hand, with their hooks and filters. Raises
        GitError.
        """
        verb, folder = _verb(args), self.git_dir if objects else self.folder
        env = self.env if fetch or for_person else {**self.env, **_AS_IT_IS}
        if objects:
            # Of a file that the index has as unchanged, git reads what lies in the work tree in place of the object;
            # time stamps and settings decide that, and both can be set. In the git directory it finds none of them.
            env = {**self.absolute_paths(env), "GIT_DIR": folder, "GIT_WORK_TREE": folder}
        elif verb not in _KEPT and not for_person:
            env = env | as_settings(self.drivers(), env)
        # `config` tells the settings and would tell these; it starts nothing.
        settings = () if for_person or verb == "config" else _STARTS_NOTHING
        at = args.index(verb) + 1 if verb else 0
        more = _BY_ITSELF.get(verb, ())
        if self.unhashed is not None and verb == "diff-tree" and "--raw" in args:
            more = (*more, "-t")  # the trees that git has opened, too
        return [self.git, "-C", folder, *_PLAIN, *settings, *args[:at], *more, *args[at:]], env

    def drivers(self) -> dict[str, str]:
        """The settings by which git does without the filters, merges, trailers and hooks that this repository's own
        configuration names. Those of the person's settings stay (git-config, protected configuration). Raises GitError.
        """
        if not any(map(_names_drivers, (self.common_dir + "/config", self.git_dir + "/config.worktree"))):
            return {}
        told = self.run("config", "-z", "--show-scope", "--get-regexp", _DRIVERS, ok=(0, 1))
        fields = told.decode("utf-8", "surrogateescape").split("\0")
        items = [(scope, *item.partition("\n")[::2]) for scope, item in zip(fields[::2], fields[1::2], strict=False)]
        kept = {key: value for scope, key, value in items if scope not in OWN}
        found: dict[str, str] = {}
        for scope, key, _ in items:
            driver, _, last = key.rpartition(".")
            if key in kept:
                found[key] = kept[key]
            elif scope in OWN:
                found |= {f"{driver}.{name}": value for name, value in _INSTEAD[last].items()}
        return found

    def foresee(
        self, *args: str, answer: "bytes | Callable[[], bytes | None]", stdin: bytes = b"", objects: bool = False
    ) -> None:
        """Has `run` answer this question so while answers are kept; by itself where the answer comes out as None."""
        if self.answers is not None:
            self.answers[(args, stdin, False, objects)] = answer

    def absolute_paths(self, env: dict[str, str]) -> dict[str, str]:
        """`env`, of which what names files to git holds in another folder, too."""
        given = {name: env[name].split(":") for name in _PATHS if env.get(name)}
        return env | {
            name: ":".join([_absolute(self.folder, one) if one[:1] not in '"' else one for one in every])
            for name, every in given.items()
        }

    def printed(self, oids: "list[str]") -> dict[str, bytes]:
        """What `git cat-file --batch` prints of each object that is here, by its name: an id, or what git takes for one
        (gitrevisions). The line of its kind is included. Raises GitError, also where an object is not what its id says,
        OutputLimit.
        """
        asked = "".join([f"{oid}\n" for oid in oids]).encode()
        data = self.run("cat-file", "--batch", "--buffer", stdin=asked) if oids else b""
        found, at = {}, 0
        for oid in oids:
            head = data[at : data.index(b"\n", at)]
            if head.endswith(b" missing"):
                at += len(head) + 1
                continue
            told, kind, size = head.split(b" ")
            end = at + len(head) + int(size) + 2
            check(told.decode() if oid.strip("0123456789abcdef") else oid, kind, data[at + len(head) + 1 : end - 1])
            found[oid], at = data[at:end], end
        self.hashed.update(found)
        return found

    def has_read(self, names: "Sequence[str]", told: bytes = b"") -> None:
        """Notes commits and trees that git has read, and those that `diff-tree -t -z` has `told`, for `view.verify`."""
        if self.unhashed is not None:
            lines = [line.split(b" ") for line in told.split(b"\0") if b"040000 " in (line[1:8], line[8:15])]
            trees = [oid.decode("latin-1") for line in lines for oid in line[2:4] if len(oid) >= 40]
            self.unhashed.update(dict.fromkeys([*names, *[f"{name}^{{tree}}" for name in names], *trees]))

    def line(self, *args: str, ok: tuple[int, ...] = (0,)) -> str:
        """`run`, as one stripped line of text; "" when git prints nothing."""
        return self.run(*args, ok=ok).decode("utf-8", "surrogateescape").strip()

    @property
    def ahp_dir(self) -> str:
        """The folder of ahp's own files: log, state, cache, what is installed (design §3)."""
        return self.common_dir + "/ahp"

    def head_text(self) -> str:
        """What HEAD says: `ref: refs/heads/x` or an object id. Raises GitError when it is unreadable."""
        data = files.read(self.git_dir + "/HEAD", _LINE)
        if data is None:
            raise GitError(f"{self.git_dir} has no HEAD; is it a git repository?")
        return data.decode("utf-8", "surrogateescape").strip()

    def branch(self) -> str:
        """The branch that HEAD is on, "" when it is detached; of a name that stands for another branch, that one."""
        text = self.head_text()
        if not text.startswith("ref: "):
            return ""
        name = text[5:].strip()
        if name == "refs/heads/.invalid":  # the reftable format keeps HEAD elsewhere
            name = self.line("symbolic-ref", "-q", "HEAD", ok=(0, 1))
        for _ in range(_ALIASES):
            loose = self._loose(name)
            if loose is None or not loose.startswith(b"ref: "):
                break
            name = loose[5:].decode("utf-8", "surrogateescape").strip()
        return name.removeprefix("refs/heads/")

    def rebased(self) -> str:
        """The branch that a rebase in this work tree goes on about, "" where there is none (git-rebase)."""
        for folder in ("rebase-merge", "rebase-apply"):
            name = files.read(f"{self.git_dir}/{folder}/head-name", _LINE)
            if name is not None and name.startswith(b"refs/heads/"):
                return name.decode("utf-8", "surrogateescape").strip().removeprefix("refs/heads/")
        return ""

    def head_id(self) -> str:
        """The id of the commit that HEAD is at, "" before the first one; read from files where git keeps it in them."""
        text = self.head_text()
        if not text.startswith("ref: "):
            return text
        ref = text[5:].strip()
        if ref == "refs/heads/.invalid":  # reftable
            return self.commit_id("HEAD") or ""
        loose = self._loose(ref)
        if loose is not None:
            found = loose.decode("ascii", "replace").strip()
            return (self.commit_id("HEAD") or "") if found.startswith("ref: ") else found
        packed = files.read(self.common_dir + "/packed-refs") or b""
        line = b" " + ref.encode("utf-8", "surrogateescape") + b"\n"
        at = packed.find(line)
        return packed[packed.rfind(b"\n", 0, at) + 1 : at].decode("ascii", "replace") if at >= 0 else ""

    def commit_id(self, name: str) -> str | None:
        """The full id of the commit `name`, None when there is none. An id that was found once is not asked for again:
        a ref may move, a commit stays what it is. The full name of a ref is that ref or nothing.
        """
        if name in self._found:
            return name
        found = self.line(*COMMIT_OF, name + "^{commit}", ok=(0, 1, 128))
        if not found or "\n" in found or found[0] == "^":  # a range is several ids
            return None
        if name.startswith("refs/") and not any(c in name for c in "^~:{") and not self.has_ref(name):
            return None
        self._found.add(found)
        return found

    def has_ref(self, name: str) -> bool:
        """Whether there is a ref of this full name. git takes refs/tags/refs/heads/x, too, for refs/heads/x where that
        is not there (gitrevisions), and anybody may push such a tag.
        """
        if self._loose(name) is not None:
            return True
        if self.has_tables():
            return bool(self.line("show-ref", "--verify", "--hash", "--", name, ok=(0, 1, 128)))
        packed = files.read(self.common_dir + "/packed-refs", _PACKED) or b""
        return f" {name}\n".encode("utf-8", "surrogateescape") in packed

    def has_tables(self) -> bool:
        """Whether refs and their reflogs are kept in the reftable format, which only git reads. Raises AhpError."""
        return files.read(self.common_dir + "/reftable/tables.list") is not None

    def _loose(self, ref: str) -> bytes | None:
        """What the file of a ref says, None where there is none: git leaves an empty folder in the place of a packed
        ref where one below its name was refused. Raises AhpError.
        """
        path = f"{self.common_dir}/{ref}"
        try:
            return files.read(path, _LINE)
        except AhpError:
            if posix.access(path + "/.", posix.F_OK):
                return None
            raise

    def merge_heads(self) -> list[str]:
        """The commits that a merge, which is not committed yet, joins to HEAD; none where none is going on."""
        return (files.read(self.git_dir + "/MERGE_HEAD", _LINE) or b"").decode("ascii", "replace").split()

    def merging(self) -> list[str]:
        """`merge_heads`, also where git is about to write them: before its pre-merge-commit hook it only names them in
        the environment.
        """
        return self.merge_heads() or [name[8:] for name in self.env if name.startswith("GITHEAD_")]

    def shallow(self) -> frozenset[str]:
        """The commits whose parents a shallow clone does not have (gitrepository-layout, shallow)."""
        return frozenset((files.read(self.common_dir + "/shallow") or b"").decode("ascii", "replace").split())

    def empty_tree(self) -> str:
        """The id of the tree with nothing in it, in this repository's hash.

        git takes the kind of hash from this one file, without what it includes (git's repository-version,
        extensions.objectFormat).
        """
        settings = files.read(self.common_dir + "/config")
        if settings is not None and b"objectformat" not in settings.lower():
            return _EMPTY_TREE
        return self.line("hash-object", "-t", "tree", "--stdin")

    def config(self, name: str) -> str:
        """A value of git's configuration, "" when unset."""
        return self.line("config", "--get", name, ok=(0, 1))

    def may_set(self, name: str) -> bool:
        """Whether a file that git reads here may set the key that ends in `name`; True where not all are known. To ask
        git starts a process.
        """
        system, home = _SYSTEM.get(self.git), self.env.get("HOME")
        if system is None or not home or sys.platform != "linux":
            return True
        shared = self.env.get("XDG_CONFIG_HOME") or f"{home}/.config"
        places = [f"{self.common_dir}/config", f"{self.git_dir}/config.worktree", system, f"{home}/.gitconfig"]
        wanted = name.lower().encode()
        try:
            told = [(files.read(place, _SHORT) or b"").lower() for place in (*places, f"{shared}/git/config")]
        except AhpError:  # too large, or no file: git has its own way with it
            return True
        return any(wanted in one or b"include" in one for one in told)


def check(oid: str, kind: bytes, content: bytes) -> None:
    """Raises GitError where the content of an object is not what its id says."""
    if digest.object_id(kind, content, len(oid)) != oid:
        raise GitError(f"the object {oid[:12]} is not what its id says; `git fsck` tells more")


def locate(folder: str, env: dict[str, str], git: str = "git") -> Repository:
    """The repository of a running hook, which git has started in `folder`, without asking git.

    Raises NotARepository, AhpError where nothing tells whose work tree it is.
    """
    git_dir = _absolute(folder, env.get("GIT_DIR") or ".git")
    link = _gitfile(git_dir)
    if link:
        git_dir = _absolute(folder, link)
    if files.read(git_dir + "/HEAD", _LINE) is None:
        raise NotARepository(f"no git repository at {folder}")
    common_dir = _common_dir(git_dir)
    root = _work_tree(git_dir, common_dir, folder)
    if root != folder and _same(root, folder):
        root = folder  # one name for one place: compiled policies are kept by it
    kept = {name: env[name] for name in env if name not in _PATHSPECS and name != _ONE_FILE}
    kept = {name: value for name, value in kept.items() if not name.startswith(_TRACE)}
    return Repository(root, git_dir, common_dir, kept, git, folder)


def discover(folder: str, env: dict[str, str], git: str = "git") -> Repository:
    """The repository that holds `folder`, as git finds it. Raises NotARepository, GitError."""
    probe = Repository(folder, folder, folder, environ.scrubbed(env), git)
    try:
        probe.git_dir = _path(probe, "--absolute-git-dir")
    except GitError as error:
        if "not a git repository" in str(error):
            raise NotARepository(f"no git repository at {folder} or above it") from None
        raise
    probe.common_dir = _common_dir(probe.git_dir)
    known = recorded(probe.git_dir, probe.common_dir)
    if known is None and (top := _top(probe)):
        probe.root = top
    elif known is None and probe.line("rev-parse", "--is-bare-repository") == "true":
        probe.root = ""
    else:
        probe.root = _work_tree(probe.git_dir, probe.common_dir, folder)
    if probe.root:  # else a later core.worktree would have git look at other files
        probe.env = {**probe.env, "GIT_DIR": probe.git_dir, "GIT_WORK_TREE": probe.root}
    probe.folder = probe.root or probe.git_dir
    return probe


def recorded(git_dir: str, common_dir: str) -> str | None:
    """Where the work tree of `git_dir` is by git's own record for a linked one, else by that of `ahp install git`.

    The path of its `.git`; the top itself where there is none in it, as `core.worktree` allows; "" for a bare
    repository; None without a record.
    """
    linked = git_dir != common_dir
    text = files.read(git_dir + "/gitdir" if linked else common_dir + ROOT, _LINE)
    if text is None:
        return None
    path = text.decode("utf-8", "surrogateescape").removesuffix("\n")
    return _absolute(git_dir, path) if path else ""


def leads_back(link: str, git_dir: str) -> bool:
    """Whether `link`, from `recorded`, still is at a work tree of `git_dir`."""
    top, _, name = link.rpartition("/")
    if name != ".git":
        return _same(link, link) and not _same(link, git_dir)  # a git directory that was moved is no work tree
    named = _gitfile(link)
    return link == git_dir or _same(_absolute(top, named) if named else link, git_dir)


def _work_tree(git_dir: str, common_dir: str, folder: str) -> str:
    """The top of the work tree whose policy judges (authority §1), "" for a bare repository.

    What was recorded decides. Where that leads nowhere (a work tree that was moved or mounted elsewhere), it is the
    folder at or above `folder` whose `.git` names this git directory; a folder that only the command line or the
    environment names has none. Raises AhpError where neither tells.
    """
    link = recorded(git_dir, common_dir)
    if link is None and git_dir.endswith("/.git"):
        link = git_dir
    if link == "":
        return ""
    if link and leads_back(link, git_dir):
        return (link.removesuffix("/.git") or "/") if link.endswith("/.git") else link
    while not leads_back(folder.rstrip("/") + "/.git", git_dir):
        if folder in ("", "/"):
            mend = f"ahp install git (where it has no .git, before that: echo 'gitdir: {git_dir}' >.git)"
            raise AhpError(f"cannot tell where the work tree of {git_dir} is; fix, in it: {mend}")
        folder = folder.rpartition("/")[0] or "/"
    return folder


def _verb(args: "tuple[str, ...]") -> str:
    """The command among git's arguments: git's own options stand before it, their values with `=`."""
    return next((one for one in args if one[:1] != "-" and "=" not in one), "")


def _names_drivers(path: str) -> bool:
    """Whether a file of settings may name a driver; also where it is too large to look."""
    try:
        text = (files.read(path, _SHORT) or b"").lower()
    except AhpError:
        return True
    first, *ours = text.split(_OF_AHP)
    text = first + b"".join([left if (left := _behind(one)) is not None else _OF_AHP for one in ours])
    return any(section in text for section in _SECTIONS)


def _behind(section: bytes) -> bytes | None:
    """What stands behind a section as `ahp install git` writes it; None of another one.

    Its hook is of one event, that of its name: no call of ahp's comes to it.
    """
    name, _, rest = section.partition(b'"]\n')
    command, event, left = (*rest.split(b"\n", 2), b"", b"")[:3]
    is_whole = command.startswith(b"\tcommand = ") and not command.endswith(b"\\") and left[:1] in (b"", b"[")
    return left if is_whole and name.decode("latin-1") in CHANNEL and event == b"\tevent = " + name else None


def as_settings(settings: dict[str, str], env: dict[str, str]) -> dict[str, str]:
    """The variables that give git these settings after those of `env` (git-config, GIT_CONFIG_COUNT): a name may hold
    a `=`, at which `-c` would cut it.
    """
    start = env.get("GIT_CONFIG_COUNT", "")
    first = int(start) if start.isdecimal() else 0
    told = {"GIT_CONFIG_COUNT": str(first + len(settings))} if settings else {}
    for number, (key, value) in enumerate(settings.items(), first):
        told |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return told


def _same(path: str, other: str) -> bool:
    """Whether both are there and one folder, under whatever names."""
    try:
        one, two = posix.stat(path), posix.stat(other)
    except OSError:
        return False
    return (one.st_dev, one.st_ino) == (two.st_dev, two.st_ino)


def _top(repo: Repository) -> str:
    """The top of the work tree around the folder, "" where git says that it is in none."""
    # In one process: where the first answer is no, git ends with 128 at the second.
    told = repo.run("rev-parse", "--is-inside-work-tree", "--show-toplevel", ok=(0, 128))
    inside, _, top = told.decode("utf-8", "surrogateescape").partition("\n")
    return top.removesuffix("\n") if inside == "true" else ""


def _path(repo: Repository, question: str) -> str:
    """git's answer to a question about a folder, whose name may hold any byte but NUL."""
    return repo.run("rev-parse", question).decode("utf-8", "surrogateescape").removesuffix("\n")


def _gitfile(path: str) -> str:
    """Where a `.git` file points (submodules, linked work trees), "" for a folder."""
    try:
        data = files.read(path, _LINE)
    except AhpError:
        return ""
    text = (data or b"").decode("utf-8", "surrogateescape")
    return text[8:].rstrip("\r\n") if text.startswith("gitdir: ") else ""


def _common_dir(git_dir: str) -> str:
    """The folder that all work trees of `git_dir` share (gitrepository-layout, commondir)."""
    named = files.read(git_dir + "/commondir", _LINE)
    return _absolute(git_dir, named.decode("utf-8", "surrogateescape").rstrip("\r\n")) if named else git_dir


def _absolute(folder: str, path: str) -> str:
    """`path` as seen from `folder`, without steps up and down: what is stored must not hang on a folder between."""
    if path.startswith("/"):
        return path
    for part in path.split("/"):
        if part == "..":
            folder = folder.rpartition("/")[0]
        elif part not in ("", "."):
            folder += "/" + part
    return folder
