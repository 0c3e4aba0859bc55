"""The tests that a change and former failures suggest to run first."""

import re
from collections.abc import Collection, Iterable

from ahp.runner.verification.check import Check
from ahp.runner.verification.project import Project, joined
from ahp.system.errors import AhpError

_SOURCES = (".py", ".pyi", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
_SEARCHED = 30  # changed sources whose names are searched for
_SECONDS = 10.0
_NO_NAME = ("__init__", "index", "main", "mod")  # of these the folder has the name


def test_files(project: Project, check: Check, failed: Iterable[str] = ()) -> list[str]:
    """The test files of a check that changed files and the files that `failed` suggest, relative to its folder.

    [] where all have to run: nothing suggests fewer, or something changed that every test may hang on.
    """
    if check.narrowed is None or not check.files:
        return []
    known = frozenset(check.files)
    inside = [path for path in (_inside(check, one) for one in sorted(project.changed)) if path is not None]
    chosen = {path for path in failed if path in known} | {path for path in inside if path in known}
    sources = [path for path in inside if path not in known and path.endswith(_SOURCES)]
    if any(not path.endswith(_SOURCES) and not _is_prose(path) for path in inside) or len(sources) > _SEARCHED:
        return []  # settings, data, lock files
    if any(path.rpartition("/")[2] == "conftest.py" for path in sources):
        return []
    for path in sources:
        found = _of_source(project, check, path, known)
        if not found:
            return []
        chosen |= found
    chosen = {path for path in chosen if project.there(joined(check.directory, path))}
    return sorted(chosen) if len(chosen) * 2 <= len(known) else []


def _inside(check: Check, path: str) -> str | None:
    if check.directory == ".":
        return path
    return path.removeprefix(f"{check.directory}/") if path.startswith(f"{check.directory}/") else None


def _is_prose(path: str) -> bool:
    return path.endswith((".md", ".rst", ".txt")) and "requirements" not in path


def _of_source(project: Project, check: Check, path: str, tests: Collection[str]) -> set[str]:
    """The test files that bear the name of a source or import it."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if stem in _NO_NAME:
        stem = folder.rpartition("/")[2]
    if not stem:
        return set()
    named = re.compile(rf"(?:^|_){re.escape(stem)}(?:_|$)")
    found = {test for test in tests if named.search(test.rpartition("/")[2].partition(".")[0].removeprefix("test_"))}
    return found | (_importing(project, check, stem) & set(tests))


def _importing(project: Project, check: Check, stem: str) -> set[str]:
    """The files with a line that imports something of this name."""
    if project.repository is None:
        return set()
    pattern = rf"^[[:space:]]*(from|import|const|let|var|\}}).*[^[:alnum:]_]{re.escape(stem)}([^[:alnum:]_]|$)"
    try:
        listed = project.repository.run(
            *("grep", "-l", "-z", "-I", "-E", "--untracked", "--no-color", "-e", pattern, "--"),
            f":(top,literal){project.prefix}{'' if check.directory == '.' else check.directory}",
            ok=(0, 1),
            timeout=_SECONDS,
        )
    except AhpError:
        return set()
    paths = [name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name]
    below = [path.removeprefix(project.prefix) for path in paths]
    return {inner for path in below if (inner := _inside(check, path)) is not None}
