"""`policy`: whether the change touches the policy, and makes it weaker (design §6).  [light]

The comparison of two policies stands above the facts and is heavy: the gate hands it in, and it is asked only where the
change touches a file that may belong to the policy.
"""

from ahp.facts.registry import TREE, Absent, Namespace, Settings, fact
from ahp.protocol.event import Event
from ahp.system.change import FileChange
from ahp.system.view import View

_WEAKENING = {
    "what": fact("str", "the part and what became of it"),
    "rule": fact("str", "empty for what is no rule"),
    "verdict": fact(
        "str",
        "incomparable: stricter for others",
        enum=["weaker", "incomparable", "unknown"],
    ),
    "file": fact("str", "", means="path"),
    "line": fact("int", "null for what was removed", min=1, nullable=True),
}

NAMESPACE = Namespace(
    source="the policy before and after the change",
    triggers=TREE,
    assumed=True,
    light=True,
    schema={
        "changed": fact(
            "bool",
            "a file of the policy, the pin of ahp, or what runs `ahp ci` changed",
        ),
        "weakened": fact("bool", "weaker; for agents and CI also not comparable"),
        "weakenings": fact("list[record]", "each reason", fields=_WEAKENING),
        "rules_weakened": fact("list[str]", "their keys"),
        "branch": fact("str", "the default branch"),
    },
)

FOLDER = ".ahp"
HOOKS, WAIVERS, APPROVERS, AGENT_FILE = ".ahp/hooks.yaml", ".ahp/waivers.yaml", ".ahp/approvers", ".ahp/agent.yaml"
LOCK, VENDOR = ".ahp/policy.lock", ".ahp/vendor/"  # what `ahp policy update` writes
TESTS = ".ahp/tests/"
PIN, TEXTS = ".ahp/requirements.txt", ".ahp/ci/"  # which ahp judges in CI, and what defines its jobs
_WORKFLOWS = "/workflows/"  # in a folder of GitHub's, Gitea's or Forgejo's
_LOCAL = ".ahp/hooks.local.yaml"  # nobody else reads it, committed or not


def gather(event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The values of `fields`. Raises GitError, AhpError; Absent where nobody handed in the comparison."""
    found: dict[str, object] = {"changed": False, "weakened": False, "weakenings": [], "rules_weakened": []}
    entries = [] if event.view is None else event.view.change().entries
    touched = suspects(entries)
    if touched or (event.view is not None and any(_judges(event.view, entry) for entry in entries)):
        found["changed"] = any(is_policy(path) for path in touched)
        if fields - {"branch", "changed"} or ("changed" in fields and not found["changed"]):
            if settings.compare_policies is None:
                raise Absent("policies are not compared here")
            found |= settings.compare_policies(event)
    if "branch" in fields:
        from ahp.facts.default_branch import default_branch

        named = default_branch(event.repo, event.remote or "") if event.repo is not None else ""
        found["branch"] = named or "the default branch"
    return found


def suspects(entries: list[FileChange]) -> list[str]:
    """The changed paths, old names too, that belong to the policy or may be files that it extends."""
    paths = [path for entry in entries for path in (entry.path, entry.old_path) if path and path.startswith(FOLDER)]
    return [path for path in paths if is_policy(path) or may_be_extended(path)]


def judging(entries: list[FileChange]) -> list[str]:
    """The changed paths, old names too, that may say who judges in CI."""
    return [path for entry in entries for path in (entry.path, entry.old_path) if path and may_judge(path)]


def _judges(view: View, entry: FileChange) -> bool:
    """Whether a file may be one of those, also by what it held; the comparison is heavy, and this is not."""
    if not judging([entry]):
        return False
    names = [path for path in (entry.path, entry.old_path) if path]
    return any(one == PIN or one.startswith(TEXTS) or is_workflow(one) for one in names) or b"ahp" in view.before(entry)


def may_judge(path: str) -> bool:
    """Whether a file of that name may pin the ahp that judges in CI, or define a job of CI: platforms read such files
    from the top or from a folder that begins with a dot.
    """
    if path == PIN or path.startswith(TEXTS):
        return True
    is_near = path[:1] == "." or "/" not in path
    return is_near and path[:5] != ".ahp/" and path.endswith((".yml", ".yaml", "Jenkinsfile"))


def is_workflow(path: str) -> bool:
    """Whether a platform finds jobs in a file of that name, each of which it reports as a check."""
    return path[:1] == "." and _WORKFLOWS in path and path.endswith((".yml", ".yaml"))


def is_policy(path: str) -> bool:
    """Whether a file of that name is always part of the policy; what it extends may have any name."""
    if path.startswith(TESTS):
        return path.endswith((".yaml", ".yml"))
    return path in (HOOKS, WAIVERS, APPROVERS, AGENT_FILE, LOCK, FOLDER)


def may_be_extended(path: str) -> bool:
    """Whether a policy may extend a file of that name (design §4)."""
    return path.startswith(FOLDER + "/") and path.endswith((".yaml", ".yml")) and path != _LOCAL
