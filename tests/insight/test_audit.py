"""What the log knows of commits that were really made, let pass, pushed, and made past the hooks."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from ahp.cli.main import run
from ahp.insight.audit import BYPASS, OVERRIDE, SKIPPED, WAIVER, Audit, Entry, Exemption, Here, audit
from ahp.insight.judged_history import Statement
from ahp.journal.append import Journal
from ahp.journal.respond import respond
from ahp.protocol.event import Actor
from ahp.system import git, terminal
from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  secret:
    at: pre-commit
    each: l in diff.added
    block: contains([l.text], 'SECRET')
    finding: {file: l.path, line: l.line}
    message: a secret
  wide: {at: pre-commit, prompt: files.changed_count > 1, message: "{files.changed_count} files"}
  large: {at: pre-commit, block: files.insertions > 5, message: large}
  covered: {at: pre-commit, block: coverage.current < 50, on_missing: skip, message: covered}
"""
SILENT = ("-c", "core.hooksPath=/dev/null")
ANN = Actor("human", "ann")


class Told(NamedTuple):
    """A repository, its audit, and what each commit was made for, by its subject."""

    gated: Gated
    found: Audit

    def of(self, subject: str) -> Entry:
        (entry,) = [one for one in self.found.entries if one.subject == subject]
        return entry


def asked(gated: Gated, revisions: str | None = None, stated: Sequence[Statement] = ()) -> Audit:
    where = git.discover(str(gated.root), dict(os.environ))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Here, "signer", lambda self, commit: "ann@example.org")
        return audit(where, revisions, stated=stated)


