"""One of the policies that judge an event, and the work tree's among them (authority §2.1).  [light]"""

import posix

from ahp.policy import cache
from ahp.policy import tree as trees

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
