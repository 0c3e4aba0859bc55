"""docs/architecture.md names files; they are there, and every floor has its line."""

from __future__ import annotations

import re

from tests.test_project import FLOORS, PROJECT, WINGS

PAGE = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`((?:ahp|hooks|tests|docs)/[^`]*)`", PAGE)


def test_the_page_names_files_that_are_there() -> None:
    assert len(NAMED) > 30
    assert [name for name in NAMED if not (PROJECT / name).exists()] == []


def test_the_page_names_every_floor_from_the_ground_up() -> None:
    floors = [name.split("/")[1] for name in re.findall(r"^\| `(ahp/\w+/)`", PAGE, re.MULTILINE)]
    assert floors == [*FLOORS, *WINGS]


def test_the_page_names_what_it_speaks_of() -> None:
    """Names in capitals are constants of a file that the same sentence names."""
    text = " ".join(PAGE.split())
    for constant, file in re.findall(r"`([A-Z_]{4,})` (?:in|of) `([^`]+\.py)`", text):
        assert re.search(rf"^{constant}\b", (PROJECT / file).read_text(encoding="utf-8"), re.MULTILINE), constant
