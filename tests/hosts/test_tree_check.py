"""`ahp check --all`: the tree as it is, as if one commit had brought it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ahp.cli import main
from ahp.hosts import asking, tree_check
from ahp.hosts.ci.report import Report
from ahp.policy.judges import judges_of
from ahp.protocol.event import Actor
from ahp.system import worktree
from ahp.system.terminal import Seen, unseen
from tests.conftest import Repo

POLICY = """\
version: 1
facts: {lint: {run: [sh, -c, "exit 3"]}}
rules:
  todo:
    at: [pre-commit, pre-push]
    each: l in diff.added
    block: contains(l.text, 'TODO') and not any(contains(k.text, 'never mind') for k in diff.added)
    finding: {file: l.path, line: l.line}
    message: a TODO
  stops:
    at: pre-commit
    when: "any(contains(l.text, 'breakpoint') for l in diff.added)"
    each: d in debuggers.added
    block: d.language == 'python'
    finding: {file: d.path, line: d.line}
    message: a debugger
  keys: {at: pre-commit, each: p in files.added, prompt: "glob(p, '**/*.pem')", message: a key}
  license: {at: pre-push, prompt: "not 'LICENSE' in files.changed", message: no license}
  word: {at: pre-push, prompt: "any(contains(l.text, 'wrod') for l in diff.added)", message: a typo}
  size: {at: pre-commit, block: files.changed_count > 1}
  main: {at: pre-commit, block: branch.name == 'main'}
  clean: {at: pre-push, block: lint.exit_code > 0, on_missing: skip}
  tidy:
    at: pre-commit
    control: "any(glob(p, '*.bin') for p in files.binary)"
    message: tidy up
    action: {type: run, command: [tidy, now]}
  dark: {at: pre-commit, each: l in diff.added, block: "contains(l.text, 'TODO')", shadow: true}
