"""`request`: what GitHub's event file, GitLab's variables and a job's own file tell of a pull or merge request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import request
from ahp.protocol.event import PushRef
from ahp.system.errors import AhpError

ALL = [f"request.{field}" for field in request.NAMESPACE.schema]
HEAD = "1" * 40
PULL = {
    "title": "feat: x",
    "body": None,
    "labels": [{"name": "ready"}, {"name": "api"}],
    "draft": False,
    "requested_reviewers": [{"login": "ann"}],
    "requested_teams": [{"slug": "writers"}],
}
CLEAR = dict.fromkeys(("GITHUB_ACTIONS", "GITLAB_CI", "AHP_REQUEST"), "")


@pytest.fixture
def ask(make_event: Any, gather: Any, repo: Any) -> Any:
    """The facts of an event of CI with these variables."""

    def asked(host: str = "ci", **env: str) -> dict[str, Any]:
        base = repo.commit("first")
        push = PushRef("refs/heads/topic", repo.commit("second"), "refs/heads/main", base)
        event = make_event("pre-merge", push=push, host=host, env={**CLEAR, **env})
        return gather(event, *ALL)  # type: ignore[no-any-return]

    return asked


def written(path: Path, value: object) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "part", [{"labels": [1]}, {"labels": [{}]}, {"requested_teams": 5}, {"requested_teams": ["x"]}]
)
def test_an_event_that_github_would_not_write_is_named(part: dict[str, Any], ask: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "event.json", {"pull_request": {**PULL, **part}})
    with pytest.raises(AhpError, match="is not as GitHub writes it"):
        ask(GITHUB_ACTIONS="true", GITHUB_EVENT_PATH=path)


def test_github_tells_it_in_its_event_file(ask: Any, repo: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "event.json", {"pull_request": PULL})
    found = ask(GITHUB_ACTIONS="true", GITHUB_EVENT_PATH=path)
    missing = found.pop("missing")
    assert found == {
        "request.title": "feat: x",
        "request.body": "",
        "request.labels": ["ready", "api"],
        "request.draft": False,
        "request.reviewers": ["ann", "writers"],
        "request.head": repo.head(),
    }
    assert set(missing) == {"request.approvals", "request.checks"}
    assert "AHP_REQUEST" in missing["request.checks"][1]


def test_gitlab_tells_it_in_variables(ask: Any) -> None:
    told = {"TITLE": "Draft: x", "DESCRIPTION": "why", "LABELS": "ready,api"}
    env = {f"CI_MERGE_REQUEST_{name}": value for name, value in told.items()}
    found = ask(GITLAB_CI="true", **env)
    assert (found["request.draft"], found["request.labels"], found["request.body"]) == (True, ["ready", "api"], "why")
    cut = ask(GITLAB_CI="true", **env, CI_MERGE_REQUEST_DESCRIPTION_IS_TRUNCATED="true")
    assert "request.body" in cut["missing"]


def test_a_file_of_the_job_tells_the_rest_and_stands_before_the_event(ask: Any, tmp_path: Path) -> None:
    approvals = [{"by": "ann", "commit": HEAD}]
    more = written(tmp_path / "more.json", {"approvals": approvals, "checks": [], "title": "fix: y"})
    path = written(tmp_path / "event.json", {"pull_request": PULL})
    found = ask(GITHUB_ACTIONS="true", GITHUB_EVENT_PATH=path, AHP_REQUEST=more)
    assert "missing" not in found
    assert (found["request.approvals"], found["request.title"]) == (approvals, "fix: y")


@pytest.mark.parametrize(
    ("host", "event", "why"),
    [("git", {"pull_request": PULL}, "only `ahp ci`"), ("ci", {"ref": "refs/heads/main"}, "names no request")],
)
def test_elsewhere_and_of_a_push_it_is_absent(ask: Any, tmp_path: Path, host: str, event: Any, why: str) -> None:
    found = ask(host, GITHUB_ACTIONS="true", GITHUB_EVENT_PATH=written(tmp_path / "event.json", event))
    assert set(found) == {"missing"}
    assert all(why in reason for reason, _ in found["missing"].values())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "cannot be read"),
        ("[1]", "holds no JSON object"),
        ('{"labels": [1]}', "one of its items"),
        (None, "is not there"),
    ],
)
def test_a_file_that_cannot_be_right_is_refused(ask: Any, tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "more.json").write_text(content, encoding="utf-8")
    with pytest.raises(AhpError, match=says):
        ask(AHP_REQUEST=str(tmp_path / "more.json"))
