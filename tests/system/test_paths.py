"""ahp.system.paths"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.system.paths import real


@pytest.mark.parametrize(
    "path",
    ["a/f", "way/f", "far/f", "way/../a/f", "a/none/f", "none/../a", "chain/f", "a//./f/", "..", "way/.."],
)
def test_links_lead_where_the_kernel_goes(tmp_path: Path, path: str) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "a" / "f").write_text("")
    (tmp_path / "way").symlink_to("a/deep/..")
    (tmp_path / "far").symlink_to(tmp_path / "a")
    (tmp_path / "chain").symlink_to("far")
    assert real(f"{tmp_path}/{path}") == os.path.realpath(f"{tmp_path}/{path}")


def test_what_cannot_be_followed_stays(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert real(f"{tmp_path}/a/x").endswith("/x")
    assert real("/no\0where") == "/no\0where"
    assert real("/") == "/"
