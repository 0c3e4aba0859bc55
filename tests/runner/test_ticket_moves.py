"""ahp.runner.ticket_moves"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.runner.ticket_moves import ticket_moves
from ahp.system.errors import AhpError

TICKET = """\
---
id: FEAT-0001
type: feature
status: open
stage: draft
title: a feature
---

# FEAT-0001
"""
PATH = "Issues/Features/open/FEAT-0001-a-feature.md"


def test_a_ticket_goes_through_its_life(repo: Any) -> None:
    repo.commit("first", **{PATH: TICKET})
    repo.git("switch", "-q", "-c", "FEAT-0001-a-feature")
    repo.write("new.txt")
    move = ticket_moves(str(repo.root), "FEAT-0001")
    assert move is not None
    move("FEAT-0001", "start")
    assert "stage: doing" in (repo.root / PATH).read_text()
    with pytest.raises(AhpError, match="cannot close"):
        move("FEAT-0001", "close")
    move("FEAT-0001", "submit")
    text = (repo.root / PATH).read_text()
    assert "stage: review" in text
    assert "new.txt" in text
    move("FEAT-0001", "close")
    assert "status: closed" in (repo.root / PATH.replace("/open/", "/closed/")).read_text()


def test_without_a_ticket_there_is_nothing_to_move(repo: Any, tmp_path: Path) -> None:
    repo.commit("first")
    assert ticket_moves(str(repo.root), "FEAT-0001") is None
    (tmp_path / "bare").mkdir()
    assert ticket_moves(str(tmp_path / "bare"), "FEAT-0001") is None
