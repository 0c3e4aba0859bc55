"""The policies that judge together, as judges of whatever trigger is asked; and what a commit's own policy adds.

Where commits are judged from git's objects many triggers are asked about many commits, so that who judges is settled
once (authority §4): the policies of where the commits go, and beside them the rules that a commit brings itself.
"""

from collections.abc import Callable, Sequence

from ahp.facts.registry import by_namespace
from ahp.policy import succession
from ahp.policy import tree as trees
from ahp.policy.judge import COMMITTED, PUSHED, Judge
from ahp.policy.program import Program, RuleAnswer
from ahp.policy.tree import PolicyTree
from ahp.protocol.event import Event
from ahp.system import partial_clone
from ahp.system.errors import AhpError, Unknown
from ahp.system.git import GitError, Repository

JudgesAt = Callable[[str], Sequence[Judge]]
"""Gives the judges of a trigger, none where nobody judges."""


class Policies:
    """Policies that judge together, the one that counts most first. `notes` are sentences about who judges.

    `trees` are those of the committed ones that are in force. `has_authority` says that they judge a branch that is the
    default one, or that `authority:` of its policy names.
    """

    __slots__ = ("_judges", "_made", "has_authority", "notes", "trees")

    def __init__(self, judges: JudgesAt, notes: Sequence[str] = (), in_force: Sequence[PolicyTree] = ()) -> None:
        self._judges, self.notes, self.trees = judges, list(notes), list(in_force)
        self._made: dict[str, list[Judge]] = {}
        self.has_authority = False

    def at(self, trigger: str) -> list[Judge]:
        """The judges of `trigger`. Raises PolicyError, AhpError."""
        if trigger not in self._made:
            self._made[trigger] = list(self._judges(trigger))
        return self._made[trigger]

    def and_those_of(self, added: "Policies") -> "Policies":
        """These, and `added` beside them."""
        if added is NOBODY:
            return self
        both = Policies(lambda name: [*self.at(name), *added.at(name)], [*self.notes, *added.notes], self.trees)
        both.has_authority = self.has_authority
        return both


NOBODY = Policies(lambda trigger: [])


def committed(found: Sequence[PolicyTree], folder: str, notes: Sequence[str] = ()) -> Policies:
    """The policies of some trees that load (`succession.in_force`); `folder` keeps what was compiled."""
    known = {tree.key: tree for tree in reversed(found)}
    distinct = [tree for tree in found if known[tree.key] is tree]

    def judges(trigger: str) -> list[Judge]:
        return [Judge(_program(tree, folder, trigger), COMMITTED, tree) for tree in distinct]

    return Policies(judges, notes, distinct) if distinct else NOBODY


def _program(tree: PolicyTree, folder: str, trigger: str) -> Program:
    program, wrong = succession.program_of(tree, folder, trigger)
    if program is None:
        raise AhpError(f"the policy of {tree.name} does not load: {wrong}")
    return program


def added_by(tree: PolicyTree, event: Event, known: Policies) -> Policies:
    """What the policy of `tree` adds to those that are in force: its rules that none of them has (authority §4).

    Their commands do not run, and waivers are those of what is in force. Nothing where it has none or does not load.
    """
    found = succession.program_of(tree, event.journal, event.trigger)[0] if tree.has_policy else None
    if found is None or not found.triggers or tree.key in {one.key for one in known.trees}:
        return NOBODY

    def judges(trigger: str) -> list[Judge]:
        theirs = known.at(trigger)
        digests = {rule.digest for other in theirs for rule in other.answers(event.but(trigger=trigger)).rules.values()}
        whole = Judge(_program(tree, event.journal, trigger), PUSHED, tree)
        rules = whole.answers(event.but(trigger=trigger)).rules
        new = {key for key, rule in rules.items() if rule.digest not in digests}
        excusing = next((other.excusing for other in theirs if other.excusing is not None), None)
        return [Judge(only(whole.program, new), PUSHED, tree, excusing=excusing or tree, adds=True)]

    return Policies(judges)


