"""`ahp skip`: a rule passes in a branch's next commit, and only there, by a person's word (authority §5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.cli import main
from ahp.gate.decide import decide
from ahp.hosts import asking, skipping
from ahp.journal import skips
from ahp.journal.answers import SKIP_LASTS, AnswerRefused
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.protocol.event import Actor
from ahp.protocol.verdict import Verdict
from ahp.system import clock, reflogs, terminal
from ahp.system.errors import AhpError
from ahp.system.view import IndexView
from tests.conftest import Repo
from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  secret:
    at: pre-commit
    each: l in diff.added
    block: contains(l.text, 'SECRET')
    finding: {file: l.path, line: l.line}
    message: a secret
  subject: {at: commit-msg, block: commit.subject.startswith('bad'), message: "{commit.subject} is no subject"}
  firm: {at: pre-commit, block: "'firm' in files.changed", overridable: false}
  wide: {at: pre-commit, prompt: files.changed_count > 2}
  far: {at: pre-push, block: push.is_force}
"""
ANN = Actor("human", "ann")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Gated:
    made = making.make(tmp_path_factory.mktemp("skipping") / "repo")
    made.git("init", "-q", "--bare", "../remote.git")
    made.git("remote", "add", "origin", "../remote.git")
    made.commit_policy(POLICY)
    made.git("push", "-q", "--no-verify", "origin", "main")
    made.git("remote", "set-head", "origin", "main")
    made.git("checkout", "-q", "-b", "work")
    return made


@pytest.fixture
def work(template: Gated, tmp_path: Path, person: list[str]) -> Gated:
    """On branch `work`, one commit before `main`'s; a person answers the questions of this process."""
    making.Repo(template.root.parent / "remote.git").git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    return making.copy(template, tmp_path / "repo")


def give(work: Gated, rule: str = "secret", by: Actor = ANN, reason: str = "a test key") -> skips.Skip:
    return skipping.skip(asking.around(str(work.root)), rule, by, reason)


def told(work: Gated) -> list[str]:
    repo, now = work.repository(), clock.now()
    branch = repo.branch()
    here = branch, repo.commit_id(f"refs/heads/{branch}") or "", reflogs.mark(repo, branch), now
    found = [(one, one.why_not(*here)) for one in skips.given(repo.ahp_dir, now)]
    return ["waits" if not why else "used" if one.used else why for one, why in found]


def commit(work: Gated, message: str, *how: str, agent: bool = False, **files: str) -> tuple[int, str]:
    for name, text in files.items():
        work.write(name, text)
    work.add()
    said = work.say("commit", "-q", "--allow-empty", "-m", message, *how, env={"CLAUDECODE": "1"} if agent else None)
    return said.code, said.text


def test_the_next_commit_passes_says_so_and_holds_at_the_push(work: Gated) -> None:
    given = give(work)
    assert told(work) == ["waits"]
    assert commit(work, "one", a="SECRET\n") == (0, "ahp: secret is skipped, as ann said before: a test key\n")
    line = next(one for one in work.git("log", "-1", "--format=%B").splitlines() if one.startswith("Ahp-Override: "))
    (answer,) = work.log("response")
    (signal,) = work.log("signal")
    assert line == f"Ahp-Override: secret {signal['digest']} {signal['content']} a test key"
    assert (answer["action"], answer["by"], answer["id"]) == ("proceed_with_risk", "human:ann", signal["id"])
    assert (answer["skip"], answer["digest"], answer["content"]) == (given.id, signal["digest"], signal["content"])
    assert (signal["overrides"], signal["decision"], signal["intensity"]) == (signal["id"], "allow", "block")
    assert told(work) == ["used"]
    assert work.say("push", "-q", "origin", "work").code == 0
    code, said = commit(work, "two", b="SECRET\n")
    assert code == 1 and "the skip of secret does not hold: it was for the next commit, and work has moved" in said
    work.git("reset", "-q", "--hard", "HEAD^")  # where it was given; but that commit was made
    assert commit(work, "two", b="SECRET\n")[0] == 1


def test_a_skipped_warning_is_silent_once_and_climbs_nothing(work: Gated) -> None:
    give(work, "wide")
    code, said = commit(work, "one", a="1\n", b="2\n", c="3\n")
    assert (code, said) == (0, "ahp: wide is skipped, as ann said before: a test key\n")
    assert "Ahp-Override" not in work.git("log", "-1", "--format=%B")
    assert told(work) == ["used"]
    code, said = commit(work, "two", a="4\n", b="5\n", c="6\n")
    assert code == 0 and "warned by wide" in said


def test_an_attempt_that_is_given_up_uses_nothing_up(work: Gated) -> None:
    give(work)
    for text in ("SECRET 1\n", "SECRET 2\n"):
        work.write("a", text)
        work.add()
        assert work.say("commit", "-q", env={"GIT_EDITOR": "false"}).code == 1
    assert told(work)[0] == "waits"
    assert commit(work, "bad", a="SECRET 3\n")[0] == 1  # another rule refuses it
    assert commit(work, "ok", a="SECRET 4\n")[0] == 0
    assert work.git("log", "-1", "--format=%B").count("Ahp-Override") == 1
    assert commit(work, "ok", a="SECRET 5\n")[0] == 1


