from __future__ import annotations

import pytest

from ahp.hosts import history
from ahp.policy import layers
from ahp.policy.sources import TextSource
from ahp.system import environ, git
from ahp.system.commits import commits
from ahp.system.errors import AhpError
from tests.conftest import Repo


def judge(repo: Repo, policy: str, range_: str | None = None) -> history.Tally:
    here = git.discover(str(repo.root), environ.current())
    programs = history.enforced(layers.load(TextSource(policy)))
    return history.judge(here, programs, commits(here, range_))


def said(tally: history.Tally) -> list[tuple[str, str, str]]:
    return [(one.commit.subject, one.trigger, one.level) for one in tally.said]


SIZE = "rules: {size: {at: pre-commit, block: files.changed_count > 1}}"


def test_a_repository_without_commits_has_no_past(repo: Repo) -> None:
    tally = judge(repo, SIZE)
    assert (tally.judged, tally.said) == (0, [])


def test_each_commit_is_judged_by_its_own_change_newest_first(repo: Repo) -> None:
    repo.commit("root", **{"a.txt": "1\n", "b.txt": "1\n"})
    repo.commit("small", **{"a.txt": "2\n"})
    repo.commit("large", **{"a.txt": "3\n", "b.txt": "3\n"})
    tally = judge(repo, SIZE)
    assert tally.judged == 3
    assert said(tally) == [("large", "pre-commit", "block"), ("root", "pre-commit", "block")]
    assert tally.count("block") == 2 and tally.of("size")[0].message


def test_a_range_narrows_what_is_judged(repo: Repo) -> None:
    repo.commit("root", **{"a.txt": "1\n", "b.txt": "1\n"})
    repo.commit("small", **{"a.txt": "2\n"})
    assert judge(repo, SIZE, "HEAD~1..HEAD").said == []


@pytest.mark.parametrize("range_", ["--all", "nosuch..HEAD", "-1"])
def test_a_range_that_git_does_not_know_is_refused(repo: Repo, range_: str) -> None:
    repo.commit("root")
    with pytest.raises(AhpError):
        judge(repo, SIZE, range_)


def test_the_message_is_judged_as_it_was_committed(repo: Repo) -> None:
    repo.commit("feat: good\n\nBecause.")
    repo.commit("Bad\n\n# no comment here")
    policy = """
    rules:
      subject: {at: commit-msg, block: commit.type == ''}
      why: {at: commit-msg, prompt: commit.body == ''}
    """
    assert said(judge(repo, policy)) == [("Bad", "commit-msg", "block")]


def test_a_merge_is_asked_as_a_merge(repo: Repo) -> None:
    repo.commit("root", **{"a.txt": "1\n"})
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit("topic", **{"b.txt": "1\n"})
    repo.git("switch", "--quiet", "main")
    repo.commit("main", **{"c.txt": "1\n"})
    repo.git("merge", "--quiet", "--no-ff", "--message", "Bring it in", "topic")
    policy = """
    rules:
      merged: {at: pre-merge-commit, prompt: files.changed_count == 1}
      made: {at: pre-commit, prompt: commit.is_merge}
      told: {at: commit-msg, prompt: commit.is_merge}
    """
    assert said(judge(repo, policy)) == [
        ("Bring it in", "pre-commit", "prompt"),
        ("Bring it in", "pre-merge-commit", "prompt"),
        ("Bring it in", "commit-msg", "prompt"),
    ]
    brought = "rules: {any: {at: [pre-commit, commit-msg], prompt: files.changed_count > 0}}"
    assert [one.commit.subject for one in judge(repo, brought).said if one.commit.is_merge] == []


def test_what_a_merge_brings_that_no_parent_has_is_its_own(repo: Repo) -> None:
    repo.commit("root", **{"a.txt": "1\n"})
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit("topic", **{"a.txt": "2\n", "b.txt": "1\n"})
    repo.git("switch", "--quiet", "main")
    repo.commit("main", **{"a.txt": "3\n", "c.txt": "1\n"})
    assert repo.run("git", "merge", "--quiet", "topic").returncode == 1
    repo.write("a.txt", "resolved\n")
    repo.write("evil.txt", "nobody saw this\n")
    repo.add()
    repo.git("commit", "--quiet", "--message", "Bring it in")
    policy = """
    rules:
      own:
        at: pre-commit
        each: l in diff.added
        prompt: l.text != ''
        message: l
        finding: {file: l.path, line: l.line}
    """
    (said,) = [one for one in judge(repo, policy, "HEAD~1..HEAD").said if one.commit.is_merge]
    assert said.message == "l (a.txt:1)"
    paths = "rules: {own: {at: pre-commit, each: p in files.changed, prompt: p != '', message: p, finding: {file: p}}}"
    assert judge(repo, paths, "HEAD~1..HEAD").said[0].message == "p (a.txt)"


