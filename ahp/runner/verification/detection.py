"""Which checks a project has: one table of their names and of what finds them."""

from collections.abc import Callable, Mapping, Sequence

from ahp.runner.verification import command_checks, node_checks, python_checks
from ahp.runner.verification.check import Check
from ahp.runner.verification.command_checks import NamedCheck
from ahp.runner.verification.project import Project
from ahp.system import wings
from ahp.system.errors import AhpError

KINDS = ("tests", "lint")

Finder = Callable[[Project, Mapping[str, str]], list[Check]]
"""Finds checks of a project, whose programs get these variables. Each is called like a row with this finder."""

CHECKS: dict[str, Finder] = {
    "pytest": python_checks.tests,
    "unittest": python_checks.tests,
    "tox-test": python_checks.tests,
    "ruff": python_checks.ruff,
    "vitest": node_checks.tests,
    "jest": node_checks.tests,
    "npm-test": node_checks.tests,
    "eslint": node_checks.eslint,
    **dict.fromkeys(command_checks.IMPLIED, command_checks.implied_checks),
}
# Only where nothing else tells how the project is tested: as a rule a makefile calls the same tools.
LAST: dict[str, Finder] = {"make-test": command_checks.make_checks}


def names() -> list[str]:
    """What checks are called, those of installed packages among them."""
    return list(dict.fromkeys([*CHECKS, *LAST, *wings.added("checks")]))


def find_checks(project: Project, env: Mapping[str, str], named: Sequence[NamedCheck] = ()) -> list[Check]:
    """The checks of every part of a project, linters first, since they are fast. Raises AhpError.

    Those that the settings name take the place of all that are of their kind.
    """
    own = list(map(command_checks.named_check, named))
    kinds = {check.kind for check in own}
    added = {name: place for name, place in wings.added("checks").items() if name not in CHECKS and name not in LAST}
    found = _found(CHECKS, project, env)
    found += _found({name: wings.load(place, "checks") for name, place in added.items()}, project, env)
    found = [*own, *(check for check in found if check.kind not in kinds)]
    if not any(check.kind == "tests" for check in found):
        found += _found(LAST, project, env)
    return sorted(found, key=lambda check: (check.kind != "lint", check.directory != ".", check.directory))


def _found(table: Mapping[str, Finder], project: Project, env: Mapping[str, str]) -> list[Check]:
    found = [check for finder in dict.fromkeys(table.values()) for check in finder(project, env)]
    for check in found:
        if check.name not in table:
            raise AhpError(f"a check is called {check.name}, and no row of ahp.checks has that name")
    return found
