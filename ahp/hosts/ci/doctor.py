"""`ahp doctor --ci`: which check protects the default branch, or that there is only advice (authority §6).

It says what the repository shows. What a platform requires is set on the platform, and no clone shows it.
"""

from __future__ import annotations

from ahp.hosts.ci.setup import ADVICE, ALL, GUARD, RULES, UNSEEN, Definition, Setup, setup
from ahp.hosts.table import Check
from ahp.protocol.text import one_line
from ahp.system.git import Repository

_REQUIRE = (
    "Settings, Rules, Rulesets; GitHub tells checks apart by name, which another workflow of the change may bear, "
    "and only the required workflows of an organization by their files"
)


def examine(repo: Repository) -> list[Check]:
    """A check for each place where `ahp ci` is asked for, and one for the branch. Raises AhpError."""
    now = setup(repo)
    return [*map(_one, now.found), *(_waits(name, now.branch) for name in now.waiting), _branch(now, bool(repo.root))]


def _one(found: Definition) -> Check:
    what = f'"{one_line(found.check, 120)}": ' if found.check else ""
    mark = "advice only: " if found.worth == ADVICE else ""
    return Check(one_line(found.file, 200), "ok" if found.worth == GUARD else "note", what + mark + found.why)


def _waits(name: str, branch: str) -> Check:
    where = one_line(branch, 120) or "the default branch"
    return Check(
        one_line(name, 200),
        "note",
        f"{where} does not have it yet, so nothing runs it",
        "commit and merge it",
    )


def _branch(now: Setup, is_clone: bool) -> Check:
    name = one_line(now.branch, 120) or "the default branch"
    if not now.found:
        mend = "ahp init --ci KIND" if is_clone else "a hook pre-receive that runs: ahp hook pre-receive"
        return Check(name, "note", "nothing that is seen here judges what comes to it", "" if now.waiting else mend)
    guards = now.guards
    if not guards:
        unseen = any(one.worth == UNSEEN for one in now.found)
        unless = ", unless a platform runs it from where a change cannot edit it" if unseen else ""
        return Check(name, "note", f"advice only{unless}")
    parts = {one.part for one in guards}
    if ALL not in parts and len(parts) == 1:
        left = "the rules about the policy" if RULES in parts else "the rules that are not about the policy"
        return Check(name, "note", f"nothing that a change cannot edit asks {left}", "ahp init --ci KIND")
    checks = " and ".join(f'"{one_line(one.check, 120)}"' for one in guards if one.check)
    if not all(one.check for one in guards):  # the hook of a server: nothing is left to a platform's settings
        return Check(name, "ok", "protected: every push is judged here")
    told = f"protected where GitHub requires {checks}, which is set there and not seen from here"
    return Check(name, "note", told, _REQUIRE)
