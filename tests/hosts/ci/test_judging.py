"""`ahp ci` on real repositories: what the target's policy says to a change that its author made as they liked."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ahp.cli import main
from ahp.gate import asked
from ahp.gate.hearing import Hearing
from tests.conftest import Repo

POLICY = """
version: 1
software_keys: true
authority: [release/*]
rules:
  no-todo:
    at: pre-commit
    each: l in diff.added
    block: contains(l.text, 'TODO')
    finding: {file: l.path, line: l.line}
    message: a TODO was added
  subject:
    at: commit-msg
    block: len(commit.subject) < 5
  size: {at: pre-push, prompt: files.changed_count > 2, message: "{files.changed_count} files"}
  weaker: {at: [pre-commit, pre-merge-commit], block: policy.weakened, message: the policy gets weaker, locked: true}
  here-only: {at: pre-push, block: files.changed_count > 0, ci: skip}
  once: {at: pre-commit, block: files.changed_count > 3, ci: range, message: more than three}
  kept: {at: pre-push, block: push.is_force, message: commits are lost}
  sent: {at: pre-push, on_missing: block, block: tests.failed_count > 0}
"""
NO_TODO = POLICY.replace("contains(l.text, 'TODO')", "contains(l.text, 'FIXME')")
CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE", "TF_BUILD", "GITHUB_STEP_SUMMARY")


@pytest.fixture
def up(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """The repository that changes go to; main has a policy."""
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    repo.commit("chore: start", **{".ahp/hooks.yaml": POLICY, "a.txt": "a\n"})
    return repo


@pytest.fixture
def work(up: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A clone on a branch of its own, and the folder of the test."""
    return clone(up, tmp_path / "work", monkeypatch)


def clone(up: Repo, folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Repo:
    up.git("clone", "-q", *options, f"file://{up.root}", str(folder))
    made = Repo(folder)
    monkeypatch.chdir(folder)
    if "--bare" not in options:
        made.git("checkout", "-q", "-b", "topic")
    return made


def ci(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main.run(["ci", *arguments])
    said = capsys.readouterr()
    return code, said.out + said.err


def test_a_clean_range_says_only_what_was_judged(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    start = work.git("rev-parse", "main")
    head = work.commit("feat: more", **{"b.txt": "b\n"})
    code, said = ci(capsys)
    assert (code, said.splitlines()[-1]) == (
        0,
        f"ahp: 1 commit after {start[:10]} up to {head[:10]}, bound for main, by the policy of main ({start[:10]})",
    )
    assert "sent is not decidable here" in said
    assert not (work.root / ".git" / "ahp").exists()


def test_what_a_later_commit_took_away_is_found(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    bad = work.commit("feat: a", **{"b.txt": "TODO\n"})
    work.commit("feat: b", **{"b.txt": "done\n"})
    work.commit("x", **{"c.txt": "c\n"})
    code, said = ci(capsys)
    assert code == 1
    assert f"  b.txt:1: commit {bad[:10]}" in said.splitlines()
    assert "refused by subject" in said


def test_the_range_is_asked_as_a_whole_and_a_rule_for_the_work_place_is_not(
    work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "bcde":
        work.commit(f"feat: {name}", **{f"{name}.txt": "1\n"})
    code, said = ci(capsys)
    assert code == 1
    assert "warned by size\n  4 files" in said
    assert "refused by once\n  more than three" in said
    assert "here-only" not in said


def test_a_change_does_not_weaken_what_judges_it(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    work.commit("feat: weaker", **{".ahp/hooks.yaml": NO_TODO})
    work.commit("feat: use it", **{"b.txt": "TODO\n"})
    code, said = ci(capsys)
    assert code == 1 and "refused by no-todo" in said and "refused by weaker" in said
    code, said = ci(capsys, "--without", "policy")
    assert code == 1 and "no-todo" in said and "weaker" not in said
    code, said = ci(capsys, "--only", "policy")
    assert code == 1 and "no-todo" not in said and "refused by weaker" in said
    assert ci(capsys, "--only", "policy", "--without", "policy")[0] == 2


def test_a_change_may_add_rules_that_judge_it(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    added = POLICY + "  mine: {at: pre-commit, block: \"any(glob(f, '*.key') for f in files.changed)\"}\n"
    work.commit("feat: stricter", **{".ahp/hooks.yaml": added})
    work.commit("feat: a key", **{"x.key": "k\n"})
    code, said = ci(capsys)
    assert code == 1 and "refused by mine" in said


def test_without_a_policy_where_it_goes_the_one_that_is_brought_judges(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    repo.commit("chore: start", **{"a.txt": "a\n"})
    work = clone(repo, tmp_path / "work", monkeypatch)
    work.commit("feat: policy", **{".ahp/hooks.yaml": POLICY})
    code, said = ci(capsys)
    assert (code, "there is no policy yet" in said) == (0, True), said
    work.commit("feat: todo", **{"b.txt": "TODO\n"})
    code, said = ci(capsys)
    assert code == 1 and "there is no policy yet" in said


def test_a_broken_policy_is_no_leave_and_can_be_mended(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    repo.commit("chore: start", **{".ahp/hooks.yaml": "rules: {a: {at: pre-commit, blok: x}}\n"})
    work = clone(repo, tmp_path / "work", monkeypatch)
    work.commit("feat: todo", **{"b.txt": "TODO\n"})
    code, said = ci(capsys)
    assert code == 2 and "the policy of main does not load (.ahp/hooks.yaml:1:29: unknown key `blok`" in said
    assert "a change with a policy that loads fixes this" in said
    mended = "version: 1\nrules: {no-keys: {at: pre-commit, block: \"'x.key' in files.added\"}}\n"
    work.commit("feat: mended", **{".ahp/hooks.yaml": mended})
    code, said = ci(capsys)
    assert code == 0, said
    assert "does not load" in said and "the rules that it brings itself are asked" in said
    work.commit("feat: a key", **{"x.key": "k\n"})
    assert ci(capsys)[0] == 1


def test_what_mends_a_broken_policy_is_held_against_the_one_that_judges_meanwhile(
    up: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    up.commit("chore: broken", **{".ahp/hooks.yaml": POLICY + "  more: [\n"})
    work = clone(up, tmp_path / "work", monkeypatch)
    for text, code, told in (
        (POLICY, 0, "judges until it is fixed"),
        (POLICY + "  more: {at: pre-commit, block: \"'x' in files.added\"}\n", 0, "judges until it is fixed"),
        (NO_TODO, 1, "the policy gets weaker"),
        (POLICY + "  more: {\n", 1, "the policy gets weaker"),
    ):
        work.git("reset", "-q", "--hard", "origin/main")
        work.commit("fix: the policy", **{".ahp/hooks.yaml": text})
        found, said = ci(capsys)
        assert found == code and told in said, (text, said)


def test_the_targets_own_policy_judges_where_authority_says_so(
    up: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for branch in ("release/1", "other"):
        up.git("checkout", "-q", "-b", branch, "main")
        up.commit("feat: fewer rules", **{".ahp/hooks.yaml": NO_TODO})
    up.git("checkout", "-q", "main")
    work = clone(up, tmp_path / "work", monkeypatch)
    for branch, expected in (("release/1", 0), ("other", 1)):
        work.git("checkout", "-q", "-B", "topic", f"origin/{branch}")
        work.commit("feat: todo", **{"b.txt": "TODO\n"})
        assert ci(capsys, "--target", branch, "--without", "policy")[0] == expected, branch


def test_authority_names_whole_branches(
    up: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    up.commit("chore: stable, too", **{".ahp/hooks.yaml": POLICY.replace("release/*", "release/*, stable, main")})
    main = up.git("rev-parse", "main")
    up.git("branch", "stable")
    up.git("checkout", "-q", "-b", "ann/stable")
    up.commit("feat: fewer rules", **{".ahp/hooks.yaml": NO_TODO})
    up.git("checkout", "-q", "main")
    work = clone(up, tmp_path / "work", monkeypatch)
    head = work.commit("feat: todo", **{"b.txt": "TODO\n"})
    assert "by the policy of main" in ci(capsys, "--target", "ann/stable")[1]
    assert "by the policy of stable" in ci(capsys, "--target", "stable")[1]
    for branch in ("ann/main", "ann/release/1", "refs/heads/main", "refs/heads/stable"):
        event = {"ref": f"refs/heads/{branch}", "before": main, "after": head, "repository": {"default_branch": "main"}}
        github(tmp_path, monkeypatch, "push", event)
        code, said = ci(capsys)
        assert code == 1 and "merged already" not in said, (branch, said)


def test_a_branch_called_main_in_the_clone_is_not_the_target(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    work.commit("feat: todo", **{"b.txt": "TODO\n"})
    work.git("branch", "-f", "main", "topic")
    assert ci(capsys)[0] == 1
    work.git("checkout", "-q", "main")
    assert ci(capsys)[0] == 1


@pytest.mark.parametrize(("name", "code"), [("UTF-7", 2), ("UTF-16", 2), ("IBM037", 2), ("ISO-8859-1", 1), ("GBK", 1)])
def test_a_commit_does_not_hide_its_message_behind_an_encoding(
    work: Repo, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    """In UTF-7 `+AAoACg-` is two line ends and `+AAA-` a NUL: git shows another, longer message, or none of it."""
    who = b"Eve <eve@example.org> 1700000000 -0100"
    parts = [f"tree {work.git('rev-parse', 'HEAD^{tree}')}\nparent {work.head()}\n".encode()]
    parts.append(b"author %s\ncommitter %s\nx +AAoACg-feat: all is well+AAA-\n" % (who, who))
    parts.append(b"encoding %s\n\nx\n" % name.encode())
    made = work.run("git", "hash-object", "-t", "commit", "-w", "--stdin", stdin=b"".join(parts)).stdout.decode()
    found, said = ci(capsys, "--to", made.strip())
    assert found == code and (f"it says that its message is in {name}" in said) is (code == 2), said
    assert ("refused by subject" in said) is (code == 1), said


def test_a_replaced_object_is_not_believed(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    work.commit("feat: weaker", **{".ahp/hooks.yaml": NO_TODO})
    bad = work.commit("feat: todo", **{"b.txt": "TODO\n"})
    work.git("checkout", "-q", "--detach", "HEAD~1")
    good = work.commit("feat: fine", **{"b.txt": "fine\n"})
    work.git("checkout", "-q", "topic")
    work.git("replace", bad, good)
    work.git("replace", work.git("rev-parse", "origin/main"), work.git("rev-parse", "HEAD~1"))
    code, said = ci(capsys)
    assert code == 1 and "refused by no-todo" in said


def test_no_program_that_the_clone_names_is_started(
    work: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\n')
    program.chmod(0o755)
    bad = work.commit("feat: todo", **{"b.txt": "TODO\n", ".gitattributes": "* diff=own filter=own\n"})
    for key in (
        *("core.fsmonitor", "core.sshCommand", "core.pager", "core.alternateRefsCommand", "credential.helper"),
        *("diff.external", "diff.own.command", "diff.own.textconv", "filter.own.smudge", "gpg.program"),
    ):
        work.git("config", key, str(program))
    work.git("config", "log.showSignature", "true")
    code, said = ci(capsys)
    assert code == 1 and f"b.txt:1: commit {bad[:10]}" in said
    assert not ran.exists(), ran.read_text()


def test_a_bare_clone_is_judged_without_a_checkout(
    up: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    up.git("checkout", "-q", "-b", "topic")
    up.commit("feat: todo", **{"b.txt": "TODO\n"})
    up.git("checkout", "-q", "main")
    clone(up, tmp_path / "bare", monkeypatch, "--bare")
    code, said = ci(capsys, "--to", "topic", "--target", "main")
    assert code == 1 and "b.txt:1" in said
    assert ci(capsys, "--to", "main")[0] == 0


def test_what_cannot_be_judged_ends_with_two_and_the_line_that_mends_it(
    up: Repo, work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    up.commit("feat: later", **{"z.txt": "z\n"})
    work.commit("feat: more", **{"b.txt": "b\n"})
    for arguments, told in [
        (("--target", "gone"), "fix: git fetch origin +refs/heads/gone:refs/remotes/origin/gone"),
        (("--target", "--upload-pack=x"), "--target is the name of a branch"),
        (("--target", ""), "--target is the name of a branch, not ''"),
        (("--target", "HEAD"), "--target is the name of a branch, not 'HEAD'"),
        (("--to", ""), "an empty name is no commit of this clone"),
        (("--to", "f" * 40), "is no commit of this clone; fix: git fetch origin ffff"),
        (("--to", "$(id)"), "$(id) is no commit of this clone; fix: git fetch origin '$(id)'"),
        (("--target", "a;id"), "fix: git fetch origin '+refs/heads/a;id:refs/remotes/origin/a;id'"),
        (("--to", "main..topic"), "main..topic is no commit of this clone\n"),
        (("--to", "^main"), "^main is no commit of this clone\n"),
        (("--from", "topic", "--to", "main"), "--from topic is no ancestor of what is judged"),
    ]:
        code, said = ci(capsys, *arguments)
        assert (code, told in said) == (2, True), said
    work.git("checkout", "-q", "--orphan", "unrelated")
    work.commit("feat: unrelated")
    code, said = ci(capsys)
    assert code == 2 and "the two have no commit in common" in said
    shallow = clone(up, tmp_path / "shallow", monkeypatch, "--depth=1", "--no-single-branch")
    shallow.git("fetch", "-q", "--depth=1", "origin", "main")
    shallow.commit("feat: more", **{"b.txt": "b\n"})
    assert ci(capsys)[0] == 0
    code, said = ci(capsys, "--to", "f" * 40)  # one line for all that a shallow clone lacks
    assert f"fix: git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*' {'f' * 40}" in said
    up.git("checkout", "-q", "-b", "side", "HEAD~1")
    up.commit("feat: side", **{"s.txt": "s\n"})
    shallow.git("fetch", "-q", "--depth=1", "origin", "side")
    code, said = ci(capsys, "--to", "FETCH_HEAD")
    assert code == 2 and "fix: git fetch --unshallow" in said


def test_an_empty_range_is_told(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ci(capsys)
    assert code == 0 and "nothing to judge" in said


def test_a_policy_for_another_ahp_is_not_replaced_by_an_older_one(
    up: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    up.commit("chore: newer", **{".ahp/hooks.yaml": f'requires: ">=99"\n{POLICY}'})
    work = clone(up, tmp_path / "work", monkeypatch)
    work.commit("feat: more", **{"b.txt": "b\n"})
    code, said = ci(capsys)
    assert code == 2 and "this policy needs ahp >=99" in said


def test_an_older_policy_takes_no_place_of_one_that_is_not_in_the_clone(
    up: Repo, work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    """A partial clone has the policy that was checked out, as of where a change left its target long ago."""
    up.commit(
        "chore: stricter", **{".ahp/hooks.yaml": f"extends: [more.yaml]\n{POLICY}", ".ahp/more.yaml": "version: 1\n"}
    )
    work.git("fetch", "-q", "origin")
    work.commit("feat: fine", **{"b.txt": "b\n"})
    assert ci(capsys)[0] == 0
    for path in ("more.yaml", "hooks.yaml"):
        oid = work.git("rev-parse", f"origin/main:.ahp/{path}")
        (work.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
        code, said = ci(capsys)
        assert code == 2 and f"the object {oid[:12]} of .ahp/{path} is missing here" in said
        assert "fix: git fetch --refetch --no-filter" in said


def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, event: dict[str, object]) -> Path:
    """The environment of a step of GitHub Actions; the file of its summary."""
    path, summary = tmp_path / "event.json", tmp_path / "summary.md"
    path.write_text(json.dumps(event), encoding="utf-8")
    for variable, value in {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": name,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_STEP_SUMMARY": str(summary),
    }.items():
        monkeypatch.setenv(variable, value)
    return summary


def test_a_pull_request_of_github(
    work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head = work.commit("feat: todo", **{"b.txt": "TODO\n"})
    work.git("checkout", "-q", "--detach", "origin/main")
    event = {
        "pull_request": {"head": {"sha": head, "ref": "topic"}, "base": {"ref": "main"}},
        "repository": {"default_branch": "main"},
        "sender": {"login": "ann"},
    }
    summary = github(tmp_path, monkeypatch, "pull_request_target", event)
    code, said = ci(capsys, "--output", f"sarif={tmp_path / 'out.sarif'}", "--output", f"junit={tmp_path / 'out.xml'}")
    assert code == 1
    assert said.startswith("::error file=b.txt,line=1,title=ahp%3A no-todo::a TODO was added")
    assert "refused" in summary.read_text("utf-8") and "a TODO was added" in summary.read_text("utf-8")
    (run,) = json.loads((tmp_path / "out.sarif").read_text("utf-8"))["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert {"no-todo", "size", "once", "subject"} <= set(rules) and "here-only" not in rules
    assert (tmp_path / "out.xml").exists()


def test_a_platform_that_says_nothing_sure_is_told_in_every_format(
    work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = github(tmp_path, monkeypatch, "pull_request", {"pull_request": None})
    code, said = ci(capsys, "--output", f"junit={tmp_path / 'out.xml'}")
    assert code == 2 and said.startswith("::error title=ahp%3A not judged::the event file of GitHub Actions has no ")
    assert "not judged" in summary.read_text("utf-8") and "the event file" in (tmp_path / "out.xml").read_text("utf-8")


def test_what_was_pushed_to_main_is_told_and_not_refused(
    up: Repo, work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = work.git("rev-parse", "origin/main")
    after = work.commit("feat: weaker", **{".ahp/hooks.yaml": NO_TODO, "b.txt": "TODO\n"})
    up.git("config", "receive.denyCurrentBranch", "ignore")
    work.git("push", "-q", "origin", "topic:main")
    event = {"ref": "refs/heads/main", "before": before, "after": after, "repository": {"default_branch": "main"}}
    github(tmp_path, monkeypatch, "push", event)
    code, said = ci(capsys)
    assert code == 0 and "::error" in said and "no-todo" in said and "this is merged already" in said
    event["before"], event["after"] = after, before
    github(tmp_path, monkeypatch, "push", event)
    code, said = ci(capsys)
    assert code == 0 and "commits are lost" in said and "brings no commit to main, by the policy of main" in said
    event.update(ref="refs/tags/v1", before="0" * 40, after=after)  # a new tag loses none
    github(tmp_path, monkeypatch, "push", event)
    assert "commits are lost" not in ci(capsys)[1]
    event["ref"] = "refs/heads/topic"
    event["before"] = "0" * 40
    work.git("update-ref", "refs/remotes/origin/main", before)
    github(tmp_path, monkeypatch, "push", event)
    assert ci(capsys)[0] == 1
    event["ref"], event["before"] = "refs/heads/main", "1" * 40
    github(tmp_path, monkeypatch, "push", event)
    code, said = ci(capsys)
    assert code == 2 and "what refs/heads/main had, 1111111111111111111111111111111111111111, is not in this" in said


def test_a_run_that_somebody_starts_judges_what_its_branch_would_bring(
    up: Repo, work: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work.commit("feat: todo", **{"b.txt": "TODO\n"})
    work.git("push", "-q", "origin", "topic")
    told = {"GITLAB_CI": "true", "CI_DEFAULT_BRANCH": "main", "CI_PIPELINE_SOURCE": "web"}
    for branch, code in (("topic", 1), ("main", 0)):
        commit = work.git("rev-parse", f"origin/{branch}")
        for variable, value in {**told, "CI_COMMIT_BRANCH": branch, "CI_COMMIT_SHA": commit}.items():
            monkeypatch.setenv(variable, value)
        assert ci(capsys)[0] == code, branch


def test_a_push_whose_beginning_the_platform_does_not_say_is_the_last_step(
    up: Repo, work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("b.txt", "c.txt"):
        head = work.commit("feat: todo", **{name: "TODO\n"})
    up.git("config", "receive.denyCurrentBranch", "ignore")
    work.git("push", "-q", "origin", "topic:main")
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"ref": "refs/heads/main", "after": head, "repository": {"default_branch": "main"}}))
    told = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": str(event)}
    for variable, value in told.items():
        monkeypatch.setenv(variable, value)
    code, said = ci(capsys, "--format", "text")
    assert (code, "c.txt:1" in said, "b.txt" in said) == (0, True, False), said
    assert "1 commit after " in said and "this is merged already" in said


def test_a_platform_that_ahp_does_not_read_is_told_by_options(
    up: Repo, work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    before = work.git("rev-parse", "origin/main")
    head = work.commit("feat: todo", **{"b.txt": "TODO\n"})
    code, said = ci(capsys, "--to", head, "--target", "main", "--source", "other", "--actor", "ann")
    assert (code, "b.txt:1" in said) == (1, True), said
    up.git("config", "receive.denyCurrentBranch", "ignore")
    work.git("push", "-q", "origin", "topic:main")
    code, said = ci(capsys, "--to", head, "--target", "main")
    assert code == 0 and "nothing to judge" in said, said
    code, said = ci(capsys, "--to", head, "--target", "main", "--before", before)
    assert (code, "b.txt:1" in said, "this is merged already" in said) == (0, True, True), said
    code, said = ci(capsys, "--to", head, "--target", "other", "--before", before)  # a branch without authority
    assert code == 0 and "this is merged already" not in said, said
    for option, wrong in {"--before": "1" * 40, "--source": "a..b", "--target": ""}.items():
        assert ci(capsys, "--to", head, option, wrong)[0] == 2, option


def test_what_names_more_than_one_commit_or_hides_one_is_told_or_seen_through(
    work: Repo, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    work.commit("feat: todo", **{"b.txt": "TODO\n"})
    work.git("tag", "topic", "origin/main")
    code, said = ci(capsys, "--to", "topic")
    assert code == 2 and "topic is refs/heads/topic and refs/tags/topic; write one of them in full" in said
    code, said = ci(capsys, "--to", "origin/main..HEAD")
    assert code == 2 and "origin/main..HEAD is no commit of this clone" in said
    for kind in ("heads", "tags"):
        work.git("update-ref", f"refs/{kind}/{work.head()}", "origin/main")
    assert ci(capsys, "--to", work.head())[0] == 1
    work.git("update-ref", "refs/tags/refs/remotes/origin/gone", work.head())
    code, said = ci(capsys, "--target", "gone")
    assert code == 2 and "what gone has is not known here" in said
    head = work.commit("feat: hide", **{"b.txt": "done\n"})
    (work.root / ".git/info/grafts").write_text(f"{head} {work.git('rev-parse', 'origin/main')}\n")
    code, said = ci(capsys, "--to", "refs/heads/topic")
    assert code == 1 and "refused by no-todo" in said
    for path in ("/dev/stdout", tmp_path):
        code, said = ci(capsys, "--output", f"json={path}")
        assert code == 2 and "is there and no regular file" in said
    twice = ("--output", f"json={tmp_path}/x", "--output", f"junit={tmp_path}/./x")
    for given, told in ((twice, "x' is given twice"), (("--output", "sarif=-"), "--format sarif prints")):
        code, said = ci(capsys, *given)
        assert code == 2 and told in said
    code, said = ci(capsys, "--output", f"json={tmp_path}/gone/report.json")
    assert code == 2 and "refused by no-todo" in said and "cannot write" in said


def test_without_the_default_branchs_policy_nothing_is_judged(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """Else the rules that the change brings would be all that is asked."""
    head = work.commit("feat: todo", **{"b.txt": "TODO\n", ".ahp/hooks.yaml": "version: 1\n"})
    work.git("update-ref", "refs/remotes/origin/release/1", "origin/main")
    work.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop")
    code, said = ci(capsys, "--target", "release/1")
    assert code == 2 and "fix: git fetch origin +refs/heads/develop:refs/remotes/origin/develop" in said
    work.git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    for theirs in ("refs/heads/main", "refs/remotes/origin/trunk"):  # called as most default branches are
        work.git("update-ref", theirs, head)
        code, said = ci(capsys, "--target", "release/1")
        assert code == 2 and "fix: git fetch origin '+refs/heads/*:refs/remotes/origin/*' && git remote" in said


def test_a_branch_of_ones_own_is_no_target_while_there_is_a_remote(
    work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    work.commit("feat: todo", **{"b.txt": "TODO\n"})
    work.git("branch", "-f", "main", "topic")
    work.git("update-ref", "--no-deref", "-d", "refs/remotes/origin/main")
    code, said = ci(capsys, "--target", "main")
    assert code == 2 and "fix: git fetch origin +refs/heads/main:refs/remotes/origin/main" in said


def test_a_deleted_branch_is_nothing_to_judge(
    work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    github(tmp_path, monkeypatch, "push", {"ref": "refs/heads/x", "before": "1" * 40, "after": "0" * 40})
    assert ci(capsys)[0] == 0


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")
@pytest.mark.slow
def test_an_override_counts_only_with_an_approvers_signature(
    up: Repo,
    tmp_path: Path,
    person: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("ann", "eve"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    key = " ".join((tmp_path / "ann.pub").read_text("utf-8").split()[:2])
    up.commit("chore: approvers", **{".ahp/approvers": f"ann@example.org {key}\n"})
    work = clone(up, tmp_path / "work", monkeypatch)
    assert main.run(["install", "git"]) == 0
    work.write("b.txt", "TODO\n")
    work.add()
    refused = work.run("git", "commit", "-qm", "feat: todo", env={"AHP_PATIENCE": "30"})
    id = refused.stderr.decode().partition("(")[2].partition(")")[0]
    capsys.readouterr()
    assert main.run(["respond", id, "proceed_with_risk", "--reason", "on purpose"]) == 0, capsys.readouterr()
    signing = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={tmp_path / 'eve'}")
    work.git(*signing, "commit", "-qS", "-m", "feat: todo")
    assert "Ahp-Override: no-todo sha256:" in work.git("log", "-1", "--format=%B")
    code, said = ci(capsys)
    assert code == 1 and "does not count: its signature is by no key that .ahp/approvers names" in said
    work.git("commit", "-q", "--amend", "--no-edit", "--no-gpg-sign")
    code, said = ci(capsys)
    assert code == 1 and "does not count: it is not signed" in said
    mine = ("-c", "gpg.format=ssh", "-c", f"user.signingkey={tmp_path / 'ann'}")
    work.git(*mine, "commit", "-q", "--amend", "--no-edit", "-S")
    code, said = ci(capsys)
    assert code == 0, said
    assert "no-todo excused: overridden by ann@example.org: on purpose" in said
    (found,) = json.loads(ci(capsys, "--format", "json")[1])["judged"]["found"]
    assert (found["exemption"], found["proof"]) == ("overridden by ann@example.org: on purpose", "signed")
    line = next(one for one in work.git("log", "-1", "--format=%B").splitlines() if one.startswith("Ahp-Override"))
    work.git("reset", "-q", "--hard", "origin/main")
    work.write("c.txt", "TODO other\n")
    work.add()
    work.git(*mine, "commit", "-q", "-S", "--no-verify", "-m", f"feat: other\n\n{line}")
    code, said = ci(capsys)
    assert code == 1 and "it is not for this rule as it is, or not for this change" in said


def test_commits_of_one_policy_are_judged_by_the_same_judges(
    work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made anew for each commit they took four times the time and five times the memory."""
    more = POLICY + "  mine: {at: pre-commit, block: \"any(glob(f, '*.key') for f in files.changed)\"}\n"
    work.commit("feat: stricter", **{".ahp/hooks.yaml": more})
    for number in range(8):
        work.commit(f"feat: {number}", **{"b.txt": f"{number}\n"})
    made: list[object] = []
    monkeypatch.setattr(asked, "Hearing", lambda *given: made.append(given) or Hearing(*given))
    assert main.run(["ci"]) == 0
    assert len(made) == 3  # no merges: of both policies at pre-commit, of one at commit-msg


def test_a_target_without_a_policy_of_its_own_makes_nothing_known(
    up: Repo, work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    work.commit("feat: bad", **{"b.txt": "TODO\n"})
    work.git("push", "-q", "origin", "topic:weak")
    work.git("fetch", "-q")
    work.commit("feat: clean", **{"c.txt": "c\n"})
    for target in ("main", "weak"):  # one commit has one answer, whatever pull request it is in
        code, said = ci(capsys, "--target", target)
        assert code == 1 and "b.txt:1" in said, (target, said)
    work.git("reset", "-q", "--hard", "main")
    work.commit("feat: clean", **{"c.txt": "c\n"})
    assert [ci(capsys, "--target", target)[0] for target in ("main", "weak")] == [0, 0]


def test_a_branch_of_authority_is_asked_the_locked_rules_of_the_default_one(
    up: Repo, work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = "  key: {at: pre-commit, locked: true, each: l in diff.added, block: \"'KEY' in l.text\", message: key}\n"
    up.git("branch", "release/9")
    up.commit("chore: rules", **{".ahp/hooks.yaml": POLICY + locked})
    work.git("fetch", "-q")
    work.git("reset", "-q", "--hard", "origin/release/9")
    work.commit("feat: key", **{"k.txt": "KEY\n"})
    code, said = ci(capsys, "--target", "release/9")
    assert code == 1 and "refused by key" in said, said
    work.git("reset", "-q", "--hard", "origin/release/9")
    work.commit("feat: none", **{"k.txt": "none\n"})
    assert ci(capsys, "--target", "release/9")[0] == 0


def test_rules_about_a_pull_request_are_asked_where_its_platform_tells_of_one(
    up: Repo, work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = """\
rules:
  title: {at: pre-merge, block: "not matches(request.title, '^(feat|fix): ')", message: "the title is {request.title}"}
  approved:
    at: pre-merge
    block: count(a for a in request.approvals if a.commit == request.head and a.by != actor.name) < 1
    message: nobody approved the tip
"""
    up.commit("chore: rules", **{".ahp/hooks.yaml": rules})
    work.git("fetch", "-q", "origin")
    work.git("reset", "-q", "--hard", "origin/main")
    head = work.commit("feat: more", **{"b.txt": "b\n"})
    pull = {"title": "more", "head": {"sha": head, "ref": "topic"}, "base": {"ref": "main"}}
    event = {"pull_request": pull, "repository": {"default_branch": "main"}, "sender": {"login": "ann"}}
    more = tmp_path / "request.json"
    monkeypatch.setenv("AHP_REQUEST", str(more))
    for title, by, commit, refused in (
        ("more", "bob", head, ["the title is 'more'"]),
        ("feat: more", "ann", head, ["nobody approved the tip"]),
        ("feat: more", "bob", "0" * 40, ["nobody approved the tip"]),
        ("feat: more", "bob", head, []),
    ):
        pull["title"] = title
        more.write_text(json.dumps({"approvals": [{"by": by, "commit": commit}]}), encoding="utf-8")
        github(tmp_path, monkeypatch, "pull_request", event)
        code, said = ci(capsys)
        assert (code, [text for text in ("the title is 'more'", "nobody approved the tip") if text in said]) == (
            int(bool(refused)),
            refused,
        )
    monkeypatch.delenv("AHP_REQUEST")
    for variable in ("GITHUB_ACTIONS", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH"):
        monkeypatch.delenv(variable)
    code, said = ci(capsys)
    assert code == 0 and "title is not decidable here" in said