def test_a_finding_names_its_place(repo: Repo) -> None:
    repo.commit("one", **{"a.txt": "x\nsecret\n"})
    policy = """
    rules:
      secret:
        at: pre-commit
        each: l in diff.added
        block: l.text == 'secret'
        message: found
        finding: {file: l.path, line: l.line}
      file: {at: pre-commit, each: p in files.changed, prompt: p == 'a.txt', message: found, finding: {file: p}}
    """
    assert [one.message for one in judge(repo, policy).said] == ["found (a.txt:2)", "found (a.txt)"]


def test_what_git_does_not_record_cannot_be_told(repo: Repo) -> None:
    repo.commit("one")
    policy = """
    facts: {lint: {run: [sh, -c, "touch ran"]}}
    env_allow: [CI]
    rules:
      main: {at: pre-commit, block: branch.name == 'main'}
      agent: {at: pre-commit, block: actor.kind == 'agent', on_missing: skip}
      tests: {at: pre-commit, block: tests.failed_count > 0}
      lint: {at: pre-commit, block: lint.count > 0}
      variable: {at: pre-commit, block: env.CI != ''}
    """
    tally = judge(repo, policy)
    assert {(one.rule, one.level) for one in tally.said} == {
        (rule, "undecidable") for rule in ("main", "agent", "tests", "lint", "variable")
    }
    assert tally.count("block", "prompt") == 0 and tally.count("undecidable") == 1
    assert not (repo.root / "ran").exists()


@pytest.mark.parametrize(
    ("zone", "holds"),
    [("", "time.weekday == 'friday' and time.hour == 23"), ("timezone: UTC", "time.date == '2026-02-14'")],
)
def test_times_are_the_committer_s_or_those_of_the_policy_s_zone(repo: Repo, zone: str, holds: str) -> None:
    repo.git(
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "late",
        env={"GIT_COMMITTER_DATE": "2026-02-13T23:30:00-05:00"},
    )
    assert len(judge(repo, f"{zone}\nrules: {{late: {{at: pre-commit, block: {holds}}}}}").said) == 1


@pytest.mark.parametrize(
    ("when", "said"), [("1315449530 +51800", 1), ("1315449530 -12345", 1), ("999999999999 +0000", None)]
)
def test_a_time_that_no_clock_shows_is_told_in_utc_or_not_judged(repo: Repo, when: str, said: int | None) -> None:
    stream = f"commit refs/heads/main\ncommitter A <a@b.c> {when}\ndata 1\nx\n"
    repo.git("fast-import", "--quiet", "--date-format=raw-permissive", stdin=stream.encode())
    tally = judge(repo, "rules: {late: {at: pre-commit, block: time.hour == 2 and time.date == '2011-09-08'}}")
    if said is None:
        ((_, reason),) = tally.unjudged
        assert "which is no date" in reason
    else:
        assert len(tally.said) == said


def test_rules_that_only_watch_speak_up(repo: Repo) -> None:
    repo.commit("one", **{"a.txt": "1\n", "b.txt": "1\n"})
    policy = "mode: observe\nrules: {size: {at: pre-commit, block: files.changed_count > 1, shadow: true}}"
    assert judge(repo, policy).count("block") == 1


def test_nothing_is_logged(repo: Repo) -> None:
    repo.commit("one", **{"a.txt": "1\n", "b.txt": "1\n"})
    before = sorted(repo.root.rglob("*"))
    judge(repo, SIZE)
    assert sorted(repo.root.rglob("*")) == before


def test_a_commit_that_cannot_be_judged_is_told_and_the_others_are_judged(repo: Repo) -> None:
    repo.commit("root", **{"a.txt": "1\n"})
    oid = repo.git("rev-parse", "HEAD:a.txt")
    repo.commit("next", **{"a.txt": "2\n"})
    repo.commit("last", **{"b.txt": "3\n"})
    (repo.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    tally = judge(repo, "rules: {one: {at: pre-commit, each: l in diff.added, prompt: l.text == '3'}}")
    assert [commit.subject for commit, _ in tally.unjudged] == ["next", "root"]
    assert said(tally) == [("last", "pre-commit", "prompt")] and tally.judged == 1


def test_progress_is_told(repo: Repo) -> None:
    for subject in ("a", "b"):
        repo.commit(subject)
    here = git.discover(str(repo.root), environ.current())
    policy, seen = layers.load(TextSource(SIZE)), []
    history.judge(here, history.enforced(policy), commits(here), lambda *done: seen.append(done))
    assert seen == [(1, 2), (2, 2)]
    assert history.rules(policy) == {"size": True}


def test_hostile_names_and_messages_are_judged_like_others(repo: Repo, hostile_names: list[str]) -> None:
    for name in hostile_names:
        repo.write(name, "x\n")
    repo.add()
    repo.commit("\x1b[2Jmessage \u202e")
    tally = judge(repo, "rules: {one: {at: pre-commit, each: p in files.changed, prompt: p != '', finding: {file: p}}}")
    assert tally.judged == 1 and tally.said[0].message.isprintable()
