"""Where reports of other tools lie, and whether they are newer than the code (design §4, §6)."""

import glob
import os
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256

from ahp.facts import tree_digest
from ahp.facts.registry import Absent
from ahp.protocol.event import Event
from ahp.system import clock, files
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.view import literally, names

REPORT_LIMIT = 64 << 20  # bytes
_REPORTS_AT_MOST = 2000

# What a test run depends on: program text, build files, templates, snapshots, settings.  Prose, tickets and pictures
# may change after it.
_CODE = (
    ".py .pyi .pyx .js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .css .html .go .rs .java .kt .kts .groovy .scala "
    ".clj .c .h .cc .cpp .cxx .hpp .m .mm .cs .fs .swift .dart .rb .php .pl .pm .lua .r .jl .ex .exs .erl .hs .ml .nim "
    ".zig .f90 .sh .bash .zsh .ps1 .sql .proto .graphql .gql .ipynb .tf .toml .json .yaml .yml .ini .cfg "
    ".properties .gradle .snap .ambr .jinja .jinja2 .j2 .tmpl .tpl .mustache .hbs .ejs .erb .haml .slim .pug .liquid "
    ".twig .njk .mako .dockerfile"
)
_CODE_ENDS = frozenset(_CODE.split())
_CODE_NAMES = ("makefile", "gnumakefile", "dockerfile", "containerfile", "rakefile", "gemfile")
_KINDS = {
    "python": ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", ".coveragerc"),
    "node": ("package.json",),
    "go": ("go.mod",),
    "maven": ("pom.xml",),
    "gradle": ("build.gradle", "build.gradle.kts"),
}
_OTHERS = "other"  # in place of a digest: of sources that nobody knows, for reports that were stale at first sight
_TELLS_WHEN = re.compile(rb"""\btimestamp["']?\s*[=:]""")  # JUnit XML, coverage.xml, coverage.json; not lcov
_NOT_CODE = (".ahp/", "Issues/", ".monoco/", "docs/", ".github/", ".gitlab/", ".vscode/", ".idea/")


class Found:
    """A report on the disk: path relative to the root, absolute path, time of its last change in ns."""

    __slots__ = ("absolute", "mtime_ns", "path")

    def __init__(self, path: str, absolute: str, mtime_ns: int) -> None:
        self.path, self.absolute, self.mtime_ns = path, absolute, mtime_ns

    def read(self) -> bytes:
        """Its bytes. Raises AhpError over `REPORT_LIMIT` or when unreadable, Absent when it vanished."""
        data = files.read(self.absolute, REPORT_LIMIT)
        if data is None:
            raise Absent(f"{self.path} vanished while it was read")
        return data


def find(root: str, patterns: Iterable[str]) -> list[Found]:
    """The regular files under `root` that a pattern names (`**` for any depth), in the patterns' order, each once."""
    found: dict[str, Found] = {}
    for pattern in patterns:
        if pattern.startswith("/") or ".." in pattern.split("/"):
            continue  # policies that load name none; a report outside says nothing about this tree
        for path in sorted(glob.iglob(pattern, root_dir=root, recursive=True, include_hidden=True)):
            if path in found or len(found) >= _REPORTS_AT_MOST or "node_modules" in path.split("/"):
                continue
            absolute = os.path.join(root, path)
            try:
                status = os.stat(absolute)
            except OSError:
                continue
            if os.path.isfile(absolute):
                found[path] = Found(path, absolute, status.st_mtime_ns)
    return list(found.values())


def evidence(event: Event, repository: Repository, patterns: Iterable[str]) -> list[Found]:
    """The reports that count. Of a push those that git tracks do not: what it brings is no evidence for it (authority
    §5). Raises Absent where there are no others, GitError.
    """
    found = find(event.root, patterns)
    if event.push is None or not found:
        return found
    paths = [one.path for one in found]
    tracked = set(names(repository.run(*literally(paths), "ls-files", "-z", "--", *paths)))
    counts = [one for one in found if one.path not in tracked]
    if not counts:
        path = found[0].path
        raise Absent(f"{path} is in the commits themselves, which makes it no evidence", f"git rm --cached {path}")
    return counts


