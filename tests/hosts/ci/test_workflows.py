"""What a GitHub workflow is worth as a check."""

from __future__ import annotations

import pytest
import yaml

from ahp.hosts.ci.definition import ADVICE, ALL, GUARD, POLICY, RULES, UNSAFE, asked
from ahp.hosts.ci.workflows import jobs_that_judge

FILE = ".github/workflows/ahp.yml"
STEP = {"run": "ahp ci --without policy"}


def workflow(on: object, job: dict[str, object] | None = None, *steps: dict[str, object], **more: object) -> bytes:
    jobs = {"ahp": {"steps": [*steps, STEP], **(job or {})}, **more}
    return yaml.safe_dump({"on": on, "jobs": jobs}).encode()


@pytest.mark.parametrize(
    ("data", "worth", "why"),
    [
        (workflow({"pull_request_target": {"types": ["opened"]}, "push": None}), GUARD, "the default branch's copy"),
        (workflow(["merge_group", "pull_request_target"]), GUARD, "the default branch's copy"),
        (workflow("pull_request_target", {"if": "${{ always() }}"}), GUARD, "the default branch's copy"),
        (workflow("pull_request_target", None, {"uses": "actions/checkout@v5"}), GUARD, "the default branch's copy"),
        (workflow("pull_request"), ADVICE, "runs its own copy"),
        (workflow(["push", "merge_group"]), ADVICE, "does not run for pull requests"),
        (workflow(None), ADVICE, "does not run for pull requests"),
        (workflow(["pull_request", "pull_request_target"]), ADVICE, "also runs on pull_request"),
        (workflow("pull_request_target", {"if": "github.actor != 'eve'"}), ADVICE, "may skip it"),
        (workflow("pull_request_target", {"needs": "lint"}), ADVICE, "what it needs fails"),
        (workflow("pull_request_target", {"continue-on-error": True}), ADVICE, "makes a refusal pass"),
        (workflow("pull_request_target", {"steps": [{**STEP, "if": "false"}]}), ADVICE, "may skip it"),
        (workflow("pull_request_target", {"steps": [{"run": "ahp ci || true"}]}), ADVICE, "makes a refusal pass"),
        (workflow("pull_request_target", {"steps": [{"run": "cd x || exit 1; ahp ci"}]}), GUARD, "copy of this file"),
        (
            # Put in afterwards: every run of the tests would wait for PyYAML to write it.
            workflow("pull_request_target", None, {"run": "HUGE"}).replace(
                b"HUGE", b"git " * 100_000 + b"ci " * 100_000
            ),
            GUARD,
            "copy of this file",
        ),
        (workflow("pull_request_target", None, other={"name": "ahp", "steps": []}), ADVICE, "the same name"),
        (
            workflow(
                "pull_request_target", None, {"uses": "actions/checkout@v5", "with": {"ref": "${{ github.head_ref }}"}}
            ),
            UNSAFE,
            "could run with them",
        ),
        (workflow("pull_request_target", None, {"run": "gh pr checkout 7"}), UNSAFE, "could run with them"),
        (workflow("pull_request_target", None, {"run": "git checkout FETCH_HEAD"}), UNSAFE, "could run with them"),
        (b"on: [\njobs: ahp ci\n", ADVICE, "cannot be read"),
        (b"- &a [ahp ci]\n" + b"- *a\n" * 10, ADVICE, "cannot be read"),
        (workflow("pull_request_target", {"steps": [{"run": "make"}]}), None, ""),
    ],
)
def test_what_a_workflow_is_worth(data: bytes, worth: str | None, why: str) -> None:
    found = jobs_that_judge({FILE: data})
    assert [one.worth for one in found] == ([worth] if worth else [])
    assert not found or why in found[0].why


def test_the_name_of_the_job_in_another_workflow_is_the_same_check() -> None:
    other = workflow("pull_request", {"name": "ahp", "steps": [{"run": "true"}]})
    (found,) = jobs_that_judge({FILE: workflow("pull_request_target"), ".github/workflows/b.yml": other})
    assert (found.file, found.worth) == (FILE, ADVICE) and "the same name" in found.why


def test_anchors_and_the_bare_key_on_are_read_as_github_reads_them() -> None:
    text = b"on: pull_request_target\nx: &s {run: ahp ci}\njobs: {a: {steps: [*s]}}\n"
    assert [(one.check, one.worth) for one in jobs_that_judge({FILE: text})] == [("a", GUARD)]


@pytest.mark.parametrize(
    ("script", "part"),
    [
        ("ahp ci \\\n  --only policy", POLICY),
        ("ahp ci", ALL),
        ('"$RUNNER_TEMP/ahp/bin/ahp" ci --without policy --format sarif', RULES),
        ("../ahp/bin/ahp ci --only policy", POLICY),
        ("ahp ci --only policy\nahp-engine ci --without policy", ALL),
        ("# ahp ci\n// ahp ci\necho ahp city", ""),
        ("ahp check pre-push", ""),
    ],
)
def test_what_a_script_asks(script: str, part: str) -> None:
    assert asked(script) == part
