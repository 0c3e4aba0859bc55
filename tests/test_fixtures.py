"""The fixtures the other tests trust."""

from __future__ import annotations

import os
import pwd
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.conditions import logic
from tests import conftest
from tests.examples import EXPLORED, examples


def test_home_of_a_test_is_its_own(home: Path) -> None:
    assert Path("~").expanduser() == home
    assert pwd.getpwuid(os.getuid()).pw_dir == str(home)
    assert not {"CI", "CLAUDECODE", "GIT_DIR"} & set(os.environ)


def test_touching_the_real_home_is_an_error() -> None:
    with pytest.raises(conftest.TouchedRealHome):
        Path(conftest.REAL_HOME, ".ahp-no-such-file").read_bytes()
    conftest._guard.touched.clear()


@pytest.mark.parametrize("turn", ["first", "second"])
def test_the_deadline_of_an_earlier_test_is_lifted(turn: str) -> None:
    assert logic._DEADLINE[0] == float("inf")
    logic.set_deadline(0.0)


def test_repo_takes_hostile_names(repo: conftest.Repo, hostile_names: list[str]) -> None:
    repo.commit("hostile", **dict.fromkeys(hostile_names, "text\n"))
    assert set(repo.git("ls-files", "-z").rstrip("\0").split("\0")) == set(hostile_names)
    assert repo.git("log", "-1", "--format=%an <%ae>") == "Test Person <person@example.org>"


@pytest.mark.skipif(EXPLORED > 0, reason="exploring tries others")
def test_a_property_test_tries_the_same_examples_whatever_modules_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tried() -> list[tuple[str, int]]:
        seen = []

        @examples(100)
        @given(st.text(), st.integers())
        def remember(text: str, number: int) -> None:
            seen.append((text, number))

        remember()
        return seen

    first = tried()
    module = ModuleType("loaded_later")
    module.__file__ = str(tmp_path / "loaded_later.py")
    Path(module.__file__).write_text(f"NUMBERS = {list(range(1_000_000, 1_000_200))}\nWORD = 'a word of its own'\n")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert tried() == first


def test_the_number_of_examples_is_set_in_one_way() -> None:
    """Else a property test could try others on every run, or no more where that is asked for."""
    here = Path(conftest.__file__).parent
    own = re.compile(r"^from hypothesis import .*\bsettings\b|\bmax_examples\b", re.MULTILINE)
    found = {str(file.relative_to(here)) for file in here.rglob("*.py") if own.search(file.read_text())}
    assert found - {"test_fixtures.py"} == {"examples.py"}
