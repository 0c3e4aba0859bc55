"""Where reports of other tools lie, and whether they are newer than the code (design §4, §6)."""

import glob
import os
from collections.abc import Iterable, Mapping

from ahp.facts.absent import Absent
from ahp.protocol.event import Event
from ahp.system import files
from ahp.system.git import Repository

REPORT_LIMIT = 64 << 20  # bytes
_REPORTS_AT_MOST = 2000

# What a test run depends on: program text and build files.  Prose, tickets and pictures may change after it.
_CODE = (
    ".py .pyi .pyx .js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte .css .html .go .rs .java .kt .kts .groovy .scala "
    ".clj .c .h .cc .cpp .cxx .hpp .m .mm .cs .fs .swift .dart .rb .php .pl .pm .lua .r .jl .ex .exs .erl .hs .ml .nim "
    ".zig .f90 .sh .bash .zsh .ps1 .sql .proto .ipynb .tf .toml .json .yaml .yml .gradle"
)
_CODE_ENDS = frozenset(_CODE.split())
_KINDS = {
    "python": ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", ".coveragerc"),
    "node": ("package.json",),
    "go": ("go.mod",),
    "maven": ("pom.xml",),
    "gradle": ("build.gradle", "build.gradle.kts"),
}
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


def newer_source(repository: Repository, report: Found) -> str | None:
    """A source file of the work tree that changed after the report was written, None when there is none.

    Raises GitError. Only files that git tracks or would track are asked, and only those that look like code.
    """
    listed = repository.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
    for raw in listed.split(b"\0"):
        path = os.fsdecode(raw)
        if not _is_code(path) or path == report.path:
            continue
        try:
            status = os.lstat(os.path.join(repository.root, path))
        except OSError:
            continue  # deleted: when is not recorded
        if status.st_mtime_ns > report.mtime_ns:
            return path
    return None


def _is_code(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    # Reports of one run are written one after the other; none of them makes another stale.
    if name.startswith("coverage") or path.startswith(_NOT_CODE):
        return False
    return os.path.splitext(name)[1] in _CODE_ENDS


def maker(event: Event, commands: Mapping[str, str]) -> str:
    """The command that makes a report in a project of this kind, as far as the top of its tree shows it; else ""."""
    top = {kind for kind, names in _KINDS.items() for name in names if os.path.lexists(f"{event.root}/{name}")}
    return next((command for kind, command in commands.items() if kind in top), "")


def repository_for(event: Event) -> Repository:
    """The repository whose files a report is compared with. Raises Absent for a past state and without a work tree."""
    if event.mode == "replay":
        raise Absent("a past state is judged, and the reports are of the present one")
    repository = event.repo
    if repository is None or not repository.root:
        raise Absent("without a work tree, whether a report is current cannot be known")
    return repository
