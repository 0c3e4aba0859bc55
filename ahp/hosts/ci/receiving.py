"""`ahp hook pre-receive`: what a push would bring to a server, judged before any of its refs moves (authority §7).

git has unpacked the objects into a quarantine that only this hook sees. Every ref is judged by what the refs were
before, by the policy of where it goes; one refusal refuses the push.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple

from ahp.hosts.ci import judging, statements
from ahp.hosts.ci.change import Change, descends
from ahp.hosts.ci.platform import BRANCHES, TAGS
from ahp.hosts.ci.report import Report, report, text
from ahp.hosts.git import ranges
from ahp.hosts.git.ranges import read_refs
from ahp.policy import policies
from ahp.protocol.event import PushRef
from ahp.protocol.text import one_line
from ahp.system import boundaries, environ, git
from ahp.system.errors import AhpError, Timeout
from ahp.system.git import Repository
from ahp.system.history import RangeView
from ahp.system.terminal import unseen

LIMIT = 4.0  # s
_OID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPLACE = "refs/replace/"
_KEPT = ("refs/ahp/anchors/", statements.REFS)
_FORWARD_ONLY = (
    "anchors and statements go forward only and are never deleted, so that no end of what they keep is cut off"
)
_NOTHING_ELSE = "an anchor holds no file, and a statement its own alone: nobody judges what else is brought there"
_COMPILED = "/received"  # in the folder of ahp: policies that were compiled, each by the digest of what it was made of
_ADMITTED = report("admitted by ahp.admit", 0, [], [], [])
_QUARANTINE = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH")


class _Late(BaseException):
    """The limit, raised in whatever runs then: a program that failed is asked again, and this must not be."""


class _Server(NamedTuple):
    """The repository as it was before the push: its default branch with its commit.

    `allowed` are the refs besides branches and tags that an admin takes, `admitted` the ids of tips that need no
    judgement. `is_named` tells of a branch whether `authority:` names it, `folder` keeps what is compiled.
    """

    repo: Repository
    default: str
    default_tip: str
    allowed: list[str]
    admitted: list[str]
    is_named: Callable[[str], bool]
    env: dict[str, str]
    folder: str
    key: str


class _Move(NamedTuple):
    """What is pushed to `ref`, which may be another than git names: the commit `tip`, "" where it is none, the commit
    `own_tip` whose policy judges if that ref has one of its own, and the commits that are `known` there.
    """

    pushed: PushRef
    ref: str
    tip: str
    own_tip: str
    known: list[str]


def judge(lines: bytes, limit: float = LIMIT) -> int:
    """The hook's exit code for git's `lines`, `OLD NEW REF` each; tells on standard error, within `limit` seconds.

    Raises AhpError where nothing can be judged, which refuses the push.
    """
    env = environ.current()
    if env.get("GIT_NAMESPACE"):  # the branches that git shows are those of the whole, also of others' namespaces
        raise AhpError("this push goes to a namespace (GIT_NAMESPACE) of the repository, and those are not judged here")
    if not lines:  # git runs no hook for nothing
        why = "nothing is on standard input, where git names what is pushed; did another command of the hook read it?"
        raise AhpError(f"{why} Keep the lines, and give them to each: lines=$(cat); printf '%s\\n' \"$lines\" | ahp …")
    repo = git.discover(env.get("GIT_DIR") or ".", env)
    repo.env |= {name: env[name] for name in _QUARANTINE if name in env}
    code = 0
    repo.answers = {}
    with _within(limit):
        pushed = _refs(lines)
        server = _before(repo, env, repo.ahp_dir + _COMPILED)
        reports = list(_judged(server, pushed))
        for ref, told in zip(pushed, reports, strict=True):
            if told.exit_code or told.results:
                sys.stderr.write(f"ahp: {one_line(ref.remote_ref, 300)}\n{text(told)}")
            code = max(code, told.exit_code)
        if any(one.results for one in reports if one.exit_code):
            sys.stderr.write("ahp: a clone without the gate gets it by: ahp install\n")
        if not code and server.key:
            _attest(server, reports)
    return code


def _attest(server: _Server, reports: list[Report]) -> None:
    """Signs what each protected ref that moves gets. Raises AhpError, which refuses the push."""
    repo = server.repo
    address = repo.config("ahp.repository")
    if not address:
        raise AhpError(
            "statements name the repository; an admin says how: git config ahp.repository git+https://HOST/PATH"
        )
    # git moves no ref from a quarantine. A statement names what lies there, and needs nothing of it.
    env = {name: value for name, value in repo.env.items() if name not in _QUARANTINE}
    outside = Repository(repo.root, repo.git_dir, repo.common_dir, env, repo.git, repo.folder)
    for judged in (one.judged for one in reports if one.judged and one.judged.moves):
        made = statements.of_each(repo, judged, address, "pre-receive")
        statements.keep(outside, statements.sign(made, server.key))


@contextmanager
def _within(limit: float) -> Iterator[None]:
    """Raises Timeout in what runs longer than `limit` seconds; at its end where that was taken for something else."""
    late = Timeout(f"this push takes longer to judge than the {limit:g} s that ahp hook pre-receive --limit allows")
    begin = time.monotonic()

    def over(number: int, frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    except _Late:
        raise late from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if time.monotonic() - begin > limit:
        raise late


def _refs(lines: bytes) -> list[PushRef]:
    """What is pushed, as pre-push has it: git's lines here have the old id, the new one and the ref."""
    turned = []
    for line in lines.removesuffix(b"\n").split(b"\n") if lines else []:
        old, _, rest = line.partition(b" ")
        new, _, ref = rest.partition(b" ")
        if not (_OID.fullmatch(old) and _OID.fullmatch(new) and ref and b"\0" not in ref):
            raise AhpError(
                f"git's list of pushed refs is not understood: {one_line(line.decode('utf-8', 'replace'))!r}"
            )
        turned.append(b" ".join([ref, new, ref, old]))
    return read_refs(b"\n".join(turned))


