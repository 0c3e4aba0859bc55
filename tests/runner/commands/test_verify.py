from __future__ import annotations

import json
from typing import Any

import pytest

from ahp.cli.main import run
from tests.conftest import Repo
from tests.runner.verification.projects import PYTEST, program, write

GREEN = "def test_a(): pass\n"
RED = "def test_a():\n    assert 1 == 2\n"


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo.root / "sub").mkdir()
    monkeypatch.chdir(repo.root / "sub")
    write(repo.root, **{"pytest.ini": PYTEST, ".gitignore": "__pycache__/\n"})


@pytest.mark.slow
def test_green_is_0_and_says_when_it_is_remembered(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    write(repo.root, **{"test_it.py": GREEN})
    assert run(["verify"]) == 0
    assert capsys.readouterr().out == "pytest  passed  1 test passed\n"
    assert run(["verify", "tests", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["cached"], told["type"]) == (True, True, "passed")
    assert run(["verify", "pytest", "--fresh"]) == 0
    assert "nothing has changed" not in capsys.readouterr().out


@pytest.mark.slow
def test_red_is_1_with_the_place(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    write(repo.root, **{"test_it.py": RED})
    assert run(["verify"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(
        "pytest  test_failure  1 test failed, 0 passed\n\ntest_it.py:2: test_a: assert 1 == 2\n    def"
    )
    assert "\nBegin at test_it.py:2" in out
    assert run(["verify", "--format", "sarif"]) == 1
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"][0]["ruleId"] == "test_failure"


@pytest.mark.slow
def test_what_could_not_be_checked_is_2(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    write(repo.root, **{"test_it.py": "import time\ndef test_a(): time.sleep(600)\n"})
    assert run(["verify", "--timeout", "2"]) == 2
    assert "pytest did not end within " in capsys.readouterr().out
    assert run(["verify", "lint"]) == 2
    assert "there is nothing to verify: no tests of lint were found" in capsys.readouterr().out
    assert run(["verify", "pytset"]) == 2
    assert "no check is called pytset; there are tests, lint, pytest" in capsys.readouterr().err


def test_the_checks_are_listed_without_running_any(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    python = program(repo.root / ".venv/bin/python", "touch ran")
    write(repo.root, **{"web/package.json": '{"devDependencies": {"jest": "1"}}'})
    assert run(["verify", "--list"]) == 0
    assert capsys.readouterr().out == (
        f"pytest       {python} -m pytest -q --color=no\njest in web  jest is not installed\n"
    )
    assert run(["verify", "--list", "--format", "json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == ["pytest", "jest"]
    assert not (repo.root / "ran").exists()


@pytest.mark.slow
def test_the_settings_name_further_variables(repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    write(repo.root, **{"test_it.py": GREEN, ".ahp/agent.yaml": "verification_variables: [STAGE]\n"})
    cached = []
    for value in ("1", "1", "2"):
        monkeypatch.setenv("STAGE", value)
        assert run(["verify", "--format", "json"]) == 0
        cached.append(json.loads(capsys.readouterr().out)["cached"])
    assert cached == [False, True, False]


def test_what_is_begun_is_told_at_a_terminal(repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    write(repo.root, **{"test_it.py": GREEN})
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert run(["verify"]) == 0
    assert capsys.readouterr().err == "[1/1] pytest\n"


@pytest.mark.parametrize("seconds", ["nan", "0", "-1", "soon"])
def test_a_time_limit_that_is_none_is_a_usage_error(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "--timeout", seconds]) == 2
    assert "Invalid value for '--timeout'" in capsys.readouterr().err
