"""GitLab CI (docs.gitlab.com, "Predefined CI/CD variables").

`CI_MERGE_REQUEST_DIFF_BASE_SHA` is never read: it is the base of the diff that was computed when somebody last pushed.
"""

from __future__ import annotations

from collections.abc import Mapping

from ahp.hosts.ci.proposal import BRANCHES, TAGS, Proposal, branch_name, commit_id, needed

_NAME = "GitLab CI"
# Of a merge request here, and of one on GitHub that GitLab is told of.
_REQUESTS = {
    "merge_request_event": "CI_MERGE_REQUEST",
    "external_pull_request_event": "CI_EXTERNAL_PULL_REQUEST",
}
_TARGET = "_TARGET_BRANCH_NAME"


def read(env: Mapping[str, str]) -> Proposal:
    """The change of the pipeline. Raises AhpError for variables that cannot be right."""
    default = branch_name(env.get("CI_DEFAULT_BRANCH"), "CI_DEFAULT_BRANCH")
    actor = env.get("GITLAB_USER_LOGIN", "")
    head = commit_id(env.get("CI_COMMIT_SHA"), "CI_COMMIT_SHA")
    # A child pipeline has another source, and the variables of its parent's request.
    told = next((one for one in _REQUESTS.values() if env.get(one + _TARGET)), "")
    if prefix := told or _REQUESTS.get(env.get("CI_PIPELINE_SOURCE", ""), ""):
        no = f"{_NAME} runs for a merge request and says no"
        target = needed(branch_name(env.get(prefix + _TARGET), prefix + _TARGET), f"{no} {prefix}{_TARGET}")
        # Only where the pipeline runs on the merged result, or for GitHub, does this differ from CI_COMMIT_SHA.
        own_head = commit_id(env.get(f"{prefix}_SOURCE_BRANCH_SHA"), f"{prefix}_SOURCE_BRANCH_SHA")
        source = branch_name(env.get(f"{prefix}_SOURCE_BRANCH_NAME"), f"{prefix}_SOURCE_BRANCH_NAME")
        head = needed(own_head or head, f"{no} CI_COMMIT_SHA")
        return Proposal(_NAME, "pull request", head, "", source, BRANCHES + target, default, actor)
    before = commit_id(env.get("CI_COMMIT_BEFORE_SHA"), "CI_COMMIT_BEFORE_SHA")
    if branch := branch_name(env.get("CI_COMMIT_BRANCH"), "CI_COMMIT_BRANCH"):
        kind = "push" if env.get("CI_PIPELINE_SOURCE") == "push" else "run"
        return Proposal(_NAME, kind, head, before, branch, BRANCHES + branch, default, actor)
    if tag := branch_name(env.get("CI_COMMIT_TAG"), "CI_COMMIT_TAG"):
        return Proposal(_NAME, "push", head, before, "", TAGS + tag, default, actor)
    return Proposal(_NAME, "run", head=head, default_branch=default, actor=actor)
