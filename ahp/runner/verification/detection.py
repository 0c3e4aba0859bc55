"""Which checks a project has: by its manifests and the names of its files."""

from collections.abc import Mapping

from ahp.runner.verification import compiled_checks, node_checks, python_checks
from ahp.runner.verification.check import Check
from ahp.runner.verification.project import Project

KINDS = ("tests", "lint")
NAMES = (
    *("pytest", "unittest", "ruff", "vitest", "jest", "npm-test", "eslint"),
    *("go-test", "cargo-test", "make-test"),
)


def find_checks(project: Project, env: Mapping[str, str]) -> list[Check]:
    """The checks of every part of a project, linters first, since they are fast.

    A makefile counts only where nothing else tells how the project is tested: as a rule it calls the same tools.
    """
    found = [
        *python_checks.checks(project, env),
        *node_checks.checks(project, env),
        *compiled_checks.go_checks(project, env),
        *compiled_checks.rust_checks(project, env),
    ]
    if not any(check.kind == "tests" for check in found):
        found += compiled_checks.make_checks(project, env)
    return sorted(found, key=lambda check: (check.kind != "lint", check.directory != ".", check.directory))
