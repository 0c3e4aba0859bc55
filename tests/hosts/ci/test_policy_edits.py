"""A pull request that edits `.ahp/` to let itself through: each way is told of, and none helps (authority §6)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

import pytest

from ahp.hosts.ci import judging, receiving
from ahp.hosts.ci.change import change_of
from ahp.hosts.ci.report import Report
from ahp.system import environ, git
from tests.conftest import Repo

HOOKS = ".ahp/hooks.yaml"
OLD = """\
version: 1
rules:
  weaker: {at: [pre-commit, pre-merge-commit], block: policy.weakened, message: "{policy.weakenings}", locked: true}
"""
BASE = """\
version: 1
limits: {word: TODO}
rules:
  in-lines: {at: pre-commit, block: "any(limits.word in l.text for l in diff.added)", message: a TODO}
"""
POLICY = f"""\
{OLD.rstrip()}
  too-many: {{at: pre-push, block: files.changed_count > 20}}
  tested: {{at: pre-push, block: tests.failed_count > 0, on_missing: prompt}}
extends: [base.yaml]
authority: [release/*]
reports: {{tests: [junit.xml]}}
hooks:
  pre-commit:
    oracles:
      - name: words
        rules:
          - id: no-todo
            condition: any('TODO' in l.text for l in diff.added)
            intensity: block
            message: a TODO was added
"""
TEST = "- {name: x, trigger: pre-commit, facts: {}, expect: {decision: allow}}\n"
UNTIL = (date.today() + timedelta(days=30)).isoformat()
WAIVER = f"- {{rule: no-todo, subject: topic, reason: I said so, approver: eve, expires: {UNTIL}}}\n"
REFINES = """\
          - id: fine
            condition: any('TODO' in l.text for l in diff.added) and files.changed_count < 99
            intensity: prompt
            refines: no-todo
            message: fine
"""
SPLITS = "          - {id: split, condition: files.changed_count > 0, intensity: control, message: split, action: {type: split_suggestion, max_batch: 1}}\n"  # noqa: E501


class Edit(NamedTuple):
    """What a change does, on a branch of its own; `reports` says whether a rule about the policy speaks of it."""

    do: Callable[[Repo], object]
    reports: bool = True


def files(**texts: str) -> Edit:
    """Files of `.ahp/` by their names, without the ending `.yaml`."""
    return Edit(lambda work: work.commit("feat: edit", **{f".ahp/{name}.yaml": text for name, text in texts.items()}))


def hooks(old: str, new: str) -> Edit:
    assert old in POLICY, old
    return files(hooks=POLICY.replace(old, new))


def _link(work: Repo) -> None:
    work.commit("feat: aside", **{"weak.yaml": OLD})
    (work.root / HOOKS).unlink()
    (work.root / HOOKS).symlink_to("../weak.yaml")
    work.add()
    work.git("commit", "-qm", "feat: link")


def _submodule(work: Repo) -> None:
    work.git("rm", "-rq", ".ahp")
    work.git("update-index", "--add", "--cacheinfo", f"160000,{work.head()},.ahp")
    work.git("commit", "-qm", "feat: submodule")


def _gone(work: Repo, *paths: str) -> None:
    work.git("rm", "-rq", *paths)
    work.git("commit", "-qm", "feat: without")


def _and_back(work: Repo) -> None:
    """A weak policy in the middle of the range only."""
    work.commit("feat: weak", **{HOOKS: OLD})
    work.commit("feat: hidden", **{"mid.txt": "TODO\n"})
    work.commit("feat: strict again", **{HOOKS: POLICY})


def _pushed_before(work: Repo) -> None:
    """The weak policy is on the remote already, as the branch that is proposed."""
    work.git("update-ref", "refs/remotes/origin/pushed-before", work.commit("feat: weak", **{HOOKS: OLD}))


def _replaced(work: Repo) -> None:
    main = work.git("rev-parse", "origin/main")
    weak = work.commit("feat: weak", **{HOOKS: OLD})
    work.git("replace", "-f", main, weak)


def _merged_from_elsewhere(work: Repo) -> None:
    """A weak policy arrives by the merge of an old branch."""
    work.git("merge", "-q", "-s", "ours", "--no-commit", "origin/main~1")
    work.write(HOOKS, OLD)
    work.add()
    work.git("commit", "-q", "--allow-empty", "-m", "feat: merge")


def _signed_for(work: Repo) -> None:
    work.commit(
        "feat: approvers", **{".ahp/approvers": "eve ssh-ed25519 AAAA\n", HOOKS: f"software_keys: true\n{POLICY}"}
    )


EDITS: dict[str, Edit] = {
    "a rule taken out": files(hooks=OLD),
    "a rule for another word": hooks("'TODO' in", "'FIXME' in"),
    "a lower level": hooks("intensity: block", "intensity: prompt"),
    "a level for another environment": hooks("intensity: block", "intensity: {never: block, default: allow}"),
    "a shadow": hooks("            message: a TODO", "            shadow: true\n            message: a TODO"),
    "a disabled oracle": hooks("      - name: words", "      - enabled: false\n        name: words"),
    "a filter": hooks("    oracles:", "    when: branch.name == 'x'\n    oracles:"),
    "ci: skip": hooks("            message: a TODO", "            ci: skip\n            message: a TODO"),
    "observe": hooks("version: 1", "version: 1\nmode: observe"),
    "a refining rule": files(hooks=POLICY + REFINES),
    "a control rule": Edit(files(hooks=POLICY + SPLITS).do, reports=False),
    "a limit": files(base=BASE.replace("TODO}", "NEVER}")),
    "an extended file": files(base="version: 1\n"),
    "an authority of its own": hooks("release/*", "'*'"),
    "waivers": files(waivers=WAIVER),
    "approvers": Edit(_signed_for),
    "requires": hooks("version: 1", 'version: 1\nrequires: ">=99"'),
    "report paths": hooks("junit.xml", "mine.xml"),
    "an unlocked rule": hooks(", locked: true", ""),
    "a policy test taken out": Edit(lambda work: _gone(work, ".ahp/tests/x.yaml")),
    "no policy": Edit(lambda work: _gone(work, ".ahp")),
    "an empty policy": files(hooks="# nothing\n"),
    "a policy that does not load": files(hooks="rules: [\n"),
    "a link": Edit(_link),
    "a submodule": Edit(_submodule),
    "an older valid policy": Edit(
        lambda work: (work.git("checkout", "origin/main~1", "--", ".ahp"), work.commit("feat: back"))
    ),
    "a weak policy in the middle": Edit(_and_back),
    "a weak policy by a merge": Edit(_merged_from_elsewhere),
    "two pushes": Edit(_pushed_before),
    "a committed hooks.local.yaml": Edit(files(**{"hooks.local": "version: 1\nmode: observe\n"}).do, reports=False),
    "replaced objects": Edit(_replaced),
}
# Those that go the way of another one here.
MORE = {"a lower level", "a level for another environment", "a shadow", "a disabled oracle", "a filter", "observe"}
MORE |= {"ci: skip", "an unlocked rule", "a rule for another word", "an empty policy", "a submodule"}
OLD_FORK, CALLED_MAIN, OTHER_TARGET = "an old fork point", "a branch called main", "another target"


class World(NamedTuple):
    """A clone with a branch for each edit, and the commit that each proposes; a server that has none of them."""

    work: Repo
    heads: dict[str, str]
    server: Repo
    folder: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    place = tmp_path_factory.mktemp("edits")
    up = Repo(place / "up")
    up.root.mkdir()
    up.git("init", "-q")
    up.commit("chore: start", **{HOOKS: OLD})
    up.commit("chore: policy", **{HOOKS: POLICY, ".ahp/base.yaml": BASE, ".ahp/tests/x.yaml": TEST})
    up.git("branch", "other", "main~1")
    up.git("clone", "-q", "--bare", str(up.root), str(place / "server.git"))
    work = Repo(place / "work")
    up.git("clone", "-q", str(up.root), str(work.root))
    heads = {}
    for number, (name, edit) in enumerate(EDITS.items()):
        work.git("checkout", "-qfB", f"topic-{number}", "origin/main")
        edit.do(work)
        heads[name] = work.commit("feat: todo", **{"b.txt": "TODO\n"})
    work.git("checkout", "-qfB", "fork", "origin/main~1")
    heads[OLD_FORK] = work.commit("feat: todo", **{"b.txt": "TODO\n"})
    work.git("checkout", "-qfB", "main", "origin/main")
    heads[CALLED_MAIN] = work.commit("feat: weak and todo", **{HOOKS: OLD, "b.txt": "TODO\n"})
    work.git("checkout", "-qf", "--detach")
    heads[OTHER_TARGET] = heads[OLD_FORK]
    server = Repo(place / "server.git")
    server.git("fetch", "-q", str(work.root), "+refs/heads/*:refs/proposed/*")
    with judging.scratch() as folder:
        yield World(work, heads, server, folder)


def told(world: World, name: str) -> Report:
    repo = git.discover(str(world.work.root), dict(os.environ))
    target = "other" if name == OTHER_TARGET else "main"
    is_named = lambda branch, commit: judging.is_named(repo, branch, commit, world.folder)  # noqa: E731
    change = change_of(repo, None, is_named, to=world.heads[name], target=target)
    return judging.judge(repo, judging.Question(change), {}, world.folder, lambda done, total: None)


def _names() -> list[object]:
    names = [*EDITS, OLD_FORK, CALLED_MAIN, OTHER_TARGET]
    return [pytest.param(name, marks=pytest.mark.slow) if name in MORE else name for name in names]


@pytest.mark.parametrize("name", _names())
@pytest.mark.slow
def test_no_edit_of_the_policy_lets_a_change_through(world: World, name: str) -> None:
    report = told(world, name)
    counts = {one.rule for one in report.results if one.level == "block" and not one.excused}
    assert report.exit_code == 1 and {"words/no-todo", "in-lines"} <= counts, report
    if name in EDITS:
        assert ("weaker" in counts) is EDITS[name].reports, report


@pytest.mark.slow
def test_a_server_refuses_them(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _receive(world, ["waivers", "no policy", "a weak policy in the middle"], monkeypatch, capsys)


@pytest.mark.slow
def test_a_server_refuses_each(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _receive(world, [*world.heads], monkeypatch, capsys)


def _receive(
    world: World, names: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One push of what these propose, as new branches, and to main."""
    monkeypatch.chdir(world.server.root)
    monkeypatch.setattr(environ, "current", lambda: {"PATH": os.environ["PATH"]})
    new = [f"{'0' * 40} {world.heads[name]} refs/heads/new-{number}" for number, name in enumerate(names)]
    onto = world.server.git("rev-parse", "main")
    lines = [*new, f"{onto} {world.heads[CALLED_MAIN]} refs/heads/main"]
    assert receiving.judge("".join(f"{line}\n" for line in lines).encode(), limit=600) == 1
    said = capsys.readouterr().err.split("ahp: refs/heads/")[1:]
    assert len(said) == len(lines)
    for part in said:
        assert "refused by words/no-todo" in part and "refused by in-lines" in part, part
    for name, part in zip(names, said, strict=False):
        assert name not in EDITS or ("refused by weaker" in part) is EDITS[name].reports, f"{name}: {part}"