def _before(repo: Repository, env: dict[str, str], folder: str) -> _Server:
    listed = repo.run("for-each-ref", "--format=%(objectname)", BRANCHES).decode().split()
    head = repo.line("symbolic-ref", "-q", "HEAD", ok=(0, 1))
    tip = repo.commit_id(head) if head else None
    configured = repo.config("ahp.defaultBranch")
    if tip is None and configured:
        head = BRANCHES + configured.removeprefix(BRANCHES)
        tip = repo.commit_id(head)
    # Where there are branches, a default one that is not there would leave all of them without a policy.
    if not head.startswith(BRANCHES) or (listed and tip is None):
        raise AhpError("HEAD names no branch; an admin names the default one: git config ahp.defaultBranch BRANCH")
    allowed, admitted = _named(repo, "ahp.allowRef"), _named(repo, "ahp.admit")
    is_named = judging.naming(repo, tip, folder) if tip else lambda branch: False
    key = repo.config("ahp.attestKey") or ""
    return _Server(repo, head.removeprefix(BRANCHES), tip or "", allowed, admitted, is_named, env, folder, key)


def _judged(server: _Server, pushed: list[PushRef]) -> Iterator[Report]:
    """What is told of each ref, in their order; what is asked of git for each is asked for all at once."""
    repo = server.repo
    ranges.foresee(repo, pushed)
    named = [(one, _resolved(repo, one.remote_ref)) for one in pushed]
    told = [_not_judged(server, one, ref) for one, ref in named]
    moves = [_move(server, *one) for one, known in zip(named, told, strict=True) if known is None]
    policies.foresee(repo, list(dict.fromkeys(one.tip for one in moves if one.tip)))
    apart = [one for one in moves if one.tip]
    boundaries.foresee(repo, [(one.tip, one.known, one.known) for one in apart])
    views = [_brought(server, one) for one in moves]
    begun = {id(one): view.boundaries() for one, view in zip(moves, views, strict=True)}
    boundaries.foresee(repo, [(one.tip, begun[id(one)], one.known) for one in apart])
    questions = [_question(server, one, view) for one, view in zip(moves, views, strict=True)]
    reports = judging.judge_all(repo, [one for one in questions if one], server.env, server.folder, unseen)
    for_each = (next(reports) if one else _ADMITTED for one in questions)
    return (known or next(for_each) for known in told)