def narrowed(these: Policies, event: Event, keep: Callable[[RuleAnswer], bool]) -> Policies:
    """`these` with no other rules than those to `keep`; everything else of them stays."""

    def judges(trigger: str) -> list[Judge]:
        found = []
        for judge in these.at(trigger):
            rules = judge.answers(event.but(trigger=trigger)).rules
            program = judge.program.but(rules=[rule for rule in judge.program.rules if keep(rules[rule.key])])
            program.answers = judge.program.answers
            found.append(Judge(program, judge.origin, judge.tree, excusing=judge.excusing, adds=judge.adds))
        return found

    return Policies(judges, these.notes, these.trees)


def only(program: Program, keys: set[str]) -> Program:
    """`program` with no other rules than those of `keys`, and without its commands. Its answers must be there."""
    assert program.answers is not None
    made = program.but(rules=[rule for rule in program.rules if rule.key in keys])
    made.answers = program.answers.but(rules={k: rule for k, rule in program.answers.rules.items() if k in keys})
    made.reads = by_namespace(sorted({path for rule in made.answers.rules.values() for path in rule.reads}))
    made.settings = program.settings.but(commands={})
    return made


def of_commits(repo: Repository, commits: Sequence[str], event: Event, known: Policies) -> dict[str, Policies]:
    """Commit → all policies that judge it, of those commits whose own policy adds rules to `known`.

    Commits of one policy have the same object: what is made for it is made once. Raises Unknown.
    """
    if not commits:
        return {}
    first = [tree.commit or "HEAD" for tree in known.trees]
    folders = folders_of(repo, [*first, *commits])
    asked_of = list(zip(commits, folders[len(first) :], strict=True))
    lost = [commit for commit, folder in asked_of if folder.endswith(" missing")]
    if lost and partial_clone.lacks_trees(repo, lost):
        raise Unknown("a tree of what is judged is not in this clone", partial_clone.WHOLE)
    in_force = set(folders[: len(first)])
    found: dict[str, Policies] = {}
    by_folder: dict[str, Policies] = {}
    for commit, folder in asked_of:
        if folder.endswith(" missing") or folder in in_force:
            continue
        if folder not in by_folder:
            added = added_by(trees.of_commit(repo, commit, f"commit {commit[:10]}"), event, known)
            by_folder[folder] = known.and_those_of(added)
        if by_folder[folder] is not known:
            found[commit] = by_folder[folder]
    return found


def folders_of(repo: Repository, commits: Sequence[str]) -> list[str]:
    """The id of the folder of the policy in each commit; of one without it what ends in `missing`. Raises Unknown."""
    new = [commit for commit in dict.fromkeys(commits) if commit not in repo.folders]
    asked = "".join(f"{commit}:{trees.FOLDER}\n" for commit in new).encode()
    try:
        told = repo.run("cat-file", "--batch-check=%(objectname)", stdin=asked).decode() if new else ""
    except GitError as error:
        raise Unknown(f"a tree of what is judged is not in this clone ({error})", partial_clone.WHOLE) from None
    found = repo.folders | dict(zip(new, told.split("\n"), strict=False))
    # HEAD moves, and what a partial clone lacks may be fetched.
    keeps_all = bool(new) and not partial_clone.is_one(repo)
    kept = {one: found[one] for one in new if one != "HEAD" and (keeps_all or not found[one].endswith(" missing"))}
    repo.folders |= kept
    return [found[commit] for commit in commits]


def foresee(repo: Repository, commits: Sequence[str]) -> None:
    """Lists the policy files of many commits: those of one folder are alike."""
    by_folder: dict[str, list[str]] = {}
    try:
        folders = folders_of(repo, commits)
    except Unknown:  # to list them one by one fetches them
        return
    for commit, folder in zip(commits, folders, strict=True):
        by_folder.setdefault("" if folder.endswith(" missing") else folder, []).append(commit)
    if not partial_clone.is_one(repo):
        repo.policies |= dict.fromkeys(by_folder.pop("", []), b"")
    for first, *others in by_folder.values():
        if trees.FOLDER not in trees.of_commit(repo, first).entries:  # else it is a file, of one mode or another
            repo.policies |= dict.fromkeys(others, repo.policies[first])
