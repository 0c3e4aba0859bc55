"""ahp.runner.verification.check_settings and vanished: what a change says about its own verification"""

from __future__ import annotations

from typing import Any

import pytest

from ahp.runner.verification import check_settings, project_verifier
from ahp.runner.verification.project import Project
from tests.runner.verification.projects import verify, write

INI = "[pytest]\naddopts = -q {}\n"
TOML = "[project]\nversion = '{}'\n[tool.pytest.ini_options]\naddopts = '-q -m \"not slow\"'\nmarkers = ['{}']\n"
PACKAGE = '{{"version": "{}", "scripts": {{"test": "{}", "build": "{}"}}}}'
MAKE = "build:\n\t{}\ntest: build\n\t{}\n"
FIXTURE = "import pytest\n@pytest.fixture\ndef x(): return {}\ndef pytest_runtest_makereport(): pass\n"
HOOK = "import pytest\n@pytest.hookimpl(specname='pytest_pyfunc_call')\ndef f(pyfuncitem): return {}\n"


@pytest.mark.parametrize(
    ("path", "before", "now", "told"),
    [
        (
            "pytest.ini",
            INI.format("-ra"),
            INI.format("-v --strict-markers --cov src -n 2 -p no:xdist"),
            "pytest.addopts",
        ),
        ("pytest.ini", INI.format("-ra"), INI.format("-ra") + "markers = slow\n", None),
        ("tox.ini", "[tox]\n", "[tox]\nx = 1\n[pytest]\naddopts = tests/unit\n", "pytest.addopts"),
        (
            "setup.cfg",
            "[metadata]\nx = %(a)s\n",
            "[metadata]\n[tool:pytest]\npython_files = a_*.py\n",
            "tool:pytest.python_files",
        ),
        ("pyproject.toml", TOML.format(1, "slow"), TOML.format(2, "fast"), None),
        (
            "pyproject.toml",
            TOML.format(1, "slow"),
            TOML.format(1, "slow").replace("slow", "a"),
            "tool.pytest.ini_options.addopts",
        ),
        ("pyproject.toml", "", "[tool.pytest]\ntestpaths = ['a']\n", "tool.pytest.testpaths"),
        ("pytest.toml", "", "[pytest]\naddopts = ['-k', 'a']\n", "pytest.addopts"),
        ("tests/conftest.py", FIXTURE.format(1), FIXTURE.format(2), ""),
        ("tests/conftest.py", FIXTURE.format(1), "", "pytest_runtest_makereport"),
        ("src/plugin.py", "", HOOK.format(True), "pytest_pyfunc_call"),
        ("src/plugin.py", "x = 1\n", "x = 'pytest_pyfunc_call'\n", None),
        ("conftest.py", "def broken(:\n", "collect_ignore = ['a']\n", "collect_ignore"),
        ("package.json", PACKAGE.format(1, "jest", "a"), PACKAGE.format(2, "jest", "b"), None),
        ("package.json", PACKAGE.format(1, "jest", "a"), PACKAGE.format(1, "true", "a"), "scripts.test"),
        ("package.json", "{", "[]", ""),
        ("lib/vitest.config.mts", "export default {}", "export default {test: {runner: './r.js'}}", "runner"),
        ("Makefile", MAKE.format("cc a", "./t"), MAKE.format("cc b", "./t"), None),
        ("Makefile", MAKE.format("cc a", "./t"), MAKE.format("cc a", "true"), "test"),
        ("Cargo.toml", "[package]\nversion = '1'\n", "[package]\nversion = '2'\n[dependencies]\na = '1'\n", None),
        (
            "Cargo.toml",
            "[package]\n",
            "[package]\n[[test]]\nname = 'a'\nharness = false\n",
            "test.0.name, test.0.harness",
        ),
        (".cargo/config.toml", "", "[target.'cfg(all())']\nrunner = 'true'\n", "target.cfg(all()).runner"),
    ],
)
def test_what_alters_how_tests_run_is_known(repo: Any, path: str, before: str, now: str, told: str | None) -> None:
    write(repo.root, **{path: before})
    repo.add()
    repo.commit("first")
    write(repo.root, **{path: now})
    found = check_settings.altered(Project(str(repo.root)), ".")
    assert [one.told for one in found] == ([] if told is None else [f"{path} ({told})" if told else path])


def test_what_was_never_there_is_not_altered(repo: Any) -> None:
    write(repo.root, **{"pytest.ini": INI.format("-k a"), "conftest.py": "", "test_a.py": "def test_a(): pass\n"})
    project = Project(str(repo.root), since="0" * 40)
    assert check_settings.altered(project, ".") == [] and project_verifier.vanished_tests(project) == []


def test_a_setting_of_another_part_is_none_of_this_one(repo: Any) -> None:
    repo.commit("first", a="1")
    write(repo.root, **{"lib/pytest.ini": INI.format("-k a"), "app/x.py": ""})
    project = Project(str(repo.root))
    assert [bool(check_settings.altered(project, folder)) for folder in (".", "lib", "lib/sub", "app")] == [
        *(True, True, True, False)
    ]


def test_another_command_of_which_only_the_exit_code_is_known_is_no_pass(repo: Any) -> None:
    repo.commit("first", Makefile="test:\n\tfalse\n")
    assert verify(repo.root).type == "test_failure"
    write(repo.root, Makefile="test:\n\ttrue\n")
    found = verify(repo.root)
    assert (found.type, found.red) == ("weakened", False)
    assert found.summary == "make test passed; the change alters how they are run: Makefile (test)"


def test_tests_that_a_change_takes_away_are_named(repo: Any) -> None:
    files = {
        "test_a.py": "def test_gone(): pass\nclass T:\n    async def test_moved(x): pass\n    def test_b(x): pass\n",
        "test_d.py": "def test_d(): pass\n",
        "a.spec.ts": "it('adds', f)\ntest.skip(`stays`, f)\n",
        "a_test.go": "func TestA(t *testing.T) {}\n",
        "src/lib.rs": "#[tokio::test]\n#[ignore]\nasync fn works() {}\nfn test_helper() {}\n",
        "helper.py": "def test_data(): pass\n",
    }
    repo.commit("first", **files)
    write(
        repo.root, **{"test_a.py": "class T:\n    def test_b(self): pass\n", "test_new.py": "def test_moved(): pass\n"}
    )
    write(repo.root, **{"a.spec.ts": "it('stays', f)\n", "a_test.go": "", "src/lib.rs": "", "helper.py": ""})
    (repo.root / "test_d.py").unlink()
    assert project_verifier.vanished_tests(Project(str(repo.root))) == [
        *("adds (a.spec.ts)", "TestA (a_test.go)", "works (src/lib.rs)", "test_gone (test_a.py)", "test_d (test_d.py)")
    ]
