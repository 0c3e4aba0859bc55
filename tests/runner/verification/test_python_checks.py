"""ahp.runner.verification.python_checks: real pytest, unittest and ruff"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.runner.verification.python_checks import _read_ruff, read_unittest
from tests.runner.verification.projects import PYTEST, checks, program, ran, verify, write

FAILED = "def test_ok(): pass\n\ndef test_session_expiry():\n    assert 1800 == 3600\n"


def project(root: Path, **files: str) -> Path:
    write(root, **{"pytest.ini": PYTEST, **files})
    return root


def test_green_tests_pass(tmp_path: Path) -> None:
    text = "import pytest\ndef test_a(): pass\n@pytest.mark.skip\ndef test_b(): pass\n"
    found = verify(project(tmp_path, **{"test_it.py": text}))
    assert (found.ok, found.red, found.type, found.summary) == (True, False, "passed", "1 test passed, 1 skipped")
    assert (found.cached, found.suggestion) == (False, "")


def test_red_tests_say_where_and_what(tmp_path: Path) -> None:
    found = verify(project(tmp_path, **{"test_it.py": FAILED}))
    assert (found.ok, found.red, found.type, found.summary) == (False, True, "test_failure", "1 test failed, 1 passed")
    [detail] = found.details
    assert (detail.file, detail.line) == ("test_it.py", 4)
    assert detail.error.startswith("test_session_expiry: assert 1800 == 3600")
    assert "assert 1800 == 3600" in detail.context
    assert "test_it.py:4: test_session_expiry" in found.told()
    assert "Begin at test_it.py:4" in found.suggestion and found.suggestion in found.told()


def test_the_place_of_a_test_in_a_folder_is_relative_to_the_root(tmp_path: Path) -> None:
    project(tmp_path / "lib", **{"tests/test_it.py": FAILED})
    assert verify(tmp_path).details[0].place == "lib/tests/test_it.py:4"


def test_tests_that_cannot_be_collected_are_red(tmp_path: Path) -> None:
    found = verify(project(tmp_path, **{"test_it.py": "def broken(:\n"}))
    assert (found.red, found.type, found.summary) == (
        True,
        "collection_error",
        "1 test could not be collected, 0 passed",
    )
    assert found.details[0].place == "test_it.py:1"


def test_a_conftest_that_cannot_be_loaded_is_red(tmp_path: Path) -> None:
    found = verify(project(tmp_path, **{"conftest.py": "import nothing_like_it\n", "test_it.py": FAILED}))
    assert (found.red, found.type) == (True, "collection_error")
    assert "nothing_like_it" in found.details[0].context


def test_no_tests_are_told_and_not_red(tmp_path: Path) -> None:
    found = verify(project(tmp_path, **{"test_it.py": "x = 1\n"}))
    assert (found.ok, found.red, found.type) == (False, False, "no_tests")
    assert found.suggestion in found.told()


@pytest.mark.slow
def test_tests_that_hang_are_ended_and_told(tmp_path: Path) -> None:
    found = verify(project(tmp_path, **{"test_it.py": "import time\ndef test_a(): time.sleep(600)\n"}), seconds=2)
    assert (found.red, found.type) == (False, "timeout")
    assert found.summary.startswith("pytest did not end within ")


def test_a_project_whose_interpreter_has_no_pytest_is_told(tmp_path: Path) -> None:
    bare = program(tmp_path / ".venv/bin/python", 'echo "$0: No module named pytest" >&2; exit 1')
    found = verify(project(tmp_path, **{"test_it.py": FAILED}))
    assert (found.red, found.type) == (False, "tool_missing")
    assert found.summary == f"pytest is not installed for {bare}"
    assert found.suggestion == f"{bare} -m pip install pytest"


def test_options_of_a_pytest_around_this_process_are_not_the_project_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    assert verify(project(tmp_path, **{"test_it.py": "def test_a(): pass\n"})).ok


def test_unittest_is_run_and_reported(tmp_path: Path) -> None:
    text = """\
import unittest
class T(unittest.TestCase):
    def test_good(self): pass
    @unittest.skip("later")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.assertEqual(1, 1)
    def test_bad(self):
        print("noise")
        self.assertEqual(1800, 3600, "a\\x00b")
    def test_parts(self):
        for i in range(2):
            with self.subTest(i=i):
                self.assertEqual(i, 0)
