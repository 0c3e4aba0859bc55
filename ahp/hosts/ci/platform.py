"""What GitHub and GitLab say is to be judged: which commit, where it goes, who brings it (design §9, authority §6).

On every other platform the options of `ahp ci` say it (docs/ci.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from ahp.facts.request import GITHUB, document
from ahp.protocol.event import is_set
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError

BRANCHES = "refs/heads/"
TAGS = "refs/tags/"
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_ACTIONS, _GITHUB, _GITLAB = "GITHUB_ACTIONS", "GitHub Actions", "GitLab CI"
_REQUEST = "CI_MERGE_REQUEST"


class Proposal(NamedTuple):
    """A change as its platform tells it; a field of type str is "" where the platform says nothing.

    Never the base that a platform computed: it was made from the target as it stood some time ago. Names of branches
    may come from anybody who can push one.
    """

    kind: str
    """"pull request", "merge queue", "push", "delete" or "run", which is of no change in particular."""
    head: str = ""
    """The id of the commit proposed: of a pull request its own head, not the merge that a platform makes of it."""
    before: str | None = ""
    """Of a push: the id that the ref had, "" where it is new, None where the platform does not say."""
    source: str = ""
    """The name of the branch that the change comes from."""
    target: str = ""
    """The full name of the ref that the change goes to, such as refs/heads/main."""
    default_branch: str = ""
    """The name of the repository's default branch."""
    actor: str = ""
    """The account that brings the change, where the platform vouches for it."""


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
    event, named = env.get("CI_PIPELINE_SOURCE"), f"{_REQUEST}_TARGET_BRANCH_NAME"
    if env.get(named) or event == "merge_request_event":
        no = f"{_GITLAB} runs for a merge request and says no"
        target = _needed(branch(named), f"{no} {named}")
        # Only where the pipeline runs on the merged result does this differ from CI_COMMIT_SHA.
        head = _needed(commit(f"{_REQUEST}_SOURCE_BRANCH_SHA") or head, f"{no} CI_COMMIT_SHA")
        source = branch(f"{_REQUEST}_SOURCE_BRANCH_NAME")
        return Proposal("pull request", head, "", source, BRANCHES + target, default, actor)
    before = commit("CI_COMMIT_BEFORE_SHA")
    if own := branch("CI_COMMIT_BRANCH"):
        kind = "push" if event == "push" else "run"
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


def commit_id(value: object, name: str) -> str:
    """`value`, the object id that `name` gives, "" for none and for the zeros of a ref that is not there.

    Raises AhpError for anything else: what git would read from it is no matter of a platform's variables.
    """
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not is_id(value):
        raise AhpError(f"{name} is {one_line(value)!r}, which is no commit id; is it the platform that set it?")
    return value if value.strip("0") else ""


def branch_name(value: object, name: str) -> str:
    """`value`, the branch that `name` gives. Raises AhpError for what is no branch name.

    The rules are those of git-check-ref-format, as far as a name could be taken for something else. refs/heads/main is
    the name of a branch, too, and not of main: it is the branch refs/heads/refs/heads/main.
    """
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not is_ref_name(value):
        raise AhpError(f"{name} is {one_line(value)!r}, which is no name of a branch")
    return value


def branch_of_ref(value: object, name: str) -> str:
    """The branch whose ref `name` gives, as platforms do that write refs/heads/ in front, here or always."""
    return branch_name(value.removeprefix(BRANCHES) if isinstance(value, str) else value, name)


def is_id(text: str) -> bool:
    """Whether `text` is the full id of an object."""
    return _OID.fullmatch(text) is not None


def is_ref_name(text: str) -> bool:
    """Whether git takes `text` as what follows refs/heads/ (git-check-ref-format)."""
    if not text or text[0] in "-/" or text[-1] in "/." or text == "@":
        return False
    if any(part in text for part in ("..", "//", "@{")) or any(c in " ~^:?*[\\\x7f" or c < " " for c in text):
        return False
    return all(not part.startswith(".") and not part.endswith(".lock") for part in text.split("/"))


# The variable by which each platform is known, its name for people, and who reads its word.
_PLATFORMS: dict[str, tuple[str, Callable[[Mapping[str, str]], Proposal]]] = {
    _ACTIONS: (_GITHUB, _github),
    "GITLAB_CI": (_GITLAB, _gitlab),
}
