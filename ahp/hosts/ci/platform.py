"""The platforms that ahp knows: which one runs this, and what it says of the change."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ahp.hosts.ci import github_event
from ahp.hosts.ci.proposal import BRANCHES, TAGS, Proposal, branch_name, branch_of_ref, commit_id, needed
from ahp.protocol.event import is_set
from ahp.system.errors import AhpError

_GITHUB = "GITHUB_ACTIONS"
_GITLAB, _JENKINS, _BUILDKITE, _AZURE = "GitLab CI", "Jenkins", "Buildkite", "Azure Pipelines"
# Of a merge request here, and of one on GitHub that GitLab is told of.
_REQUESTS = {
    "merge_request_event": "CI_MERGE_REQUEST",
    "external_pull_request_event": "CI_EXTERNAL_PULL_REQUEST",
}
_TARGET = "_TARGET_BRANCH_NAME"
_REQUEST = "SYSTEM_PULLREQUEST_"
_NEEDED = ("SOURCECOMMITID", "TARGETBRANCH")


def is_github(env: Mapping[str, str]) -> bool:
    """Whether what is printed comes into a log that GitHub Actions reads, or what works as it does."""
    return is_set(env.get(_GITHUB, ""))


def proposed(env: Mapping[str, str]) -> Proposal | None:
    """What the platform whose variables are in `env` says is to be judged, None where there is no such platform.

    Raises AhpError where two platforms speak at once, and for variables or an event file that cannot be right.
    """
    here = [variable for variable in _PLATFORMS if is_set(env.get(variable, ""))]
    if len(here) > 1:
        names = " and ".join(f"{_PLATFORMS[variable][0]} ({variable})" for variable in here)
        raise AhpError(f"the environment is of {names} at once; unset the variables of the one that does not run this")
    return _PLATFORMS[here[0]][1](env) if here else None


def _commit(env: Mapping[str, str], name: str) -> str:
    return commit_id(env.get(name), name)


def _branch(env: Mapping[str, str], name: str) -> str:
    return branch_name(env.get(name), name)


def _of_ref(env: Mapping[str, str], name: str) -> str:
    return branch_of_ref(env.get(name), name)


def _gitlab(env: Mapping[str, str]) -> Proposal:
    """GitLab CI (docs.gitlab.com, "Predefined CI/CD variables").

    `CI_MERGE_REQUEST_DIFF_BASE_SHA` is never read: it is the base of the diff that was computed when somebody last
    pushed.
    """
    default = _branch(env, "CI_DEFAULT_BRANCH")
    actor = env.get("GITLAB_USER_LOGIN", "")
    head = _commit(env, "CI_COMMIT_SHA")
    # A child pipeline has another source, and the variables of its parent's request.
    told = next((one for one in _REQUESTS.values() if env.get(one + _TARGET)), "")
    if prefix := told or _REQUESTS.get(env.get("CI_PIPELINE_SOURCE", ""), ""):
        no = f"{_GITLAB} runs for a merge request and says no"
        target = needed(_branch(env, prefix + _TARGET), f"{no} {prefix}{_TARGET}")
        # Only where the pipeline runs on the merged result, or for GitHub, does this differ from CI_COMMIT_SHA.
        own_head = _commit(env, f"{prefix}_SOURCE_BRANCH_SHA")
        source = _branch(env, f"{prefix}_SOURCE_BRANCH_NAME")
        head = needed(own_head or head, f"{no} CI_COMMIT_SHA")
        return Proposal(_GITLAB, "pull request", head, "", source, BRANCHES + target, default, actor)
    before = _commit(env, "CI_COMMIT_BEFORE_SHA")
    if branch := _branch(env, "CI_COMMIT_BRANCH"):
        kind = "push" if env.get("CI_PIPELINE_SOURCE") == "push" else "run"
        return Proposal(_GITLAB, kind, head, before, branch, BRANCHES + branch, default, actor)
    if tag := _branch(env, "CI_COMMIT_TAG"):
        return Proposal(_GITLAB, "push", head, before, "", TAGS + tag, default, actor)
    return Proposal(_GITLAB, "run", head=head, default_branch=default, actor=actor)


def _jenkins(env: Mapping[str, str]) -> Proposal:
    """Jenkins, with the variables of its branch sources (plugins.jenkins.io, branch-api and git).

    A job that is no multibranch one names only the commit. The last build that went well stands for what was judged
    before; what a failed build found is judged again. A change request that Jenkins builds merged with its target has a
    HEAD that adds nothing but the merge.
    """
    head = _commit(env, "GIT_COMMIT")
    target = _branch(env, "CHANGE_TARGET")
    if target or env.get("CHANGE_ID"):
        no = f"{_JENKINS} runs for a change request and says no"
        needed(target, f"{no} CHANGE_TARGET")
        needed(head, f"{no} GIT_COMMIT; fix, in the Jenkinsfile: env.GIT_COMMIT = checkout(scm).GIT_COMMIT")
        source = _branch(env, "CHANGE_BRANCH")
        actor = env.get("CHANGE_AUTHOR", "")
        return Proposal(_JENKINS, "pull request", head, "", source, BRANCHES + target, actor=actor)
    if tag := _branch(env, "TAG_NAME"):
        return Proposal(_JENKINS, "push", head, None, target=TAGS + tag)
    branch = _branch(env, "BRANCH_NAME")
    if not branch:
        return Proposal(_JENKINS, "run", head=head)
    before = _commit(env, "GIT_PREVIOUS_SUCCESSFUL_COMMIT")
    return Proposal(_JENKINS, "push", head, before or None, branch, BRANCHES + branch, is_last_good=bool(before))


def _buildkite(env: Mapping[str, str]) -> Proposal:
    """Buildkite (buildkite.com/docs, "Environment variables").

    Who made a build is read from the commit or from an address, so it vouches for nobody and there is no actor.
    """
    default = _branch(env, "BUILDKITE_PIPELINE_DEFAULT_BRANCH")
    # A build that somebody starts by hand has the word HEAD here.
    told = env.get("BUILDKITE_COMMIT", "")
    head = "" if told == "HEAD" else commit_id(told, "BUILDKITE_COMMIT")
    # Of a fork's branch Buildkite says `owner:branch`; no branch has a colon in its name.
    owner, _, name = env.get("BUILDKITE_BRANCH", "").rpartition(":")
    source = branch_name(name, "BUILDKITE_BRANCH")
    queue = _branch(env, "BUILDKITE_MERGE_QUEUE_BASE_BRANCH")
    no = f"{_BUILDKITE} builds a pull request and says no"
    if queue:
        needed(head, f"{no} BUILDKITE_COMMIT")
        return Proposal(_BUILDKITE, "merge queue", head, "", source, BRANCHES + queue, default)
    if env.get("BUILDKITE_PULL_REQUEST", "false") not in ("", "false"):
        target = _branch(env, "BUILDKITE_PULL_REQUEST_BASE_BRANCH")
        needed(target, f"{no} BUILDKITE_PULL_REQUEST_BASE_BRANCH")
        needed(head, f"{no} BUILDKITE_COMMIT")
        return Proposal(_BUILDKITE, "pull request", head, "", source, BRANCHES + target, default)
    if tag := _branch(env, "BUILDKITE_TAG"):
        return Proposal(_BUILDKITE, "push", head, None, target=TAGS + tag, default_branch=default)
    if owner or not source:
        return Proposal(_BUILDKITE, "run", head, source=source, default_branch=default)
    return Proposal(_BUILDKITE, "push", head, None, source, BRANCHES + source, default)


def _azure(env: Mapping[str, str]) -> Proposal:
    """Azure Pipelines (learn.microsoft.com, "Use predefined variables").

    The commit that it builds of a pull request is a merge of its own; the request's head has a variable of its own.
    """
    # Of a repository that is elsewhere, as on GitHub, the documentation does not say whom this names.
    actor = env.get("BUILD_REQUESTEDFOREMAIL", "") if env.get("BUILD_REPOSITORY_PROVIDER") == "TfsGit" else ""
    if env.get("BUILD_REASON") == "PullRequest" or any(env.get(f"{_REQUEST}{one}") for one in _NEEDED):
        head = _commit(env, f"{_REQUEST}SOURCECOMMITID")
        target = _of_ref(env, f"{_REQUEST}TARGETBRANCH")
        for value, name in zip((head, target), _NEEDED, strict=True):
            needed(value, f"{_AZURE} runs for a pull request and says no {_REQUEST}{name}")
        source = _of_ref(env, f"{_REQUEST}SOURCEBRANCH")
        return Proposal(_AZURE, "pull request", head, "", source, BRANCHES + target, actor=actor)
    head = _commit(env, "BUILD_SOURCEVERSION")
    ref = env.get("BUILD_SOURCEBRANCH", "")
    if env.get("BUILD_REASON") in ("IndividualCI", "BatchedCI") and ref.startswith((BRANCHES, TAGS)):
        source = branch_of_ref(ref, "BUILD_SOURCEBRANCH") if ref.startswith(BRANCHES) else ""
        return Proposal(_AZURE, "push", head, None, source, ref, actor=actor)
    return Proposal(_AZURE, "run", head=head, actor=actor)


# The variable by which each platform is known, its name for people, and who reads its word.
_PLATFORMS: dict[str, tuple[str, Callable[[Mapping[str, str]], Proposal]]] = {
    _GITHUB: (github_event.NAME, github_event.read),
    "GITLAB_CI": (_GITLAB, _gitlab),
    "JENKINS_URL": (_JENKINS, _jenkins),
    "BUILDKITE": (_BUILDKITE, _buildkite),
    "TF_BUILD": (_AZURE, _azure),
}
