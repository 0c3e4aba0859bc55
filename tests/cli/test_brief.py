"""`ahp brief`"""

from __future__ import annotations

import re

import pytest

from ahp.cli.main import run
from tests.conftest import Repo


def test_what_is_refused_here_is_told_in_two_hundred_tokens(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.root)
    many = "".join(
        f"  rule-with-a-long-name-{n}: {{at: [pre-tool-use, pre-push], block: 'false'}}\n" for n in range(60)
    )
    policy = f"extends: [core]\nescalation: {{ladder: [prompt, block]}}\nrules:\n{many}"
    repo.write(".ahp/hooks.yaml", policy)
    assert run(["brief"]) == 0
    said = capsys.readouterr().out
    assert len(said) <= 801 and "tool call" in said and "comes back as a refusal" in said
    assert re.search(r"and [0-9]{2} more", said) and "Refused at a push: " in said
    assert not (repo.root / ".git/ahp/signals.jsonl").exists()


def test_where_nothing_is_refused_that_is_said(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", "rules: {r: {at: pre-commit, prompt: 'true'}}\n")
    assert run(["brief"]) == 0 and "no rule refuses" in capsys.readouterr().out
