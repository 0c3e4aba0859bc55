"""ahp.runner.verification.suggested: which tests come first, and that the result says so"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.runner.verification.project import Project
from ahp.runner.verification.suggested import test_files as suggested
from tests.runner.verification.projects import PYTEST, checks, verify, write

MANY = {f"tests/test_other{number}.py": "def test_a(): pass\n" for number in range(8)}
TEST = "from calc import add\ndef test_add():\n    assert add(1, 2) == 3\n"


@pytest.fixture
def project(repo: Any) -> Path:
    files = {
        "pytest.ini": PYTEST + "pythonpath = src\n",
        ".gitignore": "__pycache__/\n",
        "src/calc.py": "def add(a, b):\n    return a + b\n",
        "src/deep/__init__.py": "",
        "src/main.py": "",
        "README.md": "",
        "tests/test_calc.py": TEST,
        "tests/test_sums.py": f"if True:\n    import calc\n{TEST}",
        "tests/test_calculator.py": "# calc\ndef test_a(): pass\n",
        **MANY,
    }
    write(repo.root, **files)
    repo.add()
    repo.commit("first")
    return repo.root  # type: ignore[no-any-return]


def chosen(root: Path, *failed: str, since: str = "") -> list[str]:
    return suggested(Project(str(root), since), checks(root)["pytest"], failed)


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ([], []),
        (["src/calc.py"], ["tests/test_calc.py", "tests/test_sums.py"]),
        (["tests/test_calc.py"], ["tests/test_calc.py"]),
        (["tests/test_new.py"], ["tests/test_new.py"]),
        (["README.md", "tests/test_new.py"], ["tests/test_new.py"]),
        (["src/calc.py", "pytest.ini"], []),
        (["src/calc.py", "requirements.txt"], []),
        (["src/calc.py", "src/unknown.py"], []),
        (["tests/conftest.py", "tests/test_calc.py"], []),
        (["src/deep/__init__.py"], []),
        ([*MANY], []),
    ],
)
def test_changed_files_suggest_tests(project: Path, changed: list[str], found: list[str]) -> None:
    for path in changed:
        write(project, **{path: "# changed\n" + (TEST if "test_" in path else "")})
    assert chosen(project) == found


def test_what_failed_before_and_is_still_there_is_suggested(project: Path) -> None:
    assert chosen(project, "tests/test_other3.py", "tests/test_gone.py", "src/calc.py") == ["tests/test_other3.py"]
    (project / "tests/test_calc.py").unlink()
    assert chosen(project, "tests/test_other3.py", "tests/test_calc.py") == ["tests/test_other3.py"]


def test_what_was_committed_since_counts_as_changed(project: Path, repo: Any) -> None:
    base = repo.head()
    repo.commit("second", **{"src/calc.py": "def add(a, b):\n    return b + a\n"})
    assert chosen(project) == []
    assert chosen(project, since=base) == ["tests/test_calc.py", "tests/test_sums.py"]
    assert chosen(project, since="0" * 40) == []


def test_a_package_without_a_name_has_that_of_its_folder(project: Path) -> None:
    write(project, **{"tests/test_deep.py": "", "src/deep/__init__.py": "y = 1\n"})
    assert chosen(project) == ["tests/test_deep.py"]


def test_a_red_suggestion_ends_it_and_the_result_says_so(project: Path) -> None:
    write(project, **{"src/calc.py": "def add(a, b):\n    return a - b\n"})
    found = verify(project)
    assert (found.type, found.scope) == ("test_failure", "suggested")
    assert found.summary == "2 tests failed, 0 passed, in 2 of 11 test files; the others did not run"
    assert found.checks[0].scope == "suggested"


def test_a_green_suggestion_is_followed_by_all_and_failures_are_suggested_later(project: Path) -> None:
    told: list[str] = []
    write(
        project,
        **{"src/calc.py": "def add(a, b):\n    return b + a\n", "tests/test_other1.py": "def test_a(): assert 0\n"},
    )
    assert verify(project).scope == "suggested"
    write(project, **{"tests/test_other1.py": MANY["tests/test_other1.py"]})
    found = verify(project, tell=lambda what, done, total: told.append(what))
    assert (found.ok, found.scope, found.summary) == (True, "all", "11 tests passed")
    assert told == ["pytest, 3 files that the change suggests", "pytest"]
    assert verify(project, narrow=False).cached
