"""Whose progress an escalation follows."""

from __future__ import annotations

import pytest

from ahp.protocol.subject import issue_in, subject_of


@pytest.mark.parametrize(
    ("branch", "issue"),
    [
        ("feat/FEAT-0123-login", "FEAT-0123"),
        ("FIX-001", "FIX-001"),
        ("FIX-001_x", "FIX-001"),
        ("FIX-001.2", "FIX-001"),
        ("a/b/CHORE-9999/c", "CHORE-9999"),
        ("UTF-8", ""),
        ("feat-0123", ""),
        ("XFEATURESXX-0123", ""),
        ("F-0123", ""),
        ("FEAT-0123x", ""),
        ("FEAT-", ""),
        ("main", ""),
        ("ÄÖ-0123", ""),
        ("FEAT-1234567890", ""),
    ],
)
def test_a_branch_may_carry_an_issue(branch: str, issue: str) -> None:
    assert issue_in(branch) == issue


def test_the_issue_comes_before_the_branch_and_that_before_the_session() -> None:
    assert subject_of("feat/FEAT-0123-x", "FIX-001", "s") == "FIX-001"
    assert subject_of("feat/FEAT-0123-x") == "FEAT-0123"
    assert subject_of("topic", None, "s") == "topic"
    assert subject_of("", None, "s") == "s"
    assert subject_of("") == "detached"