def test_it_is_for_one_rule_one_branch_and_a_person(work: Gated) -> None:
    give(work, "subject")
    assert commit(work, "ok", a="SECRET\n")[0] == 1
    work.git("rm", "-q", "--cached", "a")
    work.git("checkout", "-q", "-b", "other")
    work.write("a", "1\n")
    code, said = commit(work, "bad")
    assert code == 1 and "the skip of subject does not hold: it is for the branch work" in said
    work.git("checkout", "-q", "work")
    code, said = commit(work, "bad", agent=True)
    assert code == 1 and "skip" not in said.replace("overrides", "")
    assert commit(work, "bad")[0] == 0
    assert "Ahp-Override: subject sha256:" in work.git("log", "-1", "--format=%B")


def test_unused_ones_end(work: Gated) -> None:
    give(work)
    assert commit(work, "clean", a="1\n") == (0, "")
    assert told(work) == ["it was for the next commit, and work has moved since"]
    old = clock.now() - SKIP_LASTS - 60
    head, mark = work.head(), f"{(work.root / '.git/logs/refs/heads/work').stat().st_size} bytes"
    late = skips.Skip("late", "secret", "work", head, mark, "human:ann", "why", clock.now())
    assert late._replace(at=old).why_not("work", head, mark, clock.now()).startswith("it ended at ")


def test_where_there_is_no_reflog_it_holds_for_one_attempt(work: Gated) -> None:
    work.git("config", "core.logAllRefUpdates", "false")
    (work.root / ".git/logs/refs/heads/work").unlink()
    give(work)
    work.write("a", "SECRET 1\n")
    work.add()
    assert work.say("commit", "-q", env={"GIT_EDITOR": "false"}).code == 1
    code, said = commit(work, "one", a="SECRET 2\n")
    assert code == 1 and "no reflog tells whether a commit came of that" in said
    assert commit(work, "one", a="SECRET 1\n")[0] == 0  # the same change is what was let pass


def test_what_cannot_be_recorded_does_not_pass(work: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    give(work)
    work.write("a", "SECRET\n")
    work.add()

    def judged() -> Verdict:
        event = asking.event("pre-commit", "git", ANN, asking.around(str(work.root)))
        event.view = IndexView(work.repository())
        return decide(event)

    assert judged().decision == "allow"

    def full(*_: object, **__: object) -> None:
        raise JournalUnwritable("the disk is full")

    monkeypatch.setattr(Journal, "append", full)
    work.write("a", "SECRET, again\n")
    work.add()
    verdict = judged()
    assert (verdict.decision, verdict.is_logged) == ("deny", False)
    assert "refused: a skip lets nothing pass that is not recorded, and the disk is full" in verdict.notes


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `ahp words` prints."""
    capsys.readouterr()
    assert main.run(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("rule", "by", "reason", "why"),
    [
        ("secret", Actor("agent", "claude"), "why", "only a person can skip a rule, and agent:claude is none"),
        ("secret", ANN, " ", "a skip needs a reason"),
        ("firm", ANN, "why", "this rule cannot be overridden"),
        ("far", ANN, "why", "far does not run at commits; answer its refusal: ahp respond"),
        ("secrets", ANN, "why", "no rule of commits is called 'secrets'; did you mean `secret`?"),
    ],
)
def test_what_is_refused_leaves_no_trace(work: Gated, rule: str, by: Actor, reason: str, why: str) -> None:
    with pytest.raises(AnswerRefused, match=why):
        give(work, rule, by, reason)
    assert work.log("skip") == []


def test_on_no_branch_without_a_yes_and_without_a_repository(
    work: Gated, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(work.root)
    assert "secret passes in the next commit on work, until " in run(capsys, "skip", "secret", "--reason", "why")
    monkeypatch.setattr(terminal, "ask", lambda question, patience=0: False)
    with pytest.raises(AnswerRefused, match="the answer was no"):
        give(work)
    monkeypatch.setattr(terminal, "ask", lambda question, patience=0: None)
    with pytest.raises(AhpError, match="run in a terminal: ahp skip secret --reason 'a test key'"):
        give(work)
    work.git("checkout", "-q", "--detach")
    with pytest.raises(AnswerRefused, match="HEAD is on no branch"):
        give(work)
    (tmp_path / "plain").mkdir()
    with pytest.raises(AhpError, match="there is no git repository here"):
        skipping.skip(asking.around(str(tmp_path / "plain")), "secret", ANN, "why")
    assert len(work.log("skip")) == 1


def test_a_skip_before_the_first_commit(tmp_path: Path, person: list[str]) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    Repo(folder).git("init", "-q")
    work = Gated(folder)
    work.folder.mkdir()
    Journal(str(work.folder)).begin()
    work.write(".ahp/hooks.yaml", POLICY)
    assert (give(work).head, told(work)[0][:5]) == ("", "waits")
