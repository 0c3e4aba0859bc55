"""The templates, run as their platforms run them, on pull requests that do what they can against them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ahp.hosts.ci import templates
from ahp.system import git
from tests.conftest import OUTSIDE, PROJECT, Repo
from tests.hosts.ci import platform_jobs
from tests.hosts.ci.platform_jobs import Machine, Ran

POLICY = """
version: 1
rules:
  no-todo: {at: pre-commit, each: l in diff.added, block: "contains(l.text, 'TODO')"}
  weaker: {at: [pre-commit, pre-merge-commit], block: policy.weakened, locked: true}
  tested: {at: pre-push, on_missing: skip, block: tests.failed_count > 0 and files.changed_count == 3}
  single: {at: pre-push, prompt: push.commit_count == 1}
"""
LOCK = "ahp-engine==0 --hash=sha256:00\n"
RULES, POLICY_CHECK = ".github/workflows/ahp-rules.yml", ".github/workflows/ahp-policy.yml"
PASSING = "name: ahp rules\non: pull_request\njobs: {ahp-rules: {name: ahp rules, steps: [{run: 'true'}]}}\n"
REPORT = '<testsuite tests="1" failures="1"><testcase name="a"><failure/></testcase></testsuite>'
MAKEFILE = f"test:\n\techo '{REPORT}' > junit.xml\n\tfalse\n"
RUNS = "import pathlib; pathlib.Path.home().joinpath('ran').touch()\n"


class Server:
    """A repository on a platform: main with policy, lock and checks, and the heads of two pull requests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        repo = Repo(folder / "org" / "shop.git")
        repo.root.mkdir(parents=True)
        repo.git("init", "--quiet", "--initial-branch", "main")
        repo.git("config", "uploadpack.allowAnySHA1InWant", "true")  # as the hosts of GitHub and GitLab
        templates.write(git.discover(str(repo.root), dict(os.environ)), tuple(templates.KINDS))
        repo.add()
        self.main = repo.commit("Begin", **{".ahp/hooks.yaml": POLICY, templates.LOCK: LOCK})
        repo.git("switch", "--quiet", "--detach")
        # Good but for a test, which only who runs it can know.
        self.fine = repo.commit("A page", **{"page.md": "text\n", "Makefile": MAKEFILE, ".gitignore": "junit.xml\n"})
        for ref in ("refs/pull/1/head", "refs/heads/topic"):  # of the repository's own; the other comes from a fork
            repo.git("update-ref", ref, self.fine)
        repo.git("reset", "--quiet", "--hard", self.main)
        repo.git("mv", RULES, ".github/workflows/renamed.yml")
        for name in (RULES, POLICY_CHECK, ".github/workflows/faked.yml"):
            repo.write(name, PASSING)
        repo.write(".ahp/ci/gitlab.yml", "steps: []\n")
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
    # What all rests on: for pull_request_target GitHub takes the workflow from the default branch.
    env = {"GITHUB_SERVER_URL": f"file://{server.folder}", "GITHUB_REPOSITORY": "org/shop.git", **env}
    ran = platform_jobs.github(machine, server.on_main(name), event, payload, GITHUB_SHA=server.main, **env)
    return ran._replace(said=ran.said.replace("::error title=ahp%3A ", "refused by ").replace("::error title=", ""))


@pytest.mark.parametrize("kind", templates.KINDS)
def test_each_platform_has_its_commands_and_a_machine_that_runs_its_jobs(kind: str) -> None:
    assert f"ahp init --ci {kind}`" in (PROJECT / "docs" / "ci.md").read_text()
    assert hasattr(platform_jobs, kind.partition("-")[0])


@pytest.mark.slow
def test_a_pull_request_on_github(server: Server, machine: Machine, tmp_path: Path) -> None:
    other = Machine(tmp_path / "other")
    event = "pull_request_target"
    ran = on_github(server, machine, RULES, event, pull(server, server.hostile))
    assert ran.code == 1 and "no-todo" in ran.said and machine.installed == LOCK, ran.said
    ran = on_github(server, other, POLICY_CHECK, event, pull(server, server.hostile))
    assert ran.code == 1 and "weaker" in ran.said and "no-todo" not in ran.said, ran.said
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_action_judges_as_the_workflows_do(server: Server, machine: Machine, tmp_path: Path) -> None:
    action = (PROJECT / "hooks/ci/action.yml").read_text("utf-8")
    env = {"GITHUB_SERVER_URL": f"file://{server.folder}", "GITHUB_REPOSITORY": "org/shop.git"}
    env["GITHUB_SHA"] = server.main
    ran = platform_jobs.github_action(machine, action, pull(server, server.hostile), **env)
    assert ran.code == 1 and "no-todo" in ran.said and "weaker" in ran.said and machine.installed == LOCK, ran.said
    rules = Machine(tmp_path / "rules")
    env["INPUT_OPTIONS"] = "--without policy"
    ran = platform_jobs.github_action(rules, action, pull(server, server.hostile), **env)
    assert ran.code == 1 and "no-todo" in ran.said and "weaker" not in ran.said, ran.said
    ran = platform_jobs.github_action(Machine(tmp_path / "fine"), action, pull(server, server.fine), **env)
    assert ran.code == 0 and not list(tmp_path.rglob("ran")), ran.said


