"""Buildkite (buildkite.com/docs, "Environment variables").

Who made a build is read from the commit or from an address, so it vouches for nobody and there is no actor.
"""

from __future__ import annotations

from collections.abc import Mapping

from ahp.hosts.ci.proposal import BRANCHES, TAGS, Proposal, branch_name, commit_id, needed

_NAME = "Buildkite"


def read(env: Mapping[str, str]) -> Proposal:
    """The change of the build. Raises AhpError for variables that cannot be right."""
    default = branch_name(env.get("BUILDKITE_PIPELINE_DEFAULT_BRANCH"), "BUILDKITE_PIPELINE_DEFAULT_BRANCH")
    # A build that somebody starts by hand has the word HEAD here.
    told = env.get("BUILDKITE_COMMIT", "")
    head = "" if told == "HEAD" else commit_id(told, "BUILDKITE_COMMIT")
    # Of a fork's branch Buildkite says `owner:branch`; no branch has a colon in its name.
    owner, _, name = env.get("BUILDKITE_BRANCH", "").rpartition(":")
    source = branch_name(name, "BUILDKITE_BRANCH")
    queue = branch_name(env.get("BUILDKITE_MERGE_QUEUE_BASE_BRANCH"), "BUILDKITE_MERGE_QUEUE_BASE_BRANCH")
    no = f"{_NAME} builds a pull request and says no"
    if queue:
        needed(head, f"{no} BUILDKITE_COMMIT")
        return Proposal(_NAME, "merge queue", head, "", source, BRANCHES + queue, default)
    if env.get("BUILDKITE_PULL_REQUEST", "false") not in ("", "false"):
        target = branch_name(env.get("BUILDKITE_PULL_REQUEST_BASE_BRANCH"), "BUILDKITE_PULL_REQUEST_BASE_BRANCH")
        needed(target, f"{no} BUILDKITE_PULL_REQUEST_BASE_BRANCH")
        needed(head, f"{no} BUILDKITE_COMMIT")
        return Proposal(_NAME, "pull request", head, "", source, BRANCHES + target, default)
    if tag := branch_name(env.get("BUILDKITE_TAG"), "BUILDKITE_TAG"):
        return Proposal(_NAME, "push", head, None, target=TAGS + tag, default_branch=default)
    if owner or not source:
        return Proposal(_NAME, "run", head, source=source, default_branch=default)
    return Proposal(_NAME, "push", head, None, source, BRANCHES + source, default)