def changed_source(event: Event, repository: Repository, reports: list[Found]) -> str | None:
    """A source that is not what it was when the reports were made, as words for a sentence; None when all are.

    Seen for the first time, reports are stale when a source is newer than the oldest of them. From then on they are
    stale when paths or contents of the sources are others than at that time. Raises GitError, AhpError, Absent.
    """
    paths = {report.path for report in reports}
    settings = {name for name in os.listdir(event.root) if name.lower().startswith(".env")}  # git may ignore them
    sources = tree_digest.of(repository, "", lambda path: path not in paths and _is_code(path), settings - paths)
    seen = _First(event, reports)
    if seen.sources == sources:
        return None
    newer = _newer(repository, paths, settings, min(report.mtime_ns for report in reports))
    if newer is None and seen.sources:
        return "the sources: some were removed, renamed or replaced since"
    if not seen.sources:
        seen.keep(sources if newer is None else _OTHERS)
    return newer


class _First:
    """The digest that the sources had when these very reports were first seen, `_OTHERS` where they were stale then.

    `sources` is "" for reports that are seen now for the first time.
    """

    __slots__ = ("_path", "_reports", "sources")

    def __init__(self, event: Event, reports: list[Found]) -> None:
        names = "\0".join([event.root, *[report.path for report in reports]])
        self._path = f"{event.journal}/cache/reports/{_digest(names)[:32]}"
        self._reports = _digest("\0".join([_run(report) for report in reports]))
        try:
            kept = (files.read(self._path, 256) or b"").decode("ascii", "replace").split()
        except AhpError:  # as where nothing is kept
            kept = []
        self.sources = kept[1] if len(kept) == 2 and kept[0] == self._reports else ""

    def keep(self, sources: str) -> None:
        """Remembers `sources`. Where nothing can be written, the time stamps go on deciding."""
        try:
            files.make_dirs(self._path.rpartition("/")[0])
            files.replace(self._path, f"{self._reports} {sources}\n".encode())
        except AhpError:
            return


def _run(report: Found) -> str:
    """What tells one run's report from another's: its bytes, and its time where they do not say when it was made.

    So a report whose time alone is new is still the old one.
    """
    data = report.read()
    when = "" if _TELLS_WHEN.search(data) else report.mtime_ns
    return f"{when} {sha256(data).hexdigest()}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _newer(repository: Repository, reports: set[str], settings: set[str], mtime_ns: int) -> str | None:
    """A source file of the work tree that changed after `mtime_ns`, in words for a sentence; None without one."""
    now_ns = clock.now() * 1e9
    listed = repository.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    for path in [*listed.decode("utf-8", "surrogateescape").split("\0"), *settings]:
        if path in reports or not (path in settings or _is_code(path)):
            continue
        try:
            status = os.lstat(os.path.join(repository.root, path))
        except OSError:
            continue  # deleted: when is not recorded
        if status.st_mtime_ns > mtime_ns:
            ahead = status.st_mtime_ns > now_ns  # no new report would be newer
            return f"{path}, whose time is in the future: touch it first" if ahead else path
    return None


def _is_code(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    # Reports of one run are written one after the other; none of them makes another stale.
    if name.startswith("coverage") or path.startswith(_NOT_CODE):
        return False
    return os.path.splitext(name)[1] in _CODE_ENDS or name.split(".")[0] in _CODE_NAMES or name.startswith(".env")


def maker(event: Event, commands: Mapping[str, str]) -> str:
    """The command that makes a report in a project of this kind, as far as the top of its tree shows it; else ""."""
    top = {kind for kind, names in _KINDS.items() for name in names if os.path.lexists(f"{event.root}/{name}")}
    return next((command for kind, command in commands.items() if kind in top), "")


def repository_for(event: Event) -> Repository:
    """The repository whose files a report is compared with. Raises Absent for a past state and without a work tree."""
    if event.from_objects:
        raise Absent("commits are judged, and the reports are of the work tree", elsewhere=True)
    if event.mode == "replay":
        raise Absent("a past state is judged, and the reports are of the present one")
    repository = event.repo
    if repository is None or not repository.root:
        raise Absent("without a work tree, whether a report is current cannot be known")
    return repository
