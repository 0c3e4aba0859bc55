"""A change of the policy is proven, with an example that people can paste as a test."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

pytest.importorskip("z3", reason="the extra `proofs` is not installed")

from ahp.cli.main import run
from ahp.policy.diff import compare
from ahp.policy.lint import advise
from tests.conftest import Repo

from .conftest import Load
from .test_weakening import Tree, told

POLICY = dedent("""\
    version: 1
    limits: {max_files: 30}
    rules:
      size: {at: pre-commit, block: files.changed_count > limits.max_files}
      exe: {at: pre-commit, each: p in files.changed, block: "glob(p, '*.ex?')"}
      lines: {at: pre-commit, block: "len(diff.added) > 100 or branch.name == 'main'"}
      words: {at: commit-msg, block: "matches(commit.subject, '(?i)^wip')"}
    """)
LOOSER = [("max_files: 30", "max_files: 40"), ("ex?", "exe"), ("> 100", "> 200"), ("(?i)", "")]


def loosened() -> str:
    text = POLICY
    for before, after in LOOSER:
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.mark.parametrize("tighten", [False, True], ids=["looser", "tighter"])
@pytest.mark.parametrize(("before", "after"), LOOSER)
def test_a_printed_test_holds_by_the_new_policy_and_fails_by_the_old_one(
    repo: Repo,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    before: str,
    after: str,
    tighten: bool,
) -> None:
    monkeypatch.chdir(repo.root)
    old, new = (POLICY.replace(before, after), POLICY) if tighten else (POLICY, POLICY.replace(before, after))
    repo.commit("policy", **{".ahp/hooks.yaml": old})
    repo.write(".ahp/hooks.yaml", new)
    assert run(["policy", "diff", "--prove"]) == 0
    out = capsys.readouterr().out
    wanted = ("stronger: ", "holds now") if tighten else ("weaker: ", "this passes now")
    assert out.startswith(wanted[0]) and f"{wanted[1]}\n  proven for all facts" in out
    tests = [line for line in out.splitlines() if line.startswith("- {")]
    assert len(tests) == 1
    repo.write(".ahp/tests/proven.yaml", tests[0])
    assert run(["policy", "test"]) == 0, capsys.readouterr().out
    repo.write(".ahp/hooks.yaml", old)
    assert run(["policy", "test"]) == 1


def test_without_a_solver_normal_forms_compare_and_that_is_said(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    monkeypatch.chdir(repo.root)
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    repo.write(".ahp/hooks.yaml", loosened())
    assert run(["policy", "diff"]) == 0
    out = capsys.readouterr().out
    assert "weaker: size at" in out and "unknown: exe at" in out
    assert "conditions were compared by their normal forms; to prove more:" in out and "proofs" in out
    assert run(["policy", "diff", "--prove"]) == 2
    assert "no solver is installed" in capsys.readouterr().err
    assert run(["policy", "lint"]) == 0


LOADED = """\
import sys
from ahp.cli.main import run
run(["check", "pre-commit"])
print("loaded", *sorted({"z3", "ahp.conditions.proofs"} & set(sys.modules)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "loaded"), [("a.txt", ""), (".ahp/tests/a.yaml", ""), (".ahp/hooks.yaml", " ahp.conditions.proofs z3")]
)
def test_only_a_commit_that_changes_a_condition_loads_the_solver(repo: Repo, path: str, loaded: str) -> None:
    policy = POLICY + "  own: {at: pre-commit, block: policy.weakened}\n"
    repo.commit("policy", **{".ahp/hooks.yaml": policy})
    repo.write(path, {"a.txt": "text\n", ".ahp/tests/a.yaml": "[]\n"}.get(path) or policy.replace("ex?", "exe"))
    repo.add(path)
    done = repo.run(sys.executable, "-c", LOADED)
    assert done.stdout.decode().splitlines()[-1] == f"loaded{loaded}", done.stderr


def test_what_a_change_of_the_policy_weakens_names_an_example() -> None:
    old = Tree(hooks__yaml=POLICY)
    new = Tree(hooks__yaml=POLICY.replace("or branch.name == 'main'", "or branch.name == 'next'"))
    assert [one[:2] for one in told(old, new)] == [("incomparable", "condition")]


def test_a_change_that_only_adds_refusals_is_stronger(load: Load) -> None:
    old = POLICY.replace("branch.name == 'main'", "glob(branch.name, 'fix?')")
    new = old.replace("fix?", "fi*")
    assert [(one.key, one.verdict) for one in compare(load(old), load(new), prove=True)] == [("lines", "stronger")]
    assert [(one.key, one.verdict) for one in compare(load(old), load(new))] == [("lines", "unknown")]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("a: {at: pre-push, block: files.changed_count * 2 == 3}", "`a` never holds"),
        ("a: {at: pre-push, when: \"branch.name == 'a'\", block: \"glob(branch.name, 'b*')\"}", "`a` never holds"),
        ("a: {at: pre-push, block: \"matches(branch.name, 'a') or 'a' not in branch.name\"}", "holds for all facts"),
    ],
)
def test_lint_proves_that_a_rule_never_or_always_holds(load: Load, rules: str, said: str) -> None:
    assert any(said in one.what for one in advise(load(f"rules:\n  {rules}\n")))


def test_lint_names_a_refiner_that_never_refines(load: Load) -> None:
    text = dedent("""\
        hooks:
          pre-push:
            - name: o
              rules:
                - {id: wide, condition: "glob(branch.name, 'feat/*')", intensity: block}
                - {id: narrow, refines: wide, condition: "branch.name.startswith('fix/')", intensity: prompt}
        """)
    assert any("`o/narrow` never refines `o/wide`" in one.what for one in advise(load(text)))
    assert not any("never refines" in one.what for one in advise(load(text.replace("fix/", "feat/x"))))
