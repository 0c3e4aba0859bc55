"""Whether a call may commit or push with git: only then are git's hooks looked for.  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event

# What no alias can stand for, and neither commits nor pushes; the rest is looked at more closely.
_NAMES = """
  add am apply bisect blame branch cat-file checkout cherry-pick clean clone config describe diff diff-tree fetch
  for-each-ref grep help init log ls-files ls-tree merge merge-base mv notes pull rebase reflog remote reset restore
  rev-list rev-parse revert rm shortlog show stash status submodule switch symbolic-ref tag version worktree
"""
OTHERS = frozenset(_NAMES.split())


def runs_git(event: "Event") -> bool:
    """Whether a command of the call is git's and may be a commit, a push or an alias for one."""
    commands = (event.tool or {}).get("commands")
    found = commands if isinstance(commands, list) else []
    return any(one["program"] == "git" and one["verb"] and one["verb"] not in OTHERS for one in found)
