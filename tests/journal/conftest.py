from __future__ import annotations

from pathlib import Path

import pytest

from ahp.journal.append import Journal

from .story import Story


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "ahp"))


@pytest.fixture
def story(journal: Journal) -> Story:
    return Story(journal)
