"""Paths of a tool call, as a call writes them."""

from __future__ import annotations

import pytest

from ahp.agents.calls.call_paths import inside


@pytest.mark.parametrize(
    ("path", "folder", "said"),
    [
        ("a//./b/", "", "a/b"),
        ("../x", "", "/x"),
        ("/p", "", "."),
        ("/pq/x", "", "/pq/x"),
        ("/p/../p/x", "", "x"),
        ("x", "sub", "sub/x"),
        ("../..", "a", "/"),
        ("/../..", "", "/"),
    ],
)
def test_paths_are_relative_to_the_root_where_they_lie_in_it(path: str, folder: str, said: str) -> None:
    assert inside(path, "/p", folder) == said


def test_without_a_root_what_leads_out_is_kept() -> None:
    assert inside("../../x", "") == "../../x"
    assert inside("", "") == "."