def test_the_component_is_the_file_for_gitlab_with_two_inputs() -> None:
    component = (PROJECT / "hooks/ci/gitlab-component.yml").read_text("utf-8").split("\n---\n")
    head, jobs = yaml.safe_load(component[0]), component[1]
    for name, told in head["spec"]["inputs"].items():
        jobs = jobs.replace(f"$[[ inputs.{name} ]]", told["default"])
    own = (PROJECT / "hooks/ci/gitlab.yml").read_text("utf-8")
    assert yaml.safe_load(jobs) == yaml.safe_load(own)


@pytest.mark.slow
def test_what_tests_find_is_for_the_weaker_job(server: Server, machine: Machine) -> None:
    text, pulled = server.on_main(".github/workflows/ahp-evidence.yml"), pull(server, server.fine)
    env = {"GITHUB_SERVER_URL": f"file://{server.folder}", "GITHUB_REPOSITORY": "org/shop.git"}
    ran = platform_jobs.github(machine, text, "pull_request", pulled, **env)
    assert ran.code == 1 and "push refused by tested" in ran.said and "single" in ran.said, ran.said


REQUEST = {
    "CI_PIPELINE_SOURCE": "merge_request_event",
    "CI_DEFAULT_BRANCH": "main",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic",
    "CI_MERGE_REQUEST_PROJECT_PATH": "org/shop",
    "CI_PROJECT_PATH": "fork/shop",
    "CI_JOB_TOKEN": "t0ken",
}


@pytest.mark.slow
def test_a_merge_request_on_gitlab(server: Server, machine: Machine, tmp_path: Path) -> None:
    text = server.on_main(".ahp/ci/gitlab.yml")
    env = {**REQUEST, "CI_SERVER_URL": f"file://{server.folder}", "CI_COMMIT_SHA": server.hostile}
    assert refused_by(platform_jobs.gitlab(machine, text, "ahp rules", **env), "no-todo", machine)
    assert refused_by(platform_jobs.gitlab(machine, text, "ahp policy", **env), "weaker", machine)
    ran = platform_jobs.gitlab(machine, text, "ahp rules", **{**env, "CI_COMMIT_SHA": server.fine})
    assert ran.code == 0, ran.said


def test_a_commit_that_a_platform_names_is_no_option_of_git(server: Server, machine: Machine) -> None:
    """Who may start a build by hand may have it say any commit."""
    option = f"--upload-pack=touch {machine.folder}/home/ran; git-upload-pack"
    env = {**REQUEST, "CI_SERVER_URL": f"file://{server.folder}", "CI_COMMIT_SHA": option}
    ran = platform_jobs.gitlab(machine, server.on_main(".ahp/ci/gitlab.yml"), "ahp rules", **env)
    assert ran.code not in (0, 1) and "invalid refspec" in ran.said, ran.said
    assert not (machine.folder / "home/ran").exists()


@pytest.mark.tools
def test_ahp_is_installed_by_its_digests(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workflow with the real Python, pip and a lock of this project's own wheel and all that it needs."""
    folder = tmp_path / "wheels"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--wheel-dir", str(folder), str(PROJECT)], env=OUTSIDE, check=True)
    wheels = sorted(folder.iterdir())
    lock = "".join(
        f"{'=='.join(wheel.name.split('-')[:2])} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
        for wheel in wheels
    )
    clone = Repo(tmp_path / "org" / "shop.git")
    server.repo.git("clone", "--quiet", server.url, str(clone.root))
    clone.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clone.git("fetch", "--quiet", "origin", "refs/pull/2/head")
    clone.git("update-ref", "refs/pull/2/head", "FETCH_HEAD")
    clone.commit("Pin", **{templates.LOCK: f"--no-index\n--find-links {folder}\n{lock}"})
    env = {"GITHUB_SERVER_URL": f"file://{tmp_path}", "GITHUB_REPOSITORY": "org/shop.git", "GITHUB_SHA": clone.head()}
    payload = pull(server, server.hostile)

    def ran(name: str) -> Ran:
        machine = Machine(tmp_path / name)
        (machine.folder / "bin/python3").unlink()
        (machine.folder / "bin/python3").symlink_to(Path(sys.base_prefix) / "bin/python3")
        return platform_jobs.github(machine, server.on_main(RULES), "pull_request_target", payload, **env)

    judged = ran("good")
    assert judged.code == 1 and "no-todo" in judged.said, judged.said
    wheels[0].write_bytes(wheels[0].read_bytes() + b"\0")
    tampered = ran("tampered")
    assert tampered.code and "DO NOT MATCH THE HASHES" in tampered.said.upper(), tampered.said
