"""What each CI platform says of a change, from variables and event files as the platforms set them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.hosts.ci.platform import proposed
from ahp.hosts.ci.proposal import Proposal
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


PULL = Proposal("GitHub Actions", "pull request", HEAD, "", "topic", "refs/heads/release/1", "trunk", "ann")


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target", "pull_request_review"])
def test_a_pull_request_on_github_is_its_own_head_and_its_base_as_edited(tmp_path: Path, name: str) -> None:
    assert proposed(github(tmp_path, name, pull())) == PULL


def test_a_merge_queue_on_github_is_the_group_and_not_the_base_it_was_made_on(tmp_path: Path) -> None:
    queue = "gh-readonly-queue/main/pr-7"
    group = {"head_sha": HEAD, "head_ref": f"refs/heads/{queue}", "base_sha": BEFORE, "base_ref": "refs/heads/main"}
    event = {"action": "checks_requested", "merge_group": group}
    said = proposed(github(tmp_path, "merge_group", event))
    assert said == Proposal("GitHub Actions", "merge queue", HEAD, "", queue, "refs/heads/main", actor="octocat")


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
    assert found == Proposal("GitHub Actions", *said, target=ref, default_branch="main", actor="octocat")


def test_a_push_whose_beginning_github_does_not_say_is_not_the_first_one(tmp_path: Path) -> None:
    found = proposed(github(tmp_path, "push", {"ref": "refs/heads/main", "after": HEAD}))
    assert found is not None and found.before is None


def test_a_workflow_started_by_hand_is_of_no_change_in_particular(tmp_path: Path) -> None:
    found = proposed(github(tmp_path, "workflow_dispatch", {"inputs": {}, "ref": "refs/heads/main"}))
    assert found == Proposal("GitHub Actions", "run", head=MERGE, actor="octocat")


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
JENKINS = {"JENKINS_URL": "https://ci.example/", "GIT_COMMIT": HEAD}
BUILDKITE = {"BUILDKITE": "true", "BUILDKITE_COMMIT": HEAD, "BUILDKITE_PIPELINE_DEFAULT_BRANCH": "main"}
AZURE = {
    "TF_BUILD": "True",
    "BUILD_SOURCEVERSION": MERGE,
    "BUILD_REPOSITORY_PROVIDER": "TfsGit",
    "BUILD_REQUESTEDFOREMAIL": "ann@example.org",
}
AZURE_PULL = {
    **AZURE,
    "BUILD_REASON": "PullRequest",
    "BUILD_SOURCEBRANCH": "refs/pull/1/merge",
    "SYSTEM_PULLREQUEST_SOURCECOMMITID": HEAD,
    "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/topic",
    "SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main",
}


@pytest.mark.parametrize(
    ("env", "said"),
    [
        (
            {**REQUEST, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD},
            Proposal("GitLab CI", "pull request", HEAD, "", "topic", "refs/heads/release/1", "main", "ann"),
        ),
        (
            {**REQUEST, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "", "CI_COMMIT_SHA": HEAD},
            Proposal("GitLab CI", "pull request", HEAD, "", "topic", "refs/heads/release/1", "main", "ann"),
        ),
        (  # a child pipeline is still of its merge request
            {**REQUEST, "CI_PIPELINE_SOURCE": "parent_pipeline", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD},
            Proposal("GitLab CI", "pull request", HEAD, "", "topic", "refs/heads/release/1", "main", "ann"),
        ),
        (
            {
                **GITLAB,
                "CI_PIPELINE_SOURCE": "external_pull_request_event",
                "CI_COMMIT_SHA": HEAD,
                "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME": "main",
                "CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME": "topic",
            },
            Proposal("GitLab CI", "pull request", HEAD, "", "topic", "refs/heads/main", "main", "ann"),
        ),
        (
            {
                **GITLAB,
                "CI_PIPELINE_SOURCE": "push",
                "CI_COMMIT_SHA": HEAD,
                "CI_COMMIT_BEFORE_SHA": BEFORE,
                "CI_COMMIT_BRANCH": "main",
            },
            Proposal("GitLab CI", "push", HEAD, BEFORE, "main", "refs/heads/main", "main", "ann"),
        ),
        (
            {**GITLAB, "CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": HEAD, "CI_COMMIT_TAG": "v1"},
            Proposal("GitLab CI", "push", HEAD, "", "", "refs/tags/v1", "main", "ann"),
        ),
        (
            {**GITLAB, "CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_SHA": HEAD, "CI_COMMIT_BRANCH": "main"},
            Proposal("GitLab CI", "run", HEAD, "", "main", "refs/heads/main", "main", "ann"),
        ),
        ({**GITLAB, "CI_COMMIT_SHA": HEAD}, Proposal("GitLab CI", "run", HEAD, "", "", "", "main", "ann")),
        (  # the branch refs/heads/refs/heads/main is not main
            {**GITLAB, "CI_PIPELINE_SOURCE": "push", "CI_COMMIT_SHA": HEAD, "CI_COMMIT_BRANCH": "refs/heads/main"},
            Proposal("GitLab CI", "push", HEAD, "", "refs/heads/main", "refs/heads/refs/heads/main", "main", "ann"),
        ),
        (
            {**JENKINS, "CHANGE_ID": "7", "CHANGE_TARGET": "main", "CHANGE_BRANCH": "topic", "CHANGE_AUTHOR": "ann"},
            Proposal("Jenkins", "pull request", HEAD, "", "topic", "refs/heads/main", "", "ann"),
        ),
        (
            {**JENKINS, "BRANCH_NAME": "main", "GIT_PREVIOUS_SUCCESSFUL_COMMIT": BEFORE, "GIT_PREVIOUS_COMMIT": MERGE},
            Proposal("Jenkins", "push", HEAD, BEFORE, "main", "refs/heads/main", is_last_good=True),
        ),
        ({**JENKINS, "BRANCH_NAME": "main"}, Proposal("Jenkins", "push", HEAD, None, "main", "refs/heads/main")),
        (
            {**JENKINS, "BRANCH_NAME": "v1", "TAG_NAME": "v1"},
            Proposal("Jenkins", "push", HEAD, None, target="refs/tags/v1"),
        ),
        (JENKINS, Proposal("Jenkins", "run", HEAD)),
        (
            {
                **BUILDKITE,
                "BUILDKITE_BRANCH": "someone:topic",
                "BUILDKITE_PULL_REQUEST": "7",
                "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
            },
            Proposal("Buildkite", "pull request", HEAD, "", "topic", "refs/heads/main", "main"),
        ),
        (
            {**BUILDKITE, "BUILDKITE_BRANCH": "q/main/1", "BUILDKITE_MERGE_QUEUE_BASE_BRANCH": "main"},
            Proposal("Buildkite", "merge queue", HEAD, "", "q/main/1", "refs/heads/main", "main"),
        ),
        (
            {**BUILDKITE, "BUILDKITE_BRANCH": "main", "BUILDKITE_PULL_REQUEST": "false", "BUILDKITE_COMMIT": "HEAD"},
            Proposal("Buildkite", "push", "", None, "main", "refs/heads/main", "main"),
        ),
        ({**BUILDKITE, "BUILDKITE_TAG": "v1"}, Proposal("Buildkite", "push", HEAD, None, "", "refs/tags/v1", "main")),
        (BUILDKITE, Proposal("Buildkite", "run", HEAD, default_branch="main")),
        (  # a fork's branch, whatever it is called, is none of the repository's own
            {**BUILDKITE, "BUILDKITE_BRANCH": "someone:main", "BUILDKITE_PULL_REQUEST": "false"},
            Proposal("Buildkite", "run", HEAD, "", "main", default_branch="main"),
        ),
        (
            AZURE_PULL,
            Proposal("Azure Pipelines", "pull request", HEAD, "", "topic", "refs/heads/main", "", "ann@example.org"),
        ),
        (  # nobody vouches for an address that a commit on GitHub has
            {**AZURE_PULL, "BUILD_REPOSITORY_PROVIDER": "GitHub"},
            Proposal("Azure Pipelines", "pull request", HEAD, "", "topic", "refs/heads/main"),
        ),
        (  # run again by hand, it is still of its pull request
            {**AZURE_PULL, "BUILD_REASON": "Manual"},
            Proposal("Azure Pipelines", "pull request", HEAD, "", "topic", "refs/heads/main", "", "ann@example.org"),
        ),
        (
            {**AZURE, "BUILD_REASON": "IndividualCI", "BUILD_SOURCEBRANCH": "refs/heads/main"},
            Proposal("Azure Pipelines", "push", MERGE, None, "main", "refs/heads/main", "", "ann@example.org"),
        ),
        (
            {**AZURE, "BUILD_REASON": "BatchedCI", "BUILD_SOURCEBRANCH": "refs/tags/v1"},
            Proposal("Azure Pipelines", "push", MERGE, None, "", "refs/tags/v1", "", "ann@example.org"),
        ),
        (
            {**AZURE, "BUILD_REASON": "Schedule", "BUILD_SOURCEBRANCH": "refs/heads/main"},
            Proposal("Azure Pipelines", "run", MERGE, actor="ann@example.org"),
        ),
    ],
)
def test_what_the_variables_say(env: dict[str, str], said: Proposal) -> None:
    assert proposed(env) == said


def test_without_a_platform_nothing_is_said() -> None:
    assert proposed({"CI": "true", "GITHUB_ACTIONS": "false"}) is None


def test_two_platforms_at_once_are_no_platform() -> None:
    with pytest.raises(AhpError, match=r"of GitLab CI \(GITLAB_CI\) and Jenkins \(JENKINS_URL\) at once"):
        proposed({**JENKINS, **GITLAB})


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({**JENKINS, "GIT_COMMIT": "--upload-pack=x"}, "GIT_COMMIT is '--upload-pack=x', which is no commit id"),
        ({**JENKINS, "CHANGE_TARGET": "-x"}, "CHANGE_TARGET is '-x', which is no name of a branch"),
        ({**JENKINS, "CHANGE_TARGET": "a..b"}, "no name of a branch"),
        ({**JENKINS, "BRANCH_NAME": "a\n::error::x"}, "BRANCH_NAME is 'a ::error::x'"),
        ({**JENKINS, "BRANCH_NAME": "a.lock/b"}, "no name of a branch"),
        ({**GITLAB, "CI_PIPELINE_SOURCE": "merge_request_event"}, "says no CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
        ({**BUILDKITE, "BUILDKITE_PULL_REQUEST": "1"}, "says no BUILDKITE_PULL_REQUEST_BASE_BRANCH"),
        ({**AZURE_PULL, "SYSTEM_PULLREQUEST_SOURCECOMMITID": ""}, "says no SYSTEM_PULLREQUEST_SOURCECOMMITID"),
        ({**AZURE_PULL, "SYSTEM_PULLREQUEST_TARGETBRANCH": ""}, "says no SYSTEM_PULLREQUEST_TARGETBRANCH"),
        ({**REQUEST, "CI_COMMIT_SHA": ""}, "GitLab CI runs for a merge request and says no CI_COMMIT_SHA"),
        ({**JENKINS, "CHANGE_ID": "7"}, "Jenkins runs for a change request and says no CHANGE_TARGET"),
        ({"JENKINS_URL": "x", "CHANGE_TARGET": "main"}, "says no GIT_COMMIT"),
        (
            {
                **BUILDKITE,
                "BUILDKITE_COMMIT": "HEAD",
                "BUILDKITE_PULL_REQUEST": "7",
                "BUILDKITE_PULL_REQUEST_BASE_BRANCH": "main",
            },
            "says no BUILDKITE_COMMIT",
        ),
        (
            {**BUILDKITE, "BUILDKITE_COMMIT": "", "BUILDKITE_MERGE_QUEUE_BASE_BRANCH": "main"},
            "says no BUILDKITE_COMMIT",
        ),
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
