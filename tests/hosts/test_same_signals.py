"""The same range, judged by the same policy, gives the same signals at the push and in `ahp ci` (authority §5)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.hosts.ci import judging
from ahp.hosts.ci.change import change_of
from ahp.hosts.ci.platform import Proposal
from ahp.hosts.ci.report import Result, result
from ahp.hosts.git import pre_push
from ahp.hosts.git.githooks import Hook
from ahp.hosts.verdict_text import rule_of, steps_of
from ahp.protocol.event import Actor, PushRef, Workspace
from ahp.system import git
from tests.conftest import Repo
from tests.examples import examples

POLICY = """\
version: 1
limits: {word: TODO}
rules:
  lines:
    at: [pre-commit, pre-push]
    each: l in diff.added
    block: contains([l.text], limits.word)
    finding: {file: l.path, line: l.line}
    message: a TODO
  gone: {at: pre-push, each: l in diff.removed, prompt: "'keep' in l.text", finding: {file: l.path}, message: gone}
  many: {at: pre-push, block: files.changed_count > 3, message: "{files.changed_count} files: {files.changed}"}
  wide: {at: [pre-commit, pre-merge-commit], prompt: files.changed_count > 1, message: "{files.changed}"}
  sizes: {at: [pre-commit, pre-push], prompt: files.lines_changed > 4 or files.largest_bytes > 30, message: large}
  moved: {at: pre-push, prompt: len(files.renamed) > 0 or len(files.deleted) > 0, message: "{files.deleted}"}
  subject: {at: commit-msg, block: commit.subject.startswith('bad'), message: "{commit.subject}"}
  merges: {at: commit-msg, prompt: commit.is_merge and commit.body == '', message: "{commit.author_email}"}
  deps: {at: [pre-commit, pre-push], prompt: deps.changed, message: "{deps.manifests}"}
  data: {at: [pre-commit, pre-push], prompt: "at(content.after['pyproject.toml'], 'x') == 1", message: x is 1}
  every: {at: pre-push, block: "any(has(at(content.before[f], 'x')) for f in files.changed)", message: x was set}
  weaker: {at: [pre-commit, pre-push], block: policy.weakened, message: "{policy.weakenings}"}
  changed: {at: pre-commit, prompt: policy.changed, message: the policy changed}
  unsigned: {at: commit-msg, prompt: not commit.signed, on_missing: skip, message: "{commit.committer}"}
  where: {at: [pre-commit, pre-push], prompt: branch.is_detached or BRANCH, message: "WORDS"}
