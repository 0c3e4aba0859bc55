"""What each CI platform says of a change, from variables and event files as the platforms set them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.hosts.ci.platform import Proposal, proposed
from ahp.system.errors import AhpError

HEAD, BEFORE, MERGE = "a" * 40, "b" * 40, "c" * 40
ZEROS = "0" * 40


def github(tmp_path: Path, name: str, event: object, **more: str) -> dict[str, str]:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event), encoding="utf-8")
    return {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_SHA": MERGE,
        "GITHUB_ACTOR": "octocat",
        **more,
    }


def pull(**more: object) -> dict[str, object]:
    return {
        "action": "edited",
        "pull_request": {
            "head": {"sha": HEAD, "ref": "topic", "repo": {"fork": True}},
            "base": {"sha": BEFORE, "ref": "release/1"},
        },
        "repository": {"default_branch": "trunk"},
        "sender": {"login": "ann"},
        **more,
    }


PULL = Proposal("pull request", HEAD, "", "topic", "refs/heads/release/1", "trunk", "ann")


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target", "pull_request_review"])
def test_a_pull_request_on_github_is_its_own_head_and_its_base_as_edited(tmp_path: Path, name: str) -> None:
    assert proposed(github(tmp_path, name, pull())) == PULL


def test_a_merge_queue_on_github_is_the_group_and_not_the_base_it_was_made_on(tmp_path: Path) -> None:
    queue = "gh-readonly-queue/main/pr-7"
    group = {"head_sha": HEAD, "head_ref": f"refs/heads/{queue}", "base_sha": BEFORE, "base_ref": "refs/heads/main"}
    event = {"action": "checks_requested", "merge_group": group}
    said = proposed(github(tmp_path, "merge_group", event))
    assert said == Proposal("merge queue", HEAD, "", queue, "refs/heads/main", actor="octocat")


@pytest.mark.parametrize(
    ("before", "after", "ref", "said"),
    [
        (BEFORE, HEAD, "refs/heads/main", ("push", HEAD, BEFORE, "main")),
        (ZEROS, HEAD, "refs/heads/new/one", ("push", HEAD, "", "new/one")),
        (BEFORE, ZEROS, "refs/heads/gone", ("delete", "", BEFORE, "gone")),
        (ZEROS, HEAD, "refs/tags/v1", ("push", HEAD, "", "")),
    ],
)
def test_a_push_on_github(tmp_path: Path, before: str, after: str, ref: str, said: tuple[str, ...]) -> None:
    event = {"ref": ref, "before": before, "after": after, "repository": {"default_branch": "main"}}
    found = proposed(github(tmp_path, "push", event))
    assert found == Proposal(*said, target=ref, default_branch="main", actor="octocat")


def test_a_push_whose_beginning_github_does_not_say_is_not_the_first_one(tmp_path: Path) -> None:
    found = proposed(github(tmp_path, "push", {"ref": "refs/heads/main", "after": HEAD}))
    assert found is not None and found.before is None


def test_a_workflow_started_by_hand_is_of_no_change_in_particular(tmp_path: Path) -> None:
    found = proposed(github(tmp_path, "workflow_dispatch", {"inputs": {}, "ref": "refs/heads/main"}))
    assert found == Proposal("run", head=MERGE, actor="octocat")


GITLAB = {"CI": "true", "GITLAB_CI": "true", "CI_DEFAULT_BRANCH": "main", "GITLAB_USER_LOGIN": "ann"}
REQUEST = {
    **GITLAB,
    "CI_PIPELINE_SOURCE": "merge_request_event",
    "CI_COMMIT_SHA": MERGE,
    "CI_COMMIT_BEFORE_SHA": ZEROS,
    "CI_MERGE_REQUEST_DIFF_BASE_SHA": BEFORE,
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "topic",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release/1",
}


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (
            {**REQUEST, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD},
            Proposal("pull request", HEAD, "", "topic", "refs/heads/release/1", "main", "ann"),
        ),
        (
            {**REQUEST, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "", "CI_COMMIT_SHA": HEAD},
            Proposal("pull request", HEAD, "", "topic", "refs/heads/release/1", "main", "ann"),
        ),
        (  # a child pipeline is still of its merge request
            {**REQUEST, "CI_PIPELINE_SOURCE": "parent_pipeline", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD},
            Proposal("pull request", HEAD, "", "topic", "refs/heads/release/1", "main", "ann"),
        ),
        (
            {
                **GITLAB,
                "CI_PIPELINE_SOURCE": "push",
                "CI_COMMIT_SHA": HEAD,
                "CI_COMMIT_BEFORE_SHA": BEFORE,
                "CI_COMMIT_BRANCH": "main",
            },
            Proposal("push", HEAD, BEFORE, "main", "refs/heads/main", "main", "ann"),
        ),
        (
            {**GITLAB, "CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": HEAD, "CI_COMMIT_TAG": "v1"},
            Proposal("push", HEAD, "", "", "refs/tags/v1", "main", "ann"),
        ),
        (
            {**GITLAB, "CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_SHA": HEAD, "CI_COMMIT_BRANCH": "main"},
            Proposal("run", HEAD, "", "main", "refs/heads/main", "main", "ann"),
        ),
        ({**GITLAB, "CI_COMMIT_SHA": HEAD}, Proposal("run", HEAD, "", "", "", "main", "ann")),
        (  # the branch refs/heads/refs/heads/main is not main
            {**GITLAB, "CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": HEAD, "CI_COMMIT_BRANCH": "refs/heads/main"},
            Proposal("push", HEAD, "", "refs/heads/main", "refs/heads/refs/heads/main", "main", "ann"),
        ),
    ],
)
def test_what_the_variables_say(env: dict[str, str], said: Proposal) -> None:
    assert proposed(env) == said


def test_without_a_platform_nothing_is_said() -> None:
    assert proposed({"CI": "true", "GITHUB_ACTIONS": "false"}) is None


def test_two_platforms_at_once_are_no_platform() -> None:
    with pytest.raises(AhpError, match=r"of GitHub Actions \(GITHUB_ACTIONS\) and GitLab CI \(GITLAB_CI\) at once"):
        proposed({"GITHUB_ACTIONS": "true", **GITLAB})


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({**GITLAB, "CI_COMMIT_SHA": "--upload-pack=x"}, "CI_COMMIT_SHA is '--upload-pack=x', which is no commit id"),
        ({**GITLAB, "CI_COMMIT_BRANCH": "-x"}, "CI_COMMIT_BRANCH is '-x', which is no name of a branch"),
        ({**GITLAB, "CI_COMMIT_BRANCH": "a..b"}, "no name of a branch"),
        ({**GITLAB, "CI_COMMIT_BRANCH": "a\n::error::x"}, "CI_COMMIT_BRANCH is 'a ::error::x'"),
        ({**GITLAB, "CI_COMMIT_BRANCH": "a.lock/b"}, "no name of a branch"),
        ({**GITLAB, "CI_PIPELINE_SOURCE": "merge_request_event"}, "says no CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        ({**REQUEST, "CI_COMMIT_SHA": ""}, "GitLab CI runs for a merge request and says no CI_COMMIT_SHA"),
        ({"GITHUB_ACTIONS": "true"}, "which GITHUB_EVENT_PATH names, is not there"),
        (
            {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": "/nowhere/event.json"},
            "which GITHUB_EVENT_PATH names, is not there",
        ),
    ],
)
def test_variables_that_cannot_be_right_are_refused(env: dict[str, str], why: str) -> None:
    with pytest.raises(AhpError) as caught:
        proposed(env)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("name", "event", "why"),
    [
        ("push", [], "holds no JSON object"),
        ("push", {"ref": "main", "after": HEAD}, "names 'main' as its ref"),
        ("push", {"ref": "refs/heads/main", "after": "HEAD~1"}, "after is 'HEAD~1'"),
        ("pull_request", {"pull_request": {"head": {"sha": HEAD}}}, "has no pull_request.base.ref"),
        ("pull_request", {"pull_request": {"head": "x", "base": {"ref": "main"}}}, "has no pull_request.head.sha"),
        ("pull_request_target", {"pull_request": None}, "has no pull_request.head.sha"),
        ("pull_request_review", {}, "has no pull_request.head.sha"),
        ("merge_group", {"merge_group": {"head_sha": HEAD}}, "has no merge_group.base_ref"),
        ("merge_group", {"merge_group": []}, "has no merge_group.head_sha"),
        ("push", {"ref": "refs/heads/main", "before": BEFORE}, "has no after"),
        ("push", {"ref": "refs/heads/main", "before": BEFORE, "after": None}, "has no after"),
    ],
)
def test_an_event_file_that_cannot_be_right_is_refused(tmp_path: Path, name: str, event: object, why: str) -> None:
    with pytest.raises(AhpError) as caught:
        proposed(github(tmp_path, name, event))
    assert why in str(caught.value)


def test_an_event_file_that_is_no_json(tmp_path: Path) -> None:
    env = github(tmp_path, "push", {})
    Path(env["GITHUB_EVENT_PATH"]).write_bytes(b"\xff{")
    with pytest.raises(AhpError, match="cannot be read"):
        proposed(env)