def _not_judged(server: _Server, pushed: PushRef, ref: str) -> Report | None:
    """What is told of a ref that is refused or admitted unseen."""
    if ref.startswith(_REPLACE):
        return _refused("refs/replace/ would have git show other objects than there are")
    if ref.startswith(statements.REFS) and server.key:
        return _refused("this server signs the statements that it keeps, and takes none")
    if ref.startswith(_KEPT):
        if not _goes_forward(server.repo, pushed):
            return _refused(_FORWARD_ONLY)
        return _refused(_NOTHING_ELSE) if _brings_more(server.repo, pushed) else _ADMITTED
    if not ref.startswith((BRANCHES, TAGS)) and ref not in server.allowed:
        mend = shlex.join(["git", "config", "--add", "ahp.allowRef", one_line(ref, 400)])
        return _refused(f"only branches and tags are taken; an admin allows more: {mend}")
    if not _is_admitted(server, pushed) or (
        server.default_tip and descends(server.repo, server.default_tip, pushed.local_oid)
    ):
        return None
    return _ADMITTED


def _goes_forward(repo: Repository, pushed: PushRef) -> bool:
    """Whether a ref is made, or moved to a commit that has its old one among those before it."""
    old, new = pushed.remote_oid, pushed.local_oid
    if not new.strip("0") or repo.commit_id(new) is None:
        return False
    return not old.strip("0") or descends(repo, new, old)


def _brings_more(repo: Repository, pushed: PushRef) -> bool:
    """Whether what an anchor's or a statement's ref gets has a file that is none of a statement. Raises GitError."""
    old = [f"^{pushed.remote_oid}"] if pushed.remote_oid.strip("0") else []
    asked = ("log", "-m", "--root", "--no-renames", "--name-only", "-z", "--format=", pushed.local_oid, *old, "--")
    names = set(repo.run(*asked).replace(b"\n", b"\0").split(b"\0")) - {b""}
    return bool(names - ({statements.FILE.encode()} if pushed.remote_ref.startswith(statements.REFS) else set()))


def _is_admitted(server: _Server, pushed: PushRef) -> bool:
    return bool(pushed.local_oid.strip("0")) and pushed.local_oid in server.admitted


def _move(server: _Server, pushed: PushRef, ref: str) -> _Move:
    repo = server.repo
    name = ref.removeprefix(BRANCHES) if ref.startswith(BRANCHES) else ""
    has_authority = bool(name) and (name == server.default or server.is_named(name))
    own_tip = (repo.commit_id(pushed.remote_oid) or "") if has_authority and pushed.remote_oid.strip("0") else ""
    tip = (repo.commit_id(pushed.local_oid) or "") if pushed.local_oid.strip("0") else ""
    return _Move(pushed, ref, tip, own_tip, [known] if (known := own_tip or server.default_tip) else [])


def _brought(server: _Server, move: _Move) -> RangeView:
    """The range that the server does not have; nothing for a deletion. Raises AhpError."""
    repo, pushed = server.repo, move.pushed
    if not pushed.local_oid.strip("0"):
        empty = repo.empty_tree()
        return RangeView(repo, empty, empty)
    if move.tip:
        return boundaries.range_over(repo, move.tip, move.known)
    if whole := ranges.object_of(repo, pushed):
        return whole
    raise AhpError(f"the object {pushed.local_oid[:10]} that {one_line(pushed.remote_ref, 300)} would name is not here")


def _question(server: _Server, move: _Move, view: RangeView) -> judging.Question | None:
    """What is asked about a ref; None where it is admitted all the same."""
    pushed = move.pushed
    # Else the line that an import left would let the branch be moved back to it.
    if _is_admitted(server, pushed) and view.old != move.tip:
        return None
    name = move.ref.removeprefix(BRANCHES) if move.ref.startswith(BRANCHES) else ""
    change = Change(
        *(view, move.tip, name, move.ref, move.own_tip, server.default, server.default_tip, ""),
        had=pushed.remote_oid,
        merged=False,
    )
    return judging.Question(change, push=PushRef(pushed.local_ref, pushed.local_oid, move.ref, pushed.remote_oid))


def _resolved(repo: Repository, ref: str) -> str:
    """What a symbolic ref names in the end, else the ref itself."""
    if not any(os.path.lexists(f"{repo.common_dir}/{name}") for name in (ref, "reftable")):
        return ref  # packed refs, and those that are not there yet, are none
    return repo.line("symbolic-ref", "-q", ref, ok=(0, 1, 128)) or ref


def _named(repo: Repository, key: str) -> list[str]:
    """Every value of a key of the server's configuration."""
    return repo.run("config", "--get-all", key, ok=(0, 1)).decode("utf-8", "surrogateescape").split("\n")[:-1]


def _refused(why: str) -> Report:
    return report("refused", 1, [], [], [why])