class U(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("no room")
    def test_never(self): pass
"""
    write(tmp_path, **{"tests/__init__.py": "", "tests/test_it.py": text})
    found = verify(tmp_path)
    assert (found.type, found.summary) == ("test_failure", "4 tests failed, 1 passed")
    told = {detail.error.partition(":")[0]: detail for detail in found.details}
    assert told["test_bad"].place == "tests/test_it.py:10"
    assert "1800 != 3600 : a" in told["test_bad"].error and "self.assertEqual" in told["test_bad"].context
    assert told["test_parts"].place == "tests/test_it.py:14"
    assert told["test_expected"].error == "test_expected: unexpected success"
    assert told["test_expected"].place == "tests/test_it.py"
    assert "no room" in told["setUpClass"].error and told["setUpClass"].place == "tests/test_it.py:17"


def test_unittest_finds_tests_in_a_folder_that_is_no_package(tmp_path: Path) -> None:
    text = "import unittest, own\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(own.x, 1)\n"
    write(tmp_path, **{"own.py": "x = 1\n", "tests/test_it.py": text})
    assert verify(tmp_path).summary == "1 test passed"


def test_a_module_of_unittest_that_cannot_be_imported_is_red(tmp_path: Path) -> None:
    write(tmp_path, **{"test_it.py": "import unittest\nfrom os import nothing_like_it\n"})
    found = verify(tmp_path)
    assert found.type == "collection_error" and "nothing_like_it" in found.details[0].context
    assert found.details[0].place == "test_it.py:2" and found.details[0].error.startswith("test_it: ImportError")
    write(tmp_path, **{"test_red.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): 1/0\n"})
    assert verify(tmp_path).summary == "2 tests failed, 0 passed"


T = "import unittest, os\nclass T(unittest.TestCase):\n"


@pytest.mark.parametrize(
    "files",
    [
        {"test_a.py": f"{T} def test_a(self): os._exit(0)\n def test_b(self): self.fail()\n"},
        {
            "test_a.py": f"{T} def run(self, result=None):\n  super().run(result)\n  result.stop()\n"
            " def test_a(self): pass\n def test_b(self): self.fail()\n"
        },
        {"a/test_a.py": f"{T} def test_a(self): pass\n", "b/test_b.py": f"{T} def test_b(self): self.fail()\n"},
    ],
)
def test_a_unittest_whose_tests_did_not_all_run_is_not_green(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, **files)
    assert verify(tmp_path).type == "crash"


def test_what_unittest_skips_is_no_test_that_did_not_run(tmp_path: Path) -> None:
    text = (
        f"{T} def test_a(self):\n  os.chdir('/')\n  self.assertNotIn('AHP_TEST_RECORD', os.environ)\n"
        " @unittest.skip('no')\n def test_b(self): pass\n"
        "class S(unittest.TestCase):\n @classmethod\n def setUpClass(cls): raise unittest.SkipTest('no')\n"
        " def test_c(self): pass\n"
    )
    write(tmp_path, **{"test_a.py": text, "test_b.py": "import unittest\nraise unittest.SkipTest('no')\n"})
    assert verify(tmp_path).summary == "1 test passed, 3 skipped"


U = """\
import unittest
class T(unittest.TestCase):
    def test_a(self): pass
    def test_b(self): self.fail()
"""


def test_tests_that_load_tests_leaves_out_are_told(repo: Any) -> None:
    write(repo.root, **{"test_it.py": U})
    repo.add()
    repo.commit("first")
    some = "def load_tests(*given):\n    return unittest.TestSuite([T('test_a')])\n"
    write(repo.root, **{"test_it.py": U + some})
    found = verify(repo.root)
    assert found.type == "weakened"
    assert found.summary.startswith("1 test passed; the change alters")


@pytest.mark.parametrize("name", ["p/tests/a_test.py", "tests/a_test.py", "p/tests/tests.py", "a_test.py"])
def test_files_of_unittest_are_found_by_the_names_that_they_have(tmp_path: Path, name: str) -> None:
    folders = {f"{one}/__init__.py": "" for one in ("p", "p/tests") if name.startswith("p/")}
    write(tmp_path, **{name: U.replace("self.fail()", "pass"), **folders})
    assert verify(tmp_path).summary == "2 tests passed"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["import unittest\n", "import pytest\n"])
def test_packages_that_are_missing_here_are_not_red_but_what_the_change_lacks_is(repo: Any, kind: str) -> None:
    lacks = {"test_it.py": f"{kind}import nothing_like_it\n", "own.py": ""}
    write(repo.root, **lacks)
    assert verify(repo.root).type == "collection_error"
    repo.add()
    repo.commit("first")
    found = verify(repo.root)
    assert (found.type, found.red) == ("tool_missing", False)
    assert found.summary.startswith("nothing_like_it is not installed: 1 test could not be collected")
    repo.commit("second", **{"test_it.py": f"{kind}import own\n"})
    (repo.root / "own.py").unlink()
    assert verify(repo.root).type == "collection_error"


def test_ruff_says_where_and_mends_nothing(tmp_path: Path) -> None:
    settings = "fix = true\nunsafe-fixes = true\noutput-format = 'grouped'\n"
    text = "import os\nimport sys\n"
    write(tmp_path, **{"ruff.toml": settings, "sub dir/a.py": text, "sub dir/ruff.toml": 'extend = "../ruff.toml"\n'})
    found = verify(tmp_path)
    assert (found.type, found.summary) == ("lint_failure", "ruff found 2 violations")
    assert [detail.place for detail in found.details] == ["sub dir/a.py:1", "sub dir/a.py:2"]
    assert found.details[0].error.startswith("F401: ")
    assert (tmp_path / "sub dir/a.py").read_text() == text
    write(tmp_path, **{"sub dir/a.py": "x = 1\n"})
    assert verify(tmp_path).type == "passed"


def test_a_linter_that_cannot_read_its_settings_is_told(tmp_path: Path) -> None:
    write(tmp_path, **{"ruff.toml": "no-such-setting = 1\n", "a.py": "import os\n"})
    found = verify(tmp_path)
    assert (found.red, found.type) == (False, "crash")
    assert "no-such-setting" in found.details[0].context


@pytest.mark.parametrize(("code", "out"), [(0, "green"), (1, '{"runs": []}'), (1, "{}"), (1, '{"runs": 3}')])
def test_a_linter_s_output_that_is_none_is_no_pass(code: int, out: str) -> None:
    assert _read_ruff(ran(code, out)).type == "crash"


@pytest.mark.parametrize(
    "command", ["python -Wd runtests.py {posargs}", "coverage run -p {toxinidir}/./runtests.py {posargs:x}"]
)
def test_a_script_that_tox_runs_is_how_the_project_is_tested(tmp_path: Path, command: str) -> None:
    """As Django's projects: their tests need settings first, so that unittest alone is red."""
    test = "import unittest, os\nclass T(unittest.TestCase):\n    def test_a(self): os.environ['SETTINGS']\n"
    script = "import os, unittest\nos.environ['SETTINGS'] = '1'\nunittest.main('tests.test_a')\n"
    write(tmp_path, **{"tests/__init__.py": "", "tests/test_a.py": test, "runtests.py": script})
    assert verify(tmp_path).red
    write(tmp_path, **{"tox.ini": f"[testenv]\ncommands =\n    python -m pip list\n    {command}\n"})
    found = verify(tmp_path)
    assert [(one.name, one.type) for one in found.checks] == [("tox-test", "passed")]
    write(tmp_path, **{"tox.ini": "[testenv]\ncommands = pytest {posargs}\n"})
    assert list(checks(tmp_path)) == ["unittest"]


def test_a_package_of_the_project_that_is_not_installed_is_not_red_but_one_that_the_change_moves_is(repo: Any) -> None:
    test = "import unittest, pk\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    write(repo.root, **{"src/pk/__init__.py": "x = 1\n", "tests/__init__.py": "", "tests/test_it.py": test})
    repo.add()
    repo.commit("first")
    write(repo.root, **{"src/pk/__init__.py": "x = 2\n"})
    found = verify(repo.root)
    assert (found.type, found.summary[:19]) == ("tool_missing", "pk is not installed")
    (repo.root / "src/pk").rename(repo.root / "src/other")
    assert verify(repo.root).red


def test_a_script_of_tox_that_lacks_a_package_cannot_run_here(repo: Any) -> None:
    write(repo.root, **{"tox.ini": "[testenv]\ncommands = python run.py\n", "tests/test_it.py": U})
    write(repo.root, **{"run.py": "import nothing_like_it\n"})
    repo.add()
    repo.commit("first")
    assert verify(repo.root).type == "tool_missing"
    write(
        repo.root, **{"run.py": "try:\n    import nothing_like_it\nexcept ImportError as e:\n    raise SystemExit(3)\n"}
    )
    assert verify(repo.root).red


@pytest.mark.parametrize("record", [None, "no JSON", "7", "{}", '{"failed": [1]}', "[" * 100_000])
def test_a_record_that_tests_have_written_to_is_no_pass(record: str | None) -> None:
    assert read_unittest(ran(0, record=record)).type == "crash"
