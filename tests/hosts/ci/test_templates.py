"""The templates, run as their platforms run them, on pull requests that do what they can against them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ahp.hosts.ci import templates
from ahp.system import git
from tests.conftest import Repo
from tests.hosts.ci import platform_jobs
from tests.hosts.ci.platform_jobs import Machine, Ran

POLICY = """
version: 1
rules:
  no-todo: {at: pre-commit, each: l in diff.added, block: "contains(l.text, 'TODO')"}
  weaker: {at: [pre-commit, pre-merge-commit], block: policy.weakened, locked: true}
"""
LOCK = "ahp-engine==0 --hash=sha256:00\n"
RULES, POLICY_CHECK = ".github/workflows/ahp-rules.yml", ".github/workflows/ahp-policy.yml"
PASSING = "name: ahp rules\non: pull_request\njobs: {ahp-rules: {name: ahp rules, steps: [{run: 'true'}]}}\n"
RUNS = "import pathlib; pathlib.Path.home().joinpath('ran').touch()\n"


class Server:
    """A repository on a platform: main with policy, lock and checks, and the heads of two pull requests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        repo = Repo(folder / "org" / "shop.git")
        repo.root.mkdir(parents=True)
        repo.git("init", "--quiet", "--initial-branch", "main")
        repo.git("config", "uploadpack.allowAnySHA1InWant", "true")  # as GitHub, GitLab and Buildkite's hosts
        templates.write(git.discover(str(repo.root), dict(os.environ)), tuple(templates.KINDS))
        repo.add()
        self.main = repo.commit("Begin", **{".ahp/hooks.yaml": POLICY, templates.LOCK: LOCK})
        repo.git("switch", "--quiet", "--detach")
        self.fine = repo.commit("A page", **{"page.md": "text\n"})
        repo.git("update-ref", "refs/pull/1/head", self.fine)
        repo.git("reset", "--quiet", "--hard", self.main)
        repo.git("mv", RULES, ".github/workflows/renamed.yml")
        for name in (RULES, POLICY_CHECK, ".github/workflows/faked.yml"):
            repo.write(name, PASSING)
        for name in ("gitlab.yml", "Jenkinsfile", "buildkite.yml"):
            repo.write(f".ahp/ci/{name}", "steps: []\n")
        repo.write(".buildkite/hooks/pre-command", "#!/bin/sh\ntouch ~/ran\n", 0o755)
        for name in ("venv.py", "pip.py", "ahp.py", "sitecustomize.py"):
            repo.write(name, RUNS)
        repo.write(templates.LOCK, "evil==1\n")
        repo.write(".ahp/hooks.yaml", "version: 1\nrules: {}\n")
        repo.write("page.md", "TODO\n")
        repo.add()
        self.hostile = repo.commit("Edit, rename and fake the job\n\n[skip ci]")
        repo.git("update-ref", "refs/pull/2/head", self.hostile)
        repo.git("switch", "--quiet", "main")
        self.repo, self.url = repo, f"file://{repo.root}"

    def on_main(self, name: str) -> str:
        return self.repo.git("show", f"main:{name}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_COUNT", "0")
        yield Server(tmp_path_factory.mktemp("server"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def refused_by(ran: Ran, rule: str, machine: Machine) -> bool:
    """Whether that rule refused, by what main pins, and nothing of the change ran."""
    assert machine.installed == LOCK
    assert not (machine.folder / "home/ran").exists()
    return ran.code == 1 and f"refused by {rule}" in ran.said


def pull(server: Server, head: str) -> dict[str, object]:
    return {
        "pull_request": {"head": {"sha": head, "ref": "topic"}, "base": {"sha": server.main, "ref": "main"}},
        "repository": {"default_branch": "main"},
        "sender": {"login": "ann"},
    }


def on_github(server: Server, machine: Machine, name: str, event: str, payload: dict[str, object], **env: str) -> Ran:
    # The one rule that all rests on: of these events GitHub takes the workflow from the target.
    env = {"GITHUB_SERVER_URL": f"file://{server.folder}", "GITHUB_REPOSITORY": "org/shop.git", **env}
    ran = platform_jobs.github(machine, server.on_main(name), event, payload, GITHUB_SHA=server.main, **env)
    return ran._replace(said=ran.said.replace("::error title=ahp%3A ", "refused by ").replace("::error title=", ""))


def test_a_pull_request_on_github(server: Server, machine: Machine, tmp_path: Path) -> None:
    other = Machine(tmp_path / "other")
    event = "pull_request_target"
    ran = on_github(server, machine, RULES, event, pull(server, server.hostile))
    assert ran.code == 1 and "no-todo" in ran.said and machine.installed == LOCK, ran.said
    ran = on_github(server, other, POLICY_CHECK, event, pull(server, server.hostile))
    assert ran.code == 1 and "weaker" in ran.said and "no-todo" not in ran.said, ran.said
    assert not list(tmp_path.rglob("ran"))


def test_a_good_pull_request_on_github_and_a_merge_queue(server: Server, machine: Machine, tmp_path: Path) -> None:
    ran = on_github(server, machine, RULES, "pull_request_target", pull(server, server.fine))
    assert ran.code == 0, ran.said
    queued = {
        "merge_group": {"head_sha": server.hostile, "head_ref": "refs/heads/queue/1", "base_ref": "refs/heads/main"},
        "repository": {"default_branch": "main"},
    }
    queue = Machine(tmp_path / "queue")
    env = {"GITHUB_SERVER_URL": f"file://{server.folder}", "GITHUB_REPOSITORY": "org/shop.git"}
    ran = platform_jobs.github(queue, server.on_main(RULES), "merge_group", queued, GITHUB_SHA=server.hostile, **env)
    assert ran.code == 1 and "no-todo" in ran.said, ran.said


REQUEST = {
    "CI_PIPELINE_SOURCE": "merge_request_event",
    "CI_DEFAULT_BRANCH": "main",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic",
    "CI_MERGE_REQUEST_PROJECT_PATH": "org/shop",
    "CI_PROJECT_PATH": "fork/shop",
    "CI_JOB_TOKEN": "t0ken",
}


def test_a_merge_request_on_gitlab(server: Server, machine: Machine, tmp_path: Path) -> None:
    text = server.on_main(".ahp/ci/gitlab.yml")
    env = {**REQUEST, "CI_SERVER_URL": f"file://{server.folder}", "CI_COMMIT_SHA": server.hostile}
    assert refused_by(platform_jobs.gitlab(machine, text, "ahp rules", **env), "no-todo", machine)
    assert refused_by(platform_jobs.gitlab(machine, text, "ahp policy", **env), "weaker", machine)
    ran = platform_jobs.gitlab(machine, text, "ahp rules", **{**env, "CI_COMMIT_SHA": server.fine})
    assert ran.code == 0, ran.said


def test_a_pull_request_on_jenkins(server: Server, machine: Machine, tmp_path: Path) -> None:
    text = server.on_main(".ahp/ci/Jenkinsfile")
    env = {"CHANGE_TARGET": "main", "CHANGE_BRANCH": "topic", "CHANGE_ID": "2"}
    ran, _ = platform_jobs.jenkins(machine, text, (server.url, server.hostile), **env)
    assert refused_by(ran, "no-todo", machine), ran.said
    other = Machine(tmp_path / "other")
    ran, policy = platform_jobs.jenkins(other, text, (server.url, server.fine), **env)
    assert (ran.code, policy) == (0, "0"), ran.said


def test_a_pull_request_on_buildkite(server: Server, machine: Machine) -> None:
    text = server.on_main(".ahp/ci/buildkite.yml")
    env = {
        "BUILDKITE_REPO": server.url,
        "BUILDKITE_COMMIT": server.hostile,
        "BUILDKITE_BRANCH": "topic",
        "BUILDKITE_PULL_REQUEST": "2",
        "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
        "BUILDKITE_PIPELINE_DEFAULT_BRANCH": "main",
    }
    assert refused_by(platform_jobs.buildkite(machine, text, "ahp-rules", **env), "no-todo", machine)
    assert refused_by(platform_jobs.buildkite(machine, text, "ahp-policy", **env), "weaker", machine)
    assert not list((machine.folder / "temp").iterdir())  # agents are used again
