"""Formatters at a commit: what is staged is fixed, judged again and committed; nothing else changes (design §4)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ahp.hosts.git import install as installing
from ahp.policy import layers, trust
from ahp.policy.compile import commands
from ahp.policy.sources import FileSource
from ahp.protocol.event import Actor
from tests.hosts.git.gated import SILENT, Gated

TIDY = "[sed, -i, 's/  */ /g']"  # one space where there are several
STAGES = """\
version: 1
rules:
  tidy:
    at: [pre-commit, pre-merge-commit]
    each: p in files.changed
    control: glob(p, '**/*.py')
    message: spaces
    action: {type: run, command: COMMAND, stage: true}
"""
REFUSES = STAGES.replace(", stage: true", "")
LINES = "".join(f"line {number}\n" for number in range(30))


def trusted(gated: Gated, text: str, command: str = TIDY) -> Gated:
    """Puts a policy in place whose commands a person has accepted."""
    gated.policy(text.replace("COMMAND", command))
    policy = layers.load(FileSource(str(gated.root), ""))
    read = trust.in_folder(str(gated.root))
    accepted = {name: trust.digest(one, read) for name, one in commands(policy).items()}
    trust.accept(str(gated.folder), accepted, Actor("human", "ann"))
    return gated


@pytest.fixture
def staging(gated: Gated) -> Gated:
    """A repository with a formatter that stages what it changed, and a file of 30 lines."""
    gated.git(*SILENT, "commit", "-q", "--allow-empty", "-m", "x")
    gated.write("a.py", LINES)
    gated.add()
    gated.git(*SILENT, "commit", "-q", "-m", "lines")
    return trusted(gated, STAGES)


def text(gated: Gated, name: str) -> str:
    return os.fsdecode(gated.run("git", "show", name).stdout)


def status(gated: Gated) -> str:
    return gated.git("status", "--porcelain").strip("\n")


def edited(gated: Gated, **lines: str) -> str:
    """The file of 30 lines with some lines (`l3="…"`) replaced, in the work tree."""
    now = (gated.root / "a.py").read_text().splitlines()
    for key, line in lines.items():
        now[int(key[1:])] = line
    gated.write("a.py", "\n".join(now) + "\n")
    return "\n".join(now) + "\n"


def test_what_is_tidy_passes_in_silence(staging: Gated) -> None:
    staging.write("a.py", LINES + "x\n")
    staging.add()
    assert staging.say("commit", "-q", "-m", "x") == (0, "")
    trusted(staging, REFUSES)
    staging.write("a.py", LINES + "x\ny\n")
    staging.add()
    assert staging.say("commit", "-q", "-m", "x") == (0, "")


def test_what_a_fixer_changed_is_committed_and_told(staging: Gated) -> None:
    staging.write("a.py", LINES + "x   y\n")
    staging.write("b.md", "x   y\n")
    staging.add()
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 0
    assert "ahp: commit changed by tidy" in said.text and "staged as fixed: a.py" in said.text
    assert text(staging, "HEAD:a.py") == LINES + "x y\n" == (staging.root / "a.py").read_text()
    assert text(staging, "HEAD:b.md") == "x   y\n"
    assert status(staging) == ""
    (verdict,) = staging.log("verdict")
    assert verdict["decision"] == "allow_with_modification"
    (logged,) = staging.log("signal")
    (change,) = logged["modifications"]
    assert change["files"] == ["a.py"]
    assert change["updated"] == staging.git("rev-parse", "HEAD^{tree}").strip()


def test_a_fix_that_takes_back_all_that_is_staged_makes_no_empty_commit(staging: Gated) -> None:
    head = staging.head()
    staging.write("a.py", LINES.replace("line 3", "line   3"))
    staging.add()
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 1 and "takes back all that is staged: nothing is left to commit" in said.text
    assert staging.head() == head and status(staging) == "M  a.py"


def test_without_stage_the_commit_is_refused_and_the_work_tree_has_the_fix(staging: Gated) -> None:
    trusted(staging, REFUSES)
    staging.write("a.py", LINES + "x   y\n")
    staging.write("b.py", "fine\n")
    staging.add()
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 1
    assert "`sed -i s/  */ /g` changed a.py: look at it, then stage it and commit again" in said.text
    assert "b.py" not in said.text
    assert text(staging, ":a.py") == LINES + "x   y\n"
    assert (staging.root / "a.py").read_text() == LINES + "x y\n"
    staging.add()
    assert staging.say("commit", "-q", "-m", "x") == (0, "")


def test_unstaged_edits_stay_and_are_not_committed(staging: Gated) -> None:
    edited(staging, l3="staged   part")
    staging.add()
    edited(staging, l20="not   staged")
    assert staging.say("commit", "-q", "-m", "x").code == 0
    committed = LINES.replace("line 3\n", "staged part\n")
    assert text(staging, "HEAD:a.py") == committed
    assert (staging.root / "a.py").read_text() == committed.replace("line 20\n", "not   staged\n")
    assert status(staging) == " M a.py"


def test_unstaged_edits_of_the_fixed_line_are_kept_and_told(staging: Gated) -> None:
    edited(staging, l3="staged   part")
    staging.add()
    mine = edited(staging, l3="staged   part, and more")
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 0
    assert "a.py has unstaged edits where it was fixed; the work tree keeps them as they are" in said.text
    assert text(staging, "HEAD:a.py") == LINES.replace("line 3\n", "staged part\n")
    assert (staging.root / "a.py").read_text() == mine


def test_a_file_that_is_gone_or_another_in_the_work_tree_stays_so(staging: Gated) -> None:
    for name in ("gone.py", "linked.py", "folder/in.py"):
        staging.write(name, "x   y\n")
    staging.add()
    (staging.root / "gone.py").unlink()
    (staging.root / "linked.py").unlink()
    (staging.root / "linked.py").symlink_to("README")
    (staging.root / "folder" / "in.py").unlink()
    (staging.root / "folder").rmdir()
    (staging.root / "elsewhere").mkdir()
    (staging.root / "elsewhere" / "in.py").write_text("x   y\n")
    (staging.root / "folder").symlink_to("elsewhere")
    assert staging.say("commit", "-q", "-m", "x").code == 0
    assert [text(staging, f"HEAD:{name}") for name in ("gone.py", "linked.py", "folder/in.py")] == ["x y\n"] * 3
    assert not (staging.root / "gone.py").exists()
    assert (staging.root / "README").read_text() == "text\n"
    assert (staging.root / "elsewhere" / "in.py").read_text() == "x   y\n"


@pytest.mark.parametrize(
    ("options", "left"),
    [(("-a",), ""), (("a.py",), "M  c.py\n?? new.py"), (("-i", "a.py"), "?? new.py"), (("--amend", "-a"), "")],
)
def test_every_form_of_commit_leaves_no_difference_behind(staging: Gated, options: tuple[str, ...], left: str) -> None:
    staging.write("c.py", "c\n")
    staging.add()
    staging.git(*SILENT, "commit", "-q", "-m", "c")
    staging.write("a.py", LINES + "x   y\n")
    staging.write("c.py", "c   d\n")
    staging.add("c.py")
    staging.write("new.py", "n   n\n")
    assert staging.say("commit", "-q", "-m", "x", *options).code == 0
    assert text(staging, "HEAD:a.py") == LINES + "x y\n"
    assert text(staging, "HEAD:c.py") == ("c\n" if options == ("a.py",) else "c d\n")
    assert status(staging) == (left or "?? new.py")
    assert (staging.root / "new.py").read_text() == "n   n\n"
    assert not list((staging.root / ".git").glob("*.lock"))


def test_names_modes_links_and_deletions(staging: Gated, hostile_names: list[str]) -> None:
    names = [name + ".py" for name in hostile_names if len(os.fsencode(name)) < 200]
    for name in ["-i.py", "--expression=d.py", *names]:
        staging.write(name, "x   y\n")
    staging.write("run.py", "x   y\n", mode=0o755)
    (staging.root / "link.py").symlink_to("a   b")
    staging.git("rm", "-q", "--cached", "a.py")
    staging.git("add", "--", ".", ":!a.py")
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 0, said.text
    for name in ["-i.py", "--expression=d.py", "run.py", *names]:
        assert text(staging, f"HEAD:{name}") == "x y\n", name
    assert staging.git("ls-tree", "HEAD", "run.py", "link.py").split()[::4] == ["120000", "100755"]
    assert os.readlink(staging.root / "link.py") == "a   b"
    assert (staging.root / "run.py").stat().st_mode & 0o777 == 0o755
    assert status(staging) == "?? a.py"


def test_filters_and_line_ends_are_git_s(staging: Gated) -> None:
    staging.git("config", "filter.rot.clean", "tr a-y b-z")
    staging.git("config", "filter.rot.smudge", "tr b-z a-y")
    staging.write(".gitattributes", "*.py text eol=crlf\nrot.py filter=rot\n")
    staging.write("ends.py", "x   y\r\n")
    staging.write("bare.py", "x   y\n")  # staged all the same as if it ended lines as the others
    staging.write("rot.py", "a   b\n")
    staging.add()
    assert staging.say("commit", "-q", "-m", "x").code == 0
    assert text(staging, "HEAD:ends.py") == text(staging, "HEAD:bare.py") == "x y\n"
    assert text(staging, "HEAD:rot.py") == "b c\n"
    assert (staging.root / "ends.py").read_bytes() == (staging.root / "bare.py").read_bytes() == b"x y\r\n"
    assert status(staging) == ""


def test_a_fixer_sees_what_is_staged_and_what_git_ignores_but_no_git(staging: Gated) -> None:
    look = (
        "[sh, -c, 'cp conf seen/; cp .gitattributes seen/; ls >seen/ls; cat pack/tool >seen/tool; "
        'echo "$AHP_PROJECT $(env | grep -cE "^GIT_(DIR|WORK|INDEX|PREFIX)")" >seen/env; '
        "git status >seen/git 2>&1; pwd >seen/pwd']"
    )
    staging.write(".git/info/exclude", "/.ahp/\npack/\nseen/\n")
    staging.write("pack/tool", "installed\n")
    staging.write("seen/x")
    staging.write("conf", "staged\n")
    staging.write(".gitattributes", "")
    staging.write("sub/b.py", "x\n")
    staging.add()
    staging.write("conf", "not staged\n")
    staging.write("untracked", "")
    trusted(staging, STAGES, look)
    assert staging.say("commit", "-q", "-m", "x") == (0, "")
    seen = {path.name: path.read_text() for path in (staging.root / "seen").iterdir()}
    assert seen["conf"] == "staged\n"
    assert seen["tool"] == "installed\n"
    assert "untracked" not in seen["ls"] and "sub" in seen["ls"]
    assert seen["env"] == f"{staging.root} 0\n"
    assert "must be run in a work tree" in seen["git"]
    assert seen["pwd"].startswith(f"{staging.root}/.git/")


def test_files_below_a_directory_are_named_from_there(staging: Gated) -> None:
    staging.write("sub/deep/b.py", "x   y\n")
    staging.write("b.py", "x   y\n")
    staging.add()
    trusted(staging, STAGES.replace("stage: true", "stage: true, directory: sub"))
    assert staging.say("commit", "-q", "-m", "x").code == 0
    assert text(staging, "HEAD:sub/deep/b.py") == "x y\n"
    assert text(staging, "HEAD:b.py") == "x   y\n"


def test_what_a_fixer_does_to_other_files_is_not_taken(staging: Gated) -> None:
    staging.write("other.md", "x   y\n")
    staging.write("b.py", "x\n")
    staging.add()
    trusted(staging, STAGES, "[sh, -c, 'sed -i \"s/  */ /g\" *.md *.py; echo new >new.py']")
    assert staging.say("commit", "-q", "-m", "x") == (0, "")
    assert text(staging, "HEAD:other.md") == "x   y\n" == (staging.root / "other.md").read_text()
    assert not (staging.root / "new.py").exists()


@pytest.mark.parametrize(
    ("script", "said", "left"),
    [
        ('echo bad input: "$1" >&2; exit 3', "ended with 3: bad input: b.py", "x   y\n"),
        ('sed -i "s/  */ /g" "$1"; echo rest; exit 1', "ended with 1: rest; ", "x y\n"),
        ('echo gone >"$1"; kill -9 $$', "ended with 137", "x   y\n"),
        ('rm "$1"', "has removed b.py", "x   y\n"),
        ('echo half >"$1"; sleep 60', "did not finish within 1 s", "x   y\n"),
    ],
)
def test_a_fixer_that_fails_refuses(staging: Gated, script: str, said: str, left: str) -> None:
    staging.write("b.py", "x   y\n")
    staging.add()
    staging.write("fix.sh", script)
    trusted(staging, STAGES.replace("stage: true", "stage: true, timeout: 1s"), "[sh, fix.sh]")
    staging.add()
    told = staging.say("commit", "-q", "-m", "x")
    assert told.code == 1
    assert said in told.text
    assert text(staging, ":b.py") == "x   y\n"
    assert (staging.root / "b.py").read_text() == left
    assert status(staging) == ("AM b.py" if left == "x y\n" else "A  b.py") + "\nA  fix.sh"


def test_a_fixer_runs_as_it_is_staged_and_only_as_it_was_accepted(staging: Gated) -> None:
    staging.write("b.py", "x   y\n")
    staging.write("fix.sh", 'sed -i "s/  */ /g" "$@"')
    staging.add()
    trusted(staging, STAGES, "[sh, fix.sh]")
    staging.write("fix.sh", "echo another >ran")
    staging.add("fix.sh")
    staging.write("fix.sh", 'sed -i "s/  */ /g" "$@"')
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 1
    assert "its fixer was not accepted in this clone; a person runs: ahp trust" in said.text
    staging.add("fix.sh")
    assert staging.say("commit", "-q", "-m", "x").code == 0
    assert text(staging, "HEAD:b.py") == "x y\n"


def test_a_fixer_that_nobody_accepted_does_not_run(staging: Gated) -> None:
    trust.forget(str(staging.folder))
    staging.write("b.py", "x   y\n")
    staging.add()
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 1
    assert "its fixer was not accepted in this clone; a person runs: ahp trust" in said.text
    assert (staging.root / "b.py").read_text() == "x   y\n"


def test_files_are_those_of_the_lines_that_match_or_all(staging: Gated) -> None:
    action = f"action: {{type: run, command: {TIDY}, stage: true}}"
    rules = (
        f"  lines: {{at: pre-commit, each: l in diff.added, control: \"'tidy me' in l.text\", {action}}}\n"
        f"  words: {{at: pre-commit, each: w in limits.words, control: files.changed_count == 1, {action}}}\n"
    )
    trusted(staging, f"version: 1\nlimits: {{words: [one]}}\nrules:\n{rules}")
    staging.write("b.txt", "tidy me   now\n")
    staging.write("c.txt", "not   me\n")
    staging.add()
    assert staging.say("commit", "-q", "-m", "x").code == 0
    assert (text(staging, "HEAD:b.txt"), text(staging, "HEAD:c.txt")) == ("tidy me now\n", "not   me\n")
    staging.write("d.txt", "all   of it\n")
    staging.add()
    assert staging.say("commit", "-q", "-m", "x").code == 0
    assert text(staging, "HEAD:d.txt") == "all of it\n"


def test_uninstall_leaves_no_copy_behind(staging: Gated) -> None:
    staging.write("b.py", "x\n")
    staging.add()
    assert staging.say("commit", "-q", "-m", "x") == (0, "")
    assert (staging.root / ".git" / "ahp-fix").is_dir()
    installing.uninstall(staging.repository())
    assert not (staging.root / ".git" / "ahp-fix").exists()


TWO = """\
version: 1
rules:
  one: {at: pre-commit, control: files.changed_count > 0, message: m, action: {type: run, command: FIRST, stage: true}}
  two: {at: pre-commit, control: files.changed_count > 0, message: m, action: {type: run, command: SECOND, stage: true}}