TOMORROW = (datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(2)).isoformat()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One story: what is judged, let pass, waived, gone round, pushed."""
    gated = making.make(tmp_path_factory.mktemp("audit") / "repo")
    gated.git("init", "-q", "--bare", "../remote.git")
    gated.git("remote", "add", "origin", "../remote.git")
    waiver = f"- {{rule: large, subject: '*', reason: a vendored file, approver: mei, expires: {TOMORROW}}}\n"
    gated.write(".ahp/waivers.yaml", waiver)
    gated.git("add", "-f", ".ahp/waivers.yaml")
    gated.commit_policy(POLICY)
    gated.git(*SILENT, "commit", "-q", "-m", "waivers")
    gated.git("push", "-q", "--no-verify", "origin", "main")
    gated.git("checkout", "-q", "-b", "work")
    gated.commit("clean", a="1\n")
    gated.commit("warned", b="1\n", c="1\n")
    gated.write("d", "SECRET\n")
    gated.add()
    assert gated.say("commit", "-q", "-m", "let pass").code == 1
    id = gated.log("signal")[-1]["id"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "confirm", lambda question, command: True)
        respond(Journal(str(gated.folder)), id, "proceed_with_risk", ANN, "a test key")
    gated.commit("let pass")
    gated.commit("waived", e="1\n" * 9)
    gated.git(*SILENT, "commit", "-q", "--allow-empty", "-m", "empty\n\nAhp-Override: secret of my own")
    gated.git(*SILENT, "commit", "-q", "--allow-empty", "-m", "empty too")
    gated.git("push", "-q", "origin", "work")
    gated.write("f", "SECRET\n")
    gated.add()
    gated.git("commit", "-q", "--no-verify", "-m", "round")
    return Told(gated, asked(gated))


@pytest.mark.slow
def test_a_commit_that_its_hooks_judged(told: Told) -> None:
    entry = told.of("clean")
    made, pushed = entry.judgements
    assert (made.where, made.decision, made.said, made.hooks) == ("commit", "allow", [], ["pre-commit"])
    assert made.actor.startswith("human") and made.policy.origin == "committed"
    assert told.gated.git("show", f"{made.policy.commit}:.ahp/hooks.yaml") + "\n" == POLICY
    assert (pushed.where, pushed.target) == ("push", "refs/heads/work")
    assert pushed.head == told.of("empty too").commit and pushed.commits == 6
    assert told.of("warned").judgements[0].said == [("wide", "prompt")]


def test_what_was_not_asked_is_told_with_its_reason(told: Told) -> None:
    (skipped,) = told.of("clean").exemptions
    assert (skipped.kind, skipped.rule, skipped.approver) == (SKIPPED, "covered", "") and skipped.note


def test_who_let_it_pass_and_why(told: Told) -> None:
    found = {one.kind: one for one in told.of("let pass").exemptions}
    assert found[OVERRIDE] == Exemption(OVERRIDE, "secret", "human:ann", "a test key", "", "ann@example.org")
    waived = {one.kind: one for one in told.of("waived").exemptions}
    assert waived[WAIVER] == Exemption(WAIVER, "large", "mei", "a vendored file")


def test_what_ci_stated_stands_beside_the_log_and_counts_more(told: Told) -> None:
    """An override that a key signed, in place of the one that the log claims."""
    commit = told.of("let pass").commit
    names = {"commit": commit, "key": "ci@example.org", "judge": "ci", "time": "2026-02-09T10:00:00.000Z"}
    move = {"repository": "git+https://x", "target": "refs/heads/main", "tip": "1" * 40, "head": commit}
    found = [
        {"commit": commit, "rule": "secret", "exemption": "overridden by ann@example.org: a key: of tests"},
        {"commit": None, "rule": "wide", "level": "prompt", "exemption": None, "proof": None},
        {"commit": "2" * 40, "rule": "large", "level": "block", "exemption": None, "proof": None},
    ]
    found[0] |= {"level": "block", "proof": "signed"}
    one = Statement(**names, **move, policy="1" * 40, digest="sha256:1", passed=True, commits=[commit], found=found)
    (entry,) = [each for each in asked(told.gated, stated=[one]).entries if each.commit == commit]
    assert entry.is_judged_here
    judged = entry.judgements[-1]
    assert (judged.where, judged.decision, judged.actor) == ("ci", "allow", "ci@example.org")
    assert (judged.said, judged.target, judged.policy.commit) == ([("wide", "prompt")], "refs/heads/main", "1" * 40)
    (override,) = [each for each in entry.exemptions if each.kind == OVERRIDE]
    assert (override.approver, override.reason, override.proof) == ("ann@example.org", "a key: of tests", "signed")


def test_what_the_log_does_not_know_is_not_guessed(told: Told) -> None:
    (lone,) = [one for one in told.of("empty").exemptions if one.kind == OVERRIDE]
    assert lone.approver == "" and "none of ahp" in lone.note
    assert [one.where for one in told.of("empty").judgements] == ["push"]  # another empty commit is no judgement of it
    assert told.of("round").judgements == told.of("waivers").judgements == []
    assert told.of("first").before and not told.of("waivers").before
    assert told.found.begin


def test_a_commit_past_the_hooks_that_breaks_a_rule(told: Told) -> None:
    assert [(one.kind, one.rule) for one in told.of("round").exemptions] == [(BYPASS, "secret")]


def test_a_range_of_some(told: Told) -> None:
    assert [one.subject for one in asked(told.gated, "HEAD~2..HEAD").entries] == ["round", "empty too"]


def test_a_push_of_which_the_log_cannot_tell_whom_it_judged(told: Told) -> None:
    log = told.gated.folder / "signals.jsonl"
    whole = log.read_text()
    log.write_text(whole.replace('"commits": 6', '"commits": 5'))
    fewer = Told(told.gated, asked(told.gated))
    log.write_text(whole.replace('"base": [', '"other": ['))
    without = Told(told.gated, asked(told.gated))
    log.write_text(whole)
    (pushed,) = [one for one in fewer.of("warned").judgements if one.where == "push"]
    assert pushed.commits == 5
    assert [one.where for one in without.of("warned").judgements] == ["commit"]
    assert len(without.of("empty too").judgements) == 1  # the head was of it, for certain


def test_records_of_values_that_ahp_does_not_write_tell_nothing(told: Told) -> None:
    log = told.gated.folder / "signals.jsonl"
    whole = log.read_text()
    names = ("hook", "change", "attempt", "head", "base", "commits", "commit", "digest", "tips", "details", "id", "by")
    for odd in ({"a": 1}, [[]], 1e308, True):
        about = dict.fromkeys(names, odd)
        kinds = ("signal", "verdict", "policy", "response", "bypass", "install", odd)
        records = [{**about, "kind": kind} for kind in kinds] + [{**about, "kind": "verdict", "hook": "pre-commit"}]
        log.write_text(whole + "".join(json.dumps(record) + "\n" for record in records))
        assert asked(told.gated) == told.found
    log.write_text(whole)


def test_as_it_is_printed(told: Told, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(told.gated.root)
    assert run(["report", "--audit"]) == 0
    out, err = capsys.readouterr()
    head, begin, *lines = out.splitlines()
    exemptions = sum(len(one.exemptions) for one in told.found.entries)
    assert head == f"the last 10 commits: 6 judged here, 4 not; {exemptions} exemptions" and err == ""
    assert begin.endswith("it is evidence, not proof: ahp log verify") and max(map(len, lines)) <= 100
    for line in (
        "  overridden: secret, by human:ann: a test key (claimed)",
        "  waived: large, by mei: a vendored file (claimed)",  # as the policy of that commit has it
        "  went round the hooks: secret: it breaks a rule that no hook was asked about",
        "  was there before the gate was installed",
        "  not judged here",
    ):
        assert line in lines, line
    assert " with the push, 6 commits of it one by one, of " in out and "said: wide (prompt)" in out


def test_a_policy_that_the_log_describes_before_its_commit_is_told_by_the_commit_that_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gated = making.make(tmp_path / "repo")
    gated.write(".ahp/hooks.yaml", POLICY)
    gated.git("add", "-f", ".ahp/hooks.yaml")
    gated.git("commit", "-q", "-m", "adopted")
    adopted = gated.git("rev-parse", "HEAD").strip()
    gated.commit("next", a="1\n")
    monkeypatch.chdir(gated.root)
    assert run(["report", "--audit", "--format", "json"]) == 0
    later, first, *_ = json.loads(capsys.readouterr().out)["commits"]
    assert first["judgements"][0]["policy"]["origin"] == "working"
    assert later["judgements"][0]["policy"] == {
        **first["judgements"][0]["policy"],
        "commit": adopted,
        "origin": "committed",
    }


WORDS = """\
version: 1
rules:
  subject: {at: commit-msg, prompt: "not commit.subject.startswith('feat: ')", message: no type}
  typed: {at: commit-msg, block: "commit.subject == 'five'", message: no type at all}
  size: {at: pre-commit, prompt: files.changed_count > 1, message: "{files.changed_count} files"}
