"""Jenkins, with the variables of its branch sources (plugins.jenkins.io, branch-api and git).

A job that is no multibranch one names only the commit.
"""

from __future__ import annotations

from collections.abc import Mapping

from ahp.hosts.ci.proposal import BRANCHES, TAGS, Proposal, branch_name, commit_id, needed

_NAME = "Jenkins"


def read(env: Mapping[str, str]) -> Proposal:
    """The change of the build. Raises AhpError for variables that cannot be right.

    The last build that went well stands for what was judged before; what a failed build found is judged again. A change
    request that Jenkins builds merged with its target has a HEAD that adds nothing but the merge.
    """
    head = commit_id(env.get("GIT_COMMIT"), "GIT_COMMIT")
    target = branch_name(env.get("CHANGE_TARGET"), "CHANGE_TARGET")
    if target or env.get("CHANGE_ID"):
        no = f"{_NAME} runs for a change request and says no"
        needed(target, f"{no} CHANGE_TARGET")
        needed(head, f"{no} GIT_COMMIT; mend, in the Jenkinsfile: env.GIT_COMMIT = checkout(scm).GIT_COMMIT")
        source = branch_name(env.get("CHANGE_BRANCH"), "CHANGE_BRANCH")
        actor = env.get("CHANGE_AUTHOR", "")
        return Proposal(_NAME, "pull request", head, "", source, BRANCHES + target, actor=actor)
    if tag := branch_name(env.get("TAG_NAME"), "TAG_NAME"):
        return Proposal(_NAME, "push", head, None, target=TAGS + tag)
    branch = branch_name(env.get("BRANCH_NAME"), "BRANCH_NAME")
    if not branch:
        return Proposal(_NAME, "run", head=head)
    before = commit_id(env.get("GIT_PREVIOUS_SUCCESSFUL_COMMIT"), "GIT_PREVIOUS_SUCCESSFUL_COMMIT")
    return Proposal(_NAME, "push", head, before or None, branch, BRANCHES + branch, is_last_good=bool(before))
