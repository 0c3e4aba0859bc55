"""Who judges an event (authority §2): the committed policy, and the work tree's beside it where it is another.  [light]

An event has an ordered list of judges, and whoever asks the gate may hand it another one. Here is the quiet path: HEAD
has a policy, it is compiled, and the work tree's is the same. All else is in `succession`.
"""

import posix

from ahp.policy import cache
from ahp.policy import tree as trees
from ahp.protocol.triggers import TRIGGERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ahp.journal.index import Index
    from ahp.policy.program import Answers, Program
    from ahp.policy.tree import PolicyTree
    from ahp.protocol.event import Event


COMMITTED, WORKING, PUSHED = "committed", "working", "pushed"
_LINK, _TYPE_MASK = 0o120000, 0o170000


class Judge:
    """One policy that judges an event, as its program for the event's trigger.

    `origin` is committed, working, or pushed (of what is not yet where it goes); `tree` is where one was read.
    `excusing` is the tree whose waivers hold for its rules, None for none. One that only `adds` changes no action: its
    control speaks as a prompt. `notes` are sentences about who judges.
    """

    __slots__ = ("adds", "excusing", "notes", "origin", "program", "tree")

    def __init__(
        self,
        program: "Program",
        origin: str,
        tree: "PolicyTree | None" = None,
        *,
        excusing: "PolicyTree | None" = None,
        adds: bool = False,
    ) -> None:
        self.program, self.origin, self.tree, self.adds = program, origin, tree, adds
        self.excusing = tree if excusing is None else excusing
        self.notes: list[str] = []

    def is_described(self, index: "Index") -> bool:
        """Whether the log of `index` has the policy's rules, and the commit that has it where one does."""
        return index.describes(self.program.policy, committed=self.origin == COMMITTED)

    def answers(self, event: "Event") -> "Answers":
        """The words and actions of its program; compiled again where their file was cut or removed.

        Raises AhpError when the policy is another one by now.
        """
        program = self.program
        if program.answers is None and not cache.read_answers(program):
            from ahp.policy import compile as compiling

            made = compiling.committed(self.tree, event.journal) if self.tree else None
            fresh = made[program.trigger] if made else _built(event)
            if fresh.policy != program.policy:
                from ahp.system.errors import AhpError

                raise AhpError("the policy changed while it was judging; ask again")
            program.answers = fresh.answers
        assert program.answers is not None
        return program.answers


def digest_beside(judges: "Sequence[Judge]") -> str:
    """The digest of the work tree's policy that is asked beside another, "" where none is."""
    return next((judge.program.policy for judge in judges[1:] if judge.origin == WORKING), "")


def working(event: "Event") -> "Program":
    """The program of the work tree's policy. Raises PolicyError."""
    found = cache.find(event.root, event.journal, event.trigger, event.user_policy)
    return _built(event) if found is None else found


def _built(event: "Event") -> "Program":
    from ahp.policy import compile as compiling

    return compiling.build(event.root, event.journal, event.user_policy)[1][event.trigger]


def is_here(event: "Event", committed: "Program") -> bool:
    """Whether the work tree's policy is a commit's, byte for byte, so that it need not be compiled."""
    if not event.root or is_link(event.root + "/" + trees.FOLDER) or is_link(event.root + cache.PROJECT):
        return False
    contents = cache.contents_of(event.root, event.user_policy)
    return contents is not None and cache.is_in_work_tree(committed, event.root, contents)


def is_link(path: str) -> bool:
    try:
        return posix.lstat(path).st_mode & _TYPE_MASK == _LINK
    except OSError:
        return False


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
