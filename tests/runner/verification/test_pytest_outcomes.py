"""ahp.runner.verification.pytest_outcomes: no pass where tests did not run, or failed and are reported as passed"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.verification import pytest_outcomes
from ahp.runner.verification.python_checks import read_pytest
from tests.runner.verification.projects import PYTEST, ran, verify, write

TESTS = "def test_good(): pass\ndef test_bad(): assert 0\n"
GREEN = "def test_a(): pass\ndef test_b(): pass\n"
RECORD = {"passed": 1, "skipped": 0, "failed": [], "not_loaded": 0, "left_out": [], "not_run": [], "files": []}
RED = ["t.py::test_b", "t.py", 3, "AssertionError", "t.py:3: AssertionError"]
FAKED = """\
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
"""
FORGED = """\
from _pytest.reports import TestReport
def pytest_runtest_protocol(item, nextitem):
    for when in ("setup", "call", "teardown"):
        report = TestReport(item.nodeid, item.location, {}, "passed", None, when)
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
WRITES_ITSELF = """\
import gc, os
os._exit(0)
"""


NEVER_CALLED = """\
from _pytest.python import Function
Function.runtest = lambda self: None
def test_c(): assert 0
"""
WRAPPED = """\
def pytest_collection_modifyitems(items):
    for item in items:
        item.runtest = lambda runtest=item.runtest: runtest()
"""


def told(**changes: Any) -> str:
    return json.dumps(RECORD | changes)


@pytest.mark.parametrize(
    ("code", "record", "kind"),
    [
        (0, None, "crash"),  # os._exit in a test
        (0, told(passed=0), "no_tests"),
        (0, told(failed=[RED]), "test_failure"),
        (1, told(failed=[RED]), "test_failure"),
        (0, told(failures=2), "test_failure"),
        (2, told(failed=[RED], not_loaded=1), "collection_error"),
        (1, told(), "test_failure"),  # such as --cov-fail-under
        (2, told(), "crash"),  # interrupted
        (2, told(passed=0), "crash"),
        (3, told(), "crash"),
        (4, None, "crash"),
        (139, None, "crash"),
        (0, told(), "passed"),
        (0, "{", "crash"),
        (0, "[]", "crash"),
        (0, "[" * 100_000, "crash"),
        (0, told(passed=-1), "crash"),
        (0, told(not_run=["t.py::test_b"]), "crash"),
        (5, told(passed=0, left_out=["t.py::test_b"]), "no_tests"),
        (5, told(), "test_failure"),
    ],
)
def test_a_record_is_held_against_the_exit_code(code: int, record: str | None, kind: str) -> None:
    found = read_pytest(ran(code, "what pytest printed", record=record), sys.executable)
    assert found.type == kind
    if kind == "crash":
        assert "what pytest printed" in found.details[0].context and not found.red and found.suggestion


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "kind", "summary"),
    [
        ({"conftest.py": FAKED}, "test_failure", "1 test failed, 1 passed"),
        ({"conftest.py": FORGED}, "crash", "pytest ended with 0, and 2 tests did not run, test_it.py::test_good first"),
        ({"test_a.py": NEVER_CALLED}, "crash", "pytest ended with 0, and 3 tests did not run, test_a.py::test_c first"),
        ({"conftest.py": WRAPPED}, "test_failure", "1 test failed, 1 passed"),
        ({"conftest.py": WRITES_ITSELF}, "crash", "pytest ended with 0 and did not come to its end"),
        ({"pytest.ini": PYTEST.rstrip() + " --setup-plan --trace\n"}, "test_failure", "1 test failed, 1 passed"),
        (
            {"test_a.py": "import pytest\ndef test_x(): pytest.exit('bye', returncode=0)\n"},
            "crash",
            "pytest ended with 0, and 3 tests did not run, test_a.py::test_x first",
        ),
    ],
)
def test_what_a_project_says_of_its_tests_is_not_believed(
    tmp_path: Path, files: dict[str, str], kind: str, summary: str
) -> None:
    write(tmp_path, **{"pytest.ini": PYTEST, "test_it.py": TESTS, **files})
    found = verify(tmp_path)
    assert (found.type, found.summary) == (kind, summary)
    if files.get("conftest.py") == FAKED:
        assert found.details[0].place == "test_it.py:2" and "(reported as passed)" in found.details[0].error


def test_tests_that_a_change_leaves_out_are_no_pass(repo: Any) -> None:
    hook = "def pytest_collection_modifyitems(items):\n    del items[1:]\n"
    write(repo.root, **{"pytest.ini": PYTEST, "test_it.py": GREEN, ".gitignore": "__pycache__/\n"})
    repo.add()
    repo.commit("first")
    write(repo.root, **{"conftest.py": hook})
    found = verify(repo.root)
    assert (found.type, found.ok, found.red, found.left_out) == ("weakened", False, False, ["test_it.py::test_b"])
    assert "conftest.py (pytest_collection_modifyitems)" in found.summary
    repo.add()
    repo.commit("second")
    found = verify(repo.root)
    assert (found.ok, found.cached, found.left_out) == (True, True, ["test_it.py::test_b"])
    assert found.summary.startswith("1 test passed, 1 test left out (nothing has changed since") and not found.cautions


def test_the_controller_of_workers_may_have_no_list_of_tests() -> None:
    loop = pytest_outcomes.pytest_runtestloop(object())  # as before pytest 8
    assert next(loop) is None


@pytest.mark.slow
def test_with_workers_the_same_is_known(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    settings = "[pytest]\naddopts = -n 1 -k 'not test_b' -p no:hypothesispytest -p no:cov\n"
    write(repo.root, **{"pytest.ini": settings, "test_it.py": GREEN})
    assert verify(repo.root).summary == "1 test passed, 1 test left out"