"""


@pytest.fixture
def here(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.write(".gitignore", "ignored\n/.ahp/\n")
    repo.write("a.py", "x = 1\nbreakpoint()\n# breakpoint()\n")
    repo.write("b.py", "# TODO one\n\n# TODO two\n")
    repo.write("calm.md", "TODO\nnever mind\n")
    repo.write("gone.md", "TODO\n")
    repo.write("x.bin", "\x01\x00TODO\x02" * 40)
    repo.write("wide.txt").write_bytes("fine\r\nTODO\r\n".encode("utf-16"))
    repo.add()
    repo.commit("first")
    (repo.root / "gone.md").unlink()
    repo.write("sub/new.pem", "TODO with a wrod\n")
    repo.write("ignored", "TODO\n")
    (repo.root / "link").symlink_to("TODO")
    repo.write(".ahp/hooks.yaml", POLICY)
    monkeypatch.chdir(repo.root)
    return repo


def check(repo: Repo, seen: Seen = unseen) -> Report:
    return tree_check.check(asking.around(str(repo.root)), seen)


def places(told: Report, rule: str) -> list[str]:
    return [f"{p.file}:{p.line}" for one in told.results if one.rule == rule for p in one.places]


def test_every_file_and_line_counts_as_added(here: Repo) -> None:
    progress: list[tuple[int, int]] = []
    told = check(here, lambda done, total: progress.append((done, total)))
    assert told.exit_code == 1
    assert places(told, "todo") == ["b.py:1", "b.py:3", "link:1", "sub/new.pem:1", "wide.txt:2"]
    assert places(told, "stops") == ["a.py:2"]
    assert places(told, "keys") == ["sub/new.pem:0"]
    said = {one.rule: (one.level, one.message) for one in told.results}
    assert said["license"] == ("prompt", "no license")
    assert said["word"] == ("prompt", "a typo")
    assert "clean" not in said and "tidy" not in said and "dark" not in said
    assert told.about == "8 files of the work tree, 2 of them not tracked"
    assert told.notes[0].startswith("clean is not decided: lint.exit_code is missing (nobody accepted")
    assert told.notes[1:] == ["3 rules are about changes and not about a tree, and are not asked: main, size, tidy"]
    assert {rule.id for rule in told.rules} >= {"todo", "license"} and progress[-1] == (8, 8)


def test_what_cannot_be_read_is_told_and_never_clean(here: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktree, "LINES_LIMIT", 60)
    told = check(here)
    word = next(one for one in told.results if one.rule == "word")
    assert told.exit_code == 1 and "there is too much text to read at once; the lines of" in word.message
    monkeypatch.setattr(worktree, "FILE_LIMIT", 5)
    told = check(here)
    assert told.exit_code == 2 and places(told, "todo") == ["link:1"]
    assert any("the lines of b.py (1 MiB) were not read" in one.message for one in told.results)


def test_a_file_that_stops_the_judging_is_named(here: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    real = worktree.FilesView.read

    def read(view: worktree.FilesView, path: str) -> bytes | None:
        if path == "b.py":
            raise tree_check.AhpError("cannot read it")
        return real(view, path)

    monkeypatch.setattr(worktree.FilesView, "read", read)
    with pytest.raises(tree_check.AhpError, match=r"^b\.py: cannot read it"):
        check(here)


def test_what_a_committed_waiver_excuses_is_told_and_refuses_nothing(here: Repo) -> None:
    waiver = "- {rule: names, subject: '*', reason: later, approver: ann, expires: %s, digest: '%s'}\n"
    policy = "version: 1\nrules: {names: {at: pre-commit, each: p in files.added, block: p == 'a.py'}}\n"
    here.write(".ahp/hooks.yaml", policy)
    here.git("add", "--force", ".ahp/hooks.yaml")
    here.commit("policy")
    event = asking.event("pre-commit", "cli", Actor("human"), asking.around(str(here.root)))
    digest = judges_of(event)[0].answers(event).rules["names"].digest
    assert check(here).exit_code == 1
    soon = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 7 * 86400))
    here.write(".ahp/waivers.yaml", waiver % (soon, digest))
    here.git("add", "--force", ".ahp/waivers.yaml")
    here.commit("waiver")
    told = check(here)
    assert told.exit_code == 0 and [one.excused.partition(":")[0] for one in told.results] == ["waived"]
    here.write(".ahp/waivers.yaml", "{")
    here.git("add", "--force", ".ahp/waivers.yaml")
    here.commit("broken waivers")
    told = check(here)
    assert told.exit_code == 1 and [note for note in told.notes if "waivers" in note], told.notes


def test_the_command_prints_every_format_and_ends_as_check_does(
    here: Repo, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        code = main.run(["check", *words])
        out, err = capsys.readouterr()
        return code, out + err

    code, out = run("--all", "--output", f"sarif={tmp_path / 'out.sarif'}")
    assert code == 1 and "ahp: refused by todo\n  a TODO\n  b.py:1\n" in out
    assert json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    assert json.loads(run("--all", "--format", "json")[1])["exit_code"] == 1
    here.write(
        ".ahp/hooks.yaml", "version: 1\nrules: {names: {at: pre-commit, each: p in files.added, block: p == 'no'}}\n"
    )
    assert run("--all") == (0, "ahp: 8 files of the work tree, 2 of them not tracked\n")
    here.write(".ahp/hooks.yaml", "rules: 7\n")
    assert run("--all")[0] == 2
    assert "name a trigger, or give --all" in run()[1]
    assert "name a trigger, or give --all" in run("pre-commit", "--all")[1]
    assert "are about a trigger" in run("--all", "--issue", "FEAT-0001")[1]
    assert "other formats go with --all" in run("pre-commit", "--format", "sarif")[1]
    (tmp_path / "plain").mkdir()
    monkeypatch.chdir(tmp_path / "plain")
    code, out = run("--all")
    assert code == 2 and "there is no git repository here" in out


@pytest.mark.parametrize(
    ("reads", "each", "how"),
    [
        (["diff.added", "limits.secret"], "l in diff.added", "each_file"),
        (["debuggers.added", "diff.added", "actor.kind"], "d in debuggers.added", "each_file"),
        (["diff.added"], None, "all_files"),
        (["diff.added", "files.added"], "p in files.added", "all_files"),
        (["files.changes", "branch.name"], None, "all_files"),
        (["tests.failed_count"], None, "all_files"),
        (["coverage.current", "coverage.threshold"], None, "all_files"),
        (["lint.count"], None, "all_files"),
        (["coverage.current", "coverage.previous"], None, "not_asked"),
        (["files.added", "files.deleted"], None, "not_asked"),
        (["files.changed_count"], None, "not_asked"),
        (["content.after['package.json']"], None, "all_files"),
        (["content.after", "files.changed"], "f in files.changed", "all_files"),
        (["content.after", "content.before"], None, "not_asked"),
        (["diff.added", "diff.removed"], "l in diff.added", "not_asked"),
        (["diff.added", "commit.subject"], "l in diff.added", "not_asked"),
        (["branch.name", "time.hour"], None, "not_asked"),
    ],
)
def test_a_rule_is_asked_where_it_reads_what_a_tree_has(reads: list[str], each: str | None, how: str) -> None:
    rule: Any = SimpleNamespace(reads=reads, each=each, action=None)
    found = tree_check.asked_of_a_tree({"rule": rule})
    assert [name for name, keys in found._asdict().items() if keys] == [how]
