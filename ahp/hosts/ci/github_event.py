"""GitHub Actions: the event's file tells more, and more surely, than the variables.

Sources: docs.github.com, "Webhook events and payloads" and "Default environment variables". The merge commit that
GitHub makes of a pull request (`GITHUB_SHA`) is never judged: its message and its author are GitHub's.
"""

from __future__ import annotations

from collections.abc import Mapping

from ahp.facts.request import GITHUB, document
from ahp.hosts.ci.proposal import BRANCHES, Proposal, branch_name, branch_of_ref, commit_id, needed
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError

NAME = "GitHub Actions"


def read(env: Mapping[str, str]) -> Proposal:
    """The change of the workflow's event. Raises AhpError for an event file that is missing or not understood."""
    event, name = document(env.get(GITHUB, ""), GITHUB), env.get("GITHUB_EVENT_NAME", "")
    default = branch_name(_of(event, "repository").get("default_branch"), "repository.default_branch")
    actor = _login(event, "sender") or env.get("GITHUB_ACTOR", "")
    if (pull := _of(event, "pull_request")) or name.startswith("pull_request"):
        head, base = _of(pull, "head"), _of(pull, "base")
        return Proposal(
            NAME,
            "pull request",
            head=_needed(commit_id(head.get("sha"), "pull_request.head.sha"), "pull_request.head.sha"),
            source=branch_name(head.get("ref"), "pull_request.head.ref"),
            target=BRANCHES + _needed(branch_name(base.get("ref"), "pull_request.base.ref"), "pull_request.base.ref"),
            default_branch=default,
            actor=actor,
        )
    if (group := _of(event, "merge_group")) or name == "merge_group":
        base_ref = branch_of_ref(group.get("base_ref"), "merge_group.base_ref")
        return Proposal(
            NAME,
            "merge queue",
            head=_needed(commit_id(group.get("head_sha"), "merge_group.head_sha"), "merge_group.head_sha"),
            source=branch_of_ref(group.get("head_ref"), "merge_group.head_ref"),
            target=BRANCHES + _needed(base_ref, "merge_group.base_ref"),
            default_branch=default,
            actor=actor,
        )
    if name == "push":
        return _push(event, default, actor)
    head_id = commit_id(env.get("GITHUB_SHA"), "GITHUB_SHA")
    return Proposal(NAME, "run", head=head_id, default_branch=default, actor=actor)


def _push(event: Mapping[str, object], default: str, actor: str) -> Proposal:
    ref = event.get("ref")
    if not isinstance(ref, str) or not ref.startswith("refs/"):
        raise AhpError(f"the push event of {NAME} names {one_line(ref)!r} as its ref")
    # Zeros are a word of their own: there was nothing before, or there is nothing any more.
    _needed(str(event.get("after") or ""), "after")
    after = commit_id(event.get("after"), "after")
    before = commit_id(event["before"], "before") if event.get("before") else None
    source = ref.removeprefix(BRANCHES) if ref.startswith(BRANCHES) else ""
    kind = "push" if after else "delete"
    return Proposal(NAME, kind, after, before, source, ref, default, actor)


def _of(event: Mapping[str, object], name: str) -> dict[str, object]:
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def _login(event: Mapping[str, object], name: str) -> str:
    login = _of(event, name).get("login")
    return login if isinstance(login, str) else ""


def _needed(value: str, name: str) -> str:
    return needed(value, f"the event file of {NAME} has no {name}")
