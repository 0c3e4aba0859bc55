"""What a workflow of GitHub Actions is worth as a check: whose copy of it runs, and how its job can pass unasked.

Sources: docs.github.com, "Events that trigger workflows", "Using conditions to control job execution" (a job that is
skipped reports success) and "About protected branches" (required checks are told apart by the name of the job alone).
Since December 2025 pull_request_target takes the workflow from the default branch, before that from the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ahp.hosts.ci.definition import ADVICE, GUARD, UNSAFE, Definition, asked, fails_with_it
from ahp.system import yamltree
from ahp.system.yamltree import YamlError

FOLDER = ".github/workflows/"
_LIMIT = 1 << 20
_ALWAYS = ("always()", "${{ always() }}", "success()", "${{ success() }}", True)
_OF_THE_CHANGE = re.compile(r"head|refs/pull/|merge_commit_sha")
_CHECKS_OUT = frozenset(
    {"checkout", "switch", "worktree", "reset", "read-tree", "archive"}
)  # of git; gh pr has the first


def jobs_that_judge(files: dict[str, bytes]) -> list[Definition]:
    """The jobs that run `ahp ci` among the workflows `files`, by path, as the branch has them."""
    workflows = {path: _read(path, data) for path, data in files.items()}
    names = [_name(*one) for workflow in workflows.values() for one in _jobs(workflow)]
    found = [
        _weigh(path, workflow, _name(key, job), step, names.count(_name(key, job)) > 1, job)
        for path, workflow in workflows.items()
        for key, job in _jobs(workflow)
        for step in _steps(job)
        if asked(str(step.get("run") or ""))
    ]
    for path, data in files.items():
        part = asked(data.decode("utf-8", "replace")) if not workflows[path] else ""
        if part:
            found.append(Definition(path, "", ADVICE, "this file cannot be read as a workflow", part))
    return found


def _weigh(
    path: str, workflow: dict[str, object], name: str, step: dict[str, object], twice: bool, job: dict[str, object]
) -> Definition:
    run = str(step.get("run") or "")
    part = asked(run)
    events = _events(workflow)
    if "pull_request_target" not in events:
        why = (
            "a pull request runs its own copy of this file, and can edit, rename or skip the job"
            if "pull_request" in events
            else "it does not run for pull requests"
        )
        return Definition(path, name, ADVICE, why, part)
    if any(_takes_the_change(one) for one in _steps(job)):
        why = "it checks out what is proposed and has rights of its own: the change's code could run with them"
        return Definition(path, name, UNSAFE, why, part)
    if why := _way_round(workflow, job, step, run, events, twice):
        return Definition(path, name, ADVICE, why, part)
    return Definition(
        path, name, GUARD, "the default branch's copy of this file runs, which a pull request cannot edit", part
    )


def _way_round(
    workflow: dict[str, object],
    job: dict[str, object],
    step: dict[str, object],
    run: str,
    events: set[str],
    twice: bool,
) -> str:
    """How the job can report success without having asked, "" where nothing of that is seen."""
    if "pull_request" in events:
        return "it also runs on pull_request, from the change's own copy, under the same name"
    if twice:
        return "another job has the same name, and GitHub tells required checks apart by that alone"
    if any(one.get("if") is not None and one["if"] not in _ALWAYS for one in (job, step)):
        return "its `if` may skip it, and what is skipped counts as passed"
    if job.get("needs"):
        return "it is skipped where what it needs fails, and what is skipped counts as passed"
    if any(one.get("continue-on-error") not in (None, False) for one in (job, step)):
        return "`continue-on-error` makes a refusal pass"
    shell = _shell(step, job, workflow)
    stops = shell in ("", "bash", "sh") or re.search(r"\s-\w*e", shell.partition("||")[0])
    if not stops or "||" in shell or not fails_with_it(run, pipes=shell == "bash" or "pipefail" in shell + run):
        return "its script may go on where `ahp ci` refuses, or pass it by; give `ahp ci` a line of its own"
    if _is_kept_by_another_target(workflow):
        return "a pull request that is sent to another branch keeps its green check; add `edited` to the types"
    return ""


def _shell(step: dict[str, object], job: dict[str, object], workflow: dict[str, object]) -> str:
    """The shell of a step as it is written, "" for GitHub's own choice (`bash -e`)."""
    named = [step.get("shell")]
    for defaults in (job.get("defaults"), workflow.get("defaults")):
        run = defaults.get("run") if isinstance(defaults, dict) else None
        named.append(run.get("shell") if isinstance(run, dict) else None)
    return next((str(one) for one in named if one), "")


def _is_kept_by_another_target(workflow: dict[str, object]) -> bool:
    """Whether the check of a pull request to one branch stands when it is sent to another: its head is the same."""
    on = workflow.get("on")
    event = on.get("pull_request_target") if isinstance(on, dict) else None
    event = event if isinstance(event, dict) else {}
    return "branches" not in event and "edited" not in (event.get("types") or [])


def _takes_the_change(step: dict[str, object]) -> bool:
    used = step.get("with")
    given = used if isinstance(used, dict) else {}
    if str(step.get("uses") or "").startswith("actions/checkout"):
        return any(_OF_THE_CHANGE.search(str(given.get(key) or "")) for key in ("ref", "repository"))
    commands = re.split(r"[;&|\n]", str(step.get("run") or ""))
    words = [{word.rpartition("/")[2] for word in command.split()} for command in commands]
    return any({"git", "gh"} & one and _CHECKS_OUT & one for one in words)


def _read(path: str, data: bytes) -> dict[str, object]:
    """The workflow; of one that cannot be read, what can be. GitHub's readers take more of YAML than ours."""
    try:
        root = yamltree.read(yamltree.decode(data, path, _LIMIT), path)
    except YamlError as error:
        root = error.root
    found = root.plain() if root is not None else None
    return found if isinstance(found, dict) else {}


def _events(workflow: dict[str, object]) -> set[str]:
    on = workflow.get("on")
    return {on} if isinstance(on, str) else {str(one) for one in on} if isinstance(on, list | dict) else set()


def _jobs(workflow: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
    jobs = workflow.get("jobs")
    for key, job in jobs.items() if isinstance(jobs, dict) else ():
        if isinstance(job, dict):
            yield key, job


def _steps(job: dict[str, object]) -> list[dict[str, object]]:
    steps = job.get("steps")
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []


def _name(key: str, job: dict[str, object]) -> str:
    return str(job.get("name") or key)
