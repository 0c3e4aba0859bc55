"""Azure Pipelines (learn.microsoft.com, "Use predefined variables").

The commit that it builds of a pull request is a merge of its own; the request's head has a variable of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from ahp.hosts.ci.proposal import BRANCHES, TAGS, Proposal, branch_of_ref, commit_id, needed

_NAME = "Azure Pipelines"
_REQUEST = "SYSTEM_PULLREQUEST_"
_NEEDED = ("SOURCECOMMITID", "TARGETBRANCH")


def read(env: Mapping[str, str]) -> Proposal:
    """The change of the run. Raises AhpError for variables that cannot be right."""
    # Of a repository that is elsewhere, as on GitHub, the documentation does not say whom this names.
    actor = env.get("BUILD_REQUESTEDFOREMAIL", "") if env.get("BUILD_REPOSITORY_PROVIDER") == "TfsGit" else ""
    if env.get("BUILD_REASON") == "PullRequest" or any(env.get(f"{_REQUEST}{one}") for one in _NEEDED):
        head = commit_id(env.get(f"{_REQUEST}SOURCECOMMITID"), f"{_REQUEST}SOURCECOMMITID")
        target = branch_of_ref(env.get(f"{_REQUEST}TARGETBRANCH"), f"{_REQUEST}TARGETBRANCH")
        for value, name in zip((head, target), _NEEDED, strict=True):
            needed(value, f"{_NAME} runs for a pull request and says no {_REQUEST}{name}")
        source = branch_of_ref(env.get(f"{_REQUEST}SOURCEBRANCH"), f"{_REQUEST}SOURCEBRANCH")
        return Proposal(_NAME, "pull request", head, "", source, BRANCHES + target, actor=actor)
    head = commit_id(env.get("BUILD_SOURCEVERSION"), "BUILD_SOURCEVERSION")
    ref = env.get("BUILD_SOURCEBRANCH", "")
    if env.get("BUILD_REASON") in ("IndividualCI", "BatchedCI") and ref.startswith((BRANCHES, TAGS)):
        source = branch_of_ref(ref, "BUILD_SOURCEBRANCH") if ref.startswith(BRANCHES) else ""
        return Proposal(_NAME, "push", head, None, source, ref, actor=actor)
    return Proposal(_NAME, "run", head=head, actor=actor)
