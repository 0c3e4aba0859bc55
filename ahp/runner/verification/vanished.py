"""Tests that were there before a change, and are not there with it, by their names."""

import re
from collections import Counter

from ahp.runner.verification.project import Project

# How a test is named in a file, by the file's name.
_NAMES = (
    (
        re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$"),
        re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(test\w*)", re.MULTILINE),
    ),
    (
        re.compile(r"(?:(?:^|/)__tests__/.*|\.(?:test|spec))\.[cm]?[jt]sx?$"),
        re.compile(r"\b(?:it|test)(?:\.\w+)?\(\s*[\"'`]([^\"'`\n]{1,200})[\"'`]"),
    ),
    (re.compile(r"_test\.go$"), re.compile(r"^func\s+(Test\w+)\(", re.MULTILINE)),
    (
        re.compile(r"\.rs$"),
        re.compile(
            r"#\[(?:\w+::)?test\b[^\]]{0,200}+\](?>(?:\s{0,99}+#\[[^\]]{0,200}+\]){0,9})\s{0,99}+(?:async\s+)?fn\s+(\w+)"
        ),
    ),
)


def tests(project: Project) -> list[str]:
    """`name (path)` of each test of a changed file that no changed file has any more."""
    former: dict[str, list[str]] = {}
    left: Counter[str] = Counter()
    for path in sorted(project.changed) if project.has_before else ():
        form = next((names for files, names in _NAMES if files.search(path)), None)
        if form is None:
            continue
        for name in form.findall(project.before(path)):
            former.setdefault(name, []).append(path)
        left.update(form.findall(project.text(path)) if project.there(path) else ())
    gone = [(path, name) for name, paths in former.items() for path in paths[: max(len(paths) - left[name], 0)]]
    return [f"{name} ({path})" for path, name in sorted(gone)]
