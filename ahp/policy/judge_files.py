"""The files that decide who judges in CI: the pin of ahp and the definitions of its checks (authority §8.3)."""

import re
from collections.abc import Collection

from ahp.facts import policy as names
from ahp.policy.diff import UNKNOWN, WEAKER, Change
from ahp.policy.problems import Place, quoted
from ahp.policy.sources import Tree
from ahp.system import yamltree
from ahp.system.yamltree import YamlError

_CHECKS = frozenset({"ahp rules", "ahp policy"})  # the names that `ahp init --ci` gives
_RUNS = re.compile(rb"\bahp(?:-engine)?[\"']?\s+ci\b")
_LIMIT = 1 << 20


def changes(old: Tree, new: Tree, touched: Collection[str]) -> list[Change]:
    """What became of who judges by a change of the paths `touched`. Raises GitError, AhpError."""
    found = []
    for path in sorted(path for path in touched if names.may_judge(path)):
        before, after = old.read(path), new.read(path)
        if path == names.PIN or path.startswith(names.TEXTS) or _RUNS.search(before or b""):
            what = "defines who judges in CI" if path != names.PIN else "says which ahp judges in CI"
            if before is not None and after is None:
                found.append(_change(path, WEAKER, f"it {what}, and is removed"))
            elif before is not None and before != after:
                found.append(_change(path, UNKNOWN, f"it {what}"))
            continue
        if not names.is_workflow(path) or after is None:
            continue
        new_jobs, old_jobs = _jobs(after), _jobs(before or b"")
        if new_jobs is None or old_jobs is None:
            found.append(_change(path, UNKNOWN, "it cannot be read, and may define a job with the name of a check"))
            continue
        for job in sorted(new_jobs - old_jobs):
            if job in _CHECKS or job in _checks(old) or "${{" in job:
                may = "may define" if "${{" in job else "defines"
                found.append(_change(path, WEAKER, f"it {may} another job with the name of a check, {quoted(job)}"))
    return found


def _change(path: str, verdict: str, detail: str) -> Change:
    return Change("", path, "judge", verdict, detail, Place(path))


def _checks(tree: Tree) -> set[str]:
    """The names of the jobs in the workflows that run `ahp ci`."""
    found: set[str] = set()
    for path in filter(names.is_workflow, tree.paths()):
        data = tree.read(path) or b""
        found |= (_jobs(data) or set()) if _RUNS.search(data) else set()
    return found


def _jobs(data: bytes) -> set[str] | None:
    """The names of the jobs of a workflow, None where it cannot be read. Where a platform may read more of it than we
    do, each name of a check that stands in it may be one.
    """
    found: set[str] = set()
    try:
        root = yamltree.read(yamltree.decode(data, "", _LIMIT), "")
    except YamlError as error:
        root = error.root
        if root is None:
            return None
        found = {name for name in _CHECKS if name.encode() in data}
    plain = root.plain() if root is not None else {}
    jobs = plain.get("jobs") if isinstance(plain, dict) else None
    every = jobs.items() if isinstance(jobs, dict) else ()
    return found | {str((isinstance(job, dict) and job.get("name")) or key) for key, job in every}
