"""What is printed where git asked, and the question to a person."""

from __future__ import annotations

import errno
import os

import pytest

from ahp.hosts import verdict_text
from ahp.protocol.event import Actor
from ahp.protocol.verdict import Verdict
from ahp.system import terminal
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

ASKS = "version: 1\nrules:\n  sure: {at: pre-commit, prompt: files.changed_count > 0, ask: true, message: really}\n"


@pytest.fixture
def staged(gated: Gated) -> Gated:
    gated.policy(ASKS)
    gated.write("a.txt")
    gated.add()
    return gated


@pytest.mark.parametrize(("answer", "code"), [(True, 0), (False, 1), (None, 0)])
def test_a_rule_that_asks_takes_no_for_an_answer(
    staged: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch, answer: bool | None, code: int
) -> None:
    monkeypatch.setattr(terminal, "ask", lambda question: answer)
    got, said = ask("pre-commit")
    assert got == code
    assert "warned by sure" in said
    assert ("ahp: stopped as you asked" in said) == (answer is False)


@pytest.mark.parametrize("marker", ["CLAUDECODE", "CI"])
def test_agents_and_ci_are_never_asked(staged: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch, marker: str) -> None:
    def asked(question: str) -> bool:
        raise AssertionError("asked")

    monkeypatch.setattr(terminal, "ask", asked)
    assert ask("pre-commit", env={marker: "true"})[0] == 0


def test_an_agent_reads_its_own_words(staged: Gated, ask: Ask) -> None:
    said = ask("pre-commit", env={"CLAUDECODE": "1"})[1]
    assert said.startswith("ahp note: ") and "; accepted" in said


@pytest.mark.parametrize("number", [errno.EPIPE, errno.ENOSPC, errno.EBADF, errno.EIO])
def test_where_nothing_can_be_written_that_is_no_failure(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def gone(fd: int, data: bytes) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "write", gone)
    verdict_text.write("text")


def test_aids_come_after_the_commit(gated: Gated) -> None:
    gated.policy("version: 1\nrules:\n  tip: {at: post-commit, aid: files.changed_count > 0, message: well done}\n")
    gated.write("a.txt")
    gated.add()
    said = gated.say("commit", "-q", "-m", "x")
    (signal,) = gated.log("signal")
    assert said == (0, f"ahp: commit advised by tip ({signal['id'][:8]})\n  well done\n")
    assert (signal["intensity"], signal["decision"], signal["hook"]) == ("aid", "suggest", "post-commit")


def test_nothing_to_say_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert verdict_text.say(Verdict("allow", "pre-commit", "main", "sha256:p"), Actor("human"), {}) == 0
    assert capfd.readouterr().err == ""
