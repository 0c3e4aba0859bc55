"""Commits and pushes of a shell call are judged by git's hooks; where those are not reached, before the call runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.hosts.git import install
from tests.agents.conftest import Ask, Call, found
from tests.conftest import Repo

POLICY = """
rules:
  no-key:
    at: pre-commit
    each: l in diff.added
    block: contains(l.text, 'KEY')
    finding: {file: l.path}
    message: key
  big: {at: pre-merge-commit, block: "'big.py' in files.changed", message: too big to merge}
  subject: {at: commit-msg, block: "not commit.subject.startswith('fix: ')", message: no type}
  shout:
    at: commit-msg
    control: commit.subject.endswith('!')
    message: calm
    action: {type: set, target: commit.message, value: "fix: calm"}
  main: {at: pre-push, block: branch.is_default and not push.is_new, message: main is pushed to by review}
  range: {at: pre-push, prompt: files.changed_count > 1, message: many files}
"""
QUIET, UNJUDGED = (0, None, ""), "ahp: nothing judges this "


@pytest.fixture
def work(project: Repo, tmp_path: Path) -> Repo:
    """A project with a remote, rules for commits and pushes, and no hooks of git."""
    project.git("init", "--quiet", "--bare", str(tmp_path / "there"))
    project.git("remote", "add", "origin", str(tmp_path / "there"))
    project.commit("policy", **{".ahp/hooks.yaml": POLICY, "a.py": "x = 1\n", "b.py": "y = 1\n"})
    project.git("push", "--quiet", "--set-upstream", "origin", "HEAD")
    return project


def test_where_git_comes_to_ahp_nothing_is_asked_here(work: Repo, ask: Ask, call: Call) -> None:
    install.install(found(work), "")
    work.write("a.py", "KEY\n")
    work.git("add", "a.py")
    for command in ("git commit -m x", "git push", "git status", "git -C /nowhere commit -m x"):
        assert ask(call("Bash", command=command)) == QUIET, command
    work.git("config", "core.hooksPath", "elsewhere")
    assert "no-key" in ask(call("Bash", command="git commit -m x")).text


def test_what_switches_the_hooks_off_is_named(work: Repo, ask: Ask, call: Call) -> None:
    install.install(found(work), "")
    said = ask(call("Bash", command="EDITOR=vi HUSKY=0 git commit --patch -m 'fix: a'")).text
    assert f"{UNJUDGED}commit: its HUSKY switches the hooks off, and " in said


def test_what_a_commit_would_hold_is_judged_before_it_is_made(work: Repo, ask: Ask, call: Call) -> None:
    """Staged, staged by the same call, all tracked files, or files that it names; the index stays as it is."""
    work.write("a.py", "KEY\n")
    work.write("new.py", "KEY\n")
    work.write("sub/c.py", "z = 1\n")
    before = work.git("diff", "--cached", "--name-only")
    refused = {
        "git add a.py && git commit -m 'fix: a'": "a.py",
        "git add -A; git commit -m 'fix: a'": "a.py, new.py",
        "git commit -am 'fix: a'": "a.py",
        "git commit -m 'fix: a' a.py": "a.py",
        "cd sub && git add ../new.py && git commit -m 'fix: a'": "new.py",
        "git commit --no-verify -am 'fix: a'": "a.py",
    }
    for command, places in refused.items():
        said = ask(call("Bash", command=command))
        assert said.code == 2 and said.text.startswith("ahp blocked: no-key"), command
        assert f"Why: key at {places}\n" in said.text, command
    for command in ("git commit -m 'fix: a'", "git commit -m 'fix: a' b.py", "git add sub && git commit -m 'fix: s'"):
        assert ask(call("Bash", command=command)) == QUIET, command
    assert work.git("diff", "--cached", "--name-only") == before
    assert not [path for path in (work.root / ".git").iterdir() if path.name.startswith("ahp-index")]


def test_a_merge_that_it_would_conclude_is_asked_the_rules_of_merges_too(work: Repo, ask: Ask, call: Call) -> None:
    work.git("checkout", "-q", "-b", "side")
    work.commit("fix: side", **{"big.py": "1\n"})
    work.git("checkout", "-q", "-")
    work.git("merge", "-q", "--no-ff", "--no-commit", "side")
    assert ask(call("Bash", command="git commit -m 'fix: both'")).text.startswith("ahp blocked: big")


def test_its_message_is_judged_where_it_is_written_out(work: Repo, ask: Ask, call: Call) -> None:
    work.write("m.txt", "no type\n")
    for command in (
        "git commit -m first -m body",
        "git commit -F m.txt",
        "git commit -F - <<'E'\nfirst\nE",
        "git commit -m \"$(cat <<'E'\nfirst\n\nbody\nE\n)\"",
    ):
        assert "ahp blocked: subject" in ask(call("Bash", command=command)).text, command
    assert ask(call("Bash", command="git commit -m 'fix: a' --no-verify")) == QUIET
    said = ask(call("Bash", command="git commit -m 'fix: a!'"))
    assert said.code == 2 and "calm" in said.text  # a shell's call is not rewritten, so it says what to change
    assert "leave that out" in ask(call("Bash", command="git commit --no-verify")).text
    for command in ("git commit", 'git commit -m "$M"', "git commit --fixup HEAD", "git commit -F nowhere"):
        said = ask(call("Bash", command=command))
        assert said.code == 0 and UNJUDGED in said.text and "its message is known only" in said.text, command


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("sed -i s/x/KEY/ a.py && git commit -am 'fix: a'", "sed before it may change what is committed"),
        ("$TOOL && git commit -am 'fix: a'", "a command before it may change what is committed"),
        ("git stash pop && git commit -am 'fix: a'", "git stash before it may change"),
        ("git add *.py && git commit -m 'fix: a'", "git add before it may change"),
        ("git commit --patch -m 'fix: a'", "what --patch commits is known only when it runs"),
        ("git commit -m 'fix: a' $FILES", "what it commits is known only when it runs"),
        ("git add nowhere && git commit -m 'fix: a'", "what it commits cannot be told (git add failed"),
        ("git push --all", "what --all pushes is known only when it runs"),
        ("git push origin $B", "what it pushes is known only when it runs"),
        ("git commit -qm 'fix: a' && git push", "git commit before it may change what is pushed"),
        ("git push origin HEAD~1:refs/heads/x 'refs/heads/*:refs/heads/*'", "which refs it pushes"),
        ("git push origin -- --git-dir", "which refs it pushes"),
    ],
)
def test_what_is_not_known_before_it_runs_is_said_to_be_unjudged(
    work: Repo, ask: Ask, call: Call, command: str, why: str
) -> None:
    said = ask(call("Bash", command=command))
    assert said.code == 0 and UNJUDGED in said.text and why in said.text and "ahp install git" in said.text, said.text


def test_a_push_is_judged_by_what_the_remote_was_last_known_to_have(work: Repo, ask: Ask, call: Call) -> None:
    work.commit("fix: more", **{"a.py": "x = 2\n", "b.py": "y = 2\n"})
    for command in ("git push", "git push origin HEAD", "git push --no-verify -u origin HEAD:main"):
        said = ask(call("Bash", command=command))
        assert said.code == 2 and "ahp blocked: main" in said.text, command
    said = ask(call("Bash", command="git push origin HEAD:refs/heads/topic"))
    assert said.code == 0 and "many files" in said.text
    work.commit("untyped", **{"a.py": "KEY\n"})
    said = ask(call("Bash", command="git push origin +HEAD:topic"))
    assert said.code == 2 and "no-key" in said.text
    assert ask(call("Bash", command="git push --dry-run")) == QUIET
    assert ask(call("Bash", command="git push origin :topic")) == QUIET


def test_an_alias_is_what_it_stands_for(work: Repo, ask: Ask, call: Call) -> None:
    install.install(found(work), "")
    work.git("config", "alias.ci", "commit --no-verify")
    work.git("config", "alias.quick", "!git add -A && git ci -m")
    work.write("a.py", "KEY\n")
    assert "no-key" in ask(call("Bash", command="git ci -am 'fix: a'")).text
    assert "no-key" in ask(call("Bash", command="git quick 'fix: a'")).text
    assert ask(call("Bash", command="git lol")) == QUIET


def test_other_repositories_and_policies_without_such_rules_say_nothing(work: Repo, ask: Ask, call: Call) -> None:
    inner = Repo(work.root / "inner")
    inner.root.mkdir()
    inner.git("init", "--quiet")
    for command in ("git -C inner commit -m x", "git -C /tmp commit -m x", 'git -C "$D" commit -m x'):
        assert ask(call("Bash", command=command)) == QUIET, command
    work.commit("quiet", **{".ahp/hooks.yaml": "rules: {t: {at: pre-tool-use, block: tool.name == 'fetch'}}\n"})
    assert ask(call("Bash", command="git commit -m x")) == QUIET
