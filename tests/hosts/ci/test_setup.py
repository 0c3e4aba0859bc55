"""Which CI is set up, as a repository shows it, and what is said of it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.hosts.ci import setup, templates
from ahp.system import git
from ahp.system.errors import AhpError
from tests.conftest import Repo

WORKFLOW = ".github/workflows/ahp-rules.yml"


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, tuple[str, str]]:
    """Status and text by the name of each check; the exit code under ""."""
    capsys.readouterr()
    code = run(["doctor", "--ci", "--format", "json", *arguments])
    checks = json.loads(capsys.readouterr().out)["checks"]
    return {"": ("code", str(code)), **{one["name"]: (one["status"], one["detail"] + one["mend"]) for one in checks}}


def told(repo: Repo) -> str:
    return setup.told(git.discover(str(repo.root), dict(os.environ)))


def test_a_repository_without_ci_is_told_so(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing that is seen here" in said(capsys)["main"][1]
    repo.commit("one", **{".github/workflows/test.yml": "on: push\njobs: {t: {steps: [{run: make}]}}\n"})
    assert said(capsys)["main"] == ("note", "nothing that is seen here judges what comes to itahp init --ci KIND")
    assert told(repo).startswith("nothing that this repository shows judges it again")


def test_the_templates_of_github_count_once_the_default_branch_has_them(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit("one", **{".ahp/hooks.yaml": "version: 1\n"})
    assert run(["init", "--ci", "github"]) == 0
    assert "main does not have it yet" in said(capsys)[WORKFLOW][1]
    assert told(repo).startswith("nothing that this repository shows")
    repo.add()
    repo.commit("two")
    found = said(capsys)
    assert found[WORKFLOW][0] == "ok" and 'requires "ahp policy" and "ahp rules"' in found["main"][1]
    assert found[""][1] == "0"
    assert told(repo).endswith("ahp-rules.yml judges it again on its way to main")
    repo.git("rm", "--quiet", ".github/workflows/ahp-policy.yml")
    repo.commit("three")
    assert "asks the rules about the policy" in said(capsys)["main"][1]


def test_the_branch_counts_that_the_remote_has(repo: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repo.commit("one")
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "--quiet", str(repo.root), str(clone.root))
    os.chdir(clone.root)
    assert run(["init", "--ci", "github"]) == 0
    clone.add()
    clone.commit("two")
    assert "main does not have it yet" in said(capsys)[WORKFLOW][1]
    clone.git("push", "--quiet", "origin", "HEAD:refs/heads/other")
    repo.git("reset", "--quiet", "--hard", "other")
    clone.git("fetch", "--quiet")
    assert said(capsys)[WORKFLOW][0] == "ok"


def test_what_the_change_can_edit_is_advice_and_what_runs_it_is_wrong(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit("one", **{".gitlab-ci.yml": "ahp: {script: [ahp ci]}\n", "Jenkinsfile": "sh 'ahp ci'\n"})
    found = said(capsys)
    assert found[".gitlab-ci.yml"] == (
        "note",
        "advice only: a platform takes this file from the change, which can edit, rename or skip the job",
    )
    assert found["main"] == ("note", "advice only")
    assert "where the change itself did not edit that" in told(repo)


def test_a_workflow_that_somebody_wrote_is_a_guard_only_as_init_writes_it(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit("one", **{".ahp/hooks.yaml": "version: 1\n"})
    assert run(["init", "--ci", "github"]) == 0
    text = (repo.root / WORKFLOW).read_text()
    lame = text.replace("ahp ci --without policy", "ahp ci --without policy || true")
    own = "on: pull_request\njobs: {a: {steps: [{run: ahp ci}]}}\n"
    repo.commit("two", **{WORKFLOW: lame, ".github/workflows/own.yml": own})
    found = said(capsys)
    assert (
        found[WORKFLOW][0] == "note" and "a change cannot pass it unasked, is not looked at here" in found[WORKFLOW][1]
    )
    assert "a platform takes this file from the change" in found[".github/workflows/own.yml"][1]
    assert found["main"][1].startswith("advice only, unless") and found[""][1] == "0"
    repo.commit("three", **{WORKFLOW: text.replace('branches: ["main"]', 'branches: ["other/one"]')})
    assert said(capsys)[WORKFLOW][0] == "ok"


def test_which_scripts_run_ahp_ci(repo: Repo) -> None:
    scripts = {
        "ahp ci \\\n  --only policy": True,
        "ahp ci": True,
        '"$RUNNER_TEMP/ahp/bin/ahp" ci --without policy --format sarif': True,
        "../ahp/bin/ahp ci --only policy": True,
        "ahp ci --only policy\nahp-engine ci --without policy": True,
        "# ahp ci\n// ahp ci\necho ahp city": False,
        "ahp check pre-push": False,
    }
    files = {f".woodpecker/{number}.yml": script for number, script in enumerate(scripts)}
    repo.commit("one", **files)
    found = {one.file for one in setup.setup(git.discover(str(repo.root), dict(os.environ))).found}
    assert found == {path for path, script in files.items() if scripts[script]}


def test_ahp_ci_is_seen_in_whatever_yaml_a_platform_reads(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    advice = ("bitbucket-pipelines.yml", ".circleci/config.yml", ".woodpecker.yml", ".woodpecker/check.yaml")
    either = (".gitea/workflows/check.yml", ".forgejo/workflows/check.yaml")
    beside = (".woodpecker/check.sh", "docs/ci.md")
    step = 'steps: [{run: "ahp ci"}]\n'
    repo.commit(
        "one", **dict.fromkeys((*advice, *beside), step), **dict.fromkeys(either, f"on: pull_request_target\n{step}")
    )
    found = said(capsys)
    for path in advice:
        assert "takes this file from the change" in found[path][1], path
    for path in either:
        assert "target's copy of it runs" in found[path][1], path
    assert not found.keys() & set(beside)
    assert found["main"][1].startswith("advice only, unless")


def test_a_text_for_another_place_promises_nothing(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.commit("one", **{".ahp/hooks.yaml": "version: 1\n"})
    assert run(["init", "--ci", "gitlab"]) == 0
    found = said(capsys)
    assert "not seen from here" in found[".ahp/ci/gitlab.yml"][1]
    assert found["main"][1].startswith("advice only, unless")
    assert told(repo).startswith("whether ") and told(repo).endswith(" is not seen from here")


def test_a_server_s_hook_protects_every_branch(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.git("clone", "--quiet", "--bare", str(repo.root), str(tmp_path / "bare.git"))
    monkeypatch.chdir(tmp_path / "bare.git")
    assert "ahp hook pre-receive" in said(capsys)["main"][1]
    monkeypatch.chdir(repo.root)
    repo.commit("A policy", **{".ahp/hooks.yaml": "version: 1\n"})
    assert run(["init", "--ci", "github"]) == 0
    repo.add()
    repo.commit("Checks on a platform, too")
    monkeypatch.chdir(tmp_path / "bare.git")
    repo.git("push", "--quiet", str(tmp_path / "bare.git"), "main")
    assert "protected where GitHub requires" in said(capsys)["main"][1]
    hook = tmp_path / "bare.git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexec ahp hook pre-receive\n")
    hook.chmod(0o644)
    assert "git does not run it" in said(capsys)["hooks/pre-receive"][1]
    hook.chmod(0o755)
    assert said(capsys)["main"] == ("ok", "protected: every push is judged here")
    hook.write_text("#!/bin/sh\nahp hook pre-receive\nexit 0\n")
    assert "end it with: exec ahp hook pre-receive" in said(capsys)["hooks/pre-receive"][1]
    for line, is_last in {
        "exec ahp hook pre-receive --limit 4": True,
        "printf '%s\\n' \"$lines\" | /opt/ahp/bin/ahp hook pre-receive": True,
        "ahp hook pre-receive || exit 1": True,
        "ahp hook pre-receive || true": False,
        "ahp hook pre-receive | tee -a log": False,
        "ahp hook pre-receive &": False,
        "echo ahp hook pre-receive": False,
    }.items():
        hook.write_text(f"#!/bin/sh\n{line}\n# the end\n")
        assert (said(capsys)["hooks/pre-receive"][0] == "ok") == is_last, line
    (hook.parent / "pre-receive.d").mkdir()  # as GitLab and Gitea have it
    shutil.copy(hook, hook.parent / "pre-receive.d/ahp")
    (hook.parent / "pre-receive.d/ahp").write_text("#!/bin/sh\nexec ahp hook pre-receive\n")
    assert said(capsys)["hooks/pre-receive.d/ahp"][0] == "ok"


def test_hostile_files_are_looked_at_and_not_followed(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(repo.root / "Jenkinsfile")
    repo.git("config", "color.grep", "always")
    (repo.root / ".github/workflows/a.yml").mkdir(parents=True)
    repo.write(".github/workflows/b.yml", 'on: x\njobs: {a: {name: "\\e[2J\\n::error", steps: [{run: ahp ci}]}}\n')
    repo.write(".gitlab-ci.yml", b"\xff\xfe ahp ci")
    repo.add(".gitlab-ci.yml", ".github/workflows/b.yml")
    repo.commit("one")
    capsys.readouterr()
    assert run(["doctor", "--ci"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\n::error" not in out and ".gitlab-ci.yml" in out


def test_init_writes_nothing_over_what_differs(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit("one", **{".ahp/hooks.yaml": "version: 1\n", WORKFLOW: "on: push\n"})
    assert run(["init", "--ci", "gitlab", "--ci", "github"]) == 2
    assert f"{WORKFLOW}: there already, with another content, and stays" in capsys.readouterr().err
    assert not (repo.root / ".ahp/ci").exists()
    (repo.root / WORKFLOW).unlink()
    assert run(["init", "--ci", "github"]) == run(["init", "--ci", "github"]) == 0
    out = capsys.readouterr().out
    assert f"written: {WORKFLOW}, " in out and f"there already: {WORKFLOW}, " in out
    assert "uv pip compile --universal --generate-hashes -o .ahp/requirements.txt -\n" in out
    assert "ahp-engine[proofs]" in out  # CI judges changes of the policy
    (repo.root / "a/b").mkdir(parents=True)
    monkeypatch.chdir(repo.root / "a/b")
    assert run(["init", "--ci", "github"]) == 0
    assert "-o ../../.ahp/requirements.txt -\n" in capsys.readouterr().out
    assert "put its wheel where CI can fetch it" in out and "is not pinned" in (repo.root / templates.LOCK).read_text()
    repo.write(templates.LOCK)
    assert run(["init", "--ci", "github"]) == 0
    assert "uv pip compile" not in capsys.readouterr().out
    assert (repo.root / ".ahp/hooks.yaml").read_text() == "version: 1\n"


def test_init_writes_through_no_link_and_into_no_bare_repository(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo.root / ".github").symlink_to(tmp_path / "elsewhere")
    repo.write(".ahp/hooks.yaml", "version: 1\n")
    assert run(["init", "--ci", "github"]) == 2
    assert "nothing is written through it" in capsys.readouterr().err
    (repo.root / ".ahp/ci").write_text("a file\n")
    with pytest.raises(AhpError, match="cannot make the folder"):
        templates.write(git.discover(str(repo.root), dict(os.environ)), ("gitlab",))
    repo.git("init", "--quiet", "--bare", str(tmp_path / "bare.git"))
    monkeypatch.chdir(tmp_path / "bare.git")
    assert run(["init", "--ci", "github"]) == 2
    assert "this repository is bare" in capsys.readouterr().err


def test_init_of_both_writes_a_policy_and_the_checks_for_its_branch(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    assert run(["init", "--ci", "github", "--ci", "github-evidence"]) == 0
    assert 'branches: ["trunk"]' in (repo.root / WORKFLOW).read_text()
    assert (repo.root / ".ahp/hooks.yaml").exists()
    assert run(["doctor", "--ci", "--fix"]) == 2
