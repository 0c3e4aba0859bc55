"""What a GitHub workflow is worth as a check."""

from __future__ import annotations

import pytest
import yaml

from ahp.hosts.ci.definition import ADVICE, ALL, GUARD, POLICY, RULES, UNSAFE, asked
from ahp.hosts.ci.workflows import jobs_that_judge

FILE = ".github/workflows/ahp.yml"
TARGET = {"pull_request_target": {"types": ["opened", "synchronize", "reopened", "edited"]}}
STEP = {"run": "ahp ci --without policy"}


def workflow(on: object, job: dict[str, object] | None = None, *steps: dict[str, object], **more: object) -> bytes:
    jobs = {"ahp": {"steps": [*steps, STEP], **(job or {})}, **more}
    return yaml.safe_dump({"on": on, "jobs": jobs}).encode()


@pytest.mark.parametrize(
    ("data", "worth", "why"),
    [
        (workflow({**TARGET, "push": None}), GUARD, "the default branch's copy"),
        (workflow({"merge_group": None, **TARGET}), GUARD, "the default branch's copy"),
        (workflow(TARGET, {"if": "${{ always() }}"}), GUARD, "the default branch's copy"),
        (workflow(TARGET, None, {"uses": "actions/checkout@v5"}), GUARD, "the default branch's copy"),
        (workflow("pull_request"), ADVICE, "runs its own copy"),
        (workflow(["push", "merge_group"]), ADVICE, "does not run for pull requests"),
        (workflow(None), ADVICE, "does not run for pull requests"),
        (workflow(["pull_request", "pull_request_target"]), ADVICE, "also runs on pull_request"),
        (workflow(TARGET, {"if": "github.actor != 'eve'"}), ADVICE, "may skip it"),
        (workflow(TARGET, {"needs": "lint"}), ADVICE, "what it needs fails"),
        (workflow(TARGET, {"continue-on-error": True}), ADVICE, "makes a refusal pass"),
        (workflow(TARGET, {"steps": [{**STEP, "if": "false"}]}), ADVICE, "may skip it"),
        (workflow(TARGET, {"steps": [{"run": "ahp ci || true"}]}), ADVICE, "may go on where `ahp ci` refuses"),
        (workflow("pull_request_target"), ADVICE, "sent to another branch keeps its green check"),
        (workflow({"pull_request_target": {"types": "opened"}}), ADVICE, "add `edited` to the types"),
        (workflow({"pull_request_target": {"branches": ["main"]}}), GUARD, "copy of this file"),
        (workflow(TARGET, {"steps": [{"run": "cd x || exit 1; ahp ci"}]}), GUARD, "copy of this file"),
        (
            # Put in afterwards: every run of the tests would wait for PyYAML to write it.
            workflow(TARGET, None, {"run": "HUGE"}).replace(b"HUGE", b"git " * 100_000 + b"ci " * 100_000),
            GUARD,
            "copy of this file",
        ),
        (workflow(TARGET, None, other={"name": "ahp", "steps": []}), ADVICE, "the same name"),
        (
            workflow(TARGET, None, {"uses": "actions/checkout@v5", "with": {"ref": "${{ github.head_ref }}"}}),
            UNSAFE,
            "could run with them",
        ),
        (workflow(TARGET, None, {"run": "gh pr checkout 7"}), UNSAFE, "could run with them"),
        (workflow(TARGET, None, {"run": "git checkout FETCH_HEAD"}), UNSAFE, "could run with them"),
        (b"on: [\njobs: ahp ci\n", ADVICE, "cannot be read"),
        (b"- &a [ahp ci]\n" + b"- *a\n" * 10, ADVICE, "cannot be read"),
        (workflow(TARGET, {"steps": [{"run": "make"}]}), None, ""),
    ],
)
def test_what_a_workflow_is_worth(data: bytes, worth: str | None, why: str) -> None:
    found = jobs_that_judge({FILE: data})
    assert [one.worth for one in found] == ([worth] if worth else [])
    assert not found or why in found[0].why


def test_the_name_of_the_job_in_another_workflow_is_the_same_check() -> None:
    other = workflow("pull_request", {"name": "ahp", "steps": [{"run": "true"}]})
    (found,) = jobs_that_judge({FILE: workflow(TARGET), ".github/workflows/b.yml": other})
    assert (found.file, found.worth) == (FILE, ADVICE) and "the same name" in found.why


def test_anchors_and_the_bare_key_on_are_read_as_github_reads_them() -> None:
    text = b"on: {pull_request_target: {types: [edited]}}\nx: &s {run: ahp ci}\njobs: {a: {steps: [*s]}}\n"
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


@pytest.mark.parametrize(
    ("script", "shell", "worth"),
    [
        *((script, None, GUARD) for script in ("cd judged && ahp ci", "ahp ci > log 2>&1; cat log", "exec ahp ci\n")),
        *(
            (script, None, GUARD)
            for script in ('"$(pwd)/ahp" ci', "echo judging; ahp ci", "uvx --from ahp-engine ahp ci")
        ),
        *(
            (script, None, ADVICE)
            for script in ("ahp ci | tee log", "ahp ci &\nwait", "if ahp ci; then echo; fi", "! ahp ci")
        ),
        *(
            (script, None, ADVICE)
            for script in ("set +e\nahp ci\necho", "x || ahp ci", "ahp ci && echo\necho", 'echo "ahp ci"')
        ),
        *(
            (script, None, ADVICE)
            for script in ("ahp ci \\\n  || true", 'echo "$(ahp ci)"', "trap 'exit 0' EXIT\nahp ci")
        ),
        ("ahp ci | tee log", "bash", GUARD),
        ("set -o pipefail\nahp ci | tee log", None, GUARD),
        ("ahp ci", "bash -euo pipefail {0}", GUARD),
        ("ahp ci", "bash {0}", ADVICE),
        ("ahp ci", "bash -e {0} || true", ADVICE),
        ("ahp ci", "pwsh", ADVICE),
    ],
)
def test_a_script_that_goes_on_after_a_refusal_is_advice(script: str, shell: str | None, worth: str) -> None:
    step = {"run": script, "shell": shell}
    for job in ({"steps": [step]}, {"steps": [{"run": script}], "defaults": {"run": {"shell": shell}}}):
        assert [one.worth for one in jobs_that_judge({FILE: workflow(TARGET, job)})] == [worth]
    whole = yaml.safe_dump(
        {"on": TARGET, "defaults": {"run": {"shell": shell}}, "jobs": {"a": {"steps": [{"run": script}]}}}
    )
    assert [one.worth for one in jobs_that_judge({FILE: whole.encode()})] == [worth]
