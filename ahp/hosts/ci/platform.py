"""What GitHub and GitLab say of the change; on every other platform the options of `ahp ci` do (docs/ci.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ahp.facts.request import GITHUB, document
from ahp.hosts.ci.proposal import BRANCHES, TAGS, Proposal, branch_name, branch_of_ref, commit_id
from ahp.protocol.event import is_set
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError

_ACTIONS, _GITHUB, _GITLAB = "GITHUB_ACTIONS", "GitHub Actions", "GitLab CI"
# Of a merge request here, and of one on GitHub that GitLab is told of.
_REQUESTS = {
    "merge_request_event": "CI_MERGE_REQUEST",
    "external_pull_request_event": "CI_EXTERNAL_PULL_REQUEST",
}
_TARGET = "_TARGET_BRANCH_NAME"


def is_github(env: Mapping[str, str]) -> bool:
    """Whether what is printed comes into a log that GitHub Actions reads, or what works as it does."""
    return is_set(env.get(_ACTIONS, ""))


def proposed(env: Mapping[str, str]) -> Proposal | None:
    """What the platform whose variables are in `env` says is to be judged, None where there is no such platform.

    Raises AhpError where two platforms speak at once, and for variables or an event file that cannot be right.
    """
    here = [variable for variable in _PLATFORMS if is_set(env.get(variable, ""))]
    if len(here) > 1:
        names = " and ".join(f"{_PLATFORMS[variable][0]} ({variable})" for variable in here)
        raise AhpError(f"the environment is of {names} at once; unset the variables of the one that does not run this")
    return _PLATFORMS[here[0]][1](env) if here else None


def _needed(value: str, said: str) -> str:
    """`value`, without which a change request cannot be judged: what happens to be checked out may be no part of it."""
    if not value:
        raise AhpError(said)
    return value


def _gitlab(env: Mapping[str, str]) -> Proposal:
    """GitLab CI (docs.gitlab.com, "Predefined CI/CD variables").

    `CI_MERGE_REQUEST_DIFF_BASE_SHA` is never read: it is the base of the diff that was computed when somebody last
    pushed.
    """

    def commit(name: str) -> str:
        return commit_id(env.get(name), name)

    def branch(name: str) -> str:
        return branch_name(env.get(name), name)

    default, actor, head = branch("CI_DEFAULT_BRANCH"), env.get("GITLAB_USER_LOGIN", ""), commit("CI_COMMIT_SHA")
    # A child pipeline has another source, and the variables of its parent's request.
    told = next((one for one in _REQUESTS.values() if env.get(one + _TARGET)), "")
    if prefix := told or _REQUESTS.get(env.get("CI_PIPELINE_SOURCE", ""), ""):
        no = f"{_GITLAB} runs for a merge request and says no"
        target = _needed(branch(prefix + _TARGET), f"{no} {prefix}{_TARGET}")
        # Only where the pipeline runs on the merged result, or for GitHub, does this differ from CI_COMMIT_SHA.
        head = _needed(commit(f"{prefix}_SOURCE_BRANCH_SHA") or head, f"{no} CI_COMMIT_SHA")
        source = branch(f"{prefix}_SOURCE_BRANCH_NAME")
        return Proposal("pull request", head, "", source, BRANCHES + target, default, actor)
    before = commit("CI_COMMIT_BEFORE_SHA")
    if own := branch("CI_COMMIT_BRANCH"):
        kind = "push" if env.get("CI_PIPELINE_SOURCE") == "push" else "run"
        return Proposal(kind, head, before, own, BRANCHES + own, default, actor)
    if tag := branch("CI_COMMIT_TAG"):
        return Proposal("push", head, before, "", TAGS + tag, default, actor)
    return Proposal("run", head, default_branch=default, actor=actor)


def _github(env: Mapping[str, str]) -> Proposal:
    """GitHub Actions: the event's file tells more, and more surely, than the variables.

    Sources: docs.github.com, "Webhook events and payloads" and "Default environment variables". The merge commit that
    GitHub makes of a pull request (`GITHUB_SHA`) is never judged: its message and its author are GitHub's.
    """
    event, name = document(env.get(GITHUB, ""), GITHUB), env.get("GITHUB_EVENT_NAME", "")
    default = branch_name(_of(event, "repository").get("default_branch"), "repository.default_branch")
    login = _of(event, "sender").get("login")
    actor = (login if isinstance(login, str) else "") or env.get("GITHUB_ACTOR", "")
    no = f"the event file of {_GITHUB} has no"
    if (pull := _of(event, "pull_request")) or name.startswith("pull_request"):
        head, base = _of(pull, "head"), _of(pull, "base")
        where = "pull_request.head.sha", "pull_request.base.ref"
        tip = _needed(commit_id(head.get("sha"), where[0]), f"{no} {where[0]}")
        target = _needed(branch_name(base.get("ref"), where[1]), f"{no} {where[1]}")
        source = branch_name(head.get("ref"), "pull_request.head.ref")
        return Proposal("pull request", tip, "", source, BRANCHES + target, default, actor)
    if (group := _of(event, "merge_group")) or name == "merge_group":
        where = "merge_group.head_sha", "merge_group.base_ref"
        tip = _needed(commit_id(group.get("head_sha"), where[0]), f"{no} {where[0]}")
        target = _needed(branch_of_ref(group.get("base_ref"), where[1]), f"{no} {where[1]}")
        source = branch_of_ref(group.get("head_ref"), "merge_group.head_ref")
        return Proposal("merge queue", tip, "", source, BRANCHES + target, default, actor)
    if name != "push":
        return Proposal("run", commit_id(env.get("GITHUB_SHA"), "GITHUB_SHA"), default_branch=default, actor=actor)
    ref = event.get("ref")
    if not isinstance(ref, str) or not ref.startswith("refs/"):
        raise AhpError(f"the push event of {_GITHUB} names {one_line(ref)!r} as its ref")
    # Zeros are a word of their own: there was nothing before, or there is nothing any more.
    _needed(str(event.get("after") or ""), f"{no} after")
    after = commit_id(event.get("after"), "after")
    before = commit_id(event["before"], "before") if event.get("before") else None
    source = ref.removeprefix(BRANCHES) if ref.startswith(BRANCHES) else ""
    return Proposal("push" if after else "delete", after, before, source, ref, default, actor)


def _of(event: Mapping[str, object], name: str) -> dict[str, object]:
    value = event.get(name)
    return value if isinstance(value, dict) else {}


# The variable by which each platform is known, its name for people, and who reads its word.
_PLATFORMS: dict[str, tuple[str, Callable[[Mapping[str, str]], Proposal]]] = {
    _ACTIONS: (_GITHUB, _github),
    "GITLAB_CI": (_GITLAB, _gitlab),
}
