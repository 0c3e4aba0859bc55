"""Who judges an event (authority §2): the committed policy, and the work tree's beside it where it is another.  [light]

An event has an ordered list of judges, and whoever asks the gate may hand it another one. Here is the quiet path: HEAD
has a policy, it is compiled, and the work tree's is the same. All else is in `succession`.
"""

from ahp.policy import cache
from ahp.policy import tree as trees
from ahp.policy.judge import COMMITTED, WORKING, Judge, is_here, working
from ahp.protocol.triggers import TRIGGERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event

_CONTENT = ("pre-commit", "pre-merge-commit")
_OFTEN = ("tool-use", "prompt-submit")


def judges_of(event: "Event") -> list[Judge]:
    """The policies that judge `event`, the one that counts most first; never empty.

    Raises PolicyError where the work tree's policy alone judges and does not load, and for a commit that would bring a
    policy that does not load; GitError, AhpError.
    """
    repo = event.repo
    if repo is None:
        return [Judge(working(event), WORKING)]
    if event.push is not None:
        from ahp.policy import targets

        return targets.judges(event)
    if _stages_policy(event):
        from ahp.policy import compile

        compile.check(repo, event.journal)
    head = trees.of_head(repo, event.listed, keeps=TRIGGERS[event.trigger].family in _OFTEN)
    found = cache.find_committed(head, event.journal, event.trigger) if head.has_policy else None
    if found and found.triggers and is_here(event, found):
        return [Judge(found, COMMITTED, head)]
    from ahp.policy import succession

    return succession.judges(event, head)


def _stages_policy(event: "Event") -> bool:
    """Whether a commit is being made whose change touches what a policy is read from."""
    if event.view is None or event.view.kind != "index" or event.trigger not in _CONTENT:
        return False
    inside = trees.FOLDER + "/"
    return any(
        e.path.startswith(inside) or e.path == trees.FOLDER or (e.old_path or "").startswith(inside)
        for e in event.view.whole().change().entries  # type: ignore[attr-defined]
    )
