"""The policy that stood when a run began: what the run changes below `.ahp/` weakens nothing for it (authority §2).

Not by the change itself, which HEAD's policy outlasts, nor by its own commit, after which HEAD's is the weaker one.
"""

from ahp.hosts.api import Gate
from ahp.policy import cache
from ahp.policy import compile as compiling
from ahp.policy import tree as trees
from ahp.policy.judge import COMMITTED, WORKING, Judge
from ahp.policy.judges import judges_of
from ahp.policy.problems import PolicyError
from ahp.policy.program import Program
from ahp.policy.tree import PolicyTree
from ahp.protocol.event import Event
from ahp.protocol.triggers import TRIGGERS
from ahp.system.errors import AhpError

_OF_A_RUN = (
    "issue-start",
    "issue-submit",
    "issue-close",
    "tool-use",
    "session-start",
    "prompt-submit",
    "task-complete",
)


class StandingPolicy:
    """The policies that a run is judged by: those of now, and beside them those of its beginning.

    `commit` is where HEAD was then, "" before the first commit and outside a repository; a resumed run sets it to where
    it began. What stood in the work tree alone is kept in memory: a resumed run keeps what is there when it goes on.
    """

    def __init__(self, gate: Gate) -> None:
        event = gate.event("pre-tool-use", dry=True)
        self.commit = event.repo.head_id() if event.repo is not None else ""
        self._tree: PolicyTree | None = None
        self._kept: dict[str, Judge] = {}
        try:
            if any(judge.origin == WORKING for judge in judges_of(event)):
                self._keep(gate)
        except AhpError:
            self._kept = {}  # nothing that loads stood in the work tree; what is asked later says so

    def judges(self, event: Event) -> list[Judge]:
        """Who judges `event`. Raises PolicyError, AhpError, as `judges_of` does."""
        now = judges_of(event)
        known = {judge.program.policy for judge in now}
        stood = [self._committed(event), self._kept.get(event.trigger)]
        return [*now, *[judge for judge in stood if judge is not None and judge.program.policy not in known]]

    def _keep(self, gate: Gate) -> None:
        for name, trigger in TRIGGERS.items():
            if trigger.family not in _OF_A_RUN:
                continue
            event = gate.event(name, dry=True)
            for judge in judges_of(event):
                if judge.origin == WORKING:
                    judge.answers(event)  # read now: later their file is another one
                    judge.notes.clear()
                    self._kept[name] = judge

    def _committed(self, event: Event) -> Judge | None:
        """The policy of the commit that the run began at; None where it had none that loads."""
        if not self.commit or event.repo is None:
            return None
        if self._tree is None or self._tree.commit != self.commit:
            self._tree = trees.of_commit(event.repo, self.commit, "the commit that this run began at")
        program = _program(self._tree, event) if self._tree.has_policy else None
        return Judge(program, COMMITTED, self._tree) if program is not None else None


def _program(tree: PolicyTree, event: Event) -> Program | None:
    found = cache.find_committed(tree, event.journal, event.trigger)
    if found is not None:
        return found
    try:
        return compiling.committed(tree, event.journal)[event.trigger]
    except PolicyError:
        return None
