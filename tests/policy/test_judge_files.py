"""Who judges in CI is policy: the pin, what runs `ahp ci`, and other jobs with the name of its check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.cli import main
from ahp.policy import judge_files
from ahp.system import git
from ahp.system.history import RangeView
from tests.conftest import Repo

PIN, RULES, TESTS = ".ahp/requirements.txt", ".github/workflows/ahp-rules.yml", ".github/workflows/tests.yml"
JUDGES = """\
on: pull_request_target
jobs:
  rules: {name: ahp rules, runs-on: x, steps: [{run: ahp ci --without policy}]}
"""
OTHER = "on: push\njobs:\n  unit: {runs-on: x, steps: [{run: make test}]}\n"


@pytest.fixture
def work(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.commit("begin", **{PIN: "ahp==1 --hash=sha256:aa\n", RULES: JUDGES, TESTS: OTHER, "compose.yml": "a: 1\n"})
    repo.commit("policy", **{".ahp/hooks.yaml": "version: 1\nextends: [core]\n"})
    monkeypatch.chdir(repo.root)
    return repo


def told(repo: Repo, **files: str | None) -> list[tuple[str, str, str]]:
    """(verdict, file, detail) of a commit that changes these files, None for one that it deletes."""
    for name, text in files.items():
        if text is None:
            repo.git("rm", "-q", name)
        else:
            repo.write(name, text)
    repo.add()
    repo.git("commit", "-q", "-m", "change")
    here = git.discover(str(repo.root), {})
    old, new = (RangeView(here, one, one) for one in (repo.git("rev-parse", "HEAD~1"), repo.head()))
    return [(one.verdict, one.key, one.detail) for one in judge_files.changes(old, new, list(files))]


def test_the_pin_is_compared(work: Repo) -> None:
    assert told(work, **{PIN: "ahp==1 --hash=sha256:bb\n"}) == [("unknown", PIN, "it says which ahp judges in CI")]
    assert told(work, **{PIN: None}) == [("weaker", PIN, "it says which ahp judges in CI, and is removed")]
    assert told(work, **{PIN: "ahp==2 --hash=sha256:cc\n"}) == []  # the first one replaces nothing


def test_what_runs_ahp_ci_is_compared_whatever_its_name(work: Repo) -> None:
    assert told(work, **{RULES: JUDGES + "# more\n"}) == [("unknown", RULES, "it defines who judges in CI")]
    assert told(work, **{RULES: OTHER}) == [("unknown", RULES, "it defines who judges in CI")]
    for name in (".gitlab-ci.yml", "Jenkinsfile", ".ahp/ci/gitlab.yml"):
        assert told(work, **{name: "ahp ci\n"}) == []
        assert told(work, **{name: None}) == [("weaker", name, "it defines who judges in CI, and is removed")]


@pytest.mark.parametrize(
    "job", ["x: {name: ahp rules}", "ahp rules: {}", '"ahp policy": {name: }', 'x: {name: "${{ a }}"}']
)
def test_another_job_with_the_name_of_the_check_is_told(work: Repo, job: str) -> None:
    (one,) = told(work, **{".github/workflows/new.yml": f"on: push\njobs:\n  {job}\n"})
    assert one[0] == "weaker" and "another job with the name of a check" in one[2]


def test_the_name_that_a_project_gave_its_check_counts(work: Repo) -> None:
    told(work, **{RULES: JUDGES.replace("ahp rules", "gate")})
    (one,) = told(work, **{TESTS: OTHER.replace("unit: {", "unit: {name: gate, ")})
    assert one == ("weaker", TESTS, "it defines another job with the name of a check, 'gate'")
    assert told(work, **{TESTS: OTHER.replace("unit: {", "unit: {name: gate, ") + "# more\n"}) == []


def test_other_work_on_ci_says_nothing(work: Repo) -> None:
    assert (
        told(work, **{TESTS: OTHER + "  lint: {runs-on: x}\n", "compose.yml": "a: 2\n", "src/a.yml": "jobs: {}\n"})
        == []
    )
    assert told(work, **{TESTS: None}) == []
    (one,) = told(work, **{TESTS: "jobs: [\n"})
    assert one[0] == "unknown"


def test_ci_and_policy_diff_report_them(work: Repo, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    base = work.head()
    work.write(PIN, "ahp==1 --hash=sha256:bb\n")
    work.write(".github/workflows/new.yml", "on: push\njobs:\n  ahp rules: {}\n")
    assert main.run(["policy", "diff", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["verdict"], one["key"], one["part"]) for one in found] == [
        ("unknown", PIN, "judge"),
        ("weaker", ".github/workflows/new.yml", "judge"),
    ]
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        assert name not in __import__("os").environ
    work.git("checkout", "-q", "-b", "topic")
    work.add()
    work.git("commit", "-q", "-m", "ci: pin")
    assert main.run(["ci", "--target", "main", "--only", "policy"]) == 1
    said = capsys.readouterr().out
    assert "policy-needs-a-person" in said and PIN in said and "another job with the name of a check" in said, said
    work.git("reset", "-q", "--hard", base)
    work.commit("ci: more", **{TESTS: OTHER + "  lint: {runs-on: x}\n"})
    assert main.run(["ci", "--target", "main", "--only", "policy"]) == 0
