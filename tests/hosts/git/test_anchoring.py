"""A push keeps the head of the log on the remote where git's configuration asks for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.system import process
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated


@pytest.mark.parametrize("asked", ["", "origin", "other"])
def test_a_push_keeps_the_head_of_the_log(
    gated: Gated, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    remote = tmp_path / "remote.git"
    gated.git("init", "--quiet", "--bare", str(remote))
    gated.git("remote", "add", "origin", str(remote))
    if asked:
        gated.git("config", "ahp.anchor", asked)
    started = []
    aside = process.aside
    monkeypatch.setattr(process, "aside", lambda *given: started.append(aside(*given)))
    line = f"refs/heads/main {gated.head()} refs/heads/main {'0' * 40}\n"
    assert ask("pre-push", "origin", str(remote), stdin=line.encode())[0] == 0
    for pid in started:
        os.waitpid(pid, 0)
    kept = gated.git("ls-remote", "origin", "refs/ahp/*")
    assert bool(kept) is (asked == "origin")


def test_a_push_does_not_fail_for_want_of_an_anchor(gated: Gated, ask: Ask) -> None:
    gated.git("config", "ahp.anchor", "true")
    (gated.root / ".git/refs/ahp").write_text("no folder")
    line = f"refs/heads/main {gated.head()} refs/heads/main {'0' * 40}\n"
    code, said = ask("pre-push", "origin", "nowhere", stdin=line.encode())
    assert code == 0
    assert "ahp: the anchor of the log was not kept: git update-ref failed" in said
