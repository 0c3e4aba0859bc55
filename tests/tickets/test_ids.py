from __future__ import annotations

import pytest

from ahp.tickets import tasklist


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FEAT-0001-login", "FEAT-0001"),
        ("feat-1", "FEAT-1"),
        ("X2-9_x", "X2-9"),
        ("FEAT-0001a", ""),
        ("FEAT-١", ""),
        ("FEAT-1١", ""),
        ("ﬁ-1", ""),
        ("2FA-1", ""),
        ("FE AT-1", ""),
        ("FEAT-", ""),
        ("-1", ""),
        ("login", ""),
        ("", ""),
        ("A" * 200 + "-1", ""),
    ],
)
def test_an_id_is_letters_hyphen_digits_and_then_no_letter(text: str, found: str) -> None:
    assert tasklist.leading(text) == found


def test_the_id_of_a_file_stands_before_its_slug() -> None:
    assert tasklist.of_file("Issues/Features/open/FEAT-0001-登录.md") == "FEAT-0001"
    assert tasklist.of_file("Issues/Features/open/FEAT-0001.md") == "FEAT-0001"
    assert tasklist.of_file("Issues/Features/open/README.md") == ""
    assert tasklist.of_file("Issues/Features/open/FEAT-0001-x.txt") == ""


def test_a_branch_names_its_issue_in_its_last_part() -> None:
    assert tasklist.of_branch("FEAT-0001-login") == "FEAT-0001"
    assert tasklist.of_branch("feat/feat-0001-login") == "FEAT-0001"
    assert tasklist.of_branch("main") == tasklist.of_branch("") == ""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FEAT-1", ("", "FEAT-1")),
        ("#FEAT-1", ("", "FEAT-1")),
        ("lab::FEAT-1", ("lab", "FEAT-1")),
        ("::FEAT-1", ("", "")),
        ("config:db", ("", "")),
        ("FEAT-1-slug", ("", "")),
    ],
)
def test_a_reference_may_carry_a_hash_or_a_project(text: str, found: tuple[str, str]) -> None:
    assert tasklist.reference(text) == found
