"""What the statements of CI and servers say of a branch, and whether they account for all of its first-parent line.

Who may write refs may delete a statement, move it, or bring one of another branch; only what a trusted key signed is
believed, of the branch, repository and revision that it names. Nothing here needs a network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from ahp.hosts.ci import statements
from ahp.hosts.ci.change import descends
from ahp.hosts.ci.statements import JUDGED, VERIFIER, Keys
from ahp.policy import succession
from ahp.policy import tree as trees
from ahp.system.git import Repository

_LONGEST = 16 << 20  # bytes of an envelope
_AT_ONCE = 40 << 20


class Statement(NamedTuple):
    """What a trusted key says of the revision `commit`: it came to the ref `target`, which was moved from `tip` to
    `head`, under the policy of the commit `policy`. `key` is the key's name, `judge` "ci" or "pre-receive".
    """

    commit: str
    key: str
    judge: str
    time: str
    repository: str
    target: str
    tip: str
    head: str
    policy: str
    digest: str
    passed: bool
    commits: list[str]
    found: list[dict[str, Any]]


def kept(repo: Repository, keys: Keys) -> tuple[list[Statement], int]:
    """The statements of `refs/ahp/statements/` that are believed, and how many others lie there: not signed by a
    trusted key, or not about the commit that their ref is called by. Raises GitError.
    """
    known: dict[str, Statement] = {}
    listed, sizes = _listed(repo)
    for oid, data in _read(repo, sizes):
        try:
            known[oid] = _statement(*keys.opened(data))
        except ValueError:
            continue
    found = [known[oid] for commit, oid in listed if oid in known and known[oid].commit == commit]
    return found, len(listed) - len(found)


def _listed(repo: Repository) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """The commit that each ref is called by with the id of each envelope that it has or had, and their sizes."""
    form = "--format=%(objecttype) %(objectname) %(refname)"
    every = [line.split(" ") for line in repo.run("for-each-ref", form, statements.REFS).decode().splitlines()]
    refs = [(tip, ref.removeprefix(statements.REFS)) for kind, tip, ref in every if kind == "commit"]
    asked = "".join(f"{tip}\n" for tip, _ in refs).encode()
    parents = repo.run("rev-list", "--parents", "--stdin", stdin=asked).decode().splitlines() if refs else []
    after = {commit: above[:1] for commit, *above in map(str.split, parents)}
    asked = "".join(f"{commit}:{statements.FILE}\n" for commit in after).encode()
    told = repo.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked).decode().splitlines()
    blobs = {commit: line.partition(" ")[::2] for commit, line in zip(after, told, strict=True)}
    listed = []
    for tip, name in refs:
        at = [tip]
        while at:
            listed.append((name, blobs[at[0]][0]))
            at = after[at[0]]
    return listed, {oid: int(size) for oid, size in blobs.values() if size.isdecimal() and int(size) <= _LONGEST}


def _read(repo: Repository, sizes: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
    """Blobs, as many at a time as git may print."""
    some: list[str] = []
    room = _AT_ONCE
    for oid, size in [*sizes.items(), ("", _AT_ONCE)]:
        if size >= room:
            for one, printed in repo.printed(some).items():
                yield one, printed.partition(b"\n")[2]
            some, room = [], _AT_ONCE
        some.append(oid)
        room -= size


def _statement(key: str, told: Any) -> Statement:
    """Raises ValueError for what is signed and no statement of ahp's."""
    try:
        (subject,), predicate = told["subject"], told["predicate"]
        judged, judge = predicate[JUDGED], predicate["verifier"]["id"]
        if (told["_type"], told["predicateType"]) != (statements.STATEMENT, statements.PREDICATE):
            raise ValueError("another type")
        if [judged["target"]] != subject["annotations"]["sourceRefs"] or not judge.startswith(VERIFIER):
            raise ValueError("the parts do not fit each other")
        by = judged["policies"][0]
        return Statement(
            commit=str(subject["digest"]["gitCommit"]),
            key=key,
            judge=judge.removeprefix(VERIFIER),
            time=str(predicate["timeVerified"]),
            repository=str(predicate["resourceUri"]),
            target=str(judged["target"]),
            tip=str(judged["tip"]),
            head=str(judged["head"]),
            policy=str(by["commit"]),
            digest=str(by["digest"]),
            passed=predicate["verificationResult"] == "PASSED",
            commits=judged["commits"],
            found=judged["found"],
        )
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"no statement: {error}") from None


def problems(
    repo: Repository, line: Sequence[str], asked: Sequence[str], about: Sequence[Statement], default: str, folder: str
) -> list[str]:
    """Why the statements `about` a branch do not account for the revisions `asked` of its first-parent `line`, the
    newest first, each in a sentence that begins with a commit; none where they do.

    `default` is the tip of the default branch, `folder` keeps what is compiled. Raises GitError.
    """
    place = {commit: number for number, commit in enumerate(line)}
    follows = cache(partial(descends, repo))
    in_force = cache(partial(_in_force, repo, default, folder))

    def fits(one: Statement) -> bool:  # the move that brought it is one along the line as it is
        if one.commit not in place or one.head not in place or place[one.head] > place[one.commit]:
            return False
        return place[one.tip] > place[one.commit] if one.tip in place else follows(one.head, one.tip)

    fitting: dict[str, list[Statement]] = {}
    for one in filter(fits, about):
        fitting.setdefault(one.commit, []).append(one)
    told = []
    for commit in reversed(asked):
        if commit not in fitting:
            told.append(f"{commit} has no statement of a trusted key about this branch")
        for one in fitting.get(commit, ()):
            if not one.passed:
                told.append(f"{commit} was refused{_by(one)}, and is there all the same")
            if not in_force(one.tip, one.policy):
                told.append(f"{commit} was judged by the policy of {one.policy}, which was not in force any more")
    # A merge may have what the branch had as its second parent: then the line goes on elsewhere, and nothing is gone.
    merged: set[str] = {one.tip for some in fitting.values() for one in some} - place.keys()
    left = [one for one in about if not fits(one)]
    while on := [one for one in left if one.head in merged and follows(one.head, one.tip)]:
        merged |= {one.tip for one in on} - place.keys()
        left = [one for one in left if one not in on]
    gone = {one.head: one.tip for one in left}
    return told + [f"{head} was put there in place of {tip}, and that was taken back" for head, tip in gone.items()]


def _in_force(repo: Repository, default: str, folder: str, tip: str, policy: str) -> bool:
    """Whether what goes on from `tip` is judged by the policy of the commit `policy` (authority §2.4, §4)."""
    if policy == tip:
        return True
    judge, _ = succession.in_force(trees.of_commit(repo, tip), folder, "pre-push")
    return judge.commit == policy if judge is not None else descends(repo, default, policy)


def _by(one: Statement) -> str:
    rules = [str(told["rule"]) for told in one.found if told["level"] == "block" and not told["exemption"]]
    return f" by {', '.join(dict.fromkeys(rules))}" if rules else ""