"""


def test_fixers_of_the_same_files_follow_each_other(staging: Gated) -> None:
    two = TWO.replace("FIRST", "[sed, -i, s/a/b/g]").replace("SECOND", "[sed, -i, s/b/c/g]")
    staging.write("b.py", "aaa\n")
    staging.add()
    trusted(staging, two)
    assert staging.say("commit", "-q", "-m", "x").code == 0
    assert text(staging, "HEAD:b.py") == "ccc\n" == (staging.root / "b.py").read_text()


def test_fixers_that_undo_each_other_are_refused_and_change_nothing(staging: Gated) -> None:
    two = TWO.replace("FIRST", "[sed, -i, s/a/b/g]").replace("SECOND", "[sed, -i, s/b/a/g]")
    staging.write("b.py", "a b\n")
    staging.add()
    trusted(staging, two)
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 1
    assert "it still changes something after 3 rounds" in said.text
    assert text(staging, ":b.py") == "a b\n" == (staging.root / "b.py").read_text()


def test_many_files_take_several_commands(staging: Gated) -> None:
    names = [f"{'long' * 40}/{'name' * 40}{number}.py" for number in range(700)]
    for name in names:
        staging.write(name, "x   y\n")
    staging.add()
    assert staging.say("commit", "-q", "-m", "x").code == 0
    assert {text(staging, f"HEAD:{name}") for name in names[::50]} == {"x y\n"}
    assert status(staging) == ""


def test_what_was_fixed_is_judged_again(staging: Gated) -> None:
    rule = "  no-secret: {at: pre-commit, each: l in diff.added, block: \"'x y' in l.text\", message: secret}\n"
    trusted(staging, STAGES + rule)
    staging.write("a.py", LINES + "x   y\n")
    staging.add()
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 1
    assert "refused by no-secret" in said.text
    assert text(staging, ":a.py") == LINES + "x   y\n" == (staging.root / "a.py").read_text()


MESSAGES = STAGES + "  subject: {at: commit-msg, block: commit.subject == 'no', message: say more}\n"


def test_rules_for_messages_do_not_keep_a_fixer_from_staging(staging: Gated) -> None:
    trusted(staging, MESSAGES)
    for number in range(3):
        staging.write("a.py", LINES + f"x   {number}\n")
        staging.add()
        assert staging.say("commit", "-q", "-m", "yes").code == 0
        assert text(staging, "HEAD:a.py") == LINES + f"x {number}\n"
        assert status(staging) == ""


def test_where_git_has_written_the_tree_already_the_commit_is_refused(staging: Gated) -> None:
    """The first commit after a policy came that stages, when the one before left its work to commit-msg."""
    staging.policy("version: 1\nrules:\n  subject: {at: commit-msg, block: commit.subject == 'no'}\n")
    staging.write("x")
    staging.add()
    assert staging.say("commit", "-q", "-m", "yes").code == 0
    trusted(staging, MESSAGES)
    staging.write("a.py", LINES + "x   y\n")
    staging.add()
    said = staging.say("commit", "-q", "-m", "yes")
    assert said.code == 1
    assert "changed a.py: look at it, then stage it" in said.text
    assert text(staging, ":a.py") == LINES + "x   y\n"
    staging.add()
    assert staging.say("commit", "-q", "-m", "yes") == (0, "")


def test_a_merge_is_refused_and_concluded_by_a_commit(staging: Gated) -> None:
    staging.git("checkout", "-q", "-b", "topic")
    staging.write("b.py", "x   y\n")
    staging.add()
    staging.git(*SILENT, "commit", "-q", "-m", "b")
    staging.git("checkout", "-q", "main")
    staging.write("other")
    staging.add()
    staging.git(*SILENT, "commit", "-q", "-m", "other")
    said = staging.say("merge", "-q", "--no-edit", "topic")
    assert said.code == 1
    assert "changed b.py: look at it, then stage it" in said.text
    assert staging.say("commit", "-q", "--no-edit").code == 0
    assert text(staging, "HEAD:b.py") == "x y\n"
    assert status(staging) == ""
    assert len(staging.git("rev-parse", "HEAD^@").split()) == 2


def test_a_person_may_skip_it(staging: Gated, person: list[str]) -> None:
    trusted(staging, REFUSES)
    done = staging.run("ahp", "skip", "tidy", "--reason", "later")
    if done.returncode:  # it asks at a terminal
        from tests.attended import attended

        code, said = attended(["ahp", "skip", "tidy", "--reason", "later"], staging.root)
        assert code == 0, said
    staging.write("a.py", LINES + "x   y\n")
    staging.add()
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 0, said.text
    assert "tidy is skipped" in said.text
    assert text(staging, "HEAD:a.py") == LINES + "x   y\n"
    assert "Ahp-Override: tidy" in staging.git("log", "-1", "--format=%B")


def test_it_does_not_climb(staging: Gated) -> None:
    trusted(staging, "escalation: {ladder: [prompt, control, block]}\n" + STAGES)
    for number in range(4):
        staging.write("a.py", LINES + f"x   {number}\n")
        staging.add()
        assert staging.say("commit", "-q", "-m", "x").code == 0


def test_a_dry_run_says_what_would_happen_and_changes_nothing(staging: Gated) -> None:
    staging.write("a.py", LINES + "x   y\n")
    staging.add()
    done = staging.run("ahp", "check", "pre-commit")
    assert done.returncode == 0
    assert b"staged as fixed: a.py" in done.stderr + done.stdout
    assert text(staging, ":a.py") == LINES + "x   y\n" == (staging.root / "a.py").read_text()
    trusted(staging, REFUSES)
    done = staging.run("ahp", "check", "pre-commit")
    assert done.returncode == 1
    assert b"would change a.py" in done.stderr + done.stdout
    assert (staging.root / "a.py").read_text() == LINES + "x   y\n"
    done = staging.run("ahp", "run", "pre-commit")
    assert done.returncode == 1
    assert (staging.root / "a.py").read_text() == LINES + "x   y\n"


def test_a_push_does_not_run_it(staging: Gated, tmp_path: Path) -> None:
    staging.git("init", "-q", "--bare", str(tmp_path / "there.git"))
    staging.git("remote", "add", "origin", str(tmp_path / "there.git"))
    staging.write("a.py", LINES + "x   y\n")
    staging.add()
    staging.git(*SILENT, "commit", "-q", "-m", "x")
    said = staging.say("push", "-q", "origin", "main")
    assert said.code == 0
    assert "tidy" not in said.text


def test_the_first_commit_of_a_repository_and_a_linked_work_tree(tmp_path: Path) -> None:
    made = Gated(tmp_path / "repo")
    made.root.mkdir()
    made.git("init", "-q", "--object-format=sha256")
    made.write(".git/info/exclude", "/.ahp/\n")
    installing.install(made.repository(), "")
    trusted(made, STAGES)
    made.write("a.py", "x   y\n")
    made.add()
    assert made.say("commit", "-q", "-m", "x").code == 0
    assert text(made, "HEAD:a.py") == "x y\n"
    made.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Gated(tmp_path / "linked")
    (linked.root / ".ahp").mkdir()
    (linked.root / ".ahp" / "hooks.yaml").write_bytes((made.root / ".ahp" / "hooks.yaml").read_bytes())
    linked.write("a.py", "x   z\n")
    assert linked.run("git", "commit", "-qam", "x").returncode == 0
    assert text(linked, "HEAD:a.py") == "x z\n" == (linked.root / "a.py").read_text()
    assert status(linked) == ""


def test_an_index_that_another_git_holds_is_not_changed(staging: Gated) -> None:
    staging.write("a.py", LINES + "x   y\n")
    staging.add()
    trusted(staging, STAGES, '[sh, -c, \'touch "$AHP_PROJECT/.git/index.lock"; sed -i "s/  */ /g" a.py\']')
    said = staging.say("commit", "-q", "-m", "x")
    assert said.code == 1
    assert "the index was changed or locked by another git command; commit again" in said.text
    (staging.root / ".git" / "index.lock").unlink()
    assert text(staging, ":a.py") == LINES + "x   y\n" == (staging.root / "a.py").read_text()


def kill_at(gated: Gated, when: float, whom: int) -> bool:
    """Commits, and kills python, the shim or git after a time, or all of them; whether git was among them."""
    git = subprocess.Popen(["git", "commit", "-qm", "killed"], cwd=gated.root, stderr=subprocess.DEVNULL)
    until = time.monotonic() + when
    while time.monotonic() < until and git.poll() is None:
        time.sleep(0.001)
    line = [git.pid]
    while children := _children(line[-1]):
        line.append(children[-1])
    killed = line if whom == 3 else [line[min(whom, len(line) - 1)]]
    for pid in killed:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    git.wait()
    for pid in line[1:]:  # what was left goes on for a moment
        while _is_running(pid):
            time.sleep(0.005)
    return git.pid in killed


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 60), marks=pytest.mark.slow)])
def test_a_kill_at_any_moment_leaves_all_as_before_or_as_after(staging: Gated, seeds: range) -> None:
    trusted(staging, STAGES, '[sh, -c, \'sed -i "s/  */ /g" "$@"; sleep 0.05\', sh]')
    names = [f"f{number}.py" for number in range(12)]
    head = staging.head()
    outcomes = []
    for seed in seeds:
        chance = random.Random(seed)
        for name in names:
            staging.write(name, LINES + "x   y\n")
        staging.add()
        staging.write("f3.py", LINES.replace("line 2\n", "not   staged\n") + "x   y\n")
        git_too = kill_at(staging, chance.uniform(0.0, 0.5), chance.randrange(4))
        lock = staging.root / ".git" / "index.lock"
        if lock.exists():  # git itself leaves a new file when it is killed while it writes; ahp's has a second link
            assert git_too and lock.stat().st_nlink == 1, seed
            lock.unlink()
        for left in ("HEAD.lock", "refs/heads/main.lock"):  # only git makes these
            if (lock := staging.root / ".git" / left).exists():
                assert git_too, seed
                lock.unlink()
        index = {text(staging, f":{name}") for name in names}
        files = {name: (staging.root / name).read_text().replace("not   staged", "line 2") for name in names}
        assert len(index) == 1 and set(files.values()) == index, seed
        outcomes.append((index == {LINES + "x y\n"}, staging.head() != head))
        staging.git("reset", "-q", "--hard", head)
    assert (False, True) not in outcomes