"""


def test_what_was_said_of_another_message_is_not_said_of_an_amended_commit(tmp_path: Path) -> None:
    gated = making.make(tmp_path / "repo")
    gated.commit_policy(WORDS)
    gated.commit("stuff", a="1\n", b="1\n")
    gated.git("commit", "-q", "--amend", "-m", "feat: d")
    gated.write("c", "1\n")
    gated.add()
    assert gated.say("commit", "-q", "-m", "five").code == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal, "confirm", lambda question, command: True)
        respond(Journal(str(gated.folder)), gated.log("signal")[-1]["id"], "proceed_with_risk", ANN, "a test")
    gated.git("commit", "-q", "-m", "five")
    assert {one.kind for one in asked(gated, "HEAD~1..").entries[0].exemptions} == {OVERRIDE}
    gated.git("commit", "-q", "--amend", "-m", "feat: changed words")
    changed, made, *_ = asked(gated).entries
    assert made.subject == "feat: d" and made.judgements[0].hooks == ["pre-commit", "commit-msg"]
    assert (made.judgements[0].decision, made.judgements[0].said) == ("warn", [("size", "prompt")])
    assert changed.exemptions == [] and changed.judgements[0].said == []
    assert (changed.judgements[0].decision, changed.judgements[0].hooks) == ("allow", ["pre-commit", "commit-msg"])


def test_a_commit_is_told_by_the_attempt_that_judged_its_message(tmp_path: Path) -> None:
    gated = making.make(tmp_path / "repo")
    gated.commit_policy(WORDS)
    gated.commit("once", a="1\n")
    gated.git("branch", "kept")
    gated.git("reset", "-q", "--soft", "HEAD~1")
    gated.git("commit", "-q", "-m", "feat: again")
    for revision, said in (("kept", [("subject", "prompt")]), ("main", [])):
        (judgement,) = asked(gated, f"{revision}~1..{revision}").entries[0].judgements
        assert (judgement.hooks, judgement.said) == (["pre-commit", "commit-msg"], said)
