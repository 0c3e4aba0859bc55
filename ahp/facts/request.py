"""`request`: the pull or merge request that `ahp ci` judges (design §6).

It comes from GitHub's event file or GitLab's variables. `AHP_REQUEST` may name a JSON file that a job got from its
platform's API: `{"approvals": [{"by": …, "commit": …}], …}`. What it has stands before what the event says: no event
tells of approvals or checks.
"""

from collections.abc import Mapping
from typing import Any

from ahp.facts import schemas
from ahp.facts.registry import CI, Absent, Namespace, fact
from ahp.protocol.event import Event, is_set
from ahp.protocol.text import one_line
from ahp.system import files, jsontext
from ahp.system.errors import AhpError

_APPROVAL = {
    "by": fact("str", ""),
    "commit": fact("str", "the approved commit"),
}
_CHECK = {"name": fact("str", ""), "state": fact("str", "the platform's word")}
NAMESPACE = Namespace(
    source="the platform that CI runs on, and the file that `AHP_REQUEST` names",
    triggers=CI,
    certain=(),
    schema={
        "title": fact("str", "title"),
        "body": fact("str", "description"),
        "labels": fact("list[str]", "labels"),
        "draft": fact("bool", "not ready"),
        "reviewers": fact("list[str]", "accounts and teams"),
        "head": fact("str", "the judged commit's id"),
        "approvals": fact("list[record]", "who approved what", fields=_APPROVAL),
        "checks": fact("list[record]", "checks", fields=_CHECK),
    },
)
_FILE = "AHP_REQUEST"
GITHUB = "GITHUB_EVENT_PATH"
_LARGEST = 32 * 1024 * 1024  # GitHub sends at most 25 MB
_UNTOLD = Absent("the platform's event does not tell it", f"write it to a JSON file, and name that in {_FILE}")


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent where no request is judged, AhpError for a file that cannot be right."""
    if event.host != "ci" or event.push is None:
        raise Absent("only `ahp ci` knows a request", elsewhere=True)
    env = event.env
    told = _github(env) if is_set(env.get("GITHUB_ACTIONS", "")) else _gitlab(env)
    more = document(env[_FILE], _FILE) if env.get(_FILE) else {}
    if not told and not more:
        raise Absent("the platform names no request", elsewhere=True)
    told = {**dict.fromkeys(fields, _UNTOLD), **told, "head": event.push.local_oid, **more}
    return schemas.fields_of("request", told, fields)


def _github(env: Mapping[str, str]) -> dict[str, Any]:
    """Webhook events and payloads: `pull_request` (docs.github.com)."""
    pull = document(env.get(GITHUB, ""), GITHUB).get("pull_request")
    if not isinstance(pull, dict):
        return {}
    try:
        asked = [one for name in ("requested_reviewers", "requested_teams") for one in pull.get(name) or ()]
        return {
            "title": pull.get("title") or "",
            "body": pull.get("body") or "",
            "labels": [label["name"] for label in pull.get("labels") or ()],
            "draft": pull.get("draft") is True,
            "reviewers": [one.get("login") or one["slug"] for one in asked],
        }
    except (TypeError, KeyError, AttributeError):
        raise AhpError(f"the pull request in the file that {GITHUB} names is not as GitHub writes it") from None


def _gitlab(env: Mapping[str, str]) -> dict[str, Any]:
    """Predefined CI/CD variables of merge request pipelines (docs.gitlab.com)."""
    told = {name: env.get(f"CI_MERGE_REQUEST_{name.upper()}") for name in ("title", "description", "labels", "draft")}
    if told["title"] is None:
        return {}
    found: dict[str, Any] = {
        "title": told["title"],
        "labels": [one for one in (told["labels"] or "").split(",") if one],
    }
    found["draft"] = is_set(told["draft"] or "") or told["title"].lower().startswith(("draft:", "[draft]", "(draft)"))
    if not is_set(env.get("CI_MERGE_REQUEST_DESCRIPTION_IS_TRUNCATED", "")):
        found["body"] = told["description"] or ""
    return found


def document(path: str, variable: str) -> dict[str, Any]:
    """The JSON object in the file that an environment variable names. Raises AhpError."""
    data = files.read(path, _LARGEST) if path else None
    said = f"the file {one_line(path, 300)!r}, which {variable} names,"
    if data is None:
        raise AhpError(f"{said} is not there")
    try:
        found = jsontext.decode(data.decode())
    except ValueError as error:
        raise AhpError(f"{said} cannot be read: {one_line(error)}") from None
    if not isinstance(found, dict):
        raise AhpError(f"{said} holds no JSON object")
    return found