"""
# What the branch is called is told by the ref that is written to at a push, and by the one that is proposed in CI.
BRANCH = {
    "topic": POLICY.replace("BRANCH", "branch.name == 'topic'").replace("WORDS", "{branch.name}"),
    "main": POLICY.replace("BRANCH", "branch.target == 'main' and branch.is_default").replace("WORDS", "main"),
}
ADDED = "  added: {at: [pre-commit, pre-push], prompt: \"'b.txt' in files.changed\", message: added}\n"
TEXTS = (
    "",
    "x = 1\n",
    "one\n",
    "one\ntwo TODO\n",
    "keep\n",
    "one\ntwo\nthree\nfour\nfive\nkeep\n",
    "\0 binary\n",
    "ü\r\nTODO",
)
PATHS = ("a.txt", "b.txt", "d/ü e.txt", "pyproject.toml")
MESSAGES = ("ok", "bad words", "ok\n\nwith a body\n", "ok\n\nAhp-Override: lines x y z")

Tree = dict[str, str]


class Step(NamedTuple):
    """One commit: on which of those before it, merging which, what it writes (None: deletes), how its policy is."""

    parent: int
    other: int
    files: dict[str, str | None]
    policy: str
    message: str


STEPS = st.builds(
    Step,
    st.integers(0, 3),
    st.integers(0, 9),
    st.dictionaries(st.sampled_from(PATHS), st.none() | st.sampled_from(TEXTS), max_size=3),
    st.sampled_from(("", "", "", "", "as it is", "fewer", "more")),
    st.sampled_from(MESSAGES),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Repo, str]]:
    repo = Repo(tmp_path_factory.mktemp("same") / "repo")
    repo.root.mkdir()
    repo.git("init", "-q")
    repo.git("remote", "add", "origin", "nowhere")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    repo.git("config", "core.logAllRefUpdates", "false")  # a ref that fast-import moved is not believed by its reflog
    with judging.scratch() as folder:
        yield repo, folder


_numbers = itertools.count()


def write(repo: Repo, policy: str, steps: list[Step]) -> None:
    """main is the first commit and those steps that nothing was merged into, every other of them; topic the last."""
    stream, trees, main = [], [{".ahp/hooks.yaml": policy, "a.txt": "one\nkeep\n"}], [0]
    _append(stream, trees, "ok start", [])
    for step in steps:
        parent = max(len(trees) - 1 - step.parent, 0)
        other = step.other if step.other < len(trees) and step.other != parent else None
        tree = {**(trees[other] if other is not None else {}), **trees[parent]}
        tree.update({path: text for path, text in step.files.items() if text is not None})
        tree = {path: text for path, text in tree.items() if step.files.get(path, "") is not None}
        if step.policy:
            fewer = policy.replace("  many:", "  many: {at: pre-push, block: files.changed_count > 99}\n  other:")
            tree[".ahp/hooks.yaml"] = {"fewer": fewer, "more": policy + ADDED}.get(step.policy, policy)
        trees.append(tree)
        _append(stream, trees, step.message, [parent] if other is None else [parent, other])
        if other is None and parent == main[-1] and not step.policy and len(trees) % 2:
            main.append(len(trees) - 1)
    stream += [_reset("refs/remotes/origin/main", main[-1]), _reset("refs/heads/topic", len(trees) - 1)]
    repo.git("fast-import", "--quiet", "--force", stdin=b"".join(stream))
    repo.git("pack-refs", "--all")  # as a clone has them
    repo.git("symbolic-ref", "HEAD", "refs/heads/topic")


def _append(stream: list[bytes], trees: list[Tree], message: str, parents: list[int]) -> None:
    number = len(trees) - 1
    text = message.encode()
    # A time of its own, so that no two worlds share a commit.
    who = f"A <a{number}@example.org> {1_700_000_000 + next(_numbers)} +0000"
    head = f"commit refs/heads/made\nmark :{number + 1}\nauthor {who}\ncommitter {who}\ndata {len(text)}\n"
    stream.append(head.encode() + text + b"\n")
    stream += [f"{'merge' if at else 'from'} :{parent + 1}\n".encode() for at, parent in enumerate(parents)]
    stream.append(b"deleteall\n")
    for path, content in trees[-1].items():
        data = content.encode()
        stream.append(f'M 100644 inline "{path}"\ndata {len(data)}\n'.encode() + data + b"\n")
    if not parents:
        stream.insert(0, b"reset refs/heads/made\n")


def _reset(ref: str, number: int) -> bytes:
    return f"reset {ref}\nfrom :{number + 1}\n\n".encode()


def at_push(repo: git.Repository, folder: str, target: str) -> list[Result]:
    old = repo.commit_id("refs/remotes/origin/main") if target == "main" else None
    ref = PushRef("refs/heads/topic", repo.commit_id("topic") or "", f"refs/heads/{target}", old or "0" * 40)
    where = Workspace(repo.root, folder, repo.env, repo, None, "")
    hook = Hook("pre-push", "1", ["origin", "url"], Actor("human", "ann"), repo, where)
    (pushed,) = pre_push._prepared(hook, [ref], "origin")
    pre_push._judge_commits(hook, [pushed], "origin")
    pushed.event.mode = "replay"  # without a log nothing was told before
    verdicts = pre_push._judge(pushed, "origin")
    return [result(signal, rule_of(signal), steps_of(signal.payload)) for one in verdicts for signal in one.signals]


def in_ci(repo: git.Repository, folder: str) -> list[Result]:
    said = Proposal("run", repo.commit_id("topic") or "", source="topic", target="refs/heads/main")
    change = change_of(repo, said, lambda branch, commit: judging.is_named(repo, branch, commit, folder))
    report = judging.judge(repo, judging.Question(change), {}, folder, lambda done, total: None)
    return [one for one in report.results if not one.excused]


def compare(world: tuple[Repo, str], target: str, steps: list[Step]) -> None:
    made, folder = world
    write(made, BRANCH[target], steps)
    repo = git.discover(str(made.root), dict(os.environ))
    here, there = at_push(repo, folder, target), in_ci(repo, folder)
    assert sorted(here) == sorted(there)


@given(st.sampled_from(("topic", "main")), st.lists(STEPS, min_size=1, max_size=6))
@examples(5)
def test_a_push_and_ci_say_the_same_of_a_range(world: tuple[Repo, str], target: str, steps: list[Step]) -> None:
    compare(world, target, steps)


@pytest.mark.slow
@given(st.sampled_from(("topic", "main")), st.lists(STEPS, min_size=1, max_size=12))
@examples(600)
def test_a_push_and_ci_say_the_same_of_many_ranges(world: tuple[Repo, str], target: str, steps: list[Step]) -> None:
    compare(world, target, steps)
